"""Stored lists of block-symmetric critical points: what searches of seconds ([1, k−1]) to minutes ([2, k−2]) found.

A list has the values of every isolated point and how many boxes the search took. The file has a checksum: a list with
a point taken away is not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from shallows.support.checks import Array
from shallows.support.files import Format

FORMAT = Format("shallows-symmetric-lists", 1, with_arrays=False)
FILE = Path(__file__).with_name("symmetric_lists.json")


@dataclass(frozen=True, eq=False)
class StoredList:
    """The isolated critical points of one block form (points, blocks, blocks + 1), and the boxes of the search."""

    sizes: tuple[int, ...]
    values: Array
    boxes: int


@cache
def _lists(file: Path) -> dict[str, Any]:
    contents = FORMAT.load(file)
    with contents.reading():
        return dict(contents.document["lists"])


def _key(sizes: Sequence[int]) -> str:
    return "+".join(map(str, sizes))


def stored_list(sizes: Sequence[int], file: Path = FILE) -> StoredList | None:
    """The list of these blocks; None where none is stored."""
    entry = _lists(file).get(_key(sizes))
    if entry is None:
        return None
    return StoredList(tuple(sizes), np.array(entry["values"]), int(entry["boxes"]))


def write_lists(lists: Sequence[StoredList], file: Path = FILE) -> Path:
    """Write these lists, beside those of other blocks that are there."""
    kept = _lists(file) if file.exists() else {}
    new = {_key(item.sizes): {"boxes": item.boxes, "values": item.values.tolist()} for item in lists}
    _lists.cache_clear()
    return FORMAT.save(file, {"lists": kept | new})
