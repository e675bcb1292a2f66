"""Curves of students with rational parameterisations, and the form whose zeros are the critical points.

Students on a rational curve (rank-one tensors of two inputs, up to scale; an ellipse) are given by a direction
(x : y). The loss is critical in the directions where a binary form F of degree D vanishes; F is linear in the
teacher t, and its coefficients involve the metric's Gram matrix G. Two critical points meet where Disc F = 0: the
teacher-metric discriminant of paper 000, section 3.2.

`coefficients` works over any commutative ring: polynomials give the symbolic discriminant, fractions an exact count,
NumPy arrays a whole slice at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, gcd
from typing import Any

import numpy as np
from flint import Ordering, fmpq, fmpq_mpoly, fmpz_mpoly, fmpz_mpoly_ctx

from shallows.mathematics.exact import binary_forms
from shallows.questions.discriminants.values import rational, ring
from shallows.support.checks import Array, positive_integer
from shallows.support.errors import InvalidProblem

Ring = Any


class StudentCurve(ABC):
    """A curve of students: names of the teacher's and the metric's entries, and the form F."""

    #: The smallest number of real critical points that a landscape can have.
    least: int
    #: Names of the teacher's coordinates, of the metric's entries (a symmetric table), and their multiplicities.
    teacher: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    weights: tuple[int, ...]

    @property
    @abstractmethod
    def title(self) -> str:
        """What the students are, in words."""

    @property
    @abstractmethod
    def degree(self) -> int:
        """D, the number of complex critical points of a generic teacher."""

    @property
    @abstractmethod
    def bidegree(self) -> tuple[int, int]:
        """The degrees of the generic discriminant in the teacher and in the metric."""

    @abstractmethod
    def polynomial(
        self, gram: Sequence[Sequence[fmpq_mpoly]], target: Sequence[fmpq_mpoly], names: Sequence[str]
    ) -> fmpz_mpoly:
        """A positive multiple of ±Disc F in Z[names], the sign chosen so that > 0 means `least` modulo four."""

    @abstractmethod
    def discriminant(self, gram: Sequence[Sequence[Fraction]], target: Sequence[Fraction]) -> Fraction:
        """The same at numbers, up to one constant positive factor."""

    @abstractmethod
    def lines(self, gram: Array, angles: Array) -> tuple[Array, Array]:
        """F(φ) = r₀ + r·t and its derivative in φ as rows (r₀, r), each of shape (len(angles), 1 + entries)."""

    @property
    def metric(self) -> tuple[str, ...]:
        """The names of the metric's entries, each once."""
        size = len(self.names)
        return tuple(self.names[i][j] for i in range(size) for j in range(i, size))

    @property
    def sign(self) -> int:
        """±1 with P = ±Disc F / content, so that P > 0 where D − `least` is a multiple of four pairs off."""
        return -1 if (self.degree - self.least) // 2 % 2 else 1

    def counts(self, sign: int) -> tuple[int, ...]:
        """The numbers of real critical points that this sign of P allows: they agree modulo four."""
        low = self.least if sign > 0 else self.least + 2
        return tuple(range(low, self.degree + 1, 4))


