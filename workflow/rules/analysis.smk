# Analysis: compare runs in pairs, lay out tables, hold the published claims against them, say what was run.
# Needs <experiment>/runs.csv, the runs it names, config/claims.yaml and, for some tables, config/published/<study>.csv;
# makes tables, claims (table and figure), runs.csv and config.yaml in results/<scale>/.


rule comparisons:
    input:
        workspace,
        f"results/{SCALE}/{{experiment}}/runs.csv",
    output:
        comparisons=f"results/{SCALE}/{{experiment}}/comparisons.csv",
        tex=f"results/{SCALE}/{{experiment}}/comparison.tex",
        html=f"results/{SCALE}/{{experiment}}/comparison.html",
    log:
        f"results/logs/comparisons/{SCALE}/{{experiment}}.log",
    benchmark:
        f"results/benchmarks/comparisons/{SCALE}/{{experiment}}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        title=lambda w: PLAN.experiments[w.experiment].title,
        analysis=lambda w: {
            key: PLAN.experiments[w.experiment].analysis[key]
            for key in ("baseline", "tail", "equivalence_margin")
        },
        ran=lambda w: PLAN.experiments[w.experiment].in_words(),
        code=code("comparisons.py"),
    script:
        "../scripts/comparisons.py"


rule table:
    input:
        workspace,
        unpack(lambda w: shown_from(w, "table")),
    output:
        csv=f"results/{SCALE}/{{experiment}}/tables/{{table}}.csv",
        tex=f"results/{SCALE}/{{experiment}}/tables/{{table}}.tex",
        html=f"results/{SCALE}/{{experiment}}/tables/{{table}}.html",
    log:
        f"results/logs/table/{SCALE}/{{experiment}}/{{table}}.log",
    benchmark:
        f"results/benchmarks/table/{SCALE}/{{experiment}}/{{table}}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        title=lambda w: PLAN.experiments[w.experiment].title,
        options=lambda w: options_of(w, "table"),
        ran=lambda w: PLAN.experiments[w.experiment].in_words(),
        code=lambda w: code("table.py", f"outagefl.analysis.tables.{w.table}"),
    script:
        "../scripts/table.py"


rule claims:
    input:
        workspace,
        expand(f"results/{SCALE}/{{experiment}}/runs.csv", experiment=PLAN.experiments),
        findings=[f"results/{SCALE}/findings.csv"] if THEORY else [],
    output:
        csv=f"results/{SCALE}/claims.csv",
        html=f"results/{SCALE}/claims.html",
        tex=f"results/{SCALE}/claims.tex",
        pdf=f"results/{SCALE}/claims.pdf",
        png=f"results/{SCALE}/claims.png",
    log:
        f"results/logs/claims/{SCALE}.log",
    benchmark:
        f"results/benchmarks/claims/{SCALE}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        claims=CLAIMS,
        scale=SCALE,
        experiments={
            name: claims.settings(SETTINGS, name, each.analysis)
            for name, each in PLAN.experiments.items()
        },
        code=code("claims.py", *claims.modules(CLAIMS)),
    script:
        "../scripts/claims.py"


rule runs:
    input:
        workspace,
        expand(f"results/{SCALE}/{{experiment}}/runs.csv", experiment=PLAN.experiments),
    output:
        f"results/{SCALE}/runs.csv",
    log:
        f"results/logs/runs/{SCALE}.log",
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("runs.py"),
    script:
        "../scripts/runs.py"


rule resolved_config:
    input:
        workspace,
    output:
        f"results/{SCALE}/config.yaml",
    log:
        f"results/logs/config/{SCALE}.log",
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        settings=without_paths(SETTINGS, PLAN.sources),
        code=code("config.py"),
    script:
        "../scripts/config.py"
