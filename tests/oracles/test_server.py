"""Server rules against what the released code of FedAWE computes on quadratic losses."""

import json
import os
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch

from outagefl import components
from outagefl.engines.server import advance, evaluated_model, start

FOLDER = Path(os.environ.get("ORACLE_DIR", Path(__file__).parents[3] / "shared" / "oracles"))
FILES = sorted(FOLDER.glob("server_*.json"))
RULES = {
    "fedavg": {"kind": "fedavg_active"},
    "fedall": {"kind": "fedavg_all"},
    "fedknown": {"kind": "fedavg_known"},
    "fedau": {"kind": "fedau", "longest_interval": 50},
    "mifa": {"kind": "mifa"},
    "fedvarp": {"kind": "fedvarp"},
    "fedawe": {"kind": "fedswe", "k": 0, "innovation_clip": 0.5},
}


class QuadraticTrainer:
    """SGD on ½‖w − u_i‖² with the step η0 / √(t/10 + 1)."""

    def __init__(self, oracle):
        self.u = torch.tensor(oracle["u"])
        self.steps, self.eta0 = oracle["local_steps"], oracle["eta0"]

    def train(self, rows, clients, round_number, rounds_done):
        rate = self.eta0 / ((round_number - 1) / 10 + 1) ** 0.5
        for row, client in zip(rows, clients, strict=True):
            for _ in range(self.steps):
                row.sub_(rate * (row - self.u[client]))


@pytest.mark.skipif(not FILES and "ORACLE_DIR" not in os.environ, reason=f"no server_*.json in {FOLDER} (ORACLE_DIR)")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_rule_follows_the_released_code_in_every_round(path):
    oracle = json.loads(path.read_text())
    step, options = components.load("server rule", RULES[oracle["method"]])
    x = torch.tensor(oracle["w0"])
    memory = import_module(step.__module__).memory(oracle["m"], x, **options)
    state = start(x, memory, oracle["m"], oracle["rounds"])
    trainer = QuadraticTrainer(oracle)
    for t, expected in enumerate(oracle["trajectory"]):
        available, p = np.array(oracle["available"][t], dtype=bool), np.array(oracle["p"][t])
        advance(state, partial(step, **options), trainer, available, p, oracle["eta_g"])
        close = partial(
            np.testing.assert_allclose, rtol=1e-5, atol=1e-5 * np.abs(oracle["u"]).max(), err_msg=f"round {t}"
        )
        close(state.model, expected["x"])
        if "local" in expected:
            close(state.memory["client_models"], expected["local"])
            close(evaluated_model(state, "client_mean"), expected["evaluated"])
