"""NPZ files, read with suspicion: what an array declares is compared with its file before any memory is taken for it.

Arrays are decompressed when they are asked for, and not before: what nobody needs costs nothing.
"""

from __future__ import annotations

import io
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from shallows.support.budget import READING, require
from shallows.support.errors import InvalidProblem

Arrays = Mapping[str, NDArray[Any]]

#: Deflate cannot expand a byte to more than this many (zlib's own bound: a match of 258 bytes takes two bits).
LARGEST_RATIO = 1032
#: Bytes that an empty member may declare beyond its compressed ones.
SLACK = 1024
#: How the header of each version of the format is read.
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
#: Bytes that are decompressed in a second, measured with zeros, which go fastest into much.
BYTES_A_SECOND = 3e8
#: What reading damaged archives raises, besides what is raised on purpose.
DAMAGE = (
    ValueError, OSError, EOFError, RuntimeError, OverflowError, TypeError, SyntaxError, KeyError, IndexError,
    zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError,
)  # fmt: skip


class Archive(Mapping[str, NDArray[Any]]):
    """The arrays of an NPZ file by their names; `InvalidProblem` names the file when something is wrong with it."""

    def __init__(self, file: Path, packed: bytes) -> None:
        self.file = file
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(packed))
            members = self._zip.infolist()
        except DAMAGE as error:
            raise self._damaged(f"{type(error).__name__} {error}") from None
        self._members = {member.filename.removesuffix(".npy"): member for member in members}
        self._read: dict[str, NDArray[Any]] = {}

    @classmethod
    def empty(cls, file: Path) -> Archive:
        """No arrays."""
        packed = io.BytesIO()
        zipfile.ZipFile(packed, "w").close()
        return cls(file, packed.getvalue())

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._members:
            raise KeyError(name)
        if name not in self._read:
            try:
                self._read[name] = self._array(self._members[name])
            except InvalidProblem:
                raise
            except DAMAGE as error:
                raise self._damaged(f"{name}: {type(error).__name__} {error}") from None
        return self._read[name]

    def under(self, prefix: str) -> Arrays:
        """The arrays whose names begin with the prefix, by what follows it."""
        return _Under(self, prefix)

    def _array(self, member: zipfile.ZipInfo) -> NDArray[Any]:
        if member.file_size > LARGEST_RATIO * member.compress_size + SLACK:
            raise self._damaged(
                f"{member.filename} declares {member.file_size:,} bytes, more than its {member.compress_size:,} hold"
            )
        what = f"Reading {member.filename} of {self.file}"
        require(what, seconds=member.file_size / BYTES_A_SECOND, size=2.0 * member.file_size, limit=READING)
        with self._zip.open(member) as stream:
            shape, fortran, dtype = self._header(stream, member)
            content = stream.read()
        array = np.frombuffer(content, dtype=dtype, count=math.prod(shape))
        return array.reshape(shape, order="F" if fortran else "C").copy()

    def _header(
        self, stream: IO[bytes], member: zipfile.ZipInfo
    ) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
        """Shape, order and type of an array, if they fit the bytes that follow."""
        version = npy.read_magic(stream)
        if version not in HEADERS:
            raise self._damaged(f"{member.filename} has version {version} of the format")
        shape, fortran, dtype = HEADERS[version](stream)
        left = member.file_size - stream.tell()
        if dtype.hasobject or math.prod(shape) * dtype.itemsize != left or min(shape, default=0) < 0:
            raise self._damaged(
                f"{member.filename} declares shape {shape} of {dtype}, which does not fit its {left:,} bytes"
            )
        return shape, fortran, dtype

    def _damaged(self, reason: str) -> InvalidProblem:
        return InvalidProblem(f"{self.file} is damaged: {reason}.")


class _Under(Mapping[str, NDArray[Any]]):
    """A part of an archive."""

    def __init__(self, archive: Archive, prefix: str) -> None:
        self.archive, self.prefix = archive, prefix

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[str]:
        return (name.removeprefix(self.prefix) for name in self.archive if name.startswith(self.prefix))

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.archive[self.prefix + name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.prefix + name in self.archive
