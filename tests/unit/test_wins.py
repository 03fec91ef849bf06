"""The table of wins: pairs, signs and decisions, in every setting and over all."""

import numpy as np
import pytest

from outagefl.analysis.comparisons import ALL
from outagefl.analysis.indexes import read_index
from outagefl.analysis.statistics import sides_of_seeds
from outagefl.analysis.tables.wins import tabulate
from outagefl.analysis.verdicts import decide
from tests.unit.synthetic_runs import write_runs

GAINS = {"dfedavg": 0.0, "same": 0.0, "sfg_cut": 0.04, "worse": -0.02}
SETTINGS = [{"availability": "markov"}, {"availability": "smartphone"}]


def wins(root, baseline="dfedavg", settings=SETTINGS, seeds=8):
    index = read_index(write_runs(root, GAINS, settings=settings, seeds=seeds))
    return tabulate(index, root, tail=0.1, baseline=baseline, equivalence_margin=0.5)


def test_known_gains_are_counted_tested_and_decided(tmp_path):
    table = wins(tmp_path)
    assert list(table.shown.index)[:3] == [(ALL, "same"), (ALL, "SFG-Cut"), (ALL, "worse")]
    assert list(table.tidy["setting"].unique()) == [ALL, "markov", "smartphone"]
    cut = table.tidy[table.tidy["method"] == "sfg_cut"]
    assert list(cut["n"]) == list(cut["wins"]) == [16, 8, 8]
    assert list(cut["p_sign"]) == pytest.approx([2 / 2**8] * 3)  # over all settings: of 8 seeds, not of 16 pairs
    assert list(cut["p_sign_holm"]) == pytest.approx([3 * 2 / 2**8, *[6 * 2 / 2**8] * 2])
    decided = table.tidy.set_index(["setting", "method"])["decision"]
    assert decided[ALL].to_dict() == {"same": "equivalent", "sfg_cut": "better", "worse": "worse"}
    shown = table.shown.loc[ALL, "SFG-Cut"]
    assert list(shown[["pairs", "better", "worse", "p (sign test)"]]) == ["16", "16", "0", "0.023"]
    assert shown["mean difference"].startswith("+")


def test_several_baselines_are_told_apart_and_one_setting_is_not_pooled(tmp_path):
    table = wins(tmp_path, baseline=["sfg_cut", "same"], settings=SETTINGS[:1], seeds=2)
    assert list(table.shown.index.get_level_values(0).unique()) == ["against SFG-Cut", "against same"]
    assert ALL not in set(table.tidy["setting"])


def test_a_single_pair_decides_nothing(tmp_path):
    table = wins(tmp_path, seeds=1)
    assert set(table.tidy["decision"]) == {"unresolved"}
    assert set(table.shown["95 % interval"]) == {"–"}


def test_a_seed_is_on_the_side_of_most_of_its_pairs():
    differences, seeds = [1, 2, -1, -3, 1, 0, 1, -1], [0, 0, 0, 1, 1, 2, 3, 3]
    assert sides_of_seeds(differences, seeds) == (1, 0)
    assert sides_of_seeds(-np.ones(12), np.repeat(np.arange(6), 2)) == (0, 6)


@pytest.mark.parametrize(
    ("difference", "p", "p_equivalence", "decision"),
    [
        (1.0, 0.01, 0.9, "better"),
        (-1.0, 0.01, 0.9, "worse"),
        (0.1, 0.01, 0.01, "better"),  # real, if negligible
        (0.1, 0.30, 0.01, "equivalent"),
        (1.0, 0.05, 0.05, "unresolved"),
        (1.0, np.nan, np.nan, "unresolved"),
    ],
)
def test_decision(difference, p, p_equivalence, decision):
    assert decide(difference, p, p_equivalence) == decision