@dataclass(frozen=True)
class RankOneCurve(StudentCurve):
    """Rank-one tensors λ w^⊗d of two inputs, up to scale: p = ⟨w^⊗d, T⟩, q = ⟨w^⊗d, w^⊗d⟩, F = 2p′q − pq′.

    Here w = (1, z) and ′ = d/dz. The best λ in the direction w is p/q and leaves the loss ‖T‖² − p²/q, with
    derivative −pF/q². F has degree 3d−2. Teacher t_I and metric m_IJ are indexed as in paper 000, Example 28:
    ⟨S, T⟩ = Σ mult(I) mult(J) m_IJ S_I T_J.
    """

    tensor_degree: int

    def __post_init__(self) -> None:
        d = positive_integer("degree", self.tensor_degree, 2)
        labels = ["0" * (d - k) + "1" * k for k in range(d + 1)]
        object.__setattr__(self, "teacher", tuple(f"t{label}" for label in labels))
        # "0" < "1", so the smaller label comes first as in m0011
        names = tuple(tuple(f"m{min(a, b)}{max(a, b)}" for b in labels) for a in labels)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "weights", tuple(comb(d, k) for k in range(d + 1)))
        object.__setattr__(self, "least", 1 if d % 2 else 2)

    @property
    def title(self) -> str:
        """What the students are, in words."""
        return f"rank-one tensors of degree {self.tensor_degree}, two inputs"

    @property
    def degree(self) -> int:
        """3d−2, the generic ED degree of the rational normal curve of degree d."""
        return 3 * self.tensor_degree - 2

    @property
    def bidegree(self) -> tuple[int, int]:
        """F has bidegree (1, 2) and Disc degree 2(3d−2) − 2 in it."""
        return 6 * self.tensor_degree - 6, 12 * self.tensor_degree - 12

    def pairing(self, gram: Sequence[Sequence[Ring]], target: Sequence[Ring]) -> list[Ring]:
        """The coefficients of p(1, z) = ⟨w^⊗d, T⟩."""
        return [
            sum((g * t for g, t in zip(row[1:], target[1:], strict=True)), row[0] * target[0]) for row in gram
        ]

    def norm(self, gram: Sequence[Sequence[Ring]]) -> list[Ring]:
        """The coefficients of q(1, z) = ⟨w^⊗d, w^⊗d⟩."""
        size = len(gram)
        result = []
        for total in range(2 * size - 1):
            places = range(max(0, total - size + 1), min(total, size - 1) + 1)
            entries = [gram[i][total - i] for i in places]
            result.append(sum(entries[1:], entries[0]))
        return result

    def coefficients(self, gram: Sequence[Sequence[Ring]], target: Sequence[Ring]) -> list[Ring]:
        """The coefficients F₀, …, F_{3d−2} of F = 2p′q − pq′: F_k = Σ (2i − j) pᵢ qⱼ over i + j = k + 1."""
        p, q = self.pairing(gram, target), self.norm(gram)
        result = []
        for k in range(self.degree + 1):
            places = range(max(0, k + 1 - 2 * self.tensor_degree), min(k + 1, self.tensor_degree) + 1)
            products = [(3 * i - k - 1) * (p[i] * q[k + 1 - i]) for i in places if 3 * i != k + 1]
            result.append(sum(products[1:], products[0]))
        return result

    def polynomial(
        self, gram: Sequence[Sequence[fmpq_mpoly]], target: Sequence[fmpq_mpoly], names: Sequence[str]
    ) -> fmpz_mpoly:
        """±Disc F, by the quartic's invariants for d = 2 and by subresultants above."""
        form = integral(self.coefficients(gram, target), names)
        return self.sign * binary_forms.symbolic_discriminant(form, names)

    def discriminant(self, gram: Sequence[Sequence[Fraction]], target: Sequence[Fraction]) -> Fraction:
        """±Disc F."""
        return self.sign * binary_forms.discriminant(self.coefficients(gram, target))

    def lines(self, gram: Array, angles: Array) -> tuple[Array, Array]:
        """F(cos φ, sin φ) is linear in t: one column an entry of t; r₀ = 0."""
        rows = gram.tolist()
        columns = np.array([self.coefficients(rows, unit) for unit in np.eye(len(gram)).tolist()])
        powers, slopes = power_rows(self.degree, angles)
        zero = np.zeros((len(angles), 1))
        return np.hstack([zero, powers @ columns.T]), np.hstack([zero, slopes @ columns.T])


