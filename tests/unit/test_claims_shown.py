"""Claims as readers see them: table, figure, and lines in a terminal."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from outagefl.analysis.claims import COLUMNS
from outagefl.analysis.claims_figure import draw
from outagefl.analysis.claims_table import caption, claims_table
from outagefl.analysis.style import save
from outagefl.analysis.verdicts import VERDICTS
from outagefl.analysis.writers import write_csv, write_html, write_latex
from outagefl.commands.claims import read, told
from outagefl.errors import ConfigError
from tests.unit.drawing import assert_nothing_is_cut_off_or_overlaps

WORKFLOW = Path(__file__).parents[2] / "workflow"
NAN = np.nan
TEXT = "A claim that goes on and on, for so many words that no line of a terminal could hold it to its very end"


def evaluated(count=40):
    """Claims of two studies and all units and verdicts, some not run, with wild intervals."""
    rng = np.random.default_rng(0)
    rows = []
    for place in range(count):
        verdict = VERDICTS[place % 5]
        says, unit = [("effect", "points"), ("about", "%"), ("effect", "×"), ("finding", "share")][place % 4]
        ours = NAN if verdict == VERDICTS[-1] else rng.uniform(0.5, 9)
        wide = rng.choice([0.2, 2, 500])
        ends = (ours / wide, ours * wide) if unit == "×" else (ours - wide, ours + wide)
        row = {"id": f"X{place}-claim", "study": "sfg" if place % 3 else "dflaa", "verdict": verdict, "says": says}
        row |= {"text": TEXT, "source": "Table 3", "published": NAN if place % 7 == 0 else 4.0, "unit": unit}
        row |= {"ours": ours, "low": ends[0], "high": ends[1], "p": 0.0004, "p_against": 1.0, "n": 3 * (ours == ours)}
        row |= {
            "scale": "quick",
            "protocol": "released" if place % 6 == 0 else "paper",
            "ran": "digits",
            "data": "JPEG",
        }
        rows.append(row | {"note": NAN})
    return pd.DataFrame(rows).reindex(columns=COLUMNS)


def test_the_table_has_tested_claims_first_and_all_they_rest_on():
    shown = claims_table(evaluated())
    verdicts = list(shown["verdict"])
    assert verdicts.index("not run at this scale") == len(verdicts) - verdicts.count("not run at this scale") == 32
    row = shown.loc["X1-claim"]
    assert row["claim"].endswith("(Table 3)")
    assert row["published"] == "≈\u00a04.00\u00a0%"
    assert list(row[["p", "p against", "seeds", "protocol", "ran"]]) == [
        "< 0.001",
        "1.000",
        "3",
        "paper",
        "digits; JPEG",
    ]
    assert list(shown.loc["X4-claim", ["ours", "95 % interval", "seeds"]]) == ["–"] * 3
    told = caption(evaluated())
    for name, own in evaluated().groupby("study"):
        for kind, mine in (
            ("by runs", own[own["says"] != "finding"]),
            ("by computation", own[own["says"] == "finding"]),
        ):
            counts = mine["verdict"].value_counts()
            words = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
            assert f"{kind} {words}" in told[told.index(f"{name}: ") :]
    assert list(shown.index[:2]) == ["X0-claim (released)", "X1-claim"]
    assert "X3-claim" in shown.index[24:32]


def test_files_for_machines_papers_and_readers(tmp_path):
    frame = pd.concat([evaluated(), evaluated(2).assign(protocol=["paper", "released"])])  # under both protocols
    frame = frame.reset_index(drop=True)
    shown = claims_table(frame)
    write_csv(frame, tmp_path / "claims.csv")
    back = read(tmp_path / "claims.csv")
    assert back["p"].equals(frame["p"])
    assert list(back["verdict"]) == list(frame["verdict"])
    write_latex(shown, tmp_path / "claims.tex", caption(frame), "claims")
    text = (tmp_path / "claims.tex").read_text()
    assert r"\label{tab:claims}" in text
    assert not [character for character in "≈≥≤×…−" if character in text]
    write_html(shown, tmp_path / "claims.html", caption(frame))
    assert "X39-claim" in (tmp_path / "claims.html").read_text()


@pytest.mark.parametrize("count", [1, 5, 150])
def test_the_figure(tmp_path, count):
    figure = draw(evaluated(count))
    assert_nothing_is_cut_off_or_overlaps(figure)
    labels = [text.get_text() for axes in figure.axes if axes.axison for text in axes.get_yticklabels()]
    tested = evaluated(count)["verdict"] != VERDICTS[-1]
    assert len(labels) == tested.sum()
    assert labels[0] == "X0-claim (released)"
    save(figure, tmp_path / "claims.pdf", tmp_path / "claims.png")


def test_the_figure_of_claims_that_were_all_not_run():
    frame = evaluated(5).iloc[[4]]
    assert "sfg: 0 of 1 claims tested" in [part._suptitle.get_text() for part in draw(frame).subfigs]


def test_lines_fit_a_terminal_and_name_every_claim():
    lines = told(evaluated(), 120).splitlines()
    assert max(map(len, lines)) <= 120
    assert max(map(len, told(evaluated(), 160).splitlines())) == 160
    assert all(f"X{place}-claim" in "\n".join(lines) for place in range(40))
    assert [line for line in lines if line.startswith("X1-claim ") and "≈" in line and "reproduced" not in line]
    assert [line for line in lines if line.startswith("not run at this scale: X4-claim, ")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "claims.csv: no such file; `make reproduce SCALE=tiny` writes it"),
        ("", "not a table of claims"),
        ("id,study\n", "it lacks the column 'protocol'"),
    ],
)
def test_what_is_no_table_of_claims_is_told(tmp_path, content, message):
    (folder := tmp_path / "tiny").mkdir()
    if content is not None:
        (folder / "claims.csv").write_text(content)
    with pytest.raises(ConfigError, match=message):
        read(folder / "claims.csv")


def command(folder):
    return [sys.executable, "-m", "outagefl", "claims", str(folder)]


def test_the_command_cuts_nothing_where_there_is_no_terminal(tmp_path):
    write_csv(evaluated(), tmp_path / "claims.csv")
    done = subprocess.run(command(tmp_path), cwd=WORKFLOW, capture_output=True, text=True, check=True)
    assert done.stdout == told(evaluated(), sys.maxsize) + "\n"
    assert done.stdout.count(TEXT) == 32


def test_the_command_fills_the_terminal(tmp_path):
    write_csv(evaluated(), tmp_path / "claims.csv")
    here, there = os.openpty()
    environment = {**os.environ, "COLUMNS": "140"}
    with subprocess.Popen(command(tmp_path), cwd=WORKFLOW, stdout=there, env=environment) as process:
        os.close(there)
        shown = b""
        with suppress(OSError):  # how a terminal ends
            while part := os.read(here, 4096):
                shown += part
    os.close(here)
    assert process.returncode == 0
    assert max(map(len, shown.decode().splitlines())) == 140


def test_a_reader_who_leaves_ends_the_command_quietly(tmp_path):
    write_csv(evaluated(2000), tmp_path / "claims.csv")  # more than a pipe holds
    with subprocess.Popen(command(tmp_path), cwd=WORKFLOW, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        told = process.stderr.read()
    assert (process.returncode, told) == (0, b"")
