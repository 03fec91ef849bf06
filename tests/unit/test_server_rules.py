"""Server rules by hand: two or three clients, one or two parameters."""

from functools import partial
from importlib import import_module

import numpy as np
import pytest
import torch

from outagefl import components
from outagefl.engines.server import advance, consensus_error, evaluated_model, memory_of, start
from outagefl.errors import ConfigError, InputError

RULES = {
    "fedavg_active": {},
    "fedavg_all": {},
    "fedavg_known": {},
    "fedau": {"longest_interval": 3},
    "f3ast": {"beta": 0.5, "initial": "first_round"},
    "gfedavg": {"period": 2, "amplification": 10},
    "mifa": {},
    "fedvarp": {},
    "fedswe": {"k": 2, "innovation_clip": None},
}


class Fixed:
    """Moves client i by −G_i, whatever it starts from."""

    def __init__(self, *innovations):
        self.innovations = torch.tensor(innovations)

    def train(self, rows, clients, round_number, rounds_done):
        for row, client in zip(rows, clients, strict=True):
            row.sub_(self.innovations[client])


def play(kind, available, innovations, *, p=0.5, x=0.0, eta_g=1.0, **options):
    """The state after the rounds of ``available``, (T, m), and x after each."""
    step, options = components.load("server rule", {"kind": kind, **RULES[kind], **options})
    available = np.array(available, dtype=bool)
    rounds, clients = available.shape
    x0 = torch.full((1,), x)
    state = start(x0, import_module(step.__module__).memory(clients, x0, **options), clients, rounds)
    path = []
    for online in available:
        known = None if p is None else np.full(clients, p)
        advance(state, partial(step, **options), Fixed(*([g] for g in innovations)), online, known, eta_g)
        path.append(float(state.model[0]))
    return state, path


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("fedavg_active", [-2.0, -6.0]),  # means of G over {0} and {0, 1}: 2, 4
        ("fedavg_all", [-1.0, -5.0]),  # 2/2, (2 + 6)/2
        ("fedavg_known", [-2.0, -10.0]),  # the same over p = 0.5
        ("mifa", [-1.0, -5.0]),
        ("fedvarp", [-2.0, -6.0]),  # round 1: mean(2 − 0); round 2: mean(0, 6) + (2 + 0)/2 = 4
        ("fedau", [-1.0, -5.0]),  # nobody has completed an interval of more than one round before
        ("f3ast", [-1 / 0.75, -1 / 0.75 - (2 / 0.875 + 6 / 0.625) / 2]),  # r₀ = 1/2; r = .75, .25; r = .875, .625
        ("gfedavg", [-2.0, -60.0]),  # after two rounds ten times the way from 0
        ("fedswe", [-2 / 3, (-2 / 3 - 2 + 0 - 2 * 6 + 2 * -2 / 3) / 4]),
    ],
)
def test_two_rounds_by_hand(kind, expected):
    _, path = play(kind, [[1, 0], [1, 1]], [2.0, 6.0])
    assert path == pytest.approx(expected)


@pytest.mark.parametrize("kind", sorted(RULES.keys() - {"mifa", "gfedavg"}))
def test_rounds_with_nobody_change_nothing(kind):
    _, path = play(kind, [[0, 0]] * 3 + [[1, 1]] + [[0, 0]] * 2, [2.0, 6.0])
    assert path[:3] == [0, 0, 0]
    assert path[3] == path[4] == path[5] != 0


def test_mifa_goes_on_with_nobody():
    _, path = play("mifa", [[1, 1], [0, 0], [0, 0]], [2.0, 6.0])
    assert path == [-4, -8, -12]


def test_gfedavg_amplifies_by_the_clock_and_leaves_the_model_from_before():
    state, path = play("gfedavg", [[1, 1], [0, 0]], [1.0, 1.0])
    assert path == [-1, -10]
    assert float(state.memory["unamplified"]) == -1
    assert float(state.memory["anchor"]) == -10


@pytest.mark.parametrize("kind", sorted(RULES.keys() - {"mifa", "gfedavg"}))
def test_a_round_with_nobody_is_safe_at_any_learning_rate(kind):
    _, path = play(kind, [[0, 0]], [2.0, 6.0], x=1.5, eta_g=1e39)
    assert path == [1.5]


def test_fedswe_with_a_huge_k_stays_where_it_is():
    _, path = play("fedswe", [[1, 1]], [2.0, 6.0], x=1.5, k=1e300)
    assert path == [1.5]


@pytest.mark.parametrize("kind", RULES)
def test_a_single_client_alone(kind):
    state, _ = play(kind, [[1], [0], [1]], [1.0], p=1.0)
    assert torch.isfinite(state.model).all()