@dataclass(frozen=True)
class ReducedRankOneCurve(RankOneCurve):
    """Rank-one tensors under a metric whose norm q has a repeated factor: F without g = gcd(q, q′), which divides it.

    Rotation-invariant metrics are the case in point: q = (x²+y²)^d, so F has the factor (x²+y²)^(d−1) for every
    teacher, and Disc F vanishes identically from d = 3 on. A positive definite q has no real zero, so that no real
    critical point is lost.
    """

    divisor: tuple[Fraction, ...]

    @property
    def whole(self) -> RankOneCurve:
        """The same students, nothing left out."""
        return RankOneCurve(self.tensor_degree)

    @property
    def title(self) -> str:
        """What the students are, in words."""
        return super().title + f", {len(self.divisor) - 1} fixed complex critical points left out"

    @property
    def degree(self) -> int:
        """3d−2 less the degree of g."""
        return super().degree - len(self.divisor) + 1

    @property
    def bidegree(self) -> tuple[int, int]:
        """The metric is fixed; F is linear in the teacher."""
        return 2 * self.degree - 2, 0

    def coefficients(self, gram: Sequence[Sequence[Ring]], target: Sequence[Ring]) -> list[Ring]:
        """F / g; exact over rings that hold the rationals, rounded for floats."""
        whole = self.whole.coefficients(gram, target)
        return binary_forms.divide(whole, self.divisor, _scale)


def _scale(element: Ring, factor: Fraction) -> Ring:
    if isinstance(element, fmpq_mpoly):
        return element * fmpq(factor.numerator, factor.denominator)
    return element * (factor if isinstance(element, Fraction | int) else float(factor))


@dataclass(frozen=True)
class EllipseCurve(StudentCurve):
    """The ellipse x²/p + y²/q = 1 with teacher (x, y) and metric [[m11, m12], [m12, m22]] (paper 000, Example 27).

    At s = (√p cos θ, √q sin θ) half the derivative of ‖s − t‖² in θ is

        F = (q m22 − p m11) sin θ cos θ + √(pq) m12 cos 2θ + √p u sin θ − √q v cos θ,   (u, v) = M t,

    a quartic in z = tan θ/2 after multiplication by (1+z²)².
    """

    p: Fraction
    q: Fraction

    def __post_init__(self) -> None:
        for name in ("p", "q"):
            value = rational(name, getattr(self, name))
            if value <= 0:
                raise InvalidProblem(
                    f"{name} is {value}, so x²/p + y²/q = 1 is no ellipse (degenerate or unbounded). "
                    "Fix: give p > 0 and q > 0."
                )
            object.__setattr__(self, name, value)
        object.__setattr__(self, "teacher", ("x", "y"))
        object.__setattr__(self, "names", (("m11", "m12"), ("m12", "m22")))
        object.__setattr__(self, "weights", (1, 1))
        object.__setattr__(self, "least", 2)

    @property
    def title(self) -> str:
        """What the students are, in words."""
        return f"the ellipse x^2/{_bracket(self.p)} + y^2/{_bracket(self.q)} = 1"

    @property
    def degree(self) -> int:
        """Four normals through a generic point."""
        return 4

    @property
    def bidegree(self) -> tuple[int, int]:
        """Six in each group of variables."""
        return 6, 6

    @property
    def roots(self) -> tuple[float, float]:
        """√p and √q, the half-axes."""
        return float(self.p) ** 0.5, float(self.q) ** 0.5

    def polynomial(
        self, gram: Sequence[Sequence[fmpq_mpoly]], target: Sequence[fmpq_mpoly], names: Sequence[str]
    ) -> fmpz_mpoly:
        """The unit circle's polynomial in x/√p, y/√q and p m11, √(pq) m12, q m22, then the values put in.

        Reflections (x, m12) → (−x, −m12) keep it, so that all powers of √p (and of √q) have one parity and the
        polynomial is rational up to one factor.
        """
        images = [*target, gram[0][0], gram[0][1], gram[1][1]]
        whole = self._generic().compose(*images, ctx=ring(names))
        return integral([primitive([whole])[0]], names)[0]

    def discriminant(self, gram: Sequence[Sequence[Fraction]], target: Sequence[Fraction]) -> Fraction:
        """P at numbers."""
        numbers = [*target, gram[0][0], gram[0][1], gram[1][1]]
        value = self._generic()(*(fmpq(v.numerator, v.denominator) for v in numbers))
        return Fraction(int(value.p), int(value.q))

    def _generic(self) -> fmpq_mpoly:
        return _ellipse_polynomial(self.p, self.q)

    def lines(self, gram: Array, angles: Array) -> tuple[Array, Array]:
        """F and dF/dθ, linear in (x, y)."""
        a, b = self.roots
        cos, sin = np.cos(angles), np.sin(angles)
        (m11, m12), (_, m22) = gram
        bend = b * b * m22 - a * a * m11
        value = [
            bend * sin * cos + a * b * m12 * np.cos(2 * angles),
            a * m11 * sin - b * m12 * cos,
            a * m12 * sin - b * m22 * cos,
        ]
        slope = [
            bend * np.cos(2 * angles) - 2 * a * b * m12 * np.sin(2 * angles),
            a * m11 * cos + b * m12 * sin,
            a * m12 * cos + b * m22 * sin,
        ]
        return np.stack(value, axis=1), np.stack(slope, axis=1)


