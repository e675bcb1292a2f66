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
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from shallows.support.errors import InvalidProblem

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
        raise InvalidProblem(
            f"{module_name!r} is not what the sweep was started with: its file has changed, or an older one is loaded. "
            "Fix: start the sweep again; on a cluster, restart the workers."
        )
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
    """A hash of the file a user's function is in: an edited function makes new cells. Ours go by the version."""
    return _load(target.partition(":")[0], folder)[1]


def _load(name: str, folder: str) -> tuple[ModuleType, str]:
    file = Path(folder) / f"{name}.py"
    if folder and file.is_file():
        mark = _hash(file)
        return _beside(str(file), f"_shallows_sweep_{name}_{mark}"), mark
    return _installed(name)


@lru_cache(maxsize=64)
def _beside(file: str, name: str) -> ModuleType:
    """The module of a file beside the sweep file."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise InvalidProblem(f"Cannot import {file}: {type(error).__name__}: {error}.") from error
    return module


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
