"""Problems as exact rationals, made from scratch out of the numbers that the user gives.

A `Law` is the data (a `Product` an inner product that no data need have), a `Given` a whole problem. Both can write
themselves as code for `shallows` (`code`), and know in exact arithmetic what the library is to compute: the moments,
the Gram matrix on the entries T_I, I = (i1 ≤ … ≤ id) in lexicographic order, the best tensor s*, and losses. Every
float is taken as the rational number that it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Any

import numpy as np

Exponents = tuple[int, ...]
Vector = list[Fraction]
Matrix = list[list[Fraction]]


@cache
def exponents(n: int, degree: int) -> tuple[Exponents, ...]:
    """The monomials of a degree, in the order of the entries T_(i1≤…≤id)."""
    rows = combinations_with_replacement(range(n), degree)
    return tuple(tuple(row.count(k) for k in range(n)) for row in rows)


def multiplicity(e: Exponents) -> int:
    """How many entries of the full array equal this one."""
    return factorial(sum(e)) // prod(factorial(k) for k in e)


def fractions(values: Any) -> Any:
    """Nested lists of floats as nested lists of the rationals that they are."""
    if isinstance(values, list | tuple | np.ndarray):
        return [fractions(x) for x in values]
    return Fraction(values) if isinstance(values, Fraction | int) else Fraction(float(values))


def power_entries(w: Sequence[Any], degree: int) -> list[Any]:
    """The entries of w^⊗d, in the arithmetic of w."""
    one = w[0] * 0 + 1
    return [prod((w[k] ** e for k, e in enumerate(row) if e), start=one) for row in exponents(len(w), degree)]


def solve(A: Matrix, b: Vector) -> Vector | None:
    """The solution of a rational linear system; None when it is singular."""
    rows = [[*row, value] for row, value in zip(A, b, strict=True)]
    size = len(rows)
    for k in range(size):
        pivot = next((i for i in range(k, size) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(size):
            if i != k and rows[i][k]:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [rows[k][size] / rows[k][k] for k in range(size)]


def _text(values: Any) -> str:
    """Floats as Python writes them, so that they are read back as the same numbers."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    return repr(values)


# -- laws of the inputs --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Product(ABC):
    """An inner product of forms on R^n."""

    n: int

    @abstractmethod
    def gram(self, degree: int) -> Matrix:
        """G with ⟨S, T⟩ = sᵀGt."""

    @abstractmethod
    def code(self) -> str:
        """An expression for `shallows`."""


@dataclass(frozen=True)
class Law(Product):
    """Data on R^n."""

    @abstractmethod
    def moment(self, e: Exponents) -> Fraction:
        """E[x^e]."""

    def gram(self, degree: int) -> Matrix:
        """G_IJ = mult(I) mult(J) E[x^(I+J)]."""
        table = exponents(self.n, degree)
        weights = [multiplicity(e) for e in table]
        known: dict[Exponents, Fraction] = {}

        def moment(e: Exponents) -> Fraction:
            if e not in known:
                known[e] = self.moment(e)
            return known[e]

        return [
            [
                wi * wj * moment(tuple(a + b for a, b in zip(ei, ej, strict=True)))
                for wj, ej in zip(weights, table, strict=True)
            ]
            for wi, ei in zip(weights, table, strict=True)
        ]


@dataclass(frozen=True)
class GaussianLaw(Law):
    """N(mean, covariance)."""

    covariance: tuple[tuple[float, ...], ...] | None = None
    mean: tuple[float, ...] | None = None

    @cached_property
    def _parts(self) -> tuple[Vector, Matrix]:
        mean = fractions(self.mean if self.mean is not None else [0] * self.n)
        unit = [[int(i == j) for j in range(self.n)] for i in range(self.n)]
        return mean, fractions(self.covariance if self.covariance is not None else unit)

    @cached_property
    def _known(self) -> dict[Exponents, Fraction]:
        return {(0,) * self.n: Fraction(1)}

    def moment(self, e: Exponents) -> Fraction:
        """Stein's identity E[x_i f] = m_i E[f] + Σ_j Σ_ij E[∂_j f], with f = x^(e − e_i)."""
        if e in self._known:
            return self._known[e]
        mean, covariance = self._parts
        i = next(k for k, power in enumerate(e) if power)
        rest = tuple(p - (k == i) for k, p in enumerate(e))
        total = mean[i] * self.moment(rest) if mean[i] else Fraction(0)
        for j, power in enumerate(rest):
            if power and covariance[i][j]:
                lower = tuple(p - (k == j) for k, p in enumerate(rest))
                total += covariance[i][j] * power * self.moment(lower)
        self._known[e] = total
        return total

    def code(self) -> str:
        covariance = "" if self.covariance is None else f", covariance={_text(self.covariance)}"
        mean = "" if self.mean is None else f", mean={_text(self.mean)}"
        return f"sh.Gaussian({self.n}{covariance}{mean})"


