# Figures, one job each, vector and pixels.
# Needs <experiment>/runs.csv and the runs it names; makes <experiment>/figures/<figure>.{pdf,png}.


rule figure:
    input:
        f"results/{SCALE}/{{experiment}}/runs.csv",
    output:
        pdf=f"results/{SCALE}/{{experiment}}/figures/{{figure}}.pdf",
        png=report(
            f"results/{SCALE}/{{experiment}}/figures/{{figure}}.png",
            caption="../../report/figure.rst",
            category="Figures",
            labels=lambda w: {"experiment": w.experiment, "figure": w.figure.replace("_", " ")},
        ),
    log:
        f"results/logs/figure/{SCALE}/{{experiment}}/{{figure}}.log",
    benchmark:
        f"results/benchmarks/figure/{SCALE}/{{experiment}}/{{figure}}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        options=figure_options,
        code=lambda w: code("figure.py", f"outagefl.analysis.figures.{w.figure}"),
    script:
        "../scripts/figure.py"
