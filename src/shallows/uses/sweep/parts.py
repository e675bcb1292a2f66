"""Parts: the Parquet files of a sweep's results, whose names are hashes of what is in them.

    part-00000012-3f6c0e5d9b1a7c42.parquet      the twelfth part, and 64 bits of the SHA-256 of its bytes

A part is compared with its name before it is read, so a flipped bit anywhere in it is noticed; its pages have the
checksums of the Parquet format too, for other readers. Parts of earlier versions have eight random digits in their
names and no checksums; a part that cannot be read is damaged in any case.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from shallows.uses.sweep.faults import DamagedFile

#: Hexadecimal digits of the hash in a part's name.
DIGITS = 16
#: Columns that every part has.
EVERY = ("key", "cell", "status", "written")
#: What stands before the name of a file that was set aside.
ASIDE = "damaged-"


def parts(path: Path) -> list[Path]:
    """All parts, oldest first."""
    return sorted(path.glob("part-*.parquet"))


def next_serial(path: Path) -> int:
    """The number of the next part: higher than those of all parts there have been, damaged ones too."""
    names = [file.name.removeprefix(ASIDE) for file in path.glob("*part-*.parquet")]
    return 1 + max((int(name.split("-")[1]) for name in names if name.split("-")[1].isdigit()), default=0)


def packed(table: Any, serial: int) -> tuple[str, bytes]:
    """The name and the bytes of a part."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    content = sink.getvalue().to_pybytes()
    return f"part-{serial:08d}-{_digest(content)}.parquet", content


def read_part(file: Path, columns: list[str] | None = None) -> Any:
    """The rows of a part, or `DamagedFile`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = file.read_bytes()
    name = file.stem.split("-")[-1]
    if len(name) == DIGITS and name != _digest(content):
        raise DamagedFile(file, "its content does not have the hash in its name")
    try:
        source = pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True)
        names = source.schema_arrow.names
        if not set(EVERY) <= set(names):
            raise ValueError("it is no part of a sweep")
        return source.read(columns=None if columns is None else [name for name in columns if name in names])
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DamagedFile(file, str(error).splitlines()[0].rstrip(".")) from None


def set_aside(file: Path) -> Path:
    """Rename a damaged file, so that it counts no more and can still be looked at."""
    return file.rename(file.with_name(ASIDE + file.name))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:DIGITS]
