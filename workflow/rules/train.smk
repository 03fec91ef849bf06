# Training: a job trains those of its runs that do not exist yet; an option that is not given as a number is chosen from
# validation runs before any run that has it is trained; an experiment's index says which runs it is made of.
# Needs results/inputs/; makes results/runs/ (undeclared, so that nothing deletes them), results/choices/ and
# <experiment>/runs.csv. A job that was stopped for its memory or time asks for more when it is tried again.
from outagefl.runs.plan import choice_modules


rule train:
    input:
        workspace,
        lambda w: inputs_of(w.job),
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
        mem_mb=lambda w, attempt: (8000 if SETTINGS["device"] == "cuda" else 2000) * attempt,
        runtime=lambda w, attempt: 240 * attempt,
        gpu=int(SETTINGS["device"] == "cuda"),
    params:
        device=SETTINGS["device"],
        checkpoint_minutes=SETTINGS.get("checkpoint_minutes", 10),
    script:
        "../scripts/train.py"


# What is there and up to date has no rule that could make it again. It may still be named as a target: a log is a file
# that is known and never made anew, and these rules have nothing to do.
for pattern, names in jobs.finished(PLAN, JOBS, SCALE).items():

    rule:
        input:
            ancient("config/config.yaml"),
        log:
            f"results/{pattern}",
        wildcard_constraints:
            finished=one_of(names),


# A single run as a target: its whole batch is trained.
rule run:
    input:
        lambda w: jobs.markers(JOBS, RESULTS, [f"runs/{w.run}"]),
    output:
        "results/runs/{run}/metrics.parquet",
    log:
        "results/logs/run/{run}.log",
    wildcard_constraints:
        run=one_of(path.removeprefix("runs/") for path in JOBS.of),


# Matches only choices that are missing: an address holds everything that can change what is chosen.
rule choice:
    input:
        workspace,
        lambda w: jobs.markers(JOBS, RESULTS, PLAN.choices[f"choices/{w.choice}.json"].runs),
    output:
        "results/choices/{choice}.json",
    log:
        "results/logs/choice/{choice}.log",
    wildcard_constraints:
        choice=one_of(path[len("choices/") : -len(".json")] for path in JOBS.choices),
    localrule: True
    conda:
        "../../envs/train.yaml"
    params:
        settings=lambda w: PLAN.choices[f"choices/{w.choice}.json"].settings,
        runs=lambda w: PLAN.choices[f"choices/{w.choice}.json"].runs,
        code=lambda w: used(choice_modules(PLAN.choices[f"choices/{w.choice}.json"].settings)),
    script:
        "../scripts/choice.py"


# Matches only experiments whose index is out of date; for these it must run, whatever Snakemake remembers.
rule index:
    input:
        workspace,
        lambda w: jobs.markers(
            JOBS, RESULTS, (run for run, _ in PLAN.experiments[w.experiment].members)
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
        code=code("index.py"),
    script:
        "../scripts/index.py"
