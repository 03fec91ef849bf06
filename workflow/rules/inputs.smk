# What the methods of one seed share: who holds which images, who knows whom, who is online when.
# Needs the prepared data set (partitions only); makes results/inputs/{partition,topology,availability}/.
# Addresses hold everything that can change a file, so times of change mean nothing here (ancient).


rule input:
    input:
        lambda w: ancient(
            [f"results/{need}" for need in PLAN.inputs[f"inputs/{w.what}/{w.name}"].needs]
        ),
    output:
        "results/inputs/{what}/{name}",
    log:
        "results/logs/input/{what}/{name}.log",
    benchmark:
        "results/benchmarks/input/{what}/{name}.tsv"
    wildcard_constraints:
        what="partition|topology|availability",
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
