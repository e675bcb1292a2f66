"""Compiled functions: each once, one at a time, and kept for later processes.

numba links the code of all that a function calls into it and optimises the whole again, for each caller: depth
multiplies, and a first ReLU ensemble took 69 s. `lean_compiler` says what is left out of numba's own work. Here

- a `unit` is compiled for itself, for the one signature it is given; other units call it through its address;
- an `entry` is a unit that Python calls, too; a `callback` is one that is called at its address, as a C function is;
- a `part` has no code of its own: it becomes part of the units that use it, with their options.

Nothing is compiled before its first call, and then under one lock, after the units it calls: threads that meet at a
first call wait for each other, and none compiles while it imports. Machine code is kept in the user's cache directory
(`code_cache`) under a digest of all it is made from (`recipe`).

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from llvmlite import binding, ir
from numba import njit, types
from numba.core import cgutils
from numba.core.typing.templates import make_intrinsic_template
from numba.extending import intrinsic

from shallows.support import code_cache
from shallows.support.lean_compiler import Lean, Light
from shallows.support.progress import compiling_line
from shallows.support.recipe import ingredients, names

#: Options of all compiled functions: they hold no interpreter lock and divide as NumPy does.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
#: The option without which numba counts references to arrays. Nothing here makes or keeps one: callers own them all.
#: There is no exception: what makes arrays calls numba's memory, which is not there when code comes from the cache.
UNCOUNTED: dict[str, Any] = {"_nrt": False}

#: How units call each other, as a word for the cache: code from before a change of this is not taken.
CONVENTION = "numba's own, without C wrappers; object files"

_lock = threading.RLock()
# all units of the modules that were imported: what a question imports it will mostly call
_loaded: list[Unit] = []
# numba has types for some of its parts only
_tuples: Any = types.BaseTuple
_pointers: Any = types.CPointer
_template: Any = make_intrinsic_template
_declared: Any = cgutils.get_or_insert_function
_compiler: Any = njit


class Unit:
    """A function with one signature, compiled when it is first needed; numba code that names it calls its address."""

    def __init__(
        self,
        function: Callable[..., Any],
        signature: Any,
        options: dict[str, Any],
        python: bool = False,
        c: bool = False,
    ) -> None:
        functools.update_wrapper(self, function)
        self.function, self.signature, self.python, self.c = function, signature, python, c
        self.options = {**OPTIONS, **options, **UNCOUNTED}
        self.compiler = Light if self.options.pop("rare", False) else Lean
        self.symbol = f"{function.__module__}.{function.__qualname__}"
        self._numba_type_ = types.Function(_call_template(self))
        self._ready: Any = None
        self._address = 0
        _loaded.append(self)

    def __call__(self, *arguments: Any) -> Any:
        """Call it from Python."""
        return (self._ready or self.load())(*arguments)

    def __repr__(self) -> str:
        return f"<compiled {self.symbol}>"

    def __recipe__(self) -> Iterator[str]:
        """What a caller's code depends on: the call, not what is behind it."""
        yield f"{self.symbol} {self.signature}"

    @property
    def address(self) -> int:
        """Where the C function of a callback begins."""
        if not self.c:
            raise TypeError(f"{self!r} has no address: expected a function made with `callback`.")
        if self._ready is None:
            self.load()
        return self._address

    def load(self) -> Any:
        """Compile the function and all units it calls, or take them from the cache; returns what Python calls."""
        with _lock:
            if self._ready is None:
                waiting = [unit for unit in self.closure() if unit._ready is None]
                work = {unit: unit.work() for unit in waiting}
                later = (
                    {unit for unit in _loaded if unit._ready is None}.difference(waiting)
                    if any(work.values())
                    else ()
                )
                with compiling_line(sum(work.values()) + sum(unit.work() for unit in later)) as compiled:
                    for unit in waiting:
                        unit._compile()
                        compiled(work[unit])
        return self._ready

    def work(self) -> int:
        """How much there is to compile, in bytes of bytecode."""
        return 0 if self.cache.holds() else _size(self.function)

    def closure(self) -> list[Unit]:
        """This unit and all that it calls, the last called first."""
        found: dict[str, Unit] = {}

        def visit(unit: Unit) -> None:
            if unit.symbol not in found:
                for other in _called(unit.function):
                    visit(other)
                found[unit.symbol] = unit

        visit(self)
        return list(found.values())

    @functools.cached_property
    def cache(self) -> code_cache.CodeCache:
        """The file of this unit."""
        options = sorted(
            (name, sorted(value) if isinstance(value, set) else value) for name, value in self.options.items()
        )
        own = f"{CONVENTION} {self.compiler.__name__} {self.signature} {options} {self.python} {self.c}"
        kind = code_cache.CodeCache if self.python else code_cache.ObjectCache
        return kind(code_cache.key(self.symbol, (own, *ingredients(self.function))))

    def _compile(self) -> None:
        """Take the function from the cache, or compile it; other units find it by its symbol."""
        places = self.cache.linked(self.c) if isinstance(self.cache, code_cache.ObjectCache) else None
        if places is not None:
            inside, self._address = places
            self._ready = self.function
        else:
            inside = self._made()
        binding.add_symbol(self.symbol, inside)

    def _made(self) -> int:
        """Have numba compile the function, or read what it wrote; where it begins."""
        wrappers = {"no_cpython_wrapper": not self.python, "no_cfunc_wrapper": not self.c}
        dispatcher = _compiler(pipeline_class=self.compiler, **wrappers, **self.options)(self.function)
        dispatcher._cache = self.cache
        dispatcher.compile(self.signature)
        dispatcher.disable_compile()
        result = dispatcher.overloads[self.signature.args]
        if self.c:
            self._address = result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name)
        self._ready = dispatcher
        return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


