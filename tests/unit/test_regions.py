"""Outages that go with the graph: its communities, outages that strike them together, devices placed by habit."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outagefl.describe.trace_statistics import runs
from outagefl.errors import DataError, InputError
from outagefl.inputs import availabilities, graphs, memberships, networks, storage
from outagefl.inputs.availability import coupled, regional, smartphone
from outagefl.inputs.communities import fluid
from outagefl.inputs.topology import barabasi_albert, complete, erdos_renyi, random_regular, ring, watts_strogatz
from outagefl.inputs.traces import OFFLINE, ONLINE


def generator(seed=0):
    return np.random.default_rng(seed)


# --- Communities ---

GRAPHS = {
    "ring": (ring, {}),
    "regular": (random_regular, {"degree": 4}),
    "small world": (watts_strogatz, {"neighbors": 4, "rewiring": 0.1}),
    "Erdős–Rényi": (erdos_renyi, {"degree": 5}),
    "hub": (barabasi_albert, {"attachments": 2}),
    "complete": (complete, {}),
}


def graph_of(name, clients, seed=0):
    kind, options = GRAPHS[name]
    return networks.undirected(kind.edges(clients, generator(seed), **options), clients)


@settings(max_examples=30)
@given(st.sampled_from(sorted(GRAPHS)), st.integers(8, 40), st.integers(1, 8), st.integers(0, 99))
def test_communities_are_as_many_as_asked_for_and_connected(name, clients, count, seed):
    graph = graph_of(name, clients, seed)
    community = fluid.membership(graph, generator(seed), count=count)
    assert community.dtype == np.int64
    assert sorted(set(community.tolist())) == list(range(count))
    for number in range(count):
        assert nx.is_connected(graph.subgraph(np.flatnonzero(community == number).tolist()))


@pytest.mark.parametrize("name", GRAPHS)
def test_communities_have_similar_sizes(name):
    sizes = [np.bincount(fluid.membership(graph_of(name, 100, s), generator(s), count=5)) for s in range(5)]
    assert np.std(sizes) < 10  # of a mean of 20; greatest modularity leaves four single clients on the complete graph


def test_every_client_can_be_its_own_community():
    assert fluid.membership(graph_of("ring", 6), generator(), count=6).tolist() == [0, 1, 2, 3, 4, 5]
    assert fluid.membership(graph_of("complete", 1), generator(), count=1).tolist() == [0]


@pytest.mark.parametrize("count", [0, 7, 2.0, True])
def test_an_impossible_number_of_communities_is_refused(count):
    with pytest.raises(
        InputError, match=rf"communities\.count with 6 clients: {count} is not a whole number from 1 to 6"
    ):
        fluid.membership(graph_of("ring", 6), generator(), count=count)


def test_communities_are_made_from_a_graph_and_come_back(tmp_path):
    graphs.save(tmp_path / "graph.npz", ring.edges(20, generator()), 20)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        spec = {"communities": {"kind": "fluid", "count": 4}, "seed": seed}
        memberships.create(spec, {"topology": tmp_path / "graph.npz"}, tmp_path / f"{name}.npz")
    first, again, other = (memberships.load(tmp_path / f"{name}.npz", 20) for name in "abc")
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"community": np.array([0, 1, 0, 1])}, "of 3 clients"),
        ({"community": np.array([0.0, 1.0, 0.0])}, "64-bit integers"),
        ({"community": np.array([0, 2, 0])}, "without a gap"),
        ({"community": np.array([0, -1, 0])}, "without a gap"),
        ({"communities": np.array([0, 1, 0])}, "expected an archive with the arrays community"),
    ],
)
def test_a_file_that_holds_no_communities_is_a_data_error(content, message, tmp_path):
    storage.write(tmp_path / "odd.npz", **content)
    with pytest.raises(DataError, match=rf"odd\.npz: .*{message}"):
        memberships.load(tmp_path / "odd.npz", 3)


def placed(folder, community):
    """A file of communities."""
    storage.write(folder / "communities.npz", community=np.asarray(community))
    return folder / "communities.npz"


# --- Regional outages ---


def strike(folder, community, rounds, seed=0, mean_on=8.0, mean_off=16.0, correlation=0.5):
    options = {"mean_on": mean_on, "mean_off": mean_off, "correlation": correlation}
    community = np.asarray(community)
    return regional.matrix(rounds, len(community), generator(seed), communities=placed(folder, community), **options)


@pytest.mark.parametrize("correlation", [0, 0.3, 0.7, 1])
@pytest.mark.parametrize(("mean_on", "mean_off"), [(8, 16), (40, 10)])
def test_two_clients_of_a_community_have_the_correlation_asked_for_in_every_round(
    tmp_path, correlation, mean_on, mean_off
):
    triples = np.repeat(np.arange(10_000), 3)
    online = strike(tmp_path, triples, 5, mean_on=mean_on, mean_off=mean_off, correlation=correlation)
    for now in online[0], online[4]:
        assert now.mean() == pytest.approx(mean_on / (mean_on + mean_off), abs=0.02)  # standard error at most 0.005
        first, second, third = now[::3], now[1::3], now[2::3]
        found = np.corrcoef([first, second, third, np.roll(third, 1)])[np.triu_indices(4, 1)]
        expected = [correlation, correlation, 0, correlation, 0, 0]  # the last is in the next community
        assert found == pytest.approx(expected, abs=0.045)  # standard error 0.01


@pytest.mark.parametrize("correlation", [0.3, 1])
def test_each_client_is_the_markov_chain(tmp_path, correlation):
    online = strike(tmp_path, np.arange(60) // 3, 10_000, correlation=correlation)
    for state, mean in ((ONLINE, 8), (OFFLINE, 16)):
        lengths = runs(online, state)  # 25,000 runs, at correlation 1 a third of them different
        assert lengths.mean() == pytest.approx(mean, rel=0.05)
        assert (lengths == 1).mean() == pytest.approx(1 / mean, abs=0.02)
        assert (lengths > mean).mean() == pytest.approx((1 - 1 / mean) ** mean, abs=0.03)
    assert (online[:, ::3] == online[:, 1::3]).all() == (correlation == 1)


def test_three_clients_are_stationary_together_from_the_first_round_on(tmp_path):
    online = strike(tmp_path, np.repeat(np.arange(10_000), 3), 60)
    together = online.reshape(60, -1, 3).all(axis=2).mean(axis=1)
    assert together[0] == pytest.approx(together[40:].mean(), abs=0.015)  # standard error 0.004


def test_runs_may_be_longer_than_the_run_of_a_study(tmp_path):
    online = strike(tmp_path, np.arange(2000) // 2, 50, mean_on=300, mean_off=300)
    assert online[0].mean() == pytest.approx(0.5, abs=0.05)  # standard error 0.014
    assert np.corrcoef(online[0, ::2], online[0, 1::2])[0, 1] == pytest.approx(0.5, abs=0.1)  # standard error 0.024


def test_a_seed_determines_regional_outages(tmp_path):
    first, again, other = (strike(tmp_path, [0, 0, 1, 1], 50, seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"correlation": 1.5}, "availability.correlation: 1.5 is not a number from 0 to 1"),
        ({"correlation": -0.1}, "availability.correlation: -0.1"),
        ({"mean_on": 0.5}, "availability.mean_on: 0.5 is not a number from 1"),
        ({"mean_off": 1e6}, "availability.mean_off: 1000000.0 is not a number from 1 to 10000"),
        ({"mean_on": 1.25, "mean_off": 2}, r"mean_on, availability.mean_off: 1/1.25 \+ 1/2 is above 1"),
    ],
)
def test_regional_outages_out_of_range_are_refused_by_name(tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        strike(tmp_path, [0, 0, 1], 5, **options)


# --- Coupled availability ---

CLIENTS = 60
COMMUNITY = np.arange(CLIENTS) * 7 % 5


@pytest.fixture(scope="module")
def phones():
    return smartphone.matrix(300, CLIENTS, generator(3))


def couple(folder, online, coupling, seed=0, rounds=None, community=COMMUNITY):
    availabilities.save(folder / "phones.npy", online)
    options = {"of": folder / "phones.npy", "coupling": coupling, "communities": placed(folder, community)}
    return coupled.matrix(rounds or len(online), online.shape[1], generator(seed), **options)


def by_column(online):
    return sorted(online.T.tolist())


def test_coupling_only_changes_places_and_makes_neighbours_alike(tmp_path, phones):
    within = []
    for coupling in (0, 0.5, 1):
        online = couple(tmp_path, phones, coupling)
        assert by_column(online) == by_column(phones)
        within.append(memberships.correlations(online, COMMUNITY))
    assert abs(within[0][0] - within[0][1]) < 0.02
    assert within[0][0] + 0.005 < within[1][0] < within[2][0] - 0.01
    assert within[2][1] < within[0][1]


@settings(max_examples=25)
@given(st.floats(0, 1), st.integers(0, 99), st.integers(1, 12))
def test_every_coupling_keeps_the_devices(tmp_path_factory, coupling, seed, clients):
    online = generator(seed).random((20, clients)) < 0.4
    folder = tmp_path_factory.mktemp("coupled")
    community = np.arange(clients) % 3 if clients > 2 else np.zeros(clients, np.int64)
    assert by_column(couple(folder, online, coupling, seed, community=community)) == by_column(online)


def test_devices_are_placed_by_their_time_of_day(tmp_path):
    hours = generator().permutation(CLIENTS)
    online = (np.arange(120)[:, None] + hours) % CLIENTS < 20
    community = np.arange(CLIENTS) // 12
    placed_devices = couple(tmp_path, online, 1, community=community)
    hour = np.array([hours[(column == online.T).all(axis=1).argmax()] for column in placed_devices.T])
    turns = np.exp(2j * np.pi * hour / CLIENTS)
    spread = [abs(turns[community == number].mean()) for number in range(5)]
    assert min(spread) > 0.93  # twelve hours that follow each other: sin(π/5) / (π/5) = 0.935


def test_devices_of_one_habit_are_neighbours(tmp_path):
    day, night = np.arange(48) % 24 < 12, np.arange(48) % 24 >= 12
    online = np.stack([day if device % 2 else night for device in range(20)], axis=1)
    community = np.arange(20) // 10
    placed_devices = couple(tmp_path, online, 1, community=community)
    assert memberships.correlations(placed_devices, community) == pytest.approx((1, -1))
    everyone = couple(tmp_path, np.ones((5, 20), bool), 1, community=community)
    assert np.isnan(memberships.correlations(everyone, community)).all()


def test_the_order_of_habits_does_not_depend_on_who_is_who(phones):
    order = generator(1).permutation(CLIENTS)
    assert coupled.habit(phones[:, order]) == pytest.approx(coupled.habit(phones)[order])


@pytest.mark.parametrize("coupling", [-0.1, 1.1, "all"])
def test_a_coupling_out_of_range_is_refused_by_name(tmp_path, phones, coupling):
    with pytest.raises(InputError, match=f"availability.coupling: {coupling!r} is not a number from 0 to 1"):
        couple(tmp_path, phones, coupling)


def test_availability_of_other_clients_or_rounds_is_refused(tmp_path, phones):
    with pytest.raises(InputError, match=r"phones\.npy: availability of shape \(300, 60\), expected \(200, 60\)"):
        couple(tmp_path, phones, 1, rounds=200)
