"""Which start system: the one with the fewest paths that loses no isolated solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from shallows.mathematics.homotopy.mixed_cells import UNLIMITED, MixedCells, OutOfBudget, mixed_cells
from shallows.mathematics.homotopy.partitions import best_groups
from shallows.mathematics.homotopy.systems import Exponents, PolynomialSystem
from shallows.mathematics.homotopy.zero_coordinates import (
    no_solutions_at_infinity,
    underdetermined_face,
    zero_free,
)
from shallows.support.errors import InvalidProblem

StartName = Literal["auto", "total degree", "multihomogeneous", "polyhedral"]
Zeros = Literal["included", "excluded"]
#: Polyhedral paths are taken when there are less than this share of the total degree's: each costs a quarter more
#: (noon-5, 233 of them and 243: 25 ms against 19 ms), but those that go to infinity cost several.
WORTH_IT = 0.95
#: Work for mixed cells that is worth it: so many tables for every path of the total degree, a tenth or so of the time
#: that the paths take, since evaluating an equation and looking through a table both go by the number of terms.
TABLES_A_PATH = 20
#: The least and the most of it, in entries of tables (6 ns each): a quarter of a second; ten seconds where the total
#: degree can be tracked, too; a minute where it cannot.
LEAST_ENTRIES, MOST_ENTRIES, LAST_RESORT = 4 * 10**7, 16 * 10**8, 10**10
#: Paths beyond which the total degree is no alternative: `solve` refuses more unless it is told otherwise.
TOO_MANY = 100_000


@dataclass(frozen=True)
class Start:
    """A kind of start system, its number of paths, and what it is made from."""

    name: str
    paths: int
    groups: Sequence[Sequence[str]] | None = None
    cells: MixedCells | None = None


def choose_start(
    system: PolynomialSystem,
    start: StartName = "auto",
    groups: Sequence[Sequence[str]] | None = None,
    zeros: Zeros = "included",
    threads: int | None = 1,
) -> Start:
    """The start system that was asked for, or the one with the fewest paths.

    The mixed volume of the supports, with the origin added unless no coordinate of a solution can be zero, is never
    more than a multihomogeneous number, and that of one group is the total degree; of equal ones the simpler is taken.
    Where solutions with zero coordinates may form curves it is the total degree, whose paths end on those too.

    >>> from shallows.mathematics.homotopy.starts import choose_start
    >>> choose_start(sh.homotopy.PolynomialSystem.read(["x^3 + y^2 - 5", "x*y - 2"])).paths
    5
    """
    _check(start, groups, zeros)
    if groups is not None:
        return Start("multihomogeneous", system.multihomogeneous_number(groups), groups)
    if start == "multihomogeneous":
        found, count = best_groups(system)
        return Start("multihomogeneous", count, found)
    total = Start("total degree", system.bezout_number)
    if start == "total degree":
        return total
    if start == "polyhedral" or zeros == "excluded":
        cells = mixed_cells(_supports(system, zeros), budget=UNLIMITED, threads=threads)
        return Start("polyhedral", cells.mixed_volume, cells=cells)
    if _is_dense(system) or no_solutions_at_infinity([list(terms) for terms in system.equations]):
        return total
    if _hides_curves(system):
        return total
    supports = _supports(system, zeros)
    try:
        cells = mixed_cells(supports, budget=_budget(supports, total.paths), threads=threads)
    except OutOfBudget:
        found, count = best_groups(system)
        return Start("multihomogeneous", count, found) if count < total.paths else total
    # of a mixed volume of zero one learns that there are no isolated solutions, and nothing about others
    return (
        Start("polyhedral", cells.mixed_volume, cells=cells)
        if 0 < cells.mixed_volume < WORTH_IT * total.paths
        else total
    )


def _budget(supports: list[list[Exponents]], paths: int) -> int:
    """The number of tables that is worth it; each has an entry for every point of a support and every variable."""
    entries = sum(len(support) + len(supports) for support in supports) * len(supports)
    most = MOST_ENTRIES if paths <= TOO_MANY else LAST_RESORT
    return min(max(TABLES_A_PATH * paths, LEAST_ENTRIES // entries), most // entries)


def _check(start: str, groups: object, zeros: str) -> None:
    names = ("auto", "total degree", "multihomogeneous", "polyhedral")
    if start not in names:
        raise InvalidProblem(f"start={start!r}. Fix: use one of {', '.join(names)}")
    if zeros not in ("included", "excluded"):
        raise InvalidProblem(f'zeros={zeros!r}. Fix: use "included" or "excluded"')
    if groups is not None and start not in ("auto", "multihomogeneous"):
        raise InvalidProblem(
            f"groups are for multihomogeneous starts, not for start={start!r}. Fix: leave one out"
        )
    if zeros == "excluded" and (groups is not None or start not in ("auto", "polyhedral")):
        raise InvalidProblem('zeros="excluded" needs the polyhedral start. Fix: leave start and groups out')


def _supports(system: PolynomialSystem, zeros: Zeros) -> list[list[Exponents]]:
    """The exponents of each equation; with the origin, where a coordinate may be zero and that is wanted."""
    supports = [list(terms) for terms in system.equations]
    origin = (0,) * system.n
    if zeros == "excluded" or all(origin in terms for terms in system.equations) or zero_free(supports):
        return supports
    return [[*support, origin] for support in supports]


def _hides_curves(system: PolynomialSystem) -> bool:
    """Whether solutions with zero coordinates may form curves, on which only paths of the total degree must end."""
    supports = [list(terms) for terms in system.equations]
    return not zero_free(supports) and underdetermined_face(supports)


def _is_dense(system: PolynomialSystem) -> bool:
    """Whether every Newton polytope is a full simplex: then the mixed volume is the total degree."""
    n = system.n
    for degree, terms in zip(system.degrees, system.equations, strict=True):
        if not all(tuple(degree if k == j else 0 for k in range(n)) in terms for j in range(n)):
            return False
    return True
