"""Figures of a server study: what they show, and that nothing is cut off."""

from functools import partial

import numpy as np
import pytest

from outagefl.analysis import looks
from outagefl.analysis.figures import accuracy_by_level, consensus_error, rounds_by_level, window_ends
from outagefl.analysis.indexes import read_index
from outagefl.errors import ConfigError, DataError
from tests.unit.drawing import assert_nothing_is_cut_off_or_overlaps
from tests.unit.synthetic_runs import server_spec, write_server_runs

ROUNDS = [50, 100, 150, 200]
LEVELS = ("100", "0", "10")  # as declared: not in order
METHODS = ("fedswe_km", "fedavg_active")
TURNS = {"kind": "periodic", "groups": 2, "window": 50}
FACTS = """table,dataset.kind,availability.probability.kind,rule.k,method,metric,target,mean,sd
8,svhn,periodic,0,fedswe_km,test,,55.5,1
8,svhn,periodic,100,fedswe_km,train,,66.6,1
"""


def write(root, availabilities=("periodic",), seeds=2):
    """Runs with a factor k: the accuracy of FedSWE rises with k, FedAvg's depends on the group of the window."""
    settings = [
        ({"availability": name, "rule.k": k}, server_spec(**TURNS) | {"rule": {"kind": "fedswe", "k": int(k)}})
        for name in availabilities
        for k in LEVELS
    ]
    gain = np.tile([0.4, 0.0, 0.2], len(availabilities))[:, None, None]
    noise = 0.01 * np.arange(seeds)[:, None]
    swe = 0.1 + gain + noise + np.array([0.0, 0.1, 0.2, 0.3])
    fedavg = np.broadcast_to(noise + np.array([0.2, 0.5, 0.2, 0.5]), swe.shape)
    more = {"fedswe_km": {"consensus_error": np.array([100.0, 10.0, 1.0, 0.0])}}
    return read_index(
        write_server_runs(root, {METHODS[0]: swe, METHODS[1]: fedavg}, rounds=ROUNDS, settings=settings, more=more)
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """An index of one setting, its root, and a table of published values."""
    root = tmp_path_factory.mktemp("results")
    (root / "facts.csv").write_text(FACTS)
    return write(root), root


DRAW = {
    "accuracy_by_level": partial(accuracy_by_level.draw, tail=0.1, level="rule.k"),
    "rounds_by_level": partial(rounds_by_level.draw, level="rule.k", target=40),
    "consensus_error": partial(consensus_error.draw, level="rule.k"),
    "window_ends": partial(window_ends.draw, score="test accuracy"),
}


@pytest.mark.parametrize("name", DRAW)
def test_nothing_is_cut_off_or_overlaps(name, tmp_path):
    index = write(tmp_path, ("periodic", "with long names of settings"), seeds=1)
    index = index[index["rule.k"] == "0"].drop(columns="rule.k") if name == "window_ends" else index
    assert_nothing_is_cut_off_or_overlaps(DRAW[name](index, tmp_path))


def test_accuracy_against_evenly_spaced_ascending_levels(runs):
    figure = DRAW["accuracy_by_level"](*runs)
    assert [axes.get_title() for axes in figure.axes] == ["train", "test"]
    train, test = figure.axes
    assert [tick.get_text() for tick in test.get_xticklabels()] == ["0", "10", "100"]
    assert (test.get_xlabel(), train.get_ylabel()) == ("k", "accuracy (%)")
    swe, fedavg = test.lines[:2]
    assert list(swe.get_ydata()) == pytest.approx([40.5, 60.5, 80.5])
    assert list(fedavg.get_ydata()) == pytest.approx([50.5] * 3)
    assert list(np.rint(swe.get_xdata())) == [0, 1, 2]
    assert list(train.lines[0].get_ydata()) == pytest.approx([41.5, 61.5, 81.5])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["FedSWE (k = m)", "FedAvg (active)"]


def test_published_values_are_marks_on_their_method_and_level(runs):
    index, root = runs
    figure = DRAW["accuracy_by_level"](index, root, published=str(root / "facts.csv"))
    for axes, place, value in zip(figure.axes, (2, 0), (66.6, 55.5), strict=True):
        mark = axes.lines[2]
        assert mark.get_marker() == "D"
        assert mark.get_color() == looks.look("fedswe_km")["color"]
        assert list(mark.get_ydata()) == [value]
        assert mark.get_xdata()[0] == pytest.approx(axes.lines[0].get_xdata()[place])
        assert axes.get_ylim()[0] < value < axes.get_ylim()[1]
    assert figure.legends[0].get_texts()[-1].get_text() == "published"


def test_rounds_until_a_target_and_never(runs):
    index, root = runs
    axes = rounds_by_level.draw(index, root, level="rule.k", target=60).axes[0]
    swe, fedavg = (line.get_ydata() for line in axes.lines)
    assert np.isnan(swe[0])
    assert list(swe[1:]) == [200, 100]
    assert np.isnan(fedavg).all()
    crosses = [part.get_offsets()[:, 0].tolist() for part in axes.collections]
    assert np.rint(np.concatenate(crosses)).tolist() == [0, 0, 1, 2]
    assert [text.get_text() for text in axes.texts] == ["never"]
    reached = rounds_by_level.draw(index, root, level="rule.k", target=40).axes[0]
    assert list(reached.lines[1].get_ydata()) == [100] * 3
    assert not reached.texts


def test_consensus_error_has_a_line_per_level_on_a_logarithmic_axis(runs):
    figure = DRAW["consensus_error"](*runs)
    (axes,) = figure.axes
    assert axes.get_yscale() == "log"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["k = 0", "k = 10", "k = 100"]
    assert list(axes.lines[0].get_ydata()) == [100, 10, 1, 0]
    assert axes.get_ylim() == pytest.approx((0.7, 140))
    assert axes.get_title() == "periodic"


def test_consensus_error_without_levels_and_without_any(runs):
    index, root = runs
    one = index[index["rule.k"] == "0"].drop(columns="rule.k")
    figure = consensus_error.draw(one, root)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["FedSWE (k = m)"]
    with pytest.raises(DataError, match="no run of the experiment has the metric 'consensus_error'"):
        consensus_error.draw(one[one["method"] == "fedavg_active"], root)


def test_each_end_of_a_window_has_its_panel(runs):
    index, root = runs
    figure = window_ends.draw(index[index["rule.k"] == "0"].drop(columns="rule.k"), root, score="test accuracy")
    first, second = figure.axes
    assert [axes.get_title() for axes in (first, second)] == ["after a window of group 1", "after a window of group 2"]
    assert list(first.lines[1].get_xdata()) == [50, 150]
    assert list(first.lines[1].get_ydata()) == pytest.approx([20.5, 20.5])
    assert list(second.lines[1].get_xdata()) == [100, 200]
    assert list(second.lines[1].get_ydata()) == pytest.approx([50.5, 50.5])
    assert first.get_ylim() == second.get_ylim()
    assert first.get_ylabel() == "test accuracy (%)"


@pytest.mark.parametrize(
    ("rounds", "spec", "message"),
    [([50, 100], server_spec(), "not available by turns"), ([100, 200], server_spec(**TURNS), "every group's window")],
)
def test_runs_without_both_ends_of_windows_are_refused(tmp_path, rounds, spec, message):
    settings = [({"availability": "sine"}, spec)]
    index = read_index(write_server_runs(tmp_path, {"fedau": [[0.5, 0.6]]}, rounds=rounds, settings=settings))
    with pytest.raises(DataError, match=message):
        window_ends.draw(index, tmp_path, score="accuracy")


def test_levels_are_numbers_of_a_factor(runs):
    index, root = runs
    with pytest.raises(ConfigError, match=r"did you mean 'rule\.k'"):
        rounds_by_level.draw(index, root, level="rule.kk", target=40)
    with pytest.raises(DataError, match="levels of availability are not all numbers"):
        rounds_by_level.draw(index, root, level="availability", target=40)
