"""The target `describe`: what goes into the studies in tables and figures, and what is asked for beside it."""

import pandas as pd

from tests.workflow.test_traces import ONLINE, SLOTS, follow_own_trace, write_trace

FILES = {
    "dataset": {"classes.csv", "channels.csv", "samples.pdf", "samples.png"},
    "partition": {"clients.csv", "clients.pdf", "clients.png"},
    "probability": {"clients.csv", "overview.pdf", "overview.png"},
    "trace": {"statistics.csv", "overview.pdf", "overview.png"},
}


def test_data_partitions_probabilities_and_traces_in_use_are_described_without_training(project, tmp_path):
    def two_seeds_a_trace_and_probabilities(study):
        follow_own_trace(study)
        study["seeds"] = 2
        base = {"kind": "label_mix", "labels": "drawn"}
        independent = {"kind": "independent", "probability": {"kind": "stationary", "base": base}}
        study["named"]["availability"]["by_label"] = independent
        study["experiments"]["outages"]["factors"]["availability"].append("by_label")

    project.change(two_seeds_a_trace_and_probabilities)
    local = write_trace(tmp_path / "mine.csv")
    project.finish("describe", "--cores", "2", config=local)
    folder = project.root / "results" / "tiny" / "describe"
    for what, files in FILES.items():
        [described] = (folder / what).iterdir()  # one partition: that of the lowest seed
        assert {path.name for path in described.iterdir()} == files
    assert not (project.root / "results" / "runs").exists()

    classes = pd.read_csv(next(folder.glob("dataset/*/classes.csv")), index_col="class")
    assert classes.loc["all"].tolist() == [1438, 359]
    [clients] = folder.glob("partition/*/clients.csv")
    assert "-s0-" in clients.parent.name
    assert pd.read_csv(clients)["train"].sum() == 1438
    probabilities = pd.read_csv(next(folder.glob("probability/stationary-label_mix-s0-*/clients.csv")))
    assert len(probabilities) == 5
    assert probabilities["highest"].tolist() == probabilities["base"].tolist()
    statistics = pd.read_csv(next(folder.glob("trace/*/statistics.csv"))).set_index("statistic")["recorded"]
    assert statistics[["slots", "devices"]].tolist() == [SLOTS, 5]
    assert statistics["share online"] == ONLINE.mean()
    assert statistics["read: intervals"] == ONLINE.sum()

    page = (folder / "report.html").read_text()
    assert page.count('src="data:image/png;base64,') == 4  # of each kind one figure
    assert "Training images of every client (columns) by class (rows)" in page
    assert "<td>share online</td>" in page
    assert project.planned("describe", config=local) == {}


def test_further_sources_can_be_described(project):
    planned = project.planned("describe", config="describe=[flash_matrix, femnist, digits]")
    assert planned["describe_trace"] == 1
    assert planned["describe_dataset"] == 2  # digits is in use already
    assert planned["download"] == 2
    assert "download" not in project.planned()
    output = project.fail("-n", config="describe=[cifar11]")
    assert "outagefl: config: describe: unknown data set or trace 'cifar11'; did you mean 'cifar10'" in output
