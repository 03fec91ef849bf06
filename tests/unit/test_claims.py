"""Claims held against results with a known truth, put through the whole evaluation."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from outagefl.analysis.claims import COLUMNS, contrasts, evaluate
from outagefl.analysis.indexes import read_index
from outagefl.analysis.measured import Experiment
from outagefl.errors import ConfigError
from tests.unit.synthetic_runs import write_runs

SETTINGS = [{"availability": "markov"}, {"availability": "smartphone"}]
METHODS = {"dfedavg": 0.0, "sfg_cut": 0.04, "aoi_received": 0.005, "aoi_inclusive": 0.018, "same": 0.0}
SPEC = {"dataset": {"kind": "digits"}, "clients": 4, "rounds": 20}


def gain(published=4.0, **changes):
    claim = {"source": "s", "text": "t", "experiment": "outages", "published": published, "unit": "points"}
    return {**claim, "statistic": {"kind": "gain", "method": "sfg_cut", "baseline": "dfedavg"}, **changes}


def of(kind, **options):
    return {"statistic": {"kind": kind, **options}}


def experiment(folder, gains=METHODS, seeds=6, settings=SETTINGS, note="", margin=0.5, **more):
    index = read_index(write_runs(folder, gains, settings=settings, seeds=seeds))
    for run in index["run"]:
        (folder / run / "run.json").write_text(json.dumps({"spec": SPEC, "data_note": note}))
    return Experiment(index, folder, tail=0.1, margin=margin, **more)


def table(claims, found, findings=None, scale="quick"):
    return evaluate({"sfg": claims}, {"sfg/outages": found} if found else {}, findings, scale).set_index("id")


def verdicts(claims, found, **more):
    return table(claims, found, **more)["verdict"].to_dict()


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return experiment(tmp_path_factory.mktemp("runs"), note="JPEG images", protocol="paper")


def test_known_truths(runs):
    claims = {
        "True": gain(4.0),
        "Smaller": gain(3.0),
        "Larger": gain(12.0),
        "Opposite": gain(**of("gain", method="dfedavg", baseline="sfg_cut")),
        "Nothing": gain(**of("gain", method="same", baseline="dfedavg")),
        "Order": gain(
            2.2, **of("ordering", order=["sfg_cut", ["aoi_received", "aoi_inclusive"], "dfedavg"]), any=False
        ),
        "Wrong-order": gain(None, **of("ordering", order=["dfedavg", "aoi_received"])),
        "Best": gain(1.8, **of("gain", method=["aoi_received", "aoi_inclusive"], baseline="dfedavg"), any=True),
        "Everywhere": gain(each=["availability"]),
        "Parity": gain(0.0, says="about", **of("gain", method="same", baseline="dfedavg")),
        "No-parity": gain(0.0, says="about"),
        "Only": gain(1.8, says="at most", **of("gain", method="aoi_inclusive", baseline="dfedavg")),
        "Not-only": gain(1.8, says="at most"),
        "Reached": gain(50.0, says="at least", within=3, unit="%", **of("value", method="sfg_cut")),
        "Not-reached": gain(90.0, says="at least", unit="%", **of("value", method="sfg_cut")),
        "Ratio": gain(1.05, ratio=True, unit="×"),
    }
    expected = dict.fromkeys(claims, "reproduced") | {
        "Larger": "direction only",
        "Order": "direction only",  # the weakest: an half point of aoi_received
        **dict.fromkeys(
            ["Opposite", "Nothing", "Wrong-order", "No-parity", "Not-only", "Not-reached"], "not reproduced"
        ),
    }
    assert verdicts(claims, runs) == expected


def test_a_share_of_pairs_is_tested_over_seeds(runs):
    found = table({"Wins": gain(99.2, says="wins", unit="%")}, runs).loc["Wins"]
    assert (found["verdict"], found["ours"], found["note"]) == (
        "reproduced",
        100,
        "12 of 12 pairs; by seed 6 won, 0 lost",
    )
    assert found["p"] == pytest.approx(2 / 2**6)  # by seed, not by pair
    assert found["low"] == pytest.approx(100 * 0.025 ** (1 / 6))


def test_a_row_says_all_there_is_to_know(runs):
    row = table({"S3": gain(note="chosen after a look")}, runs).loc["S3"]
    assert list(table({"S3": gain()}, runs).reset_index()[COLUMNS].columns) == COLUMNS
    assert row["ours"] == pytest.approx(4, abs=0.3)
    assert row["low"] < row["ours"] < row["high"]
    assert (row["n"], row["scale"], row["protocol"], row["within"]) == (6, "quick", "paper", 0.5)
    assert (row["ran"], row["data"]) == ("digits; 4 clients; 20 rounds", "JPEG images")
    assert row["note"] == "chosen after a look"


def test_p_values_are_corrected_over_the_tested_claims_of_a_study(runs):
    alone = table({"A": gain()}, runs).loc["A"]
    both = {"A": gain(), "B": gain(**of("gain", method="dfedavg", baseline="sfg_cut")), "C": gain(experiment="other")}
    found = table(both, runs)
    assert found.loc["A", "p"] == pytest.approx(2 * alone["p"])
    assert found.loc["B", "p_against"] == pytest.approx(2 * table({"B": both["B"]}, runs).loc["B", "p_against"])
    assert np.isnan(found.loc["C", "p"])
    experiments = {"sfg/outages": runs, "fedswe/outages": runs}
    of_two = evaluate({"sfg": {"A": gain()}, "fedswe": {"B": gain()}}, experiments, None, "quick")
    assert list(of_two["p"]) == [alone["p"]] * 2  # every study by itself


def test_no_effect_is_less_than_a_published_one(runs):
    found = table(
        {"Margin": gain(), "Small": gain(0.3), "Said": gain(0.3, within=0.1), "Bound": gain(0.3, says="at most")}, runs
    )
    assert list(found["within"]) == [0.5, 0.3, 0.1, 0.5]


@pytest.mark.parametrize(
    ("claim", "weakest"),
    [
        (gain(), "AoI (received)"),
        (gain(0.0, says="at least"), "AoI (received)"),
        (gain(4.0, says="at most"), "SFG-Cut"),
        (gain(4.2, says="about"), "AoI (received)"),
        (gain(0.3, says="about"), "SFG-Cut"),
    ],
)
def test_what_is_shown_of_several_is_the_furthest_off(runs, claim, weakest):
    several = of("gain", method=["aoi_received", "sfg_cut", "aoi_inclusive"], baseline="dfedavg")
    note = table({"C": {**claim, **several}}, runs).loc["C", "note"]
    assert note == f"weakest of 3: {weakest} − DFedAvg"


@pytest.mark.parametrize(
    ("published", "seeds", "verdict"),
    [(1, 6, "reproduced"), (2, 6, "not reproduced"), (0, 6, "reproduced"), (1, 7, "unresolved")],
)
def test_a_count_of_open_comparisons_is_held_against_the_published_one(tmp_path, published, seeds, verdict):
    found = experiment(tmp_path, margin=0.05)  # too narrow to tell that the first two do the same
    three = of("pairs", pairs=[["same", "dfedavg"], ["sfg_cut", "dfedavg"], ["aoi_received", "dfedavg"]])
    claim = gain(published, says="unresolved", unit="pairs", seeds=seeds, **three)
    assert verdicts({"C": claim}, found) == {"C": verdict}


def test_fewer_seeds_leave_it_unresolved(tmp_path):
    few = experiment(tmp_path / "few", seeds=2)
    assert verdicts({"W": gain(99.2, says="wins", unit="%")}, few) == {"W": "unresolved"}
    assert (
        table({"W": gain(99.2, says="wins", unit="%")}, few)
        .loc["W", "note"]
        .endswith("by seed 2 won, 0 lost: too few to decide, no p-value of a sign test over them is below 0.5")
    )
    one = experiment(tmp_path / "one", seeds=1)
    assert verdicts({"A": gain()}, one) == {"A": "unresolved"}


@pytest.mark.parametrize(
    ("claim", "note"),
    [
        (gain(experiment="other"), ""),
        (gain(**of("gain", method="sfg", baseline="dfedavg")), "sfg is not among the methods of outages here"),
        (gain(where={"availability": "diurnal"}), "diurnal is not among the levels of availability of outages here"),
        (gain(where={"availability": ["a", "b"]}), "none of a, b is among the levels of availability of outages here"),
        (gain(each=["task"]), "task is not among the factors of outages here"),
        (gain(scale="paper"), "needs the full setting, scale paper"),
        (
            gain(where={"availability": ["markov"]}, **of("trend", method="sfg_cut", factor="availability")),
            "there is one level of availability of outages here",
        ),
        (gain(finding={"check": "absent", "statement": "s"}), ""),
    ],
)
def test_what_is_not_run_is_not_judged_and_says_why(runs, claim, note):
    found = table({"C": claim}, runs)
    assert found["verdict"].item() == "not run at this scale"
    assert (found["note"].item() if note else "") == note


def test_a_list_of_levels_takes_those_that_are_run(runs):
    found = table({"C": gain(where={"availability": ["markov", "diurnal"]})}, runs)
    assert found.loc["C", "verdict"] == "reproduced"


def test_absolute_values_are_judged_at_the_scale_they_belong_to(runs):
    claim = gain(54.0, scale="paper", says="about", within=3, unit="%", **of("value", method="sfg_cut"))
    assert verdicts({"C": claim}, runs, scale="paper") == {"C": "reproduced"}


def test_both_protocols_of_an_experiment_are_judged(tmp_path):
    settings = [{"protocol": name} for name in ("paper", "released", "only_batches")]
    found = evaluate({"sfg": {"D": gain()}}, {"sfg/outages": experiment(tmp_path, settings=settings)}, None, "quick")
    assert list(found["protocol"]) == ["paper", "released"]
    assert list(found["n"]) == [6, 6]


GRID = [{"topology": where, "level": level} for where in ("ring", "regular4") for level in ("0", "1", "2")]


class Levels(Experiment):
    """Runs in which sfg_cut gains 4 points at level 0, and so many at 1 and 2."""

    gains = (4.0, 2.0, 0.5)

    def values(self, rows, measure):
        found = super().values(rows, measure)
        less = found["level"].astype(int).map(dict(enumerate(self.gains))) - 4
        return found.assign(value=found["value"] + less.where(found["method"] == "sfg_cut", 0))


@pytest.mark.parametrize(
    ("statistic", "verdict"),
    [
        (of("change", method="sfg_cut", baseline="dfedavg", factor="level", base=2, level=0), "reproduced"),
        (of("change", method="sfg_cut", baseline="dfedavg", factor="level", base=0, level=[1, 2]), "not reproduced"),
        (of("trend", method="sfg_cut", baseline="dfedavg", factor="level", falling=True), "reproduced"),
        (of("trend", method="sfg_cut", baseline="dfedavg", factor="level"), "not reproduced"),
        (of("steps", method="sfg_cut", baseline="dfedavg", factor="level", falling=True), "reproduced"),
    ],
)
def test_what_a_factor_changes(tmp_path, statistic, verdict):
    plain = experiment(tmp_path, {"dfedavg": 0.0, "sfg_cut": 0.04}, settings=GRID)
    found = Levels(plain.index, tmp_path, tail=0.1, margin=0.5)
    assert verdicts({"C": gain(None, **statistic)}, found) == {"C": verdict}


def test_levels_with_names_are_taken_in_the_order_declared(tmp_path):
    settings = [{"speeds": name} for name in ("low", "medium", "high")]
    found = experiment(tmp_path, {"dfedavg": 0.0}, settings=settings)
    values = found.values(found.index, {"kind": "final", "metric": "accuracy"})
    steps = {"statistic": {"kind": "steps", "method": "dfedavg", "factor": "speeds", "falling": True}}
    assert list(contrasts(steps, values)) == ["DFedAvg, low − medium", "DFedAvg, medium − high"]
    steps["statistic"]["level"] = ["medium", "low"]
    assert list(contrasts(steps, values)) == ["DFedAvg, medium − low"]
    steps["statistic"]["level"] = ["high", "low", "none"]
    assert "none is not among the levels of speeds" in table({"C": gain(None, **steps)}, found).loc["C", "note"]


@pytest.mark.parametrize("settings", [SETTINGS, [{}]])
def test_lost_runs_are_not_passed_over(tmp_path, settings):
    found = experiment(tmp_path, settings=settings)
    found.index = found.index.drop(found.index.index[0])
    with pytest.raises(Exception, match="sfg_cut, dfedavg: no run to pair with for"):
        table({"C": gain()}, found)


FINDINGS = pd.DataFrame(
    [
        ["sfg", "toy", "One holds: a", 0.111, 0.1111, np.nan, np.nan, "yes", "how"],
        ["sfg", "toy", "Two: a", 1.0, 1.0, 0.9, 1.1, "yes", ""],
        ["sfg", "toy", "Two: b", 1.0, 2.0, 1.9, 2.1, "no", "far off"],
    ],
    columns=["study", "check", "statement", "expected", "computed", "low", "high", "holds", "note"],
)


def theory(statement, published=None, **more):
    return {"source": "s", "text": "t", "published": published, "unit": "share", **more} | {
        "finding": {"check": "toy", "statement": statement}
    }


def test_statements_of_the_theory_hold_or_do_not():
    claims = {
        "Holds": theory("One holds"),
        "Near": theory("One", 0.111, within=0.001),
        "Far": theory("One", 0.2, within=0.001),
        "All": theory("Two"),
    }
    found = table(claims, None, FINDINGS)
    assert found["verdict"].to_dict() == {
        "Holds": "reproduced", "Near": "reproduced", "Far": "not reproduced", "All": "not reproduced"
    }  # fmt: skip
    assert (found.loc["All", "ours"], found.loc["All", "low"], found.loc["All", "note"]) == (2, 1.9, "far off")
    assert np.isnan(found.loc["Holds", "published"])  # a direction alone, whatever the check expects
    assert found.loc["Near", "published"] == 0.111
    with pytest.raises(
        ConfigError, match=r"sfg\.C\.finding\.statement: no statement of toy begins with 'Three'; expected"
    ):
        table({"C": theory("Three")}, None, FINDINGS)


def test_the_whole_registry_on_these_runs(runs):
    claims = yaml.safe_load((Path(__file__).parents[2] / "config" / "claims.yaml").read_text())["sfg"]
    found = table({name: claim for name, claim in claims.items() if "finding" not in claim}, runs)["verdict"]
    tested = dict.fromkeys(["S3", "S3-wins", "S4", "S4-behind"], "reproduced")
    assert found[list(tested)].to_dict() == tested
    assert set(found.drop(tested)) == {"not run at this scale"}
