"""x with independent, identically distributed coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import factorial, prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors import coordinates
from shallows.model.activations import Activation, PolynomialActivation
from shallows.model.data.base import Distribution
from shallows.model.data.gaussian import Gaussian
from shallows.model.data.moment_sequence import checked_moments, cumulants, gauss_law
from shallows.model.data.rotation_invariance import RotationInvariance
from shallows.model.kernels.base import Kernel, no_kernel
from shallows.model.kernels.iid import IIDCumulants
from shallows.model.kernels.polynomial import PolynomialExpectations, mixing
from shallows.model.kernels.price import PriceKernel
from shallows.support.checks import Array, describe, finite_number, positive_integer
from shallows.support.construction import Construction, constructor
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

Draw = Callable[[np.random.Generator, tuple[int, int]], Array]
Moment = Callable[[int], Fraction]
#: What follows "independent and identically distributed".
TITLES = {
    "normal": ", standard normal",
    "uniform": ", uniform",
    "laplace": ", Laplace",
    "rademacher": ", Rademacher (±1)",
    "student": ", Student’s t",
}
WORDS = {"normal": "standard normal inputs", "uniform": "uniform inputs", "laplace": "Laplace inputs",
         "rademacher": "inputs ±1", "student": "Student inputs"}  # fmt: skip


class IID(Distribution):
    """Independent coordinates with the given moments [1, E x, E x², …, E x^(2d)] (paper 000, equation 16).

    Named laws, all of unit variance, know their moments to any order: `IID.normal`, `.uniform`, `.laplace`,
    `.rademacher`, `.student` (below its degrees of freedom).

    >>> [sh.IID.rademacher(2).moment(4), sh.IID.uniform(2).moment(4), sh.IID.laplace(2).moment(4)]
    [1.0, 1.8, 6.0]
    >>> sh.IID(2, moments=[1, 0, 1, 0, 6]).gram(2)      # on the entries T11, T12, T22
    array([[6., 0., 1.],
           [0., 4., 0.],
           [1., 0., 6.]])
    """

    constructors = ("normal", "uniform", "laplace", "rademacher", "student")

    def __init__(self, n: int, moments: Sequence[float]) -> None:
        self.n = positive_integer("n", n)
        if isinstance(moments, str):
            known = ", ".join(f"IID.{law}" for law in self.constructors)
            raise InvalidProblem(f"moments is {moments!r}; expected [1, E x, E x², ...]. Fix: one of {known}")
        given = checked_moments("moments", moments)
        self._name = f"IID({self.n}, moments={[float(f'{m:.6g}') for m in given]})"
        self._moment = self._look_up(given)
        self._construction = self.constructed(n=self.n, moments=given)
        self._draw: Draw | None = None
        self._given: Array | None = given

    @staticmethod
    def _look_up(given: Array) -> Moment:
        def moment(order: int) -> Fraction:
            if order >= len(given):
                raise InvalidProblem(
                    f"The moment of order {order} is needed (twice the activation's degree), but moments were "
                    f"given only up to order {len(given) - 1}. Fix: IID(n, [1, E x, ..., E x^{order}])."
                )
            return Fraction(float(given[order]))

        return moment

    @classmethod
    def _named(cls, n: int, law: str, moment: Moment, draw: Draw, df: float | None = None) -> IID:
        data = cls.__new__(cls)
        data.n = positive_integer("n", n)
        data._name = f"IID.{law}({n}{'' if df is None else f', df={df:g}'})"
        data._moment, data._draw, data._given = moment, draw, None
        data._construction = data.constructed(by=law, n=data.n, df=df)
        return data

    def construction(self) -> Construction:
        """IID(n, moments), or the named law."""
        return self._construction

    def __reduce__(self) -> tuple[Callable[..., IID], tuple[Any, ...]]:
        """Copies and pickles are made as this one was, by the named law or from the moments."""
        return constructor(self._construction.name), tuple(self._construction.arguments.values())

    @classmethod
    def normal(cls, n: int) -> IID:
        """Standard normal coordinates: μ_{2k} = (2k−1)!!."""
        return cls._named(n, "normal", _even(_odd_product), lambda g, s: g.standard_normal(s))

    @classmethod
    def uniform(cls, n: int) -> IID:
        """Uniform on [−√3, √3]: μ_{2k} = 3^k / (2k+1)."""
        end = sqrt(3.0)
        moment = _even(lambda k: Fraction(3**k, 2 * k + 1))
        return cls._named(n, "uniform", moment, lambda g, s: g.uniform(-end, end, s))

    @classmethod
    def laplace(cls, n: int) -> IID:
        """Laplace with scale 1/√2: μ_{2k} = (2k)! / 2^k."""
        moment = _even(lambda k: Fraction(factorial(2 * k), 2**k))
        return cls._named(n, "laplace", moment, lambda g, s: g.laplace(0.0, sqrt(0.5), s))

    @classmethod
    def rademacher(cls, n: int) -> IID:
        """±1 with equal probability: μ_{2k} = 1."""
        moment = _even(lambda k: 1)
        return cls._named(n, "rademacher", moment, lambda g, s: g.choice([-1.0, 1.0], size=s))

    @classmethod
    def student(cls, n: int, df: float) -> IID:
        """Student's t scaled to unit variance: μ_{2k} = (2k−1)!! (df−2)^k / ((df−2)(df−4)⋯(df−2k)).

        It has moments below order df only, and refuses the others.
        """
        df = finite_number("df", df)
        if df <= 2:
            raise InvalidProblem(f"df is {df}; Student's t has a variance only for df > 2.")
        freedom = Fraction(df)

        def moment(order: int) -> Fraction:
            if order >= df:
                raise InvalidProblem(
                    f"Student's t with df = {df:g} has no moment of order {order}; this needs df > {order}, or a "
                    "lower degree."
                )
            k = order // 2
            below = prod((freedom - 2 * i for i in range(1, k + 1)), start=Fraction(1))
            return Fraction(0) if order % 2 else _odd_product(k) * (freedom - 2) ** k / below

        scale = sqrt((df - 2) / df)
        return cls._named(n, "student", moment, lambda g, s: scale * g.standard_t(df, s), df)

    def in_words(self) -> str:
        """The law by its name, or by its kurtosis where that is known."""
        name = self.construction().name.removeprefix("IID.")
        try:
            return (
                WORDS.get(name)
                or f"independent inputs of kurtosis {self.moment(4) / self.moment(2) ** 2:.3g}"
            )
        except InvalidProblem:  # no fourth moment is known
            return "independent inputs"

    def sentence(self) -> str:
        """The law of a coordinate, if it has a name."""
        title = TITLES.get(self.construction().name.removeprefix("IID."), "")
        return f"The {self.n} coordinates of x are independent and identically distributed{title}, with"

    def telling_moments(self) -> dict[int, float]:
        """The second and the fourth, or all that were given; odd ones that vanish are left out."""
        given = self.construction().arguments.get("moments")
        orders = (2, 4) if given is None else range(1, len(given))
        return {k: self.moment(k) for k in orders if not k % 2 or self.moment(k) != 0}

    def moment(self, order: int) -> float:
        """E[xᵢ^order]."""
        return float(self._moment(order))

    def moment_sequence(self, order: int) -> Array:
        """[1, E x, …, E x^order]."""
        return np.array([self.moment(j) for j in range(order, -1, -1)])[::-1]  # a missing one is the highest

    def coordinate_moments(self, order: int) -> Array:
        """The same."""
        return self.moment_sequence(order)

    def cumulant_sequence(self, order: int) -> Array:
        """[0, κ_1, …, κ_order] of one coordinate."""
        return cumulants(self.moment_sequence(order))

    def moments(self, degree: int) -> Array:
        """E[x^I] = Π_j μ_{I_j} (paper 000, equation 16)."""
        coordinates.require_storable(self.n, degree)
        return np.asarray(
            np.prod(self.moment_sequence(degree)[coordinates.exponents(self.n, degree)], axis=1)
        )

    def exact_moments(self, degree: int) -> NDArray[Any]:
        """The same in rational arithmetic; moments that were given are the doubles that they are."""
        coordinates.require_storable(self.n, degree)
        sequence = np.array([self._moment(j) for j in range(degree, -1, -1)][::-1], dtype=object)
        return np.asarray(np.prod(sequence[coordinates.exponents(self.n, degree)], axis=1))

    def gaussian_parts(self) -> list[tuple[float, Gaussian]] | None:
        """N(0, I) for the named normal law; moments up to some order do not make a law normal."""
        return [(1.0, Gaussian(self.n))] if self._construction.name == "IID.normal" else None

    def rotation_invariance(self, degree: int) -> RotationInvariance | None:
        """κ = μ2^d when the moments up to order 2d are those of a centred normal law: μ_{2k} = (2k−1)!! μ2^k.

        Only odd moments up to 2d−3, and the mean, matter: others meet a factor that is zero.
        """
        variance = self.moment(2)
        even = all(self.moment(2 * k) == _odd_product(k) * variance**k for k in range(2, degree + 1))
        odd = any(self.moment(k) for k in range(1, max(2, 2 * degree - 2), 2))
        return RotationInvariance("Gaussian", degree, variance**degree) if even and not odd else None

    def lifted(self) -> Distribution | None:
        """That of the Gaussian, for normal coordinates."""
        gaussian = self.as_gaussian()
        return None if gaussian is None else gaussian.lifted()

    def cumulants(self, order: int) -> IIDCumulants:
        """κ_{a+b} Σ_i w_i^a v_i^b."""
        return IIDCumulants(self.cumulant_sequence(order))

    def kernel(self, left: Activation, right: Activation) -> Kernel:
        """Polynomials through cumulants, which add over coordinates; normal coordinates as the Gaussian they are."""
        gaussian = self.as_gaussian()
        if gaussian is not None:
            return gaussian.kernel(left, right)
        if not (isinstance(left, PolynomialActivation) and isinstance(right, PolynomialActivation)):
            raise no_kernel(left, right, self)
        law = self.cumulants(left.degree + right.degree)
        return PriceKernel(law, PolynomialExpectations(law, mixing(left, right)))

    @property
    def sample_law(self) -> str:
        """The named law, or the Gauss-quadrature law with the given moments."""
        if self._given is None:
            return f"the law itself, {self._name}"
        nodes, _ = gauss_law(self._given)
        return (
            f"the Gauss-quadrature law with these moments: {len(nodes)} atoms a coordinate, moments exact to "
            f"order {len(self._given) - 1}"
        )

    def sample(self, count: int, rng: int | np.random.Generator = 0) -> Array:
        """Draws of the named law; given moments are sampled from the Gauss-quadrature law that has them."""
        source, shape = generator(rng), (positive_integer("count", count, 0), self.n)
        if self._draw is not None:
            return np.asarray(self._draw(source, shape), dtype=np.float64)
        assert self._given is not None, describe(self)
        nodes, weights = gauss_law(self._given)
        return np.asarray(source.choice(nodes, size=shape, p=weights / weights.sum()))

    def __repr__(self) -> str:
        return self._name


def _odd_product(k: int) -> int:
    """(2k−1)!!."""
    return prod(range(1, 2 * k, 2))


def _even(half: Callable[[int], Fraction | int]) -> Moment:
    """The moments of a symmetric law: zero for odd orders, half(k) for order 2k."""

    def moment(order: int) -> Fraction:
        return Fraction(0 if order % 2 else half(order // 2))

    return moment
