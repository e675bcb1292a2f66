"""Solved members on disk: those of common shapes come with the package, others are kept in the user's cache directory.

A member is a pair of files, name.json and name.npz (`support.files`: written whole or not at all, with checksums). What
is read is checked before it is used: every point must be a solution to rounding (one Newton step moves it by less than
SOLVED of its size), all must be different students, and as many as a theorem says, where one does. A file that is
damaged, or fails this, is one that is not there: the member is solved again and written anew.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from pathlib import Path

import numpy as np

from shallows.mathematics.same_points import PointSet
from shallows.questions.charts.continuation.equations import CriticalEquations, SolvedMember, family
from shallows.questions.charts.continuation.metrics import KindOfMetrics
from shallows.support.code_cache import root
from shallows.support.errors import ShallowsError
from shallows.support.files import Format
from shallows.support.version import __version__

FORMAT = Format("shallows-generic-member", 1)
#: Where the members that come with the package lie.
SHIPPED = Path(__file__).parent / "members"
#: Letters of a name that tells all by itself: file systems take 255, with the ending.
LONGEST = 150
#: Digits of numbers in a name. The last ones of a moved and scaled activation differ from one machine to another, and a
#: member of one is solved for the other to as many digits.
NAMED = 12
#: A Newton step from a solution that is longer, relatively, says that it is none: points are refined to about ε times
#: their condition, which is below 10⁷ for generic members.
SOLVED = 1e-8


def name_of(equations: CriticalEquations, special: KindOfMetrics | None) -> str:
    """The name of a member's files, from the equations' class and numbers and the kind of metrics.

    >>> from shallows.questions.charts.powers.equations import PowerEquations
    >>> name_of(PowerEquations(degree=3, n=3, r=2), None)
    'PowerEquations-degree3-n3-r2-generic'
    """
    shown = [repr(equations), "generic" if special is None else repr(special)]
    shown += ["networks, folds"] if equations.repeats else []
    shown = [re.sub(r"\d+\.\d+(e[+-]?\d+)?", _rounded, text) for text in shown]
    name = "-".join(re.sub(r"[^A-Za-z0-9]+", "-", text.replace("=", "")).strip("-") for text in shown)
    exact = " ".join(shown)
    if len(name) <= LONGEST and not re.search(r"[^A-Za-z0-9_ ()\[\],=']", exact):
        return name
    return f"{name[:LONGEST]}-{hashlib.sha256(exact.encode()).hexdigest()[:16]}"  # signs and points count too


def _rounded(number: re.Match[str]) -> str:
    return repr(float(f"{float(number[0]):.{NAMED}g}"))


def folder() -> Path | None:
    """Where this version keeps members; None when there is no home to put them in."""
    above = root()
    return None if above is None else above / f"members-{__version__}"


def kept_member(equations: CriticalEquations, special: KindOfMetrics | None) -> SolvedMember | None:
    """The member on disk, the user's own first, if there is one and it is sound."""
    name = name_of(equations, special)
    for place in (folder(), SHIPPED):
        if place is not None and (place / f"{name}.json").exists():
            with suppress(ShallowsError):
                found = read_member(place / name)
                if is_solved(equations, special, found):
                    return found
    return None


def keep_member(equations: CriticalEquations, special: KindOfMetrics | None, member: SolvedMember) -> None:
    """Write a member to the user's cache, with how complete it is: the next process would find no more of it. Where
    that cannot be written, nothing is said."""
    place = folder()
    if place is None:
        return
    with suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        write_member(place / name_of(equations, special), member)


def write_member(path: Path, member: SolvedMember) -> Path:
    """A member's two files."""
    document = {"completeness": member.completeness, "points": len(member.points)}
    return FORMAT.save(path, document, {"parameters": member.parameters, "points": member.points})


def read_member(path: Path) -> SolvedMember:
    """What `write_member` wrote, or `InvalidProblem`."""
    contents = FORMAT.load(path)
    with contents.reading():
        parameters, points = contents.arrays["parameters"], contents.arrays["points"]
        if parameters.dtype != np.complex128 or points.dtype != np.complex128 or points.ndim != 2:
            raise ValueError("its arrays are not complex numbers, one solution a row")
        if len(points) != contents.document["points"]:
            raise ValueError("it has not as many solutions as it says")
        return SolvedMember(parameters, points, str(contents.document["completeness"]))


def is_solved(equations: CriticalEquations, special: KindOfMetrics | None, member: SolvedMember) -> bool:
    """Whether all points are different solutions, and as many as there are where that is known."""
    kind, points = family(equations, special), member.points
    if member.parameters.shape != (kind.parameter_count,) or points.shape[1:] != (equations.unknowns,):
        return False
    if not (np.all(np.isfinite(member.parameters)) and np.all(np.isfinite(points)) and len(points)):
        return False
    if special is None and equations.count is not None and len(points) != equations.count:
        return False
    segment = kind.segment(member.parameters, member.parameters)
    values, jacobians = segment.at_all(np.append(points, np.zeros((len(points), 1), np.complex128), axis=1))
    try:
        steps = np.linalg.solve(jacobians[:, :, :-1], values[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        return False
    if not np.all(np.abs(steps).max(axis=1) <= SOLVED * np.abs(points).max(axis=1)):
        return False
    return len(PointSet(points, invariants=equations.marks)) == len(points)


def contents() -> tuple[int, int]:
    """How many members are kept in the user's cache, for all versions, and how many bytes they take."""
    above = root()
    files = list(above.glob("members-*/*.json")) if above is not None else []
    return len(files), sum(part.stat().st_size for file in files for part in _parts(file))


def clear() -> None:
    """Remove all members from the user's cache, for all versions; those of the package stay."""
    above = root()
    for file in above.glob("members-*/*.json") if above is not None else ():
        for part in _parts(file):
            part.unlink(missing_ok=True)


def _parts(file: Path) -> list[Path]:
    return [part for part in (file, file.with_suffix(".npz")) if part.exists()]
