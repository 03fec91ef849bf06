"""Theory checks as a family: declared in a study, found by name, refused when wrong, drawn; FedAvg's bias and slips."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from outagefl import components, config
from outagefl.analysis import style
from outagefl.analysis.findings import findings_table, tabulate
from outagefl.analysis.theory import fedavg_bias, slips
from outagefl.analysis.theory.result import Finding, mean_interval
from outagefl.errors import ConfigError, InputError
from outagefl.randomness import generator
from outagefl.runs.theory import declared_checks, modules

MIXING = {"clients": 4, "virtual_clients": [1, 4], "probabilities": [0.3, 0.9], "group_probabilities": [[0.5, 0.5]]}
RULES = {"local": {"kind": "local"}, "dfedavg": {"kind": "dfedavg"}, "sfg": {"kind": "sfg", "gamma": 0.5}}
RULES |= {"aoi_received": {"kind": "aoi_received", "gamma": 0.5, "age_reading": "before_training"}}
MODEL = {"methods": RULES, "neighbours": 2, "drift": 1, "dispersion": 2, "repetitions": 20}
SMALL = {
    "fedavg_bias": {"probabilities": [0.2, 1], "rounds": 100, "repetitions": 200, "learning_rate": 0.1, "steps": 2},
    "mixing_norm": MIXING | {"group_rounds": 2, "repetitions": 50},
    "mixing_bound": MIXING | {"group_rounds": 2, "example_probability": 0.5, "example_virtual_clients": 5},
    "interpolation": {"clients": 2, "problems": 1, "rounds": 100, "learning_rate": 0.1},
    "echoing": {"rounds": 40, "repetitions": 50, "probability": 0.3, "gamma": 0.3, "period": 4, "window": 10},
    "local_fill": {"rates": [0.5, 1], "chunks": 50, "chunk": 2, "mean_burst": 5, "moved": 0.2, "repetitions": 100},
    "message_age": {
        "nodes": 6,
        "degree": 2,
        "cycle": True,
        "levels": [[0.5, 1.0, 2.0], [0.2, 1.0, 5.0]],
        "published": [1.0, 2.0],
        "time": 100,
        "graphs": 4,
    },
    "push_sum_drain": {"nodes": 4, "degree": 2, "rates": [0.5, 1], "rounds": 3, "chunks": 20, "repetitions": 50},
    "inverse_weighting": {"ages": [0, 2], "rates": [0.5, 1], "tau": 5, "beta": 0.05, "chunks": 50, "repetitions": 100},
    "aggregation_bound": MODEL | {"draws": 200},
    "aggregation_error": MODEL
    | {"method": "sfg", "baseline": "dfedavg", "outages": [0, 2, 8], "mean_on": 2, "mean_off": 3},
    "scalar_toy": {"methods": RULES, "method": "sfg", "baseline": "dfedavg", "received": "aoi_received"}
    | {"topology": {"kind": "ring"}, "availability": {"kind": "bernoulli", "probability": 0.5}}
    | {"clients": 5, "missed": 2, "rounds": 6, "repetitions": 2},
    "slips": {"available": 4, "virtual_clients": 4, "window": 10, "alphas": [1, 0.1], "classes": 5, "clients": 50},
}


def run(kind, **options):
    function, known = components.load("theory check", {"kind": kind} | SMALL[kind] | options)
    return function(generator(0, "test"), **known)


@pytest.mark.parametrize("kind", components.signatures("theory check"))
def test_every_check_has_findings_that_repeat_and_a_figure_in_which_nothing_is_cut_off(kind):
    checked = run(kind)
    table = tabulate(checked.findings, "study", "check")
    pd.testing.assert_frame_equal(table, tabulate(run(kind).findings, "study", "check"))
    assert table[["statement", "source", "note"]].map(len).min().min() > 5
    assert set(table["holds"]) <= {"yes", "no"}
    assert table["computed"].notna().all()
    figure = import_module(components.module_name("theory check", kind)).draw(checked.values)
    canvas = FigureCanvasAgg(figure)
    with style.theme():
        canvas.draw()
    whole = figure.get_tightbbox(canvas.get_renderer())
    assert min(whole.x0, whole.y0) >= 0
    assert whole.x1 <= figure.get_figwidth()
    assert whole.y1 <= figure.get_figheight()


@pytest.mark.parametrize(
    ("kind", "option", "value"),
    [
        ("fedavg_bias", "probabilities", [0, 0.5]),
        ("fedavg_bias", "probabilities", 0.5),
        ("fedavg_bias", "repetitions", 1),
        ("mixing_norm", "clients", 40),
        ("mixing_norm", "virtual_clients", [5]),
        ("mixing_norm", "group_probabilities", [0.5]),
        ("mixing_norm", "group_probabilities", []),
        ("mixing_bound", "virtual_clients", [0, 1]),
        ("mixing_bound", "probabilities", [0.5, 0.5]),
        ("echoing", "gamma", 0.9),
        ("echoing", "rounds", 5),
        ("slips", "alphas", [0.1, -1]),
        ("local_fill", "rates", [0, 0.5]),
        ("local_fill", "moved", 1),
        ("push_sum_drain", "degree", 4),
        ("inverse_weighting", "tau", 0),
        ("inverse_weighting", "ages", [1]),
        ("aggregation_bound", "repetitions", 201),
        ("aggregation_bound", "dispersion", 0),
        ("aggregation_error", "method", "sgf"),
        ("aggregation_error", "outages", [0, 2.5]),
        ("aggregation_error", "outages", [0, 3]),
        ("aggregation_error", "mean_off", 0.5),
        ("scalar_toy", "received", "lag_received"),
        ("scalar_toy", "clients", 2),
        ("scalar_toy", "availability", {"kind": "trace", "trace": {"kind": "custom"}}),
        ("scalar_toy", "availability", {"kind": "bernoulli", "probability": 1e-9}),
    ],
)
def test_options_that_cannot_be_used_are_refused(kind, option, value):
    with pytest.raises(InputError, match=f"theory.{option}: "):
        run(kind, **{option: value})


def test_declared_checks_are_checked():
    def declare(**theory):
        return {"study_settings": {"fedswe": {"engine": "server", "theory": theory}, "sfg": {"engine": "gossip"}}}

    slip = {"kind": "slips", **SMALL["slips"]}
    assert declared_checks(declare(mine=slip)) == {"fedswe/mine": slip}
    with pytest.raises(ConfigError, match=r"studies.fedswe.theory.mine: unknown theory check 'slip'.*'slips'"):
        declared_checks(declare(mine={"kind": "slip"}))
    with pytest.raises(ConfigError, match=r"theory.mine: unknown option of theory check slips 'windw'.*'window'"):
        declared_checks(declare(mine=slip | {"windw": 1}))
    with pytest.raises(ConfigError, match=r"theory.mine: theory check 'slips' needs the option 'available'"):
        declared_checks(declare(mine={"kind": "slips"}))


def test_a_check_takes_rules_and_components_of_its_study():
    toy = {"kind": "scalar_toy", **SMALL["scalar_toy"], "methods": ["sfg", "dfedavg"], "topology": "ring"}
    named = {"availability": {"mine": {"kind": "markov", "mean_on": 2, "mean_off": 3}}}
    study = {"engine": "gossip", "named": named, "methods": {name: {"rule": rule} for name, rule in RULES.items()}}

    def declare(**changes):
        return declared_checks({"study_settings": {"sfg": study | {"theory": {"toy": toy | changes}}}})["sfg/toy"]

    check = declare(availability="mine")
    assert check["methods"] == {"sfg": RULES["sfg"], "dfedavg": RULES["dfedavg"]}
    assert check["topology"] == {"kind": "ring"}
    assert check["availability"] == named["availability"]["mine"]
    assert set(modules(check, "gossip")) == {
        "outagefl.analysis.theory.scalar_toy", "outagefl.rules.gossip.sfg", "outagefl.rules.gossip.dfedavg",
        "outagefl.inputs.topology.ring", "outagefl.inputs.availability.markov",
    }  # fmt: skip
    with pytest.raises(ConfigError, match=r"theory.toy.methods: unknown method 'sgf'.*'sfg'"):
        declare(methods=["sgf"])
    with pytest.raises(ConfigError, match=r"theory.toy.methods: 'sfg' is not a list of methods"):
        declare(methods="sfg")
    with pytest.raises(ConfigError, match=r"theory.toy: topology: unknown topology 'rin'.*'ring'"):
        declare(topology="rin")


@pytest.mark.parametrize(
    ("theory", "words"),
    [
        ({"mine": {"window": 5}}, "theory.mine: 'kind' is a required property"),
        ({"mine_values": {"kind": "slips"}}, "theory: 'mine_values' does not match"),
        ({"mine": "slips"}, "theory.mine: 'slips' is not of type 'object'"),
    ],
)
def test_a_study_cannot_declare_a_check_without_a_kind_or_with_a_bad_name(theory, words):
    config.check({"theory": {"mine": {"kind": "slips", "window": 5}}}, "study", "study", partial=True)
    study = {"title": "", "engine": "", "setting": {}, "methods": {}, "seeds": 1, "theory": theory}
    study["analysis"] = {"baseline": "a", "tail": 0.1, "equivalence_margin": 1}
    study["experiments"] = {"one": {"title": "", "methods": ["a", "b"]}}
    with pytest.raises(ConfigError, match=words):
        config.check(study, "study", "study")


def test_fedavg_closed_form_by_hand():
    # The last pair: client 2 alone in 0.81 of the rounds, both in 0.09, nobody in 0.09.
    p = np.array([[0.5, 0.5], [1, 1], [0, 0.3], [0.1, 0.9]])
    expected = [50, 50, 100, (0.9 * 0.9 * 100 + 0.09 * 50) / (1 - 0.9 * 0.1)]
    assert fedavg_bias.expected_output(p) == pytest.approx(expected)


def test_fedavg_simulation_by_hand():
    # Client 2 alone, always available: after two rounds of two steps with 0.5 the rest of the way is 1/16.
    options = {"rounds": 2, "repetitions": 3, "learning_rate": 0.5, "steps": 2}
    x = fedavg_bias.simulate(generator(0, "test"), np.array([[0.0, 1.0], [1.0, 1.0]]), **options)
    assert x[0] == pytest.approx([100 * (1 - 1 / 16)] * 3)
    assert x[1] == pytest.approx([50 * (1 - 1 / 16)] * 3)


def test_fedavg_is_biased_by_unequal_availability():
    checked = run("fedavg_bias")
    formula, unequal, equal = checked.findings
    assert formula.holds
    assert unequal.holds
    assert equal.holds
    assert unequal.expected == pytest.approx(80 + 0.2 * 50)
    assert unequal.low < unequal.expected < unequal.high
    assert not run("fedavg_bias", rounds=1).findings[0].holds  # far from the limit the formula is wrong


def test_slips():
    assert slips.weights(available=10, k=10) == pytest.approx((1.45, 1))
    assert slips.weights(available=1, k=3) == pytest.approx((1, 1))  # where (6) as printed happens to be right
    printed, algorithm, halves, alpha = run("slips").findings
    assert not printed.holds
    assert printed.computed == pytest.approx(1 + 3 / 8)
    assert algorithm.holds
    assert not halves.holds
    assert halves.computed == 6
    assert run("slips", window=11).findings[2].computed == 6  # t = 0 … 5 of 0 … 10
    assert not alpha.holds
    assert alpha.computed < alpha.expected


def test_heterogeneity_by_its_extremes():
    draws = generator(0, "test")
    assert slips.heterogeneity(draws, 1e6, 4, 3) == pytest.approx(np.zeros(3), abs=0.01)
    assert slips.heterogeneity(draws, 1e-3, 4, 3) == pytest.approx(np.full(3, 0.75), abs=0.01)


def test_intervals_of_means():
    mean, low, high = mean_interval([1.0, 2, 3, 4])
    assert mean == 2.5
    assert (low, high) == pytest.approx((0.4457, 4.5543), abs=1e-4)  # t quantile 3.1824 times 1.2910 / 2
    assert np.diff(mean_interval([1.0, 2, 3, 4], 10)[1:]) > high - low


def test_findings_for_readers():
    findings = [
        Finding("So it is", "Lemma 1", np.nan, -3.25, False, "no, <see>"),
        Finding("And so", "(2)", 2, 2.00001, True, "yes", 1.5, 2.5),
    ]
    shown = findings_table(tabulate(findings, "fedswe", "slips"))
    assert shown.index.tolist() == ["fedswe slips 1", "fedswe slips 2"]
    assert shown.iloc[0].tolist() == ["So it is (Lemma 1)", "no", "–", "−3.25", "–", "no, <see>"]
    assert shown.iloc[1].tolist() == ["And so ((2))", "yes", "2", "2", "1.5\u00a0…\u00a02.5", "yes"]
