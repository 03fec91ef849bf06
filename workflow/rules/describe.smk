# Descriptions of what goes into the studies: tables and figures of data sets, partitions, probabilities and traces.
# Needs results/inputs/*/; makes results/<scale>/describe/. The target is `describe`, with a page that shows all.
NAMED = to_describe(PLAN)
DESCRIPTIONS = {  # kind of input → name → files of its description that the page shows
    what: {
        name: [f"results/{SCALE}/describe/{what}/{name}/{file}" for file in files]
        for name in NAMED[what]
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
        data=lambda w: lasting(f"results/{NAMED['dataset'][w.name]}"),
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
        name=one_of(NAMED["dataset"]),
    conda:
        "../../envs/analysis.yaml"
    params:
        what="dataset",
        source=lambda w: source_of(NAMED["dataset"][w.name]),
        code=code("describe.py"),
    script:
        "../scripts/describe.py"


rule describe_partition:
    input:
        workspace,
        partition=lambda w: lasting(f"results/{NAMED['partition'][w.name]}"),
        data=lambda w: made_from("partition", Path(NAMED["partition"][w.name]).name)["dataset"],
    output:
        clients=f"results/{SCALE}/describe/partition/{{name}}/clients.csv",
        pdf=f"results/{SCALE}/describe/partition/{{name}}/clients.pdf",
        png=f"results/{SCALE}/describe/partition/{{name}}/clients.png",
    log:
        f"results/logs/describe/{SCALE}/partition/{{name}}.log",
    benchmark:
        f"results/benchmarks/describe/{SCALE}/partition/{{name}}.tsv"
    wildcard_constraints:
        name=one_of(NAMED["partition"]),
    conda:
        "../../envs/analysis.yaml"
    params:
        what="partition",
        spec=lambda w: PLAN.inputs[NAMED["partition"][w.name]].spec,
        source=lambda w: source_of(NAMED["partition"][w.name]),
        code=code("describe.py"),
    script:
        "../scripts/describe.py"


rule describe_probability:
    input:
        workspace,
        probability=lambda w: lasting(f"results/{NAMED['probability'][w.name]}"),
        availability=lambda w: lasting(f"results/{drawn_from(PLAN, NAMED['probability'][w.name])}"),
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
        name=one_of(NAMED["probability"]),
    conda:
        "../../envs/analysis.yaml"
    params:
        spec=lambda w: everything_behind(PLAN, NAMED["probability"][w.name]),
        code=code("describe_probability.py"),
    script:
        "../scripts/describe_probability.py"


rule describe_trace:
    input:
        workspace,
        trace=lambda w: lasting(f"results/{NAMED['trace'][w.name]}"),
    output:
        statistics=f"results/{SCALE}/describe/trace/{{name}}/statistics.csv",
        pdf=f"results/{SCALE}/describe/trace/{{name}}/overview.pdf",
        png=f"results/{SCALE}/describe/trace/{{name}}/overview.png",
    log:
        f"results/logs/describe/{SCALE}/trace/{{name}}.log",
    benchmark:
        f"results/benchmarks/describe/{SCALE}/trace/{{name}}.tsv"
    wildcard_constraints:
        name=one_of(NAMED["trace"]),
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=lambda w, attempt: 2000 * attempt,
    params:
        what="trace",
        source=lambda w: source_of(NAMED["trace"][w.name]),
        code=code("describe.py"),
    script:
        "../scripts/describe.py"
