"""Figures of gains by one and by two factors, and of fresh candidates: what they show, and that all of it is seen."""

import numpy as np
import pytest
from scipy import stats

from outagefl.analysis.figures import fresh_candidates, gain_by_level, gain_by_two_factors
from outagefl.analysis.indexes import read_index
from outagefl.analysis.pairing import pair
from outagefl.analysis.results import scores
from outagefl.engines.metrics import tidy
from outagefl.errors import ConfigError, DataError
from tests.unit.drawing import assert_nothing_is_cut_off_or_overlaps
from tests.unit.synthetic_runs import write_runs

GAINS = {"local": 0.05, "dfedavg": 0.0, "sfg": 0.03, "sfg_cut": 0.04}
LEVELS = ["10", "2", "30"]  # in the order of numbers: 2, 10, 30
BOTH = ["rule.gamma", "rule.margin"]


def runs(root, settings, seeds=4, gains=GAINS):
    return read_index(write_runs(root, gains, settings=settings, seeds=seeds))


def by_level(index, root, level="clients"):
    return gain_by_level.draw(index, root, baseline=["dfedavg", "sfg"], tail=0.1, level=level)


@pytest.fixture
def sweep(tmp_path):
    """An experiment of one numeric factor and two topologies."""
    settings = [{"topology": where, "clients": level} for where in ("ring", "complete") for level in LEVELS]
    return runs(tmp_path, settings), tmp_path


def test_a_gain_is_the_mean_over_pairs_with_its_interval(sweep):
    index, root = sweep
    figure = by_level(index, root)
    assert [axes.get_title() for axes in figure.axes] == ["ring", "complete"]
    pairs = pair(scores(index, root, 0.1), "dfedavg")
    for axes in figure.axes:
        assert [tick.get_text() for tick in axes.get_xticklabels()] == ["2", "10", "30"]
        own = pairs[(pairs["topology"] == axes.get_title()) & (pairs["method"] == "sfg_cut")]
        by_clients = [own.loc[own["clients"] == level, "difference"] for level in ("2", "10", "30")]
        [line] = [line for line in axes.get_lines() if line.get_color() == "#d55e00"]
        assert line.get_ydata() == pytest.approx([values.mean() for values in by_clients])
        ends = {end[1] for lines in axes.collections for piece in lines.get_segments() for end in piece}
        expected = stats.t.interval(0.95, 3, by_clients[0].mean(), stats.sem(by_clients[0]))
        assert all(any(abs(end - one) < 1e-9 for one in ends) for end in expected)
    assert figure.axes[0].get_ylabel() == "gain over DFedAvg (points)"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["Local only", "SFG", "SFG-Cut"]


def test_no_gain_is_always_in_the_picture_and_panels_are_alike(sweep):
    figure = by_level(*sweep)
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert figure.axes[0].get_ylim()[0] < 0
    assert_nothing_is_cut_off_or_overlaps(figure)
    assert_nothing_is_cut_off_or_overlaps(fresh_candidates.draw(*sweep, level="clients"))


def test_a_level_that_is_no_factor_or_no_number_is_told(sweep):
    with pytest.raises(ConfigError, match="unknown factor 'clientss'; did you mean 'clients'"):
        by_level(*sweep, level="clientss")
    with pytest.raises(DataError, match="the levels of topology are not all numbers"):
        by_level(*sweep, level="topology")


def grid(root, gammas=("0.5", "1"), margins=("0", "3", "16"), seeds=3):
    """An experiment of two factors that only sfg_cut has; the other methods have the same runs in all cells."""
    index = runs(root, [dict(zip(BOTH, (g, m), strict=True)) for g in gammas for m in margins], seeds)
    first = index.drop_duplicates(["method", "seed"]).set_index(["method", "seed"])
    for column in ("run", "checksum"):
        same = [first.loc[key, column] for key in zip(index["method"], index["seed"], strict=True)]
        index[column] = index[column].where(index["method"] == "sfg_cut", same)
    return index


def heat_map(index, root):
    return gain_by_two_factors.draw(index, root, baseline="dfedavg", tail=0.1, levels=BOTH)


def test_a_heat_map_tells_the_gain_of_every_cell(tmp_path):
    index = grid(tmp_path)
    figure = heat_map(index, tmp_path)
    pairs = pair(scores(index, tmp_path, 0.1), "dfedavg")
    axes = figure.axes[0]
    assert axes.get_title().startswith("SFG-Cut · Local only +")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("margin", "γ")
    cells = {text.get_position(): text.get_text() for text in axes.texts}
    assert len(cells) == 6
    for column, margin in enumerate(["0", "3", "16"]):
        own = pairs[(pairs["method"] == "sfg_cut") & (pairs["rule.gamma"] == "1") & (pairs["rule.margin"] == margin)]
        half = stats.t.ppf(0.975, 2) * stats.sem(own["difference"])
        assert cells[column, 1] == f"{own['difference'].mean():+.1f}\n±{half:.1f}"
        assert axes.images[0].get_array()[1, column] == pytest.approx(own["difference"].mean())
    assert_nothing_is_cut_off_or_overlaps(figure)


def test_a_heat_map_of_what_changes_nothing_shows_every_method(tmp_path):
    index = grid(tmp_path)
    first = index.drop_duplicates(["method", "seed"]).set_index(["method", "seed"])
    keys = list(zip(index["method"], index["seed"], strict=True))
    index = index.assign(**{column: [first.loc[key, column] for key in keys] for column in ("run", "checksum")})
    assert len(heat_map(index, tmp_path).axes) == 4


@pytest.mark.parametrize("seeds", [1, 2])
def test_a_heat_map_of_few_seeds_has_no_intervals(tmp_path, seeds):
    figure = heat_map(grid(tmp_path, seeds=seeds), tmp_path)
    assert not any("±" in text.get_text() for text in figure.axes[0].texts)


def test_a_heat_map_of_a_single_cell_shows_every_method(tmp_path):
    index = grid(tmp_path, gammas=("0.5",), margins=("3",))
    titles = [axes.get_title() for axes in heat_map(index, tmp_path).axes[:-1]]
    assert titles == ["Local only", "SFG", "SFG-Cut"]


def test_a_return_counts_as_fresh_when_it_lowers_the_lag(tmp_path):
    online = np.array([[1, 1, 1, 0], [0, 0, 1, 0], [0, 0, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1]], dtype=float)
    lag = np.array([[0, 0, 0, 1], [1, 1, 0, 2], [2, 2, 0, 3], [0.5, 2, 0.1, 4], [0.2, 0.3, 0.1, 4.5]])
    frame = tidy({"online": online, "lag": lag}, np.arange(1.0, 6.0))
    frame.to_parquet(tmp_path / "metrics.parquet", index=False)
    # three returns: the first client's lag falls from 2 to 0.5, the others stay at 2 and rise to 4.5
    assert fresh_candidates.fresher(tmp_path)["value"].tolist() == pytest.approx([100 / 3])


def test_without_a_return_there_is_no_share(tmp_path):
    always = np.ones((3, 2))
    tidy({"online": always, "lag": 0 * always}, np.arange(1.0, 4.0)).to_parquet(tmp_path / "metrics.parquet")
    assert fresh_candidates.fresher(tmp_path).empty
