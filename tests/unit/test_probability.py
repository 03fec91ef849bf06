"""How probable it is to be online: base probabilities, their course over time, files, and the draws made from them."""

from __future__ import annotations

import numpy as np
import pytest

from outagefl.commands.run import run_spec
from outagefl.components import signatures
from outagefl.errors import DataError, InputError
from outagefl.inputs import availabilities, partitions, probabilities
from outagefl.inputs.base_probability import common, label_mix
from outagefl.inputs.partitions import Partition
from outagefl.inputs.probability import interleaved, periodic, sine, staircase, stationary

BASE = np.array([0.0, 0.5, 1.0])
FIRST, SECOND = np.array([[1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]]), np.array([[3, 1, 0, 0], [0, 0, 0, 2]])
TWO_CLIENTS = Partition((np.arange(4), np.arange(2)), (np.arange(0),) * 2, FIRST, SECOND)
COMMON = {"kind": "common", "probability": 0.5}


def test_a_stationary_probability_stays():
    assert stationary.matrix(2, base=BASE).tolist() == [[0, 0.5, 1]] * 2


def test_a_staircase_falls_to_two_fifths_for_half_of_each_period():
    assert staircase.matrix(9, base=BASE, period=4)[:, 2].tolist() == [1, 1, 0.4, 0.4, 1, 1, 0.4, 0.4, 1]
    assert staircase.matrix(3, base=BASE, period=4)[2].tolist() == [0, 0.2, 0.4]


def test_a_sine_starts_in_the_middle_and_reaches_the_base_probability_after_a_quarter():
    share = sine.matrix(20, base=BASE, gamma=0.3, period=20)
    assert share[[0, 5, 15], 2].tolist() == pytest.approx([0.7, 1, 0.4])
    assert share[:, 1].tolist() == pytest.approx((share[:, 2] / 2).tolist())
    assert not share[:, 0].any()  # clients that are never available are allowed


def test_the_extremes_of_a_sine_are_probabilities():
    share = sine.matrix(400, base=np.ones(1), gamma=0.5, period=4)
    assert share[:4, 0].tolist() == pytest.approx([0.5, 1, 0.5, 0])
    assert share.min() >= 0
    assert share.max() <= 1


def test_interleaved_probabilities_vanish_below_the_threshold_only():
    share = interleaved.matrix(4, base=np.array([1, 0.5, 0.25]), gamma=0.5, period=4, threshold=0.25)
    assert share.round(12).tolist() == [[0.5, 0.25, 0], [1, 0.5, 0.25], [0.5, 0.25, 0], [0, 0, 0]]


@pytest.mark.parametrize(("within", "course"), [("stationary", [1, 1, 1, 1]), ("staircase", [1, 1, 0.4, 0.4])])
def test_groups_take_turns(within, course):
    share = periodic.matrix(20, base=np.array([1, 1, 0.5, 0.5]), groups=2, window=4, within=within)
    away = [0] * 4
    assert share[:, 0].tolist() == [*course, *away, *course, *away, *course]
    assert (share[:, 1] == share[:, 0]).all()
    assert share[:, 3].tolist() == [*away, *(0.5 * np.array(course)), *away, *(0.5 * np.array(course)), *away]


def test_the_papers_windows_are_of_50_rounds_each():
    share = periodic.matrix(101, base=np.full(100, 0.5), groups=2, window=50, within="stationary")
    assert (share[[0, 49, 100], :50] == 0.5).all()
    assert (share[[50, 99], 50:] == 0.5).all()
    assert np.count_nonzero(share) == 101 * 50


def test_a_base_probability_is_the_mix_times_the_classes_contributions():
    phi = label_mix.class_contributions(4, 7)
    drawn, realised = (label_mix.probabilities(2, TWO_CLIENTS, 7, labels=labels) for labels in ("drawn", "realised"))
    assert drawn.tolist() == pytest.approx([phi[0], phi.mean()])
    assert realised.tolist() == pytest.approx([0.75 * phi[0] + 0.25 * phi[1], phi[3]])


