"""Where modules of a sweep are looked for."""

import sys

from shallows.uses.sweep.functions import importable


def test_folders_are_searched_if_they_exist_and_once(tmp_path, monkeypatch):
    before = list(sys.path)
    monkeypatch.setattr(sys, "path", list(before))
    for folder in ("", str(tmp_path / "missing"), before[-1]):
        importable(folder)
    assert sys.path == before
    for _ in range(2):
        importable(str(tmp_path))
    assert sys.path == [str(tmp_path), *before]
