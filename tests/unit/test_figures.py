"""Figures: what they show, that nothing is cut off, and that a method looks the same everywhere."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from scipy import stats

from outagefl.analysis import curves, looks, style
from outagefl.analysis.figures import accuracy_over_rounds, effective_lag, paired_differences, self_weight
from outagefl.analysis.indexes import read_index
from outagefl.analysis.results import collect
from outagefl.components import signatures
from outagefl.errors import ConfigError
from outagefl.files import checksum
from tests.unit.drawing import assert_nothing_is_cut_off_or_overlaps
from tests.unit.synthetic_runs import write_runs

TWO = {"dfedavg": 0.0, "sfg": 0.04}
EVERY = {method: 0.0 for method in looks.METHODS if method in signatures("gossip rule")} | {"sfg_cut": 0.05}
SIX = [
    {"availability": name, "topology": "small_world"}
    for name in ("always", "markov", "bernoulli", "diurnal", "regional", "a trace of many phones")
]
ONE = [{"availability": "markov"}]
DRAW = {
    "accuracy_over_rounds": partial(accuracy_over_rounds.draw, score="mean personalized accuracy"),
    "effective_lag": effective_lag.draw,
    "self_weight": self_weight.draw,
    "paired_differences": partial(paired_differences.draw, baseline="dfedavg", tail=0.1),
}


@pytest.fixture(
    scope="module", params=[(TWO, ONE, 1), (TWO, SIX[:2], 3), (EVERY, SIX, 2)], ids=["small", "two", "full"]
)
def experiment(request, tmp_path_factory):
    """An experiment's index, results root and number of settings."""
    methods, settings, seeds = request.param
    root = tmp_path_factory.mktemp("results")
    return read_index(write_runs(root, methods, settings=settings, seeds=seeds)), root, len(settings)


@pytest.mark.parametrize("name", DRAW)
def test_nothing_is_cut_off_or_overlaps(experiment, name):
    index, root, settings = experiment
    figure = DRAW[name](index, root)
    assert len(figure.axes) == settings
    assert_nothing_is_cut_off_or_overlaps(figure)


@pytest.mark.parametrize("name", DRAW)
def test_labels_and_units(tmp_path, name):
    figure = DRAW[name](read_index(write_runs(tmp_path, TWO, settings=SIX[:2])), tmp_path)
    assert [axes.get_title() for axes in figure.axes] == ["always", "markov"]
    xlabel, ylabel = figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
    assert (xlabel, ylabel) == {
        "accuracy_over_rounds": ("round", "mean personalized accuracy (%)"),
        "effective_lag": ("round", "mean effective lag (rounds)"),
        "self_weight": ("outage (rounds missed)", "weight of the own model"),
        "paired_differences": ("difference to DFedAvg (points)", ""),
    }[name]
    if name == "paired_differences":
        assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["SFG"]
    else:
        assert [text.get_text() for text in figure.legends[0].get_texts()] == ["DFedAvg", "SFG"]


def test_accuracy_is_the_mean_over_seeds_with_the_last_interval(tmp_path):
    index = read_index(write_runs(tmp_path, TWO, seeds=4))
    axes = accuracy_over_rounds.draw(index, tmp_path, score="accuracy").axes[0]
    final = []
    for run in index.loc[index["method"] == "sfg", "run"]:
        table = pd.read_parquet(tmp_path / run / "metrics.parquet")
        final.append(100 * table.query("metric == 'accuracy' and client == -1 and round == 20")["value"].item())
    line = axes.lines[1]
    assert line.get_xdata()[-1] == 20
    assert line.get_ydata()[-1] == pytest.approx(np.mean(final))
    half = stats.t.ppf(0.975, 3) * stats.sem(final)
    _, interval = (part for part in axes.collections if isinstance(part, LineCollection))
    ((x, low), (_, high)) = interval.get_segments()[0]
    assert x > 20
    assert (low, high) == pytest.approx((np.mean(final) - half, np.mean(final) + half))


def test_a_single_seed_has_lines_without_interval(tmp_path):
    table = curves.over_seeds(
        pd.DataFrame({"setting": "s", "method": "m", "seed": 0, "round": [1, 2], "value": [3.0, 4.0]}), "round"
    )
    assert list(table["mean"]) == [3, 4]
    assert table[["low", "high"]].isna().all(axis=None)
    index = read_index(write_runs(tmp_path, TWO, seeds=1))
    assert len(accuracy_over_rounds.draw(index, tmp_path, score="accuracy").axes[0].lines) == 2


