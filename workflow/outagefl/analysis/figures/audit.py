"""Figure: a method's lead over every other under the paper's protocol, each quirk of the released code, and all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import audit, looks, style
from outagefl.analysis.curves import sides_of

ALONE, PUBLISHED = "rule alone", "published"
BAND = 0.66  # the part of a row over which settings stand below each other


def draw(
    index: pd.DataFrame, root: Path, *, tail: float, baseline: str, control: str, curves: str | None = None
) -> Figure:
    """A panel per method, a row per protocol, a dot per setting: the mean lead with its 95 % t interval over seeds.

    The row ``rule alone`` has the lead over ``control``, plain averaging: from there to ``paper`` is what the method's
    self weight costs it, from ``paper`` to another row what that quirk does. A row where no run of either method is
    changed repeats ``paper``. Diamonds: the leads at the ends of the published curves (``curves``). Axes hold the dots;
    with few seeds an interval may run out of its panel.
    """
    found = audit.leads(index, root, tail, baseline, control).rename(columns={"lead": "value"})
    protocols = list(dict.fromkeys(found[audit.SWITCH]))
    lead = audit.summary(found, ["setting", audit.SWITCH, "method"])
    lead = lead.rename(columns={audit.SWITCH: "row"})
    alone = lead[(lead["method"] == control) & (lead["row"] == audit.PAPER)].assign(row=ALONE)
    theirs = audit.published_leads(index, root, baseline, curves)
    theirs = theirs.rename(columns={"value": "mean"}).assign(row=PUBLISHED)
    rows = [ALONE, *protocols, *([PUBLISHED] if len(theirs) else [])]
    methods, settings = list(dict.fromkeys(found["method"])), list(dict.fromkeys(found["setting"]))
    look = looks.of_levels(settings)
    shift = dict(zip(settings, BAND * (sides_of(settings) - 0.5), strict=True))
    with style.theme():
        xlabel = f"lead of {looks.label(baseline)} (points)"
        titles = [f"over {looks.label(method)}" for method in methods]
        height = 0.9 + len(rows) * max(0.24, 0.09 * len(settings))
        figure, panels = style.panels(titles, xlabel, "", height=height, sharey=True, sharex=False)
        for axes, method in zip(panels, methods, strict=True):
            shown = pd.concat([alone, lead[lead["method"] == method], theirs[theirs["method"] == method]])
            axes.axvline(0, color="#222222", linewidth=1)
            for where, dots in shown.groupby("setting", sort=False):
                colour = look[str(where)]["color"]
                place = dots["row"].map(rows.index) + shift[str(where)]
                hollow = dots["row"] == PUBLISHED
                axes.scatter(dots["mean"][~hollow], place[~hollow], s=14, color=colour, zorder=3)
                axes.scatter(dots["mean"][hollow], place[hollow], s=22, marker="D", facecolor="none", edgecolor=colour)
                axes.hlines(place, dots["low"], dots["high"], color=colour, linewidth=1.3)
            reach = np.append(shown["mean"].to_numpy(dtype=float), 0)
            margin = 0.08 * np.ptp(reach) + 0.2
            axes.set_xlim(reach.min() - margin, reach.max() + margin)
            axes.set_yticks(range(len(rows)), [audit.quirk_name(row) for row in rows])
            axes.set_ylim(len(rows) - 0.5, -0.5)
        style.legend(figure, settings, lambda where: {"color": look[where]["color"], "marker": "o", "linestyle": ""})
    return figure
