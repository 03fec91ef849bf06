"""Inbox rules against what the released code of DFL-AA (DFedNexus) computes on given inboxes."""

import json
import os
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch

from outagefl import components
from outagefl.rules.age_and_reception import RECEPTION_RATES
from outagefl.rules.inbox import ad_psgd
from outagefl.rules.inbox_view import InboxView
from outagefl.rules.local_fill import merge

FOLDER = Path(os.environ.get("ORACLE_DIR", Path(__file__).parents[3] / "shared" / "oracles"))
FILES = sorted(FOLDER.glob("gossip_*.json"))


def rules(params):
    """Our rule and its options for each rule of the released code."""
    dflaa = {key: params[key] for key in ("tau", "beta", "c_min", "q_floor")}
    return {
        "dflaa": {"kind": "dflaa", **dflaa, "update_on": "aggregation"},
        "swift": {"kind": "swift", "own_weight": params["swift_self"]},
        "adpsgd": {"kind": "ad_psgd"},
        "softdsgd-uniform": {"kind": "soft_dsgd", "over": "out_neighbours"},
        "softdsgd-in-neighbours": {"kind": "soft_dsgd", "over": "in_neighbours"},
    }


def view_of(event, oracle):
    """What the receiver of an event knows; the released code looks at receptions at aggregation only."""
    messages = event["messages"]
    return InboxView(
        receiver=event["receiver"],
        senders=np.array([message["sender"] for message in messages], dtype=np.int64),
        completeness=np.array([message["completeness"] for message in messages]),
        generated_at=np.array([message["generated_at"] for message in messages]),
        receptions=(),
        out_neighbours=np.array([target for source, target, _ in oracle["edges"] if source == event["receiver"]]),
        lossy=any(loss for *_, loss in oracle["edges"]),
        rng=np.random.default_rng(0),
    )


@pytest.mark.skipif(not FILES, reason=f"no gossip_*.json in {FOLDER} (ORACLE_DIR)")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_rule_follows_the_released_code_at_every_aggregation(path, monkeypatch):
    oracle = json.loads(path.read_text())
    known, loaded = rules(oracle["params"]), {}
    for number, event in enumerate(oracle["events"]):
        view, own = view_of(event, oracle), torch.tensor(event["local"])
        sent = [torch.tensor(message["weights"]) for message in event["messages"]]
        flags = [message["received"] for message in event["messages"]]
        arrived = np.array(flags, dtype=bool).reshape(-1, oracle["num_packets"])
        for name, expected in event["expected"].items():
            if name not in loaded:
                weights, options = components.load("events rule", known[name])
                memory = import_module(weights.__module__).memory(oracle["n"], **options)
                loaded[name] = partial(weights, memory=memory, **options), memory
            rule, memory = loaded[name]
            if expected.get("partner") is not None:
                recorded = view.senders.tolist().index(expected["partner"])
                monkeypatch.setattr(ad_psgd, "partner", lambda entries, rng, recorded=recorded: recorded)
            merged = merge(own, sent, arrived, rule(view), oracle["coords_per_packet"])
            close = partial(np.testing.assert_allclose, rtol=1e-5, err_msg=f"event {number}, {name}")
            close(merged, expected["model"], atol=1e-6 * float(own.abs().max()))
            if "q_hat" in expected:
                rates = [expected["q_hat"].get(str(sender), np.nan) for sender in range(oracle["n"])]
                close(memory[RECEPTION_RATES][event["receiver"]], rates)
