"""Roots next to a point at which the Jacobian has corank one: the zeros of one function of one variable.

A column b and a row ℓ border the Jacobian at p to an invertible matrix. Then

    F(x) = λ b,    ℓ·(x − p) = s

has one solution (x(s), λ(s)) near (p, 0) for each small s, analytic in s, and the roots of F near p are the x(s) with
λ(s) = 0, with the multiplicity of that zero (Lyapunov-Schmidt reduction; W. Govaerts, "Numerical Methods for
Bifurcations of Dynamical Equilibria", 2000, ch. 3). The Taylor coefficients of λ come from its values on a circle, in
multiple precision and from the exact equations. The coefficient that outweighs all others on the circle tells how many
zeros are inside (Rouché); smaller and smaller circles follow them until they come apart, or agree to hundreds of
bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import acb, acb_mat, acb_poly
from numpy.typing import NDArray

from shallows.mathematics.balls.krawczyk import CertifiedRoot, certify_precisely
from shallows.mathematics.balls.systems import BallEvaluator, ball_evaluator, precision
from shallows.mathematics.newton import refined
from shallows.mathematics.same_points import chained

#: Zeros within 2^−(SEPARATION + HEIGHTS·h) of each other, relatively to the point, are one, h the bits of the
#: coefficients. By Mahler and Mignotte different roots of a polynomial of degree D are at least about 2^−(D−1)h apart.
SEPARATION, HEIGHTS = 240, 2
#: Bits beyond those that a zero of multiplicity m needs, for the condition of the bordered matrix.
_SPARE_BITS = 160
#: More bits are not tried: seconds for a small system.
_MOST_BITS = 40_000
#: The second smallest singular value of the Jacobian, relatively, from which on its corank is one: ends are known to
#: 10⁻⁵.
_CORANK_ONE = 1e-4
#: Points on a circle: so many, and four for each zero inside; coefficients are then wrong by (radius/convergence)^16.
_SAMPLES, _SAMPLES_A_ZERO = 16, 4
#: A point closer to 0 may be 0: ends are known to about so much.
_VANISHING = 1e-4
#: Newton steps at a point of the circle, and the share of the bits that the last one must leave: the next doubles it.
_NEWTON, _CONVERGED = 14, 0.6
#: A series is known well when the last coefficients are so many bits below the one of the number of zeros.
_SHARP = 40
#: λ is zero when its coefficients are below this share of the bits.
_VANISHES = 0.75
#: Exponents of the circles that are tried, relatively to the size of the point: from 1/8 to 10⁻¹².
_CIRCLES = range(-3, -41, -3)
#: A circle is drawn closer when it would be at least four times smaller; zeros fill an eighth of the one that is left.
_CLOSER, _ROOM = -2, 3
#: Zeros nearer than this share of their spread go on together.
_TOGETHER = 2.0**-10
#: The imaginary part of a multiple root is 0 when all but so many of these bits are: its conjugate is the same root.
_REAL_SPARE = 40


@dataclass(frozen=True)
class CloseRoot:
    """A root: simple with a `proof`, or of a `multiplicity` that holds to SEPARATION bits; `real` is None when open."""

    point: NDArray[np.complex128]
    multiplicity: int
    real: bool | None
    proof: CertifiedRoot | None = None


@dataclass(frozen=True)
class Neighbourhood:
    """What is near a point: `isolated` roots, or a curve of them (False), or it is not decided (None)."""

    roots: tuple[CloseRoot, ...] = ()
    isolated: bool | None = None


OPEN, CURVE = Neighbourhood(), Neighbourhood(isolated=False)


def close_roots(
    system: Any, point: NDArray[np.complex128], count: int, size: float | None = None
) -> Neighbourhood:
    """The `count` roots, with multiplicity, that an exact system has near a point of corank one.

    `size` is what distances are relative to: without it that of the point, or 1 where the point may be 0.

    >>> system = sh.homotopy.PolynomialSystem.read(["x^2 - 2*x + 1 + 1e-40"])
    >>> near = close_roots(system, np.array([1.0 + 0j]), 2)
    >>> [(root.multiplicity, root.real) for root in near.roots]
    [(1, False), (1, False)]
    """
    separation = separation_bits(system)
    bits = count * separation + _SPARE_BITS
    if bits > _MOST_BITS:
        return OPEN
    evaluator = ball_evaluator(system, bits)
    with precision(bits):
        reduction = Reduction.at(evaluator, point, bits, (count, separation), size or _size(point))
        return OPEN if reduction is None else _near(system, reduction, count)


def separation_bits(system: Any) -> int:
    """Roots that agree to so many bits are one."""
    return SEPARATION + HEIGHTS * int(getattr(system, "height", 0))


def _near(system: Any, reduction: Reduction, count: int) -> Neighbourhood:
    exponent: int | None = None
    for (
        relative
    ) in _CIRCLES:  # the first on which the series is known well, or else the last with all zeros inside
        circle = reduction.circle(acb(0), relative + reduction.size)
        if circle is None:
            continue
        if circle.vanishes:
            return CURVE
        if circle.inside == count:
            exponent = relative + reduction.size
        if circle.inside is not None and (
            circle.inside < count or (exponent is not None and circle.is_sharp(count))
        ):
            break
    zeros = None if exponent is None else reduction.zeros(acb(0), exponent, count)
    roots = [reduction.root(system, *zero) for zero in zeros or ()]
    found = tuple(root for root in roots if root is not None)
    whole = sum(root.multiplicity for root in found) == count
    proofs = [root.proof for root in found if root.proof is not None]
    return Neighbourhood(found, True) if whole and disjoint(proofs) else OPEN


@dataclass(frozen=True)
class _Circle:
    """λ on a circle: the coefficients λ_k ρ^k of its Taylor series, as far as they are known, and their logarithms."""

    coefficients: list[Any]
    vanishes: bool

    @property
    def inside(self) -> int | None:
        """How many zeros are inside, by Rouché; None when no coefficient outweighs the others."""
        sizes = np.array([log2_size(a) for a in self.coefficients])
        shares = np.exp2(sizes - sizes.max())
        k = int(shares.argmax())
        return k if 2 * shares[k] > shares.sum() else None

    def is_sharp(self, count: int) -> bool:
        """Whether the errors of the coefficients are far below the one that counts."""
        return self.tail < log2_size(self.coefficients[count]) - _SHARP

    @property
    def tail(self) -> float:
        """log₂ of the last coefficients, which tell how well the first ones are known."""
        return max(log2_size(a) for a in self.coefficients[len(self.coefficients) // 2 :])


@dataclass
class Reduction:
    """(x(s), λ(s)) around a point."""

    evaluator: BallEvaluator
    bits: int
    samples: int
    separation: int
    centre: list[Any]
    column: list[Any]
    row: list[Any]
    size: int

    @classmethod
    def at(
        cls,
        evaluator: BallEvaluator,
        point: NDArray[np.complex128],
        bits: int,
        wanted: tuple[int, int],
        size: float,
    ) -> Reduction | None:
        """Bordered by the singular vectors; None when the corank is larger than one. `wanted`: zeros, separation."""
        centre = [acb(complex(z)) for z in point]
        n = len(centre)
        _, slope = evaluator(centre)
        table = np.array([complex(entry.mid()) for entry in slope.entries()]).reshape(n, n)
        if not np.isfinite(table).all():
            return None
        left, values, right = np.linalg.svd(table)
        if n > 1 and not values[-2] > _CORANK_ONE * values[0]:
            return None
        count, separation = wanted
        column = left[:, -1] * (values[0] if n > 1 else 1.0)  # λ has the units of x
        samples = max(_SAMPLES, _SAMPLES_A_ZERO * (count + 1))
        border = ([acb(z) for z in column.tolist()], [acb(z) for z in right[-1].tolist()])
        return cls(evaluator, bits, samples, separation, centre, *border, int(np.ceil(np.log2(size))))

    def solve(self, s: Any, start: tuple[Sequence[Any], Any] | None = None) -> tuple[list[Any], Any] | None:
        """x(s) and λ(s) by Newton's method, which starts at p or at another solution."""
        x, multiplier = (self.centre, acb(0)) if start is None else start
        n, last = len(x), float("inf")

        def bordered(at: Sequence[Any]) -> tuple[Any, Any]:
            value, slope = self.evaluator(at[:n])
            table = [[*line, -b] for line, b in zip(slope.tolist(), self.column, strict=True)]
            here = [v - at[n] * b for v, b in zip(value.entries(), self.column, strict=True)]
            along = sum((r * (a - p) for r, a, p in zip(self.row, at[:n], self.centre, strict=True)), -s)
            return acb_mat(n + 1, 1, [*here, along]), acb_mat([*table, [*self.row, 0]])

        unknowns = [*x, multiplier]
        for better, _ in refined(bordered, unknowns, _NEWTON):
            moved = max(log2_size(a - b) for a, b in zip(better, unknowns, strict=True))
            unknowns = better
            if moved < self.size - _CONVERGED * self.bits:
                return unknowns[:n], unknowns[n]
            if not moved < last + 1:
                return None
            last = moved
        return None

    def circle(self, s: Any, exponent: int) -> _Circle | None:
        """λ on the circle of radius 2^exponent around s; None where Newton's method does not reach."""
        middle = self.solve(s)
        if middle is None:
            return None
        values = []
        last: tuple[list[Any], Any] | None = middle
        for k in range(self.samples):
            turn = acb(2 * k) / self.samples
            last = self.solve((s + turn.exp_pi_i() * acb(2) ** exponent).mid(), last)
            if last is None:
                return None
            values.append(last[1])
        coefficients = [(a / self.samples).mid() for a in acb.dft(values)]
        vanishes = max(map(log2_size, coefficients)) < self.size - _VANISHES * self.bits
        return _Circle(coefficients, vanishes)

    def zeros(self, s: Any, exponent: int, count: int) -> list[tuple[Any, int]] | None:
        """The zeros of λ in the disc of radius 2^exponent around s, with multiplicities; None when not found."""
        while count > 1:
            circle = self.circle(s, exponent)
            if circle is None or circle.inside != count:
                return None
            shift, moved = _centred(circle.coefficients, count)
            s = (s + shift * acb(2) ** exponent).mid()
            sizes = [log2_size(a) for a in moved[: count + 1]]
            spread = max((sizes[count - j] - sizes[count]) / j for j in range(2, count + 1))
            closer = max(spread, (circle.tail - sizes[count]) / count) + _ROOM
            if exponent + closer < self.size - self.separation:
                return [(s, count)]
            if closer > _CLOSER:
                return self._apart(s, exponent, moved, count)
            exponent = int(np.ceil(exponent + closer))
        return [(s, 1)]

    def _apart(
        self, s: Any, exponent: int, coefficients: Sequence[Any], count: int
    ) -> list[tuple[Any, int]] | None:
        """Zeros that fill a circle: groups of them, each in a circle of its own."""
        unit = acb(2) ** exponent
        lead = coefficients[count]
        table = [complex(a / lead) for a in coefficients[: count + 1]]
        places = np.asarray(np.roots(table[::-1]), np.complex128)
        groups = chained(places[:, None], _TOGETHER * float(np.abs(places - places.mean()).max()))
        if len(groups) < 2:
            return None
        found: list[tuple[Any, int]] = []
        for group in groups:
            others = np.array([z for other in groups if other is not group for z in places[other]])
            middle = complex(places[group].mean())
            room = float(np.abs(others - middle).min()) / (8 * count)
            mine = self.zeros(
                (s + acb(middle) * unit).mid(), exponent + int(np.floor(np.log2(room))), len(group)
            )
            if mine is None:
                return None
            found += mine
        return found

    def root(self, system: Any, s: Any, multiplicity: int) -> CloseRoot | None:
        """The root x(s) of F: a simple one with its proof."""
        solved = self.solve(s)
        if solved is None:
            return None
        x = solved[0]
        if multiplicity == 1:
            return simple_root(system, self.evaluator, x, self.bits)
        point = np.array([complex(z) for z in x])
        real: bool | None = None
        if max(log2_size(z.imag) for z in x) > self.size - self.separation + _REAL_SPARE:
            real = False
        elif self.evaluator.is_real:
            real = True
            point = point.real.astype(np.complex128)
        return CloseRoot(point, multiplicity, real)


