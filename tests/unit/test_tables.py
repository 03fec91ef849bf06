"""Comparisons and the study table, and the files they are written to."""

import io
import json
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from outagefl.analysis.comparison_table import signed, stars, study_table
from outagefl.analysis.comparisons import ALL, comparisons
from outagefl.analysis.indexes import read_index
from outagefl.analysis.notes import data_note
from outagefl.analysis.results import scores
from outagefl.analysis.writers import write_csv, write_html, write_latex
from outagefl.errors import DataError
from tests.unit.synthetic_runs import write_runs

GAINS = {"dfedavg": 0.0, "sfg": 0.04, "aoi_received": 0.0}
SETTINGS = [{"availability": "markov"}, {"availability": "smartphone"}]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    index = read_index(write_runs(root, GAINS, settings=SETTINGS, seeds=8))
    return comparisons(scores(index, root), ["dfedavg"], margin=0.5)


def test_every_method_in_every_setting_and_over_all(table):
    assert list(table["setting"]) == ["markov"] * 3 + ["smartphone"] * 3 + [ALL] * 3
    assert list(table["method"]) == list(GAINS) * 3
    assert table.loc[table["method"] == "dfedavg", "difference"].isna().all()
    assert (table["mean_low"] < table["mean"]).all()
    assert (table["mean"] < table["mean_high"]).all()


def test_known_gains_are_found(table):
    sfg = table[table["method"] == "sfg"]
    assert sfg["difference"].to_numpy() == pytest.approx([4, 4, 4], abs=0.3)
    assert (sfg["low"] < sfg["difference"]).all()
    assert (sfg["difference"] < sfg["high"]).all()
    assert (sfg["p_t_holm"] < 0.001).all()
    assert list(sfg["wins"]) == [8, 8, 16]
    same = table[table["method"] == "aoi_received"]
    assert (same["p_t_holm"] > 0.05).all()
    assert (same["p_equivalence"] < 0.05).all()


def test_the_family_is_all_methods_and_settings(table):
    single = table[table["setting"] != ALL].dropna(subset="p_t")
    smallest = single["p_t"].idxmin()
    assert single.loc[smallest, "p_t_holm"] == pytest.approx(4 * single.loc[smallest, "p_t"])
    pooled = table[table["setting"] == ALL].dropna(subset="p_t")
    assert pooled["p_t_holm"].min() == pytest.approx(2 * pooled["p_t"].min())


def test_intervals_of_means_are_t_intervals_in_one_setting_and_over_all():
    scores = {("a", "x"): [60.0, 62.0, 67.0], ("b", "x"): [60.0, 62.0, 67.0], ("a", "y"): [1.0, 2.0, 3.0]}
    scores["b", "y"] = [3.0, 4.0, 5.0]
    rows = [(where, method, seed, x) for (where, method), own in scores.items() for seed, x in enumerate(own)]
    runs = pd.DataFrame(rows, columns=["availability", "method", "seed", "score"])
    found = comparisons(runs.assign(study="s", experiment="e"), ["x"], 0.5).set_index(["setting", "method"])
    half = 4.302653 * np.sqrt(13 / 3)
    for where in ("a", "b", ALL):  # the same runs under every outage, as always on: the same interval everywhere
        assert list(found.loc[(where, "x"), ["mean", "mean_low", "mean_high"]]) == pytest.approx(
            [63, 63 - half, 63 + half]
        )
    assert found.loc[(ALL, "y"), "mean_high"] == pytest.approx(3 + 4.302653 / np.sqrt(3))


def test_one_setting_has_no_rows_over_all(tmp_path):
    index = read_index(write_runs(tmp_path, GAINS))
    assert list(comparisons(scores(index, tmp_path), ["dfedavg"], 0.5)["setting"]) == ["markov"] * 3


def test_shown_table(table):
    shown = study_table(table)
    assert list(shown.index) == ["DFedAvg", "SFG", "AoI (received)"]
    assert list(shown.columns) == [
        (where, column) for where in ("markov", "smartphone", ALL) for column in ("accuracy (%)", "Δ (points)")
    ]
    assert shown.loc["DFedAvg", ("markov", "Δ (points)")] == "–"
    assert shown.loc["SFG", ("markov", "Δ (points)")].endswith("***")
    row = table.iloc[1]
    assert shown.loc["SFG", ("markov", "accuracy (%)")] == (
        f"{row['mean']:.2f}\u00a0±\u00a0{(row['mean_high'] - row['mean_low']) / 2:.2f}"
    )