def test_later_classes_contribute_half_as_much():
    phi = np.array([label_mix.class_contributions(5, seed) for seed in range(2000)])
    assert phi.mean(axis=0).tolist() == pytest.approx([0.5, 0.5, 0.25, 0.25, 0.25], abs=0.025)  # standard error 0.0065
    assert phi.min() >= 0
    assert (phi.max(axis=0) > [0.99, 0.99, 0.49, 0.49, 0.49]).all()
    assert (phi.max(axis=0) <= [1, 1, 0.5, 0.5, 0.5]).all()


def test_contributions_are_a_matter_of_the_seed():
    assert label_mix.class_contributions(10, 3).tolist() == label_mix.class_contributions(10, 3).tolist()
    assert label_mix.class_contributions(10, 3)[0] != label_mix.class_contributions(10, 4)[0]


def test_a_common_probability_is_everyones():
    assert common.probabilities(3, None, 0, probability=0.1).tolist() == [0.1] * 3


OPTIONS = {"rounds": 8, "base": BASE, "gamma": 0.3, "period": 20, "threshold": 0.1}
TURNS = {"rounds": 8, "base": BASE, "groups": 2, "window": 5, "within": "stationary"}


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (interleaved.matrix, {**OPTIONS, "gamma": 0.6}, "availability.probability.gamma: 0.6 .* from 0 to 0.5"),
        (interleaved.matrix, {**OPTIONS, "gamma": -0.1}, "availability.probability.gamma: -0.1"),
        (interleaved.matrix, {**OPTIONS, "period": 1}, "availability.probability.period: 1 .* at least 2"),
        (interleaved.matrix, {**OPTIONS, "threshold": 1.5}, "availability.probability.threshold: 1.5"),
        (staircase.matrix, {"rounds": 8, "base": BASE, "period": 0}, "availability.probability.period: 0"),
        (periodic.matrix, {**TURNS, "groups": 4}, "availability.probability.groups with 3 clients: 4 .* from 1 to 3"),
        (periodic.matrix, {**TURNS, "window": 0}, "availability.probability.window: 0"),
        (periodic.matrix, {**TURNS, "within": "sine"}, "availability.probability.within: unknown value 'sine'"),
        (
            common.probabilities,
            {"clients": 3, "partition": None, "seed": 0, "probability": 1.1},
            "availability.probability.base.probability: 1.1",
        ),
    ],
)
def test_bad_options_are_refused_by_name(make, options, message):
    with pytest.raises(InputError, match=message):
        make(**options)


@pytest.mark.parametrize(
    ("clients", "partition", "labels", "message"),
    [
        (2, TWO_CLIENTS, "real", "base.labels: unknown value 'real'; did you mean 'realised'"),
        (3, TWO_CLIENTS, "drawn", "the partition has 2 clients, expected 3"),
        (2, Partition(TWO_CLIENTS.train, TWO_CLIENTS.test), "drawn", "knows no drawn label mixes"),
        (2, Partition(TWO_CLIENTS.train, TWO_CLIENTS.test), "realised", "knows no realised label mixes"),
    ],
)
def test_a_partition_that_does_not_fit_is_refused(clients, partition, labels, message):
    with pytest.raises(InputError, match=message):
        label_mix.probabilities(clients, partition, 0, labels=labels)


def draw(folder, probability, seed=1, rounds=60, clients=2, needs=None):
    """Probabilities and the availability drawn from them, by way of their files."""
    spec = {"rounds": rounds, "clients": clients, "seed": seed}
    probabilities.create({**spec, "probability": probability}, needs or {}, folder / "p.npy")
    independent = {"kind": "independent", "probability": probability}
    availabilities.create({**spec, "availability": independent}, {"probability": folder / "p.npy"}, folder / "a.npy")
    return probabilities.load(folder / "p.npy"), availabilities.load(folder / "a.npy")


def test_clients_are_online_as_often_as_their_probability_says(tmp_path):
    probability = {"kind": "staircase", "period": 20, "base": COMMON}
    share, online = draw(tmp_path, probability, rounds=200, clients=500)
    assert online.mean(axis=1).tolist() == pytest.approx(share[:, 0].tolist(), abs=0.09)  # standard error 0.022
    assert online.dtype == bool


