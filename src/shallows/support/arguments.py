"""Arguments of another kind than a function's annotations say: refused in one place, in words.

Nothing is looked at while all goes well, so that whatever works goes on to work: objects that only look like what was
expected too. A bare error from inside is compared with the annotations; where an argument is of another kind the error
is `InvalidProblem`, and says what was given, what was expected and, where that is near at hand, how to get it.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, get_origin

import numpy as np

from shallows.support.checks import describe
from shallows.support.errors import InvalidProblem, ShallowsError

_P = ParamSpec("_P")
_R = TypeVar("_R")
#: What comes out of NumPy and Python when an argument is something else.
BARE = (TypeError, ValueError, AttributeError, LookupError, AssertionError)
#: Where objects hold what people forget to take out of them: expected, attribute.
INSIDE = {"Problem": "problem", "Network": "network", "Chart": "chart", "QuadraticNetRegressor": ""}
#: Annotations that are arrays of numbers, and how they are said.
ARRAYS = ("Array", "ArrayLike", "NDArray", "Vector", "Complex")
#: Kinds that are known by what they do.
KINDS: dict[str, tuple[type, ...]] = {
    "int": (Integral,),
    "float": (Real,),
    "str": (str,),
    "Path": (PathLike, Path),
    "Sequence": (Iterable,),
    "Iterable": (Iterable,),
    "Mapping": (Mapping,),
    "tuple": (tuple, list),
    "None": (type(None),),
    "Generator": (np.random.Generator,),
}


def typed(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The function, with words for arguments of a wrong kind.

    >>> @typed
    ... def length(net: Network) -> float:
    ...     return float(np.linalg.norm(net.W))
    >>> length("a network")
    Traceback (most recent call last):
    shallows.support.errors.InvalidProblem: net is 'a network'; expected a Network.
    """

    @functools.wraps(function)
    def asked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except ShallowsError:
            raise
        except BARE as error:
            reason = next(_misfits(function, args, kwargs), None)
            if reason is None:
                raise
            raise InvalidProblem(reason) from error

    return asked


def _misfits(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[str]:
    """A sentence for each argument that is not what its annotation says."""
    signature = inspect.signature(function)
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:  # too many, too few, or of another name: Python says which
        return
    for name, value in given.items():
        parameter = signature.parameters[name]
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        wanted = _alternatives(str(parameter.annotation))
        if wanted and not any(_fits(value, kind, function) for kind in wanted):
            expected = " or ".join(_said(kind) for kind in wanted)
            yield f"{name} is {describe(value)}; expected {expected}.{_fix(value, wanted)}"


def _alternatives(annotation: str) -> list[str]:
    """The kinds an annotation names, those of its outermost union, elements in brackets; none where anything will do.

    >>> _alternatives("Sequence[Run | None] | str"), _alternatives("int | Any"), _alternatives("np.random.Generator")
    (['Sequence[Run|None]', 'str'], [], ['Generator'])
    """
    parts, depth = [""], 0
    for letter in annotation.replace(" ", ""):
        depth += (letter in "[(") - (letter in "])")
        if letter == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    kinds = [re.sub(r"^[\w.]*\.(?=\w)", "", part) for part in parts]
    names = [kind.partition("[")[0] for kind in kinds]
    return [] if any(name in ("Any", "object") or not name.isidentifier() for name in names) else kinds


def _fits(value: Any, kind: str, function: Callable[..., Any]) -> bool:
    """Whether a value is of a kind; yes, where that cannot be told."""
    name, _, inner = kind.partition("[")
    if name in ARRAYS:
        return _is_array(value)
    if name in ("Sequence", "Iterable") and isinstance(value, str):
        return False
    if name in KINDS:
        return isinstance(value, KINDS[name]) and _elements_fit(
            value, name, inner.removesuffix("]"), function
        )
    if _is_named(value, name):
        return True
    known = getattr(function, "__globals__", {}).get(name)
    origin = get_origin(known)
    if isinstance(origin, type):  # Axis = tuple[Any, ...]
        return isinstance(value, list | tuple if issubclass(origin, tuple) else origin)
    if not isinstance(known, type):
        return name not in INSIDE
    if getattr(known, "_is_protocol", False):
        return all(hasattr(value, attribute) for attribute in _asked_for(known))
    return isinstance(value, known)


def _elements_fit(value: Any, name: str, inner: str, function: Callable[..., Any]) -> bool:
    wanted = _alternatives(inner) if name in ("Sequence", "Iterable") and inner else []
    return not wanted or all(any(_fits(one, kind, function) for kind in wanted) for one in value)


def _asked_for(protocol: type) -> set[str]:
    """The attributes that a protocol asks for."""
    bases = [base for base in protocol.__mro__ if getattr(base, "_is_protocol", False)]
    names = {name for base in bases for name in (*vars(base), *getattr(base, "__annotations__", {}))}
    return {name for name in names if not name.startswith("_")}


def _is_named(value: Any, kind: str) -> bool:
    """Whether its class, or one above it, has this name."""
    return any(base.__name__ == kind for base in type(value).__mro__)


def _is_array(value: Any) -> bool:
    """Whether NumPy makes finite numbers of it."""
    try:
        table = np.asarray(value, np.complex128)
    except (TypeError, ValueError):
        return False
    return table.size > 0 and bool(np.isfinite(table).all())


def _said(kind: str) -> str:
    name, _, inner = kind.partition("[")
    if name in ARRAYS:
        return "an array of finite numbers"
    words = {"int": "an integer", "float": "a number", "str": "text", "Path": "a path", "None": "None"}
    words |= {"Sequence": "a sequence", "Iterable": "a sequence", "Generator": "a NumPy generator"}
    shown = words.get(name, f"{'an' if name[0] in 'AEIOU' else 'a'} {name}")
    return (
        f"{shown} of {inner.removesuffix(']').replace('|', ' or ')}" if inner and "[" not in inner else shown
    )


def _fix(value: Any, wanted: list[str]) -> str:
    """Where the object that was given has the one that was expected."""
    for kind in wanted:
        attribute = INSIDE.get(kind, "")
        if attribute and _is_named(getattr(value, attribute, None), kind):
            return f" Fix: give its `{attribute}`."
    return ""
