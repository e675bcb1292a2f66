"""Activations σ: powers, polynomials, ReLU, and any smooth function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.polynomial import polynomial

from shallows.model.frameworks.functions import of_arrays
from shallows.model.smooth_functions import NAMED, Function
from shallows.support.checks import Array, describe, finite_array, plain_array, positive_integer
from shallows.support.construction import Constructed, Construction
from shallows.support.errors import InvalidProblem


def checked_activation(value: Any) -> Activation:
    """The value if it is an activation; a sentence with the one that is probably meant otherwise."""
    if isinstance(value, Activation):
        return value
    meant = ""
    if isinstance(value, type) and issubclass(value, Activation):
        meant = f" Fix: {value.__name__}()" if value is ReLU else f" Fix: {value.__name__}(...)"
    elif isinstance(value, str) and value.lower() == "relu":
        meant = " Fix: ReLU()"
    elif isinstance(value, int):
        meant = f" Fix: Power({value})"
    elif callable(value):
        meant = f" Fix: Smooth({getattr(value, '__name__', 'f')})"
    raise InvalidProblem(
        f"activation is {describe(value)}; expected Power(d), Polynomial([...]), ReLU() or Smooth(f).{meant}"
    )


class Activation(Constructed, ABC):
    """A scalar function σ applied to w·x."""

    @abstractmethod
    def derivative(self, z: Array, order: int) -> Array:
        """σ^(order)(z), elementwise; order 0 is σ itself."""

    def __call__(self, z: Array) -> Array:
        """σ(z), elementwise."""
        return self.derivative(np.asarray(plain_array("z", z), dtype=np.float64), 0)

    def hermite_coefficients(self, shift: Array, scale: Array, count: int) -> tuple[Array, Array] | None:
        """c_j = E[σ(α + s z) h_j(z)], j < count, and E σ², where there is a closed form; None: by quadrature."""
        return None


class PolynomialActivation(Activation):
    """What `Power` and `Polynomial` share: coefficients c_0, …, c_d of σ(z) = Σ c_j z^j."""

    @property
    @abstractmethod
    def coefficients(self) -> Array:
        """c_0, …, c_d."""

    @property
    def degree(self) -> int:
        """d, the highest power with a non-zero coefficient."""
        return len(self.coefficients) - 1

    def derivative(self, z: Array, order: int) -> Array:
        """σ^(order)(z) by Horner's rule."""
        coefficients = polynomial.polyder(self.coefficients, order) if order else self.coefficients
        return np.asarray(polynomial.polyval(z, coefficients), dtype=np.float64)


def polynomial_of(activation: Activation) -> PolynomialActivation:
    """The activation as the polynomial that it is known to be."""
    assert isinstance(activation, PolynomialActivation)
    return activation


@dataclass(frozen=True)
class Power(PolynomialActivation):
    """σ(z) = z^d, d ≥ 1: networks are symmetric tensors Σ aᵢ wᵢ^⊗d (paper 000, equation 3).

    >>> net = sh.Network([[1.0, 2.0], [3.0, -1.0]], a=[1.0, -1.0], activation=sh.Power(2))
    >>> net.tensor().to_array()                 # w₁w₁ᵀ − w₂w₂ᵀ
    array([[-8.,  5.],
           [ 5.,  3.]])
    """

    exponent: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "exponent", positive_integer("the degree of Power", self.exponent))

    @property
    def degree(self) -> int:
        """d."""
        return self.exponent

    @property
    def coefficients(self) -> Array:
        """(0, …, 0, 1)."""
        return np.asarray(np.eye(1, self.exponent + 1, self.exponent)[0])

    def derivative(self, z: Array, order: int) -> Array:
        """d (d−1) ⋯ (d−order+1) z^(d−order)."""
        if order > self.exponent:
            return np.zeros_like(z)
        factor = np.prod(np.arange(self.exponent, self.exponent - order, -1.0))
        return np.asarray(factor * np.asarray(z) ** (self.exponent - order), dtype=np.float64)

    def construction(self) -> Construction:
        """Power(d)."""
        return self.constructed(exponent=self.exponent)

    def __repr__(self) -> str:
        return f"Power({self.exponent})"


