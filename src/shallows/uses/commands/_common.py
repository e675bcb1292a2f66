"""What the commands share: their common options, and one way to print, write and report progress.

A command takes the options it needs from here, makes `Output(json, quiet)`, and says everything through it:

    output = Output(json, quiet)
    with output.working("tracking paths"):
        ...
    output.document({...})      # with --json: one JSON document on stdout
    output.show(rows)           # otherwise: what a person reads (`table` makes one that fits a narrow terminal)
    output.wrote(path)

Tables and documents go to stdout, progress and notes to stderr, so that a pipe gets only the result. Ctrl-C is
answered by `commands.cli`, which says what was written; a command that keeps more says so: `with interruptible(...)`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from shallows.support.strict_json import strict_json
from shallows.uses.commands.destinations import destinations, write_parts

if TYPE_CHECKING:
    from shallows.model.problem_file import WrittenProblem

ProblemFile = Annotated[Path, typer.Argument(help="A problem file (TOML); `shallows new` writes one.")]
Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of every random choice; stored in the result.")
]
FileSeed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        help="Seed of every random choice, instead of the file's (or 0); stored in the result.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]

#: Width of tables that do not go to a terminal, unless COLUMNS says another.
PIPED_WIDTH = 120
#: Below this width tables have no vertical lines and help has no frames: the room is for the words.
NARROW = 80
#: What scripts can rely on; `docs/command-line.md` has the table. READER_GONE is what a shell reports of SIGPIPE.
DONE, ANSWER_IS_NO, BAD_INPUT, MISSING, BUG, INTERRUPTED, READER_GONE = 0, 1, 2, 3, 4, 130, 141
#: Files this run of the program has written, for whoever interrupts it.
WRITTEN: list[Path] = []


class Begun(NamedTuple):
    """What a command on a problem file begins with."""

    output: Output
    places: dict[str, Path]
    written: WrittenProblem


def begun(
    file: Path,
    seed: int | None,
    places: tuple[Path | None, Mapping[str, str]],
    json: bool,
    quiet: bool,
    report: Path | None = None,
) -> Begun:
    """Where words and files go, and what the file says, or another seed; what is wrong with these is said first."""
    from shallows.model.problem_file import load_written

    return Begun(Output(json, quiet), destinations(*places, report), load_written(file, seed))


class Interrupted(Exception):
    """Ctrl-C; the message says what was kept."""


@contextmanager
def interruptible(kept: Callable[[], str]) -> Iterator[None]:
    """A block that keeps what it has done when Ctrl-C ends it: `kept` says then what that is, and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(kept()) from None


@dataclass(frozen=True)
class Output:
    """Where a command's words go: `json` prints a document instead of tables, `quiet` prints nothing but errors."""

    json: bool = False
    quiet: bool = False
    _spinners: list[Any] = field(default_factory=list, repr=False)

    def show(self, *things: Any) -> None:
        """Print texts and rich tables for a person; nothing under --json or --quiet."""
        if self.json or self.quiet:
            return
        console = _console()
        with self._spinner_off():
            for thing in things:
                console.print(thing, highlight=False)

    def say(self, text: str) -> None:
        """Print a line that may be copied, a path or an address: never broken in two. Otherwise as `show`."""
        if not (self.json or self.quiet):
            typer.echo(text)

    def document(self, value: Any) -> None:
        """Print the result as JSON, if that was asked for; what is no finite number is null."""
        if self.json:
            typer.echo(strict_json(value))

    def wrote(self, path: Path) -> None:
        """Say which file was written: on stdout, or on stderr beside a JSON document."""
        WRITTEN.append(path)
        if not self.quiet:
            with self._spinner_off():
                typer.echo(f"written: {path}", err=self.json)

    def write(self, places: Mapping[str, Path], makers: Mapping[str, Callable[[Path], Path | None]]) -> None:
        """Write each part that was asked for (`destinations.write_parts`) and say so."""
        with self.working("writing"):
            for path in write_parts(places, makers):
                self.wrote(path)

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

        with Console(stderr=True).status(text) as spinner:
            self._spinners.append(spinner)
            try:
                yield
            finally:
                self._spinners.remove(spinner)

    @contextmanager
    def _spinner_off(self) -> Iterator[None]:
        """Lines printed while a spinner turns begin on a line of their own."""
        for spinner in self._spinners:
            spinner.stop()
        yield
        for spinner in self._spinners:
            spinner.start()


def _console() -> Any:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPED_WIDTH)


def web_page(*things: Any) -> str:
    """Texts and rich tables, as `Output.show` prints them, as one HTML page."""
    from io import StringIO

    from rich.console import Console

    console = Console(width=PIPED_WIDTH, file=StringIO(), record=True, force_terminal=True)
    for thing in things:
        console.print(thing, highlight=False)
    return console.export_html(inline_styles=True)


def table(title: str = "") -> Any:
    """An empty rich table in the style of all commands; in a narrow terminal without vertical lines."""
    from rich import box
    from rich.table import Table

    style = box.SIMPLE_HEAD if _console().width < NARROW else box.HEAVY_HEAD
    return Table(title=title or None, title_justify="left", box=style, pad_edge=style is box.HEAVY_HEAD)
