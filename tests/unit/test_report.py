"""The parts of the page: figures and tables from files, what is told of runs and claims, captions."""

from __future__ import annotations

import base64
import re
import shlex

import pandas as pd
import pytest
from PIL import Image

from outagefl import components
from outagefl.analysis.verdicts import NOT_RUN, VERDICTS
from outagefl.analysis.writers import write_csv, write_html
from outagefl.config import given
from outagefl.errors import DataError
from outagefl.provenance.records import Record
from outagefl.report import claims, content, facts
from outagefl.report.origins import command, commit_name, to_be_given
from outagefl.report.page import MEANINGS
from outagefl.report.templates import environment
from tests.unit.recorded_results import REPOSITORY
from tests.unit.test_claims_shown import evaluated

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HOSTILE = """<b>"it's" & more</b>"""
SHOWN = "&lt;b&gt;&quot;it&#x27;s&quot; &amp; more&lt;/b&gt;"
OPTIONS = {
    **{"score": "test accuracy", "baseline": ["dfedavg", "local"], "level": "rule.k", "levels": ["rule.k", "rule.b"]},
    **{"target": 20, "tail": 0.1, "control": "swift"},
}


def test_a_figure_is_embedded_with_its_size_and_shown_in_that_of_the_text(tmp_path):
    Image.new("L", (800, 320)).save(tmp_path / "one.png")
    image = content.image(tmp_path / "one.png")
    assert (image.width, image.height) == (800, 320)
    assert image.shown == (500, 200)
    assert base64.b64decode(image.address.removeprefix("data:image/png;base64,")) == (tmp_path / "one.png").read_bytes()


@pytest.mark.parametrize("damaged", [b"", b"<html>", PIXEL[:-4], PIXEL[1:]])
def test_a_damaged_figure_is_named(tmp_path, damaged):
    (tmp_path / "one.png").write_bytes(damaged)
    with pytest.raises(DataError, match=r"one\.png: not a whole PNG image; delete it"):
        content.image(tmp_path / "one.png")


@pytest.mark.parametrize("read", [content.image, content.table, content.csv_table])
def test_a_missing_file_is_named(tmp_path, read):
    with pytest.raises(DataError, match=r"gone\.x: .*(no such|No such)"):
        read(tmp_path / "gone.x")


def test_a_written_table_is_taken_without_its_looks_and_its_text_stays_escaped(tmp_path):
    frame = pd.DataFrame({"style=a": [HOSTILE, 'x id="y" z']}, index=[HOSTILE, "row"])
    write_html(frame, tmp_path / "a.html", HOSTILE)
    table = content.table(tmp_path / "a.html")
    assert table.startswith("<table>")
    assert table.endswith("</table>")
    assert table.count(SHOWN) == 3
    assert "x id=&quot;y&quot; z" in table
    assert '="' not in table.replace('scope="', "")


def test_a_page_without_a_table_is_named(tmp_path):
    (tmp_path / "a.html").write_text("<p>α")
    with pytest.raises(DataError, match=r"a\.html: holds no table"):
        content.table(tmp_path / "a.html")


def test_values_in_a_csv_file_are_shown_to_five_digits_and_escaped(tmp_path):
    (tmp_path / "a.csv").write_text("name,value,count\n<b>,0.123456789,1234567\nb,,1\nc,1.5e-07,\n")
    table = content.csv_table(tmp_path / "a.csv")
    for cell in ("&lt;b&gt;", "0.12346", "–", "1.5e-07", "1234567", "1"):
        assert f"<td>{cell}</td>" in table
    (tmp_path / "a.csv").write_text("")
    with pytest.raises(DataError, match=r"a\.csv: not a CSV file"):
        content.csv_table(tmp_path / "a.csv")


NAMES = [["00", "01", "02"], ["NA", "None", "nan"], ['x id="y" z', 'a class="b"', "n"], ["1.50", "2.123456", "all"]]


