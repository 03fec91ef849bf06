# Theory: statements of a paper held against computations, without training; each check has findings and a figure.
# Needs nothing but a study's `theory`; makes <study>/theory/<check>.csv, _values.csv, .png, .pdf and findings.{csv,html}.
from outagefl.runs.theory import modules

FINDINGS = expand(f"results/{SCALE}/findings.{{suffix}}", suffix=("csv", "html")) if THEORY else []


rule theory:
    input:
        workspace,
    output:
        findings=f"results/{SCALE}/{{study}}/theory/{{check}}.csv",
        values=f"results/{SCALE}/{{study}}/theory/{{check}}_values.csv",
        pdf=f"results/{SCALE}/{{study}}/theory/{{check}}.pdf",
        png=f"results/{SCALE}/{{study}}/theory/{{check}}.png",
    log:
        f"results/logs/theory/{SCALE}/{{study}}/{{check}}.log",
    benchmark:
        f"results/benchmarks/theory/{SCALE}/{{study}}/{{check}}.tsv"
    wildcard_constraints:
        study=one_of(name.split("/")[0] for name in THEORY),
        check=one_of(name.split("/")[1] for name in THEORY),
    conda:
        "../../envs/analysis.yaml"
    params:
        settings=lambda w: THEORY[f"{w.study}/{w.check}"],
        code=lambda w: code(
            "theory.py",
            *modules(
                THEORY[f"{w.study}/{w.check}"], SETTINGS["study_settings"][w.study]["engine"]
            ),
        ),
    script:
        "../scripts/theory.py"


rule findings:
    input:
        workspace,
        computed(".csv"),
    output:
        csv=f"results/{SCALE}/findings.csv",
        html=f"results/{SCALE}/findings.html",
    log:
        f"results/logs/findings/{SCALE}.log",
    benchmark:
        f"results/benchmarks/findings/{SCALE}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        scale=SCALE,
        code=code("findings.py"),
    script:
        "../scripts/findings.py"
