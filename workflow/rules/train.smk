# Training: a job trains those of its runs that do not exist yet; an experiment's index says which runs it is made of.
# Needs results/inputs/; makes results/runs/ (undeclared, so that nothing deletes them) and <experiment>/runs.csv.


rule train:
    input:
        lambda w: ancient(inputs_of(w.job)),
    output:
        temp(touch("results/.jobs/{job}.done")),
    log:
        "results/logs/train/{job}.log",
    benchmark:
        "results/benchmarks/train/{job}.tsv"
    conda:
        "../../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=240,
    params:
        device=SETTINGS["device"],
    script:
        "../scripts/train.py"


# A single run as a target: its whole batch is trained.
rule run:
    input:
        lambda w: f"results/.jobs/{JOBS.of[f'runs/{w.run}']}.done",
    output:
        "results/runs/{run}/metrics.parquet",
    log:
        "results/logs/run/{run}.log",
    wildcard_constraints:
        run=one_of(path.removeprefix("runs/") for path in JOBS.of),


# Matches only experiments whose index is out of date; for these it must run, whatever Snakemake remembers.
rule index:
    input:
        lambda w: sorted(
            {
                f"results/.jobs/{JOBS.of[path]}.done"
                for path, _ in PLAN.experiments[w.experiment].members
                if path in JOBS.of
            }
        ),
    output:
        f"results/{SCALE}/{{experiment}}/runs.csv",
    log:
        f"results/logs/index/{SCALE}/{{experiment}}.log",
    wildcard_constraints:
        experiment=one_of(JOBS.stale),
    localrule: True
    conda:
        "../../envs/train.yaml"
    params:
        rows=lambda w: jobs.index_rows(PLAN.experiments[w.experiment]),
        always=time.time_ns(),
    script:
        "../scripts/index.py"
