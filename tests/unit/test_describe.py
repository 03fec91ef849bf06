"""Tables and figures of data sets, partitions, probabilities and traces: what they say and show."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as matrices
from matplotlib.backends.backend_agg import FigureCanvasAgg

from outagefl.analysis import style
from outagefl.components import signatures
from outagefl.datasets.arrays import ImageData
from outagefl.describe import datasets, partitions, probabilities, trace_statistics, traces
from outagefl.describe.notes import title, told
from outagefl.errors import ConfigError
from outagefl.inputs.partitions import Partition
from outagefl.inputs.traces import OFFLINE, ONLINE, UNKNOWN, Trace
from outagefl.sources.catalog import sources

STATES = matrices(np.int8, st.tuples(st.integers(1, 12), st.integers(1, 4)), elements=st.integers(-1, 1))


def drawn(figure):
    """The figure after it was laid out; nothing may stick out of it."""
    canvas = FigureCanvasAgg(figure)
    with style.theme():
        canvas.draw()
    box, whole = figure.get_tightbbox(canvas.get_renderer()), figure.get_size_inches()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= whole[0]
    assert box.y1 <= whole[1]
    return figure


# --- Data sets and partitions ---


def images(channels=3, classes=3, each=4):
    """Every image of class k is all of the value 10 · k; class 2 has one training image only."""
    labels = np.repeat(np.arange(classes), each)
    labels = np.delete(labels, np.flatnonzero(labels == 2)[1:])
    pictures = np.broadcast_to((10 * labels).astype(np.uint8)[:, None, None, None], (len(labels), 5, 5, channels))
    names = tuple(f"class {k}" for k in range(classes))
    return ImageData(
        pictures, labels, pictures[:2], labels[:2], names, (0.25,) * channels, (0.5,) * channels, "made for the test"
    )


def test_images_are_counted_by_class_and_in_all():
    table = datasets.class_counts(images())
    assert table.to_dict("list") == {
        "class": ["class 0", "class 1", "class 2", "all"],
        "train": [4, 4, 1, 9],
        "test": [2, 0, 0, 2],
    }


def test_constants_stand_beside_the_published_ones():
    published = {"mean": [0.25, 0.24, 0.2], "std": [0.5, 0.5, 0.6]}
    table = datasets.channel_constants(images(), published)
    assert list(table.columns) == [
        "channel", "mean", "mean_published", "mean_difference", "std", "std_published", "std_difference",
        "tolerance", "verdict", "note",
    ]  # fmt: skip
    assert table["channel"].tolist() == ["red", "green", "blue"]
    assert table["mean_published"].tolist() == published["mean"]
    assert table["mean_difference"].tolist() == pytest.approx([0, 0.01, 0.05])
    assert table["std_difference"].tolist() == pytest.approx([0, 0, -0.1])
    assert table["note"].tolist() == ["made for the test"] * 3


@pytest.mark.parametrize(("mean", "std"), [(0.0004, 0), (0, -0.0004), (0.0006, 0), (0, -0.0006)])
def test_constants_agree_or_differ_by_channel(mean, std):
    published = {"mean": [0.25, 0.25, 0.25 + mean], "std": [0.5, 0.5, 0.5 + std]}
    table = datasets.channel_constants(images(), published)
    assert table["tolerance"].tolist() == [0.0005] * 3
    assert table["verdict"].tolist() == ["agrees", "agrees", "agrees" if abs(mean + std) < 0.0005 else "differs"]


def test_where_no_constants_are_published_it_is_said():
    grey = datasets.channel_constants(images(channels=1))
    assert (grey["channel"][0], grey["mean"][0], grey["std"][0], grey["verdict"][0]) == (
        "grey", 0.25, 0.5, "none published",
    )  # fmt: skip
    assert grey[["mean_published", "mean_difference", "std_published", "std_difference"]].isna().all(axis=None)


def test_published_constants_of_the_catalog_are_one_a_channel():
    catalog = sources(Path(__file__).parents[2] / "config" / "sources.yaml", {})
    published = {name: source.entry.get("published") for name, source in catalog.items()}
    assert {name for name in signatures("dataset") if not published[name]} == {"digits", "femnist", "own_images"}
    for name in ("cifar10", "cifar100", "svhn", "cinic10"):
        datasets.channel_constants(images(), published[name])
    datasets.channel_constants(images(channels=1), published["emnist"])


def test_published_constants_must_be_one_a_channel():
    with pytest.raises(ConfigError, match=r"published\.mean: 3 numbers; expected 1, one a channel"):
        datasets.channel_constants(images(channels=1), {"mean": [0.1, 0.2, 0.3], "std": [0.1]})


@pytest.mark.parametrize("channels", [1, 3])
def test_a_sheet_shows_each_class_in_its_row(channels):
    [axes] = drawn(datasets.sample_sheet(images(channels))).axes
    shown = axes.images[0].get_array().reshape(15, 5 * datasets.SAMPLES, -1)
    for label, count in enumerate((4, 4, 1)):
        row = shown[5 * label : 5 * label + 5]
        assert (row[:, : 5 * count] == 10 * label).all()
        assert (row[:, 5 * count :] == 255).all()  # blank: there are no more
    assert [text.get_text() for text in axes.get_yticklabels()] == ["class 0", "class 1", "class 2"]


def test_a_sheet_of_many_classes_shows_some_from_the_first_to_the_last():
    [axes] = drawn(datasets.sample_sheet(images(classes=60, each=1))).axes
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert len(names) == datasets.CLASSES
    assert (names[0], names[-1]) == ("class 0", "class 59")


TWO_CLIENTS = Partition((np.array([0, 1, 4]), np.array([5, 6, 7, 8])), (np.array([0]), np.array([0, 1])))


def test_clients_are_counted():
    table = partitions.client_counts(TWO_CLIENTS, images())
    assert table.drop(columns="largest_share").to_dict("list") == {
        "client": [0, 1],
        "train": [3, 4],
        "test": [1, 2],
        "classes": [2, 2],
    }
    assert table["largest_share"].tolist() == pytest.approx([2 / 3, 3 / 4])


def test_bubbles_are_as_large_as_what_clients_hold():
    [axes] = drawn(partitions.bubbles(TWO_CLIENTS, images())).axes
    held = axes.collections[0]
    sizes = dict(zip(map(tuple, held.get_offsets().tolist()), held.get_sizes(), strict=True))
    assert sizes == {
        place: pytest.approx(partitions.LARGEST * count / 3)
        for place, count in {(0, 0): 2, (0, 1): 1, (1, 1): 3, (1, 2): 1}.items()
    }
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first class on top


def test_of_many_clients_the_first_are_shown_and_it_is_said():
    many = Partition((np.array([0]),) * 70, (np.array([0]),) * 70)
    [axes] = drawn(partitions.bubbles(many, images())).axes
    assert len(axes.collections[0].get_offsets()) == partitions.CLIENTS
    assert axes.get_xlabel() == "client (the first 50 of 70)"


def test_components_are_told_with_their_options():
    base = {"kind": "label_mix", "labels": "drawn"}
    assert told({"kind": "sine", "gamma": 0.3, "base": base}) == "sine (gamma 0.3, base label_mix (labels drawn))"
    assert told({"kind": "ring"}) == "ring"


@pytest.mark.parametrize("name", ["custom", "flash_events", "cifar10"])
def test_a_source_from_a_local_path_does_not_go_by_the_catalogs_title(tmp_path, name):
    catalog = Path(__file__).parents[2] / "config" / "sources.yaml"
    (tmp_path / "mine.bin").touch()
    for path, said in ((tmp_path / "mine.bin", "local file mine.bin"), (tmp_path, f"local folder {tmp_path.name}")):
        assert title(sources(catalog, {name: str(path)})[name]) == f"{name}, {said}"
    source = sources(catalog, {})[name]
    assert title(source) == source.entry["title"]


# --- Probabilities ---


def by_turns(rounds=300, clients=8):
    """Two groups by turns of 50 rounds; base probabilities are clients' numbers by ten; who is online is not drawn."""
    base = np.arange(clients) / 10
    away = (np.arange(rounds)[:, None] // 50 % 2) != (np.arange(clients) >= clients // 2)
    probability = np.where(away, 0, base)
    return probabilities.Outages(base, probability, probability >= 0.25, groups=2)


def test_a_table_has_what_each_client_could_do_and_did():
    table = probabilities.client_table(by_turns())
    assert table["group"].tolist() == [0] * 4 + [1] * 4
    assert table["mean"].tolist() == pytest.approx((np.arange(8) / 20).tolist())
    assert table["lowest"].tolist() == [0] * 8
    assert table["highest"].tolist() == table["base"].tolist()
    assert table["online"].tolist() == [0] * 3 + [0.5] * 5


def test_a_figure_of_probabilities_shows_clients_of_each_group_over_time_and_the_draws():
    outages = by_turns()
    clients, course, raster, online = drawn(probabilities.draw(outages)).axes
    assert [text.get_text() for text in clients.get_legend().get_texts()] == [
        "base probability",
        "mean over all rounds",
    ]
    shown = [line.get_label() for line in course.lines]
    assert shown == ["client 3", "client 2", "client 0", "client 7", "client 6", "client 4"]
    for line in course.lines:
        client = int(line.get_label().split()[1])
        assert np.array_equal(line.get_ydata(), outages.probability[: probabilities.ROUNDS, client])
    assert [label.get_text() for label in raster.get_yticklabels()] == shown
    [bars] = [bars for bars in raster.collections if len(bars.get_paths()) and bars.get_paths()[0].vertices[0, 1] < 1]
    assert [path.vertices[0, 0] + 0.5 for path in bars.get_paths()] == [*range(50), *range(100, 150)]
    sampled, expected = (line.get_ydata() for line in online.lines)
    assert np.array_equal(sampled, outages.online[: probabilities.ROUNDS].mean(axis=1))
    assert np.array_equal(expected, outages.probability[: probabilities.ROUNDS].mean(axis=1))
    assert online.get_xlabel() == "t (the first 200 of 300 rounds)"


def test_the_mean_is_shown_only_where_it_is_not_the_base_probability():
    base = np.array([0.0, 0.5, 1.0])
    stationary = probabilities.Outages(base, np.tile(base, (7, 1)), np.ones((7, 3), bool))
    clients, course, *_ = drawn(probabilities.draw(stationary)).axes
    assert [text.get_text() for text in clients.get_legend().get_texts()] == ["base probability"]
    assert sum(bar.get_height() for bar in clients.patches) == 3
    assert course.get_xlabel() == "t"


# --- Statistics of traces ---


def by_hand(column, value):
    """Runs of a value in one device's states, counted one slot at a time."""
    lengths, before = [], None
    for state in column:
        if state == value:
            lengths = [*lengths[:-1], lengths[-1] + 1] if before == value else [*lengths, 1]
        before = state
    return lengths


@given(STATES, st.sampled_from([OFFLINE, ONLINE]))
def test_runs_are_those_counted_by_hand(state, value):
    expected = [length for column in state.T.tolist() for length in by_hand(column, value)]
    assert trace_statistics.runs(state, value).tolist() == expected


@given(STATES)
def test_autocorrelation_is_that_of_known_pairs(state):
    for found, column in zip(trace_statistics.autocorrelation(state), state.T, strict=True):
        pairs = np.array([pair for pair in pairwise(column) if UNKNOWN not in pair])
        if len(pairs) and np.ptp(pairs, axis=0).all():
            assert found == pytest.approx(np.corrcoef(pairs.T)[0, 1])
        else:
            assert np.isnan(found)


def test_unknown_slots_count_nowhere():
    state = np.array([[1, 0, -1], [-1, 0, -1], [0, 0, -1], [0, 0, -1]], np.int8)
    found = trace_statistics.statistics(Trace(state, 30, None, {}))
    assert found["share online"] == pytest.approx(1 / 7)
    assert found["share unknown"] == pytest.approx(5 / 12)
    assert found["share never online"] == 1 / 2  # of the two devices that are known at all
    assert found["largest device mean"] == pytest.approx(1 / 3)
    assert "hourly share" not in found


@pytest.mark.parametrize("start", ["22:30", "2020-01-29T22:30"])
def test_hours_begin_at_the_traces_time_of_day(start):
    state = np.array([[1, 1], [1, 0], [0, 0], [1, -1], [1, 1]], np.int8)  # 22:30, 23:00, 23:30, 00:00, 00:30
    share = trace_statistics.hourly_share(Trace(state, 30, start, {}))
    assert share[[22, 23, 0]].tolist() == pytest.approx([1, 1 / 4, 1])
    assert np.isnan(share[1:22]).all()


def test_a_trace_in_which_all_are_always_online_is_drawn():
    drawn(traces.draw({"recorded": Trace(np.ones((3, 2), np.int8), 10, "00:00", {})}))


def test_a_trace_of_which_nothing_is_known_has_no_statistics_but_a_figure():
    trace = Trace(np.full((3, 2), UNKNOWN, np.int8), 10, None, {})
    table = traces.summary({"recorded": trace}).set_index("statistic")["recorded"]
    assert table["share unknown"] == 1
    assert table.drop(["slots", "devices", "minutes of a slot", "share unknown"]).isna().all()
    drawn(traces.draw({"recorded": trace}))


# --- Traces in a table and a figure ---


def phones(slots=96, devices=80, slot_minutes=30, start="00:00", counts=None):
    """Device i is online in the first i slots of every 100; the first slot of all but device 0 is unknown."""
    state = (np.arange(slots)[:, None] % 100 < np.arange(devices)).astype(np.int8)
    state[0, 1:] = UNKNOWN
    return Trace(state, slot_minutes, start, counts or {})


def test_half_hours_stand_beside_as_many_synthetic_ones():
    beside = traces.beside(phones(start="06:00"))
    assert list(beside) == ["recorded", "synthetic smartphones"]
    synthetic = beside["synthetic smartphones"]
    assert synthetic.state.shape == (96, 80)
    assert (synthetic.slot_minutes, synthetic.start) == (30, "06:00")
    assert np.array_equal(synthetic.state, traces.beside(phones(start="06:00"))["synthetic smartphones"].state)
    from_midnight = traces.beside(phones(slots=108))["synthetic smartphones"].state
    assert np.array_equal(from_midnight[12:], synthetic.state)  # the same phones, six hours later
    assert list(traces.beside(phones(slot_minutes=10))) == ["recorded"]


def test_the_table_has_every_statistic_and_what_was_counted():
    table = traces.summary(traces.beside(phones(counts={"malformed lines": 7})))
    assert list(table.columns) == ["statistic", "at", "recorded", "synthetic smartphones"]
    recorded = table.set_index(["statistic", "at"])["recorded"]
    assert recorded["slots", ""] == 96
    assert recorded["devices", ""] == 80
    assert recorded["online run", "p50"] == 39.5  # runs of 1, 2, …, 78, their first slot unknown
    assert recorded["hourly share", "00:00"] > recorded["hourly share", "12:00"]
    assert recorded["read: malformed lines", ""] == 7
    assert table.set_index(["statistic", "at"])["synthetic smartphones"].isna().sum() == 1  # nothing was read


@pytest.mark.parametrize("slot_minutes", [1, 10, 30, 60, 1440])
@pytest.mark.parametrize("slots", [2, 7, 96])
def test_run_lengths_are_labelled_in_one_way(slots, slot_minutes):
    figure = drawn(traces.draw({"recorded": phones(slots, 9, slot_minutes)}))
    panels = [axes for axes in figure.axes if axes.get_xscale() == "log"]
    assert len(panels) == 2
    for axes in panels:
        hours, shares = (
            [label.get_text() for label in axis.get_ticklabels(which="both") if label.get_text()]
            for axis in (axes.xaxis, axes.yaxis)
        )
        assert hours
        assert all(re.fullmatch(r"[0-9.]+", hour) for hour in hours)
        assert all(share.endswith(" %") for share in shares)


def test_a_figure_shows_hours_devices_runs_and_a_raster_of_both():
    beside = traces.beside(phones())
    figure = drawn(traces.draw(beside))
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == [
        "Share online by time of day",
        "Devices from most to least online",
        "Online at a stretch",
        "Offline at a stretch",
        "Recorded: 60 of 80 devices",
        "Synthetic smartphones: 60 of 80 devices",
    ]
    hours, _, online, *_ = figure.axes
    assert np.array_equal(hours.lines[0].get_ydata(), trace_statistics.hourly_share(beside["recorded"]))
    assert online.get_xscale() == "log"
    x, y = online.lines[0].get_data()
    assert y[0] == 1
    assert x[0] == pytest.approx(0.5)  # hours
    assert (np.diff(y) < 0).all()
    raster = figure.axes[4].collections[0].get_array()
    assert raster.shape == (60, 96)
    assert (np.diff((raster == ONLINE).sum(axis=1)) <= 0).all()  # from most to least online
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [*beside, "online", "offline", "unknown"]


def test_without_a_start_there_are_no_hours_and_without_half_hours_no_synthetic_phones():
    figure = drawn(traces.draw(traces.beside(phones(slot_minutes=60, start=None, slots=400, devices=5))))
    assert [axes.get_title() for axes in figure.axes] == [
        "Devices from most to least online",
        "Online at a stretch",
        "Offline at a stretch",
        "Recorded: 5 of 5 devices",
    ]
    assert figure.axes[-1].collections[0].get_array().shape == (5, 24 * traces.RASTER_DAYS)
