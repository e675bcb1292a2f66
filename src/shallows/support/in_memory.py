"""Records that lie in memory: compiled code gets their address and reads the fields that it uses.

A record that is handed over by value is taken apart and put together again at every call, seven words for each array
and a reference count: two thirds of all instructions of a first ReLU ensemble were that. Here a record is one word, and
a field that nobody reads costs nothing. What lies in memory stays as it is while compiled code runs, and LLVM is told
so: reading a field in a loop costs no more than before it. Arrays that a record points to may change, of course.

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
)

from shallows.support import cache_lines
from shallows.support.recipe import ingredients

# numba has types for some of its parts only
_type: Any = types.Type
_template: Any = AttributeTemplate
_model: Any = models.PrimitiveModel
_bytes: Any = cgutils.voidptr_t
_word: Any = ir.IntType(64)
_decorated: Any = intrinsic

#: Words of a line of the processor's cache: arrays begin at one.
LINE_WORDS = cache_lines.LINE // 8


class Place(_type):  # type: ignore[misc]
    """The type of the address of a record: each field takes a word, an array's is the address of its first entry."""

    def __init__(self, kind: Any, fields: tuple[Any, ...]) -> None:
        self.kind = kind
        self.fields = dict(zip(kind._fields, fields, strict=True))
        self.points = [isinstance(field, types.CPointer) for field in fields]
        self.entries: list[Any] = [
            np.dtype(str(field.dtype)) if to else None for to, field in zip(self.points, fields, strict=True)
        ]
        self.offsets = {name: 8 * place for place, name in enumerate(kind._fields)}
        self.layout = ", ".join(f"{name}: {field}" for name, field in self.fields.items())
        digest = hashlib.sha256(self.layout.encode()).hexdigest()[:8]
        super().__init__(name=f"{kind.__name__}_{digest}")

    def __recipe__(self) -> Iterator[str]:
        """What code that reads the record depends on."""
        yield f"{self.name}({self.layout})"
        yield from ingredients(_read)


class Held:
    """A record in memory, with all that it points to: compiled code is given its `address` while this is alive."""

    __slots__ = ("_words", "address", "values")

    def __init__(self, place: Place, values: Any) -> None:
        self.values = values
        self._words = np.zeros(len(values), np.int64)
        self.address = int(self._words.ctypes.data)
        numbers = self._words.view(np.float64)
        given = zip(place.fields.items(), place.entries, values, strict=True)
        for at, ((name, kind), entries, value) in enumerate(given):
            if entries is not None:
                self._words[at] = _first_entry(value, entries, name)
            elif kind == types.float64:
                numbers[at] = value
            else:
                self._words[at] = value

    def __reduce__(self) -> Any:
        raise TypeError(
            "A record in memory is of use in its own process only; make it anew in the other one."
        )


class Room:
    """A record whose arrays are made for it, one after the other in one piece of memory, all zero."""

    __slots__ = ("_fields", "_memory", "_place", "address")

    def __init__(self, place: Place, *fields: Any) -> None:
        self._place, self._fields = place, fields
        sizes = [
            -(-size // LINE_WORDS) * LINE_WORDS if to else 0
            for to, size in zip(place.points, fields, strict=True)
        ]
        head = -(-len(fields) // LINE_WORDS) * LINE_WORDS
        self._memory = cache_lines.zeros(head + sum(sizes), np.int64)
        self.address = int(self._memory.ctypes.data)
        words, at = [], self.address + 8 * head
        for to, size, given in zip(place.points, sizes, fields, strict=True):
            words.append(at if to else given)
            at += 8 * size
        self._memory[: len(words)] = words

    def array(self, name: str) -> np.ndarray:
        """One of the arrays."""
        at = list(self._place.fields).index(name)
        first = (int(self._memory[at]) - self.address) // 8
        return self._memory[first : first + self._fields[at]].view(self._place.entries[at])

    def __reduce__(self) -> Any:
        raise TypeError(
            "A record in memory is of use in its own process only; make it anew in the other one."
        )


def _first_entry(array: np.ndarray, kind: np.dtype[Any], name: str) -> int:
    """Where the entries of an array begin; they must be of the kind that is pointed to, one after the other."""
    if array.dtype != kind or not array.flags.c_contiguous:
        raise TypeError(f"{name} is {array.dtype} in strides {array.strides}; expected contiguous {kind}.")
    return int(array.__array_interface__["data"][0])


def in_memory(kind: Any, *fields: Any) -> Place:
    """The type of a NamedTuple that lies in memory: integers, floats, booleans, pointers, or such records again."""
    return Place(kind, fields)


def at(place: Place) -> Any:
    """What compiled code calls to find the record at an address that Python handed over."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], _bytes)

    def definition(_context: Any, _address: Any) -> Any:
        return place(types.intp), generate

    return _decorated(definition)


@register_model(Place)
class _PlaceModel(_model):  # type: ignore[misc]
    def __init__(self, manager: Any, place: Place) -> None:
        super().__init__(manager, place, _bytes)


@infer_getattr
class _Fields(_template):  # type: ignore[misc]
    key = Place

    def generic_resolve(self, place: Place, name: str) -> Any:
        """The type of a field."""
        return place.fields.get(name)


def _read(context: Any, builder: Any, place: Place, value: Any, name: str) -> Any:
    """Read one word, and promise that it does not change."""
    field = place.fields[name]
    kind = _word if field == types.boolean else context.get_value_type(field)
    where = builder.bitcast(builder.gep(value, [_word(place.offsets[name])]), kind.as_pointer())
    word = builder.load(where)
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return builder.icmp_unsigned("!=", word, _word(0)) if field == types.boolean else word


_lowered: Any = lower_getattr_generic
_lowered(Place)(_read)
