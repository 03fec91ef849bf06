# Descriptions of what goes into the studies: tables and figures of data sets, partitions, probabilities and traces.
# Needs results/inputs/*/; makes results/<scale>/describe/. The target is `describe`.
NAMED = to_describe(PLAN)


rule describe:
    input:
        [
            f"results/{SCALE}/describe/{what}/{name}/{file}"
            for what, files in DESCRIPTIONS.items()
            for name in NAMED[what]
            for file in files
        ],


rule describe_dataset:
    input:
        workspace,
        data=lambda w: lasting(f"results/{NAMED['dataset'][w.name]}"),
    output:
        classes=report(
            f"results/{SCALE}/describe/dataset/{{name}}/classes.csv",
            caption="../../report/describe.rst",
            category="Data",
            labels={"of": "{name}", "shows": "images per class"},
        ),
        channels=report(
            f"results/{SCALE}/describe/dataset/{{name}}/channels.csv",
            caption="../../report/describe.rst",
            category="Data",
            labels={"of": "{name}", "shows": "normalisation constants"},
        ),
        pdf=f"results/{SCALE}/describe/dataset/{{name}}/samples.pdf",
        png=report(
            f"results/{SCALE}/describe/dataset/{{name}}/samples.png",
            caption="../../report/describe.rst",
            category="Data",
            labels={"of": "{name}", "shows": "samples"},
        ),
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
        png=report(
            f"results/{SCALE}/describe/partition/{{name}}/clients.png",
            caption="../../report/describe.rst",
            category="Data",
            labels={"of": "{name}", "shows": "images of clients"},
        ),
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
        png=report(
            f"results/{SCALE}/describe/probability/{{name}}/overview.png",
            caption="../../report/describe.rst",
            category="Data",
            labels={"of": "{name}", "shows": "availability of clients"},
        ),
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
        statistics=report(
            f"results/{SCALE}/describe/trace/{{name}}/statistics.csv",
            caption="../../report/describe.rst",
            category="Data",
            labels={"of": "{name}", "shows": "statistics"},
        ),
        pdf=f"results/{SCALE}/describe/trace/{{name}}/overview.pdf",
        png=report(
            f"results/{SCALE}/describe/trace/{{name}}/overview.png",
            caption="../../report/describe.rst",
            category="Data",
            labels={"of": "{name}", "shows": "overview"},
        ),
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
