"""Table: in how many pairs each method beats a baseline, in every setting and over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from outagefl.analysis.comparison_table import signed
from outagefl.analysis.comparisons import ALL, comparisons
from outagefl.analysis.looks import label
from outagefl.analysis.pairing import pair
from outagefl.analysis.results import scores
from outagefl.analysis.statistics import holm, sides_of_seeds, sign_test
from outagefl.analysis.verdicts import decide
from outagefl.analysis.writers import DASH, NO_BREAK, Table, p_value

TIDY = ["baseline", "setting", "method", "n", "wins", "losses", "difference", "low", "high"]
TIDY += ["p_sign", "p_sign_holm", "p_t_holm", "p_equivalence_holm", "decision"]


def tabulate(
    index: pd.DataFrame, root: Path, *, tail: float, baseline: str | Sequence[str], equivalence_margin: float
) -> Table:
    """A row per baseline, setting and other method, those over all settings first.

    Tidy: columns of ``comparisons.comparisons`` and the decision of ``verdicts.decide``. Over all settings the sign
    test is over seeds, and the interval and the tests behind the decision are clustered by seed.
    """
    runs = scores(index, root, tail)
    baselines = [baseline] if isinstance(baseline, str) else list(baseline)
    tidy = pd.concat([_against(runs, name, equivalence_margin) for name in baselines], ignore_index=True)
    return Table(tidy, _shown(tidy), _caption(baselines, tail, equivalence_margin))


def _against(runs: pd.DataFrame, baseline: str, margin: float) -> pd.DataFrame:
    """The tidy rows of one baseline."""
    found = comparisons(runs, [baseline], margin).dropna(subset="n")
    found = found.sort_values("setting", key=lambda names: names != ALL, kind="stable")
    pooled, pairs = found["setting"] == ALL, pair(runs, baseline)
    own = [pairs[pairs["method"] == method] for method in found.loc[pooled, "method"]]
    found.loc[pooled, "p_sign"] = [sign_test(*sides_of_seeds(each["difference"], each["seed"])) for each in own]
    found.loc[pooled, "p_sign_holm"] = holm(found.loc[pooled, "p_sign"])
    tests = zip(found["difference"], found["p_t_holm"], found["p_equivalence_holm"], strict=True)
    return found.assign(decision=[decide(*test) for test in tests])[TIDY]


def _shown(tidy: pd.DataFrame) -> pd.DataFrame:
    shown = pd.DataFrame(
        {
            "pairs": tidy["n"].astype(str),
            "better": tidy["wins"].astype(str),
            "worse": tidy["losses"].astype(str),
            "mean difference": tidy["difference"].map(signed),
            "95 % interval": [_interval(*ends) for ends in zip(tidy["low"], tidy["high"], strict=True)],
            "p (sign test)": tidy["p_sign_holm"].map(p_value),
            "decision": tidy["decision"],
        }
    )
    rows = [tidy["setting"], tidy["method"].map(label)]
    if tidy["baseline"].nunique() > 1:
        rows.insert(0, "against " + tidy["baseline"].map(label))
    shown.index = pd.MultiIndex.from_arrays(rows, names=[None] * len(rows))
    return shown


def _interval(low: float, high: float) -> str:
    return DASH if pd.isna(low) else f"{signed(low)}{NO_BREAK}…{NO_BREAK}{signed(high)}"


def _caption(baselines: Sequence[str], tail: float, margin: float) -> str:
    name = label(baselines[0]) if len(baselines) == 1 else "the one it is held against"
    return (
        f"in how many pairs of runs a method is more accurate than {name} (mean over the last {100 * tail:g} % of the "
        "rounds), and by how many points on average, with the 95 % BCa bootstrap interval. Decision: better or worse "
        "where the paired t-test is significant, else equivalent where the difference is significantly within "
        f"±{margin:g} points, else unresolved. Sign tests are exact; all p-values are Holm-corrected, significant is "
        f"below 0.05. Pairs of a seed are not independent: in the rows {ALL} the sign test counts seeds, each on the "
        "side of most of its pairs, and interval, t-test and equivalence are clustered by seed."
    )
