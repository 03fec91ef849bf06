"""Tables of a server study: values by hand, marks, published values beside them, and what cannot be tabulated."""

import numpy as np
import pandas as pd
import pytest

from outagefl.analysis.comparison_table import study_table
from outagefl.analysis.comparisons import ALL, comparisons
from outagefl.analysis.indexes import read_index
from outagefl.analysis.results import scores
from outagefl.analysis.tables import accuracy_table, memory, rounds_to_target
from outagefl.analysis.writers import write_html, write_latex
from outagefl.errors import DataError
from tests.unit.synthetic_runs import server_spec, write_server_runs

FACTS = """table,dataset.kind,availability.probability.kind,method,metric,target,mean,sd
2,svhn,sine,fedavg_active,train,,82.1,1.1
2,svhn,sine,fedavg_active,test,,82.0,1.3
2,svhn,sine,fedau,test,,82.5,
2,svhn,sine,mifa,test,,84.1,0.4
7,svhn,sine,fedau,rounds,20,60,
7,svhn,sine,fedau,rounds,80,inf,
"""
SINE = ({"availability": "sine"}, server_spec("svhn"))
STATIONARY = ({"availability": "stationary"}, server_spec("svhn", kind="stationary"))
FINALS = {  # method → settings × seeds; differences are hundredths
    "fedswe_k0": [[0.80, 0.82, 0.87], [0.70, 0.70, 0.70]],
    "fedavg_active": [[0.79, 0.80, 0.81], [0.70, 0.71, 0.72]],
    "fedau": [[0.60, 0.61, 0.62], [0.50, 0.50, 0.50]],
    "mifa": [[0.90, 0.90, 0.90], [0.90, 0.90, 0.90]],
}


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    path = tmp_path_factory.mktemp("published") / "study.csv"
    path.write_text(FACTS)
    return str(path)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """An index of two settings, evaluated twice, and its root; the first evaluation is outside any small tail."""
    root = tmp_path_factory.mktemp("results")
    curves = {method: np.stack([np.full_like(last, 0.1), last], axis=-1) for method, last in _arrays(FINALS)}
    more = {"fedau": {"diverged": np.array([0.0, 1.0])}}
    index = write_server_runs(root, curves, rounds=[20, 40], settings=[SINE, STATIONARY], more=more)
    return read_index(index), root


def _arrays(finals):
    return [(method, np.array(values)) for method, values in finals.items()]


@pytest.fixture(scope="module")
def table(two, published):
    return accuracy_table.tabulate(*two, tail=0.1, aided=["mifa"], published=published)


def test_means_deviations_and_differences_to_what_is_published(table):
    cells = table.tidy.set_index(["setting", "method", "metric"])
    k0 = cells.loc["sine", "fedswe_k0", "test"]
    assert k0["mean"] == pytest.approx(83)
    assert k0["sd"] == pytest.approx(np.sqrt(13))
    assert (k0["n"], k0["diverged"]) == (3, 0)
    assert k0[["published_mean", "difference"]].isna().all()
    assert cells.loc["sine", "fedavg_active", "train"]["difference"] == pytest.approx(81 - 82.1)
    assert cells.loc["stationary", "fedavg_active", "train"][["published_mean"]].isna().all()
    assert cells.loc["sine", "fedau", "test"]["diverged"] == 3


def test_ours_and_theirs_stand_side_by_side(table):
    shown = table.shown
    assert list(shown.index) == ["FedSWE (k = 0)", "FedAvg (active)", "FedAU", "MIFA"]
    assert list(shown.columns) == [
        ("sine", "train", "ours"), ("sine", "train", "paper"), ("sine", "test", "ours"), ("sine", "test", "paper"),
        ("stationary", "train", "ours"), ("stationary", "test", "ours"),
    ]  # fmt: skip
    assert shown.loc["FedAvg (active)", ("sine", "test", "ours")] == "80.0\u00a0±\u00a01.0"
    assert shown.loc["FedAvg (active)", ("sine", "test", "paper")] == "82.0\u00a0±\u00a01.3"
    assert shown.loc["FedAU", ("sine", "test", "paper")] == "82.5"
    assert shown.loc["FedSWE (k = 0)", ("sine", "test", "paper")] == "–"
    assert shown.loc["FedAU", ("sine", "test", "ours")].endswith("†")


