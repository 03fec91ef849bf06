"""A trace of one's own, from a local file to a finished comparison; one that is broken; one that is out of reach."""

import json
import re
from textwrap import dedent

import numpy as np
import pandas as pd
import pytest

from tests.workflow.conftest import REPOSITORY, two_runs
from tests.workflow.test_bad_input import litter
from tests.workflow.test_reproduction import outagefl

COMPARISON = "results/tiny/sfg/outages/comparison.html"
SLOTS = 6  # as many as the tiny scale has rounds
ONLINE = np.array([[1, 1, 0, 0, 1, 1], [0, 1, 1, 1, 0, 0], [1, 0, 0, 0, 0, 1], [0, 0, 0, 1, 1, 1], [1] * 6], bool)


def write_trace(path, online=ONLINE):
    """Intervals of an hour a slot, a device a row of ``online``."""
    lines = [f"phone-{d},{3600 * slot},{3600 * (slot + 1)}" for d, slot in np.argwhere(online)]
    path.write_text("\n".join(["device,start,end", *lines]) + "\n")
    return f"local={{custom: {path}}}"


def follow_own_trace(study):
    own = {"kind": "trace", "trace": {"kind": "custom", "slot_minutes": 60, "days": SLOTS / 24}, "start_slot": 0}
    own |= {"unknown": "offline", "min_coverage": 0, "drop_never_online": False, "replacement": "never"}
    neighbours = {"kind": "coupled", "of": "my_phones", "coupling": 0.5, "communities": {"kind": "fluid", "count": 2}}
    study["named"] = {"availability": {"my_phones": own, "my_neighbours": neighbours}}
    study["experiments"]["outages"] |= {
        "factors": {"availability": ["bernoulli", "my_neighbours"], "task": None, "topology": None},
    }
    two_runs(study)


@pytest.fixture
def own(project):
    project.change(follow_own_trace)
    return project


def test_a_trace_of_ones_own_is_compared_like_any_outage(own, tmp_path):
    local = write_trace(tmp_path / "mine.csv")
    own.finish("--cores", "2", COMPARISON, config=local)
    index = pd.read_csv(own.root / "results" / "tiny" / "sfg" / "outages" / "runs.csv")
    assert set(index["availability"]) == {"bernoulli", "my_neighbours"}
    for row in index[index.availability == "my_neighbours"].to_dict("records"):
        assert "-coupled-trace-custom-fluid-" in row["run"]
        record = json.loads((own.root / "results" / row["run"] / "run.json").read_text())
        followed = record["spec"]["availability"]["of"]["trace"]
        assert followed == {"kind": "custom", "slot_minutes": 60, "days": SLOTS / 24}
        metrics = pd.read_parquet(own.root / "results" / row["run"] / "metrics.parquet")
        online = metrics[(metrics.metric == "online") & (metrics.client >= 0)]
        matrix = online.pivot(index="client", columns="round", values="value").to_numpy()
        assert sorted(matrix.astype(bool).tolist()) == sorted(ONLINE.tolist())
    done = outagefl(
        own, "run", f"results/{row['run']}/run.json", "--trace", str(tmp_path / "mine.csv"), "--output", "again"
    )
    assert done.returncode == 0, done.stderr
    again = own.root / "again" / "run" / "metrics.parquet"
    assert again.read_bytes() == (own.root / "results" / row["run"] / "metrics.parquet").read_bytes()
    [log] = (own.root / "results" / "logs" / "input" / "trace").glob("custom-*.log")
    assert f"{SLOTS} slots, 5 devices" in log.read_text()
    assert f"{ONLINE.sum()} intervals" in log.read_text()
    logs = own.root / "results" / "logs" / "input"
    [log] = (logs / "availability").glob("coupled-*.log")
    assert "within a community" in log.read_text()
    [log] = (logs / "communities").glob("fluid-2-s0-*.log")
    assert "clients by community: " in log.read_text()
    assert own.planned(COMPARISON, config=local) == {}
    write_trace(tmp_path / "mine.csv", ~ONLINE)  # other content in the same place
    planned = own.planned(COMPARISON, config=local)
    assert (planned["input"], planned["train"]) == (3, 1)  # the trace, who follows it, who is whose neighbour