@dataclass(frozen=True, init=False)
class Polynomial(PolynomialActivation):
    """σ(z) = c0 + c1 z + c2 z² + …; paper 001's αz²+βz+γ is `Polynomial([γ, β, α])`.

    Its loss needs moments of every order up to 2d, so data that are distributions: no `Frobenius`, no `Metric`.

    >>> teacher = sh.Network([[1.0, 0.0]], activation=sh.Polynomial([0.0, 1.0, 1.0]))     # x₁ + x₁²
    >>> problem = sh.Problem(teacher, sh.Gaussian(2), width=1)
    >>> silent = sh.Network([[0.0, 0.0]], activation=sh.Polynomial([0.0, 1.0, 1.0]))
    >>> problem.loss(silent)                    # E(x + x²)² = E x² + 2 E x³ + E x⁴ = 1 + 0 + 3
    4.0
    """

    values: tuple[float, ...]

    def __init__(self, coefficients: Sequence[float]) -> None:
        array = finite_array("the coefficients of Polynomial", coefficients, 1)
        nonzero = np.flatnonzero(array)
        if len(nonzero) == 0 or nonzero[-1] == 0:
            raise InvalidProblem(
                f"Polynomial was given the coefficients {list(coefficients)}; expected a non-constant "
                "polynomial [c0, c1, ...] with some c_j ≠ 0, j ≥ 1."
            )
        object.__setattr__(self, "values", tuple(float(c) for c in array[: nonzero[-1] + 1]))

    @property
    def coefficients(self) -> Array:
        """c_0, …, c_d with c_d ≠ 0."""
        return np.array(self.values)

    def construction(self) -> Construction:
        """Polynomial([c_0, …, c_d])."""
        return self.constructed(coefficients=list(self.values))

    def __repr__(self) -> str:
        return f"Polynomial({list(self.values)})"


@dataclass(frozen=True)
class ReLU(Activation):
    """σ(z) = max(z, 0) (paper 003).

    Under N(0, I) the kernel is E[σ(w·x) σ(v·x)] = ‖w‖‖v‖ (sin θ + (π − θ) cos θ) / 2π, θ the angle between w and v
    (Y. Cho, L. Saul, "Kernel methods for deep learning", NIPS 2009).

    >>> teacher = sh.Network([[1.0, 0.0]], activation=sh.ReLU())
    >>> problem = sh.Problem(teacher, sh.Gaussian(2), width=1, outer="ones")
    >>> loss = problem.loss(sh.Network([[0.0, 1.0]], activation=sh.ReLU()))
    >>> f"{loss:.6f} = {1 - 1 / np.pi:.6f}"     # ½ + ½ − 2·1/2π
    '0.681690 = 0.681690'
    """

    def derivative(self, z: Array, order: int) -> Array:
        """σ, its derivative 1{z > 0}, and zero from the second on (almost everywhere)."""
        z = np.asarray(z, dtype=np.float64)
        if order == 0:
            return np.maximum(z, 0.0)
        return (z > 0).astype(np.float64) if order == 1 else np.zeros_like(z)

    def hermite_coefficients(self, shift: Array, scale: Array, count: int) -> tuple[Array, Array]:
        """Its second derivative is a point mass, so with u = −α/s

        c_0 = α Φ(−u) + s φ(u),   c_1 = s Φ(−u),   c_j = s φ(u) He_{j−2}(u) / √(j!).
        """
        from scipy.special import ndtr

        safe = np.where(scale > 0, scale, 1.0)
        u = -shift / safe
        density, tail = np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi), ndtr(-u)
        coefficients = np.empty((*u.shape, count))
        coefficients[..., 0] = shift * tail + scale * density
        coefficients[..., 1] = scale * tail
        scaled = [density, u * density]  # φ(u) He_m(u) / √(m!)
        for m in range(1, count - 3):
            scaled.append((u * scaled[m] - np.sqrt(m) * scaled[m - 1]) / np.sqrt(m + 1))
        j = np.arange(2, count)
        coefficients[..., 2:] = scale[..., None] * np.stack(scaled, axis=-1) / np.sqrt(j * (j - 1.0))
        return coefficients, (shift**2 + scale**2) * tail + shift * scale * density

    def construction(self) -> Construction:
        """ReLU()."""
        return self.constructed()

    def __repr__(self) -> str:
        return "ReLU()"