def test_a_single_seed_shows_no_interval_and_no_stars(tmp_path):
    index = read_index(write_runs(tmp_path, GAINS, seeds=1))
    shown = study_table(comparisons(scores(index, tmp_path), ["dfedavg"], 0.5))
    assert "±" not in shown.loc["SFG", ("markov", "accuracy (%)")]
    assert shown.loc["SFG", ("markov", "Δ (points)")].lstrip("+−").replace(".", "").isdigit()


@pytest.mark.parametrize(
    ("value", "text"), [(4.021, "+4.02"), (-0.5, "−0.50"), (0.0, "0.00"), (-0.001, "0.00"), (0.004, "0.00")]
)
def test_signed_numbers(value, text):
    assert signed(value) == text


@pytest.mark.parametrize(("p", "marks"), [(0.0009, "***"), (0.001, "**"), (0.049, "*"), (0.05, ""), (np.nan, "")])
def test_stars(p, marks):
    assert stars(p) == marks


def test_notes_on_the_data_are_read_the_same_whatever_the_encoding_of_the_system(tmp_path, monkeypatch):
    monkeypatch.setattr(io, "text_encoding", lambda encoding, _=2: encoding or "ascii")
    for run, note in (("a", "7 × 7 images"), ("b", ""), ("c", "7 × 7 images")):
        (tmp_path / run).mkdir()
        (tmp_path / run / "run.json").write_text(json.dumps({"data_note": note}, ensure_ascii=False), encoding="utf-8")
    assert data_note(pd.DataFrame({"run": ["a", "b", "c"]}), tmp_path) == "7 × 7 images"


def test_csv_keeps_every_digit(table, tmp_path):
    write_csv(table, tmp_path / "table.csv")
    back = pd.read_csv(tmp_path / "table.csv")
    assert list(back.columns) == list(table.columns)
    for column in ("mean", "difference", "low", "p_t", "p_sign_holm"):
        assert back[column].equals(table[column])


AWKWARD = pd.DataFrame(
    {
        ("50 % loss & <more>", "accuracy (%)"): ["61\u00a0± 2", "~0^1"],
        ("α_0.1 · γ", "Δ (points)"): [r"a\b{c}$#", "−1.0"],
    },
    index=pd.Index(["SFG_cut", "<b>"], name="method"),
)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_compiles(table, tmp_path):
    write_latex(study_table(table), tmp_path / "study.tex", "Accuracy & gains (50 % of seeds_1).", "study")
    write_latex(AWKWARD, tmp_path / "awkward.tex", r"All of & % $ # _ { } ~ ^ \ < >", "awkward")
    (tmp_path / "main.tex").write_text(
        r"\documentclass{article}\usepackage{booktabs,graphicx}\begin{document}"
        r"\input{study}\input{awkward}See \ref{tab:study}.\end{document}"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


def test_latex_escapes_and_uses_booktabs(tmp_path):
    write_latex(AWKWARD, tmp_path / "table.tex", "100 % of runs_x", "table")
    text = (tmp_path / "table.tex").read_text()
    for part in (r"\toprule", r"\bottomrule", r"\label{tab:table}", r"\caption{100 \% of runs\_x}", r"SFG\_cut"):
        assert part in text
    assert r"61~$\pm$ 2 & a\textbackslash{}b\{c\}\$\#" in text
    assert r"50 \% loss \& $<$more$>$" in text
    assert text.isascii()


class Page(HTMLParser):
    """Counts a page's elements and keeps its text."""

    def __init__(self):
        super().__init__()
        self.tags, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not {"src", "href"} & dict(attrs).keys()

    def handle_data(self, data):
        self.text += data


def test_html_is_one_page_with_escaped_text(tmp_path):
    write_html(AWKWARD, tmp_path / "table.html", "Rates < 5 % & <script>")
    page = Page()
    page.feed((tmp_path / "table.html").read_text())
    assert page.tags.count("html") == page.tags.count("table") == page.tags.count("caption") == 1
    assert page.tags.count("td") == 4
    assert not {"b", "script", "link"} & set(page.tags)
    for text in ("Rates < 5 % & <script>", "50 % loss & <more>", "<b>", "61\u00a0± 2", "−1.0"):
        assert text in page.text


@pytest.mark.parametrize(
    "write", [write_csv, lambda f, p: write_html(f, p, "c"), lambda f, p: write_latex(f, p, "c", "n")]
)
def test_files_are_repeatable_and_never_half_written(write, table, tmp_path):
    shown = study_table(table)
    write(shown, tmp_path / "one")
    write(shown, tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()

    class Unprintable:
        def __str__(self):
            raise DataError("cannot be printed")

    with pytest.raises(DataError, match="cannot be printed"):
        write(pd.DataFrame({"x": [Unprintable()]}), tmp_path / "one")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["one", "two"]
