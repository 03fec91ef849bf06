"""Memory of event-driven gossip with models as large as ResNet-18, by hand: ``python benchmarks/messages.py [NODES]``.

Plays the events of a random graph over links that lose a tenth, with messages, inboxes, momentum and aggregation as in
a run; local work adds a constant, since training takes no memory that grows with the nodes. A line per number of
virtual seconds and way of filling: activations, peak of resident memory in GB, and that in rows of the model per node.
"""

import multiprocessing
import resource
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow"))
from outagefl.engines.event_simulation import Network, play, start
from outagefl.inputs.channel import bernoulli
from outagefl.inputs.speeds import classes
from outagefl.inputs.topology import directed_erdos_renyi
from outagefl.rules.inbox import dflaa

LENGTH = 11_173_962 + 9_600  # parameters and BatchNorm statistics of ResNet-18 for 32 × 32 images
RULE = {"tau": 5, "beta": 0.05, "c_min": 0.1, "q_floor": 0.05, "update_on": "reception"}


class Adding:
    """Local work without training."""

    stacks = False

    def train(self, rows: Sequence[torch.Tensor], nodes: object, numbers: object, done: object, states: object) -> None:
        """Add a little to every number of every row."""
        for row in rows:
            row.add_(1e-3)


def measure(nodes: int, horizon: float, fill_at: str) -> None:
    """Play one network and print its line."""
    rng = np.random.default_rng(0)
    edges = directed_erdos_renyi.edges(nodes, rng, degree=4, cycle=False)
    targets = tuple({int(target): 0.1 for source, target in edges if source == node} for node in range(nodes))
    network = Network(targets, bernoulli.received, 350, LENGTH, fill_at, seed=0)
    state = start(torch.zeros(LENGTH), torch.full((nodes, LENGTH), 0.1), dflaa.memory(nodes, **RULE))
    speeds = classes.seconds(nodes, rng, intervals=[0.5, 1.0, 2.0])
    for _ in play(state, network, partial(dflaa.weights, **RULE), Adding(), speeds, horizon):
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    told = f"{horizon:g} s, filled at {fill_at}: {state.activations.sum()} activations, {peak / 1e9:.1f} GB"
    print(f"{told}, {peak / (4 * LENGTH * nodes):.1f} rows per node", flush=True)


def main(nodes: int) -> None:
    """Print a line for each case, each in a process of its own, so that peaks are apart."""
    print(f"{nodes} nodes, {LENGTH:,} numbers each")
    for horizon, fill_at in [(1, "aggregation"), (4, "aggregation"), (2, "reception")]:
        process = multiprocessing.get_context("spawn").Process(target=measure, args=(nodes, horizon, fill_at))
        process.start()
        process.join()
        if process.exitcode:
            sys.exit(f"ended with {process.exitcode}, out of memory?")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 80)