def test_what_the_docs_say_of_a_trace_of_ones_own_leads_from_the_table_to_the_report(project, tmp_path):
    section = (REPOSITORY / "docs" / "your_own.md").read_text().split("## Bring your own trace\n")[1].split("\n## ")[0]
    table, settings = (dedent(block) for block in re.findall(r"(?:^ {4}.*\n)+", section, re.MULTILINE))
    (tmp_path / "my_trace.csv").write_text(table)
    settings = settings.replace("/data/my_trace.csv", str(tmp_path / "my_trace.csv"))
    config = project.root / "config" / "config.yaml"
    config.write_text(re.sub(r"^(local|overrides): .*\n", "", config.read_text(), flags=re.MULTILINE) + settings)
    project.change(two_runs)
    project.change(lambda study: study["setting"].update(clients=8, rounds=9))
    project.change(lambda study: study.update(analysis={"figures": ["self_weight", "effective_lag"]}))
    only = "studies=[sfg]"
    project.finish("--cores", "2", config=only)
    assert "custom" in (project.root / "results" / "tiny" / "report.html").read_text()
    folder = project.root / "results" / "tiny" / "sfg" / "outages"
    assert {path.stem for path in (folder / "figures").glob("*.png")} >= {"self_weight", "effective_lag"}
    index = pd.read_csv(folder / "runs.csv")
    assert set(index["availability"]) == {"markov", "custom"}
    phones = {(1.0,) * 9, (0.0,) * 6 + (1.0,) * 3}  # slots of ten minutes: the first four hours, the second hour
    for run in index.loc[index["availability"] == "custom", "run"]:
        metrics = pd.read_parquet(project.root / "results" / run / "metrics.parquet")
        online = metrics[(metrics.metric == "online") & (metrics.client >= 0)]
        assert set(online.groupby("client")["value"].agg(tuple)) == phones


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "device,start,end\na,0,3600\na,7200,3600\n",
            "line 3: start 7200, end 3600; expected 0 <= start <= end <= 21600",
        ),
        ("device,start,end\na,0,3600\n", "1 of 1 devices are left for 5 clients"),
    ],
)
def test_a_broken_trace_is_one_clear_line(own, tmp_path, text, message):
    (tmp_path / "mine.csv").write_text(text)
    own.change(lambda study: study["experiments"]["outages"]["factors"].update(availability=["my_neighbours"]))
    output = own.fail("--cores", "2", COMPARISON, config=f"local={{custom: {tmp_path}/mine.csv}}")
    lines = [line for line in output.splitlines() if line.startswith("outagefl: ")]
    assert len(set(lines)) == 1, output[-3000:]
    assert message in lines[0]
    assert "Traceback" not in output
    assert not litter(own)


def test_a_trace_that_has_no_download_asks_for_its_path(own):
    output = own.fail("-n")
    assert "outagefl: config: local: the source 'custom' has no download; expected custom: <path>." in output
    assert "Traceback" not in output


def test_what_takes_the_place_of_a_source_out_of_reach_is_said(project):
    scale = project.root / "config" / "scales" / "tiny.yaml"
    outages = {"experiments": {"outages": {"factors": {"availability": ["smartphone_synthetic"]}}}}
    with scale.open("a") as stream:
        stream.write(json.dumps({"without": {"flash_matrix": {"sfg": outages}}})[1:-1] + "\n")
    project.change(lambda study: study["experiments"]["outages"]["factors"].update(availability=["smartphone_flash"]))
    assert project.planned()["download"] == 1
    output = project.finish("-n", config="offline=true")
    assert "outagefl: note: flash_matrix has no local path" in output
    assert "download" not in project.planned(config="offline=true")
