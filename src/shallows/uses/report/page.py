"""One self-contained HTML page from sections: no file beside it, no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shallows.support.plotly_script import plotly_script
from shallows.uses.landscape.picture import CAPTIONS, safe_json
from shallows.uses.landscape.picture import script as landscape_script
from shallows.uses.landscape.picture import style as landscape_style
from shallows.uses.report.templating import rendered


@dataclass(frozen=True)
class Picture:
    """A figure with a heading and the caption that says what to see."""

    heading: str
    figure: Any
    caption: str


@dataclass(frozen=True)
class Cell:
    """A cell of a table: what is shown, and the value it is sorted by."""

    text: str
    value: float | str
    numeric: bool = True


@dataclass(frozen=True)
class Section:
    """One problem's part of the page; what is empty is left out. `shell` is a command that makes it again.

    `landscape`: the picture of `uses.landscape`, which comes first; its points are the rows of the table.
    """

    title: str
    pictures: Sequence[Picture]
    tiles: Sequence[tuple[str, str]] = ()
    mathematics: str = ""
    sentences: Sequence[str] = ()
    notes: Sequence[str] = ()
    table: tuple[Sequence[str], Sequence[Sequence[Cell]]] = ((), ())
    left_out: int = 0
    table_caption: str = ""
    python: str = ""
    toml: str = ""
    shell: str = ""
    provenance: Sequence[tuple[str, str]] = ()
    landscape: dict[str, Any] | None = None


def render(title: str, lead: str, sections: Sequence[Section]) -> str:
    """The page as text."""
    pictured = any(section.landscape is not None for section in sections)
    return rendered(
        "shallows.uses.report",
        "page.html",
        title=title,
        lead=lead,
        sections=sections,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        style=landscape_style() * pictured,
        script=landscape_script() * pictured,
        landscape_json=safe_json,
        landscape_captions=CAPTIONS,
        plotly=plotly_script(),
    )


def write(path: str | Path, text: str) -> Path:
    """Write the page; a folder that is not there is made."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return target
