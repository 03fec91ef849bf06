"""Figures and tables over virtual time, and the audit: values by hand, published ones beside them, nothing cut off."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from outagefl.analysis import audit, looks
from outagefl.analysis.figures import (
    accuracy_by_level,
    accuracy_over_time,
    consensus_over_time,
    reception_rate_over_time,
)
from outagefl.analysis.figures import audit as audit_figure
from outagefl.analysis.indexes import read_index
from outagefl.analysis.tables import accuracy_loss_auc
from outagefl.analysis.tables import audit as audit_table
from outagefl.errors import ConfigError, DataError
from outagefl.files import checksum
from tests.unit.drawing import assert_nothing_is_cut_off_or_overlaps

TIMES = np.array([10.0, 20.0, 40.0])
CURVES = """figure,links.loss,method,time,time_error,accuracy
4,0.1,dflaa,10,0,60
4,0.1,dflaa,35,5,70
4,0.1,dflaa,90,0,99
4,0.1,swift,10,0,50
4,0.1,swift,35,5,58
"""
# protocol → method → final accuracy, by hand; seeds differ by a common part and, but for one method, by nothing else.
FINALS = {
    "paper": {"dflaa": 0.70, "swift_adaptive": 0.67, "swift": 0.65, "soft_dsgd": 0.67},
    "only_out_neighbours": {"dflaa": 0.70, "swift_adaptive": 0.67, "swift": 0.65, "soft_dsgd": 0.60},
    "only_rates": {"dflaa": 0.71, "swift_adaptive": 0.67, "swift": 0.65, "soft_dsgd": 0.67},
    "released": {"dflaa": 0.72, "swift_adaptive": 0.67, "swift": 0.64, "soft_dsgd": 0.60},
}


def write_events(root: Path, finals, losses=("0.1",), seeds=3, links=None):
    """Runs by protocol, loss, method and seed: the accuracy reaches half, then all of its final value."""
    rows = []
    for protocol, methods in finals.items():
        for loss in losses:
            for method, final in methods.items():
                for seed in range(seeds):
                    last = final + 0.01 * seed + (0.001 * seed if method == "soft_dsgd" else 0)
                    values = {
                        "accuracy": last * np.array([0.5, 1, 1]),
                        "loss": np.array([3.0, 2.0, 1.0]),
                        "consensus_distance": np.array([9.0, 3.0, 1.0]),
                    }
                    parts = [
                        pd.DataFrame({"time": TIMES, "client": -1, "metric": name, "value": value})
                        for name, value in values.items()
                    ]
                    for node in (0, 1):
                        rates = [0.9, 0.88, 0.92] if node else [0.5, 0.5, 0.5]
                        parts.append(
                            pd.DataFrame({"time": TIMES, "client": node, "metric": "reception_rate", "value": rates})
                        )
                    frame = pd.concat(parts)
                    frame["round"] = frame["time"].map({time: place + 1 for place, time in enumerate(TIMES)})
                    name = f"runs/dflaa/{protocol}-{loss}-{method}-{seed}"
                    folder = root / name
                    folder.mkdir(parents=True)
                    frame.astype({"metric": "category"}).to_parquet(folder / "metrics.parquet", index=False)
                    spec = {"links": links or {"kind": "homogeneous", "loss": float(loss)}}
                    (folder / "run.json").write_text(json.dumps({"spec": spec, "data_note": ""}))
                    place = {"study": "dflaa", "experiment": "audit", "protocol": protocol, "links.loss": loss}
                    place |= {"method": method, "seed": seed, "run": name}
                    rows.append(place | {"checksum": checksum(folder / "metrics.parquet")})
    pd.DataFrame(rows).to_csv(root / "runs.csv", index=False)
    return read_index(root / "runs.csv")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """An index of four protocols, two losses and three seeds, its root, and published curves."""
    root = tmp_path_factory.mktemp("results")
    (root / "curves.csv").write_text(CURVES)
    return write_events(root, FINALS, losses=("0.1", "0.5")), root, str(root / "curves.csv")


@pytest.fixture(scope="module")
def paper(runs):
    """The runs under the paper's protocol."""
    index, root, curves = runs
    return index[index["protocol"] == "paper"].drop(columns="protocol"), root, curves


AUDIT = {"tail": 0.1, "baseline": "dflaa", "control": "swift_adaptive"}


@pytest.mark.parametrize(
    "draw",
    [
        partial(accuracy_over_time.draw, score="test accuracy"),
        consensus_over_time.draw,
        reception_rate_over_time.draw,
        partial(accuracy_by_level.draw, tail=0.1, level="links.loss"),
        partial(audit_figure.draw, **AUDIT),
    ],
)
def test_nothing_is_cut_off_or_overlaps(runs, draw):
    index, root, _ = runs
    assert_nothing_is_cut_off_or_overlaps(draw(index, root))


def test_accuracy_stands_over_virtual_seconds_with_the_published_curve_of_its_setting(paper):
    index, root, curves = paper
    here, elsewhere = accuracy_over_time.draw(index, root, score="test accuracy", curves=curves).axes
    assert (here.get_xlabel(), here.get_ylabel()) == ("virtual seconds", "test accuracy (%)")
    colour = looks.look("dflaa")["color"]
    ours, theirs = (line for line in here.get_lines() if line.get_color() == colour)
    assert ours.get_xydata() == pytest.approx(np.column_stack([TIMES, [35.5, 71, 71]]))
    assert theirs.get_xydata().tolist() == [[10, 60], [35, 70]]  # not beyond our own horizon
    assert len(here.get_lines()) == 4 + 2
    assert len(elsewhere.get_lines()) == 4


