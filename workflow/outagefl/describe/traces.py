"""Who was online when: a trace in a table and a figure, beside the synthetic smartphones where slots are half-hours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import Formatter, FuncFormatter, LogFormatter, StrMethodFormatter

from outagefl.analysis import style
from outagefl.describe import trace_statistics as known
from outagefl.inputs.availability import smartphone
from outagefl.inputs.traces import OFFLINE, ONLINE, Trace
from outagefl.randomness import generator

SLOT_MINUTES = 60 / smartphone.SLOTS_PER_HOUR  # of the synthetic smartphones
MOST_DEVICES = 5000  # of the synthetic smartphones, which take memory
RASTER_DEVICES, RASTER_DAYS = 60, 7
RECORDED, SYNTHETIC = "recorded", "synthetic smartphones"
LOOK: dict[str, dict[str, Any]] = {
    RECORDED: {"color": "#0173b2", "linestyle": "-"},
    SYNTHETIC: {"color": "#d55e00", "linestyle": "--"},
}
UNKNOWN_COLOUR, OFFLINE_COLOUR, ONLINE_COLOUR = "#c8c8c8", "#f4f4f4", "#0173b2"
HOURS = StrMethodFormatter("{x:g}")
PERCENT = FuncFormatter(lambda share, _: f"{100 * share:.3g} %")
LABELS = {
    "device mean": [f"p{100 * q:.0f}" for q in known.DEVICE_QUANTILES],
    "online run": [f"p{100 * q:.0f}" for q in known.RUN_QUANTILES],
    "offline run": [f"p{100 * q:.0f}" for q in known.RUN_QUANTILES],
    "hourly share": [f"{hour:02}:00" for hour in range(known.HOURS)],
}


def beside(trace: Trace) -> dict[str, Trace]:
    """The trace and, where its slots are half-hours, as many slots of synthetic smartphones from its time of day on.

    As many phones, too, but at most 5,000; always the same ones.
    """
    if trace.slot_minutes != SLOT_MINUTES:
        return {RECORDED: trace}
    slots, devices = trace.state.shape
    skipped = int((known.minutes_of_day(trace) or 0) // SLOT_MINUTES)
    phones = smartphone.matrix(skipped + slots, min(devices, MOST_DEVICES), generator(0, "synthetic smartphones"))
    return {RECORDED: trace, SYNTHETIC: Trace(phones[skipped:].astype(np.int8), SLOT_MINUTES, trace.start, {})}


def summary(traces: dict[str, Trace]) -> pd.DataFrame:
    """Statistics in rows: columns statistic, at (quantile or hour) and one per trace; what was counted comes last.

    Shares are fractions of known slots (0..1), runs are in slots.
    """
    columns = {}
    for name, trace in traces.items():
        slots, devices = trace.state.shape
        values = {("slots", ""): slots, ("devices", ""): devices, ("minutes of a slot", ""): trace.slot_minutes}
        for statistic, found in known.statistics(trace).items():
            values |= {(statistic, at): value for at, value in zip(LABELS.get(statistic, [""]), found, strict=True)}
        columns[name] = values | {(f"read: {what}", ""): count for what, count in trace.counts.items()}
    return pd.DataFrame(columns).rename_axis(["statistic", "at"]).reset_index()


def draw(traces: dict[str, Trace]) -> Figure:
    """Share online by hour of day (where the start is known), devices, run lengths, and some devices over time."""
    hourly = {name: known.hourly_share(trace) for name, trace in traces.items()}
    top = ["hours" if hourly[RECORDED] is not None else "devices", "devices"]
    runs, rasters = ["online", "offline"], [RECORDED, SYNTHETIC if SYNTHETIC in traces else RECORDED]
    mosaic: list[Any] = [top, runs, rasters]
    with style.theme():
        figure = Figure(figsize=(style.WIDTH, 9.2), layout="constrained")
        panels = figure.subplot_mosaic(mosaic, height_ratios=[1, 1, 1.5])
        for name in runs:
            panels[name].set(xscale="log", yscale="log")
            for axis, plain in ((panels[name].xaxis, HOURS), (panels[name].yaxis, PERCENT)):
                axis.set_major_formatter(plain)
                axis.set_minor_formatter(_BetweenPowers(plain))
        for name, trace in traces.items():
            if (share := hourly[name]) is not None:
                panels["hours"].plot(share, marker=".", **LOOK[name])
            _devices(panels["devices"], trace, name)
            _run_lengths(panels["online"], trace, ONLINE, name)
            _run_lengths(panels["offline"], trace, OFFLINE, name)
            _raster(panels[name], trace, name)
        if "hours" in panels:
            _finish(panels["hours"], "Share online by time of day", "hour of day", "share online")
            panels["hours"].set(xticks=range(0, 25, 6), xlim=(-0.5, 23.5))
        _finish(panels["devices"], "Devices from most to least online", "share of devices", "share of time online")
        panels["devices"].xaxis.set_major_formatter(PERCENT)
        for name in runs:
            _finish(panels[name], f"{name.capitalize()} at a stretch", "hours", "share of runs at least as long")
        lines = [Line2D([], [], linewidth=2, label=name, **LOOK[name]) for name in traces]
        colours = {"online": ONLINE_COLOUR, "offline": OFFLINE_COLOUR, "unknown": UNKNOWN_COLOUR}
        patches = [Patch(facecolor=colour, edgecolor="#999999", label=name) for name, colour in colours.items()]
        figure.legend(handles=lines + patches, loc="outside lower center", ncols=5, frameon=False)
    return figure


class _BetweenPowers(LogFormatter):
    """Labels between the powers of ten, where there are so few powers that Matplotlib would label more, but plain."""

    def __init__(self, plain: Formatter) -> None:
        super().__init__()
        self.plain = plain

    def __call__(self, x: float, pos: int | None = None) -> str:
        return self.plain(x, pos) if super().__call__(x, pos) else ""


def _finish(axes: Axes, title: str, xlabel: str, ylabel: str) -> None:
    axes.set(title=title, xlabel=xlabel, ylabel=ylabel)
    if axes.get_yscale() == "linear":
        axes.yaxis.set_major_formatter(PERCENT)
        axes.set_ylim(bottom=0)


def _devices(axes: Axes, trace: Trace, name: str) -> None:
    means = known.device_means(trace.state)
    place = np.linspace(0, 1, 1001)
    if not np.isnan(means).all():
        axes.plot(place, np.nanquantile(means, 1 - place), **LOOK[name])


def _run_lengths(axes: Axes, trace: Trace, state: int, name: str) -> None:
    lengths, count = np.unique(known.runs(trace.state, state), return_counts=True)
    if len(lengths):
        at_least = count[::-1].cumsum()[::-1] / count.sum()
        axes.plot(lengths * trace.slot_minutes / 60, at_least, marker=".", markersize=3, **LOOK[name])


def _raster(axes: Axes, trace: Trace, name: str) -> None:
    slots, devices = trace.state.shape
    shown = generator(0, "raster of a trace").permutation(devices)[:RASTER_DEVICES]
    shown = shown[np.argsort(-known.device_means(trace.state[:, shown]), kind="stable")]
    days = np.arange(min(slots, int(RASTER_DAYS * 1440 / trace.slot_minutes)) + 1) * trace.slot_minutes / 1440
    colours = ListedColormap([UNKNOWN_COLOUR, OFFLINE_COLOUR, ONLINE_COLOUR])
    axes.pcolormesh(
        days, np.arange(len(shown) + 1), trace.state[: len(days) - 1, shown].T, cmap=colours, vmin=-1, vmax=1,
        rasterized=True,
    )  # fmt: skip
    axes.set(
        title=f"{name.capitalize()}: {len(shown)} of {devices} devices",
        xlabel="days from the start",
        yticks=[],
        ylim=(len(shown), 0),
    )
    axes.grid(visible=False)
