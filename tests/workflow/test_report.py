"""The report opens in a browser with all its figures and tables, needs no network, and can be read."""

import os
import shutil

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.workflow.conftest import Project

FLAGS = """--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --window-size=1280,900""".split()  # noqa: SIM905
IMAGE = "//img[starts-with(@src, 'data:image/png')]"
EYE = "//table//a[@iconname='eye']"


@pytest.fixture(scope="module")
def report(_finished, tmp_path_factory):
    """The report of a finished tiny reproduction."""
    copy = Project(shutil.copytree(_finished.root, tmp_path_factory.mktemp("report") / "project", symlinks=True))
    copy.finish("--report", "results/tiny/report.html")
    return copy.root / "results" / "tiny" / "report.html"


@pytest.fixture
def browser():
    programs = shutil.which("chromium"), shutil.which("chromedriver")
    if not all(programs):
        reason = "needs the programs chromium and chromedriver (Debian: apt-get install chromium chromium-driver)"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(programs[1]))
    yield driver
    driver.quit()


def wait(browser, condition):
    return WebDriverWait(browser, 20).until(lambda _: condition())


def open_category(browser, report, category):
    """Open one category of the report; returns how many results it lists."""
    browser.get(f"file://{report}")
    label = f"//span[normalize-space(text())='{category}']"
    wait(browser, lambda: browser.find_elements(By.XPATH, label))[0].click()
    return len(wait(browser, lambda: browser.find_elements(By.XPATH, EYE)))


def test_the_report_shows_every_figure_and_table(report, browser):
    browser.get(f"file://{report}")
    wait(browser, lambda: "says for every published claim" in browser.page_source)

    assert open_category(browser, report, "Figures") == 4
    seen = set()
    for place in range(4):
        browser.find_elements(By.XPATH, EYE)[place].click()
        wait(browser, lambda: {e.get_attribute("src") for e in browser.find_elements(By.XPATH, IMAGE)} - seen)
        shown = browser.find_element(By.XPATH, IMAGE)
        assert browser.execute_script("return arguments[0].complete && arguments[0].naturalWidth", shown) >= 800
        assert shown.size["width"] >= 400
        seen.add(shown.get_attribute("src"))
    assert len(seen) == 4

    for category, place, words in (
        ("Tables", 0, ["DFedAvg", "SFG-Cut", "Always on", "±"]),
        ("Claims", 1, ["S1", "S3", "reproduced"]),  # after the figure
    ):
        assert open_category(browser, report, category) == place + 1
        browser.find_elements(By.XPATH, EYE)[place].click()
        frame = wait(browser, lambda: browser.find_elements(By.TAG_NAME, "iframe"))[0]
        browser.switch_to.frame(frame)
        table = wait(browser, lambda: browser.find_elements(By.TAG_NAME, "table"))[0]
        for word in words:
            assert word in table.text
        size = browser.execute_script("return parseFloat(getComputedStyle(arguments[0]).fontSize)", table)
        assert size >= 12
        browser.switch_to.default_content()

    fetched = browser.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert not [name for name in fetched if name.startswith("http")]
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def test_captions_say_what_was_run(report):
    page = report.read_text()
    for words in ("one dot per seed", "returns from an outage", "Effective lag over rounds", "Scale tiny"):
        assert words in page
