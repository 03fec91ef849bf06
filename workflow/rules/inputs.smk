# What the methods of one seed share: who holds which images, who knows whom, what links lose, how fast who is, who is
# online when, and what is behind it. Needs the prepared data set (partitions), a source (traces), a partition
# (probabilities that go with the labels), a topology (links, communities), a trace, probabilities, communities or another
# availability (availability made from them);
# makes results/inputs/{partition,topology,links,speeds,trace,probability,communities,availability}/.
# Addresses hold everything that can change a file, so times of change mean nothing here (ancient).


rule input:
    input:
        workspace,
        unpack(lambda w: made_from(w.what, w.name)),
    output:
        "results/inputs/{what}/{name}",
    log:
        "results/logs/input/{what}/{name}.log",
    benchmark:
        "results/benchmarks/input/{what}/{name}.tsv"
    wildcard_constraints:
        what="partition|topology|links|speeds|trace|probability|communities|availability",
        name="[^/]+",
    conda:
        "../../envs/train.yaml"
    resources:
        mem_mb=lambda w, attempt: 1000 * attempt,
        runtime=lambda w, attempt: 10 * attempt,
    params:
        what=lambda w: w.what,
        spec=lambda w: PLAN.inputs[f"inputs/{w.what}/{w.name}"].spec,
        promises=lambda w: promises(w.what, w.name),
        code=lambda w: used(input_modules(PLAN.inputs[f"inputs/{w.what}/{w.name}"])),
    script:
        "../scripts/input.py"