def test_paired_differences_show_every_seed(tmp_path):
    index = read_index(write_runs(tmp_path, TWO, seeds=5))
    axes = paired_differences.draw(index, tmp_path, baseline="dfedavg", tail=0.1).axes[0]
    dots = axes.collections[0].get_offsets()
    assert len(dots) == 5
    assert dots[:, 0].mean() == pytest.approx(4, abs=0.5)
    zero, interval, mean = axes.lines
    assert list(zero.get_xdata()) == [0, 0]
    assert mean.get_xdata()[0] == pytest.approx(dots[:, 0].mean())
    assert interval.get_xdata()[0] < mean.get_xdata()[0] < interval.get_xdata()[1]
    with pytest.raises(ConfigError, match="did you mean 'dfedavg'"):
        paired_differences.draw(index, tmp_path, baseline="dfedav", tail=0.1)


def test_the_baseline_alone_is_said_to_be_alone(tmp_path):
    index = read_index(write_runs(tmp_path, {"dfedavg": 0.0}))
    axes = paired_differences.draw(index, tmp_path, baseline="dfedavg", tail=0.1).axes[0]
    assert [text.get_text() for text in axes.texts] == ["no method beside the baseline"]


def test_self_weight_is_that_of_returns_by_length_of_outage(tmp_path):
    run = tmp_path / "metrics.parquet"
    rows = [  # round, client, age, self weight and neighbours (None: offline)
        (1, 0, 0, 0.5, 1), (2, 0, 0, None, None), (3, 0, 1, 0.4, 2), (1, 1, 0, None, None), (2, 1, 1, None, None),
        (4, 1, 3, 0.2, 1), (9, 1, 4, 0.1, 3), (9, 2, 5, 0.05, 4), (9, 3, 5, 1.0, 0), (9, -1, 2, 0.9, 2),
    ]  # fmt: skip
    names = ("age", "self_weight", "neighbours")
    table = [(r, c, m, v) for r, c, *values in rows for m, v in zip(names, values, strict=True)]
    frame = pd.DataFrame(table, columns=["round", "client", "metric", "value"]).dropna()
    frame.astype({"metric": "category", "value": float}).assign(time=frame["round"]).to_parquet(run)
    found = self_weight.returns(tmp_path)
    # Class 0: one missed round; class 2: three or four; class 3: five to eight.
    assert list(found["outage"]) == [0, 2, 3]
    assert found["value"].to_numpy() == pytest.approx([0.4, 0.15, 0.05])
    assert list(found["returns"]) == [1, 2, 1]


def test_lengths_with_few_returns_make_no_point(tmp_path):
    index = read_index(write_runs(tmp_path / "always", TWO, online=1))
    axes = self_weight.draw(index, tmp_path / "always").axes[0]
    assert [text.get_text() for text in axes.texts] == ["too few returns"]
    index = read_index(write_runs(tmp_path / "markov", TWO))
    counts = [self_weight.returns(tmp_path / "markov" / run).set_index("outage")["returns"] for run in index["run"][:3]]
    enough = pd.concat(counts, axis=1).dropna().sum(axis=1) >= self_weight.FEWEST
    axes = self_weight.draw(index, tmp_path / "markov").axes[0]
    assert list(np.rint(axes.lines[0].get_xdata())) == list(enough[enough].index)
    assert not axes.texts


@pytest.mark.parametrize("name", DRAW)
def test_where_nobody_is_ever_online_the_figure_is_drawn_and_says_so(tmp_path, name):
    index = read_index(write_runs(tmp_path, TWO, online=0))
    [axes] = DRAW[name](index, tmp_path).axes
    assert [text.get_text() for text in axes.texts] == ["nobody online"] * (name == "self_weight")


