"""What README and docs print can be typed, what they name is there, and messages point to sections that exist."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from outagefl.runs.claims import declared_claims
from outagefl.runs.configured import configured
from tests.workflow.conftest import REPOSITORY, Project, two_runs

PAGES = [REPOSITORY / "README.md", REPOSITORY / "config" / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?:^ {4}.*\n)+", re.MULTILINE)
COMMAND = re.compile(r"^ {4}((?:make|\.venv/bin/snakemake|snakemake) .*?)(?: {2,}#.*)?$", re.MULTILINE)
ALL_OF_IT = ("Makefile", "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "pyproject.toml")


def commands(page: Path) -> list[str]:
    """Every command that is printed on a line of its own."""
    return COMMAND.findall("".join(BLOCK.findall(page.read_text())))


def anchors(page: Path) -> set[str]:
    """The anchors that a host of Git repositories gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def whole(folder: Path) -> Project:
    """All of the repository that commands may need, with this environment."""
    project = Project.new(folder)
    for name in ALL_OF_IT:
        shutil.copy(REPOSITORY / name, folder)
    (folder / ".venv").symlink_to(sys.prefix)
    return project


@pytest.fixture(scope="module")
def as_it_is(tmp_path_factory):
    """A copy with the scales of the repository, to be looked at."""
    return whole(tmp_path_factory.mktemp("documentation") / "project")


@pytest.fixture(scope="module")
def tiny_everywhere(tmp_path_factory):
    """A copy with scales of all names that take seconds."""
    project = whole(tmp_path_factory.mktemp("documentation") / "project")
    project.change(two_runs)
    project.change(lambda study: study["experiments"]["outages"].update(analysis={"figures": ["self_weight"]}))
    for name in ("quick", "laptop", "paper"):
        shutil.copy(project.tiny, project.tiny.with_stem(name))
    return project


def call(project, command: str) -> str:
    """What a command of the README prints; make takes the environment that there is for the right one."""
    words = shlex.split(command)
    make = ["--old-file=.venv/.ready", "CORES=2"] if words[0] == "make" else []
    done = subprocess.run(
        ["timeout", "900", *words, *make], cwd=project.root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout + done.stderr


def test_every_command_of_the_readme_works_as_printed(as_it_is, tiny_everywhere, subtests):
    printed = commands(REPOSITORY / "README.md")
    assert len(printed) >= 10
    for command in printed:
        with subtests.test(command):
            if command == "make test":  # this very thing
                assert command in (REPOSITORY / ".ci" / "run").read_text()
            elif "profiles/slurm" in command:  # submitted for real in tests/slurm
                call(tiny_everywhere, command.replace("make reproduce", "make dry-run"))
            elif "make estimate" in command:  # by costs that were recorded for these scales
                assert "Wall time" in call(as_it_is, command)
            else:
                call(tiny_everywhere, command)
    results = tiny_everywhere.root / "results"
    assert (results / "quick" / "report.html").stat().st_size > 100_000
    assert (results / "laptop" / "claims.csv").exists()
    assert (results / "outagefl-quick.zip").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_to_pages_and_headings_that_exist(page):
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text()):
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


def test_sections_that_messages_and_comments_name_exist():
    folders = [REPOSITORY / name for name in ("workflow", "config", "profiles", "report", "benchmarks")]
    files = [
        path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".yaml", ".jinja", ".smk")
    ]
    named = 0
    for file in files:
        text = re.sub(r"\s*\n\s*[#\"'f]*\s*", " ", file.read_text())
        for page, section in re.findall(r'(README(?:\.md)?|docs/\w+\.md)(?:,? "([\w ,]+)\\?")?', text):
            there = REPOSITORY / (page if "/" in page else "README.md")
            assert there.exists(), (file, page)
            assert not section or f"\n## {section}\n" in there.read_text(), (file, page, section)
            named += bool(section)
    assert named >= 4


def test_help_lists_every_target():
    makefile = (REPOSITORY / "Makefile").read_text()
    [targets] = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    told = subprocess.run(["make", "help"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    assert {line.split()[0] for line in told.splitlines() if not line.startswith("Options")} == set(targets.split())


def test_targets_that_pages_name_exist():
    makefile = (REPOSITORY / "Makefile").read_text()
    for page in PAGES:
        code = "\n".join([*commands(page), *re.findall(r"`([^`\n]+)`", page.read_text())])
        for target in re.findall(r"\bmake ([a-z-]+)", code):
            assert f"\n{target}:" in makefile, (page, target)


@pytest.mark.parametrize("scale", ["quick", "laptop", "paper"])
def test_the_readme_counts_runs_and_claims_rightly(scale):
    settings, plan = configured({"scale": scale}, REPOSITORY / "config")
    readme = (REPOSITORY / "README.md").read_text()
    [row] = [line for line in readme.splitlines() if line.startswith(f"| `{scale}`")]
    assert f"| {len(plan.runs):,} |" in row
    assert f"has {sum(map(len, declared_claims(settings, REPOSITORY / 'config').values()))} claims" in readme


def test_the_page_about_the_configuration_has_every_key():
    schema = yaml.safe_load((REPOSITORY / "workflow" / "schemas" / "config.schema.yaml").read_text())
    page = (REPOSITORY / "config" / "README.md").read_text()
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == sorted(schema["properties"])
