"""Who talks to whom: graphs, their matrices and their files."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from outagefl.errors import DataError, InputError
from outagefl.inputs import graphs, networks
from outagefl.inputs.topology import (
    barabasi_albert,
    complete,
    directed_complete,
    directed_erdos_renyi,
    directed_ring,
    erdos_renyi,
    random_regular,
    ring,
    watts_strogatz,
)


def generator(seed=0):
    return np.random.default_rng(seed)


def degrees(edges, clients):
    return np.bincount(edges.ravel(), minlength=clients)


def assert_simple_and_connected(edges, clients):
    assert edges.dtype == np.int64
    assert edges.shape[1:] == (2,)
    pairs = edges.tolist()
    assert all(0 <= i < j < clients for i, j in pairs)
    assert all(a < b for a, b in pairwise(pairs))  # sorted, each once
    assert connected_components(graphs.adjacency(edges, clients), directed=False)[0] == 1


def assert_strongly_connected(edges, clients):
    assert edges.dtype == np.int64
    pairs = [tuple(pair) for pair in edges.tolist()]
    assert all(0 <= i < clients and 0 <= j < clients and i != j for i, j in pairs)
    assert pairs == sorted(set(pairs))
    matrix = np.zeros((clients, clients))
    matrix[edges[:, 0], edges[:, 1]] = 1
    assert connected_components(matrix, connection="strong")[0] == 1


@given(st.integers(1, 60))
def test_ring_and_complete_graph_have_their_edges(clients):
    around = ring.edges(clients, generator())
    assert_simple_and_connected(around, clients)
    assert degrees(around, clients).tolist() == [min(clients - 1, 2)] * clients
    everyone = complete.edges(clients, generator())
    assert_simple_and_connected(everyone, clients)
    assert len(everyone) == clients * (clients - 1) // 2


@given(st.integers(1, 60), st.integers(0, 59), st.integers(0, 99))
def test_random_regular_graphs_are_regular_at_every_possible_degree(clients, degree, seed):
    degree = min(max(degree, 2), clients - 1)
    degree -= clients * degree % 2
    edges = random_regular.edges(clients, generator(seed), degree=degree)
    assert_simple_and_connected(edges, clients)
    assert degrees(edges, clients).tolist() == [degree] * clients


@given(st.integers(3, 60), st.integers(1, 29), st.floats(0, 1), st.integers(0, 99))
def test_small_worlds_keep_the_number_of_edges_of_their_lattice(clients, half, rewiring, seed):
    half = min(half, (clients - 1) // 2)
    edges = watts_strogatz.edges(clients, generator(seed), neighbors=2 * half, rewiring=rewiring)
    assert_simple_and_connected(edges, clients)
    assert len(edges) == clients * half


@given(st.integers(2, 60), st.integers(1, 59), st.integers(0, 99))
def test_hub_graphs_attach_every_client_to_earlier_ones(clients, attachments, seed):
    attachments = min(attachments, clients - 1)
    edges = barabasi_albert.edges(clients, generator(seed), attachments=attachments)
    assert_simple_and_connected(edges, clients)
    assert np.bincount(edges[:, 1], minlength=clients)[attachments + 1 :].tolist() == [attachments] * (
        clients - attachments - 1
    )
    assert len(edges) == attachments * (clients - attachments)


def test_hub_graphs_have_hubs():
    counts = [degrees(barabasi_albert.edges(100, generator(seed), attachments=2), 100) for seed in range(20)]
    assert np.mean([np.sort(count)[-5:].sum() / count.sum() for count in counts]) > 0.2  # five of 100 clients
    assert np.median(counts) <= 3


def test_a_small_world_without_rewiring_is_the_ring_lattice():
    edges = watts_strogatz.edges(9, generator(), neighbors=4, rewiring=0)
    expected = sorted(sorted((i, (i + step) % 9)) for i in range(9) for step in (1, 2))
    assert edges.tolist() == expected


@given(st.integers(1, 60), st.floats(0, 1), st.integers(0, 99))
def test_erdos_renyi_graphs_are_connected(clients, density, seed):
    degree = min(np.log(clients) + 2, clients - 1) * (1 - density) + (clients - 1) * density
    assert_simple_and_connected(erdos_renyi.edges(clients, generator(seed), degree=float(degree)), clients)


def test_erdos_renyi_graphs_have_the_mean_degree_asked_for():
    counts = [len(erdos_renyi.edges(200, generator(seed), degree=12)) for seed in range(20)]
    assert 2 * np.mean(counts) / 200 == pytest.approx(12, abs=0.25)  # standard error 0.08
    assert np.std(counts) > 0
    assert len(erdos_renyi.edges(20, generator(), degree=19)) == 190


@given(st.integers(1, 30))
def test_directed_rings_and_complete_graphs_have_their_edges(clients):
    onwards = directed_ring.edges(clients, generator(), both_ways=False)
    assert onwards.tolist() == ([[i, (i + 1) % clients] for i in range(clients)] if clients > 1 else [])
    both = directed_ring.edges(clients, generator(), both_ways=True)
    everyone = directed_complete.edges(clients, generator())
    for edges in (onwards, both, everyone):
        assert_strongly_connected(edges, clients)
    assert np.bincount(both[:, 1], minlength=clients).tolist() == [min(clients - 1, 2)] * clients
    assert len(everyone) == clients * (clients - 1)


@given(st.integers(1, 30), st.floats(0, 1), st.integers(0, 99))
def test_directed_erdos_renyi_graphs_are_strongly_connected(clients, density, seed):
    degree = min(np.log(clients) + 2, clients - 1) * (1 - density) + (clients - 1) * density
    graph = directed_erdos_renyi.edges(clients, generator(seed), degree=float(degree), cycle=False)
    assert_strongly_connected(graph, clients)


def test_a_cycle_connects_any_directed_graph_and_adds_to_its_degree():
    alone = directed_erdos_renyi.edges(20, generator(), degree=0, cycle=True)
    assert alone.tolist() == directed_ring.edges(20, generator(), both_ways=False).tolist()
    drawn = [directed_erdos_renyi.edges(20, generator(seed), degree=4, cycle=True) for seed in range(100)]
    assert np.mean([len(edges) / 20 for edges in drawn]) == pytest.approx(4.79, abs=0.15)  # standard error 0.04
    upwards = np.mean([(edges[:, 0] < edges[:, 1]).mean() for edges in drawn])
    assert upwards == pytest.approx((2 + 19 / 20 * 15 / 19) / 4.79, abs=0.02)  # half of what is drawn, 19 of the cycle


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: random_regular.edges(30, rng, degree=4),
        lambda rng: random_regular.edges(30, rng, degree=25),
        lambda rng: watts_strogatz.edges(30, rng, neighbors=4, rewiring=0.3),
        lambda rng: erdos_renyi.edges(30, rng, degree=6),
        lambda rng: barabasi_albert.edges(30, rng, attachments=2),
        lambda rng: directed_erdos_renyi.edges(30, rng, degree=6, cycle=False),
    ],
    ids=["regular", "dense regular", "small world", "Erdős–Rényi", "hub", "directed Erdős–Rényi"],
)
def test_a_seed_determines_a_random_graph(draw):
    assert np.array_equal(draw(generator(1)), draw(generator(1)))
    assert not np.array_equal(draw(generator(1)), draw(generator(2)))


def test_a_single_client_is_a_connected_graph_without_edges():
    for edges in (
        ring.edges(1, generator()),
        complete.edges(1, generator()),
        random_regular.edges(1, generator(), degree=0),
        erdos_renyi.edges(1, generator(), degree=0),
    ):
        assert edges.shape == (0, 2)
        assert graphs.adjacency(edges, 1).tolist() == [[False]]


@pytest.mark.parametrize(
    ("kind", "clients", "options", "message"),
    [
        (
            random_regular,
            7,
            {"degree": 3},
            r"random_regular with 7 clients and degree 3: .* take degree 2 or 4, or an even",
        ),
        (random_regular, 7, {"degree": 7}, "topology.degree with 7 clients: 7 is not a whole number from 2 to 6"),
        (random_regular, 8, {"degree": 1}, "topology.degree with 8 clients: 1 is not"),
        (random_regular, 8, {"degree": 2.0}, "topology.degree with 8 clients: 2.0 is not"),
        (random_regular, 1, {"degree": 2}, "topology.degree with 1 clients: 2 is not"),
        (
            watts_strogatz,
            9,
            {"neighbors": 3, "rewiring": 0},
            "9 clients, neighbors 3 and rewiring 0: neighbors must be even",
        ),
        (watts_strogatz, 4, {"neighbors": 4, "rewiring": 0}, "4 clients, neighbors 4 .* below the number of clients"),
        (watts_strogatz, 1, {"neighbors": 2, "rewiring": 0}, "1 clients, neighbors 2 .* below the number of clients"),
        (
            watts_strogatz,
            9,
            {"neighbors": 0, "rewiring": 0},
            "topology.neighbors: 0 is not a whole number of at least 2",
        ),
        (watts_strogatz, 9, {"neighbors": 4, "rewiring": 1.1}, "topology.rewiring: 1.1 is not a number from 0 to 1"),
        (erdos_renyi, 9, {"degree": 9}, "topology.degree with 9 clients: 9 is not a number from 0 to 8"),
        (erdos_renyi, 9, {"degree": -1}, "topology.degree with 9 clients: -1 is not"),
        (
            barabasi_albert,
            4,
            {"attachments": 4},
            "topology.attachments with 4 clients: 4 is not a whole number from 1 to 3",
        ),
        (directed_erdos_renyi, 9, {"degree": 9, "cycle": True}, "topology.degree with 9 clients: 9 is not"),
    ],
)
def test_graphs_that_cannot_exist_are_refused_at_once(kind, clients, options, message):
    with pytest.raises(InputError, match=message):
        kind.edges(clients, generator(), **options)


def test_a_graph_that_never_gets_connected_is_given_up():
    expected = r"1000 clients and mean degree 1.5: none of 200 random graphs .* above ln\(clients\) = 6.9"
    with pytest.raises(InputError, match=expected):
        erdos_renyi.edges(1000, generator(), degree=1.5)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (random_regular, {"degree": 2}, "1000 clients and degree 2: none of 1 .* degree 3 or more"),
        (watts_strogatz, {"neighbors": 2, "rewiring": 1}, "neighbors 2 and rewiring 1: none of 1 .* smaller rewiring"),
        (directed_erdos_renyi, {"degree": 2, "cycle": False}, "mean degree 2: none of 1 .* above ln"),
    ],
)
def test_giving_up_says_what_would_help(kind, options, message, monkeypatch):
    monkeypatch.setattr(networks, "ATTEMPTS", 1)
    with pytest.raises(InputError, match=message):
        kind.edges(1000, generator(), **options)


def test_the_adjacency_matrix_is_symmetric_without_loops():
    expected = [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]]
    matrix = graphs.adjacency(np.array([[0, 1], [0, 3], [1, 2]]), 4)
    assert matrix.dtype == bool
    assert matrix.astype(int).tolist() == expected


@pytest.mark.parametrize("clients", [1, 12])
def test_a_saved_graph_comes_back_as_it_was(clients, tmp_path):
    edges = ring.edges(clients, generator())
    graphs.save(tmp_path / "graph.npz", edges, clients)
    loaded, count = graphs.load(tmp_path / "graph.npz")
    assert count == clients
    assert loaded.dtype == np.int64
    assert np.array_equal(loaded, edges)


def test_a_graph_is_made_from_its_spec(tmp_path):
    spec = {"topology": {"kind": "random_regular", "degree": 4}, "clients": 20}
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        graphs.create({**spec, "seed": seed}, {}, tmp_path / f"{name}.npz")
    edges, clients = graphs.load(tmp_path / "a.npz")
    assert degrees(edges, clients).tolist() == [4] * 20
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert (tmp_path / "a.npz").read_bytes() != (tmp_path / "c.npz").read_bytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"edges": np.array([[0, 3]]), "clients": 3}, "two different clients of 0 to 2"),
        ({"edges": np.array([[1, 1]]), "clients": 3}, "two different clients of 0 to 2"),
        ({"edges": np.array([[-1, 0]]), "clients": 3}, "two different clients of 0 to 2"),
        ({"edges": np.array([[0, 1], [1, 0], [0, 1]]), "clients": 3}, "an edge stands twice"),
        ({"edges": np.array([0, 1]), "clients": 3}, "64-bit integers"),
        ({"edges": np.array([[0.0, 1.0]]), "clients": 3}, "64-bit integers"),
        ({"edges": np.array([[0, 1]]), "clients": [3, 3]}, "64-bit integers"),
        ({"edges": np.array([[0, 1]])}, "expected an archive with the arrays edges, clients"),
    ],
)
def test_a_file_that_holds_no_graph_is_a_data_error(content, message, tmp_path):
    np.savez(tmp_path / "odd.npz", **content)
    with pytest.raises(DataError, match=f"odd.npz: .*{message}"):
        graphs.load(tmp_path / "odd.npz")


def test_a_missing_or_cut_graph_is_a_data_error_that_names_it(tmp_path):
    graphs.save(tmp_path / "whole.npz", ring.edges(50, generator()), 50)
    (tmp_path / "cut.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:300])
    for name in ("cut.npz", "absent.npz"):
        with pytest.raises(DataError, match=name):
            graphs.load(tmp_path / name)