def test_best_and_second_best_are_marked_without_the_aided(table):
    marks = table.marks
    assert list(marks["sine", "test", "ours"]) == ["bold", "underline", "", ""]
    assert list(marks["sine", "test", "paper"]) == ["", "underline", "bold", ""]
    assert list(marks["stationary", "test", "ours"]) == ["underline", "bold", "", ""]


def test_the_caption_says_what_was_run(table, two):
    for words in ("last 10 % of the rounds", "over 3 seeds", "all but MIFA", "†: training diverged", "Paper:"):
        assert words in table.caption
    index, root = two
    plain = accuracy_table.tabulate(index[index["method"] != "fedau"], root, tail=1.0)
    for words in ("all but", "†", "Paper"):
        assert words not in plain.caption
    assert "best and the second best." in plain.caption


def test_equal_accuracies_share_a_mark_and_a_single_seed_has_no_deviation(tmp_path):
    curves = {"fedau": [[0.7]], "f3ast": [[0.7001]], "gfedavg": [[0.6]]}
    index = read_index(write_server_runs(tmp_path, curves, rounds=[20], settings=[SINE]))
    table = accuracy_table.tabulate(index, tmp_path, tail=0.1)
    assert list(table.marks["sine", "test", "ours"]) == ["bold", "bold", "underline"]
    assert list(table.shown["sine", "test", "ours"]) == ["70.0", "70.0", "60.0"]
    assert "over 1 seed." in table.caption


def test_other_factors_make_blocks_of_rows(tmp_path):
    settings = [
        ({"task": task, "availability": kind}, server_spec(task, kind=kind))
        for task in ("svhn", "cifar10")
        for kind in ("stationary", "staircase", "sine")
    ]
    curves = {"fedau": np.arange(6).reshape(6, 1, 1) / 10, "f3ast": [[0.9]]}
    index = read_index(write_server_runs(tmp_path, curves, rounds=[20], settings=settings))
    shown = accuracy_table.tabulate(index, tmp_path, tail=0.1).shown
    assert list(shown.index)[:3] == [("stationary", "FedAU"), ("stationary", "F3AST"), ("staircase", "FedAU")]
    assert list(shown.columns.get_level_values(0)) == ["svhn", "svhn", "cifar10", "cifar10"]
    assert list(shown.loc[("staircase", "FedAU")]) == ["11.0", "10.0", "41.0", "40.0"]
    write_latex(shown, tmp_path / "t.tex", "c", "n")
    assert r"\cline{1-6}" in (tmp_path / "t.tex").read_text()


def test_marks_are_written_and_the_rest_is_escaped(table, tmp_path):
    shown = table.shown.rename(index={"FedSWE (k = 0)": "<k_0>"})
    marks = table.marks.rename(index={"FedSWE (k = 0)": "<k_0>"})
    write_html(shown, tmp_path / "t.html", table.caption, marks)
    page = (tmp_path / "t.html").read_text()
    for part in ("<b>83.0\u00a0±\u00a03.6</b>", "<u>80.0\u00a0±\u00a01.0</u>", "&lt;k_0&gt;"):
        assert part in page
    write_latex(shown, tmp_path / "t.tex", table.caption, "t", marks)
    text = (tmp_path / "t.tex").read_text()
    for part in (r"\textbf{83.0~$\pm$~3.6}", r"\underline{80.0~$\pm$~1.0}", r"$<$k\_0$>$", r"$\dagger$"):
        assert part in text
    assert text.isascii()


@pytest.fixture
def rounds(tmp_path, published):
    """The table of first rounds of curves sampled every 20 rounds, in one setting on a data set."""

    def of(curves, targets, dataset="svhn", **options):
        evaluated = [20 * (place + 1) for place in range(len(next(iter(curves.values()))[0]))]
        settings = [({"availability": "sine"}, server_spec(dataset))]
        index = read_index(write_server_runs(tmp_path, curves, rounds=evaluated, settings=settings))
        options = {"tail": 0.1, "chance": 10, "targets": targets, "published": published} | options
        return rounds_to_target.tabulate(index, tmp_path, **options)

    return of


