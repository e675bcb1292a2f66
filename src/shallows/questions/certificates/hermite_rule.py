"""Hermite coefficients E[g(z) h_j(z)] at balls, z ~ N(0, 1), by the trapezoidal rule, with a proved error.

Where g h_j φ is analytic in |Im z| < A and ∫|g h_j φ|(x + iv) dx ≤ M for all |v| < A, the rule of step h errs by at
most 2M/(e^(2πA/h) − 1) (L. Trefethen, J. Weideman, SIAM Review 56, 2014, Theorem 5.1). Mehler's formula at z and z̄,

    Σ_j t^j |h_j(x + iv)|² = (1 − t²)^(−½) exp(t x²/(1 + t) + t v²/(1 − t)),      0 < t < 1,

bounds h_j, so that for |g| ≤ c₀ + c₁|x| on the strip and j < J

    M ≤ t^(−J/2) (1 − t²)^(−¼) e^(A²/2(1−t)) (c₀ √(1+t) + 2c₁ (1+t)/√2π),

and M ≤ e^(A²/2) (2c₀² + 2c₁²) for g²φ. Nodes beyond R are left out: |h_j(x)| ≤ 1.1 e^(x²/4) (Cramér) bounds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log, sqrt
from typing import Any

from flint import arb, arb_mat

from shallows.mathematics.balls.systems import precision

#: e^(−R²/4) is 1.5e-23 at R = 14.5: less than the rounding of doubles by far.
REACH = 14.5
#: Bits beyond those that a recursion may lose.
GUARD = 32
#: 1 − t of Mehler's formula at most, and at least: the bound holds for every t in (0, 1).
ROUGH, FINE = 0.5, 1e-3
#: Cramér's constant, 1.0865, rounded up.
CRAMER = 1.1


@dataclass(frozen=True, eq=False)
class Rule:
    """Nodes, and the table (J, N) of weight·h_j(node)."""

    step: float
    terms: int
    nodes: tuple[Any, ...]
    table: arb_mat
    weights: tuple[Any, ...]

    @property
    def end(self) -> float:
        """Nodes that are left out are beyond this; sums over them are below integrals from here on."""
        return float(self.nodes[-1])

    def coefficient_error(self, height: float, level: Any, slope: Any) -> Any:
        """A bound on the error of each coefficient, for |g| ≤ level + slope|x| on the strip of this height."""
        A, J = arb(height), self.terms
        gap = arb(min(max(height / sqrt(J), FINE), ROUGH))
        t = 1 - gap
        inside = level * (1 + t).sqrt() + 2 * slope * (1 + t) / (2 * arb.pi()).sqrt()
        size = (-t.log() * J / 2).exp() * (A * A / (2 * gap)).exp() / (1 - t * t).root(4) * inside
        end = arb(self.end)
        left_out = 2 * arb(CRAMER) * (-end * end / 4).exp() * (2 * level / end + 2 * slope)
        return self._aliased(A, size) + left_out / (2 * arb.pi()).sqrt()

    def square_error(self, height: float, level: Any, slope: Any) -> Any:
        """The same for E[g²]."""
        A, end = arb(height), arb(self.end)
        size = (A * A / 2).exp() * 2 * (level * level + slope * slope)
        tail = (-end * end / 2).exp() * 4 * (level * level / end + slope * slope * (end + 1 / end))
        return self._aliased(A, size) + tail / (2 * arb.pi()).sqrt()

    def _aliased(self, A: Any, size: Any) -> Any:
        return 2 * size / (2 * arb.pi() * A / arb(self.step)).expm1()


@lru_cache(maxsize=6)
def rule(exponent: int, terms: int, bits: int) -> Rule:
    """The rule of step 2^−`exponent`.

    √(j+1) h_{j+1} = x h_j − √j h_{j−1} widens balls by up to e^(|x|√J): the recursion has as many bits more.
    """
    step = 2.0**-exponent
    count = ceil(REACH / step)
    spare = int(count * step * sqrt(terms) / log(2)) + GUARD
    with precision(bits + spare):
        roots = [arb(j).sqrt() for j in range(terms + 1)]
        half = [_column(arb(k) * arb(step), arb(step), roots) for k in range(count + 1)]
    with precision(bits):
        right = [[+entry for entry in column] for column in half]
        left = [[-entry if j % 2 else entry for j, entry in enumerate(column)] for column in right[:0:-1]]
        columns = left + right
        nodes = tuple(arb(k) * arb(step) for k in range(-count, count + 1))
        table = arb_mat(columns).transpose()
    return Rule(step, terms, nodes, table, tuple(column[0] for column in columns))


def _column(x: Any, step: Any, roots: list[Any]) -> list[Any]:
    """step·φ(x) h_j(x) for all j."""
    terms = len(roots) - 1
    first = step * (-x * x / 2).exp() / (2 * arb.pi()).sqrt()
    column = [first, x * first]
    for j in range(1, terms - 1):
        column.append((x * column[j] - roots[j] * column[j - 1]) / roots[j + 1])
    return column
