"""Theory checks as targets: findings and figures without training, redone only when their options or code change."""

import pandas as pd
import yaml

CHECKS = {
    "slips": {
        "kind": "slips",
        "available": 2,
        "virtual_clients": 1,
        "window": 10,
        "alphas": [0.1, 1],
        "classes": 3,
        "clients": 20,
    },
    "alternating": {"kind": "interpolation", "clients": 4, "problems": 2, "rounds": 100, "learning_rate": 0.1},
}
FINDINGS = "results/tiny/findings.html"


def test_findings_and_figures_are_made_without_training(project):
    of_the_study = yaml.safe_load((project.root / "config" / "studies" / "sfg.yaml").read_text())["theory"]
    project.change(lambda study: study.update(theory=dict.fromkeys(of_the_study) | CHECKS))
    project.finish(FINDINGS, "--cores", "2")
    results = project.root / "results" / "tiny"
    assert not (project.root / "results" / "runs").exists()
    files = {f"{name}{end}" for name in CHECKS for end in (".csv", "_values.csv", ".png", ".pdf")}
    assert {path.name for path in (results / "sfg" / "theory").iterdir()} == files

    found = pd.read_csv(results / "findings.csv")
    assert found["check"].unique().tolist() == sorted(CHECKS)
    assert set(found["study"]) == {"sfg"}
    halves = found[found["statement"].str.contains("half of each window")].iloc[0]
    assert halves[["expected", "computed", "holds"]].tolist() == [5, 6, "no"]
    assert "half of each window" in (results / "findings.html").read_text()

    planned = project.planned(config="overrides={sfg: {theory: {slips: {window: 11}}}}")
    assert planned["theory"] == 1  # the other check is up to date
    assert planned["findings"] == 1