@pytest.mark.parametrize("kind", sorted(RULES.keys() - {"fedavg_known"}))
def test_a_client_that_never_comes_has_no_say(kind):
    stays_away = [[1, 0]] * 4
    assert play(kind, stays_away, [1.0, 7.0], p=None)[1] == play(kind, stays_away, [1.0, -100.0], p=None)[1]


def test_fedavg_known_needs_probabilities_above_zero():
    assert play("fedavg_known", [[0, 0]], [1.0, 1.0], p=0)[1] == [0]
    with pytest.raises(InputError, match="client 1 is available in round 2, but its probability is 0"):
        play("fedavg_known", [[0, 0], [0, 1]], [1.0, 1.0], p=0)
    with pytest.raises(ConfigError, match="needs an availability of kind 'independent'"):
        play("fedavg_known", [[1, 1]], [1.0, 1.0], p=None)


def test_fedau_weighs_by_completed_intervals_and_closes_long_ones():
    # Client 0 comes in rounds 2 and 4: intervals 2 and 2. Client 1 comes in rounds 1 and 7: an interval of 1, then
    # three absences close one of 3, and the running one (2 absences and the return) counts only later.
    available = [[0, 1], [1, 0], [0, 0], [1, 0], [0, 0], [0, 0], [0, 1]]
    _, path = play("fedau", available, [1.0, 10.0])
    steps = -np.diff([0, *path])
    assert steps == pytest.approx([5, 0.5, 0, 1, 0, 0, 10])  # 1/2·10·1, 1/2·1, -, 1/2·1·2, -, -, 1/2·10·mean(1, 3)


def test_f3ast_may_start_from_one_and_waits_for_the_first_client():
    assert play("f3ast", [[1, 0]], [3.0, 0.0], initial="one")[1] == pytest.approx([-1.5])
    assert play("f3ast", [[0, 0], [1, 0]], [3.0, 0.0])[1] == pytest.approx([0, -1.5 / 0.75])
    with pytest.raises(ConfigError, match="did you mean 'first_round'"):
        play("f3ast", [[1, 0]], [1.0, 1.0], initial="first_rund")


def test_fedswe_echoes_the_missed_rounds_and_keeps_who_was_away():
    state, path = play("fedswe", [[1, 0], [0, 0], [1, 1]], [1.0, 10.0], k=0)
    # round 1: x = x_0 = −1; round 3: client 0 echoes 2, client 1, which starts from its own 0, echoes 3
    assert path == pytest.approx([-1, -1, ((-1 - 2) + (0 - 30)) / 2])
    assert state.memory["last"].tolist() == [2, 2]
    away, _ = play("fedswe", [[1, 0]], [1.0, 10.0], k=0)
    assert away.memory["client_models"].flatten().tolist() == [-1, 0]
    assert float(evaluated_model(away, "client_mean")) == -0.5
    assert float(evaluated_model(away, "global")) == -1
    assert consensus_error(away.memory["client_models"]) == pytest.approx(0.25)


@pytest.mark.parametrize(("k", "expected"), [(0, -0.5), (1, -0.25)])
def test_the_released_code_clips_the_mean_innovation(k, expected):
    assert play("fedswe", [[1]], [4.0], k=k, innovation_clip=0.5)[1] == [expected]
    assert play("fedswe", [[1]], [0.1], k=0, innovation_clip=0.5)[1] == pytest.approx([-0.1])


@pytest.mark.parametrize("kind", RULES)
def test_the_global_learning_rate_scales_the_first_step(kind):
    once, twice = (play(kind, [[1, 1]], [2.0, 6.0], eta_g=eta_g)[1][0] for eta_g in (1, 2))
    assert twice == pytest.approx(2 * once)


@pytest.mark.parametrize(
    ("kind", "server", "client"),
    [("fedavg_active", 1, 0), ("gfedavg", 2, 0), ("mifa", 4, 0), ("fedvarp", 4, 0), ("fedau", 10, 0), ("fedswe", 4, 1)],
)
def test_memory_is_told_apart_between_server_and_clients(kind, server, client):
    state, _ = play(kind, [[1, 0, 1]], [1.0, 1.0, 1.0])
    assert memory_of(state) == (server, client)  # d = 1, m = 3: numbers, a round's number per client included


def test_what_is_evaluated_must_exist():
    state, _ = play("fedavg_active", [[1, 1]], [1.0, 1.0])
    assert evaluated_model(state, "client_mean") is state.model
    with pytest.raises(ConfigError, match="did you mean 'global'"):
        evaluated_model(state, "globl")
