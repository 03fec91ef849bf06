"""What is computed again after an edit: the rows of the table in ``docs/incremental.md``, asked of Snakemake itself."""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.workflow import workspaces
from tests.workflow.conftest import REPOSITORY, Project

SHOWN = {
    "sfg/outages": ["figure accuracy_over_rounds", "figure self_weight", "table wins"],
    "sfg/margins": ["figure paired_differences", "table chosen_values"],
    "fedswe/dynamics": ["figure accuracy_over_rounds", "table accuracy_table"],
    "dflaa/loss": ["figure accuracy_over_time", "table accuracy_loss_auc"],
}
COMPARISONS = [f"comparisons {experiment}" for experiment in SHOWN]
DFEDAVG = "run sfg/dfedavg-digits-bernoulli-s0"  # of both experiments of the study
SFG = ["run sfg/sfg-digits-bernoulli-s0", "run sfg/sfg-digits-trace-custom-s0"]
FOLLOWING = ["run sfg/dfedavg-digits-trace-custom-s0", SFG[1]]  # runs that follow a trace
OUTAGES = [DFEDAVG, SFG[0], *FOLLOWING]
VALIDATION = ["run sfg/sfg_cut-digits-bernoulli-s1000"] * 2  # two candidates
CUT = ["run sfg/sfg_cut-digits-bernoulli-s0"] * 2  # with a margin that is given, and with one that is chosen
MARGINS = [*VALIDATION, *CUT]
CHOICE = ["choice sfg/sfg_cut-margin-best_mean-digits"]
DYNAMICS = [f"run fedswe/{rule}-digits-independent-sine-s0" for rule in ("fedswe", "fedswe", "fedavg_active")]
LOSS = [f"run dflaa/{rule}-digits-homogeneous-s0" for rule in ("dflaa", "swift")]
PHONES = "availability trace-custom-offline-0-0-False-when_needed"
NEW_SEED = [
    f"input {name}-s1" for name in ("partition dirichlet-1.0-10", "topology ring", "availability bernoulli-0.333")
]
NEW_SEED += [f"input {PHONES}-s1", *(run.replace("-s0", "-s1") for run in [*OUTAGES, *CUT])]
THEORY = ["theory sfg slips", "findings"]
REPORT = ["report"]


def shown(*experiments: str, kind: str = "") -> list[str]:
    """The jobs that draw or tabulate experiments."""
    return [job.replace(" ", f" {each} ") for each in experiments for job in SHOWN[each] if job.startswith(kind)]


FIGURES = shown(*SHOWN, kind="figure")


def aggregated(*experiments: str) -> list[str]:
    """What follows when the runs of experiments are others than before."""
    jobs = [f"{job} {each}" for job in ("index", "comparisons") for each in experiments]
    return [*jobs, *shown(*experiments), "claims", "runs"]


@dataclass(frozen=True)
class Row:
    """An edit and what it leads to: in words, as they are in the documentation, and as jobs.

    The report, which shows whatever is made, is among the jobs wherever there are any.

    ``change`` edits the project; it may return more for the call of Snakemake: arguments, scale, config, environment.
    """

    edit: str
    again: str
    change: Callable[[Project], dict[str, Any] | None]
    planned: list[str]


def in_code(file: str, more: str = "\nEDITED = True\n") -> Callable[[Project], None]:
    """Append to a module of the library."""

    def change(project: Project) -> None:
        path = project.root / "workflow" / "outagefl" / file
        path.write_text(path.read_text() + more)

    return change


def in_study(change: Callable[[dict], object]) -> Callable[[Project], None]:
    """Change the settings of the first study."""
    return lambda project: project.change(change)


def in_file(name: str, old: str, new: str) -> Callable[[Project], None]:
    """Replace text in a file."""

    def change(project: Project) -> None:
        path = project.root / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))

    return change


