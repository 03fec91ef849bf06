"""One finished workspace with runs of all engines, for tests to copy, and what Snakemake would do in a copy."""

import re
import shutil
from pathlib import Path

import pytest
import yaml

from tests.workflow.conftest import REPOSITORY, Project, made_once

# Two seconds of training in all, with a trace of one's own, a choice on a validation seed and a theory check.
SETTINGS = """
runs_per_job: 16
studies:
  sfg:
    setting:
      clients: 4
      rounds: 3
      dataset: digits
      partition: {kind: dirichlet, alpha: 1.0, test_images: 10}
      topology: ring
      model: {kind: cnn, channels: [2], hidden: [4]}
      training: {steps: 1, batch_size: 8, learning_rate: 0.2}
      evaluation: {every: 1}
    named:
      trace:
        custom: {kind: custom, slot_minutes: 60, days: 1}
    methods:
      sfg_validated:
        rule: {kind: sfg_cut, gamma: 0.5, margin: {kind: best_mean, candidates: [0, 3], seeds: [1000], tail: 0.5}}
    seeds: 1
    theory:
      slips: {kind: slips, available: 2, virtual_clients: 1, window: 10, alphas: [0.1, 1], classes: 3, clients: 20}
    experiments:
      outages:
        factors: {task: null, topology: null, availability: [bernoulli, custom]}
        methods: [dfedavg, sfg]
        analysis: {figures: [accuracy_over_rounds, self_weight]}
      margins:
        factors: {topology: null, availability: [bernoulli]}
        methods: [dfedavg, sfg_cut, sfg_validated]
        analysis: {figures: [paired_differences]}
  fedswe:
    setting:
      task: digits
      clients: 4
      rounds: 4
      training: {steps: 1, batch_size: 8}
      evaluation: {every: 2, last: 0, train_images: 20}
    presets:
      task:
        digits: {dataset: digits, model: {kind: mlp, hidden: [4], dropout: 0.1}, training.augmentation: none}
    seeds: 1
    experiments:
      dynamics:
        factors: {task: [digits], availability: [sine]}
        methods: [fedswe_k0, fedswe_km, fedavg_active]
        analysis: {figures: [accuracy_over_rounds], tables: [accuracy_table]}
  dflaa:
    setting:
      task: digits
      clients: 5
      horizon: 4
      training: {unit: batches, steps: 1, batch_size: 8}
      chunk: 20
      evaluation: {every: 2}
    presets:
      task:
        digits: {dataset: digits, model: {kind: mlp, hidden: [4], dropout: 0.1}}
    seeds: 1
    experiments:
      loss:
        factors: {task: [digits], protocol: [paper], links.loss: [0.3]}
        methods: [dflaa, swift]
        analysis: {figures: [accuracy_over_time]}
"""
TRACE = "device,start,end\n" + "".join(f"phone-{n},{3600 * n},{3600 * (n + 9)}\n" for n in range(5))
# Text is ASCII where the code does not say otherwise, it is another day, sets have another order, two threads compute.
SURROUNDINGS = {
    "LC_ALL": "C",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
    "TZ": "Pacific/Kiritimati",
    "PYTHONHASHSEED": "1",
    "OMP_NUM_THREADS": "2",
    "OPENBLAS_NUM_THREADS": "2",
    "MKL_NUM_THREADS": "2",
    "PYTHONDONTWRITEBYTECODE": "1",
}
PATIENCE = 1200  # seconds; a machine that has nothing else to do needs about 70
# Records of how results were made, the report, which tells of them, and the configuration, of which some parts change
# no result.
ABOUT = {"logs", "benchmarks", "provenance", ".cache", ".jobs", ".locks", ".workflow.lock"}
ABOUT |= {"run.json", "config.yaml", "report.html"}
# For a copy's Snakefile: names the runs behind the jobs, whose own names are hashes.
TELL_RUNS = '\nprint("to be trained:", *JOBS.of, file=sys.stderr)\n'


def settings() -> dict:
    """The tiny scale, without the experiments and theory checks that it does not have."""
    content = yaml.safe_load(SETTINGS)
    for study, own in content["studies"].items():
        declared = yaml.safe_load((REPOSITORY / "config" / "studies" / f"{study}.yaml").read_text())
        for key in ("experiments", "theory"):
            own[key] = dict.fromkeys(declared[key]) | own.get(key, {})
    return content


def new(root: Path) -> Project:
    """A workspace where nothing has been run."""
    content = settings()
    project = Project.new(root, tuple(content["studies"]))
    project.tiny.write_text(yaml.safe_dump(content, sort_keys=False))
    (root / "trace.csv").write_text(TRACE)
    main = root / "config" / "config.yaml"
    main.write_text(yaml.safe_dump({**yaml.safe_load(main.read_text()), "local": {"custom": "trace.csv"}}))
    with (root / "workflow" / "Snakefile").open("a") as snakefile:
        snakefile.write(TELL_RUNS)
    return project


def finished(factory: pytest.TempPathFactory) -> Project:
    """A finished workspace, not to be changed."""

    def make(root: Path) -> None:
        done = new(root).start("--cores", "2").wait(PATIENCE)
        assert done == 0, (root / "output.log").read_text()[-5000:]

    return made_once(factory, "workspace", make)


def copy(project: Project, root: Path) -> Project:
    """The same in another folder, to be changed at will."""
    return Project(shutil.copytree(project.root, root, symlinks=True))


def planned(project: Project, *arguments: str, **options: str) -> list[str]:
    """What a dry run would do, sorted: ``run <name>`` for runs to be trained, ``<rule> <wildcards>`` for other jobs."""
    output = project.finish("-n", *arguments, **options)
    jobs = []
    for block in re.split(r"^\[.*\]$", output, flags=re.MULTILINE):
        if rule := re.search(r"^(?:local)?rule (\w+):$", block, re.MULTILINE):
            wildcards = re.search(r"^ +wildcards: (.*)$", block, re.MULTILINE)
            values = re.findall(r"=([^,]+)", wildcards[1]) if wildcards else []
            jobs.append(" ".join([rule[1], *map(plain, values)]))
    told = re.search(r"^total +(\d+)$", output, re.MULTILINE)
    assert len(jobs) == (int(told[1]) if told else 0), output
    [runs] = re.findall(r"^to be trained:(.*)$", output, re.MULTILINE)
    trained = [f"run {plain(run)}" for run in runs.split()]
    assert bool(trained) == any(job.startswith("train ") for job in jobs), output
    return sorted([job for job in jobs if job != "all" and not job.startswith("train ")] + trained)


def plain(name: str) -> str:
    """A name without its folder among the runs, suffix and hash."""
    return re.sub(r"-[0-9a-f]{8}(\.\w+)?$", "", name.removeprefix("runs/"))


def contents(project: Project) -> dict[str, bytes]:
    """All that was made, by path below the results."""
    results = project.root / "results"
    files = {path.relative_to(results): path for path in results.rglob("*") if path.is_file()}
    return {str(name): path.read_bytes() for name, path in files.items() if not ABOUT.intersection(name.parts)}
