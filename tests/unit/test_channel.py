"""Which chunks of a message arrive: statistics of the channels with fixed seeds, and their extremes."""

from __future__ import annotations

import numpy as np
import pytest

from outagefl.components import load, signatures
from outagefl.describe.trace_statistics import runs
from outagefl.errors import InputError
from outagefl.inputs.channel import bernoulli, gilbert_elliott

CHANNELS = [{"kind": "bernoulli"}, {"kind": "gilbert_elliott", "mean_burst": 8}]


def arrivals(channel, chunks, loss, messages=1, seed=0):
    """Messages × chunks, each message from a generator of its own."""
    received, options = load("channel", channel)
    return np.array([received(chunks, loss, np.random.default_rng([seed, n]), **options) for n in range(messages)])


def test_every_channel_is_tested():
    assert {channel["kind"] for channel in CHANNELS} == signatures("channel").keys()


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda channel: channel["kind"])
@pytest.mark.parametrize("chunks", [1, 17, 799])
def test_links_without_loss_deliver_all_and_dead_ones_nothing(channel, chunks):
    assert arrivals(channel, chunks, 0).tolist() == [[True] * chunks]
    assert arrivals(channel, chunks, 1).tolist() == [[False] * chunks]


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda channel: channel["kind"])
@pytest.mark.parametrize("loss", [0.05, 0.5, 0.8])
def test_the_mean_loss_is_the_links_from_the_first_chunk_to_the_last(channel, loss):
    lost = ~arrivals(channel, 40, loss, messages=4000)
    assert lost.mean() == pytest.approx(loss, abs=0.02)  # standard error below 0.004
    assert lost[:, 0].mean() == pytest.approx(loss, abs=0.03)  # standard error below 0.008
    assert lost[:, -1].mean() == pytest.approx(loss, abs=0.03)


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda channel: channel["kind"])
def test_a_generator_determines_the_losses(channel):
    one, again, other = (arrivals(channel, 100, 0.3, seed=seed).tolist() for seed in (0, 0, 1))
    assert one == again != other


def test_bernoulli_losses_have_no_memory():
    received = bernoulli.received(100_000, 0.3, np.random.default_rng(0))
    assert (received[1:] & received[:-1]).mean() == pytest.approx(0.49, abs=0.01)  # standard error 0.0025


def test_what_arrives_over_a_bad_link_arrives_over_a_better_one():
    better, worse = (bernoulli.received(1000, loss, np.random.default_rng(0)) for loss in (0.1, 0.5))
    assert (worse <= better).all()


@pytest.mark.parametrize(("loss", "mean_burst"), [(0.1, 1), (0.2, 5), (0.05, 50), (0.5, 1), (0.8, 4)])
def test_bursts_and_the_runs_between_are_geometric_with_their_means(loss, mean_burst):
    received = gilbert_elliott.received(400_000, loss, np.random.default_rng(0), mean_burst=mean_burst)[:, None]
    for state, mean in ((False, mean_burst), (True, mean_burst * (1 - loss) / loss)):
        lengths = runs(received, state)  # 400 runs or more
        assert lengths.mean() == pytest.approx(mean, rel=0.15)
        assert (lengths == 1).mean() == pytest.approx(1 / mean, abs=0.03)


def test_bursts_may_be_longer_than_messages_and_losses_rarer_than_any_message():
    lost = ~arrivals({"kind": "gilbert_elliott", "mean_burst": 1e6}, 10, 0.3, messages=2000)
    assert (lost.all(axis=1) | ~lost.any(axis=1)).mean() > 0.99
    assert lost.mean() == pytest.approx(0.3, abs=0.04)  # standard error 0.01
    assert gilbert_elliott.received(10, 1e-300, np.random.default_rng(0), mean_burst=2).all()


@pytest.mark.parametrize(
    ("loss", "mean_burst", "message"),
    [
        (0.9, 8, "channel.mean_burst: 8 with a loss rate of 0.9, expected 9 or more"),
        (0.1, 0.5, "channel.mean_burst: 0.5 is not a number of at least 1"),
    ],
)
def test_bursts_that_cannot_be_are_refused(loss, mean_burst, message):
    with pytest.raises(InputError, match=message):
        gilbert_elliott.received(10, loss, np.random.default_rng(0), mean_burst=mean_burst)
