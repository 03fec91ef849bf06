# Figures, one job each, vector and pixels.
# Needs <experiment>/runs.csv, the runs it names and, for some figures, config/published/<study>.csv; makes
# <experiment>/figures/<figure>.{pdf,png}.


rule figure:
    input:
        workspace,
        unpack(lambda w: shown_from(w, "figure")),
    output:
        pdf=f"results/{SCALE}/{{experiment}}/figures/{{figure}}.pdf",
        png=f"results/{SCALE}/{{experiment}}/figures/{{figure}}.png",
    log:
        f"results/logs/figure/{SCALE}/{{experiment}}/{{figure}}.log",
    benchmark:
        f"results/benchmarks/figure/{SCALE}/{{experiment}}/{{figure}}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        options=lambda w: options_of(w, "figure"),
        ran=lambda w: PLAN.experiments[w.experiment].in_words(),
        code=lambda w: code("figure.py", f"outagefl.analysis.figures.{w.figure}"),
    script:
        "../scripts/figure.py"
