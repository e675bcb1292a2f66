"""x with independent, identically distributed coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial, gamma, lgamma, pi, prod, sqrt

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.model.data.base import Distribution
from shallows.model.data.moment_sequence import checked_moments, cumulants, gauss_law
from shallows.support.checks import Array, describe, finite_number, positive_integer
from shallows.support.construction import Construction
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

Draw = Callable[[np.random.Generator, tuple[int, int]], Array]


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
        given = checked_moments("moments", moments)
        self._name = f"IID({self.n}, moments={[float(f'{m:.6g}') for m in given]})"
        self._moment = self._look_up(given)
        self._construction = self.constructed(n=self.n, moments=given)
        self._draw: Draw | None = None
        self._given: Array | None = given

    @staticmethod
    def _look_up(given: Array) -> Callable[[int], float]:
        def moment(order: int) -> float:
            if order >= len(given):
                raise InvalidProblem(
                    f"The moment of order {order} is needed (twice the activation's degree), but moments were "
                    f"given only up to order {len(given) - 1}. Fix: IID(n, [1, E x, ..., E x^{order}])."
                )
            return float(given[order])

        return moment

    @classmethod
    def _named(
        cls, n: int, law: str, moment: Callable[[int], float], draw: Draw, df: float | None = None
    ) -> IID:
        data = cls.__new__(cls)
        data.n = positive_integer("n", n)
        data._name = f"IID.{law}({n}{'' if df is None else f', df={df:g}'})"
        data._moment, data._draw, data._given = moment, draw, None
        data._construction = data.constructed(by=law, n=data.n, df=df)
        return data

    def construction(self) -> Construction:
        """IID(n, moments), or the named law."""
        return self._construction

    def __reduce__(self) -> tuple[Callable[[], IID], tuple[()]]:
        """Copies and pickles are made as this one was, by the named law or from the moments."""
        return self._construction.make, ()

    @classmethod
    def normal(cls, n: int) -> IID:
        """Standard normal coordinates: μ_{2k} = (2k−1)!!."""
        return cls._named(
            n,
            "normal",
            _even(lambda k: float(prod(range(1, 2 * k, 2)))),
            lambda g, s: g.standard_normal(s),
        )

    @classmethod
    def uniform(cls, n: int) -> IID:
        """Uniform on [−√3, √3]: μ_{2k} = 3^k / (2k+1)."""
        end = sqrt(3.0)
        return cls._named(
            n,
            "uniform",
            _even(lambda k: 3.0**k / (2 * k + 1)),
            lambda g, s: g.uniform(-end, end, s),
        )

    @classmethod
    def laplace(cls, n: int) -> IID:
        """Laplace with scale 1/√2: μ_{2k} = (2k)! / 2^k."""
        return cls._named(
            n,
            "laplace",
            _even(lambda k: factorial(2 * k) / 2.0**k),
            lambda g, s: g.laplace(0.0, sqrt(0.5), s),
        )

    @classmethod
    def rademacher(cls, n: int) -> IID:
        """±1 with equal probability: μ_{2k} = 1."""
        return cls._named(n, "rademacher", _even(lambda k: 1.0), lambda g, s: g.choice([-1.0, 1.0], size=s))

    @classmethod
    def student(cls, n: int, df: float) -> IID:
        """Student's t scaled to unit variance; it has moments below order df only, and refuses the others."""
        df = finite_number("df", df)
        if df <= 2:
            raise InvalidProblem(f"df is {df}; Student's t has a variance only for df > 2.")

        def moment(order: int) -> float:
            if order >= df:
                raise InvalidProblem(
                    f"Student's t with df = {df:g} has no moment of order {order}; this needs df > {order}, or a "
                    "lower degree."
                )
            if order % 2:
                return 0.0
            k = order // 2
            ratio = gamma(k + 0.5) / sqrt(pi) * np.exp(lgamma(df / 2 - k) - lgamma(df / 2))
            return float((df - 2) ** k * ratio)

        scale = sqrt((df - 2) / df)
        return cls._named(n, "student", moment, lambda g, s: scale * g.standard_t(df, s), df)

    def moment(self, order: int) -> float:
        """E[xᵢ^order]."""
        return self._moment(order)

    def moment_sequence(self, order: int) -> Array:
        """[1, E x, …, E x^order]."""
        return np.array([self._moment(j) for j in range(order, -1, -1)])[::-1]  # a missing one is the highest

    def cumulant_sequence(self, order: int) -> Array:
        """[0, κ_1, …, κ_order] of one coordinate."""
        return cumulants(self.moment_sequence(order))

    def moments(self, degree: int) -> Array:
        """E[x^I] = Π_j μ_{I_j} (paper 000, equation 16)."""
        coordinates.require_storable(self.n, degree)
        return np.asarray(
            np.prod(self.moment_sequence(degree)[coordinates.exponents(self.n, degree)], axis=1)
        )

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


def _even(half: Callable[[int], float]) -> Callable[[int], float]:
    """The moments of a symmetric law: zero for odd orders, half(k) for order 2k."""

    def moment(order: int) -> float:
        return 0.0 if order % 2 else half(order // 2)

    return moment