def test_dynamics_of_one_seed_share_the_uniform_numbers(tmp_path):
    half = draw(tmp_path, {"kind": "stationary", "base": COMMON})[1]
    for other in ({"kind": "staircase", "period": 20}, {"kind": "sine", "gamma": 0.3, "period": 20}):
        share, online = draw(tmp_path, {**other, "base": COMMON})
        assert online.any()
        assert not (online & ~half).any()  # never more probable than half
        assert np.array_equal(online[share == 0.5], half[share == 0.5])
    assert not np.array_equal(half, draw(tmp_path, {"kind": "stationary", "base": COMMON}, seed=2)[1])


def test_label_mixes_come_from_the_partitions_file(tmp_path):
    partitions.save(tmp_path / "partition.npz", TWO_CLIENTS)
    base = {"kind": "label_mix", "labels": "realised"}
    share, _ = draw(
        tmp_path, {"kind": "stationary", "base": base}, seed=7, needs={"partition": tmp_path / "partition.npz"}
    )
    assert share[0].tolist() == label_mix.probabilities(2, TWO_CLIENTS, 7, labels="realised").tolist()


def test_probabilities_for_other_clients_are_refused(tmp_path):
    probabilities.save(tmp_path / "p.npy", np.ones((60, 3)))
    spec = {"availability": {"kind": "independent", "probability": {}}, "rounds": 60, "clients": 2, "seed": 0}
    with pytest.raises(InputError, match=r"p\.npy: probabilities of shape \(60, 3\), expected \(60, 2\)"):
        availabilities.create(spec, {"probability": tmp_path / "p.npy"}, tmp_path / "a.npy")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (np.array([[0.5, 1.5]]), r"row 0, client 1 \(both from 0\): 1\.5 is not a probability"),
        (np.array([[0.5], [-0.1]]), r"row 1, client 0 .*: -0\.1 is not"),
        (np.array([[np.nan]]), "nan is not a probability"),
        (np.array([[np.inf]]), "inf is not a probability"),
        (np.ones((2, 2), np.float32), "expected a matrix of 64-bit floats"),
        (np.ones(2), "expected a matrix of 64-bit floats"),
        (np.array([[{}]], object), "expected a matrix of probabilities"),
    ],
)
def test_a_file_without_probabilities_is_a_data_error_that_names_it(content, message, tmp_path):
    np.save(tmp_path / "odd.npy", content)
    with pytest.raises(DataError, match=rf"odd\.npy: .*{message}"):
        probabilities.load(tmp_path / "odd.npy")
    with pytest.raises(DataError, match=r"absent\.npy: expected a matrix of probabilities"):
        probabilities.load(tmp_path / "absent.npy")


def test_every_kind_takes_a_base():
    """The configuration nests one in each; probabilities are made from it."""
    for kind, options in signatures("probability").items():
        assert options.get("base") is True, kind


def test_a_run_can_be_made_from_its_spec_alone(tmp_path):
    spec = {
        "study": "sfg", "engine": "gossip", "seed": 0, "clients": 4, "rounds": 2, "order": "train_then_mix",
        "returning": "trains_and_mixes",
        "dataset": {"kind": "digits"},
        "partition": {"kind": "dirichlet", "alpha": 1.0, "test_images": 5},
        "topology": {"kind": "ring"},
        "availability": {
            "kind": "independent",
            "probability": {"kind": "stationary", "base": {"kind": "label_mix", "labels": "drawn"}},
        },
        "model": {"kind": "cnn", "channels": [2, 2], "hidden": [4]},
        "training": {"steps": 1, "batch_size": 4, "learning_rate": 0.1},
        "evaluation": {"every": 1},
        "rule": {"kind": "dfedavg"},
    }  # fmt: skip
    run_spec(spec, None, None, tmp_path / "out", "cpu")
    [partition], [probability] = (
        (tmp_path / "out" / "inputs" / what).iterdir() for what in ("partition", "probability")
    )
    mix = partitions.load(partition).mix
    assert probabilities.load(probability)[1].tolist() == (mix @ label_mix.class_contributions(10, 0)).tolist()
    assert (tmp_path / "out" / "run" / "metrics.parquet").is_file()
