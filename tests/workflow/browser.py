"""A headless Chromium; in CI a test that needs it fails where there is none, elsewhere it is skipped."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from selenium import webdriver

FLAGS = """--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync""".split()  # noqa: SIM905
SCRIPTS_OFF = {"profile.managed_default_content_settings.javascript": 2}


@contextmanager
def chromium(width: int, *, scripts: bool = True) -> Iterator[webdriver.Chrome]:
    """A browser whose page is so many pixels wide, a phone below 500; it notes what is said on the console."""
    programs = shutil.which("chromium"), shutil.which("chromedriver")
    if not all(programs):
        reason = "needs the programs chromium and chromedriver (Debian: apt-get install chromium chromium-driver)"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in [*FLAGS, f"--window-size={width},900"]:
        options.add_argument(flag)
    if width < 500:
        metrics = {"width": width, "height": 800, "pixelRatio": 1.0}
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": metrics})
    if not scripts:
        options.add_experimental_option("prefs", SCRIPTS_OFF)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(programs[1]))
    try:
        yield driver
    finally:
        driver.quit()