@pytest.mark.parametrize("names", NAMES)
def test_names_in_a_table_are_shown_as_they_are(tmp_path, names):
    frame = pd.DataFrame({"class": names})
    write_csv(frame, tmp_path / "a.csv")
    for table in (content.csv_table(tmp_path / "a.csv"), content.frame_table(frame)):
        assert re.findall("<td>(.*)</td>", table) == names


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0, "0 s"), (99, "99 s"), (100, "2 min"), (3569, "59 min"), (3900, "1 h 05 min"), (200_000, "2 d 8 h")],
)
def test_time_spans(seconds, told):
    assert facts.duration(seconds) == told


def test_seeds_are_counted_and_named():
    assert facts.seeds_in_words([2, 0, 1, 1]) == "3 seeds (0–2)"
    assert facts.seeds_in_words([7]) == "1 seed (7)"
    assert facts.seeds_in_words([0, 5]) == "2 seeds (0, 5)"


def run(seed, study="sfg", **more):
    told = {"spec": {"study": study, "seed": seed, "dataset": {"kind": "digits"}}, "data_note": "", "device": "cpu"}
    told |= {"commit": "a" * 40 + "+", "packages": {"torch": "2"}, "python": "3.11", "machine": "M", "packed_runs": 1}
    told |= {"started": f"2026-01-01T00:0{seed}:00+00:00", "seconds": 60, "seconds_before": 0, **more}
    return Record({}, {}, {}, told)


def test_the_facts_of_runs():
    runs = [run(0), run(1, data_note="recompressed"), run(2, packed_runs=4, seconds_before=20), run(9)]
    records = {f"results/runs/sfg/{place}/metrics.parquet": each for place, each in enumerate(runs)}
    told = dict(runs[0].content)
    records["results/choices/sfg/margin.json"] = Record({}, dict.fromkeys(list(records)[3:], ""), {}, told)
    configuration = {"scale": "quick", "studies": ["sfg", "dflaa"]}
    told = {each.about: each.told for each in facts.facts(records, list(records)[:3], configuration)}
    assert told["Runs"][0] == "sfg: 3 runs, 3 seeds (0–2), and 1 on validation seeds, from which values were chosen"
    assert told["Runs"][1] == "dflaa: none"
    assert told["Notes on the data"] == ["recompressed"]
    assert told["Data"] == ["digits"]
    assert told["Began"] == ["2026-01-01 00:00 UTC"]
    assert told["Time"] == ["3 min of training; 10 min from the first job's start to the last one's end"]
    assert told["Code"] == ["commit aaaaaaaaaaaa with uncommitted changes"]


def test_time_in_training_counts_interruptions_and_is_shared_among_runs_of_a_stack():
    assert facts.training_seconds({"seconds": 60}) == 60
    assert facts.training_seconds({"seconds": 60, "seconds_before": 20, "packed_runs": 4}) == 20


MAIN = {"scale": "quick", "studies": ["sfg"], "device": "auto", "local": {}, "plugins": [], "overrides": {}}


def test_commands_give_what_the_main_configuration_does_not_say():
    own = {
        "scale": "tiny",
        "device": "cpu",
        "offline": True,
        "overrides": {"sfg": {"setting": {"rounds": 5, "x": "5 %"}}},
    }
    own |= {"local": {"cifar10": "/home/me/c.tar", "emnist": "~/e.zip", "custom": "a.csv"}, "plugins": ["mine", "../b"]}
    words = shlex.split(command("results/tiny/sfg/a b.png", to_be_given(MAIN | own, MAIN)))
    assert words[:6] == [".venv/bin/snakemake", "--cores", "2", "--force", "results/tiny/sfg/a b.png", "--config"]
    assert words[6:8] == ["scale=tiny", "studies=[sfg]"]
    paths = {"local": {"cifar10": "PATH", "emnist": "PATH", "custom": "a.csv"}, "plugins": ["mine", "PATH"]}
    assert given(words[8:]) == {key: value for key, value in (own | paths).items() if key != "scale"}
    assert list(to_be_given(MAIN, MAIN)) == ["scale", "studies"]


def test_commits():
    assert commit_name(None) == "unknown (not a git repository)"
    assert commit_name("0123456789abcdef") == "0123456789ab"


