"""Two hypothesis profiles and the `thorough` marker, chosen by SHALLOWS_TEST_PROFILE; what tests share."""

import os
import re
import shutil
import signal
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from tests.drawn_cases import DrawnCases
from tests.kept_outcomes import kept_outcomes

ROOT = Path(__file__).resolve().parent.parent
PROFILE = os.environ.get("SHALLOWS_TEST_PROFILE", "quick")

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")

settings.register_profile("quick", max_examples=15, deadline=None, derandomize=True)
settings.register_profile(
    "thorough", max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(PROFILE)


def pytest_configure(config):
    """Hear Ctrl-C also under nohup and in the background, where SIGINT is ignored, here and in every process started
    here: some tests send it. A handler of Python is not passed on to a new program, "ignored" is."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if PROFILE != "thorough":
        return
    config.pluginmanager.register(DrawnCases(), "drawn-cases")
    outcomes = kept_outcomes(config, ROOT)
    if outcomes is not None:
        config.pluginmanager.register(outcomes, "kept-outcomes")


@cache
def shared_by(file):
    """What a file's tests share that each process would make for itself: the browser, a fixture of the module."""
    text = (ROOT / file).read_text(encoding="utf-8")
    if file.startswith("tests/uses/explorer/") or re.search(r"def \w+\([^)]*\bbrowser\b", text):
        return "browser"
    return file if 'scope="module"' in text else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Several processes (-n 2): tests that share something dear go to one of them, which makes it once."""
    from xdist.scheduler import LoadScopeScheduling

    class Shared(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return shared_by(nodeid.partition("::")[0]) or nodeid

    return Shared(config, log) if config.getvalue("dist") == "load" else None


def pytest_collection_modifyitems(config, items):
    """Leave the thorough tests out of the everyday run (deselected, not skipped: nothing is hidden)."""
    if PROFILE == "thorough":
        return
    thorough = [item for item in items if "thorough" in item.keywords]
    if thorough:
        config.hook.pytest_deselected(items=thorough)
        items[:] = [item for item in items if "thorough" not in item.keywords]


@pytest.fixture
def rng():
    """A generator with a fixed seed: tests never touch global random state."""
    return np.random.default_rng(20261115)


@pytest.fixture(scope="session")
def browser():
    """The headless Chromium that all tests share: `browser.new_page()`."""
    program = next((found for found in map(shutil.which, PROGRAMS) if found), None)
    if program is None:
        pytest.fail(
            "These tests drive a browser, and no Chromium was found. Fix: apt-get install chromium as root, or put "
            "a chromium or google-chrome on the PATH.",
            pytrace=False,
        )
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield chromium
        chromium.close()
