"""Each method's printed name, colour and dash, the same everywhere, and the looks of a factor's levels.

Colours are colour-blind safe: seaborn's palette for gossip, Paul Tol's vibrant scheme for servers and his bright one
for inboxes. Gossip rules that share a colour share an idea: solid discounts the client's own model too, dashed only
what it received, long dashes have a validated margin; controls are dotted or dash-dotted. Server rules with the aid of
memory or known statistics are dash-dotted. Inbox rules in broken lines are controls of the one with the solid line.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np

Dash = str | tuple[int, tuple[float, ...]]

METHODS: dict[str, tuple[str, str, Dash]] = {
    "local": ("Local only", "#949494", ":"),
    "dfedavg": ("DFedAvg", "#222222", "-"),
    "metropolis": ("Metropolis", "#ca9161", "-."),
    "aoi_received": ("AoI (received)", "#de8f05", "--"),
    "aoi_inclusive": ("AoI (inclusive)", "#de8f05", "-"),
    "lag_received": ("Lag (received)", "#0173b2", "--"),
    "sfg": ("SFG", "#0173b2", "-"),
    "sfg_cut": ("SFG-Cut", "#d55e00", "-"),
    "sfg_validated": ("SFG-Cut (validated)", "#d55e00", (0, (5, 1))),
    "sfg_online": ("SFG-Cut (online)", "#56b4e9", "-"),
    "limited_merge": ("Limited merge", "#029e73", "-"),
    "freshest": ("Freshest", "#cc78bc", "-"),
    "always_on": ("Always on", "#949494", "-."),
    "fedswe": ("FedSWE", "#cc3311", (0, (5, 1))),
    "fedswe_k0": ("FedSWE (k = 0)", "#cc3311", "--"),
    "fedswe_km": ("FedSWE (k = m)", "#cc3311", "-"),
    "fedavg_active": ("FedAvg (active)", "#000000", "-"),
    "fedavg_all": ("FedAvg (all)", "#000000", ":"),
    "gfedavg": ("gFedAvg", "#999999", "-"),
    "fedau": ("FedAU", "#0077bb", "-"),
    "f3ast": ("F3AST", "#33bbee", "--"),
    "fedavg_known": ("FedAvg (known p)", "#ee7733", "-."),
    "mifa": ("MIFA", "#009988", "-."),
    "fedvarp": ("FedVARP", "#ee3377", "-."),
    "dflaa": ("DFL-AA", "#aa3377", "-"),
    "ipw_only": ("IPW only", "#aa3377", "--"),
    "aoi_only": ("AoI only", "#aa3377", ":"),
    "swift": ("SWIFT", "#4477aa", "-"),
    "swift_adaptive": ("SWIFT (adaptive)", "#4477aa", "--"),
    "ad_psgd": ("AD-PSGD", "#228833", "-"),
    "soft_dsgd": ("Soft-DSGD", "#ccbb44", "-"),
    "fedavg_drop": ("FedAvg (drop)", "#bbbbbb", "-"),
}
# For methods without an entry: colours of Paul Tol's muted scheme and dashes that no entry uses.
OTHER_COLOURS = ("#332288", "#117733", "#44aa99", "#882255", "#aa4499", "#999933", "#cc6677")
OTHER_DASHES: tuple[Dash, ...] = ((0, (6, 1.5, 1.5, 1.5)), (0, (3, 1, 1, 1, 1, 1)), (0, (8, 2)))


def label(method: str) -> str:
    """The printed name of a method: its own spelling where it has no entry."""
    return METHODS[method][0] if method in METHODS else method.replace("_", " ")


def look(method: str) -> dict[str, Any]:
    """Colour and line style of a method, the same in every figure whatever else is drawn.

    A method without an entry gets them from its name, and may then look like another one without an entry.
    """
    if method in METHODS:
        _, colour, dash = METHODS[method]
    else:
        dashes, colours = divmod(zlib.crc32(method.encode()), len(OTHER_COLOURS))
        colour, dash = OTHER_COLOURS[colours], OTHER_DASHES[dashes % len(OTHER_DASHES)]
    return {"color": colour, "linestyle": dash}


def of_levels(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Colour and line style of ordered levels, from dark to light; every other one is dashed."""
    shades = mpl.colormaps["viridis"](np.linspace(0, 0.9, len(names)))
    return {
        name: {"color": shade, "linestyle": "--" if place % 2 else "-"}
        for place, (name, shade) in enumerate(zip(names, map(mpl.colors.to_hex, shades), strict=True))
    }
