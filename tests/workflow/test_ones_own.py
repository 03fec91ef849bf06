"""A rule and images of one's own, outside the repository, exactly as README and docs print it."""

import hashlib
import json
import re

import numpy as np
import pandas as pd
import yaml
from PIL import Image

from tests.workflow.conftest import REPOSITORY, outagefl, two_runs


def printed(language: str, page: str = "README.md", section: str = "Add your own rule") -> str:
    """The code in this language that a section of a page prints."""
    section = (REPOSITORY / page).read_text().partition(f"## {section}\n")[2].partition("\n## ")[0]
    [code] = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
    return code


def add_rule(project) -> None:
    """Follow the README in this project."""
    rule = project.root / "my_rules" / "rules" / "gossip" / "half_life.py"
    rule.parent.mkdir(parents=True)
    rule.write_text(printed("python"))
    configure(project, printed("yaml"))


def configure(project, lines: str) -> None:
    """Put lines into the main configuration, in place of the keys that they begin with."""
    main = project.root / "config" / "config.yaml"
    kept = {key: value for key, value in yaml.safe_load(main.read_text()).items() if key not in yaml.safe_load(lines)}
    main.write_text(yaml.safe_dump(kept) + lines)


def test_the_rule_of_the_readme_gets_its_runs_tests_rows_and_lines(finished):
    add_rule(finished)
    before = finished.metrics()
    finished.finish("--cores", "2")
    after = finished.metrics()
    assert before.items() <= after.items()
    assert len(after) == len(before) + 2  # seeds
    assert all("/half_life-" in run for run in after.keys() - before.keys())
    outages = finished.root / "results" / "tiny" / "sfg" / "outages"
    compared = pd.read_csv(outages / "comparisons.csv")
    assert {"sfg", "half_life"} <= set(compared["method"])
    assert "half life" in (outages / "comparison.html").read_text()
    index = hashlib.sha256((outages / "runs.csv").read_bytes()).hexdigest()
    for figure in ("accuracy_over_rounds", "paired_differences", "self_weight"):
        record = finished.root / "results" / "provenance" / "figure" / "tiny" / "sfg" / "outages" / f"{figure}.json"
        assert json.loads(record.read_text())["from"]["results/tiny/sfg/outages/runs.csv"] == index, figure
    assert finished.planned() == {}
    told = outagefl(finished, "verify", "results/tiny")
    assert told.returncode == 0, told.stdout

    rule = finished.root / "my_rules" / "rules" / "gossip" / "half_life.py"
    rule.write_text(rule.read_text().replace("0.5 **", "0.25 **"))
    assert (
        "made by code that has changed since: outagefl.rules.gossip.half_life"
        in outagefl(finished, "verify", "results/tiny").stdout
    )
    why = outagefl(finished, "why", "--config", "scale=tiny").stdout
    assert "2 × train: new; the nearest finished run has code" in why
    assert "outagefl.rules.gossip.half_life" in why


def test_a_folder_that_is_not_there_is_named(project):
    told = project.fail("-n", config="plugins=[nowhere]")
    assert f"outagefl: config: plugins: {project.root / 'nowhere'}: expected an existing folder" in told


def test_the_images_of_the_docs_are_trained_on(project):
    noise = np.random.default_rng(0)
    for part, images in (("train", 40), ("test", 20)):
        for animal in ("cat", "dog"):
            folder = project.root / "my_images" / part / animal
            folder.mkdir(parents=True)
            for number in range(images):
                pixels = noise.integers(0, 128, (8, 8, 3), dtype=np.uint8) + (100 if animal == "dog" else 0)
                Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{number:04}.png")
    configure(project, printed("yaml", "docs/your_own.md", "Bring your own images"))
    project.change(two_runs)
    project.finish("--cores", "2", "results/tiny/sfg/outages/comparison.html")
    assert all("-own_images-" in run for run in pd.read_csv(project.root / "results/tiny/sfg/outages/runs.csv")["run"])
