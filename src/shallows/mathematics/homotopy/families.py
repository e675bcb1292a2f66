"""Families of systems F(x; p), and homotopies along segments of their parameter space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.paths import Homotopy
from shallows.mathematics.homotopy.sparse import straight_line
from shallows.mathematics.homotopy.systems import PolynomialSystem
from shallows.support.arguments import typed
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import TINY

#: Of central differences, near ε^⅓ = 6e-6: truncation and rounding are both 1e-10 or so.
STEP = 1e-6

Vector = NDArray[np.complex128]


class Family(Protocol):
    """A family of square systems: what a parameter homotopy and monodromy need."""

    @property
    def n(self) -> int:
        """The number of unknowns."""
        ...

    @property
    def parameter_count(self) -> int:
        """The number of parameters."""
        ...

    def segment(self, start: Vector, target: Vector) -> Homotopy:
        """F(x; p(t)) with p(t) = (1−t)·target + t·start, in affine coordinates."""
        ...

    def member(self, parameters: Sequence[object]) -> Any:
        """The exact system at these parameters, for certificates; None when there is none."""
        ...


@dataclass(frozen=True)
class PolynomialFamily:
    """A square polynomial system with parameters, F(x; p) = 0: a member for every value of p.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^2 - a*x + b"], variables=["x"], parameters=["a", "b"])
    >>> print(family.member([3, 2]))
    (1)*x^2 + (-3)*x + (2)
    """

    system: PolynomialSystem

    @classmethod
    def read(
        cls, polynomials: Any, variables: Sequence[Any] | None, parameters: Sequence[Any]
    ) -> PolynomialFamily:
        """From polynomials in any form that `solve` takes; the parameters may enter in any polynomial way."""
        return cls(PolynomialSystem.read(polynomials, variables, parameters))

    def __post_init__(self) -> None:
        if not self.system.parameters:
            raise InvalidProblem("the system has no parameters. Fix: name them in parameters=[...]")

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return self.system.n

    @property
    def parameter_count(self) -> int:
        """The number of parameters."""
        return len(self.system.parameters)

    def segment(self, start: Vector, target: Vector) -> Homotopy:
        """F(x; p(t)), with p(t) on the segment from `start` (t = 1) to `target` (t = 0)."""
        rows = [{key: complex(value) for key, value in terms.items()} for terms in self.system.equations]
        ends = (np.asarray(target, np.complex128), np.asarray(start, np.complex128))
        return straight_line(rows, rows, self.n, projective=False, parameters=ends)

    def member(self, parameters: Sequence[object]) -> PolynomialSystem:
        """The system with numbers put in for the parameters, exactly."""
        return self.system.specialize(parameters)


@dataclass(frozen=True)
class CompiledFamily:
    """A family with a compiled evaluator of its own: `make(start, target)` returns the `Homotopy` between two members.

    `exact(parameters)` gives the exact system at numbers, for certificates; without it there are none. Here both are
    borrowed from a `PolynomialFamily`:

    >>> given = sh.homotopy.PolynomialFamily.read(["x^2 - a*x + b"], ["x"], ["a", "b"])
    >>> family = sh.homotopy.CompiledFamily(n=1, parameter_count=2, make=given.segment, exact=given.member)
    >>> found = sh.homotopy.solve_member(family, [[1], [2]], known=[3, 2], wanted=[7, 10])
    >>> sorted(found.real.points[:, 0].round(9).tolist()), found.certify().real_count
    ([2.0, 5.0], 2)
    """

    n: int
    parameter_count: int
    make: Callable[[Vector, Vector], Homotopy]
    exact: Callable[[Sequence[object]], Any] | None = None

    def segment(self, start: Vector, target: Vector) -> Homotopy:
        """F(x; p(t)), with p(t) on the segment from `start` (t = 1) to `target` (t = 0)."""
        return self.make(np.asarray(start, np.complex128), np.asarray(target, np.complex128))

    def member(self, parameters: Sequence[object]) -> Any:
        """The exact system at these parameters, when `exact` was given."""
        return None if self.exact is None else self.exact(parameters)


@typed
def check_homotopy(homotopy: Homotopy, point: Vector, t: complex = 0.3 + 0.2j, step: float = STEP) -> float:
    """How far the extended Jacobian of an evaluator is from central differences, relative to its size.

    For writers of evaluators: about 1e-9 is right, 1e-3 or more means that a derivative is wrong.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^3 - a*x + b"], ["x"], ["a", "b"])
    >>> homotopy = family.segment(np.array([3, 2]), np.array([5, 4]))
    >>> sh.homotopy.check_homotopy(homotopy, np.array([0.7 + 0.2j])) < 1e-7
    True
    """
    where = np.append(np.asarray(point, np.complex128), t)
    _, jacobian = homotopy.at(where)
    size = max(float(np.abs(jacobian).max()), TINY)
    worst = 0.0
    for j in range(len(where)):
        change = np.zeros_like(where)
        change[j] = step * max(1.0, abs(where[j]))
        ahead, _ = homotopy.at(where + change)
        behind, _ = homotopy.at(where - change)
        slope = (ahead - behind) / (2 * change[j])
        worst = max(worst, float(np.abs(slope - jacobian[:, j]).max()) / size)
    return worst
