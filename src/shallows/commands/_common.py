"""What the commands share: their common options, and one way to print, write and report progress.

A command takes the options it needs from here, makes `Output(json, quiet)`, and says everything through it:

    output = Output(json, quiet)
    with output.working("tracking paths"):
        ...
    output.document({...})      # with --json: one JSON document on stdout
    output.show(table)          # otherwise: what a person reads
    output.wrote(path)

Tables and documents go to stdout, progress and notes to stderr, so that a pipe gets only the result.
"""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

ProblemFile = Annotated[Path, typer.Argument(help="A problem file (TOML); `shallows new` writes one.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of every random choice; stored in the result.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]

#: Width of tables that do not go to a terminal.
PIPED_WIDTH = 120
#: What scripts can rely on; `docs/command-line.md` has the table.
DONE, ANSWER_IS_NO, BAD_INPUT, MISSING, BUG, INTERRUPTED = 0, 1, 2, 3, 4, 130


@dataclass(frozen=True)
class Output:
    """Where a command's words go: `json` prints a document instead of tables, `quiet` prints nothing but errors."""

    json: bool = False
    quiet: bool = False

    def show(self, *things: Any) -> None:
        """Print texts and rich tables for a person; nothing under --json or --quiet."""
        if self.json or self.quiet:
            return
        console = _console()
        for thing in things:
            console.print(thing, highlight=False)

    def document(self, value: Any) -> None:
        """Print the result as JSON, if that was asked for."""
        if self.json:
            typer.echo(json_format.dumps(value, ensure_ascii=False, indent=1))

    def wrote(self, path: Path) -> None:
        """Say which file was written: on stdout, or on stderr beside a JSON document."""
        if not self.quiet:
            typer.echo(f"written: {path}", err=self.json)

    @property
    def progress(self) -> bool:
        """Whether progress may be shown: stderr is a terminal and nobody asked for quiet."""
        return not self.quiet and sys.stderr.isatty()

    @contextmanager
    def working(self, text: str) -> Iterator[None]:
        """A line with a spinner on stderr while something runs, gone when it is done."""
        if not self.progress:
            yield
            return
        from rich.console import Console

        with Console(stderr=True).status(text):
            yield


def _console() -> Any:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else PIPED_WIDTH)


def beside(out: Path, number: int, count: int) -> Path:
    """The name of file `number` of `count`: OUT itself for one, OUT-1, OUT-2, … for several."""
    return out if count == 1 else out.with_name(f"{out.stem}-{number + 1}{out.suffix}")
