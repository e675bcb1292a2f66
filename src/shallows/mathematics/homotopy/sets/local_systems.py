"""Equations that are regular along a component, whatever its multiplicity.

Where the Jacobian of F has rank r < n − d at the points of a component of dimension d, equations are added that hold on
it and make it simpler: with a random n × (r+1) matrix B and a random vector h there is one λ with

    J(x) B λ = 0,   h·λ = 1

at each of its points, and (x, λ) solves the larger system with a smaller multiplicity; after a few rounds it is
regular, and paths can be tracked on it (A. Leykin, J. Verschelde, A. Zhao, Theoret. Comput. Sci. 359, 2006; for
components A. Sommese, C. Wampler, "The Numerical Solution of Systems of Polynomials", 2005, section 13.3.2).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy.coefficients import ZERO as NOTHING
from shallows.mathematics.homotopy.coefficients import to_gaussian
from shallows.mathematics.homotopy.sets.numeric import NumericSystem, Row, exactly, partial
from shallows.mathematics.homotopy.sets.slicing import linear_system
from shallows.mathematics.homotopy.start_systems import unit
from shallows.mathematics.homotopy.systems import Terms
from shallows.mathematics.newton import settled
from shallows.support.seeds import complex_normal
from shallows.support.tolerances import EPSILON

Vector = NDArray[np.complex128]
#: Newton steps, the relative step at which they have converged (quadratically: the error is the square of it), and how
#: far the point may have been: ends of the Cauchy endgame are known to 10⁻⁶, those of multiple roots to 10⁻⁴.
NEWTON, CONVERGED, NEAR = 12, 1e-11, 1e-2
#: A point is regular when the smallest singular value of the equations with the slice is above this share of the
#: largest, or of 1, the size of coefficients: a double root splits to √ε = 10⁻⁸ in doubles, and leaves
#: singular values of that size.
REGULAR = 1e-7
#: The same where equations are evaluated in double-double, so that only the rounding of the point is left, ε times
#: second derivatives.
SHARP_REGULAR = 1e-10
#: Singular values that may be those of a kernel at a point known to 10⁻⁶.
KERNEL = 1e-3
#: Rounds of deflation, the most unknowns of the last, and its most terms: the work is proportional to them.
ROUNDS, MOST_UNKNOWNS, MOST_TERMS = 6, 60, 20_000

#: In place of ranks: a linear space with equations of its own; and the points at which that is tested.
LINEAR, TRIES = -1, 3

Ranks = tuple[int, ...]


@dataclass(frozen=True)
class LocalPoint:
    """A point of a slice of a component, with the multipliers λ after the coordinates, and the ranks that led there."""

    place: Vector
    ranks: Ranks


@dataclass
class LocalSystems:
    """All deflations of one system by the ranks that they were made for; `()` is the system itself."""

    system: NumericSystem
    seed: int
    made: dict[Ranks, NumericSystem] = field(default_factory=dict)

    def of(self, ranks: Ranks) -> NumericSystem:
        """The system deflated once for each of these ranks."""
        if not ranks:
            return self.system
        if ranks not in self.made:
            before = self.of(ranks[:-1])
            self.made[ranks] = _deflated(before, *self._random(before.unknowns, ranks))
        return self.made[ranks]

    def _random(self, unknowns: int, ranks: Ranks) -> tuple[Vector, Vector]:
        """B and h, the same whenever they are asked for."""
        rng = np.random.default_rng([self.seed, *ranks, len(ranks)])
        return unit(rng, (unknowns, ranks[-1] + 1)), unit(rng, ranks[-1] + 1)

    def regular(self, point: Vector, forms: Vector) -> LocalPoint | None:
        """The point, refined, if the system itself is regular there; the rows of `forms` are those of the slice."""
        place = refined(self.system, point, forms)
        return None if place is None else LocalPoint(place, ())

    def deflated(self, point: Vector, forms: Vector) -> LocalPoint | None:
        """The point, refined, with the deflation that is regular there; None where there is none."""
        place = np.asarray(point, np.complex128)
        ranks: Ranks = ()
        for _ in range(ROUNDS):
            current = self.of(ranks)
            slope = current.jacobian(place)
            rank = _rank(slope, current.unknowns - len(forms) - 1)
            terms = sum(map(len, current.equations)) * ((rank or 0) + 2)
            if rank is None or current.unknowns + rank + 1 > MOST_UNKNOWNS or terms > MOST_TERMS:
                return None
            matrix, weights = self._random(current.unknowns, (*ranks, rank))
            kernel = np.linalg.svd(slope @ matrix)[2][-1].conj()
            scale = weights @ kernel
            if abs(scale) < KERNEL:
                return None
            ranks = (*ranks, rank)
            place = np.concatenate([place, kernel / scale])
            found = refined(self.of(ranks), place, forms)
            if found is not None:
                moved = float(np.abs(found[: len(point)] - point).max())
                return (
                    LocalPoint(found, ranks) if moved < NEAR * max(1.0, float(np.abs(point).max())) else None
                )
        return None

    def straightened(self, local: LocalPoint, forms: Vector) -> LocalPoint:
        """The same point with linear equations, where its component is a linear space: the tangent space, if all
        equations vanish on it. Multiple components often are, and then no multipliers are needed."""
        dimension, n = len(forms), forms.shape[1] - 1
        if not dimension or not local.ranks:
            return local
        point = local.place[:n]
        kernel = np.linalg.svd(self.of(local.ranks).jacobian(local.place))[2][-dimension:].conj().T
        tangent, triangle = np.linalg.qr(kernel[:n])
        if np.abs(np.diag(triangle)).min() < KERNEL:
            return local
        rng = np.random.default_rng(self.seed)
        if any(
            (self.system.share(point + tangent @ c) > ZERO).any()
            for c in complex_normal(rng, TRIES, dimension)
        ):
            return local
        normals = np.linalg.svd(tangent)[0][:, dimension:].conj().T
        ranks = (LINEAR, len(self.made))
        self.made[ranks] = linear_system(np.hstack([normals, -(normals @ point)[:, None]]))
        return LocalPoint(point, ranks)


def _rank(slope: Vector, most: int) -> int | None:
    """The number of singular values before the widest gap, at most `most`; None where there is no gap."""
    values = np.linalg.svd(slope, compute_uv=False)
    values = np.concatenate([values, np.zeros(max(0, slope.shape[1] - len(values)))])
    shares = values / max(float(values[0]), 1.0)
    possible = [k for k in range(min(most, len(shares) - 1) + 1) if shares[k] < KERNEL]
    if not possible:
        return None
    before = {k: (shares[k - 1] if k else 1.0) / max(float(shares[k]), EPSILON) for k in possible}
    return max(possible, key=lambda k: before[k])


def refined(system: NumericSystem, point: Vector, forms: Vector) -> Vector | None:
    """The regular solution of the system on a slice next to a point, by Gauss and Newton; None where there is none."""
    n, place = forms.shape[1] - 1, np.asarray(point, np.complex128)
    if len(system.equations) + len(forms) < system.unknowns:
        return None
    found = _newton(system, place, forms, False)
    if found is None and system.equations:
        found = _newton(system, place, forms, True)
    if found is None:
        return None
    near = float(np.abs(found[:n] - point[:n]).max()) < NEAR * max(1.0, float(np.abs(point[:n]).max()))
    return found if near and (system.share(found) < ZERO).all() else None


def _newton(system: NumericSystem, place: Vector, forms: Vector, sharp: bool) -> Vector | None:
    """Where Newton's method converges to, if the Jacobian stays regular; `sharp`: with values of twice the digits."""
    n = forms.shape[1] - 1
    flat = np.zeros((len(forms), system.unknowns), np.complex128)
    flat[:, :n] = forms[:, :n]

    def equations(place: Vector) -> tuple[Vector, Vector]:
        value, slope = system.sharply(place) if sharp else (system.value(place), system.jacobian(place))
        on_slice = forms[:, :n] @ place[:n] + forms[:, n]
        return np.concatenate([value, on_slice]), np.vstack([slope, flat])

    found = settled(equations, place, NEWTON, CONVERGED, SHARP_REGULAR if sharp else REGULAR)
    return None if found is None else found[0]


