"""Published curves: what is kept agrees with what was read from the figures, and mistakes are told."""

from csv import DictReader
from pathlib import Path

import pytest

from outagefl.analysis.published import read_published
from outagefl.analysis.published_curves import read_curves
from outagefl.errors import DataError

PUBLISHED = Path(__file__).parents[2] / "config" / "published"
NAMES = {
    "FedAvg": "fedavg_drop", "AD-PSGD": "ad_psgd", "SWIFT": "swift", "Soft-DSGD": "soft_dsgd", "DFL-AA": "dflaa",
}  # fmt: skip


def facts_of(setting):
    """The dotted keys that a setting's words in the figures stand for."""
    word, *rest = setting.split(" ")
    if word == "alpha":
        return {"partition.alpha": rest[0].rstrip(","), "links.loss": "0.1"}
    if word == "links":
        return {"links.kind": "uniform", "links.low": "0.05", "links.high": "0.5", "links.loss": ""}
    if word == "ResNet-18,":
        return {"model.kind": "resnet18", "links.loss": "0.1"}
    return {"links.loss": f"{float(rest[0].rstrip('%')) / 100:g}", "partition.alpha": "0.1"}


def test_every_curve_is_kept_with_its_end_and_points_of_the_right_time(shared):
    kept = read_curves(PUBLISHED / "dflaa_curves.csv")
    with (shared / "papers" / "dflaa_figures.csv").open() as file:
        figures = list(DictReader(file))
    assert kept.groupby([name for name in kept if name not in ("time", "time_error", "accuracy")]).ngroups == 70
    for row in figures:
        wanted = facts_of(row["setting"]) | {"dataset.kind": row["dataset"].lower().replace("-", "")}
        wanted |= {"method": NAMES[row["method"]]}
        chosen = kept[(kept[list(wanted)] == wanted).all(axis=1)]
        if row["dataset"] == "CIFAR-10" and "ResNet" not in row["setting"]:
            chosen = chosen[chosen["model.kind"] == "residual_cnn"]
        curve = [float(value) for value in row["accuracy_sequence"].split()]
        whole, every, horizon = (21, 50, 1000) if row["dataset"] == "EMNIST" else (51, 80, 4000)
        thin = 2 if whole == 21 else 5
        assert chosen["accuracy"].to_list() == curve[::thin] + ([] if (len(curve) - 1) % thin == 0 else [curve[-1]])
        assert chosen["time_error"].iloc[0] == (whole - len(curve)) * every / 2  # lost points may be anywhere
        assert chosen["time"].iloc[0] - chosen["time_error"].iloc[0] == every - 1
        assert chosen["time"].iloc[-1] + chosen["time_error"].iloc[-1] == horizon


def test_numbers_of_the_text_are_as_printed(shared):
    text = (shared / "papers" / "dflaa.txt").read_text()
    facts = read_published(PUBLISHED / "dflaa.csv")
    for printed in ("73.19", "50.47", "49.39", "41.71", "74.89", "40.6", "40.4", "43.9", "49.7"):
        assert printed in text
        assert float(printed) in facts["mean"].to_list()
    losses = facts[facts["table"].str.startswith("III") & (facts["dataset.kind"] == "emnist")]
    means = losses.pivot(index="method", columns="links.loss", values="mean")
    assert (means["0.1"] - means["0.5"]).to_dict() == pytest.approx({"dflaa": 1.67, "swift": 4.75})


HEADER = "figure,links.loss,method,time,time_error,accuracy\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("figure,method,time,accuracy\n", "lacks the column 'time_error'"),
        (HEADER + "4,0.1,swift,49,0,2O\n", "line 2: accuracy: '2O'"),
        (HEADER + "4,0.1,swift,49,0,20\n4,0.1,swift,,0,30\n", "line 3: time: ''"),
        (HEADER + "4,0.1,swift,49,0,20\n4,0.1,swift,49,0,30\n", "line 3: another point"),
        ("", "not a table of published curves"),
    ],
)
def test_a_mistake_names_its_line(tmp_path, text, message):
    file = tmp_path / "curves.csv"
    file.write_text(text)
    with pytest.raises(DataError, match=r"curves\.csv") as caught:
        read_curves(file)
    assert message in str(caught.value)
    with pytest.raises(DataError, match=r"none\.csv: no such table"):
        read_curves(tmp_path / "none.csv")
