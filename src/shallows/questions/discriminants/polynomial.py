"""The teacher-metric discriminant as an exact object: an integer polynomial, or the recipe that evaluates it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from pathlib import Path
from typing import Any

from flint import fmpq, fmpq_mpoly, fmpz_mpoly

import shallows.mathematics.balls.copies  # noqa: F401  (discriminants can be pickled)
from shallows.mathematics.exact.binary_forms import repeated_factor
from shallows.model.data.base import InnerProduct
from shallows.questions.discriminants import storage
from shallows.questions.discriminants.curves import RankOneCurve, ReducedRankOneCurve, StudentCurve
from shallows.questions.discriminants.metrics import metric_values, number, require_positive_definite
from shallows.questions.discriminants.render import to_latex, to_text
from shallows.questions.discriminants.signs import SignSlice, sign_slice
from shallows.questions.discriminants.values import over_rationals, rational, ring, substitution
from shallows.support.arguments import typed
from shallows.support.checks import describe
from shallows.support.errors import InvalidProblem
from shallows.support.records import Kind

#: A polynomial is expanded when it can have at most this many terms; the generic one of degree 2 has 5938.
LARGEST_EXPANSION = 1_500


@dataclass(frozen=True)
class Factor:
    """An irreducible factor over the integers, and its multiplicity; `polynomial, multiplicity = factor` works.

    >>> P = sh.discriminants.rank_one(2).specialize(data=sh.Frobenius(2))
    >>> factor = P.factor()[0]                  # zero where both eigenvalues of T agree (paper 000, Example 28)
    >>> factor.text, factor.multiplicity, factor.n_terms
    ('t00^2 - 2*t00*t11 + 4*t01^2 + t11^2', 3, 4)
    """

    polynomial: fmpz_mpoly
    multiplicity: int

    @property
    def n_terms(self) -> int:
        """The number of terms."""
        return len(self.polynomial)

    @property
    def text(self) -> str:
        """The factor as text."""
        return to_text(self.polynomial)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.polynomial, self.multiplicity))

    def __repr__(self) -> str:
        return f"({self.text})" + (f"^{self.multiplicity}" if self.multiplicity > 1 else "")


@dataclass(frozen=True)
class Factorization:
    """A discriminant as unit · Π factor^multiplicity: a sequence of `Factor`, largest multiplicity first.

    >>> walls = sh.discriminants.rank_one(2).specialize(data=sh.IID.laplace(2), t01=0).factor()
    >>> walls                                   # diagonal teachers under Laplace data: two lines
    (11*t00 - 4*t11)^3 * (4*t00 - 11*t11)^3
    >>> len(walls), walls.multiplicities, walls.unit
    (2, [3, 3], 1)
    """

    unit: int
    factors: tuple[Factor, ...]

    def __len__(self) -> int:
        return len(self.factors)

    def __iter__(self) -> Iterator[Factor]:
        return iter(self.factors)

    def __getitem__(self, index: int) -> Factor:
        return self.factors[index]

    @property
    def multiplicities(self) -> list[int]:
        """The multiplicity of each factor."""
        return [factor.multiplicity for factor in self.factors]

    def __repr__(self) -> str:
        parts = ([] if self.unit == 1 and self.factors else [str(self.unit)]) + [
            repr(f) for f in self.factors
        ]
        return " * ".join(parts)


@dataclass(frozen=True, eq=False, repr=False)
class Discriminant:
    """P(t, m), irreducible and content-free, zero exactly where two critical points meet (paper 000, section 3.3).

    P = ±Disc F divided by its content, F the form whose zeros are the critical points. For rank-one tensors that is
    F = 2p′q − pq′ with p = ⟨w^⊗d, T⟩, q = ⟨w^⊗d, w^⊗d⟩ and w = (1, z), a quartic in z at degree 2. The sign is such
    that P > 0 exactly where the number of real critical points is its smallest possible value modulo four: 2 for
    even degrees and for ellipses, 1 for odd degrees. That is all that the sign says: see `real_counts`.

    `polynomial` is None when it would be too large to expand; evaluation, signs and specialisation are exact
    all the same, and a specialisation with few variables left is expanded.

    >>> from shallows.discriminants import rank_one
    >>> P = rank_one(2)
    >>> P.n_terms, P.bidegree
    (5938, (6, 12))
    >>> from shallows import Frobenius
    >>> P.specialize(data=Frobenius(2)).factor()
    (t00^2 - 2*t00*t11 + 4*t01^2 + t11^2)^3
    """

    curve: StudentCurve
    teacher: tuple[str, ...]
    metric: tuple[str, ...]
    target: tuple[fmpq_mpoly, ...]
    gram: tuple[tuple[fmpq_mpoly, ...], ...]
    polynomial: fmpz_mpoly | None

    # -- what it is ------------------------------------------------------------------------------------

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that are left: the teacher's, then the metric's."""
        return (*self.teacher, *self.metric)

    @property
    def expanded(self) -> bool:
        """Whether the polynomial is written out."""
        return self.polynomial is not None

    @property
    def terms(self) -> dict[tuple[int, ...], int]:
        """{exponents of `variables`: coefficient}."""
        return {tuple(int(e) for e in key): int(value) for key, value in self._expanded().to_dict().items()}

    @property
    def n_terms(self) -> int:
        """The number of terms."""
        return len(self._expanded())

    @property
    def bidegree(self) -> tuple[int, int]:
        """The degrees in the teacher's variables and in the metric's."""
        if self.polynomial is None:
            if self.variables == (*self.curve.teacher, *self.curve.metric):
                return self.curve.bidegree
            raise self._not_expanded()
        split = len(self.teacher)
        monomials = list(self.terms)
        return max((sum(e[:split]) for e in monomials), default=0), max(
            (sum(e[split:]) for e in monomials), default=0
        )

    def factor(self) -> Factorization:
        """The irreducible factors over the integers, largest multiplicity first."""
        unit, factors = self._expanded().factor()
        ordered = sorted(factors, key=lambda pair: (-pair[1], len(pair[0]), str(pair[0])))
        turned = [
            (-f if f.leading_coefficient() < 0 else f, k, f.leading_coefficient() < 0) for f, k in ordered
        ]
        sign = -1 if sum(k for _, k, flipped in turned if flipped) % 2 else 1
        return Factorization(int(unit) * sign, tuple(Factor(f, int(k)) for f, k, _ in turned))

    def text(self) -> str:
        """The polynomial as text, terms in lexicographic order."""
        return to_text(self._expanded())

    def latex(self) -> str:
        """The polynomial in LaTeX."""
        return to_latex(self._expanded())

    def save(self, path: str | Path) -> Path:
        """Write `path`.json, which `load` reads back; returns its path."""
        return storage.write(self, path)

    # -- values ----------------------------------------------------------------------------------------

    def specialize(self, *, data: InnerProduct | str | None = None, **values: object) -> Discriminant:
        """P with values for some variables: numbers, rationals, or text in other variables ("mu2^2", "m0011").

        `data` gives all of the metric at once: a data object with two inputs, "moments" (m_IJ depends on I∪J only,
        as for every distribution) or "symmetric iid" (products of mu2, mu4, …). Floats are the binary numbers they
        are; a data object's numbers are the simple fractions that they stand for (1.8 is 9/5). The content is divided
        out again. A metric that is all numbers must be positive definite.
        """
        put = substitution(self.teacher, self.metric, self._values(data, values))
        target = tuple(put(entry) for entry in self.target)
        gram = tuple(tuple(put(entry) for entry in row) for row in self.gram)
        require_positive_definite(gram)
        return make(self.curve, put.teacher, put.metric, target, gram)

    def reduced(self) -> Discriminant:
        """P without the complex critical points that a special metric keeps fixed and multiple for every teacher.

        Under a rotation-invariant metric F is divisible by (x²+y²)^(d−1), so that P vanishes identically from degree
        3 on. Here that factor (in general gcd(q, q′), q the norm ⟨w^⊗d, w^⊗d⟩) is divided out: what is left is zero
        where real critical points meet. The metric must be all numbers. Nothing changes when q has no repeated factor.

        >>> from shallows import Gaussian
        >>> from shallows.discriminants import rank_one
        >>> P = rank_one(3).specialize(data=Gaussian(2))
        >>> P.n_terms, P.reduced().n_terms, P.reduced().bidegree
        (0, 14, (4, 0))
        """
        if type(self.curve) is not RankOneCurve:
            return self
        if not all(entry.is_constant() for row in self.gram for entry in row):
            raise InvalidProblem("The metric is not all numbers yet. Fix: specialize(data=...) first.")
        norm = self.curve.norm([[number(entry) for entry in row] for row in self.gram])
        divisor = repeated_factor(norm)
        if len(divisor) == 1:
            return self
        curve = ReducedRankOneCurve(self.curve.tensor_degree, tuple(divisor))
        return make(curve, self.teacher, self.metric, self.target, self.gram)

    def evaluate(self, *, data: InnerProduct | str | None = None, **values: object) -> Fraction:
        """The exact value at numbers for all variables.

        A polynomial that is not expanded has the value of ±Disc F: a fixed positive multiple of P.
        """
        point = self._values(data, values)
        if self.polynomial is None or self.metric:
            gram, target = self.numbers(data=data, **values)
            if self.polynomial is None:
                return self.curve.discriminant(gram, target)
        unknown, missing = set(point) - set(self.variables), set(self.variables) - set(point)
        if unknown or missing:
            self.numbers(**point)  # type: ignore[arg-type]  # says what is wrong
        exact = [rational(name, point[name]) for name in self.variables]
        value = self._over_rationals(*(fmpq(v.numerator, v.denominator) for v in exact))
        return Fraction(int(value.p), int(value.q))

    @cached_property
    def _over_rationals(self) -> fmpq_mpoly:
        return over_rationals(self._expanded())

    def sign(self, *, data: InnerProduct | str | None = None, **values: object) -> int:
        """The sign of P at numbers for all variables, exactly."""
        value = self.evaluate(data=data, **values)
        return (value > 0) - (value < 0)

    def real_counts(self, *, data: InnerProduct | str | None = None, **values: object) -> tuple[int, ...]:
        """The numbers of real critical points that the sign of P allows; they agree modulo four, no more.

        One number for degree 2 and for ellipses, where the sign decides. Empty where P = 0. For the number itself
        see `landscape_at`.
        """
        sign = self.sign(data=data, **values)
        return self.curve.counts(sign) if sign else ()

    def sign_slice(
        self,
        horizontal: tuple[str, Sequence[float]],
        vertical: tuple[str, Sequence[float]],
        *,
        data: InnerProduct | str | None = None,
        **values: object,
    ) -> SignSlice:
        """The sign of P on a grid of two variables, the others fixed; exact everywhere (see `signs`)."""
        rest = self if data is None and not values else self.specialize(data=data, **values)
        return sign_slice(rest, horizontal, vertical)

    def numbers(
        self, *, data: InnerProduct | str | None = None, **values: object
    ) -> tuple[list[list[Fraction]], list[Fraction]]:
        """The Gram matrix and the teacher's entries at numbers for all variables, exactly."""
        put = substitution(self.teacher, self.metric, self._values(data, values))
        missing = (*put.teacher, *put.metric)
        if missing:
            raise InvalidProblem(f"no number was given for {', '.join(missing)}; every variable needs one.")
        gram = tuple(tuple(put(entry) for entry in row) for row in self.gram)
        require_positive_definite(gram)
        return [[number(e) for e in row] for row in gram], [number(put(entry)) for entry in self.target]

    def _values(self, data: InnerProduct | str | None, values: Mapping[str, object]) -> dict[str, object]:
        found = {} if data is None else metric_values(self.curve, data)
        given = {name: value for name, value in found.items() if name in self.metric}
        twice = sorted(set(given) & set(values))
        if twice:
            raise InvalidProblem(
                f"{', '.join(twice)} is given twice: by data and by name. Fix: leave one of them out."
            )
        if data is not None and not given:
            raise InvalidProblem(
                f"data was given, but no entry of the metric is left: the variables are {', '.join(self.variables)}."
            )
        return {**given, **values}

    # -- representation --------------------------------------------------------------------------------

    def _expanded(self) -> fmpz_mpoly:
        if self.polynomial is None:
            raise self._not_expanded()
        return self.polynomial

    def _not_expanded(self) -> InvalidProblem:
        return InvalidProblem(
            f"This discriminant ({self.curve.title}; variables {', '.join(self.variables)}) is too large to be "
            "expanded. Fix: specialize(...) until few variables are left, or use evaluate, sign and real_counts, "
            "which are exact without it."
        )

    def __repr__(self) -> str:
        size = f"{self.n_terms} terms, bidegree {self.bidegree}" if self.expanded else "not expanded"
        return f"Discriminant({self.curve.title}; {size}; variables {', '.join(self.variables) or 'none'})"


