"""What rows depend on beside the sweep file: data files and the files of functions, by the hash of their content.

A plan holds the hash of every one of them. A problem is built from bytes whose hash has been compared with the plan's,
so a file is read once; and when a chunk of rows is computed, all its files are hashed again before the rows are given
away. A file that changes while a sweep runs stops it: no row is ever stored under the key of another file's content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from shallows.support.errors import InvalidProblem
from shallows.uses.sweep.documents import replaced
from shallows.uses.sweep.faults import InputChanged
from shallows.uses.sweep.file import SweepSection, computations
from shallows.uses.sweep.functions import digest, resolve
from shallows.uses.sweep.problems import MAKERS
from shallows.uses.sweep.quantities import QUANTITIES

#: The key under which a table of a problem names a file, wherever the table stands.
FILE = "file"
#: What stands for the hash of a file that is not there: a function may do without it.
ABSENT = "absent"
#: What stands before the names of files in a plan's digests: those of every cell, and those that axes bring.
EVERYWHERE, ON_AN_AXIS = "data ", "file "


def files_in(document: Any) -> Iterator[str]:
    """The files that the tables in a document name: `file = "…"` in a law, a part of a mixture, a table of an axis.

    >>> list(files_in({"law": "mixture", "parts": [{"law": "samples", "file": "a.csv"}, {"law": "gaussian", "n": 2}]}))
    ['a.csv']
    """
    if isinstance(document, Mapping):
        for key, value in document.items():
            if key == FILE and isinstance(value, str):
                yield value
            else:
                yield from files_in(value)
    elif isinstance(document, list):
        for entry in document:
            yield from files_in(entry)


def files_at(path: str, value: Any) -> list[str]:
    """The files that an axis brings into a problem by this value at this path.

    >>> files_at("problem.data.file", "a.csv"), files_at("problem", {"data": {"file": "b.csv"}}), files_at("train", 1)
    (['a.csv'], ['b.csv'], [])
    """
    names = path.split(".")
    return sorted(set(files_in({names[-1]: value}))) if names[0] == "problem" else []


def digests(section: SweepSection, folder: str) -> dict[str, str]:
    """The hashes of all that results depend on: users' functions, and the data files of the problems."""
    found = {target: mark for target in _targets(section) if (mark := digest(target, folder))}
    grid, template = section.grid(), section.template()
    for path in grid.paths:
        template = replaced(template, path, None)
    for name in files_in(template["problem"]):
        found[EVERYWHERE + name] = _file_digest(folder, name)
    for group in grid.groups:
        for path, values in group.values.items():
            for name in {name for value in values for name in files_at(path, value)}:
                found[ON_AN_AXIS + name] = _file_digest(folder, name)
    return found


def _targets(section: SweepSection) -> list[str]:
    """The functions that a sweep names, in its tables and on its axes."""
    values = {path: given for group in section.grid().groups for path, given in group.values.items()}
    asked = [(entry.what, QUANTITIES, "quantity") for entry in section.computations]
    asked += [(what, QUANTITIES, "quantity") for path in values if _is_what(path) for what in values[path]]
    if section.problem is not None and "make" in section.problem:
        makers = [section.problem["make"], *values.get("problem.make", [])]
        asked += [(make, MAKERS, "problem") for make in makers]
    return [resolve(str(name), built_in, kind) for name, built_in, kind in asked]


def _is_what(path: str) -> bool:
    return path.startswith("compute") and path.split(".")[-1] == "what"


def _file_digest(folder: str, name: str) -> str:
    file = Path(folder) / name
    return _mark(_content(file)) if file.exists() else ABSENT


def _mark(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidProblem(f"Cannot read the data file {file}: {error.strerror or error}.") from None


def _expected(name: str, known: Mapping[str, str]) -> str | None:
    """The hash of a data file when the plan was made; None in plans of versions that kept none for it."""
    return known.get(EVERYWHERE + name, known.get(ON_AN_AXIS + name))


def content_of(name: str, folder: str, known: Mapping[str, str]) -> bytes:
    """The bytes of a data file, if they are those that the plan was made with."""
    content, mark = _content(Path(folder) / name), _expected(name, known)
    if mark is not None and _mark(content) != mark:
        raise InputChanged(name)
    return content


def require_unchanged(documents: Iterable[dict[str, Any]], folder: str, known: Mapping[str, str]) -> None:
    """Refuse rows of these documents when a file that they depend on is not what the plan was made with."""
    files: set[str] = set()
    targets: set[str] = set()
    for document in documents:
        problem = document["problem"]
        files.update(files_in(problem))
        targets.update(resolve(entry.what, QUANTITIES, "quantity") for entry in computations(document))
        if problem is not None and "make" in problem:
            targets.add(resolve(str(problem["make"]), MAKERS, "problem"))
    for name in sorted(files):
        if _expected(name, known) not in (None, _file_digest(folder, name)):
            raise InputChanged(name)
    for target in sorted(targets & known.keys()):
        if digest(target, folder) != known[target]:
            raise InputChanged(f"The file of {target}, or one that it imports,")