def test_the_first_round_at_which_the_mean_over_seeds_reaches_a_target(rounds):
    table = rounds(
        {"fedau": np.array([[0.1, 0.5, 0.3, 0.9], [0.1, 0.1, 0.5, 0.5]]), "f3ast": [[0.2, 0.2, 0.2, 0.2]]},
        {"svhn": {"every": 20, "accuracy": [10, 20, 40, 80]}},
    )
    by_method = table.tidy.pivot(index="method", columns="target", values="rounds")
    assert list(by_method.loc["fedau"]) == [0, 40, 60, np.inf]
    assert list(by_method.loc["f3ast"]) == [0, 20, np.inf, np.inf]
    assert list(table.shown.columns)[-3:] == [
        ("sine", "40 %", "ours"),
        ("sine", "80 %", "ours"),
        ("sine", "80 %", "paper"),
    ]
    assert list(table.shown.loc["FedAU"]) == ["0", "40", "60", "60", "—", "—"]
    assert list(table.shown.loc["F3AST"]) == ["0", "20", "–", "—", "—", "–"]
    assert "every 20 (svhn) rounds" in table.caption


def test_only_multiples_of_every_are_looked_at(rounds):
    curve = {"fedau": [[0.1, 0.9, 0.9, 0.5, 0.9, 0.9]]}
    table = rounds(curve, {"svhn": {"every": 40, "accuracy": [60]}})
    assert list(table.tidy["rounds"]) == [40]


def test_a_look_at_no_evaluated_round_is_an_error(rounds):
    with pytest.raises(DataError, match="svhn: no evaluated round is a multiple of 500"):
        rounds({"fedau": [[0.1, 0.9]]}, {"svhn": {"every": 500, "accuracy": [60]}})


def test_a_data_set_without_targets_has_quarters_of_our_best(rounds):
    table = rounds({"fedau": [[0.3, 0.6, 0.86]], "f3ast": [[0.1, 0.1, 0.2]]}, {}, dataset="digits", chance=20)
    assert list(table.tidy["target"][:4]) == [20, 40, 60, 80]
    assert list(table.tidy["rounds"][:4]) == [0, 40, 40, 60]
    assert "digits: looked at in every evaluated round; targets are the quarters of the best" in table.caption
    assert "Paper" not in table.caption


def test_memory_in_multiples_of_the_model(tmp_path):
    last = {"server_memory": 1000.0, "client_memory": 0.0}
    more = {
        "fedavg_active": last,
        "mifa": last | {"server_memory": 101_000.0},
        "fedswe_km": last | {"server_memory": 1100.0, "client_memory": 1000.0},
    }
    curves = {method: [[0.5]] for method in more}
    index = read_index(write_server_runs(tmp_path, curves, rounds=[20], settings=[SINE, STATIONARY], more=more))
    table = memory.tabulate(index, tmp_path)
    heading = "svhn, m = 100, d = 1,000"
    assert list(table.shown[heading, "server"]) == ["1.000 d", "101.000 d", "1.100 d"]
    assert list(table.shown[heading, "each client"]) == ["0.000 d", "0.000 d", "1.000 d"]
    assert list(table.shown["paper", "memory"]) == ["–", "O(md)", "O(d)"]
    assert table.shown.index.name is None
    assert list(table.tidy["server"]) == [1000, 101_000, 1100]


def test_a_gossip_study_has_no_such_tables(tmp_path):
    index = read_index(write_server_runs(tmp_path, {"fedau": [[0.5]]}, rounds=[20], settings=[SINE]))
    with pytest.raises(DataError, match="holds no metric 'server_memory'"):
        memory.tabulate(index, tmp_path)


def test_every_baseline_has_its_own_differences_and_families(two):
    index, root = two
    runs = scores(index, root, 0.1)
    found = comparisons(runs, ["fedswe_k0", "mifa"], 0.5)
    assert list(found["baseline"].unique()) == ["fedswe_k0", "mifa"]
    alone = comparisons(runs, ["mifa"], 0.5)
    pd.testing.assert_frame_equal(found[found["baseline"] == "mifa"].reset_index(drop=True), alone)
    shown = study_table(found)
    assert list(shown["sine"]) == ["accuracy (%)", "Δ to FedSWE (k = 0)", "Δ to MIFA"]
    assert shown.loc["FedAU", ("sine", "Δ to FedSWE (k = 0)")].startswith("−22.00")
    assert shown.loc["FedAU", ("stationary", "Δ to MIFA")].startswith("−40.00")
    assert shown.loc["MIFA", (ALL, "Δ to MIFA")] == "–"
