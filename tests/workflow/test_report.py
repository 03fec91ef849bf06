"""The report in a browser: complete, at home on a phone, usable by keyboard, in need of no network."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
import yaml
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from outagefl.errors import OutageflError
from outagefl.report.page import write_results
from tests.workflow.browser import chromium
from tests.workflow.conftest import Project, made_once, outagefl

HOSTILE = """<b id="hostile">"it's" & more</b><script>document.title = "hostile"</script>"""
FIGURES = ["accuracy_over_rounds", "paired_differences", "self_weight", "effective_lag"]
EARLIER = {"title": "Earlier", "setting": {"rounds": 3}, "methods": ["dfedavg"], "factors": {"topology": ["ring"]}}
SHOWN = {"sfg/outages": {"figures": FIGURES, "tables": ["wins"]}}
GIVEN = {"scale": "tiny", "studies": ["sfg"]}
OUTAGES = "results/tiny/sfg/outages"
TESTED = {"S3", "S3-wins"}
NOT_RUN = "not run at this scale"


@pytest.fixture(scope="module")
def made(_finished, tmp_path_factory):
    """A finished tiny reproduction with settings from the command line, whose texts are hostile.

    An experiment was run and is no longer part of it.
    """

    def make(root: Path) -> None:
        project = Project(shutil.copytree(_finished.root, root, symlinks=True))
        (project.root / ".venv").symlink_to(sys.prefix)
        project.change(lambda study: study["experiments"].update(earlier=EARLIER))
        project.finish("--cores", "2", "results/tiny/sfg/earlier/comparison.html")
        project.change(lambda study: study["experiments"].pop("earlier"))
        registry = project.root / "config" / "claims.yaml"
        claims = yaml.safe_load(registry.read_text())
        claims["sfg"]["S3"]["text"] = HOSTILE
        registry.write_text(yaml.safe_dump(claims, sort_keys=False))
        project.change(lambda study: study["experiments"]["outages"].update(title=HOSTILE))
        project.finish("--cores", "2", config="overrides={sfg: {setting: {rounds: 5}}}")

    return made_once(tmp_path_factory, "reported", make)


@pytest.fixture(scope="module")
def page(made):
    return made.root / "results" / "tiny" / "report.html"


@pytest.fixture(scope="module", params=[1280, 400])
def browser(request):
    with chromium(request.param) as driver:
        yield driver


@pytest.fixture
def opened(browser, page):
    browser.get("about:blank")
    browser.get(f"file://{page}")
    return browser


def script(browser, expression):
    return browser.execute_script(f"return {expression}")


def shown_claims(browser):
    """The claims to be seen, in their order."""
    return script(browser, "[...document.querySelectorAll('.claims tbody tr')].filter(r => !r.hidden).map(r => r.id)")


def test_everything_is_there_and_nothing_else_is_needed(opened):
    images = script(opened, "[...document.querySelectorAll('main img')].map(i => [i.complete, i.naturalWidth])")
    assert len(images) == 1 + len(FIGURES)
    assert all(complete and width >= 800 for complete, width in images)
    links = script(opened, "[...document.links].map(link => link.getAttribute('href'))")
    ids = script(opened, "[...document.querySelectorAll('[id]')].map(each => each.id)")
    assert len(ids) == len(set(ids))
    assert {link for link in links if link.removeprefix("#") not in ids} == set()
    assert not script(opened, "performance.getEntriesByType('resource').filter(e => !e.name.startsWith('data:'))")
    assert "http" not in script(opened, "document.documentElement.outerHTML.replace(/http-equiv/g, '')")
    assert opened.get_log("browser") == []


def test_the_page_never_scrolls_sideways_and_its_headings_are_in_order(opened):
    assert script(opened, "document.documentElement.scrollWidth <= innerWidth")
    levels = script(opened, "[...document.querySelectorAll('h1,h2,h3,h4')].map(each => +each.tagName[1])")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


def test_text_is_text(opened):
    assert opened.title == "Published claims at scale tiny"
    assert not opened.find_elements(By.ID, "hostile")
    for place in ("#sfg-S3 .text", "[id='sfg/outages'] h3", "nav"):
        assert HOSTILE in opened.find_element(By.CSS_SELECTOR, place).get_attribute("textContent")
    assert "cut margin was chosen by trial" in " ".join(script(opened, "document.body.textContent").split())


def test_what_was_run_is_what_is_shown(opened):
    facts = script(opened, "[...document.querySelectorAll('.facts dd')].map(each => each.textContent)")
    assert facts[0] == "sfg: 8 runs, 2 seeds (0–1)"


def test_the_columns_of_the_claims_fit_a_desk(opened):
    fits = script(opened, "(each => each.scrollWidth <= each.clientWidth)(document.querySelector('.tall'))")
    assert fits or script(opened, "innerWidth") < 1280


def test_all_claims_are_printed(opened):
    opened.find_element(By.NAME, "words").send_keys("no such words")
    assert shown_claims(opened) == []
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    rows = opened.find_elements(By.CSS_SELECTOR, ".claims tbody tr")
    assert rows
    assert all(row.is_displayed() for row in rows)
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_search_and_filters_choose_rows(opened):
    tested = {f"sfg-{name}" for name in TESTED}
    assert set(shown_claims(opened)) == tested
    field = opened.find_element(By.NAME, "words")
    field.send_keys("WINS  pairs")
    found = set(shown_claims(opened))
    assert "sfg-S3-wins" in found
    assert "sfg-S3" not in found
    field.clear()
    field.send_keys("no such words")
    assert shown_claims(opened) == []
    assert opened.find_element(By.TAG_NAME, "output").text.startswith("0 of ")
    opened.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    assert set(shown_claims(opened)) == tested
    chip = opened.find_element(By.CSS_SELECTOR, f".chips a[data-verdict='{NOT_RUN}']")
    chip.send_keys(Keys.ENTER)
    others = shown_claims(opened)
    assert others
    assert tested.isdisjoint(others)
    assert chip.find_element(By.TAG_NAME, "b").text == str(len(others))
    assert opened.find_element(By.NAME, "verdict").get_attribute("value") == NOT_RUN


def test_claims_that_were_computed_are_counted_and_chosen_apart_from_those_that_runs_decide(opened):
    headings = [each.text for each in opened.find_elements(By.CSS_SELECTOR, ".card h4")]
    assert headings == ["By runs", "By computation"]
    for kind in ("by runs", "by computation"):
        chips = opened.find_elements(By.CSS_SELECTOR, f".chips a[data-kind='{kind}']")
        counts = {each.get_attribute("data-verdict"): int(each.find_element(By.TAG_NAME, "b").text) for each in chips}
        choice = Select(opened.find_element(By.NAME, "kind"))
        choice.select_by_visible_text(kind)
        assert len(shown_claims(opened)) == sum(counts.values()) - counts.get(NOT_RUN, 0)
        choice.select_by_index(0)


def test_a_link_leads_to_a_claim_that_is_not_shown_yet(opened, page):
    opened.get(f"file://{page}#sfg-S1")
    assert "sfg-S1" in shown_claims(opened)
    head = script(opened, "document.querySelector('.claims thead th').getBoundingClientRect().bottom")
    assert head <= script(opened, "document.getElementById('sfg-S1').getBoundingClientRect().top") < 900


@pytest.mark.parametrize("place", ["100%", "%E4", "nowhere"])
def test_a_link_that_leads_nowhere_stops_no_script(opened, page, place):
    opened.get("about:blank")
    opened.get(f"file://{page}#{place}")
    assert set(shown_claims(opened)) == {f"sfg-{name}" for name in TESTED}
    assert opened.find_elements(By.CSS_SELECTOR, "figure button")
    assert opened.get_log("browser") == []


def test_the_place_on_the_page_is_marked_in_the_contents_whatever_it_is_called(page, tmp_path):
    renamed = tmp_path / "report.html"
    renamed.write_text(page.read_text().replace("sfg/outages", "sfg/äöü 100%"))
    with chromium(1280) as browser:
        browser.get(f"file://{renamed}")
        browser.execute_script("document.getElementById('sfg/äöü 100%').scrollIntoView()")
        WebDriverWait(browser, 20).until(lambda _: browser.find_elements(By.CSS_SELECTOR, "nav ul ul [aria-current]"))
        assert browser.get_log("browser") == []


def test_columns_are_sorted_by_numbers_or_text_and_what_is_missing_comes_last(opened):
    opened.find_element(By.CSS_SELECTOR, f".chips a[data-verdict='{NOT_RUN}']").send_keys(Keys.ENTER)
    heads = opened.find_elements(By.CSS_SELECTOR, ".claims thead th")
    for column, head in enumerate(heads):
        cells = f"[...document.querySelectorAll('.claims tbody tr')].map(r => r.cells[{column}])"
        values = {}
        for direction in ("ascending", "descending"):
            opened.execute_script("arguments[0].click()", head.find_element(By.TAG_NAME, "button"))
            assert [each.get_attribute("aria-sort") for each in heads].count(direction) == 1
            assert head.get_attribute("aria-sort") == direction
            keys = script(opened, f"{cells}.map(cell => cell.dataset.key ?? cell.textContent.trim())")
            values[direction] = [key for key in keys if key]
            assert keys == values[direction] + [""] * (len(keys) - len(values[direction]))
        if head.get_attribute("data-sort") == "number":
            numbers = [float(key) for key in values["ascending"]]
            assert numbers == sorted(numbers)
            assert [float(key) for key in values["descending"]] == numbers[::-1]
    ids = script(opened, "[...document.querySelectorAll('.claims tbody tr')].map(r => r.id)")
    opened.execute_script("arguments[0].click()", heads[0].find_element(By.TAG_NAME, "button"))
    named = script(opened, "[...document.querySelectorAll('.claims tbody tr')].map(r => r.id)")
    assert named != ids
    assert named.index("sfg-S2") < named.index("sfg-S3")


def press_until(browser, key, selector, most=150):
    """Press a key until what the selector names has the focus."""
    for _ in range(most):
        focused = browser.switch_to.active_element
        if focused.tag_name != "body" and script(browser, f"document.activeElement.matches({json.dumps(selector)})"):
            return focused
        focused.send_keys(key)
    raise AssertionError(f"{selector}: not reached by keyboard")


def test_the_keyboard_alone_searches_sorts_opens_and_looks_closer(opened):
    assert press_until(opened, Keys.TAB, "a").get_attribute("href").endswith("#main")
    press_until(opened, Keys.TAB, "input[type=search]").send_keys("wins")
    assert shown_claims(opened) == ["sfg-S3-wins"]
    button = press_until(opened, Keys.TAB, "th:nth-child(5) button")
    button.send_keys(Keys.ENTER)
    head = opened.find_element(By.CSS_SELECTOR, "th:nth-child(5)")
    assert head.get_attribute("aria-sort") == "ascending"
    summary = press_until(opened, Keys.TAB, ".item summary")
    summary.send_keys(Keys.ENTER)
    assert summary.find_element(By.XPATH, "..").get_attribute("open")
    press_until(opened, Keys.TAB, "figure button").send_keys(Keys.ENTER)
    large = opened.find_element(By.CSS_SELECTOR, "dialog[open] img")
    assert large.size["width"] == script(opened, "document.querySelector('#zoom img').naturalWidth")
    opened.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not opened.find_elements(By.CSS_SELECTOR, "dialog[open]")


def test_without_scripts_everything_is_to_be_seen(page):
    with chromium(1280, scripts=False) as browser:
        browser.get(f"file://{page}")
        rows = browser.find_elements(By.CSS_SELECTOR, ".claims tbody tr")
        assert len(rows) == len(pd.read_csv(page.parent / "claims.csv"))
        assert all(row.is_displayed() for row in rows)
        assert not browser.find_element(By.CLASS_NAME, "filters").is_displayed()


def test_a_command_on_the_page_makes_its_figure_again(made, page, tmp_path):
    root = shutil.copytree(made.root, tmp_path / "project", symlinks=True)
    path = f"{OUTAGES}/figures/self_weight.png"
    with chromium(1280) as browser:
        browser.get(f"file://{page}")
        item = browser.find_element(By.ID, "sfg/outages/figures/self_weight")
        command = item.find_element(By.CLASS_NAME, "command").get_attribute("textContent")
        assert "8, listed in" in item.find_element(By.CSS_SELECTOR, ".origin dd").get_attribute("textContent")
    before = (root / path).read_bytes()
    (root / path).write_bytes(b"")
    subprocess.run(shlex.split(command), cwd=root, check=True, capture_output=True)
    assert (root / path).read_bytes() == before
    planned = subprocess.run([*shlex.split(command), "-n"], cwd=root, check=True, capture_output=True, text=True)
    assert re.findall(r"^rule (\w+):$", planned.stdout + planned.stderr, re.MULTILINE) == ["figure"]


def test_the_report_is_verified_with_all_else_and_a_style_that_has_changed_since_is_named(finished):
    assert outagefl(finished, "verify", "results/tiny").returncode == 0
    style = finished.root / "report" / "page.css"
    style.write_text(style.read_text() + "\n")
    told = outagefl(finished, "verify", "results/tiny").stdout
    assert "made from report/page.css, which has changed since\n    results/tiny/report.html" in told
    assert finished.planned() == {"report": 1}


FIGURE = f"{OUTAGES}/figures/self_weight.png"
RECORD = "results/provenance/figure/tiny/sfg/outages/self_weight.json"


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        (FIGURE, None, f"{FIGURE}: cannot be read"),
        (FIGURE, "<html>", f"{FIGURE}: not a whole PNG image"),
        (RECORD, None, f"{FIGURE}: no record says how it was made"),
        (RECORD, "{", f"{RECORD}: not the record of a job or run"),
        (f"{OUTAGES}/comparison.html", "<p>", f"{OUTAGES}/comparison.html: holds no table"),
        (f"{OUTAGES}/runs.csv", "study\nsfg\n", f"{OUTAGES}/runs.csv: not an index of runs"),
        ("results/tiny/claims.csv", "id\nS3\n", "results/tiny/claims.csv: not a table of claims"),
        ("results/tiny/config.yaml", "[", "results/tiny/config.yaml: not valid YAML"),
    ],
)
def test_what_is_missing_or_damaged_is_named(finished, monkeypatch, path, content, message):
    monkeypatch.chdir(finished.root)
    Path(path).unlink() if content is None else Path(path).write_text(content)
    with pytest.raises(OutageflError) as caught:
        write_results(Path("again.html"), Path("results"), GIVEN, SHOWN, [])
    assert str(caught.value).startswith(message)
    assert not Path("again.html").exists()


def test_a_damaged_record_of_a_run_is_named(finished, monkeypatch):
    monkeypatch.chdir(finished.root)
    record = next(Path("results/runs/sfg").glob("*/run.json"))
    record.write_text(record.read_text().replace('"cpu"', '"gpu"'))
    with pytest.raises(OutageflError, match=f"{record}: its content is not what was recorded"):
        write_results(Path("again.html"), Path("results"), GIVEN, SHOWN, [])