#: What is left of an equation at a point of its zero set that is known to rounding: a few hundred ε.
ZERO = 1e-9


def _deflated(system: NumericSystem, matrix: Vector, weights: Vector) -> NumericSystem:
    """F, J B λ and h·λ − 1 in the unknowns (x, λ)."""
    n, more = system.unknowns, len(weights)
    rows = _with_multipliers(system.equations, matrix.tolist(), 0j)
    last: Row = {(*((0,) * n), *(int(i == k) for i in range(more))): complex(weights[k]) for k in range(more)}
    last[(0,) * (n + more)] = -1.0 + 0j

    def exact() -> tuple[Terms, ...]:
        entries = [[to_gaussian(entry) for entry in line] for line in matrix.tolist()]
        return (*_with_multipliers(system.exact, entries, NOTHING), exactly(last))

    return NumericSystem(n + more, (*rows, last), exact)


def _with_multipliers(rows: Any, matrix: Any, zero: Any) -> list[Any]:
    """The equations and J B λ, with coefficients and entries of B of one type, that of `zero`."""
    n, more = len(matrix), len(matrix[0])
    given = [{(*key, *((0,) * more)): value for key, value in row.items()} for row in rows]
    units = [tuple(int(i == k) for i in range(more)) for k in range(more)]
    derived = []
    for row in rows:
        fresh: dict[Any, Any] = {}
        for j in range(n):
            for key, value in partial(row, j).items():
                for k in range(more):
                    place = (*key, *units[k])
                    fresh[place] = fresh.get(place, zero) + value * matrix[j][k]
        if fresh:
            derived.append(fresh)
    return [*given, *derived]
