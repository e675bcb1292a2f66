"""What the machine code of a function depends on, in whichever file it stands.

numba's own caches look at the file of a function alone: a changed callee or constant elsewhere left stale machine code.
Here the bytecode of a function is followed to all it names: other functions that become part of it, constants, records.
Comments and line numbers do not count. What cannot be described is refused, so that nothing is forgotten.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

#: Bytecode that reads a global variable; names of attributes, which stand beside those of globals, are read by others.
LOAD_GLOBAL, LOAD_NAME, EXTENDED_ARG = (
    dis.opmap[name] for name in ("LOAD_GLOBAL", "LOAD_NAME", "EXTENDED_ARG")
)
#: Constants that are what they print.
PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)


@functools.cache
def names(function: Callable[..., Any]) -> dict[str, Any]:
    """The global and closure variables that a function uses, by name."""
    code = function.__code__
    cells = (cell.cell_contents for cell in function.__closure__ or ())
    scope = {**function.__globals__, **dict(zip(code.co_freevars, cells, strict=True))}
    used = dict.fromkeys((*code.co_freevars, *(name for inner in _codes(code) for name in _globals(inner))))
    return {name: scope[name] for name in used if name in scope}


def _globals(code: CodeType) -> Iterator[str]:
    """Names of the global variables that code reads: what `dis` says of its instructions, thirty times as fast."""
    above = 0
    for operation, argument in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        if operation == EXTENDED_ARG:
            above = (above | argument) << 8
            continue
        if operation == LOAD_GLOBAL:  # the last bit says whether it is going to be called
            yield code.co_names[(above | argument) >> 1]
        elif operation == LOAD_NAME:
            yield code.co_names[above | argument]
        above = 0


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def ingredients(function: Callable[..., Any]) -> Iterator[str]:
    """Lines that determine the machine code of a function. Named objects may say theirs: `__recipe__`."""
    for code in _codes(function.__code__):
        constants = [each for each in code.co_consts if not isinstance(each, CodeType)]
        yield f"{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames} {function.__defaults__}"
    for name, value in sorted(names(function).items()):
        yield from (f"{name} = {line}" for line in _described(value))


def _described(value: Any) -> Iterator[str]:
    """Lines for one named value."""
    if hasattr(value, "__recipe__"):
        yield from value.__recipe__()
    elif hasattr(value, "py_func"):  # a function of numba's: its code becomes part of the caller's
        yield f"{sorted(value.targetoptions.items(), key=str)}"
        yield from ingredients(value.py_func)
    elif hasattr(value, "_defn"):  # an intrinsic
        yield from ingredients(value._defn)
    elif isinstance(value, FunctionType):  # behind an intrinsic
        yield from ingredients(value)
    elif isinstance(value, PLAIN):
        yield repr(value)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _described(each)
    elif type(value).__module__.startswith(("numba.", "llvmlite.")):  # a type or a signature
        yield str(value)
    elif isinstance(value, type):
        yield f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', ())}"
    elif isinstance(value, ModuleType) and not value.__name__.startswith("shallows"):
        yield value.__name__
    elif callable(value) and not getattr(value, "__module__", "").startswith("shallows"):
        yield f"{value.__module__}.{value.__qualname__}"
    else:
        raise TypeError(
            f"Compiled code names {value!r}; expected numbers, records, compiled functions, or NumPy."
        )