def _called(function: Callable[..., Any]) -> Iterator[Unit]:
    """The units that a function names, itself or in its parts."""
    for value in names(function).values():
        if isinstance(value, Unit):
            yield value
        elif hasattr(value, "py_func"):
            yield from _called(value.py_func)


def _size(function: Callable[..., Any]) -> int:
    """Bytes of the bytecode of a function with all its parts: how long compiling takes goes by that."""
    parts = (value for value in names(function).values() if hasattr(value, "py_func"))
    return len(function.__code__.co_code) + sum(_size(value.py_func) for value in parts)


def _call_template(unit: Unit) -> Any:
    """How numba understands a call of the unit: arguments are cast to its signature, then its symbol is called."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        back, kinds = signature.return_type, signature.args
        convention = context.call_conv
        function = _declared(builder.module, convention.get_function_type(back, kinds), unit.symbol)
        return convention.call_function(builder, function, back, kinds, arguments)[
            1
        ]  # [0], a status: none of ours raises

    def definition(_context: Any, *_arguments: Any) -> Any:
        return unit.signature, generate

    names = ("_context", *inspect.signature(unit.function).parameters)
    definition.__signature__ = _positional(names)  # type: ignore[attr-defined]
    return _template(unit, definition, unit.symbol)


def _positional(names: Iterable[str]) -> inspect.Signature:
    """The signature of a function with these parameters: numba binds arguments by it."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature([inspect.Parameter(name, kind) for name in names])


def unit(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A function that compiled code calls; `rare=True` where little time is spent, so that compiling takes less."""
    return lambda function: Unit(function, signature, options)


def entry(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A function that Python calls."""
    return lambda function: Unit(function, signature, options, python=True)


def callback(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A function that compiled code calls at its address (`call_at`), as it does those that users compile."""
    return lambda function: Unit(function, signature, options, c=True)


def part(function: Callable[..., Any]) -> Any:
    """A function that is written into the compiled code that calls it."""
    return njit(inline="always", **OPTIONS)(function)


def _pointer(_context: Any, array: Any) -> Any:
    """A pointer to the first entry of a contiguous array, which must stay alive."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return _pointers(array.dtype)(array), generate


def _behind(_context: Any, pointer: Any, offset: Any) -> Any:
    """The pointer `offset` entries further."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return pointer(pointer, types.intp), generate


pointer: Any = intrinsic(_pointer)
behind: Any = intrinsic(_behind)


def call_at(signature: Any) -> Any:
    """What calls the C function of this signature that begins at an address: `call(address, *arguments)`."""

    def generate(context: Any, builder: Any, typed: Any, arguments: Any) -> Any:
        kinds = [context.get_value_type(kind) for kind in typed.args[1:]]
        kind = ir.FunctionType(context.get_value_type(typed.return_type), kinds)
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])

    def definition(_context: Any, _address: Any, *_arguments: Any) -> Any:
        return signature.return_type(types.intp, *signature.args), generate

    names = ("_context", "_address", *(f"_argument_{place}" for place in range(len(signature.args))))
    definition.__signature__ = _positional(names)  # type: ignore[attr-defined]
    return intrinsic(definition)


def constants(kind: Any, dimension: int = 1) -> Any:
    """The type of contiguous arrays that are only read: arrays that cannot be written are taken, too."""
    return types.Array(kind, dimension, "C", readonly=True)


def record(kind: Any, *fields: Any) -> Any:
    """The type of a NamedTuple with fields of these types."""
    return _tuples.from_types(fields, kind)


def several(*kinds: Any) -> Any:
    """The type of a tuple with entries of these types."""
    return _tuples.from_types(kinds)
