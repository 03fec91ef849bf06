"""How probable it is that clients are online, and who was (after Figures 15 and 16 of the FedSWE paper)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from outagefl.analysis import style
from outagefl.inputs.groups import in_order

BINS = [twentieth / 20 for twentieth in range(21)]
ROUNDS = 200  # shown over time; of more, the first
QUANTILES = (0.9, 0.5, 0.1)  # of the base probability: the clients shown over time
BASE_COLOUR, MEAN_COLOUR, ONLINE_COLOUR = "#0173b2", "#d55e00", "#949494"
GROUP_COLOURS = ("#0173b2", "#de8f05", "#029e73", "#cc78bc")
DASHES = ("-", "--", ":")
PERCENT = FuncFormatter(lambda share, _: f"{100 * share:.3g} %")


@dataclass(frozen=True)
class Outages:
    """Base probabilities, float64 (clients,); probabilities, float64 (T, clients); availability, bool (T, clients).

    Clients are in that many ``groups`` in order; they are shown apart.
    """

    base: NDArray[np.float64]
    probability: NDArray[np.float64]
    online: NDArray[np.bool_]
    groups: int = 1

    @property
    def group(self) -> NDArray[np.int64]:
        """The group of each client, (clients,)."""
        return in_order(len(self.base), self.groups)


def client_table(outages: Outages) -> pd.DataFrame:
    """A row a client: columns client, group, base, mean, lowest, highest (probabilities), online (share of rounds)."""
    over_time = outages.probability
    return pd.DataFrame(
        {
            "client": np.arange(len(outages.base)),
            "group": outages.group,
            "base": outages.base,
            "mean": over_time.mean(axis=0),
            "lowest": over_time.min(axis=0),
            "highest": over_time.max(axis=0),
            "online": outages.online.mean(axis=0),
        }
    )


def draw(outages: Outages) -> Figure:
    """Clients by probability; of some clients, probabilities and availability; and the share of clients online."""
    with style.theme():
        figure = Figure(figsize=(style.WIDTH, 9.5), layout="constrained")
        clients, course, raster, online = figure.subplots(4)
        _histogram(clients, outages)
        _course(course, outages)
        _raster(raster, outages)
        _online(online, outages)
    return figure


def _histogram(axes: Axes, outages: Outages) -> None:
    axes.hist(outages.base, BINS, color=BASE_COLOUR, alpha=0.75, label="base probability")
    mean = outages.probability.mean(axis=0)
    if not np.allclose(mean, outages.base):
        axes.hist(mean, BINS, color=MEAN_COLOUR, histtype="step", linewidth=1.6, label="mean over all rounds")
    axes.set(title="Clients by probability of being online", xlabel="probability", ylabel="clients", xlim=(0, 1))
    axes.legend(frameon=False)


def _examples(outages: Outages) -> Iterator[tuple[int, str, str]]:
    """Clients at ``QUANTILES`` of their group's base probability, of the first four groups, with colour and dash."""
    for group, colour in enumerate(GROUP_COLOURS[: outages.groups]):
        members = np.flatnonzero(outages.group == group)
        ordered = members[np.argsort(outages.base[members], kind="stable")]
        for quantile, dash in zip(QUANTILES, DASHES, strict=True):
            yield int(ordered[round(quantile * (len(ordered) - 1))]), colour, dash


def _course(axes: Axes, outages: Outages) -> None:
    shown = outages.probability[:ROUNDS]
    for client, colour, dash in _examples(outages):
        label = f"client {client}"
        axes.step(range(len(shown)), shown[:, client], where="mid", color=colour, linestyle=dash, label=label)
    axes.set(title="Probability of clients with a high, a median and a low base", ylabel="probability", ylim=0)
    axes.set_xlabel(_rounds(outages))
    axes.legend(frameon=False, ncols=outages.groups, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))


def _raster(axes: Axes, outages: Outages) -> None:
    examples = list(_examples(outages))
    for place, (client, colour, _) in enumerate(examples):
        rounds = np.flatnonzero(outages.online[:ROUNDS, client])
        axes.broken_barh([(t - 0.5, 1) for t in rounds], (place - 0.4, 0.8), color=colour)
    axes.set_yticks(range(len(examples)), [f"client {client}" for client, *_ in examples])
    axes.set(title="When they were online", xlim=(-0.5, min(ROUNDS, len(outages.online)) - 0.5))
    axes.invert_yaxis()
    axes.set_xlabel(_rounds(outages))
    axes.grid(visible=False)


def _online(axes: Axes, outages: Outages) -> None:
    sampled, expected = (share[:ROUNDS].mean(axis=1) for share in (outages.online, outages.probability))
    axes.plot(sampled, marker=".", linestyle="", color=ONLINE_COLOUR, label="drawn")
    axes.step(range(len(expected)), expected, where="mid", color=MEAN_COLOUR, label="expected")
    axes.set(title="Share of clients online", xlabel=_rounds(outages), ylabel="share", ylim=0)
    axes.yaxis.set_major_formatter(PERCENT)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small")


def _rounds(outages: Outages) -> str:
    rounds = len(outages.probability)
    return "t" if rounds <= ROUNDS else f"t (the first {ROUNDS} of {rounds} rounds)"
