"""Memory of event-driven gossip with models as large as ResNet-18, by hand: ``python benchmarks/messages.py [NODES]``.

Plays two virtual seconds on a random graph over links that lose a tenth, with messages, inboxes, momentum and
aggregation as in a run; local work adds a constant, as training takes no memory that grows with the nodes. Prints the
number of activations and the peak of resident memory in GB and in rows of the model per node, for missing chunks filled
at aggregation or, with a second argument, at ``reception``, which takes a copy for each link.
"""

import resource
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow"))
from outagefl.engines.event_simulation import Network, play, start
from outagefl.inputs.channel import bernoulli
from outagefl.inputs.speeds import classes
from outagefl.inputs.topology import directed_erdos_renyi
from outagefl.rules.inbox import dflaa

LENGTH = 11_173_962 + 9_600  # parameters and BatchNorm statistics of ResNet-18 for 32 × 32 images
RULE: dict[str, Any] = {"tau": 5, "beta": 0.05, "c_min": 0.1, "q_floor": 0.05, "update_on": "reception"}


class Adding:
    """Local work without training."""

    stacks = False

    def train(self, rows: Sequence[torch.Tensor], nodes: object, numbers: object, done: object, states: object) -> None:
        """Add a little to every number of every row."""
        for row in rows:
            row.add_(1e-3)


def main(nodes: int, fill_at: str) -> None:
    """Play one network and print what it took."""
    rng = np.random.default_rng(0)
    edges = directed_erdos_renyi.edges(nodes, rng, degree=4, cycle=False)
    targets = tuple({int(target): 0.1 for source, target in edges if source == node} for node in range(nodes))
    network = Network(targets, bernoulli.received, 350, LENGTH, fill_at, seed=0)
    state = start(torch.zeros(LENGTH), torch.full((nodes, LENGTH), 0.1), dflaa.memory(nodes, **RULE))
    speeds = classes.seconds(nodes, rng, intervals=[0.5, 1.0, 2.0])
    trainer: Any = Adding()
    for _ in play(state, network, partial(dflaa.weights, **RULE), trainer, speeds, 2.0):
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{nodes} nodes, {LENGTH:,} numbers each, {len(edges)} links, filled at {fill_at}")
    print(
        f"{state.activations.sum()} activations, {peak / 1e9:.1f} GB, {peak / (4 * LENGTH * nodes):.1f} rows per node"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 80, sys.argv[2] if len(sys.argv) > 2 else "aggregation")
