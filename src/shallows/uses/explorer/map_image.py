"""A map of a few colours as a picture under a figure: a heat map of as many cells would be a hundred times as large."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Colour = tuple[int, int, int, float]


def png_address(codes: NDArray[np.int64], colours: Sequence[Colour]) -> str:
    """A data: address of a PNG: code i has colour i (red, green, blue, opacity), row 0 is the lowest.

    Bytes as in the PNG specification (second edition): IHDR with colour type 3, PLTE, tRNS, IDAT (filter 0), IEND.
    """
    height, width = codes.shape
    rows = codes[::-1].astype(np.uint8)
    lines = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1).tobytes()
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", bytes(part for colour in colours for part in colour[:3])),
        (b"tRNS", bytes(round(255 * colour[3]) for colour in colours)),
        (b"IDAT", zlib.compress(lines, 6)),
        (b"IEND", b""),
    )
    data = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in parts)
    return "data:image/png;base64," + base64.b64encode(data).decode("ascii")


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
