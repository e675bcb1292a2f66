"""Text in which no character means anything to Markdown."""

from __future__ import annotations

import re

OPTION = re.compile(r"(?<!\S)--[a-z]+( [A-Z]+)?")


def plain(text: str) -> str:
    """`text` with its special characters escaped; code in backticks stays code, options of a command become code."""
    text = OPTION.sub(r"`\g<0>`", text) if "`" not in text else text
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _escaped(text.replace("`", "'"))
    return "".join(f"`{part}`" if i % 2 else _escaped(part) for i, part in enumerate(parts))


def _escaped(text: str) -> str:
    for character in "\\*_[]<>{}$":
        text = text.replace(character, f"\\{character}")
    return text
