"""Hold every published claim against the results of this scale."""

from pathlib import Path

import pandas as pd

from outagefl.analysis.claims import evaluate
from outagefl.analysis.claims_figure import draw
from outagefl.analysis.claims_table import caption, claims_table
from outagefl.analysis.indexes import read_index
from outagefl.analysis.measured import Experiment
from outagefl.analysis.style import save
from outagefl.analysis.writers import write_csv, write_html, write_latex
from outagefl.scripting import recorded

with recorded(snakemake):
    params, out = snakemake.params, snakemake.output
    experiments = {
        name: Experiment(read_index(f"results/{params.scale}/{name}/runs.csv"), Path("results"), **settings)
        for name, settings in params.experiments.items()
    }
    findings = [pd.read_csv(path) for path in snakemake.input.findings]
    found = evaluate(params.claims, experiments, pd.concat(findings) if findings else None, params.scale)
    write_csv(found, out.csv)
    shown, told = claims_table(found), caption(found)
    write_html(shown, out.html, told)
    write_latex(shown, out.tex, told, "claims")
    save(draw(found), out.pdf, out.png)
