"""Machine code on disk: in the user's cache directory, one file a compiled function.

The folder is `SHALLOWS_CACHE_DIR`, or the platform's place for caches, and in it one folder for each version of
`shallows` and kind of processor: a new virtual environment finds what an older one compiled, and site-packages is never
written to. Where nothing can be written or read, functions are compiled anew in each process and nothing is said.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import shutil
import sys
import uuid
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from shallows.support.version import __version__

#: The environment variable that names another folder.
VARIABLE = "SHALLOWS_CACHE_DIR"
#: Bytes of the checksum in front of each file: what a full disk or a crash cut short is not loaded.
CHECKSUM = 32


def root() -> Path | None:
    """The folder for all versions; None when there is no home to put it in."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "shallows" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "shallows"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "shallows"


@lru_cache(maxsize=1)
def processor() -> tuple[str, str]:
    """The processor as LLVM knows it, and all its features: code for one may not run on another."""
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    return binding.get_host_cpu_name(), features.flatten()


def folder() -> Path | None:
    """Where this version keeps machine code for this processor."""
    above = root()
    return None if above is None else above / f"{__version__}-{processor()[0]}"


@lru_cache(maxsize=1)
def _surroundings() -> str:
    """What all machine code depends on beside its recipe."""
    import llvmlite
    import numba
    import numpy as np

    versions = (sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, np.__version__)
    return f"{versions} {platform.platform()} {processor()} {os.environ.get('NUMBA_OPT')}"


def key(name: str, recipe: Iterable[str]) -> str:
    """The name of the file for a function that is made from these lines."""
    digest = hashlib.sha256("\n".join((_surroundings(), *recipe)).encode()).hexdigest()
    return f"{name}-{digest[:24]}"


class CodeCache:
    """One file, as numba's dispatchers ask for it; a file that cannot be read or written is one that is not there."""

    def __init__(self, key: str) -> None:
        place = folder()
        self.file = None if place is None else place / f"{key}.code"
        self.cache_path = str(place)

    def holds(self) -> bool:
        """Whether there is a file."""
        return self.file is not None and self.file.is_file()

    def load_overload(self, _signature: Any, context: Any) -> Any:
        """The compiled function, or None.

        numba's own caches have it load what it knows of Python first, a fifth of a second: code that is compiled
        already does not ask for that, and its compiler loads it for itself.
        """
        from numba.core.compiler import CompileResult

        content = self._read()
        if content is None:
            return None
        # numba writes machine code as a pickle; the folder is the user's own, as __pycache__ is
        results: Any = CompileResult
        return results._rebuild(context, *pickle.loads(content))

    def _read(self) -> bytes | None:
        """What is behind the checksum, if it is right."""
        try:
            content = self.file.read_bytes() if self.file is not None else b""
        except OSError:
            return None
        whole = hashlib.sha256(content[CHECKSUM:]).digest() == content[:CHECKSUM]
        return content[CHECKSUM:] if whole else None

    def save_overload(self, _signature: Any, result: Any) -> None:
        """Write the compiled function; a reader sees the whole file or none."""
        from numba.core.serialize import dumps

        serialised: Any = dumps
        if self.file is not None:
            self._write(self.file, serialised(result._reduce()))

    def _write(self, file: Path, content: bytes) -> None:
        write_whole(file, hashlib.sha256(content).digest() + content)


def write_whole(file: Path, content: bytes) -> None:
    """Write a file that a reader sees whole or not at all; where nothing can be written, nothing is said."""
    draft = file.with_name(f"{file.name}.{uuid.uuid4().hex}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(content)
        draft.replace(file)
    except OSError:
        with suppress(OSError):
            draft.unlink()


class ObjectCache(CodeCache):
    """The same for a function that only machine code calls: of all that numba writes, the object file is enough.

    LLVM's linker takes that in 0.1 ms; numba's own way, with its intermediate code and types, takes 1.5 ms, and a chart
    calls sixty such functions.
    """

    def load_overload(self, _signature: Any, _context: Any) -> Any:
        """Nothing for numba: see `linked`."""
        return None

    def save_overload(self, _signature: Any, result: Any) -> None:
        """Write the names of the function and of its C wrapper, if there is one, and the object file."""
        if self.file is not None:
            names = (result.fndesc.llvm_func_name, result.fndesc.llvm_cfunc_wrapper_name)
            code = result.library.serialize_using_object_code()[2][0]
            self._write(self.file, b"\n".join((*(name.encode() for name in names), code)))

    @classmethod
    def of_file(cls, file: Path) -> ObjectCache:
        """What lies in a file of the cache."""
        cache = cls("")
        cache.file = file
        return cache

    def parts(self) -> tuple[bytes, bytes, bytes] | None:
        """The names of the function and of its C wrapper, and the object file."""
        content = self._read()
        if content is None:
            return None
        function, wrapper, code = content.split(b"\n", 2)
        return function, wrapper, code

    def linked(self, c: bool) -> tuple[int, int] | None:
        """Where the function and its C wrapper, if it has one, begin, once they are linked; None without a file."""
        from llvmlite import binding
        from numba.core.registry import cpu_target

        parts = self.parts()
        if parts is None:
            return None
        function, wrapper, code = parts
        engine: Any = cpu_target.target_context.codegen()._engine._ee
        engine.add_object_file(binding.ObjectFileRef.from_data(code))
        engine.finalize_object()
        names = (function, wrapper) if c else (function,)
        places = [engine.get_function_address(name.decode()) for name in names]
        return places[0], places[1] if c else 0


def contents() -> tuple[int, int]:
    """How many functions are kept, for all versions, and how many bytes they take."""
    above = root()
    files = list(above.glob("*/*.code")) if above is not None else []
    return len(files), sum(file.stat().st_size for file in files)


def clear() -> None:
    """Remove all that is kept, for all versions; what else is in the folder stays."""
    above = root()
    for place in {file.parent for file in above.glob("*/*.code")} if above is not None else ():
        shutil.rmtree(place, ignore_errors=True)
