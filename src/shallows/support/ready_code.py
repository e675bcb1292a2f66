"""C functions that were compiled before, found without numba: importing it takes as long as a small chart.

Beside the object files of compiled functions (`code_cache`) lies an index for each function that Python calls at its
address: which object files to link, in order, and a digest of all that they were made from, the sources of their
modules and of all modules of ours that those import, and the versions of numba, llvmlite, NumPy and Python. Where
anything differs, or is not there, numba is imported and compiles, or reads, what is needed, and the index is written.
"""

from __future__ import annotations

import ast
import ctypes
import hashlib
import json
import os
import platform
import sys
import threading
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shallows.support import code_cache
from shallows.support.collector import no_collection

#: The package whose sources count.
PACKAGE = __name__.partition(".")[0]
#: How an index is written, as a number: older ones are not read.
FORM = 1
#: What numba's C wrappers call should a function raise. None of ours does, and without numba nothing could: they stop.
NEVER_CALLED = (
    "numba_gil_ensure",
    "numba_gil_release",
    "numba_unpickle",
    "numba_do_raise",
    "numba_runtime_build_excinfo_struct",
)

_lock = threading.RLock()
_linkers: list[_Linker] = []


class ReadyCode:
    """The C function of a `callback` of a module, by name."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name, self.symbol = module, name, f"{module}.{name}"
        self._address = 0

    def __repr__(self) -> str:
        return f"<compiled {self.symbol}>"

    @property
    def address(self) -> int:
        """Where it begins."""
        return self._address or self.load()

    def load(self) -> int:
        """Link it, or have it compiled; where it begins."""
        with _lock:
            if not self._address:
                self._address = self._linked() or self._compiled()
            return self._address

    @property
    def _index(self) -> Path | None:
        place = code_cache.folder()
        return None if place is None else place / f"{self.symbol}.index.json"

    def _linked(self) -> int:
        """The address after linking what the index lists; 0 where it is of another time or is not there."""
        try:
            index = json.loads(self._index.read_text(encoding="utf-8")) if self._index is not None else {}
            if index.get("form") != FORM or index["made from"] != digest(tuple(index["modules"])):
                return 0
            return self._link(index["files"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return 0

    def _link(self, files: list[list[str]]) -> int:
        place = code_cache.folder()
        contents = [
            code_cache.ObjectCache.of_file(place / file).parts() for _, file in files if place is not None
        ]
        address = 0
        for (symbol, _), parts in zip(files, contents, strict=True):
            if parts is None:
                return 0
            address = _linker().add(symbol, parts, symbol == self.symbol)
        return address

    def _compiled(self) -> int:
        """The address from numba; the index is written for the next process."""
        with no_collection():
            unit: Any = getattr(import_module(self.module), self.name)
        address = int(unit.address)
        units = unit.closure()
        if self._index is not None and all(isinstance(u.cache, code_cache.ObjectCache) for u in units):
            modules = sources({u.function.__module__ for u in units})
            files = [[u.symbol, u.cache.file.name] for u in units if u.cache.file is not None]
            index = {"form": FORM, "modules": modules, "made from": digest(tuple(modules)), "files": files}
            code_cache.write_whole(self._index, json.dumps(index).encode())
        return address


class _Linker:
    """LLVM's linker and loader, for object files that call each other by symbols."""

    def __init__(self) -> None:
        from llvmlite import binding

        self.binding: Any = binding
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        stop = ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p).value
        for name in NEVER_CALLED:
            if binding.address_of_symbol(name) is None:
                binding.add_symbol(name, stop)
        machine = binding.Target.from_default_triple().create_target_machine()
        self.engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
        self.known: set[tuple[str, bytes]] = set()

    def add(self, symbol: str, parts: tuple[bytes, bytes, bytes], c: bool) -> int:
        """Link an object file under its symbol; where its C wrapper begins, if it is asked for."""
        function, wrapper, code = parts
        key = symbol, hashlib.sha256(code).digest()
        if key not in self.known:
            self.engine.add_object_file(self.binding.ObjectFileRef.from_data(code))
            self.engine.finalize_object()
            self.binding.add_symbol(symbol, self.engine.get_function_address(function.decode()))
            self.known.add(key)
        return int(self.engine.get_function_address(wrapper.decode())) if c else 0


def _linker() -> _Linker:
    """The one linker of the process. It is not in a cache, which could be emptied: its code goes when it goes."""
    if not _linkers:
        _linkers.append(_Linker())
    return _linkers[0]


def sources(modules: set[str]) -> list[str]:
    """These modules and all modules of the package that they import, one importing another."""
    found: list[str] = []
    waiting = sorted(modules)
    while waiting:
        name = waiting.pop()
        if name in found or not _file(name).is_file():
            continue
        found.append(name)
        for line in ast.walk(ast.parse(_file(name).read_text(encoding="utf-8"))):
            if isinstance(line, ast.ImportFrom) and (line.module or "").partition(".")[0] == PACKAGE:
                waiting += [str(line.module), *(f"{line.module}.{alias.name}" for alias in line.names)]
            elif isinstance(line, ast.Import):
                waiting += [each.name for each in line.names if each.name.partition(".")[0] == PACKAGE]
    return sorted(found)


def _file(module: str) -> Path:
    """The file of a module of the package, without importing it."""
    root = Path(__file__).parent.parent.parent
    return root.joinpath(*module.split(".")).with_suffix(".py")


@cache
def _source(module: str) -> bytes:
    return hashlib.sha256(_file(module).read_bytes()).digest()


@cache
def digest(modules: tuple[str, ...]) -> str:
    """Of the sources of these modules, and of what compiles them."""
    whole = hashlib.sha256(_surroundings().encode())
    for module in modules:
        whole.update(module.encode() + _source(module))
    return whole.hexdigest()


@lru_cache(maxsize=1)
def _surroundings() -> str:
    """As `code_cache` has it, but numba's version is read, not imported."""
    import llvmlite
    import numpy as np

    numba = find_spec("numba")
    version = Path(numba.origin).with_name("_version.py").read_text() if numba and numba.origin else ""
    versions = (sys.implementation.cache_tag, version, llvmlite.__version__, np.__version__)
    return f"{versions} {platform.platform()} {code_cache.processor()} {os.environ.get('NUMBA_OPT')}"
