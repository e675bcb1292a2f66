"""Results on disk: a tree of dataclasses and their fields as a document, their arrays beside it, and back, bit for bit.

    {"is": "Run", "network": {"make": "Network", …}, "theta": {"array": "theta"}, "status": {"is": "Status", …}, …}

Reading runs no code of the file's choosing: a `Records` names the classes that its files may hold, and objects that say
how they are made (`construction`) are made by their public constructors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.support.checks import describe
from shallows.support.construction import Constructed, constructor
from shallows.support.errors import InvalidProblem
from shallows.support.files import Arrays, Format

#: Where ufuncs are looked for.
_UFUNCS = ("numpy", "scipy.special")
#: What makes an object: its constructor's public name and the arguments.
Maker = Callable[[str, Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Kind:
    """A class that a file may hold, and how its objects are taken apart and made again.

    Without functions of its own it is a dataclass, by its fields, or an Enum, by its names.
    """

    cls: type
    apart: Callable[[Any], Any] | None = None
    together: Callable[[Any], Any] | None = None

    @property
    def name(self) -> str:
        """What stands in the file."""
        return self.cls.__name__

    def parts(self, value: Any) -> Any:
        """What is written of an object."""
        if self.apart is not None:
            return self.apart(value)
        if isinstance(value, Enum):
            return value.name
        return {field.name: getattr(value, field.name) for field in fields(value) if field.init}

    def made(self, parts: Any) -> Any:
        """The object of these parts."""
        if self.together is not None:
            return self.together(parts)
        return self.cls[parts] if issubclass(self.cls, Enum) else self.cls(**parts)


class Records:
    """A format of files for results of some kinds, the first of which they are about."""

    def __init__(
        self, name: str, version: int, *kinds: type | Kind, make: Maker | None = None, readable: int = 1
    ) -> None:
        self.format, self._make = Format(name, version, readable=readable), make
        self.kinds = {kind.name: kind for kind in map(_as_kind, kinds)}
        self._about = next(iter(self.kinds.values())).cls

    def save(self, path: str | Path, value: Any, words: Mapping[str, Any] | None = None) -> Path:
        """Write `path`.json, `words` first, and `path`.npz; the path of the first.

        What cannot be stored leaves a note beside the words, or is refused where there are none.
        """
        arrays: Arrays = {}
        try:
            document = {"result": written(value, "", arrays, self.kinds)}
        except InvalidProblem as error:
            if words is None:
                raise
            document, arrays = {"unstored": str(error)}, {}
        return self.format.save(path, dict(words or {}) | document, arrays)

    def load(self, path: str | Path) -> Any:
        """What `save` wrote; a damaged file raises `InvalidProblem`."""
        contents = self.format.load(path)
        if "unstored" in contents.document:
            raise InvalidProblem(
                f"{contents.path} has numbers and words only: {contents.document['unstored']}"
            )
        with contents.reading():
            value = read(contents.document["result"], contents.arrays, self.kinds, self._make)
            if not isinstance(value, self._about):
                raise ValueError(f"it holds {describe(value)} and no {self._about.__name__}")
            return value


def _as_kind(given: type | Kind) -> Kind:
    kind = given if isinstance(given, Kind) else Kind(given)
    assert kind.apart is not None or is_dataclass(kind.cls) or issubclass(kind.cls, Enum)
    return kind


def written(value: Any, place: str, arrays: Arrays, kinds: Mapping[str, Kind] | None = None) -> Any:
    """The document of a value, whose arrays are added to `arrays` under names that begin with its place.

    Without `kinds` it is one that says how it is made, and sequences are lists.

    >>> arrays = {}
    >>> written((np.ones(2), 1.5), "x", arrays, {}), list(arrays)
    ({'tuple': [{'array': 'x.0'}, 1.5]}, ['x.0'])
    """
    if isinstance(value, Constructed):
        made = value.construction()
        parts = {key: written(part, _inside(place, key), arrays) for key, part in made.arguments.items()}
        return {"make": made.name, **parts}
    if kinds is not None and type(value).__name__ in kinds:
        kind = kinds[type(value).__name__]
        return {"is": kind.name, "parts": written(kind.parts(value), place, arrays, kinds)}
    if isinstance(value, np.ndarray) and value.dtype != object:
        arrays[place] = value
        return {"array": place}
    if kinds is not None and isinstance(value, np.generic):
        value = value.item()
    if kinds is not None and isinstance(value, complex | float) and not _is_plain(value):
        return {"number": str(value)}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping) and kinds is not None:
        return {
            "dict": [
                [written(key, "", arrays, kinds), written(part, _inside(place, str(key)), arrays, kinds)]
                for key, part in value.items()
            ]
        }
    if isinstance(value, Sequence):
        entries = [written(part, _inside(place, str(i)), arrays, kinds) for i, part in enumerate(value)]
        return {"tuple": entries} if kinds is not None and isinstance(value, tuple) else entries
    if callable(value):
        return {"function": _function_name(value)}
    raise InvalidProblem(f"{place or 'the result'} is {describe(value)}, which cannot be stored.")


def _inside(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _is_plain(value: complex | float) -> bool:
    """Whether JSON has the number."""
    return isinstance(value, float) and bool(np.isfinite(value))


def read(
    value: Any,
    arrays: Mapping[str, NDArray[Any]],
    kinds: Mapping[str, Kind] | None = None,
    make: Maker | None = None,
) -> Any:
    """The value of a document that `written` made; `make` knows constructors, otherwise those that are loaded do."""

    def inside(part: Any) -> Any:
        return read(part, arrays, kinds, make)

    if isinstance(value, list):
        return [inside(part) for part in value]
    if not isinstance(value, Mapping):
        return value
    if "make" in value:
        name = str(value["make"])
        inner = {key: read(part, arrays, None, make) for key, part in value.items() if key != "make"}
        try:
            return make(name, inner) if make is not None else constructor(name)(**inner)
        except TypeError as error:
            raise InvalidProblem(f"The document's {name!r} cannot be made: {error}.") from None
    if "function" in value:
        return _function(str(value["function"]))
    if "array" in value or kinds is None:
        name = str(value.get("array"))
        if name not in arrays:
            raise InvalidProblem(f"The document names the array {name!r}, which is not there.")
        return arrays[name]
    if "is" in value:
        return kinds[str(value["is"])].made(inside(value["parts"]))
    if "number" in value:
        number = complex(value["number"])
        return number if "j" in value["number"] else number.real
    if "dict" in value:
        return dict(inside(row) for row in value["dict"])
    return tuple(inside(part) for part in value["tuple"])


def _function_name(function: Callable[..., Any]) -> str:
    """`module:function`, when the function is found there again."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if isinstance(function, np.ufunc):  # SciPy's, and NumPy's before 2.2, do not know their place
        homes = [
            home for home in _UFUNCS if getattr(sys.modules.get(home), function.__name__, None) is function
        ]
        module, name = next(iter(homes), None), function.__name__
    if getattr(sys.modules.get(str(module)), str(name), None) is not function:
        raise InvalidProblem(
            f"{function!r} cannot be stored: it has no name in a module. Fix: define it in a module "
            "(no lambda, no inner function), or use one of NumPy's or of scipy.special."
        )
    return f"{module}:{name}"


def _function(name: str) -> Callable[..., Any]:
    module, _, inner = name.partition(":")
    found: Callable[..., Any] | None = getattr(sys.modules.get(module), inner, None)
    if found is None:
        raise InvalidProblem(
            f"The problem needs the function {name!r}. Fix: import {module} before loading it."
        )
    return found