def make(
    curve: StudentCurve,
    teacher: tuple[str, ...],
    metric: tuple[str, ...],
    target: tuple[fmpq_mpoly, ...],
    gram: tuple[tuple[fmpq_mpoly, ...], ...],
) -> Discriminant:
    """The discriminant with these entries of the teacher and of the Gram matrix, expanded when it is small enough."""
    names = (*teacher, *metric)
    polynomial = None
    if curve.degree == 4 or _largest(curve, target, gram, len(teacher), len(metric)) <= LARGEST_EXPANSION:
        polynomial = _content_free(curve.polynomial(gram, target, names))
    return Discriminant(curve, teacher, metric, target, gram, polynomial)


def generic(curve: StudentCurve) -> Discriminant:
    """The discriminant in all variables of the teacher and of the metric."""
    names = (*curve.teacher, *curve.metric)
    symbol = dict(zip(names, ring(names).gens(), strict=True))
    size = len(curve.names)
    gram = tuple(
        tuple(curve.weights[i] * curve.weights[j] * symbol[curve.names[i][j]] for j in range(size))
        for i in range(size)
    )
    target = tuple(symbol[name] for name in curve.teacher)
    return make(curve, curve.teacher, curve.metric, target, gram)


def as_discriminant(value: object) -> Discriminant:
    """The value if it is a discriminant; a sentence that says how to make one otherwise."""
    if isinstance(value, Discriminant):
        return value
    raise InvalidProblem(
        f"discriminant is {describe(value)}; expected a Discriminant. Fix: sh.discriminants.rank_one(2), for example, "
        "with values for its variables (data=, t00=, …)."
    )


