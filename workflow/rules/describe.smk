# Descriptions of what goes into the studies: tables and figures of data sets, partitions, probabilities and traces.
# Needs results/inputs/*/; makes results/<scale>/describe/. The target is `describe`, with a page that shows all.
DESCRIBED = to_describe(PLAN)
DESCRIPTIONS = {  # kind of input → name → files of its description that the page shows
    what: {
        name: [f"results/{SCALE}/describe/{what}/{name}/{file}" for file in files]
        for name in DESCRIBED[what]
    }
    for what, files in {
        "dataset": ("classes.csv", "channels.csv", "samples.png"),
        "partition": ("clients.png",),
        "probability": ("overview.png",),
        "trace": ("statistics.csv", "overview.png"),
    }.items()
}


rule describe:
    input:
        f"results/{SCALE}/describe/report.html",


rule describe_dataset:
    input:
        workspace,
        data=lambda w: lasting(f"results/{DESCRIBED['dataset'][w.name]}"),
    output:
        classes=f"results/{SCALE}/describe/dataset/{{name}}/classes.csv",
        channels=f"results/{SCALE}/describe/dataset/{{name}}/channels.csv",
        pdf=f"results/{SCALE}/describe/dataset/{{name}}/samples.pdf",
        png=f"results/{SCALE}/describe/dataset/{{name}}/samples.png",
    log:
        f"results/logs/describe/{SCALE}/dataset/{{name}}.log",
    benchmark:
        f"results/benchmarks/describe/{SCALE}/dataset/{{name}}.tsv"
    wildcard_constraints:
        name=one_of(DESCRIBED["dataset"]),
    conda:
        "../../envs/analysis.yaml"
    params:
        what="dataset",
        source=lambda w: source_of(DESCRIBED["dataset"][w.name]),
        code=code("describe.py"),
    script:
        "../scripts/describe.py"


rule describe_partition:
    input:
        workspace,
        partition=lambda w: lasting(f"results/{DESCRIBED['partition'][w.name]}"),
        data=lambda w: made_from("partition", Path(DESCRIBED["partition"][w.name]).name)["dataset"],
    output:
        clients=f"results/{SCALE}/describe/partition/{{name}}/clients.csv",
        pdf=f"results/{SCALE}/describe/partition/{{name}}/clients.pdf",
        png=f"results/{SCALE}/describe/partition/{{name}}/clients.png",
    log:
        f"results/logs/describe/{SCALE}/partition/{{name}}.log",
    benchmark:
        f"results/benchmarks/describe/{SCALE}/partition/{{name}}.tsv"
    wildcard_constraints:
        name=one_of(DESCRIBED["partition"]),
    conda:
        "../../envs/analysis.yaml"
    params:
        what="partition",
        spec=lambda w: PLAN.inputs[DESCRIBED["partition"][w.name]].spec,
        source=lambda w: source_of(DESCRIBED["partition"][w.name]),
        code=code("describe.py"),
    script:
        "../scripts/describe.py"


rule describe_probability:
    input:
        workspace,
        probability=lambda w: lasting(f"results/{DESCRIBED['probability'][w.name]}"),
        availability=lambda w: lasting(
            f"results/{drawn_from(PLAN, DESCRIBED['probability'][w.name])}"
        ),
        partition=lambda w: made_from("probability", f"{w.name}.npy").get("partition", []),
    output:
        clients=f"results/{SCALE}/describe/probability/{{name}}/clients.csv",
        pdf=f"results/{SCALE}/describe/probability/{{name}}/overview.pdf",
        png=f"results/{SCALE}/describe/probability/{{name}}/overview.png",
    log:
        f"results/logs/describe/{SCALE}/probability/{{name}}.log",
    benchmark:
        f"results/benchmarks/describe/{SCALE}/probability/{{name}}.tsv"
    wildcard_constraints:
        name=one_of(DESCRIBED["probability"]),
    conda:
        "../../envs/analysis.yaml"
    params:
        spec=lambda w: everything_behind(PLAN, DESCRIBED["probability"][w.name]),
        code=code("describe_probability.py"),
    script:
        "../scripts/describe_probability.py"


rule describe_trace:
    input:
        workspace,
        trace=lambda w: lasting(f"results/{DESCRIBED['trace'][w.name]}"),
    output:
        statistics=f"results/{SCALE}/describe/trace/{{name}}/statistics.csv",
        pdf=f"results/{SCALE}/describe/trace/{{name}}/overview.pdf",
        png=f"results/{SCALE}/describe/trace/{{name}}/overview.png",
    log:
        f"results/logs/describe/{SCALE}/trace/{{name}}.log",
    benchmark:
        f"results/benchmarks/describe/{SCALE}/trace/{{name}}.tsv"
    wildcard_constraints:
        name=one_of(DESCRIBED["trace"]),
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=lambda w, attempt: 2000 * attempt,
    params:
        what="trace",
        source=lambda w: source_of(DESCRIBED["trace"][w.name]),
        code=code("describe.py"),
    script:
        "../scripts/describe.py"
