"""The version: of the installed package, or of the source tree that is used without installing it."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def _of_source_tree(folder: Path) -> str:
    """What `pyproject.toml` in this folder says; "unknown" where there is none."""
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        return "unknown"
    return str(project["version"]) if project.get("name") == "shallows" else "unknown"


def find_version() -> str:
    """The version of `shallows`."""
    try:
        return version("shallows")
    except PackageNotFoundError:
        return _of_source_tree(Path(__file__).resolve().parents[3])


__version__ = find_version()
