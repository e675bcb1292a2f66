"""Exact systems evaluated in ball arithmetic (python-flint): value and Jacobian at balls.

An evaluator takes a list of balls, all `arb` (a real box) or all `acb` (a complex box), and returns the
value (n×1) and the Jacobian (n×n) as matrices of the same kind that contain the exact ones.
(F. Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval arithmetic", IEEE Trans.
Comput. 66, 2017.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from flint import acb, acb_mat, arb, arb_mat, ctx, fmpq, fmpq_mat

from shallows.mathematics.homotopy.coefficients import GaussianRational

if TYPE_CHECKING:
    from shallows.mathematics.homotopy.rank_one import RankOneSystem
    from shallows.mathematics.homotopy.systems import PolynomialSystem

Balls = Sequence[Any]
_System = TypeVar("_System")
_Evaluator = TypeVar("_Evaluator")
#: Bits in which points of charts are proved: rounding of 10⁻³⁸ is nothing beside boxes made around doubles, and numbers
#: of so few words are as quick as any.
BITS = 128


class BallEvaluator(Protocol):
    """Value and Jacobian of an exact system at balls."""

    n: int
    is_real: bool

    def __call__(self, x: Balls) -> tuple[Any, Any]:
        """Value (n×1) and Jacobian (n×n) at x, rigorous."""
        ...


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with this many bits, and put the old precision back."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def made_once(system: _System, kind: Callable[[_System, int], _Evaluator], bits: int) -> _Evaluator:
    """The ball evaluator of this kind and precision, kept with its system."""
    kept: dict[int, _Evaluator] = system.__dict__.setdefault("_evaluators", {})
    if bits not in kept:
        kept[bits] = kind(system, bits)
    return kept[bits]


def ball_evaluator(system: Any, bits: int) -> BallEvaluator:
    """The ball evaluator of a `PolynomialSystem`, or of anything that brings its own `ball_evaluator(bits)`."""
    if hasattr(system, "ball_evaluator"):
        evaluator: BallEvaluator = system.ball_evaluator(bits)
        return evaluator
    return PolynomialBalls(system, bits)


def rational(value: Fraction) -> fmpq:
    """A Fraction as python-flint's rational."""
    return fmpq(value.numerator, value.denominator)


def exact_ball(value: GaussianRational) -> acb | arb:
    """A Gaussian rational as the smallest ball at the present precision; an `arb` when it is real."""
    if not value.imag:
        return arb(rational(value.real))
    return acb(arb(rational(value.real)), arb(rational(value.imag)))


class PolynomialBalls:
    """A polynomial system: each distinct monomial once, with its partial derivatives."""

    def __init__(self, system: PolynomialSystem, bits: int) -> None:
        self.n, self.is_real = system.n, system.is_real
        with precision(bits):
            table: dict[tuple[int, ...], int] = {}
            self.rows = [
                [(table.setdefault(key, len(table)), exact_ball(value)) for key, value in terms.items()]
                for terms in system.equations
            ]
        self.monomials = [[(j, e) for j, e in enumerate(key) if e] for key in table]
        self.degrees = [max((key[j] for key in table), default=0) for j in range(self.n)]

    def __call__(self, x: Balls) -> tuple[Any, Any]:
        """Value and Jacobian at the balls x."""
        kind = type(x[0]) if self.is_real else acb
        one, zero = kind(1), kind(0)
        powers = []
        for entry, degree in zip(x, self.degrees, strict=True):
            row = [one]
            for _ in range(degree):
                row.append(row[-1] * entry)
            powers.append(row)
        values, gradients = [], []
        for factors in self.monomials:
            value, gradient = one, []
            for j, e in factors:
                derivative = powers[j][e - 1] * e if e > 1 else one
                for i, f in factors:
                    if i != j:
                        derivative = derivative * powers[i][f]
                gradient.append((j, derivative))
                value = value * powers[j][e]
            values.append(value)
            gradients.append(gradient)
        value_rows, jacobian_rows = [], []
        for terms in self.rows:
            total = zero
            partial = [zero] * self.n
            for index, coefficient in terms:
                total = total + values[index] * coefficient
                for j, derivative in gradients[index]:
                    partial[j] = partial[j] + derivative * coefficient
            value_rows.append([total])
            jacobian_rows.append(partial)
        matrix: Any = acb_mat if kind is acb else arb_mat
        return matrix(value_rows), matrix(jacobian_rows)


class RankOneBalls:
    """K(v,v,v) − Bv and 3K(v,v) − B: one exact N×N matrix, one product."""

    is_real = True

    def __init__(self, system: RankOneSystem, bits: int) -> None:
        self.n = system.n
        self.pairs = system.pairs
        with precision(bits):
            tensor = [[rational(entry) for entry in row] for row in system.packed()]
            self.tensor = arb_mat(fmpq_mat(tensor))
            self.linear = arb_mat(fmpq_mat([[rational(entry) for entry in row] for row in system.linear]))
        self.complex_tensor, self.complex_linear = acb_mat(self.tensor), acb_mat(self.linear)
        place = {pair: a for a, pair in enumerate(self.pairs)}
        self.places = [place[min(i, j), max(i, j)] for i in range(self.n) for j in range(self.n)]

    def __call__(self, x: Balls) -> tuple[Any, Any]:
        """Value and Jacobian at the balls x."""
        n = self.n
        matrix: Any
        tensor: Any
        linear: Any
        if type(x[0]) is acb:
            matrix, tensor, linear = acb_mat, self.complex_tensor, self.complex_linear
        else:
            matrix, tensor, linear = arb_mat, self.tensor, self.linear
        products = matrix(len(self.pairs), 1, [x[i] * x[j] for i, j in self.pairs])
        entries = (tensor * products).entries()
        form = matrix(n, n, [entries[a] for a in self.places])
        point = matrix(n, 1, list(x))
        return form * point - linear * point, form * 3 - linear
