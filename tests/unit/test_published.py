"""Published values: what is typed in agrees with the paper, stands beside the right runs, and mistakes are told."""

import re
from pathlib import Path

import pandas as pd
import pytest

from outagefl.analysis.indexes import read_index
from outagefl.analysis.published import published_beside, read_published
from outagefl.errors import DataError
from tests.unit.synthetic_runs import server_spec, write_server_runs

FILE = Path(__file__).parents[2] / "config" / "published" / "fedswe.csv"
NAMES = {
    "FedSWE (ours, $k=0$ )": "fedswe_k0",
    "FedSWE (ours, $k=100$ )": "fedswe_km",
    "FedAvg over active": "fedavg_active",
    "FedAvg over active clients": "fedavg_active",
    "FedAvg over all": "fedavg_all",
    "FedAvg over all clients": "fedavg_all",
    "gFedAvg": "gfedavg",
    "FedAU": "fedau",
    "F3AST": "f3ast",
    "FedAvg with known $p_{i}$ ’s": "fedavg_known",
    "FedAvg with known $p_{i}^{t}$ ’s": "fedavg_known",
    "MIFA (memory aided)": "mifa",
    "FedVARP (memory aided)": "fedvarp",
}
TASKS = ("svhn", "cifar10", "cinic10")
TARGETS = (20, 40, 60, 80, 15, 30, 45, 60, 10, 20, 30, 40)
DYNAMICS = {"Stationary": "stationary", "Staircase": "staircase", "Sine": "sine"}


def cells_of_the_paper(text):
    """(table, data set, dynamics, γ, α, method, metric, target) → numbers, read from the paper's tables."""
    table = dynamics = ""
    cells = {}
    for line in text.splitlines():
        first, *rest = line.split("\t")
        if first == "Unavailable Dynamics" and rest[0] == "Data sets":
            table = "2" if "SVHN" in line else "8" if "gamma" in line else "9"
        elif first == "Quarters":
            table = "7"
        dynamics = next((name for word, name in DYNAMICS.items() if word in first and rest), dynamics)
        method = NAMES.get(first) or NAMES.get(rest[0] if rest else "")
        if method and table == "7" and len(rest) == 12:
            for place, rounds in enumerate(rest):
                key = (table, TASKS[place // 4], "sine", "0.3", "0.1", method, "rounds", TARGETS[place])
                cells[key] = float(rounds.replace("—", "inf")), None
        elif method and len(numbers := re.findall(r"([\d.]+) \$\\pm\$ ([\d.]+)", line)) == 6:
            for place, (mean, sd) in enumerate(numbers):
                task = TASKS[place // 2] if table == "2" else "svhn"
                gamma = ("0.3", "0.2", "0.1")[place // 2] if table == "8" else "0.3" if dynamics == "sine" else ""
                alpha = ("0.05", "0.1", "1.0")[place // 2] if table == "9" else "0.1"
                metric = ("train", "test")[place % 2]
                cells[table, task, dynamics, gamma, alpha, method, metric, None] = float(mean), float(sd)
    return cells


def test_what_is_typed_in_is_what_the_paper_says(shared):
    paper = cells_of_the_paper((shared / "papers" / "fedswe.txt").read_text())
    assert len(paper) == 90 * 2 + 7 * 12 + 2 * 7 * 3 * 2
    facts = read_published(FILE)
    spec = ["dataset.kind", "availability.probability.kind", "availability.probability.gamma", "partition.alpha"]
    keys = facts[["table", *spec, "method", "metric", "target"]].itertuples(index=False, name=None)
    values = facts[["mean", "sd"]].itertuples(index=False, name=None)
    typed = {
        (*key[:-1], None if pd.isna(key[-1]) else int(key[-1])): (mean, None if pd.isna(sd) else sd)
        for key, (mean, sd) in zip(keys, values, strict=True)
    }
    assert typed == paper


@pytest.fixture
def beside(tmp_path):
    """Published values beside runs of two methods with a spec."""

    def of(spec, path=FILE, metrics=("train", "test")):
        factors = {"availability": "sine"}
        accuracies = {"fedswe_k0": [[0.5]], "my_rule": [[0.5]]}
        index = read_index(write_server_runs(tmp_path, accuracies, rounds=[20], settings=[(factors, spec)]))
        return published_beside(index, tmp_path, path, metrics)

    return of


def test_a_value_stands_beside_what_it_was_published_for(beside):
    found = beside(server_spec("cifar10"))
    assert found[["setting", "method", "metric"]].to_numpy().tolist() == [
        ["sine", "fedswe_k0", "train"],
        ["sine", "fedswe_k0", "test"],
    ]
    assert found[["published_mean", "published_sd"]].to_numpy().tolist() == [[64.9, 1.9], [63.5, 2.0]]


def test_rounds_have_a_target_each(beside):
    found = beside(server_spec(), metrics=["rounds"])
    assert found[["target", "published_mean"]].to_numpy().tolist() == [[20, 40], [40, 120], [60, 200], [80, 820]]


@pytest.mark.parametrize(
    "spec",
    [
        server_spec("digits"),
        server_spec(gamma=0.4),
        server_spec(kind="interleaved"),
        server_spec(base={"kind": "common", "probability": 0.5}),
        server_spec() | {"partition": {"kind": "dirichlet_mix", "alpha": 0.3}},
        server_spec() | {"availability": {"kind": "always"}},
    ],
)
def test_nothing_stands_beside_another_setting(beside, spec):
    assert beside(spec).empty


def test_without_a_table_nothing_is_published(beside):
    assert list(beside(server_spec(), path=None)) == [
        "setting", "method", "metric", "target", "published_mean", "published_sd",
    ]  # fmt: skip


HEADER = "table,partition.alpha,method,metric,target,mean,sd\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("table,method,metric,target,mean\n", "lacks the column 'sd'"),
        (HEADER + "2,0.1,mifa,tset,,84.1,0.4\n", "line 2: unknown metric 'tset'; did you mean 'test'"),
        (HEADER + "2,0.1,mifa,test,,84.1,0.4\n2,0.1,mifa,train,,84.l,0.4\n", "line 3: mean: '84.l'"),
        (HEADER + "2,0.1,mifa,test,,,0.4\n", "line 2: mean: ''"),
        (HEADER + "7,0.1,mifa,rounds,,20,\n", "line 2: target: ''"),
        (HEADER + "2,0.1,mifa,test,,84.1,0.4\n8,0.1,mifa,test,,84.2,0.4\n", "line 3: another value"),
        ("", "not a table of published values"),
    ],
)
def test_a_mistake_names_its_line(tmp_path, text, message):
    file = tmp_path / "study.csv"
    file.write_text(text)
    with pytest.raises(DataError, match=r"study\.csv") as caught:
        read_published(file)
    assert message in str(caught.value)


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.csv: no such table"):
        read_published(tmp_path / "none.csv")
