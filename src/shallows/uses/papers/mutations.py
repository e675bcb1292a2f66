"""Wrong versions of library functions: a claim that puts a function to the test has to notice each of them.

    with replaced("shallows.filling_width", OFF_BY_ONE):
        ...                                     # whoever calls it, under any name, gets the wrong answer

A function is replaced wherever a module of the library has it, since that is what a fault in it would look like: the
callers inside the library get the wrong answer too. Methods and properties are replaced in their class.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from importlib import import_module
from typing import Any

import numpy as np

from shallows.support.errors import InvalidProblem, ShallowsError


class BrokenMutation(Exception):
    """A wrong version that does not fit what the function returns: that a check fails then says nothing about it."""


@dataclass(frozen=True)
class Mutation:
    """A wrong version of any function: `change` spoils what the right one returns."""

    text: str
    change: Callable[[Any], Any]

    def of(self, right: Callable[..., Any]) -> Callable[..., Any]:
        """The wrong version of `right`."""

        @wraps(right)
        def wrong(*args: Any, **kwargs: Any) -> Any:
            value = right(*args, **kwargs)
            try:
                return self.change(value)
            except ShallowsError:
                raise
            except Exception as error:
                raise BrokenMutation(f"“{self.text}” cannot be made of {value!r}: {error}") from error

        return wrong


def _refuse(value: Any) -> Any:
    raise InvalidProblem("This function was replaced by one that always refuses.")


def _without_last(value: Any) -> Any:
    """An array with its last non-zero entry set to zero; a list or tuple without its last item."""
    if not isinstance(value, np.ndarray):
        return value[:-1]
    left = value.copy()
    nonzero = np.flatnonzero(left)
    left.flat[nonzero[-1:]] = 0
    return left


#: Every claim has to notice this one: otherwise it does not call the function at all.
REFUSED = Mutation("always refuses", _refuse)
DOUBLED = Mutation("a factor 2", lambda value: 2 * value)
NEGATED = Mutation("the wrong sign", lambda value: -value)
OFF_BY_ONE = Mutation("one more", lambda value: value + 1)
DROPPED = Mutation("a dropped term", _without_last)
OPPOSITE = Mutation("the opposite answer", lambda value: not value)
ALWAYS = Mutation("always yes", lambda value: True)
NEVER = Mutation("always no", lambda value: False)
NOTHING = Mutation("nothing found", lambda value: None)
EMPTY = Mutation("nothing found", lambda value: type(value)())
#: A chart without its lowest critical point.
MISSING_POINT = Mutation(
    "a missing point",
    lambda chart: replace(chart, critical=chart.critical.where(np.arange(len(chart.critical)) > 0)),
)


def of_field(name: str, mutation: Mutation) -> Mutation:
    """The mutation of one field of a result that is a dataclass."""
    return Mutation(
        f"{name}: {mutation.text}",
        lambda result: replace(result, **{name: mutation.change(getattr(result, name))}),
    )


@contextmanager
def replaced(name: str, mutation: Mutation) -> Iterator[None]:
    """The library with one function replaced by a wrong version, and as it was again afterwards."""
    owner, attribute = _find(name)
    right = inspect.getattr_static(owner, attribute)
    wrong = _wrong(right, mutation)
    inherited = inspect.isclass(owner) and attribute not in vars(owner)
    _forget()
    try:
        if inspect.isclass(owner):
            setattr(owner, attribute, wrong)
        else:
            _exchange(right, wrong)
        yield
    finally:
        if inherited:
            delattr(owner, attribute)
        elif inspect.isclass(owner):
            setattr(owner, attribute, right)
        else:
            _exchange(wrong, right)
        _forget()


def _find(name: str) -> tuple[Any, str]:
    """The module or class that has the last part of a dotted name."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            owner: Any = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:-1]:
            owner = getattr(owner, part)
        getattr(owner, parts[-1])  # names that are loaded on first use are loaded here
        return owner, parts[-1]
    raise InvalidProblem(f"There is no {name!r}; expected the dotted name of a function of the library.")


def _wrong(right: Any, mutation: Mutation) -> Any:
    if isinstance(right, property):
        assert right.fget is not None
        return property(mutation.of(right.fget))
    if isinstance(right, classmethod | staticmethod):
        return type(right)(mutation.of(right.__func__))
    return mutation.of(right)


def _modules() -> list[Any]:
    return [module for name, module in list(sys.modules.items()) if name.split(".")[0] == "shallows"]


def _exchange(old: Any, new: Any) -> None:
    """Put `new` wherever a module has `old`."""
    for module in _modules():
        for name, value in list(vars(module).items()):
            if value is old:
                setattr(module, name, new)


def _forget() -> None:
    """Empty the library's caches: what was remembered with the right function must not hide the wrong one, or stay."""
    for module in _modules():
        for value in list(vars(module).values()):
            if callable(getattr(value, "cache_clear", None)):
                value.cache_clear()