def simple_root(system: Any, evaluator: BallEvaluator, x: Sequence[Any], bits: int) -> CloseRoot | None:
    """The root that Newton's method finds from x at the present precision, with its proof; None without one."""
    for better, _ in refined(evaluator, x, _NEWTON):
        x = better
    proof = certify_precisely(system, evaluator, x, bits)
    return None if proof is None else CloseRoot(proof.point, 1, proof.real, proof)


def disjoint(proofs: Sequence[CertifiedRoot]) -> bool:
    """Whether the boxes of simple roots are pairwise disjoint: the roots are different."""
    boxes = [[acb(entry) for entry in proof.box] for proof in proofs]
    return all(
        any(not x.overlaps(y) for x, y in zip(one, other, strict=True))
        for k, one in enumerate(boxes)
        for other in boxes[:k]
    )


def _size(point: NDArray[np.complex128]) -> float:
    largest = float(np.abs(point).max())
    return largest if largest > _VANISHING else 1.0


def _centred(coefficients: Sequence[Any], count: int) -> tuple[Any, list[Any]]:
    """The mean of the zeros, to first order, and the coefficients around it."""
    shift = -coefficients[count - 1] / (coefficients[count] * count)
    moved = acb_poly(list(coefficients))(acb_poly([shift.mid(), 1]))
    return shift.mid(), [moved[k].mid() for k in range(len(coefficients))]


def log2_size(z: Any) -> float:
    """log₂|z| of a midpoint, whatever its range; −∞ at zero."""
    mantissa, exponent = abs(z).mid().man_exp()
    size = abs(int(mantissa))
    return float(size.bit_length() + int(exponent)) if size else -np.inf
