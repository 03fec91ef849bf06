"""The report opens in a browser with all its figures and tables, needs no network, and can be read."""

import os
import shutil

import pytest

selenium = pytest.importorskip("selenium")
from selenium import webdriver  # noqa: E402

FLAGS = """--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --window-size=1280,900""".split()  # noqa: SIM905


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
