"""Text in which no character means anything to Markdown."""

from __future__ import annotations

import re

CODE = re.compile(r"(`[^`]*`)")
OPTION = re.compile(r"(?<!\S)--[a-z]+( [A-Z]+)?")


def plain(text: str) -> str:
    """`text` with its special characters escaped; code in backticks stays code, options of a command become code."""
    whole = text if text.count("`") % 2 == 0 else text.replace("`", "'")
    return "".join(piece if piece.startswith("`") else _escaped(piece) for piece in CODE.split(whole))


def _escaped(text: str) -> str:
    for character in "\\*_[]<>{}$":
        text = text.replace(character, f"\\{character}")
    return OPTION.sub(r"`\g<0>`", text)
