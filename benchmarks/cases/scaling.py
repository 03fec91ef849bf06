"""How the cost of a run grows with its clients, rounds and edges, with a small network and fixed work per client."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cases.inputs import even_partition, random_data
from cases.runs import DIGITS, gossip_spec, online, quiet, regular
from outagefl.analysis.style import panels, save, theme
from outagefl.engines import gossip
from outagefl.inputs.topology import complete, random_regular

TINY = {"kind": "mlp", "hidden": [32]}
CLIENTS, ROUNDS, DEGREES = (10, 30, 100, 300, 1000), (3, 10, 30, 100, 300), (4, 16, 64, 128, 255)


def _seconds(clients: int, rounds: int, edges: NDArray[np.int64]) -> float:
    """CPU seconds of a run in which everyone is online and takes a step of 16 images a round."""
    data = random_data(*DIGITS, clients * 20, clients * 5)
    partition = even_partition(data, clients)
    spec = gossip_spec(clients, rounds, TINY, steps=1, batch_size=16)
    everyone = online(rounds, clients, share=1)
    start = time.process_time()
    gossip.run(spec, data, partition, edges, everyone, quiet, "cpu")
    return time.process_time() - start


def _edges(clients: int, degree: int) -> NDArray[np.int64]:
    rng = np.random.default_rng(0)
    if degree == clients - 1:
        return complete.edges(clients, rng)
    return random_regular.edges(clients, rng, degree=degree)


@cache
def measured() -> dict[str, tuple[list[float], list[float]]]:
    """What grows → its values and the CPU seconds."""
    _seconds(10, 4, regular(10))
    dense = [_edges(256, degree) for degree in DEGREES]
    return {
        "clients": ([*CLIENTS], [_seconds(n, 4, regular(n)) for n in CLIENTS]),
        "rounds": ([*ROUNDS], [_seconds(10, n, regular(10)) for n in ROUNDS]),
        "edges": ([len(edges) for edges in dense], [_seconds(256, 4, edges) for edges in dense]),
    }


def slope(x: list[float], y: list[float]) -> float:
    """The exponent a of y ∝ xᵃ, by least squares of the logarithms."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def scaling() -> dict[str, float]:
    """The exponents, and the largest runs' times."""
    found = {}
    for what, (x, y) in measured().items():
        found[f"{what}, {x[0]:,} to {x[-1]:,}: log-log slope"] = slope(x, y)
        found[f"{x[-1]:,} {what}: CPU s"] = y[-1]
    return found


def draw(path: Path) -> None:
    """Draw it all as ``path`` with the suffixes .pdf and .png."""
    with theme():
        titles = [f"{what}: slope {slope(x, y):.2f}" for what, (x, y) in measured().items()]
        figure, axes = panels(titles, "number", "CPU seconds", sharex=False, sharey=True)
        for panel, (x, y) in zip(axes, measured().values(), strict=True):
            panel.loglog(x, y, marker="o")
    save(figure, path.with_suffix(".pdf"), path.with_suffix(".png"))
