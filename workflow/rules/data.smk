# Download what the catalog names; turn data sets into uniform memory-mapped arrays.
# Needs config/sources.yaml or a local path; makes resources/<source>/<file> and results/inputs/dataset/<name>/.
from outagefl.runs.plan import input_modules

DOWNLOADS = {name: source.downloads for name, source in PLAN.sources.items() if source.downloads}


rule download:
    input:
        workspace,
    output:
        protected("resources/{source}/{file}"),
    log:
        "results/logs/download/{source}/{file}.log",
    benchmark:
        "results/benchmarks/download/{source}/{file}.tsv"
    wildcard_constraints:
        source=one_of(DOWNLOADS),
        file=one_of(file for files in DOWNLOADS.values() for file in files),
    localrule: True
    conda:
        "../../envs/train.yaml"
    params:
        file=lambda w: DOWNLOADS[w.source][w.file],
        offline=SETTINGS.get("offline", False),
    script:
        "../scripts/download.py"


rule dataset:
    input:
        workspace,
        unpack(lambda w: made_from("dataset", w.name)),
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
        mem_mb=lambda w, attempt: 1500 * attempt,
        runtime=lambda w, attempt: 30 * attempt,
    params:
        what="dataset",
        spec=lambda w: PLAN.inputs[f"inputs/dataset/{w.name}"].spec,
        promises=lambda w: promises("dataset", w.name),
        code=lambda w: used(input_modules(PLAN.inputs[f"inputs/dataset/{w.name}"])),
    script:
        "../scripts/input.py"
