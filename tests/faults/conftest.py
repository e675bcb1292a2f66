"""A folder with a sweep in it, as a user has one."""

import sys
from textwrap import dedent

import pytest


class Folder:
    """`write(name, text)` puts a file beside `sweep.toml`; results go to `out`."""

    def __init__(self, path):
        self.path, self.out = path, path / "results"

    def write(self, name, text):
        file = self.path / name
        file.write_text(dedent(text))
        return file


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    return Folder(tmp_path)
