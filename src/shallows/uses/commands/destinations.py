"""Where `--out` puts what a command makes: the ending of the name says which part of it.

    --out page.html     the report
    --out data.json     the data
    --out folder        everything, under the names that the command gives

Folders that are not there are made before the work starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from shallows.support.errors import InvalidProblem
from shallows.support.strict_json import strict_json

#: What the endings stand for, in words.
MEANING = {
    ".html": "the report",
    ".json": "the data",
    ".txt": "the polynomial as text",
    ".tex": "the polynomial in LaTeX",
    ".toml": "the problem file",
}
#: What follows a dot is an ending when it is a short word: the .5 of kurtosis-2.5 is a number.
_ENDING = re.compile(r"\.[A-Za-z]\w{0,4}")


def is_folder(out: Path) -> bool:
    """Whether the name is that of a folder: one that is there, or a name without an ending."""
    return out.is_dir() or not _ENDING.fullmatch(out.suffix)


def destinations(out: Path | None, files: Mapping[str, str], report: Path | None = None) -> dict[str, Path]:
    """The files to write, by ending: one if OUT is a file, all if it is a folder, none without OUT.

    `files` has the endings that the command can write and, for each, the name that the file gets in a folder.
    `report`, where a command has an option of that name, is where the report goes instead.
    """
    chosen = {} if out is None else _of_out(out, files)
    if report is not None:
        if out is not None and chosen.get(".html") == out:
            raise InvalidProblem(
                f"--out {out} and --report {report} both say where the report goes. Fix: leave --report out."
            )
        chosen[".html"] = report
    ready(*chosen.values())
    return chosen


def _of_out(out: Path, files: Mapping[str, str]) -> dict[str, Path]:
    if is_folder(out):
        return {ending: out / name for ending, name in files.items()}
    if out.suffix in files:
        return {out.suffix: out}
    known = " or ".join(f"{ending} ({MEANING[ending]})" for ending in files)
    everything = " (everything)" if len(files) > 1 else ""
    raise InvalidProblem(
        f"--out is {out}; expected a name that ends in {known}, or a folder{everything}. "
        f"Fix: --out {out.with_suffix(next(iter(files)))}"
    )


def ready(*files: Path) -> None:
    """Before any work starts: the folders of these files are made, and what cannot become a file is refused."""
    for file in files:
        if file.is_dir():
            raise InvalidProblem(f"{file} is a folder; expected the name of a file to write.")
        file.parent.mkdir(parents=True, exist_ok=True)


def write_parts(
    places: Mapping[str, Path], makers: Mapping[str, Callable[[Path], Path | None]]
) -> Iterator[Path]:
    """Write each part that was asked for; the file is what its maker says, or the place itself."""
    for ending, place in places.items():
        yield makers[ending](place) or place


def as_document(value: Any) -> Callable[[Path], None]:
    """What writes a value as JSON, as `Output.document` prints it."""
    return as_text(lambda: strict_json(value) + "\n")


def as_text(make: Callable[[], str]) -> Callable[[Path], None]:
    """What writes a text, which is made when it is asked for."""

    def write(path: Path) -> None:
        path.write_text(make(), encoding="utf-8")

    return write


def numbered(file: Path, number: int, count: int) -> Path:
    """The name of file `number` of `count`: FILE itself for one, FILE-1, FILE-2, … before the ending for several.

    >>> import pathlib
    >>> numbered(pathlib.Path("kurtosis-2.5.json"), 0, 2).name
    'kurtosis-2.5-1.json'
    """
    return file if count == 1 else file.with_name(f"{file.stem}-{number + 1}{file.suffix}")
