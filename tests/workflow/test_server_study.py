"""A tiny FedSWE study from the command to its tables and figures."""

import pandas as pd

from tests.workflow.conftest import Project

WANTED = [
    f"results/tiny/fedswe/{path}"
    for path in (
        "dynamics/comparison.html",
        "dynamics/tables/accuracy_table.html",
        "dynamics/tables/rounds_to_target.tex",
        "dynamics/tables/memory.csv",
        "interpolation/figures/rounds_by_level.png",
        "interpolation/figures/consensus_error.png",
    )
]


def test_a_server_study_comes_out_in_tables_and_figures(tmp_path):
    project = Project.new(tmp_path / "project", studies=("fedswe",))
    project.tiny.write_text(project.tiny.read_text().replace("runs_per_job: 4", "runs_per_job: 10"))
    project.finish("--cores", "2", *WANTED)
    results = project.root / "results" / "tiny" / "fedswe"
    compared = pd.read_csv(results / "dynamics" / "comparisons.csv")
    assert set(compared["baseline"]) == {"fedswe_km", "fedswe_k0"}
    assert compared.loc[compared["difference"].notna(), "n"].eq(2).all()

    index = pd.read_csv(results / "interpolation" / "runs.csv")
    runs = index.groupby("method")["run"].nunique()
    assert runs.to_dict() == {"fedavg_active": 2, "fedswe": 4}  # k changes nothing for FedAvg: trained once a seed

    assert project.planned(*WANTED) == {}
    more = "overrides={fedswe: {experiments: {dynamics: {factors: {availability: [sine, stationary]}}}}}"
    planned = project.planned(config=more)
    assert planned["train"] == 2  # ten methods, two seeds, ten runs a job; probabilities and availability are new
    assert planned["input"] == 4
