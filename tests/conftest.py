"""Two hypothesis profiles and the `thorough` marker, chosen by SHALLOWS_TEST_PROFILE."""

import os
import signal

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

PROFILE = os.environ.get("SHALLOWS_TEST_PROFILE", "quick")

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