def in_comments(project: Project) -> None:
    """In everything that is code or configuration."""
    below = [path for name in ("config", "workflow") for path in (project.root / name).rglob("*")]
    files = [path for path in below if path.suffix in (".py", ".smk", ".yaml") or path.name == "Snakefile"]
    assert len(files) > 200
    for path in files:
        text = path.read_text()
        if path.suffix == ".py":
            text = re.sub(r'^( *)"""(?=\w)', r'\1"""Edited: ', text, flags=re.MULTILINE)
        path.write_text(f"# A remark.\n{text}\n# Another one.\n")


def reformat(project: Project) -> None:
    before = [path.read_text() for path in (project.root / "workflow").rglob("*.py")]
    command = [Path(sys.executable).parent / "ruff", "format", "--isolated", "--line-length=70", "workflow"]
    subprocess.run(command, cwd=project.root, check=True, capture_output=True)
    assert before != [path.read_text() for path in (project.root / "workflow").rglob("*.py")]
    for name in ("config.yaml", "scales/tiny.yaml", "claims.yaml", "sources.yaml"):
        path = project.root / "config" / name
        path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()), sort_keys=False, default_flow_style=True))


def in_published_values(project: Project) -> None:
    for name in ("dflaa", "dflaa_curves"):
        path = project.root / "config" / "published" / f"{name}.csv"
        path.write_text(path.read_text().rpartition("\n")[0].rpartition("\n")[0] + "\n")  # without its last line


def touch(project: Project) -> None:
    """New times for all files, in an order that has nothing to do with that in which they were made."""
    for path in sorted(project.root.rglob("*"), key=lambda path: path.name):
        if path.is_file() and ".snakemake" not in path.parts:
            path.touch()


def elsewhere(project: Project) -> None:
    place = project.root.parent / "an other place, ö"
    project.root.rename(place)
    project.root = place


def other_main_configuration(project: Project) -> dict[str, Any]:
    (project.root / "config" / "config.yaml").rename(project.root / "mine.yaml")
    return {"arguments": ("--configfile", "mine.yaml")}


def other_scale_name(project: Project) -> dict[str, Any]:
    project.tiny.rename(project.tiny.with_stem("small"))
    return {"scale": "small"}


def delete(name: str) -> Callable[[Project], None]:
    """Remove the one file that a pattern fits, relative to the results."""

    def change(project: Project) -> None:
        [path] = (project.root / "results").glob(name)
        path.unlink()

    return change


def upgrade_packages(project: Project) -> dict[str, Any]:
    """Other versions of all packages whose versions a run records, and other locks and environments."""
    for name in ("torch", "numpy", "scipy", "pandas", "pyarrow"):
        info = project.root / "site" / f"{name}-99.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 99.0\n")
    for path in (project.root / "envs").iterdir():
        path.write_text(re.sub(r"==?\d[\w.]*", "==99.0", path.read_text()))
    return {"environment": {"PYTHONPATH": str(project.root / "site")}}


def upgrade_python(project: Project) -> dict[str, Any]:
    """Syntax trees as Python 3.12 and later have them: functions and classes have one more field."""
    site = project.root / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import ast\n"
        "for kind in (ast.FunctionDef, ast.ClassDef):\n"
        "    kind._fields += ('a_field_of_later_versions',)\n"
        "    kind.a_field_of_later_versions = []\n"
    )
    return {"environment": {"PYTHONPATH": str(site)}}


