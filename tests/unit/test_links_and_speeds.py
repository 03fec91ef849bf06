"""What links lose and how fast clients are: values, files, and how they enter a plan."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from outagefl.config import check
from outagefl.errors import ConfigError, DataError, InputError
from outagefl.inputs import activation_intervals, graphs, link_losses
from outagefl.inputs.links import homogeneous, uniform
from outagefl.inputs.speeds import classes
from outagefl.runs.plan import Plan, add_run, make_input
from outagefl.runs.resolve import in_full
from outagefl.sources.catalog import sources

CATALOG = Path(__file__).parents[2] / "config" / "sources.yaml"


def generator(seed=0):
    return np.random.default_rng(seed)


def test_homogeneous_links_all_lose_the_same():
    losses = homogeneous.losses(3, generator(), loss=0.1)
    assert losses.tolist() == [0.1, 0.1, 0.1]
    assert homogeneous.losses(1, generator(), loss=0).dtype == losses.dtype == np.float64


def test_links_differ_by_uniform_draws():
    losses = uniform.losses(10_000, generator(), low=0.05, high=0.5)
    assert losses.min() == pytest.approx(0.05, abs=0.001)
    assert losses.max() == pytest.approx(0.5, abs=0.001)
    assert losses.mean() == pytest.approx(0.275, abs=0.005)  # standard error 0.0013


@pytest.mark.parametrize(("clients", "counts"), [(20, [6, 6, 8]), (3, [1, 1, 1]), (5, [1, 1, 3]), (80, [26, 26, 28])])
def test_speeds_are_shared_out_in_equal_parts_and_the_rest_is_slow(clients, counts):
    seconds = classes.seconds(clients, generator(), intervals=[0.5, 1, 2])
    assert [(seconds == interval).sum() for interval in (0.5, 1.0, 2.0)] == counts


def test_speeds_are_shuffled_by_the_seed():
    one, again, other = (classes.seconds(20, generator(seed), intervals=[0.5, 1, 2]).tolist() for seed in (0, 0, 1))
    assert one == again != other
    assert sorted(one) == sorted(other)
    assert sorted(one) != one


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: homogeneous.losses(3, generator(), loss=1.5), "links.loss: 1.5 is not a number from 0 to 1"),
        (lambda: uniform.losses(3, generator(), low=-0.1, high=0.5), "links.low: -0.1 is not a number from 0 to 1"),
        (lambda: uniform.losses(3, generator(), low=0.5, high=0.1), "links.low: 0.5 is above links.high, 0.1"),
        (lambda: classes.seconds(3, generator(), intervals=[0.5, 0]), "speeds.intervals: 0 is not a finite number"),
        (lambda: classes.seconds(3, generator(), intervals=[]), "speeds.intervals: 0 for 3 clients; expected 1 to 3"),
        (lambda: classes.seconds(2, generator(), intervals=[1, 2, 3]), "speeds.intervals: 3 for 2 clients"),
    ],
)
def test_values_out_of_range_are_named(draw, message):
    with pytest.raises(InputError, match=message):
        draw()


SPEC = {
    "study": "dflaa",
    "engine": "events",
    "seed": 3,
    "clients": 20,
    "dataset": {"kind": "digits"},
    "partition": {"kind": "dirichlet", "alpha": 0.1, "test_images": 5},
    "topology": {"kind": "directed_erdos_renyi", "degree": 4, "cycle": False},
    "links": {"kind": "uniform", "low": 0.05, "high": 0.5},
    "speeds": {"kind": "classes", "intervals": [0.5, 1.0, 2.0]},
    "channel": {"kind": "bernoulli"},
    "rule": {"kind": "soft_dsgd", "over": "in_neighbours"},
}


@pytest.fixture
def planned(monkeypatch):
    """Plans a run of ``SPEC`` with changes; the code of its engine does not matter here."""
    monkeypatch.setattr("outagefl.runs.plan.run_code", lambda spec: {})

    def plan_with(**changes):
        plan = Plan()
        return plan, plan.runs[add_run(plan, sources(CATALOG, {}), SPEC | changes)]

    return plan_with


def test_links_are_planned_for_the_edges_of_their_topology(planned):
    plan, run = planned()
    assert run.inputs.keys() == {"dataset", "partition", "topology", "links", "speeds"}
    assert plan.inputs[run.inputs["links"]].needs == {"topology": run.inputs["topology"]}
    assert run.inputs["speeds"].startswith("inputs/speeds/classes-0.5_1.0_2.0-s3-")
    [path] = plan.runs
    assert path.startswith("runs/dflaa/soft_dsgd-digits-uniform-s3-")


def test_links_and_speeds_are_shared_by_what_they_do_not_depend_on(planned):
    _, base = planned()
    _, other_rule = planned(rule={"kind": "ad_psgd"}, channel={"kind": "gilbert_elliott", "mean_burst": 8})
    _, other_graph = planned(topology={"kind": "directed_complete"})
    _, other_seed = planned(seed=4)
    assert other_rule.inputs == base.inputs
    assert other_graph.inputs["links"] != base.inputs["links"]
    assert other_graph.inputs["speeds"] == base.inputs["speeds"]
    assert other_seed.inputs["links"] != base.inputs["links"]
    assert other_seed.inputs["speeds"] != base.inputs["speeds"]


def test_links_and_speeds_are_made_from_their_spec(tmp_path):
    paths = {what: tmp_path / f"{what}.npz" for what in ("topology", "links", "speeds")}
    for what, needs in (("topology", {}), ("links", {"topology": paths["topology"]}), ("speeds", {})):
        make_input(what, SPEC, needs, paths[what])
    edges, _ = graphs.load(paths["topology"])
    losses, seconds = link_losses.load(paths["links"]), activation_intervals.load(paths["speeds"])
    assert losses.shape == (len(edges),)
    assert len(np.unique(losses)) == len(edges)
    assert seconds.shape == (20,)
    make_input("links", SPEC, {"topology": paths["topology"]}, tmp_path / "again.npz")
    assert paths["links"].read_bytes() == (tmp_path / "again.npz").read_bytes()


@pytest.mark.parametrize(
    ("load", "content", "message"),
    [
        (link_losses.load, {"loss": np.array([0.1, 1.5])}, "loss rates from 0 to 1"),
        (link_losses.load, {"loss": np.array([0.1, np.nan])}, "loss rates from 0 to 1"),
        (link_losses.load, {"loss": np.array([[0.1]])}, "one for each edge"),
        (link_losses.load, {"losses": np.array([0.1])}, "expected an archive with the arrays loss"),
        (activation_intervals.load, {"seconds": np.array([0.5, 0.0])}, "finite intervals above 0"),
        (activation_intervals.load, {"seconds": np.array([1, 2])}, "64-bit floats"),
    ],
)
def test_files_that_cannot_be_are_data_errors(load, content, message, tmp_path):
    np.savez(tmp_path / "odd.npz", **content)
    with pytest.raises(DataError, match=f"odd.npz: .*{message}"):
        load(tmp_path / "odd.npz")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("links", "homogenous", "links: unknown links 'homogenous'; did you mean 'homogeneous'"),
        ("links", {"kind": "uniform", "low": 0.1}, "links: links 'uniform' needs the option 'high'"),
        ("speeds", {"kind": "classes", "interval": [1]}, "speeds: .*'interval'; did you mean 'intervals'"),
        ("channel", "gilbert", "channel: unknown channel 'gilbert'; did you mean 'gilbert_elliott'"),
    ],
)
def test_names_and_options_are_checked_as_those_of_other_components(field, value, message):
    with pytest.raises(ConfigError, match=f"study: {message}"):
        in_full({field: value}, "events", {}, "study")


def test_short_names_stand_for_links():
    named = {"links": {"bad": {"kind": "homogeneous", "loss": 0.5}}}
    assert in_full({"links": "bad"}, "events", named, "study") == {"links": {"kind": "homogeneous", "loss": 0.5}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"links": {"kind": "homogeneous", "loss": 1.5}}, "links.loss: 1.5 .*a number from 0 to 1"),
        ({"speeds": {"kind": "classes", "intervals": []}}, r"speeds.intervals: \[\] .*a list of virtual seconds"),
        ({"channel": {"kind": "gilbert_elliott", "mean_burst": 0}}, "channel.mean_burst: 0 .*a number of chunks"),
        ({"topology": {"kind": "ring"}}, "topology.kind: 'ring' .*a kind of directed graph"),
        ({"engine": "gossip"}, "topology.kind: 'directed_erdos_renyi' .*a kind of undirected graph"),
        ({"rule": {"kind": "dflaa", "tau": 0}}, "rule.tau: 0 .*virtual seconds above 0"),
        ({"rule": {"kind": "dflaa", "update_on": "receive"}}, "rule.update_on: .*did you mean 'reception'"),
    ],
)
def test_values_are_checked_before_anything_runs(changes, message):
    training = {"steps": 1, "batch_size": 1, "learning_rate": 1}
    spec = {**SPEC, "model": {}, "training": training, "evaluation": {"every": 1, "clock": "seconds"}}
    if changes.get("engine") == "gossip":
        spec = {key: value for key, value in spec.items() if key not in ("links", "speeds", "channel")}
        spec |= {"rounds": 1, "order": "train_then_mix", "returning": "trains_and_mixes", "availability": {}}
    else:
        spec |= {"horizon": 1, "init": "pytorch", "chunk": 350, "fill_at": "aggregation", "exchange": "all"}
    spec |= changes
    with pytest.raises(ConfigError, match=f"study: {message}"):
        check(spec, "run", "study")