@dataclass(frozen=True)
class Smooth(Activation):
    """Any smooth σ, given as a vectorised function, or by name: tanh, erf, sigmoid, softplus, gelu, gelu_tanh, silu.

    Under Gaussian data only `function` is needed: kernels and all their derivatives come from its Hermite
    expansion. On `Samples` the gradient needs `derivative` and the Hessian `second_derivative`; they are
    asked for when they are missing, never approximated in silence. Those by name have both, and those that are
    functions of PyTorch tensors or of JAX arrays get them by automatic differentiation, all in double precision.

    >>> sh.Smooth("softplus").derivative(np.zeros(1), 1)
    array([0.5])
    >>> sine = sh.Smooth(np.sin)
    >>> problem = sh.Problem(sh.Network([[1.0, 0.0]], activation=sine), sh.Gaussian(2), width=1)
    >>> loss = problem.loss(sh.Network([[0.0, 1.0]], activation=sine))
    >>> f"{loss:.9f} = {1 - np.exp(-2):.9f}"    # E(sin x₁ − sin x₂)² = 2 E sin² x
    '0.864664717 = 0.864664717'
    """

    function: Function
    first: Function | None = field(default=None)
    second: Function | None = field(default=None)

    def __init__(
        self,
        function: Function | str,
        derivative: Function | None = None,
        second_derivative: Function | None = None,
    ) -> None:
        if isinstance(function, str):
            function, derivative, second_derivative = _named(function, derivative, second_derivative)
        function, derivative, second_derivative = of_arrays(function, derivative, second_derivative)
        given = {"function": function, "derivative": derivative, "second_derivative": second_derivative}
        for name, value in given.items():
            if value is not None or name == "function":
                _try_function(name, value)
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "first", derivative)
        object.__setattr__(self, "second", second_derivative)

    def derivative(self, z: Array, order: int) -> Array:
        """σ, σ′ or σ″ at z, when the user gave it."""
        given = (self.function, self.first, self.second)[order] if order <= 2 else None
        if given is None:
            names = ("function", "derivative", "second_derivative")
            raise InvalidProblem(
                f"This needs derivative {order} of {self!r}, which was not given. "
                f"Fix: Smooth(function, {names[min(order, 2)]}=...)."
            )
        return np.asarray(given(np.asarray(z, dtype=np.float64)), dtype=np.float64)

    def construction(self) -> Construction:
        """Smooth("tanh") for those by name, Smooth(function, derivative, second_derivative) for others."""
        own = (self.function, self.first, self.second)
        for name, known in NAMED.items():
            if own == known:
                return self.constructed(function=name)
        return self.constructed(function=self.function, derivative=self.first, second_derivative=self.second)

    def __repr__(self) -> str:
        return f"Smooth({getattr(self.function, '__name__', 'function')})"


def _named(
    name: str, derivative: Function | None, second_derivative: Function | None
) -> tuple[Function, Function, Function]:
    """σ, σ′ and σ″ of this name."""
    if name.lower() not in NAMED:
        meant = " Fix: ReLU()" if name.lower() == "relu" else ""
        raise InvalidProblem(
            f"Smooth was given the name {name!r}; expected one of {', '.join(NAMED)}, or a vectorised function of z."
            f"{meant}"
        )
    if derivative is not None or second_derivative is not None:
        raise InvalidProblem(
            f"Smooth({name!r}) knows its derivatives. Fix: Smooth({name!r}), or a function and its derivatives."
        )
    return NAMED[name.lower()]


def _try_function(name: str, function: Any) -> None:
    """Refuse what does not map an array of numbers to as many finite numbers."""
    if not callable(function):
        raise InvalidProblem(
            f"Smooth: {name} is {describe(function)}; expected a vectorised function of z. Fix: Smooth(np.tanh), say."
        )
    called = getattr(function, "__name__", "f")
    probe = np.linspace(-1.0, 1.0, 7)
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(function(probe))
    except Exception as error:
        raise InvalidProblem(
            f"Smooth: {name} {called} fails on a NumPy array of 7 numbers: {error}. Expected a function of NumPy "
            f"arrays, such as np.tanh. Fix: np.vectorize({called}) for one of numbers; for one of PyTorch tensors "
            f"lambda z: {called}(torch.from_numpy(z)).numpy()"
        ) from error
    if values.shape != probe.shape or not np.all(np.isfinite(values)):
        raise InvalidProblem(
            f"Smooth: {name} {called} maps 7 points of [-1, 1] to {values!r}; expected 7 finite numbers. "
            "Fix: a function that is defined on the whole line, written with NumPy operations."
        )