@dataclass(frozen=True)
class IIDLaw(Law):
    """Independent coordinates with the given moments."""

    moments: tuple[float, ...]

    def moment(self, e: Exponents) -> Fraction:
        return prod((Fraction(self.moments[k]) for k in e), start=Fraction(1))

    def code(self) -> str:
        return f"sh.IID({self.n}, {_text(list(self.moments))})"


#: Moments of the named laws whose moments are whole numbers.
NAMED = {
    "normal": lambda k: 0 if k % 2 else prod(range(1, k, 2)),
    "laplace": lambda k: 0 if k % 2 else Fraction(factorial(k), 2 ** (k // 2)),
    "rademacher": lambda k: 0 if k % 2 else 1,
}


@dataclass(frozen=True)
class NamedLaw(Law):
    """`IID.normal` and its like."""

    name: str

    def moment(self, e: Exponents) -> Fraction:
        return prod((Fraction(NAMED[self.name](k)) for k in e), start=Fraction(1))

    def code(self) -> str:
        return f"sh.IID.{self.name}({self.n})"


@dataclass(frozen=True)
class RadialLaw(Law):
    """A radius with given moments times a uniform direction; no moments given: the sphere."""

    moments: tuple[float, ...] | None = None

    def moment(self, e: Exponents) -> Fraction:
        """E ρ^k E[u^e], E[u^e] = Π (e_i − 1)!! / (n(n+2)⋯(n+k−2)) for even e."""
        order = sum(e)
        if any(k % 2 for k in e):
            return Fraction(0)
        radius = Fraction(1) if self.moments is None else Fraction(self.moments[order])
        top = prod(prod(range(1, k, 2)) for k in e)
        return radius * Fraction(top, prod(range(self.n, self.n + order, 2)))

    def code(self) -> str:
        if self.moments is None:
            return f"sh.Sphere({self.n})"
        return f"sh.Radial({self.n}, {_text(list(self.moments))})"


@dataclass(frozen=True)
class SamplesLaw(Law):
    """The mean over rows, with labels if given."""

    X: tuple[tuple[float, ...], ...]
    y: tuple[float, ...] | None = None

    def moment(self, e: Exponents) -> Fraction:
        total = sum(
            (prod((x**k for x, k in zip(row, e, strict=True) if k), start=Fraction(1)) for row in self._rows),
            Fraction(0),
        )
        return total / len(self.X)

    @cached_property
    def _rows(self) -> Matrix:
        return fractions(self.X)

    def labels(self, degree: int) -> tuple[Vector, Fraction]:
        """E[y φ_I(x)] and E y²."""
        assert self.y is not None
        y = fractions(self.y)
        count = len(y)
        table = exponents(self.n, degree)
        features = [power_entries(row, degree) for row in self._rows]
        cross = [
            multiplicity(e) * sum((v * f[k] for v, f in zip(y, features, strict=True)), Fraction(0)) / count
            for k, e in enumerate(table)
        ]
        return cross, sum((v * v for v in y), Fraction(0)) / count

    def code(self) -> str:
        labels = "" if self.y is None else f", y={_text(list(self.y))}"
        return f"sh.Samples({_text([list(row) for row in self.X])}{labels})"


@dataclass(frozen=True)
class MixtureLaw(Law):
    """Σ weight · part."""

    weights: tuple[float, ...]
    parts: tuple[Law, ...]

    def moment(self, e: Exponents) -> Fraction:
        return sum(
            (Fraction(w) * part.moment(e) for w, part in zip(self.weights, self.parts, strict=True)),
            Fraction(0),
        )

    def code(self) -> str:
        return f"sh.Mixture({_text(list(self.weights))}, [{', '.join(part.code() for part in self.parts)}])"


@dataclass(frozen=True)
class FrobeniusLaw(Product):
    """The sum over all entries of the full array."""

    def gram(self, degree: int) -> Matrix:
        table = exponents(self.n, degree)
        return [[Fraction(multiplicity(e) if e == f else 0) for f in table] for e in table]

    def code(self) -> str:
        return f"sh.Frobenius({self.n})"


@dataclass(frozen=True)
class MetricLaw(Product):
    """A Gram matrix; `source` is an expression for it, where its numbers are those of another law."""

    degree: int
    matrix: tuple[tuple[float, ...], ...]

    def gram(self, degree: int) -> Matrix:
        assert degree == self.degree
        return fractions(self.matrix)

    def code(self) -> str:
        return f"sh.Metric({self.n}, {self.degree}, {_text([list(row) for row in self.matrix])})"


# -- problems ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Given:
    """A problem: one target of `matrix`, `entries`, `neurons` (W, a), or none with labelled samples."""

    law: Product
    degree: int
    width: int
    matrix: tuple[tuple[float, ...], ...] | None = None
    entries: tuple[float, ...] | None = None
    neurons: tuple[tuple[tuple[float, ...], ...], tuple[float, ...]] | None = None
    outer: tuple[float, ...] | None = None
    #: Whether a typed refusal is a right answer too: numbers that doubles do not hold.
    may_refuse: bool = False

    @property
    def n(self) -> int:
        """The number of inputs."""
        return self.law.n

    @cached_property
    def gram(self) -> Matrix:
        """G on the entries."""
        return self.law.gram(self.degree)

    @cached_property
    def _optimum(self) -> tuple[Vector, Fraction]:
        if self.matrix is not None:
            M = fractions(self.matrix)
            rows = combinations_with_replacement(range(self.n), 2)
            return [M[i][j] for i, j in rows], Fraction(0)
        if self.entries is not None:
            return fractions(self.entries), Fraction(0)
        if self.neurons is not None:
            W, a = fractions(self.neurons[0]), fractions(self.neurons[1])
            terms = [power_entries(w, self.degree) for w in W]
            size = len(terms[0])
            total = [sum((c * t[k] for c, t in zip(a, terms, strict=True)), Fraction(0)) for k in range(size)]
            return total, Fraction(0)
        assert isinstance(self.law, SamplesLaw)
        cross, squares = self.law.labels(self.degree)
        best = solve(self.gram, cross)
        assert best is not None, "a polynomial vanishes on the samples"
        return best, squares - sum((b * c for b, c in zip(best, cross, strict=True)), Fraction(0))

    @property
    def target(self) -> Vector:
        """s*, the best tensor of all."""
        return self._optimum[0]

    @property
    def floor(self) -> Fraction:
        """Its loss."""
        return self._optimum[1]

    def loss(self, entries: Sequence[Fraction]) -> Fraction:
        """(s − s*)ᵀ G (s − s*) + floor, exactly."""
        gap = [x - t for x, t in zip(entries, self.target, strict=True)]
        return self.floor + sum(
            (
                gap[i] * sum((g * x for g, x in zip(row, gap, strict=True) if x), Fraction(0))
                for i, row in enumerate(self.gram)
                if gap[i]
            ),
            Fraction(0),
        )

    def network_loss(self, W: Any, a: Any) -> Fraction:
        """The loss of a network of floats, exactly."""
        terms = [power_entries(w, self.degree) for w in fractions(W)]
        weights = fractions(a)
        size = len(self.target)
        return self.loss(
            [sum((c * t[k] for c, t in zip(weights, terms, strict=True)), Fraction(0)) for k in range(size)]
        )

    @cached_property
    def power(self) -> Fraction:
        """E y², the loss of the zero network: what losses are compared with."""
        return self.loss([Fraction(0)] * len(self.target))

    @property
    def signs(self) -> tuple[int, int, int]:
        """How many neurons may be positive, how many negative, how many there are in all."""
        if self.outer is None:
            return self.width, self.width, self.width
        used = sum(x != 0 for x in self.outer)
        if self.degree % 2:
            return used, used, used
        return sum(x > 0 for x in self.outer), sum(x < 0 for x in self.outer), used

    def realisable(self, positive: int, negative: int) -> bool:
        """Whether a tensor with that many positive and negative terms is one of the problem's networks."""
        most, least, total = self.signs
        return positive <= most and negative <= least and positive + negative <= total

    def code(self) -> str:
        """An expression that makes the problem, given `sh` and `np`."""
        if self.matrix is not None:
            target = f"np.array({_text([list(row) for row in self.matrix])})"
        elif self.entries is not None:
            target = f"sh.SymmetricTensor({_text(list(self.entries))}, {self.n}, {self.degree})"
        elif self.neurons is not None:
            W, a = self.neurons
            neurons = f"{_text([list(w) for w in W])}, a={_text(list(a))}"
            target = f"sh.Network({neurons}, activation=sh.Power({self.degree}))"
        else:
            target = "None"
        more = "" if self.outer is None else f", outer={_text(list(self.outer))}"
        if self.neurons is None and self.entries is None and self.degree != 2:
            more += f", activation=sh.Power({self.degree})"
        return f"sh.Problem({target}, {self.law.code()}, width={self.width}{more})"

    def problem(self) -> Any:
        """The library's problem."""
        import shallows as sh

        return eval(self.code(), {"sh": sh, "np": np})