def test_claims_are_counted_linked_and_have_keys_to_be_sorted_by():
    table = evaluated().assign(experiment="theory: slips")
    counts = claims.counts(table)
    assert list(counts) == ["dflaa", "sfg"]
    kinds = [counted for own in counts.values() for counted in own.values()]
    assert [list(own) for own in counts.values()] == [["by runs", "by computation"]] * 2
    assert all(list(counted) == list(VERDICTS) for counted in kinds)
    assert sum(sum(counted.values()) for counted in kinds) == 40
    assert sum(sum(own["by computation"].values()) for own in counts.values()) == 10
    rows = claims.rows(table, {"sfg/theory/slips"})
    assert len({row.anchor for row in rows}) == 40
    assert [row.verdict == NOT_RUN for row in rows] == [False] * 32 + [True] * 8
    assert [row.kind for row in rows[:32]] == ["by runs"] * 24 + ["by computation"] * 8
    assert {row.place for row in rows} == {"", "sfg/theory/slips"}
    assert {row.group for row in rows} == {"sfg/theory", "dflaa/theory"}
    for row in rows:
        assert (row.numbers["ours"].key == "") == (row.verdict == NOT_RUN)
        assert row.numbers["ours"].key == "" or float(row.numbers["ours"].key) > 0


def test_a_row_shows_its_numbers_and_what_it_rests_on():
    row = claims.rows(evaluated().assign(p=0.5, p_against=0.25), [])[0]
    assert row.told == ["protocol: released", "digits", "JPEG"]
    assert {name: cell.text for name, cell in row.numbers.items() if name in ("p", "p against", "seeds")} == {
        "p": "0.500",
        "p against": "0.250",
        "seeds": "3",
    }
    assert [cell.key for cell in row.numbers.values()][-3:] == ["0.5", "0.25", "3"]


def test_verdicts_are_sorted_in_their_order():
    assert {(row.rank, row.verdict) for row in claims.rows(evaluated(), [])} == set(enumerate(VERDICTS))


def test_what_can_be_decided_is_said_in_numbers():
    table = pd.concat([evaluated(), evaluated(1).assign(protocol="paper")])  # under both protocols
    table.iloc[1:3, table.columns.get_loc("n")] = 0  # theory
    sentences = claims.decidable(table)
    assert sentences[0].startswith(
        "At scale quick, 32 of 40 claims can be tested: 30 with runs, 2 statements of theory"
    )
    assert "3 seeds each; with 5 or fewer, small effects stay unresolved." in sentences[1]
    for seeds, few in ((5, True), (6, False)):
        assert ("small effects" in claims.decidable(evaluated().assign(n=seeds))[1]) == few
    none = evaluated().assign(verdict=NOT_RUN, n=0)
    assert len(claims.decidable(none)) == 1


def test_the_page_says_of_verdicts_what_the_readme_says():
    readme = (REPOSITORY / "README.md").read_text()
    for verdict in VERDICTS:
        [(effect, bound)] = re.findall(rf"^\| {verdict} \| (.*?) \| (.*?) ?\|$", readme, re.MULTILINE)
        more = "" if bound in ("", "the same") else f"; a bound, a value or parity: {bound}"
        assert MEANINGS[verdict] == effect + more


@pytest.mark.parametrize(("family", "rule"), [("figure", "figure"), ("table", "table"), ("theory check", "theory")])
def test_every_figure_table_and_check_has_a_caption(family, rule):
    template = environment().get_template(f"captions/{rule}.html.jinja")
    general = template.render(settings={"options": OPTIONS, "settings": {"kind": ""}}, wildcards={rule: ""}).strip()
    for kind in components.signatures(family):
        settings = {"options": OPTIONS, "settings": {"kind": kind}}
        own = template.render(settings=settings, wildcards={rule: kind}).strip().removesuffix(general)
        assert len(own) > 80, kind


def test_captions_are_escaped():
    template = environment().get_template("captions/figure.html.jinja")
    settings = {"options": OPTIONS | {"level": HOSTILE}}
    told = template.render(settings=settings, wildcards={"figure": "gain_by_level"})
    assert HOSTILE not in told
    assert "&lt;b&gt;" in told
