"""A small project with results that are recorded as jobs and runs record theirs; only the training is left out."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pandas as pd
import yaml
from snakemake.iocontainers import Namedlist

from outagefl.config import load, read_claims
from outagefl.fingerprint import closure, used
from outagefl.provenance.records import circumstances, sealed, write_record
from outagefl.runs.plan import Run
from outagefl.runs.provenance import checksums
from tests.unit.test_config import CONFIG, main_config

REPOSITORY = CONFIG.parent
RULES = {"dfedavg": "outagefl.rules.gossip.dfedavg", "sfg": "outagefl.rules.gossip.sfg"}
PARTITION = "inputs/partition/dirichlet-0.3-s0-00000001.npz"
DATASET = "inputs/dataset/digits-00000002"
CHOICE = "choices/sfg/best_mean-00000003.json"


class Job:
    """What a workflow script sees of its job."""

    def __init__(self, log: str, inputs: list[str], outputs: list[str], code: dict, **params) -> None:
        self.rule = log.split("/", maxsplit=1)[0]
        self.log = [f"results/logs/{log}.log"]
        self.input = inputs
        self.output = outputs
        self.wildcards = Namedlist(fromdict={"name": Path(log).name})
        self.params = Namedlist(fromdict={**params, "code": code})


def run_folder(method: str) -> str:
    return f"runs/sfg/{method}-digits-s0-00000004"


def write_run(root: Path, method: str) -> None:
    """A run with its record, as ``runs.batch.train`` leaves it."""
    path = run_folder(method)
    (root / path).mkdir(parents=True)
    metrics = root / path / "metrics.parquet"
    pd.DataFrame({"round": [1, 2], "value": [0.1, len(method)]}).to_parquet(metrics)
    inputs = {"dataset": DATASET, "partition": PARTITION} | ({"choice": CHOICE} if method == "sfg" else {})
    run = Run({"rule": {"kind": method}, "seed": 0}, inputs)
    record = {"spec": run.spec, "inputs": inputs, "code": closure([RULES[method]]), "device": "cpu"}
    record |= circumstances(time.time())
    record |= checksums(path, metrics, run, root)
    (root / path / "run.json").write_text(json.dumps(sealed(record), indent=2), encoding="utf-8")


def write(path: str, content: str | bytes) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(content if isinstance(content, bytes) else content.encode())


def make_project(folder: Path, monkeypatch, scale: str = "quick") -> Path:
    """A data set, a partition, two runs, a choice and what is told of them, in what becomes the current folder."""
    for name in ("config", "workflow/outagefl", "workflow/scripts", "workflow/schemas", "envs"):
        shutil.copytree(REPOSITORY / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPOSITORY / "workflow" / "Snakefile", folder / "workflow")
    monkeypatch.chdir(folder)
    root, now = Path("results"), time.time()

    def done(log: str, inputs: list[str], outputs: dict[str, str | bytes], code: dict, **params) -> None:
        for path, content in outputs.items():
            write(path, content)
        made = dict.fromkeys(str(Path(path).parent) if "/inputs/dataset/" in path else path for path in outputs)
        job = Job(log, [path for path in inputs if "/runs/" not in path], list(made), code, **params)
        write_record(job, [path for path in inputs if "/runs/" in path], now)

    source = folder.parent / "elsewhere" / "mine.npz"
    write(str(source), b"images")
    done(
        f"input/{DATASET.removeprefix('inputs/')}",
        [str(source)],
        {f"results/{DATASET}/images.npy": b"pixels", f"results/{DATASET}/about.json": "{}"},
        used(["outagefl.datasets.arrays"]),
    )
    done(
        f"input/{PARTITION.removeprefix('inputs/').removesuffix('.npz')}.npz",
        [f"results/{DATASET}"],
        {f"results/{PARTITION}": b"who holds what"},
        used(["outagefl.inputs.partitions"]),
        spec={"seed": 0},
    )
    write(f"results/{DATASET}/.snakemake_timestamp", "")  # as Snakemake does when the job has ended
    write_run(root, "dfedavg")
    metrics = {method: f"results/{run_folder(method)}/metrics.parquet" for method in RULES}
    done(
        f"choice/{CHOICE.removeprefix('choices/').removesuffix('.json')}",
        [metrics["dfedavg"]],
        {f"results/{CHOICE}": json.dumps({"value": 3, "candidates": [{"value": 3}], "seeds": [1000]})},
        used(["outagefl.analysis.choices"]),
    )
    write_run(root, "sfg")
    index, rows = f"results/{scale}/sfg/outages/runs.csv", [["study", "method", "run"]]
    rows += [["sfg", method, run_folder(method)] for method in RULES]
    text = "\n".join(",".join(row) for row in rows) + "\n"
    done(f"index/{scale}/sfg/outages", list(metrics.values()), {index: text}, used((), ["index.py"]))
    folder_of = f"results/{scale}/sfg/outages"
    done(
        f"comparisons/{scale}/sfg/outages",
        [index],
        {f"{folder_of}/comparisons.csv": "method,difference\nsfg,0.0123\n", f"{folder_of}/comparison.html": "<p>α ±"},
        used((), ["comparisons.py"]),
        title="Outages",
    )
    done(
        f"figure/{scale}/sfg/outages/self_weight",
        [index],
        {f"{folder_of}/figures/self_weight.png": b"\x89PNG"},
        used(["outagefl.analysis.figures.self_weight"], ["figure.py"]),
    )
    done(
        f"claims/{scale}",
        [index],
        {f"results/{scale}/claims.csv": "id,verdict\nS3,reproduced\n", f"results/{scale}/claims.html": "<p>S3"},
        used((), ["claims.py"]),
        claims=read_claims(Path("config/claims.yaml")),
    )
    settings = load(main_config(scale=scale, studies=["sfg"]), Path("config"))
    done(f"config/{scale}", [], {f"results/{scale}/config.yaml": yaml.safe_dump(settings)}, used((), ["config.py"]))
    return folder
