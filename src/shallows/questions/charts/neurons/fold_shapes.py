"""Two quartic neurons with a bias in one input that one residual keeps from moving: all of them, up to x ↦ αx + β.

Let eⱼ = E[r xʲ], r the residual. A neuron in use is a singular point (b, w) of the curve q = E[p(wx + b) r] = 0: one
condition on e. Affine maps of x act on residuals, with two dimensions, and those with e₀ ≠ 0 that more than a few of
them leave alone are point evaluations: then q = p(b + wx₀), which has no singular points if p has no double root.
So r neurons leave e, up to its size and these maps, d − 2 − r dimensions: at degree 4 two neurons leave finitely many
e, the *shapes*, and three none. Let the first of two neurons be x itself. Then e is one of a pencil k₀ + k k₁ with
p, p′ and x p′ in its kernel, and the other neuron is (b, w) = (0, 1) + m v(s) with

    h = 0,   h_b = 0,   h_w = 0,       q = m²h,  ∂_b q = m h_b,  ∂_w q = m h_w  at this place,

three equations in k, m and s: for a generic p 28 paths, and 16 solutions. At three of them w = 0, a constant; at two
m = 0, neurons that merge; eleven are pairs of neurons, of seven shapes: four come twice, either neuron being the first.

Where a derivative of p has a double root z₀ there are more: with e a derivative of a point evaluation at x₀ all neurons
z₀ + w(x − x₀) are singular.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np

from shallows.mathematics.exact.binary_forms import affine
from shallows.mathematics.homotopy.expressions import Expression, variables
from shallows.mathematics.homotopy.solutions import Status
from shallows.mathematics.homotopy.solve import solve
from shallows.mathematics.same_points import PointSet
from shallows.model.activations import polynomial_of
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.equations import Complex
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.support.checks import Array

#: The degree at which shapes are finitely many pairs; d − 2 neurons are at degree d.
QUARTIC = 4
#: A neuron with w below this is a constant: solutions are known to 10⁻¹⁰ or so, and the next are 10⁻² and more away.
NONE = 1e-6
#: Neurons that are so near merge: they are multiple solutions, or at infinity, and known to few digits.
MERGED = 1e-3
#: Moments that agree in so many digits are those of one shape: solutions are known to ten or so.
ALIKE = 1e-7


@dataclass(frozen=True, eq=False)
class FoldShape:
    """A residual, E[r] = 1 and E[r x] = 0, by its moments e, and the two neurons (b, w) that it keeps."""

    e: Complex
    W: Complex

    @classmethod
    def of(cls, e: Complex, W: Complex) -> FoldShape:
        """From any residual with E[r] ≠ 0: x is centred, and measured in a unit in which no moment is above one."""
        e = e / e[0]
        centre, powers = e[1], range(len(e))
        moved = np.array(
            [sum(comb(j, i) * e[i] * (-centre) ** (j - i) for i in range(j + 1)) for j in powers]
        )
        unit = max(abs(moved[j]) ** (1 / j) for j in powers[2:])
        moved[1] = 0.0
        return cls(moved / unit ** np.array(powers), W @ np.array([[1.0, 0.0], [centre, unit]]))

    def is_image(self, other: FoldShape) -> bool:
        """Whether an affine map of x makes this residual of the other one: then so do the pairs of neurons."""
        for one in other.W[:, 1] / self.W[0, 1]:
            for sign in (1, -1):
                gap = self.e - other.e * (sign * one) ** np.arange(len(self.e))
                if np.abs(gap).max() <= ALIKE * np.abs(self.e).max():
                    return True
        return False


def has_finite_shapes(problem: Problem) -> bool:
    """Whether a problem has p of degree four whose derivatives have no double roots, decided exactly."""
    coefficients = polynomial_of(problem.activation).coefficients
    if len(coefficients) - 1 != QUARTIC:
        return False
    p = affine([Fraction(float(c)) for c in coefficients])
    for _ in range(QUARTIC - 1):
        slope = p.derivative()
        if p.gcd(slope).degree() > 0:
            return False
        p = slope
    return True


def fold_shapes(neuron: Neuron) -> list[FoldShape] | None:
    """All shapes of the neurons p(b + wx), p of degree four, each once.

    None where they are not finitely many, or a residual keeps three neurons: special p.
    """
    first = np.array([0.0, 1.0])
    rows = np.concatenate([neuron.values(first)[None], neuron.slopes(first)])
    kernel = np.linalg.svd(rows)[2][len(rows) :]
    kernel = (
        np.linalg.qr(np.random.default_rng(QUARTIC).standard_normal((2, 2)))[0] @ kernel
    )  # at k = ∞ is no shape
    system, neuron_at = (_even_pairs if neuron.turns > 1 else _pairs)(neuron, kernel)
    found = solve(system, rng=QUARTIC, zeros="excluded", on_incomplete="return")
    if found.status is not Status.COMPLETE:
        return None
    shapes = list[FoldShape]()
    places = [(k, neuron_at(k, *rest)) for k, *rest in found.finite.points]
    pairs = [(k, w) for k, w in places if abs(w[1]) > NONE and _is_kept(neuron, kernel[0] + k * kernel[1], w)]
    if len(PointSet(np.array([[k] for k, _ in pairs], np.complex128).reshape(-1, 1))) < len(pairs):
        return None
    for k, other in pairs:
        shape = FoldShape.of(kernel[0] + k * kernel[1], np.array([first, other], np.complex128))
        shapes += [] if any(shape.is_image(known) for known in shapes) else [shape]
    return shapes


def _is_kept(neuron: Neuron, e: Complex, w: Complex) -> bool:
    """Whether values and slopes at w, another neuron than the first, leave e."""
    if not np.isfinite(w).all() or abs(w[0]) + abs(w[1] ** neuron.turns - 1) < MERGED:
        return False
    rows = np.concatenate([neuron.values(w)[None], neuron.slopes(w)])
    return bool(np.all(np.abs(rows @ e) <= ALIKE * (np.abs(rows) @ np.abs(e))))


#: The equations of pairs, and the second neuron of a solution.
_System = tuple[list[Expression], Callable[..., Complex]]


def _pairs(neuron: Neuron, kernel: Array) -> _System:
    """h, h_b and h_w, and (0, 1) + m v(s), v in random directions."""
    k, m, s = variables("k m s")
    one, other = np.random.default_rng(neuron.size).standard_normal((2, 2))
    v = [float(x) + s * float(y) for x, y in zip(one, other, strict=True)]
    taylor = [_taylor(neuron, e) for e in kernel]
    q = {ij: c + k * taylor[1][ij] for ij, c in taylor[0].items()}
    rows = [
        [c * m ** (i + j - 2) * v[0] ** i * v[1] ** j for (i, j), c in q.items()],
        [c * i * m ** (i + j - 2) * v[0] ** (i - 1) * v[1] ** j for (i, j), c in q.items() if i],
        [c * j * m ** (i + j - 2) * v[0] ** i * v[1] ** (j - 1) for (i, j), c in q.items() if j],
    ]

    def at(k: complex, m: complex, s: complex) -> Complex:
        return np.asarray(np.array([0, 1]) + m * (one + s * other))

    return [sum(row, 0 * k) for row in rows], at


def _even_pairs(neuron: Neuron, kernel: Array) -> _System:
    """Where p is even (b, w) and (−b, −w) are one neuron: β = b², s = w/b, and the first at s = ∞.

    q = Q₀ + βQ₂(s) + β²Q₄(s) has a double zero in β where 4Q₀Q₄ = Q₂², β = −Q₂/2Q₄, and there no slope in s where
    2Q₂′Q₄ = Q₂Q₄′.
    """
    k, s = variables("k s")

    def part(m: int, slope: bool) -> Expression:
        terms = [(c, e, j) for e, c, (i, j) in neuron.terms if i + j == m and j >= slope]
        moments = [(float(kernel[0, e]) + k * float(kernel[1, e])) * c for c, e, _ in terms]
        shares = [j * s ** (j - 1) if slope else s**j for _, _, j in terms]
        return sum((x * y for x, y in zip(moments, shares, strict=True)), 0 * k)

    Q0, Q2, Q4 = (part(m, False) for m in (0, 2, 4))

    def at(k: complex, s: complex) -> Complex:
        e = kernel[0] + k * kernel[1]
        two, four = (sum(c * e[x] * s**j for x, c, (i, j) in neuron.terms if i + j == m) for m in (2, 4))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.sqrt(-two / (2 * four)) * np.array([1, s]))

    return [4 * Q0 * Q4 - Q2**2, 2 * part(2, True) * Q4 - Q2 * part(4, True)], at


def _taylor(neuron: Neuron, e: Complex) -> dict[tuple[int, int], float]:
    """The coefficients of q = ψ·e on bⁱ(w − 1)ʲ, i + j ≥ 2: the others vanish."""
    found: dict[tuple[int, int], float] = {}
    for entry, c, (i, power) in neuron.terms:
        for j in range(power + 1):
            if i + j >= 2:
                found[i, j] = found.get((i, j), 0.0) + float(c * e[entry]) * comb(power, j)
    return found