@typed
def load(path: str | Path) -> Discriminant:
    """Read a file that `Discriminant.save` wrote.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = sh.discriminants.ellipse(4, 1).save(f"{folder}/ellipse")
    ...     sh.discriminants.load(file)
    Discriminant(the ellipse x^2/4 + y^2/1 = 1; 152 terms, bidegree (6, 6); variables x, y, m11, m12, m22)
    """
    return Discriminant(**storage.read(path))


#: How other results keep a discriminant.
DISCRIMINANT = Kind(Discriminant, storage.described, lambda parts: Discriminant(**storage.fields(parts)))


def _largest(
    curve: StudentCurve,
    target: Sequence[fmpq_mpoly],
    gram: Sequence[Sequence[fmpq_mpoly]],
    teachers: int,
    metrics: int,
) -> int:
    """A bound on the number of terms: monomials of the bidegree (of a form when the teacher enters homogeneously)."""
    first, second = curve.bidegree
    linear = max((int(entry.total_degree()) for entry in target if entry), default=0)
    quadratic = max((int(entry.total_degree()) for row in gram for entry in row if entry), default=0)
    homogeneous = teachers == len(target)
    free = teachers - 1 if homogeneous else teachers
    return comb(first * max(linear, 1) + free, free) * comb(second * max(quadratic, 1) + metrics, metrics)


def _content_free(polynomial: Any) -> Any:
    """The polynomial over its positive content."""
    return polynomial / abs(polynomial.content()) if polynomial else polynomial
