# outagefl: reproduce federated-learning papers about unreliable clients and links.
# Needs config/config.yaml; makes results/<scale>/ (runs index, tables, figures, claims). See README.md.
from snakemake.utils import min_version

min_version("9.14.8")


configfile: "config/config.yaml"


include: "workflow/rules/library.smk"
include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/inputs.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/analysis.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/theory.smk"
include: "workflow/rules/describe.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        f"results/{SCALE}/report.html",
        f"results/{SCALE}/config.yaml",
        f"results/{SCALE}/runs.csv",
        f"results/{SCALE}/claims.html",
        FINDINGS,
        expand(
            f"results/{SCALE}/{{experiment}}/comparison.html",
            experiment=PLAN.experiments,
        ),
        shown("tables", "html"),
        shown("figures", "png"),
