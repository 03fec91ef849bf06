# The pages to be read: results of all studies, and descriptions of what goes into them, each one self-contained file.
# Needs what it shows, the records of how that was made, and the templates in report/; makes results/<scale>/report.html
# and results/<scale>/describe/report.html.
from outagefl.report.origins import to_be_given
from outagefl.report.templates import template_files

PAGE = [os.path.relpath(file) for file in template_files()]
MAIN = Path("config/config.yaml")  # which a workflow that uses this one as a module may lack
GIVEN = to_be_given(
    {key: value for key, value in SETTINGS.items() if key in config},
    configuration.read_yaml(MAIN) if MAIN.exists() else {},
)


rule report:
    input:
        workspace,
        f"results/{SCALE}/config.yaml",
        f"results/{SCALE}/runs.csv",
        expand(f"results/{SCALE}/claims.{{suffix}}", suffix=("csv", "png")),
        [f"results/{SCALE}/findings.csv"] if THEORY else [],
        computed(".png"),
        expand(f"results/{SCALE}/{{name}}/comparison.html", name=PLAN.experiments),
        shown("tables", "html"),
        shown("figures", "png"),
        page=PAGE,
    output:
        f"results/{SCALE}/report.html",
    log:
        f"results/logs/report/{SCALE}.log",
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        given=GIVEN,
        experiments={
            name: {key: experiment.analysis.get(key, []) for key in ("figures", "tables")}
            for name, experiment in PLAN.experiments.items()
        },
        checks=list(THEORY),
        code=code("report.py"),
    script:
        "../scripts/report.py"


rule describe_report:
    input:
        workspace,
        [path for names in DESCRIPTIONS.values() for paths in names.values() for path in paths],
        page=PAGE,
    output:
        f"results/{SCALE}/describe/report.html",
    log:
        f"results/logs/describe/{SCALE}/report.log",
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        given=GIVEN,
        described=DESCRIPTIONS,
        code=code("describe_report.py"),
    script:
        "../scripts/describe_report.py"
