"""What a user can get wrong: one clear line, a failing exit code, no half-written file."""

import tarfile

import numpy as np
import pytest
from PIL import Image

from tests.workflow.conftest import two_runs


def litter(project):
    results = project.root / "results"
    return [p for p in results.rglob("*") if ".tmp-" in p.name] if results.exists() else []


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda s: s.update(sedes=3), "unknown key 'sedes'; did you mean 'seeds'?"),
        (lambda s: s["setting"].update(topology="rings"), "unknown topology 'rings'; did you mean 'ring'?"),
    ],
)
def test_a_mistake_in_the_configuration_or_the_plan_ends_before_there_is_a_dag(project, edit, message):
    project.change(edit)
    output = project.fail("-n")
    assert message in output
    assert "Traceback" not in output
    assert "Building DAG" not in output
    assert sum("outagefl:" in line for line in output.splitlines()) == 1


@pytest.mark.parametrize("what", ["dataset", "partition"])
def test_a_target_that_no_run_needs_is_named(project, what):
    told = project.fail("-n", f"results/inputs/{what}/nothing")
    assert f"results/inputs/{what}/nothing: scale tiny has no run with this input" in told


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "config/config.yaml",
            "\nscale: tiny\n",
            "config/config.yaml: not valid YAML: the key 'scale' stands twice, in line",
        ),
        (
            "config/config.yaml",
            "\nplugins: [mine\n",
            "config/config.yaml: not valid YAML: while parsing a flow sequence in",
        ),
        ("other.yaml", "offline: true\noffline: false\n", "other.yaml: not valid YAML: the key 'offline' stands twice"),
    ],
)
def test_a_slip_in_a_file_of_the_main_configuration_is_told_with_its_line(project, file, text, message):
    with (project.root / file).open("a") as stream:
        stream.write(text)
    output = project.fail("-n", "--configfile", "other.yaml") if file == "other.yaml" else project.fail("-n")
    assert message in output
    assert "Traceback" not in output
    assert sum("outagefl:" in line for line in output.splitlines()) == 1


def test_a_configuration_may_stand_in_another_file(project):
    (project.root / "config" / "config.yaml").rename(project.root / "other.yaml")
    assert project.planned("results/tiny/config.yaml", "--configfile", "other.yaml") == {"resolved_config": 1}


def test_inputs_that_cannot_be_made_are_all_told_and_nothing_is_trained(project):
    def ask_for_too_much(study):
        unconnected = {"kind": "erdos_renyi", "degree": 0.01}
        two_runs(study)
        study["experiments"]["outages"]["factors"] |= {
            "clients": [5, 5000],
            "topology": [{"kind": "random_regular", "degree": 3}, unconnected],
        }

    project.change(ask_for_too_much)
    output = project.fail("--cores", "2")
    lines = [line for line in output.splitlines() if line.startswith("outagefl: ")]
    for words in (
        ["clients: 5000", "1438 training images"],
        ["random_regular", "degree"],
        ["erdos_renyi", "connected"],
    ):
        assert any(all(word in line for word in words) for line in lines), output[-3000:]
    assert "Traceback" not in output
    assert not litter(project)
    assert not (project.root / "results" / "runs").exists()


def class_folders(folder):
    """Ten classes of CIFAR-like images, eight for training and two for testing each."""
    rng = np.random.default_rng(0)
    for split, count in (("train", 8), ("test", 2)):
        for name in ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]:
            place = folder / split / name
            place.mkdir(parents=True)
            for number in range(count):
                Image.fromarray(rng.integers(0, 256, (32, 32, 3), dtype=np.uint8)).save(place / f"{number}.png")


def archive_of(folder, archive):
    with tarfile.open(archive, "w:xz") as tar:
        for split in ("train", "test"):
            tar.add(folder / split, split)


def with_cifar10(study):
    two_runs(study)
    study["setting"].update(dataset="cifar10")


def test_a_local_archive_of_class_folders_is_a_source(project, tmp_path):
    class_folders(tmp_path / "images")
    archive_of(tmp_path / "images", tmp_path / "images.tar.xz")
    project.change(with_cifar10)
    project.finish(
        "--cores", "2", "results/tiny/sfg/outages/runs.csv", config=f"local={{cifar10: {tmp_path}/images.tar.xz}}"
    )
    assert project.planned(config=f"local={{cifar10: {tmp_path}/images.tar.xz}}").get("train") is None


def test_a_missing_archive(project, tmp_path):
    project.change(with_cifar10)
    output = project.fail("-n", config=f"local={{cifar10: {tmp_path}/nothing.tar.xz}}")
    assert f"{tmp_path}/nothing.tar.xz: no such file" in output
    assert "Traceback" not in output


def test_a_truncated_archive(project, tmp_path):
    class_folders(tmp_path / "images")
    archive = tmp_path / "images.tar.xz"
    archive_of(tmp_path / "images", archive)
    archive.write_bytes(archive.read_bytes()[:-5000])
    project.change(with_cifar10)
    output = project.fail("--cores", "2", config=f"local={{cifar10: {archive}}}")
    line = next(line for line in output.splitlines() if line.startswith("outagefl: "))
    assert str(archive) in line
    assert "Traceback" not in output
    assert not litter(project)
    assert not list((project.root / "results" / "inputs" / "dataset").glob("*/*"))