TABLE = [
    Row(
        "the style of figures (`analysis/style.py`)",
        "all figures, those of the theory with their checks, and the claims, which rest on these",
        in_code("analysis/style.py"),
        [*FIGURES, *THEORY, "claims"],
    ),
    Row(
        "one figure's code",
        "that figure",
        in_code("analysis/figures/self_weight.py"),
        ["figure sfg/outages self_weight"],
    ),
    Row(
        "one table's code",
        "that table",
        in_code("analysis/tables/wins.py"),
        ["table sfg/outages wins"],
    ),
    Row(
        "the statistics (`analysis/statistics.py`)",
        "comparisons, claims, and the figures and tables that use it",
        in_code("analysis/statistics.py"),
        [*COMPARISONS, *FIGURES, "table sfg/outages wins", "claims"],
    ),
    Row(
        "a rule's code (`rules/gossip/sfg.py`)",
        "its runs, and what is made from them",
        in_code("rules/gossip/sfg.py"),
        [*SFG, *aggregated("sfg/outages")],
    ),
    Row(
        "a model's code (`models/cnn.py`)",
        "the runs with that model, choices made from them, and what is made from both",
        in_code("models/cnn.py"),
        [*OUTAGES, *MARGINS, *CHOICE, *aggregated("sfg/outages", "sfg/margins")],
    ),
    Row(
        "the trainer (`training/local_trainer.py`)",
        "all runs, and what is made from them",
        in_code("training/local_trainer.py"),
        [*OUTAGES, *MARGINS, *CHOICE, *DYNAMICS, *LOSS, *aggregated(*SHOWN)],
    ),
    Row(
        "the style of the report (`report/page.css`)",
        "the report",
        in_file("report/page.css", "1.9rem", "2rem"),
        REPORT,
    ),
    Row("comments and docstrings, wherever they are", "nothing", in_comments, []),
    Row("the formatting of code and configuration", "nothing", reformat, []),
    Row(
        "a new seed",
        "its inputs and runs, and what is made from runs of the study",
        in_study(lambda study: study.update(seeds=2)),
        [*NEW_SEED, *aggregated("sfg/outages", "sfg/margins"), "resolved_config"],
    ),
    Row(
        "a new method",
        "its runs, and what is made from runs of the experiment",
        in_study(lambda study: study["experiments"]["outages"]["methods"].append("local")),
        [*(run.replace("/sfg-", "/local-") for run in SFG), *aggregated("sfg/outages"), "resolved_config"],
    ),
    Row(
        "a method removed",
        "no run; what is made from runs of the experiment",
        in_study(lambda study: study["experiments"]["outages"]["methods"].remove("sfg")),
        [*aggregated("sfg/outages"), "resolved_config"],
    ),
    Row(
        "a figure or table added to an experiment",
        "that figure or table",
        in_study(lambda study: study["experiments"]["outages"]["analysis"]["figures"].append("effective_lag")),
        ["figure sfg/outages effective_lag", "resolved_config"],
    ),
    Row(
        "an experiment left out (`skip: true`)",
        "no run; the claims and the list of runs",
        in_study(lambda study: study["experiments"]["margins"].update(skip=True)),
        ["claims", "runs", "resolved_config"],
    ),
    Row(
        "a number in one experiment",
        "its runs, and what is made from them",
        in_study(lambda study: study["experiments"]["margins"].update(setting={"training": {"learning_rate": 0.3}})),
        [DFEDAVG, *MARGINS, *CHOICE, *aggregated("sfg/margins"), "resolved_config"],
    ),
    Row(
        "a published claim",
        "the claims",
        in_file("config/claims.yaml", "published: 4.0", "published: 4.1"),
        ["claims"],
    ),
    Row(
        "published values or curves",
        "the tables and figures that show them",
        in_published_values,
        ["table dflaa/loss accuracy_loss_auc", "figure dflaa/loss accuracy_over_time"],
    ),
    Row(
        "the file of a trace",
        "that trace, the runs that follow it, what is made from them, and the resolved configuration",
        in_file("trace.csv", "3600", "7200"),
        ["input trace custom-60-1", f"input {PHONES}-s0", *FOLLOWING, *aggregated("sfg/outages"), "resolved_config"],
    ),
    Row(
        "`runs_per_job`, `device`, `checkpoint_minutes`",
        "nothing (the resolved configuration, which holds them, is written again)",
        in_file("config/scales/tiny.yaml", "runs_per_job: 16", "runs_per_job: 3"),
        ["resolved_config"],
    ),
    Row("nothing, but files have new times", "nothing", touch, []),
    Row("the place of the folder", "nothing", elsewhere, []),
    Row(
        "the name of `config/config.yaml` (then given as `--configfile`)",
        "the report, whose commands then give all keys",
        other_main_configuration,
        REPORT,
    ),
    Row(
        "the name of a scale's file",
        "no run; everything in `results/<scale>/`, which is another folder then",
        other_scale_name,
        [*THEORY, *aggregated(*SHOWN), "resolved_config"],
    ),
    Row("another scale", "nothing of this one", in_file("config/scales/quick.yaml", "clients: 20", "clients: 21"), []),
    Row(
        "a file of a run deleted",
        "that run, and what is made from runs of its experiments",
        delete("runs/dflaa/swift-*/metrics.parquet"),
        [LOSS[1], *aggregated("dflaa/loss")],
    ),
    Row(
        "a figure or table deleted",
        "that figure or table",
        delete("tiny/sfg/outages/figures/self_weight.pdf"),
        ["figure sfg/outages self_weight"],
    ),
    Row(
        "a partition, graph or the like deleted",
        "nothing before a run needs it",
        delete("inputs/partition/dirichlet-1.0-10-s0-*.npz"),
        [],
    ),
    Row("new versions of packages", "nothing; `run.json` has those that a run was made with", upgrade_packages, []),
    Row("a new version of Python", "nothing; `run.json` has the one that a run was made with", upgrade_python, []),
]


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return workspaces.finished(tmp_path_factory)


