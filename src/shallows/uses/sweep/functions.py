"""Functions named in a sweep file: the built-in ones by name, any other as `module:function`.

A function is called with the settings of its table and with those of the offered arguments it asks for by name:

| offered | what it is |
| --- | --- |
| `problem` | the cell's problem (quantities only) |
| `rng` | a NumPy generator with the cell's seed |
| `seed` | that seed itself, an integer |
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from shallows.support.errors import InvalidProblem
from shallows.uses.sweep.faults import InputChanged
from shallows.uses.sweep.sources import executed, mark_of, sources_of

Function = Callable[..., Any]


def importable(folder: str) -> None:
    """Let modules beside the sweep file be imported, as Python does for the folder of a script."""
    if folder and folder not in sys.path and Path(folder).is_dir():
        sys.path.insert(0, folder)


@lru_cache(maxsize=256)
def find_function(target: str, folder: str = "", mark: str | None = None) -> Function:
    """The function `module:function`; with a mark, only if its file is the one that the plan was made with.

    A module beside the sweep file is loaded under a name of its own, made of its content: an edited file is loaded
    again in a running session, and two folders can each have a `cells.py`.
    """
    module_name, _, name = target.partition(":")
    module, found_mark = _load(module_name, folder)
    if mark is not None and mark != found_mark:
        raise InputChanged(f"The file of {target}, or one that it imports,")
    found: Any = module
    for step in name.split("."):
        found = getattr(found, step, None)
        if found is None:
            raise InvalidProblem(f"{module_name!r} has no {name!r}; {target!r} was asked for.")
    if not callable(found):
        raise InvalidProblem(f"{target!r} is no function but {type(found).__name__}.")
    function: Function = found
    return function


def digest(target: str, folder: str) -> str:
    """A hash of the files a user's function is in: an edited function makes new cells. Ours go by the version."""
    name = target.partition(":")[0]
    file = _file_beside(name, folder)
    return _installed(name)[1] if file is None else mark_of(sources_of(file))


def _load(name: str, folder: str) -> tuple[ModuleType, str]:
    file = _file_beside(name, folder)
    if file is None:
        return _installed(name)
    sources = sources_of(file)
    mark = mark_of(sources)
    known = f"_shallows_sweep_{name}_{mark}"
    module = sys.modules.get(known)
    if module is None or module.__file__ != str(file):
        module = executed(known, file, sources)
    return module, mark


def _file_beside(name: str, folder: str) -> Path | None:
    file = Path(folder) / f"{name}.py"
    return file if folder and file.is_file() else None


@lru_cache(maxsize=64)
def _installed(name: str) -> tuple[ModuleType, str]:
    """An installed module, and the hash of its file when it was first asked for; none for our own."""
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        raise InvalidProblem(
            f"Cannot import {name!r}: {error}. Fix: put {name.split('.')[0]}.py beside the sweep file, or install its "
            "package (on every worker)."
        ) from error
    file = getattr(module, "__file__", None)
    ours = name.split(".")[0] == "shallows"
    return module, "" if ours or file is None else _hash(Path(file))


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def resolve(name: str, built_in: Mapping[str, str], what: str) -> str:
    """`module:function` of a name: a built-in one, or itself when it has a colon."""
    if ":" in name:
        return name
    if name not in built_in:
        raise InvalidProblem(
            f"There is no {what} called {name!r}; there are {', '.join(sorted(built_in))}, and any function as "
            "module:function."
        )
    return built_in[name]


def asked_for(function: Function, offered: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the offered arguments that the function has parameters for."""
    return {name: offered[name] for name in _named(function) if name in offered}


def check_call(
    function: Function, target: str, settings: Mapping[str, Any], offered: Mapping[str, Any]
) -> None:
    """Refuse settings the function does not take, and missing ones, before anything runs."""
    both = set(settings) & set(asked_for(function, offered))
    if both:
        raise InvalidProblem(f"{target!r} is given {', '.join(sorted(both))} by the sweep: leave it out.")
    try:
        inspect.signature(function).bind(**asked_for(function, offered), **settings)
    except TypeError as error:
        takes = ", ".join(name for name in _named(function) if name not in offered)
        raise InvalidProblem(f"{target!r} cannot be called: {error}. Its settings are: {takes}.") from None


@lru_cache(maxsize=256)
def _named(function: Function) -> tuple[str, ...]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return tuple(name for name, p in inspect.signature(function).parameters.items() if p.kind in kinds)
