"""`solve_many`: one family, many parameters, one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.homotopy.families import Family, PolynomialFamily, Vector
from shallows.mathematics.homotopy.monodromy import MonodromyResult, monodromy
from shallows.mathematics.homotopy.parameter import random_parameters, solve_member
from shallows.mathematics.homotopy.paths import TrackerSettings
from shallows.mathematics.homotopy.solutions import Solutions, Status
from shallows.mathematics.homotopy.solve import solve
from shallows.support.arguments import typed
from shallows.support.checks import counted
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Progress, Shown
from shallows.support.seeds import seed_of

#: Coordinates below this may be rounded zeros; that there is a root next to zero is then proved.
ROUNDING = 1e-14


@dataclass(frozen=True)
class GenericMember:
    """All solutions of a generic member of a family, and how it is known that they are all.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^2 - a*x + b"], ["x"], ["a", "b"])
    >>> generic = sh.homotopy.solve_many(family, [[3, 2]]).generic
    >>> len(generic.points), generic.completeness
    (2, 'every path accounted for')
    """

    points: NDArray[np.complex128]
    parameters: Vector
    completeness: str


@dataclass(frozen=True)
class ManySolutions(Sequence[Solutions]):
    """Solutions at many parameters: a sequence of `Solutions`, with their counts as arrays.

    completeness: how all solutions of the generic member are known: "every path accounted for", or what monodromy says.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^2 - a*x + b"], ["x"], ["a", "b"])
    >>> many = sh.homotopy.solve_many(family, [[3, 2], [1, 0], [1, 1]])
    >>> many
    ManySolutions: 3 members from 2 solutions of a generic one (every path accounted for), 0 of them incomplete, seed 0
    >>> many.real_counts.tolist()
    [2, 2, 0]
    """

    solutions: tuple[Solutions, ...]
    parameters: NDArray[np.complex128]
    generic: GenericMember = field(repr=False)
    seed: int = 0

    def __len__(self) -> int:
        return len(self.solutions)

    def __getitem__(self, index: int) -> Solutions:  # type: ignore[override]
        return self.solutions[index]

    def __iter__(self) -> Iterator[Solutions]:
        return iter(self.solutions)

    @property
    def counts(self) -> NDArray[np.int64]:
        """The isolated solutions of each member."""
        return np.array([one.isolated.count for one in self.solutions], np.int64)

    @property
    def real_counts(self) -> NDArray[np.int64]:
        """The real solutions of each member, those that are not decided left out."""
        return np.array([one.real.count for one in self.solutions], np.int64)

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Of which members the number of real solutions is clear: no path lost, no solution between real and not."""
        return np.array(
            [one.status is Status.COMPLETE and not one.undecided.count for one in self.solutions], bool
        )

    def __repr__(self) -> str:
        bad = sum(one.status is Status.INCOMPLETE for one in self.solutions)
        return (
            f"ManySolutions: {counted(len(self), 'member')} from {counted(len(self.generic.points), 'solution')} of a "
            f"generic one ({self.generic.completeness}), {bad} of them incomplete, seed {self.seed}"
        )


def generic_member(
    family: Family, rng: np.random.Generator, size: float = 1.0, settings: TrackerSettings | None = None
) -> GenericMember:
    """A random complex member, solved: a polynomial one from scratch, another by monodromy."""
    if not isinstance(family, PolynomialFamily):
        found = monodromy(family, rng=rng, settings=settings)
        return GenericMember(found.points, found.parameters, f"monodromy, {found.completeness}")
    parameters = random_parameters(family, rng, size)
    solutions = solve(family.member(list(parameters)), rng=rng, settings=settings)
    if solutions.status is not Status.COMPLETE:
        raise InvalidProblem(
            f"a generic member of the family is {solutions.status.value}: {solutions.message}. Fix: give a family "
            "whose generic members have finitely many solutions"
        )
    return GenericMember(solutions.finite.points, parameters, "every path accounted for")


@typed
def solve_many(
    family: Family,
    parameters: ArrayLike,
    rng: int | np.random.Generator = 0,
    *,
    known: MonodromyResult | GenericMember | None = None,
    threads: int | None = None,
    progress: Shown = False,
    settings: TrackerSettings | None = None,
) -> ManySolutions:
    """Solutions at many parameters, one row a member: a generic member is solved once, the others from it.

    `known` are all solutions of a generic complex member, if you have them. Members at which paths are lost are not
    dropped: their `status` is INCOMPLETE. Singular ends are listed as such and not resolved: use `solve` there.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^2 + y^2 - a", "x*y - b"], ["x", "y"], ["a", "b"])
    >>> sh.homotopy.solve_many(family, [[5, 2], [5, 3]]).real_counts.tolist()
    [4, 0]
    """
    table = np.array(parameters, dtype=np.complex128, ndmin=2)
    if table.ndim != 2 or table.shape[1] != family.parameter_count or not np.isfinite(table).all():
        raise InvalidProblem(
            f"parameters has shape {np.shape(parameters)}; expected one member a row, "
            f"{counted(family.parameter_count, 'finite number')} each."
        )
    seed = seed_of(rng)
    random = np.random.default_rng(seed)
    size = float(np.abs(table).max(initial=1.0))
    if known is None:
        generic = generic_member(family, random, size, settings)
    else:
        generic = GenericMember(known.points, known.parameters, known.completeness)
    found = []
    with Progress(len(table), "solving members", progress, "members") as shown:
        for row in table:
            exact = [float(z.real) if not z.imag else complex(z) for z in row]
            member = solve_member(
                family,
                generic.points,
                list(generic.parameters),
                exact,
                seed,
                detour=False,
                on_incomplete="return",
                threads=threads,
                settings=settings,
            )
            found.append(_decided(member))
            shown.advance()
    return ManySolutions(tuple(found), table, generic, seed)


def _decided(solutions: Solutions) -> Solutions:
    """Simple solutions that doubles leave open, real or regular or not, with a proof if there is one."""
    doubted = [one for one in solutions.isolated if one.real == "undecided" and one.multiplicity == 1]
    if not doubted or not getattr(solutions.system, "is_real", False):
        return solutions
    points = np.array([one.point for one in doubted])
    proof = certify(solutions.system, np.where(np.abs(points) < ROUNDING, 0.0, points))
    proved = {}
    for one, root in zip(doubted, proof.roots, strict=True):
        if root is not None and root.real is not None and not proof.repeated:
            proved[one.path] = replace(one, real="real" if root.real else "complex", note="")
    kept = [proved.pop(one.path, one) for one in solutions.finite]
    singular = tuple(one for one in solutions.singular if one.path not in proved)
    status = solutions.status
    if status is Status.UNDECIDED and not singular:
        status = Status.COMPLETE
    return replace(
        solutions,
        finite=replace(solutions.finite, solutions=(*kept, *proved.values())),
        singular=replace(solutions.singular, solutions=singular),
        status=status,
    )
