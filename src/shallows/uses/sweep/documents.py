"""Documents (nested tables and lists, as TOML gives them): dotted paths into them, and one canonical text."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from shallows.support.errors import InvalidProblem

HOLE = "\x00hole {}\x00"


def parts(path: str) -> tuple[str, ...]:
    """The steps of a dotted path: `data.moments.4` is ("data", "moments", "4")."""
    steps = tuple(path.split("."))
    if not all(steps):
        raise InvalidProblem(f"The path {path!r} has an empty step; expected one like problem.data.n.")
    return steps


def replaced(document: Any, path: str, value: Any) -> Any:
    """The document with another value at the path; only what lies on the path is copied.

    >>> replaced({"data": {"n": 2, "moments": [1, 0, 1]}}, "data.moments.2", 9)
    {'data': {'n': 2, 'moments': [1, 0, 9]}}
    """
    return _replaced(document, parts(path), path, value)


def _replaced(document: Any, steps: Sequence[str], path: str, value: Any) -> Any:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(document, dict):
        if rest and step not in document:
            raise InvalidProblem(f"The path {path!r} leads nowhere: there is no table {step!r}.")
        return document | {step: _replaced(document.get(step), rest, path, value)}
    if isinstance(document, list):
        if not step.isdigit() or int(step) >= len(document):
            raise InvalidProblem(
                f"The path {path!r} has the step {step!r} into a list of {len(document)}; expected a place from 0 "
                f"to {len(document) - 1}."
            )
        copy = list(document)
        copy[int(step)] = _replaced(document[int(step)], rest, path, value)
        return copy
    raise InvalidProblem(
        f"The path {path!r} goes on with {step!r} where there is no table or list but {document!r}."
    )


def canonical(document: Any) -> str:
    """One text for one document: sorted keys, no spaces, and 2.0 written as 2, so that equal numbers agree.

    >>> canonical({"width": 2.0, "data": [1, 0.5]})
    '{"data":[1,0.5],"width":2}'
    """
    try:
        return json.dumps(_plain(document), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except TypeError as error:
        raise InvalidProblem(
            f"A sweep file holds tables, lists, numbers, text and booleans only: {error}."
        ) from None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and math.isfinite(value) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def pieces(document: Any, paths: Sequence[str]) -> tuple[list[str], list[int]]:
    """The canonical text cut at the given paths: n + 1 pieces, and which path goes into each of the n gaps.

    Joining the pieces with the canonical texts of values is `canonical` of the document with those values, at the
    cost of the values alone: a large template is turned into text once, not once a cell.
    """
    for i, path in enumerate(paths):
        document = replaced(document, path, HOLE.format(i))
    text = canonical(document)
    marks = {json.dumps(HOLE.format(i), ensure_ascii=False): i for i in range(len(paths))}
    missing = [paths[i] for mark, i in marks.items() if mark not in text]
    if missing:
        raise InvalidProblem(f"The path {missing[0]!r} lies inside another axis' path; use one of the two.")
    order = sorted(marks, key=text.index)
    found = []
    for mark in order:
        before, text = text.split(mark, 1)
        found.append(before)
    return [*found, text], [marks[mark] for mark in order]
