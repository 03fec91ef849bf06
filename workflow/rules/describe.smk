# Descriptions of what goes into the studies: tables and figures of data sets, partitions and traces.
# Needs results/inputs/{dataset,partition,trace}/; makes results/<scale>/describe/. The target is `describe`.
DESCRIBED = to_describe(PLAN)


rule describe:
    input:
        expand(
            f"results/{SCALE}/describe/dataset/{{name}}/{{file}}",
            name=DESCRIBED["dataset"],
            file=["classes.csv", "channels.csv", "samples.png"],
        ),
        expand(
            f"results/{SCALE}/describe/partition/{{name}}/{{file}}",
            name=DESCRIBED["partition"],
            file=["clients.csv", "clients.png"],
        ),
        expand(
            f"results/{SCALE}/describe/trace/{{name}}/{{file}}",
            name=DESCRIBED["trace"],
            file=["statistics.csv", "overview.png"],
        ),


rule describe_dataset:
    input:
        data=lambda w: ancient(f"results/{DESCRIBED['dataset'][w.name]}"),
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
        partition=lambda w: ancient(f"results/{DESCRIBED['partition'][w.name]}"),
        data=lambda w: ancient(made_from("partition", Path(DESCRIBED["partition"][w.name]).name)[0]),
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


rule describe_trace:
    input:
        trace=lambda w: ancient(f"results/{DESCRIBED['trace'][w.name]}"),
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
        name=one_of(DESCRIBED["trace"]),
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=2000,
    params:
        what="trace",
        source=lambda w: source_of(DESCRIBED["trace"][w.name]),
        code=code("describe.py"),
    script:
        "../scripts/describe.py"