def test_a_finished_workspace_plans_nothing(workspace):
    assert workspaces.planned(workspace) == []


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.edit)
def test_an_edit_leads_to_what_depends_on_it_and_nothing_else(workspace, tmp_path, monkeypatch, row):
    project = workspaces.copy(workspace, tmp_path / "project")
    options = row.change(project) or {}
    for name, value in options.pop("environment", {}).items():
        monkeypatch.setenv(name, value)
    planned = workspaces.planned(project, *options.pop("arguments", ()), **options)
    assert planned == sorted(row.planned if row.planned in ([], REPORT) else row.planned + REPORT)


def test_every_file_of_the_scale_is_asked_for_and_so_made_again_when_it_is_missing(workspace):
    [asked] = re.findall(
        r"^(?:local)?rule all:\n +input: (.*)$", workspace.finish("-n", "--force", "all"), re.MULTILINE
    )
    files = (path for path in (workspace.root / "results" / "tiny").rglob("*") if path.is_file())
    assert sorted(asked.split(", ")) == sorted(str(path.relative_to(workspace.root)) for path in files)


def test_the_documentation_has_this_table():
    shown = "\n".join(["| edit | computed again |", "|---|---|", *(f"| {row.edit} | {row.again} |" for row in TABLE)])
    assert shown in (REPOSITORY / "docs" / "incremental.md").read_text()


def test_what_is_computed_again_is_whole_and_all_else_is_kept(workspace, tmp_path):
    project = workspaces.copy(workspace, tmp_path / "project")
    before = workspaces.contents(project)
    in_code("rules/gossip/sfg.py")(project)  # changes the code, not what it computes
    delete("runs/dflaa/swift-*/metrics.parquet")(project)
    kept = {path: path.stat().st_mtime_ns for path in (project.root / "results" / "runs").rglob("metrics.parquet")}
    project.finish("--cores", "2")

    assert workspaces.planned(project) == []
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    after = workspaces.contents(project)
    made = sorted(after.keys() - before.keys())
    assert [workspaces.plain(str(Path(name).parent)) for name in made] == [run.removeprefix("run ") for run in SFG]
    changed = [name for name in before if after[name] != before[name]]  # as runs have other addresses
    assert changed == ["tiny/runs.csv", "tiny/sfg/outages/runs.csv"]
