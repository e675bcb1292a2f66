"""The result of a solve: points by class, how good each is, and a summary a person wants to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.stored_system import SYSTEM
from shallows.support.errors import InvalidProblem
from shallows.support.records import Kind, Records
from shallows.support.tolerances import TINY

if TYPE_CHECKING:
    from shallows.mathematics.balls.certification import Certification

Realness = Literal["real", "complex", "undecided"]
#: Shares of a point's size below which a part is printed as 0: rounding, and what Newton's method leaves.
DUST = 1e-12
#: Digits to which equations beyond the n-th are looked at (`not_square`).
HOLDING_DIGITS = 20
#: A point is real when its imaginary part is below ten times its accuracy, complex above ten thousand times; accuracies
#: are estimates, and better ones than 50 ε are not believed.
REAL, NOT_REAL, SHARPEST = 10, 1e4, 1e-14


class Status(Enum):
    """What is known about completeness; `sentence` says it in words.

    >>> sh.homotopy.solve(["x^2 - 2"]).status
    <Status.COMPLETE: 'complete'>
    >>> sh.homotopy.solve(["x*y - 1", "x^2*y - x"]).status.sentence     # the hyperbola xy = 1
    'there are infinitely many solutions: ...'
    """

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    UNDECIDED = "undecided"
    POSITIVE_DIMENSIONAL = "positive-dimensional"

    @property
    def sentence(self) -> str:
        """The status in words."""
        return {
            Status.COMPLETE: "every path ended at a point that is accounted for",
            Status.INCOMPLETE: "paths were lost: solutions may be missing",
            Status.UNDECIDED: "some ends could not be resolved: each may be a multiple solution, several close "
            "ones, or a point of a larger set",
            Status.POSITIVE_DIMENSIONAL: "there are infinitely many solutions: some ends lie on curves or "
            "larger sets, which sh.homotopy.decompose finds; isolated solutions are listed as usual",
        }[self]


def _point_text(point: NDArray[np.complex128], real: Realness) -> str:
    """The first six coordinates, real ones without imaginary parts; what rounding leaves of a zero is 0."""
    dust = DUST * float(np.max(np.abs(point), initial=0.0))
    clean = [complex(*(0.0 if abs(part) < dust else part for part in (x.real, x.imag))) for x in point[:6]]
    shown = [f"{x.real:.6g}" if real == "real" else f"{x:.6g}" for x in clean]
    more = f", … {len(point)} coordinates" if len(point) > 6 else ""
    return f"({', '.join(shown)}{more})"


@dataclass(frozen=True, eq=False)
class Solution:
    """One solution of a square system, and how good it is.

    residual: largest |fᵢ| over the norm of the Jacobian. condition: of the Jacobian in scaled coordinates.
    accuracy: error of the point, relative to its largest coordinate (to 1 at the origin): Newton's last step, and
    rounding times the condition number, through all changes of coordinates; an estimate on the safe side. real: "real",
    "complex" or "undecided". path: the number of the path that ended here (the first of them, for a multiple one).

    >>> double = sh.homotopy.solve(["(x - 1)^2*(x + 2)"]).singular[0]
    >>> double.multiplicity, double.real, f"{double.point[0].real:.6f}"
    (2, 'real', '1.000000')
    >>> sh.homotopy.solve(["x^2 + 1"]).finite[0]
    Solution((0...1j), complex, residual ..., condition 2)
    """

    point: NDArray[np.complex128]
    multiplicity: int = 1
    residual: float = 0.0
    condition: float = 1.0
    accuracy: float = 0.0
    real: Realness = "undecided"
    note: str = ""
    path: int = -1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Solution) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.point.tobytes(), *(getattr(self, part.name) for part in fields(self)[1:])

    def __repr__(self) -> str:
        parts = [_point_text(self.point, self.real), self.real]
        if self.multiplicity != 1:
            parts.append(f"multiplicity {self.multiplicity}")
        parts.append(f"residual {self.residual:.2g}, condition {self.condition:.3g}")
        if self.note:
            parts.append(self.note)
        return f"Solution({', '.join(parts)})"


@dataclass(frozen=True)
class SolutionSet:
    """Solutions of one class: `len(s)`, `s.count`, `s.points` (count × n), or go through them one by one.

    The points of a class of `real` solutions are real numbers, of all others complex ones.

    >>> real = sh.homotopy.solve(["x^2 + y^2 - 5", "x*y - 2"]).real
    >>> real
    <4 solutions>
    >>> sorted(real.points.round(9).tolist())
    [[-2.0, -1.0], [-1.0, -2.0], [1.0, 2.0], [2.0, 1.0]]
    """

    solutions: tuple[Solution, ...] = ()
    n: int = 0
    real: bool = False

    @property
    def count(self) -> int:
        """How many."""
        return len(self.solutions)

    @property
    def points(self) -> NDArray[Any]:
        """One point a row."""
        points = np.array([solution.point for solution in self.solutions], np.complex128)
        points = points.reshape(len(self.solutions), -1 if self.solutions else self.n)
        return points.real.copy() if self.real else points

    @property
    def multiplicities(self) -> list[int]:
        """The multiplicity of each."""
        return [solution.multiplicity for solution in self.solutions]

    def __len__(self) -> int:
        return len(self.solutions)

    @overload
    def __getitem__(self, index: int) -> Solution: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Solution]: ...
    def __getitem__(self, index: int | slice) -> Solution | Sequence[Solution]:
        return self.solutions[index]

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    def __repr__(self) -> str:
        return f"<{self.count} solution{'s' if self.count != 1 else ''}>"


@dataclass(frozen=True, repr=False)
class Solutions:
    """All solutions of a square system, by class.

    finite: isolated and regular. singular: isolated with multiplicity > 1, and ends that could not be resolved (their
    note says so, and the status is UNDECIDED).
    at_infinity: end directions of diverging paths. failed: lost paths, where they stopped.
    continuum: points on positive-dimensional solution sets, one a path that ended there.
    dimension: of the set that a system with fewer equations than variables has, 0 otherwise; continuum is then its
    points on random hyperplanes. given: the system with more equations than variables of which `system` has random
    combinations, None otherwise. zeros: "excluded" where solutions with a zero coordinate were left out.

    >>> sh.homotopy.solve(["x^3 + y^2 - 5", "x*y - 2"])
    Solutions: complete — every path ended at a point that is accounted for
      paths tracked                5   start system: polyhedral
      finite, regular              5
      singular                     0
      at infinity                  0
      failed                       0
      real                         3   2 not real, 0 undecided
      worst residual         ...
      seed                         0   ...
    """

    system: Any
    finite: SolutionSet
    singular: SolutionSet
    at_infinity: SolutionSet
    failed: SolutionSet
    continuum: SolutionSet
    paths: int
    seed: int
    status: Status
    start: str = "total degree"
    notes: tuple[str, ...] = ()
    steps: int = field(default=0)
    seconds: float = field(default=0.0, compare=False)
    zeros: Literal["included", "excluded"] = "included"
    dimension: int = 0
    given: Any = None

    @property
    def real(self) -> SolutionSet:
        """The real ones among the finite and singular solutions."""
        return self._by_realness("real")

    @property
    def nonreal(self) -> SolutionSet:
        """Those that are certainly not real."""
        return self._by_realness("complex")

    @property
    def undecided(self) -> SolutionSet:
        """Those whose imaginary part is neither clearly zero nor clearly not: `certify()` decides."""
        return self._by_realness("undecided")

    @property
    def isolated(self) -> SolutionSet:
        """Finite and singular together, each point once."""
        return SolutionSet(self.finite.solutions + self.singular.solutions, self.finite.n)

    @property
    def message(self) -> str:
        """The status as a sentence."""
        return self.status.sentence

    def _by_realness(self, wanted: Realness) -> SolutionSet:
        chosen = tuple(solution for solution in self.isolated if solution.real == wanted)
        return SolutionSet(chosen, self.finite.n, wanted == "real")

    def certify(self, digits: int = 10) -> Certification:
        """Prove the finite solutions: see `certification.certify`."""
        from shallows.mathematics.balls.certification import certify

        if self.system is None:
            raise InvalidProblem("there is no exact system to certify. Fix: give CompiledFamily its `exact`")
        proof = certify(self.system, self._sharp_points(), digits=digits, bound=self._proved_bound())
        proof = replace(proof, bound_by=self.start if proof.bound is not None else "")
        if self.given is not None:
            proof = proof.only_of(
                f"of {self.finite.n} random combinations of the {len(self.given.equations)} equations; "
                f"that all of these hold there is seen to {HOLDING_DIGITS} digits and not proved"
            )
        return proof.off_the_axes() if self.zeros == "excluded" else proof

    def _sharp_points(self) -> NDArray[np.complex128]:
        """The finite solutions; the one that is nearly 0 is 0 where that solves the equations exactly.

        Of a point that is nothing but rounding no proof can know the size.
        """
        points = self.finite.points
        equations = getattr(self.system, "equations", None)
        if equations is None or not len(points) or any((0,) * self.finite.n in terms for terms in equations):
            return points
        sizes = np.abs(points).max(axis=1)
        smallest = int(sizes.argmin())
        others = np.delete(sizes, smallest)
        if sizes[smallest] < DUST * float(others.min(initial=1.0)):
            points[smallest] = 0.0
        return points

    def _proved_bound(self) -> int | None:
        """A proved upper bound on the number of isolated solutions, when the system has one."""
        bound = getattr(self.system, "root_bound", None)
        if bound is not None:
            return int(bound)
        return self.paths if self.start in ("total degree", "multihomogeneous", "polyhedral") else None

    def save(self, path: str | Path) -> Path:
        """Write `path`.json and `path`.npz, the exact system included; `Solutions.load` reads them.

        Returns the path of the first.
        """
        return RECORDS.save(path, self)

    @classmethod
    def load(cls, path: str | Path) -> Solutions:
        """What `save` wrote; it can be certified as before.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = sh.homotopy.solve(["x^3 + y^2 - 5", "x*y - 2"]).save(f"{folder}/five")
        ...     again = sh.homotopy.Solutions.load(file)
        >>> again.finite, again.certify().complete
        (<5 solutions>, True)
        """
        solutions: Solutions = RECORDS.load(path)
        return solutions

    def __repr__(self) -> str:
        isolated = self.isolated
        lines = [f"Solutions: {self.status.value} — {self.message}"]

        def line(label: str, figure: object, remark: str = "") -> None:
            lines.append(f"  {label:<22}{figure!s:>8}{'   ' + remark if remark else ''}")

        line("paths tracked", self.paths, f"start system: {self.start}")
        line("finite, regular", self.finite.count)
        if self.singular:
            shown = ", ".join(str(m) for m in sorted(self.singular.multiplicities, reverse=True)[:8])
            line("singular", self.singular.count, f"multiplicities {shown}")
        else:
            line("singular", 0)
        if self.dimension:
            line("dimension", self.dimension, "at least, of every component")
        line("at infinity", self.at_infinity.count, "paths" if self.at_infinity else "")
        if self.continuum:
            what = (
                "points on random hyperplanes"
                if self.dimension
                else "paths; positive-dimensional solution set"
            )
            line("on a continuum", self.continuum.count, what)
        line("failed", self.failed.count, "paths" if self.failed else "")
        decided = f"{self.nonreal.count} not real, {self.undecided.count} undecided"
        line("real", self.real.count, decided if isolated else "")
        if self.finite:
            worst = max(s.residual for s in self.finite)
            condition = max(s.condition for s in self.finite)
            line("worst residual", f"{worst:.1e}", f"worst condition {condition:.1e}")
        line("seed", self.seed, f"{self.seconds:.2f} s")
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)


def realness(points: NDArray[np.complex128], accuracy: NDArray[np.float64]) -> list[Realness]:
    """Real, complex or undecided, from max |Im| / ‖x‖ against the accuracy of each point: invariant under scaling."""
    size = np.maximum(np.abs(points).max(axis=1, initial=0.0), TINY)
    share = np.abs(points.imag).max(axis=1, initial=0.0) / size
    noise = np.maximum(accuracy, SHARPEST)
    answers = np.where(
        share <= REAL * noise, "real", np.where(share >= NOT_REAL * noise, "complex", "undecided")
    )
    words: list[Realness] = answers.tolist()
    return words


def _columns(given: SolutionSet) -> dict[str, Any]:
    """What is written of a class: one array for each number of its solutions."""
    names = ("multiplicity", "residual", "condition", "accuracy", "path")
    numbers = {name: np.array([getattr(one, name) for one in given]) for name in names}
    words = {name: [getattr(one, name) for one in given] for name in ("real", "note")}
    points = np.array([one.point for one in given], np.complex128)
    points = points.reshape(len(given), -1 if len(given) else given.n)
    return {"points": points, "n": given.n, "all_real": given.real, **numbers, **words}


def _solution_set(columns: dict[str, Any]) -> SolutionSet:
    """The class of these columns."""
    points, n, real = columns.pop("points"), columns.pop("n"), columns.pop("all_real")
    rows = zip(
        *(part.tolist() if isinstance(part, np.ndarray) else part for part in columns.values()), strict=True
    )
    found = [
        Solution(point, **dict(zip(columns, row, strict=True)))
        for point, row in zip(points, rows, strict=True)
    ]
    return SolutionSet(tuple(found), n, real)


RECORDS = Records(
    "shallows-solutions", 1, Solutions, Kind(SolutionSet, _columns, _solution_set), Status, SYSTEM
)