def test_consensus_distance_is_drawn_on_a_logarithmic_axis(paper):
    axes = consensus_over_time.draw(paper[0], paper[1]).axes[0]
    assert axes.get_yscale() == "log"
    assert axes.get_lines()[0].get_xydata().tolist() == [[10, 9], [20, 3], [40, 1]]


def test_the_reception_rate_is_that_of_the_tracked_link_around_the_true_one(paper):
    index, root, _ = paper
    own = index[(index["method"] == "dflaa") & (index["links.loss"] == "0.1")]
    [axes] = reception_rate_over_time.draw(own, root).axes
    *seeds, true = axes.get_lines()
    assert len(seeds) == 3
    assert seeds[0].get_ydata().tolist() == [0.9, 0.88, 0.92]
    assert true.get_ydata()[0] == pytest.approx(0.9)


def test_links_that_differ_have_no_one_true_rate(tmp_path):
    index = write_events(tmp_path, {"paper": {"dflaa": 0.5}}, seeds=1, links={"kind": "uniform"})
    with pytest.raises(DataError, match="links differ"):
        reception_rate_over_time.draw(index, tmp_path)


def test_accuracy_loss_and_the_area_by_trapezoids(paper, tmp_path):
    index, root, _ = paper
    facts = tmp_path / "facts.csv"
    facts.write_text("table,links.loss,method,metric,target,mean,sd\nIII,0.5,swift,test,,67.28,\n")
    table = accuracy_loss_auc.tabulate(index, root, tail=0.1, published=str(facts))
    cells = table.tidy.set_index(["setting", "method", "metric"]).sort_index()
    swift = cells.loc["loss = 0.5", "swift"]
    assert swift["mean"].to_dict() == pytest.approx({"accuracy": 66, "loss": 1, "AUC": 66 * (0.75 * 10 + 20)})
    assert swift["sd"].to_dict() == pytest.approx({"accuracy": 1, "loss": 0, "AUC": 27.5})
    assert cells["published_mean"].dropna().to_dict() == {("loss = 0.5", "swift", "accuracy"): 67.28}
    assert table.shown.loc["SWIFT", ("loss = 0.5", "accuracy", "paper")] == "67.3"
    marks = table.marks[("loss = 0.1", "accuracy", "ours")]
    assert marks[["DFL-AA", "Soft-DSGD", "SWIFT"]].to_list() == ["bold", "underline", ""]
    assert set(table.marks[("loss = 0.1", "loss", "ours")]) == {"bold"}  # all tie


def test_a_lead_is_divided_into_rule_self_weight_quirks_and_rest(runs):
    index, root, curves = runs
    table = audit_table.tabulate(index, root, **AUDIT, curves=curves)
    parts = table.tidy[table.tidy["setting"] == "loss = 0.1"].pivot(index="method", columns="part", values="mean")
    swift = {
        "lead, paper": 5, "rule": 3, "self weight": 2, "out neighbours": 0, "rates": 1, "rest": 2, "lead, released": 8,
        "lead, published": 99 - 58,
    }  # fmt: skip
    assert parts.loc["swift"].to_dict() == pytest.approx(swift, abs=1e-9)
    soft = parts.loc["soft_dsgd"]
    assert soft[["rule", "self weight"]].to_list() == pytest.approx([3, -0.1])
    assert soft[["out neighbours", "rates", "rest"]].to_list() == pytest.approx([7, 1, 1])
    assert soft.drop("lead, published").notna().all()
    assert np.isnan(soft["lead, published"])


def test_leads_have_intervals_over_seeds_and_one_family_of_tests(runs):
    table = audit_table.tabulate(runs[0], runs[1], **AUDIT)
    lead = table.tidy.set_index(["setting", "method", "part"]).sort_index().loc["loss = 0.5", "soft_dsgd"]
    assert lead.loc["lead, paper", "high"] - lead.loc["lead, paper", "mean"] == pytest.approx(
        4.303 * 0.1 / 3**0.5, rel=1e-3
    )
    assert lead.loc["lead, paper", ["n"]].item() == 3
    assert (table.tidy["p_holm"].dropna() >= table.tidy["p"].dropna()).all()
    assert table.shown.loc[("loss = 0.5", "Soft-DSGD"), "out neighbours"].startswith("+7.0")
    assert "lead, published" not in table.shown


def test_the_figure_shows_a_lead_per_protocol_and_the_rules_own_part(runs):
    index, root, curves = runs
    figure = audit_figure.draw(index, root, **AUDIT, curves=curves)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["over SWIFT (adaptive)", "over SWIFT", "over Soft-DSGD"]
    rows = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert rows == ["rule alone", "paper", "out neighbours", "rates", "released", "published"]
    dots = np.vstack([dots.get_offsets() for dots in figure.axes[1].collections if len(dots.get_offsets()) == 5])
    first = dots[:5][np.argsort(dots[:5, 1])]
    assert first[:, 0].tolist() == pytest.approx([3, 5, 5, 6, 8])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda index: index.drop(columns="protocol"), "no factor protocol"),
        (lambda index: index[index["protocol"] != "paper"], "level paper"),
        (lambda index: index[index["method"] != "swift_adaptive"], "the control 'swift_adaptive' is not among"),
    ],
)
def test_an_experiment_that_cannot_be_audited_is_told(runs, change, message):
    with pytest.raises(ConfigError, match=message):
        audit.leads(change(runs[0]), runs[1], **AUDIT)
