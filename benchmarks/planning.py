"""What planning takes, by hand: ``python benchmarks/planning.py [SCALE …]`` (all studies; without a scale, all scales).

Prints for every scale seconds of processor time: to read the configuration (and schemas, the first time), for the plan
without fingerprints of code, for these (in the first scale mostly: a process reads a module once), and to find the jobs
when no run exists and when all do. What Snakemake adds: ``time snakemake -n --config scale=paper``.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow"))
from outagefl import config
from outagefl.files import write_json
from outagefl.fingerprint import digests, used
from outagefl.provenance.records import checksum, sealed
from outagefl.runs import plan as planning
from outagefl.runs.index import write_index
from outagefl.runs.jobs import Jobs, index_rows, plan_jobs
from outagefl.sources.catalog import sources

CONFIG = Path(__file__).parents[1] / "config"
spent: dict[str, float] = {}


def timed(name: str, action: Any) -> Any:
    """The action, with the processor time of its calls added to ``spent[name]``."""

    def run(*arguments: Any) -> Any:
        start = time.process_time()
        try:
            return action(*arguments)
        finally:
            spent[name] = spent.get(name, 0) + time.process_time() - start

    return run


def finish(plan: planning.Plan, root: Path, scale: str) -> None:
    """Empty files for everything that planning looks for."""
    for file in [*(f"{run}/{name}" for run in plan.runs for name in ("metrics.parquet", "run.json")), *plan.choices]:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).touch()
    code = digests(used(["outagefl.runs.index"], ["index.py"]))
    for name, experiment in plan.experiments.items():
        index = root / scale / name / "runs.csv"
        write_index(index_rows(experiment), root, index)
        content = {"made": {str(index): checksum(index)}, "from": {}, "code": code}
        write_json(root / "provenance" / "index" / scale / f"{name}.json", sealed(content))


def main(scales: list[str]) -> None:
    """Print a line per scale."""
    studies = sorted(path.stem for path in (CONFIG / "studies").glob("*.yaml"))
    planning.closure = timed("fingerprints", planning.closure)  # type: ignore[attr-defined]
    for scale in scales or sorted(path.stem for path in (CONFIG / "scales").glob("*.yaml")):
        spent.clear()
        settings = {**config.read_yaml(CONFIG / "config.yaml"), "scale": scale, "studies": studies}
        resolved = timed("configuration", config.load)(settings, CONFIG)
        plan = timed("plan", planning.make_plan)(resolved, sources(CONFIG / "sources.yaml", {}))
        spent["plan"] -= spent.setdefault("fingerprints", 0)
        with tempfile.TemporaryDirectory() as results:
            jobs = timed("jobs of none", plan_jobs)(plan, Path(results), scale, resolved["runs_per_job"])
            finish(plan, Path(results), scale)
            left = timed("jobs of all", plan_jobs)(plan, Path(results), scale, resolved["runs_per_job"])
        assert left == Jobs({}, {}, [], [])
        told = "  ".join(f"{name} {seconds:.2f}" for name, seconds in spent.items())
        print(f"{scale}: {len(plan.runs):,} runs, {len(plan.inputs)} inputs, {len(jobs.runs):,} jobs:  {told}")


if __name__ == "__main__":
    main(sys.argv[1:])
