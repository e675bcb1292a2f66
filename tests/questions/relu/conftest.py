"""Block values published with paper 003, shared by the tests of this folder."""

import json
from pathlib import Path

import pytest

PUBLISHED = json.loads((Path(__file__).parent / "published_minima.json").read_text(encoding="utf-8"))[
    "minima"
]


def pytest_generate_tests(metafunc):
    """One test for each published minimum that is written down here."""
    if "published" in metafunc.fixturenames:
        names = [f"k={row['k']} {row['p']}" for row in PUBLISHED]
        metafunc.parametrize("published", PUBLISHED, ids=names)


@pytest.fixture
def published_all():
    """All of them."""
    return PUBLISHED
