# What the methods of one seed share: who holds which images, who knows whom, who is online when, and the traces behind.
# Needs the prepared data set (partitions), a source (traces) or a trace (availability that follows one);
# makes results/inputs/{partition,topology,trace,availability}/.
# Addresses hold everything that can change a file, so times of change mean nothing here (ancient).


rule input:
    input:
        lambda w: ancient(made_from(w.what, w.name)),
    output:
        "results/inputs/{what}/{name}",
    log:
        "results/logs/input/{what}/{name}.log",
    benchmark:
        "results/benchmarks/input/{what}/{name}.tsv"
    wildcard_constraints:
        what="partition|topology|trace|availability",
        name="[^/]+",
    conda:
        "../../envs/train.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        what=lambda w: w.what,
        spec=lambda w: PLAN.inputs[f"inputs/{w.what}/{w.name}"].spec,
    script:
        "../scripts/input.py"