def circle_coefficients(gram: Sequence[Sequence[Ring]], target: Sequence[Ring]) -> list[Ring]:
    """The quartic of the unit circle: (1+z²)² F at cos θ = (1−z²)/(1+z²), sin θ = 2z/(1+z²)."""
    (m11, m12), (_, m22) = gram
    u, v = m11 * target[0] + m12 * target[1], m12 * target[0] + m22 * target[1]
    bend = m22 - m11
    return [m12 - v, 2 * bend + 2 * u, -6 * m12, 2 * u - 2 * bend, m12 + v]


@lru_cache(maxsize=32)
def _ellipse_polynomial(p: Fraction, q: Fraction) -> fmpq_mpoly:
    names = ("x", "y", "m11", "m12", "m22")
    context = fmpz_mpoly_ctx.get(list(names), Ordering.lex)
    x, y, a, b, c = context.gens()
    circle = -binary_forms.quartic_discriminant(circle_coefficients([[a, b], [b, c]], [x, y]))
    scaled = {}
    for exponents, value in circle.to_dict().items():
        i, j, k, l, m = (int(e) for e in exponents)
        # x^i m11^k m12^l carries p^(k + l/2 − i/2); a factor p^3 makes all exponents whole and positive
        power_p, power_q = 6 + 2 * k + l - i, 6 + 2 * m + l - j
        assert power_p % 2 == 0 and power_q % 2 == 0
        factor = p ** (power_p // 2) * q ** (power_q // 2)
        scaled[exponents] = fmpq(factor.numerator, factor.denominator) * value
    return primitive([ring(names).from_dict(scaled)])[0]


def primitive(polynomials: Sequence[fmpq_mpoly]) -> list[fmpq_mpoly]:
    """The polynomials times one positive rational, so that they are integral with no common factor."""
    numbers = [value for polynomial in polynomials for value in polynomial.coeffs()]
    if not numbers:
        return list(polynomials)
    common = Fraction(0)
    for value in numbers:
        common = _common(common, Fraction(int(value.p), int(value.q)))
    factor = fmpq(common.denominator, common.numerator)
    return [polynomial * factor for polynomial in polynomials]


def _common(left: Fraction, right: Fraction) -> Fraction:
    """The largest rational of which both are whole multiples."""
    top = gcd(left.numerator * right.denominator, right.numerator * left.denominator)
    return Fraction(top, left.denominator * right.denominator)


def integral(polynomials: Sequence[fmpq_mpoly], names: Sequence[str]) -> list[fmpz_mpoly]:
    """The polynomials times one positive rational, with coprime integer coefficients, over Z."""
    context = fmpz_mpoly_ctx.get(list(names), Ordering.lex)
    return [context.from_dict({e: v.p for e, v in c.to_dict().items()}) for c in primitive(polynomials)]


def _bracket(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"({value})"


def power_rows(degree: int, angles: Array) -> tuple[Array, Array]:
    """The entries of w^⊗d, w = (cos φ, sin φ), and their derivatives in φ."""
    k = np.arange(degree + 1)
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
    powers = cos ** (degree - k) * sin**k
    slopes = k * cos ** (degree - k + 1) * sin ** np.maximum(k - 1, 0) - (degree - k) * (
        cos ** np.maximum(degree - k - 1, 0) * sin ** (k + 1)
    )
    return powers, slopes
