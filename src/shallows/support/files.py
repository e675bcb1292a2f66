"""Files: JSON for what a person reads and, beside it, NPZ for arrays; never pickle.

    name.json    "format", "version", what is said in words and numbers, "sha256", the hash of name.npz, and
                 "checksum", the hash of all the others
    name.npz     arrays

A file is written under a temporary name, flushed to the disk and renamed, so that it is there whole or not at all.
What is damaged, or was written by a version that is not known here, is named when it is read.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.support.errors import InvalidProblem, ShallowsError
from shallows.support.npz import Archive

Arrays = dict[str, NDArray[Any]]

#: How names of files begin that are being written.
TEMPORARY = ".writing-"
_SUFFIXES = (".json", ".npz")
_HASH = "sha256"
#: The key of the hash of all other entries of the document.
_SEAL = "checksum"


def named(path: str | Path, suffix: str) -> Path:
    """The file of this name: `suffix` is put after it, in place of .json or .npz but of no other ending.

    >>> named("kurtosis-2.5", ".json").name, named("kurtosis-2.5.npz", ".json").name
    ('kurtosis-2.5.json', 'kurtosis-2.5.json')
    """
    text = str(path)
    for known in _SUFFIXES:
        text = text.removesuffix(known)
    return Path(text + suffix)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Write to the path that is given here: at the end it becomes `path`; after an error nothing is left."""
    temporary = path.with_name(f"{TEMPORARY}{uuid.uuid4().hex[:8]}")
    try:
        yield temporary
        _to_disk(temporary)
        os.replace(temporary, path)
        _to_disk(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        error.filename, error.filename2 = str(path), None
        raise
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@dataclass(frozen=True)
class Contents:
    """What a file holds, and the version of its format."""

    path: Path
    version: int
    document: dict[str, Any]
    arrays: Archive

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Around what takes the contents apart: a missing or misshapen entry is damage, and the file is named."""
        try:
            yield
        except ShallowsError:
            raise
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError) as error:
            raise InvalidProblem(f"{self.path} is damaged: {type(error).__name__} {error}.") from None


@dataclass(frozen=True)
class Format:
    """A kind of file: its name, its newest version, whether arrays lie beside it.

    `earlier` are names from the time when the version was part of them; what is older than `readable` was written for
    people and programs only.
    """

    name: str
    version: int
    with_arrays: bool = True
    indent: int | None = 1
    earlier: Mapping[str, int] = field(default_factory=dict)
    readable: int = 1

    def save(self, path: str | Path, document: Mapping[str, Any], arrays: Arrays | None = None) -> Path:
        """Write the document, and the arrays if the format has them; returns the path of the JSON file."""
        head: dict[str, Any] = {"format": self.name, "version": self.version}
        packed = io.BytesIO()
        if self.with_arrays:
            kept: dict[str, Any] = dict(arrays or {})
            np.savez_compressed(packed, **kept)
            head[_HASH] = hashlib.sha256(packed.getbuffer()).hexdigest()
        separators = (",", ":") if self.indent is None else None
        content = json.loads(json.dumps(head | dict(document)))
        text = json.dumps(
            content | {_SEAL: _seal(content)}, indent=self.indent, separators=separators, ensure_ascii=False
        )
        with whole(named(path, ".json")) as file:
            file.write_text(text + "\n", encoding="utf-8")
            if self.with_arrays:  # renamed just before the document is
                with whole(named(path, ".npz")) as beside:
                    beside.write_bytes(packed.getbuffer())
        return named(path, ".json")

    def load(self, path: str | Path) -> Contents:
        """What `save` wrote, or `InvalidProblem` with the file and what is wrong with it."""
        file = self._found(path)
        try:
            document = json.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise InvalidProblem(f"Cannot read {file}: {error.strerror or error}.") from None
        except (ValueError, RecursionError):
            raise InvalidProblem(f"{file} is not a JSON file, or it is damaged.") from None
        version = self._version(file, document)
        seal = document.pop(_SEAL, None)  # the first versions wrote none
        if seal is not None and seal != _seal(document):
            raise InvalidProblem(
                f"{file} is damaged: its content does not have the checksum that stands in it."
            )
        arrays = (
            _arrays(named(file, ".npz"), document.get(_HASH)) if self.with_arrays else Archive.empty(file)
        )
        return Contents(file, version, document, arrays)

    def _found(self, path: str | Path) -> Path:
        """The JSON file; names that earlier versions made otherwise are found, or the error has them."""
        file, given = named(path, ".json"), Path(path)
        if file.exists():
            return file
        if not self.with_arrays and given.is_file():
            return given
        cut = given.with_suffix(".json")
        if cut != file and cut.exists():
            raise InvalidProblem(
                f"There is no {file}. Earlier versions of shallows took what follows a dot off the name and wrote "
                f"{cut}. Fix: load {str(cut)!r}."
            )
        return file

    def _version(self, file: Path, document: Any) -> int:
        name, version = None, None
        if isinstance(document, dict):
            name, version = document.get("format"), document.get("version")
            if isinstance(name, str) and name in self.earlier:
                name, version = self.name, self.earlier[name]
        if name == self.name and isinstance(version, int) and self.readable <= version <= self.version:
            return version
        if name == self.name and isinstance(version, int) and 0 < version < self.readable:
            raise InvalidProblem(
                f"{file} is of version {version} of its format, which kept numbers and words and cannot be read back. "
                "Fix: compute it again and save that."
            )
        newer = " Fix: a newer version of shallows." if name == self.name else ""
        raise InvalidProblem(
            f"{file} has format {name!r}, version {version}; this version of shallows reads {self.name!r} up to "
            f"version {self.version}.{newer}"
        )


def _seal(document: Mapping[str, Any]) -> str:
    """The hash of a document, whatever the order and the spaces of its text."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _arrays(file: Path, expected: Any) -> Archive:
    """The arrays of an NPZ file, whose hash is checked where one is known (the first versions wrote none)."""
    try:
        packed = file.read_bytes()
    except OSError as error:
        raise InvalidProblem(f"Cannot read {file}: {error.strerror or error}.") from None
    if expected is not None and hashlib.sha256(packed).hexdigest() != expected:
        raise InvalidProblem(
            f"{file} is damaged, or belongs to another JSON file than the one beside it: its hash is not the one there."
        )
    return Archive(file, packed)
