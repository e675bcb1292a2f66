"""Public names that are loaded on first use, from a list that Python, type checkers and editors share.

The list is a stub beside the module (`__init__.pyi`): lines `from package.module import name as name`. That is what
lazy_loader's `attach_stub` does (Scientific Python's SPEC 1), without the dependency.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from shallows.support.collector import no_collection


def names_of_stub(module: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a module whose public names are the imports of its stub."""
    homes = {
        alias.name: line.module or ""
        for line in ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")).body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home = homes[name]
        with no_collection():
            value = import_module(f"{home}.{name}") if home == module else getattr(import_module(home), name)
        setattr(sys.modules[module], name, value)
        return value

    exported = sorted((name for name in homes if not name.startswith("_")), key=reading_order)
    return load, lambda: [*exported, *(name for name in homes if name.startswith("_"))], exported


def reading_order(name: str) -> tuple[bool, bool, str]:
    """Constants, then classes, then functions and modules, each by the alphabet: ruff's order of `__all__`."""
    return not name.isupper(), not name[0].isupper(), name