def test_nobody_online_is_told_of_its_own_setting(tmp_path):
    markov, never = ({"availability": name} for name in ("markov", "never"))
    parts = [
        pd.read_csv(write_runs(tmp_path / place, TWO, settings=[one], online=share)).assign(
            run=lambda runs, place=place: place + "/" + runs["run"]
        )
        for place, one, share in (("a", markov, 0.5), ("b", never, 0))
    ]
    some, none = self_weight.draw(pd.concat(parts, ignore_index=True), tmp_path).axes
    assert not some.texts
    assert [text.get_text() for text in none.texts] == ["nobody online"]


def test_only_drawn_methods_are_in_the_legend(tmp_path):
    index = read_index(write_runs(tmp_path, TWO))
    weights = collect(index, tmp_path, self_weight.returns)
    only = weights[weights["method"] == "sfg"]
    figure, _ = curves.draw_panels(only, index, "outage", "x", "y", classes=True)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["SFG"]
    assert not curves.draw_panels(weights[:0], index, "outage", "x", "y", classes=True)[0].legends


def test_local_lag_does_not_squeeze_the_others(tmp_path):
    index = read_index(write_runs(tmp_path, TWO))
    root = tmp_path / "with local"
    other = read_index(write_runs(root, {**TWO, "local": 0.0}))
    for run in other.loc[other["method"] == "local", "run"]:
        file = root / run / "metrics.parquet"
        frame = pd.read_parquet(file)
        frame.loc[frame["metric"] == "lag", "value"] *= 100
        frame.to_parquet(file)
    other["checksum"] = [checksum(root / run / "metrics.parquet") for run in other["run"]]
    with_local = effective_lag.draw(other, root).axes[0]
    assert with_local.get_ylim() == effective_lag.draw(index, tmp_path).axes[0].get_ylim()
    assert len(with_local.lines) == 3


@pytest.mark.parametrize("name", DRAW)
def test_files_are_the_same_byte_for_byte(tmp_path, name):
    index = read_index(write_runs(tmp_path, TWO, seeds=2))
    for attempt in ("one", "two"):
        style.save(DRAW[name](index, tmp_path), tmp_path / attempt / "f.pdf", tmp_path / attempt / "f.png")
    for file in ("f.pdf", "f.png"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert (tmp_path / "one" / "f.pdf").read_bytes().startswith(b"%PDF")
    assert b"CreationDate" not in (tmp_path / "one" / "f.pdf").read_bytes()
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["f.pdf", "f.png"]


def test_a_note_on_the_data_is_written_inside_the_figure(tmp_path):
    figure = accuracy_over_rounds.draw(read_index(write_runs(tmp_path, TWO)), tmp_path, score="accuracy")
    style.save(figure, tmp_path / "f.pdf", tmp_path / "f.png", note="images recompressed as JPEG, " * 8)
    note = figure.get_suptitle()
    assert note.startswith("Data: images recompressed")
    box = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())
    assert box.x0 >= 0
    assert box.x1 <= figure.get_figwidth()
    assert box.y1 <= figure.get_figheight()


def test_named_methods_never_look_alike():
    seen = [tuple(looks.look(method).values()) for method in looks.METHODS]
    assert len(set(seen)) == len(seen)
    assert len({looks.label(method) for method in looks.METHODS}) == len(seen)


@given(st.text(min_size=1))
def test_an_unknown_method_has_a_look_of_no_named_one(method):
    assume(method not in looks.METHODS)
    assert looks.look(method) == looks.look(method)
    assert tuple(looks.look(method).values()) not in [tuple(looks.look(name).values()) for name in looks.METHODS]


def test_looks_do_not_depend_on_the_process():
    code = "from outagefl.analysis.looks import look; print(look('my_rule'), look('sfg'))"
    command = [sys.executable, "-c", code]
    environments = [{**os.environ, "PYTHONPATH": "workflow", "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    root = Path(__file__).parents[2]
    one, two = (
        subprocess.run(command, env=e, cwd=root, capture_output=True, text=True, check=True) for e in environments
    )
    assert one.stdout == two.stdout == f"{looks.look('my_rule')} {looks.look('sfg')}\n"


def test_drawing_leaves_global_settings_alone(tmp_path):
    before = dict(mpl.rcParams)
    index = read_index(write_runs(tmp_path, TWO))
    style.save(accuracy_over_rounds.draw(index, tmp_path, score="accuracy"), tmp_path / "f.pdf", tmp_path / "f.png")
    assert dict(mpl.rcParams) == before
