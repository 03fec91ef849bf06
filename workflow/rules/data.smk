# Download what the catalog names; turn data sets into uniform memory-mapped arrays.
# Needs config/sources.yaml or a local path; makes resources/<source>/<file> and results/inputs/dataset/<name>/.
DOWNLOADS = {str(source.path): name for name, source in PLAN.sources.items() if source.download}


rule download:
    output:
        protected("resources/{source}/{file}"),
    log:
        "results/logs/download/{source}/{file}.log",
    benchmark:
        "results/benchmarks/download/{source}/{file}.tsv"
    wildcard_constraints:
        source=one_of(DOWNLOADS.values()),
        file="[^/]+",
    localrule: True
    conda:
        "../../envs/train.yaml"
    params:
        source=lambda w: SOURCES[w.source].download,
        offline=SETTINGS.get("offline", False),
    script:
        "../scripts/download.py"


rule dataset:
    input:
        lambda w: ancient(made_from("dataset", w.name)),
    output:
        directory("results/inputs/dataset/{name}"),
    log:
        "results/logs/input/dataset/{name}.log",
    benchmark:
        "results/benchmarks/input/dataset/{name}.tsv"
    wildcard_constraints:
        name="[^/]+",
    conda:
        "../../envs/train.yaml"
    resources:
        mem_mb=1500,
        runtime=30,
    params:
        what="dataset",
        spec=lambda w: PLAN.inputs[f"inputs/dataset/{w.name}"].spec,
    script:
        "../scripts/input.py"
