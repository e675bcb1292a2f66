"""Problems of deep quadratic networks: labelled samples, hidden sizes and the penalty of paper 002, equation F.1."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.deep.costs import in_forms
from shallows.questions.learn.deep.layers import Shape
from shallows.questions.learn.deep.losses import (
    LARGEST_FORM,
    Evaluate,
    Quadratic,
    in_function_space,
    on_samples,
)
from shallows.questions.learn.deep.network import DeepNetwork
from shallows.questions.learn.deep.second_order import SecondOrder, in_floats
from shallows.questions.learn.fitting.frame import Frame, homogenise
from shallows.questions.learn.fitting.least_squares import dense, fewer_samples
from shallows.questions.learn.fitting.solve import mean_square
from shallows.questions.learn.fitting.statistics import Statistics
from shallows.support.checks import Array, counted, describe, finite_array, finite_number
from shallows.support.errors import InvalidProblem

#: The mean of ‖z‖² in training: a unit vector and the homogenising coordinate, as in paper 002, section 4.3.
MEAN_SQUARE = 2.0


class DeepProblem:
    """Train a deep quadratic network with hidden sizes h_1, …, h_{L−1} on labelled samples (paper 002, appendix F).

    The loss is the mean of (f(x) − y)², plus γ Σ_{l<L} ‖A^(l)A^(l)ᵀ − I‖² of equation F.1 (`penalty`). Parameters θ
    are the A_i of all layers in orthonormal coordinates, in units in which the mean of ‖z‖² is 2; networks
    (`pack`, `unpack`) are in the data's own. `affine` appends the homogenising coordinate, z = (x, 1).

    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> problem = sh.learn.DeepProblem(X, X[:, 0] ** 4 - X[:, 1] ** 4, hidden=(1,), penalty=1.0)
    >>> problem, problem.size
    (DeepProblem(300 samples, sizes 2-1-1, penalty=1), 4)
    >>> theta = np.array([1.0, 0.0, 0.5, 0.1])
    >>> step = 1e-6 * np.eye(4)
    >>> slopes = (problem.value(theta + step) - problem.value(theta - step)) / 2e-6
    >>> np.allclose(slopes, problem.gradient(problem.unpack(theta)), rtol=1e-6)
    True
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        hidden: Sequence[int] = (20,),
        *,
        affine: bool = False,
        penalty: float = 0.0,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        samples, self.labels = checked_samples(X, y)
        self.affine = affine
        self.penalty = finite_number("penalty", penalty, minimum=0.0)
        self.weights = _checked_weights(sample_weight, len(samples))
        self.Z = homogenise(samples, affine)
        self.unit = _unit(self.Z, self.weights)
        self.shape = Shape.of(self.Z.shape[1], hidden, self.labels.shape[1])

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.shape.size

    @cached_property
    def quadratic(self) -> Quadratic | None:
        """The convex counterpart of degree 2^L, in these units; None where it has too many features."""
        return convex_counterpart(self.Z / self.unit, self.labels, self.weights, self.shape.degree)

    @cached_property
    def evaluate(self) -> Evaluate:
        """θ (batch, p) ↦ losses and gradients, by the cheaper of two exact routes."""
        if self.quadratic is not None and in_forms(self.shape, len(self.Z)):
            return in_function_space(self.shape, self.quadratic, self.penalty)
        return on_samples(self.shape, self.Z / self.unit, self.labels, self.weights, self.penalty)

    @cached_property
    def second_order(self) -> SecondOrder:
        """θ ↦ gradient and Hessian."""
        return in_floats(self.shape, self.Z / self.unit, self.labels, self.weights, self.penalty)

    @property
    def energy(self) -> float:
        """The mean of ‖y‖²."""
        return mean_square(self.labels, self.weights)

    @property
    def floor(self) -> float:
        """What no network of this depth is below: least squares on features of degree 2^L, 0 if that is not known.

        A layer of more forms than F has rank F at most, so its penalty is at least γ(h − F).
        """
        spare = sum(max(rows - columns, 0) for rows, columns in self.shape.parts[:-1])
        return (0.0 if self.quadratic is None else self.quadratic.floor) + self.penalty * spare

    def pack(self, net: DeepNetwork) -> Array:
        """θ of a network."""
        if not isinstance(net, DeepNetwork):
            raise InvalidProblem(f"network is {describe(net)}; expected a DeepNetwork.")
        if net.shape != self.shape or net.affine != self.affine:
            raise InvalidProblem(
                f"network is {net!r}; this problem has sizes {self._sizes} and affine={self.affine}."
            )
        return self._scaled(np.asarray(net.theta, dtype=float), self.unit**2)

    def unpack(self, theta: ArrayLike) -> DeepNetwork:
        """The network of θ, in the data's own units."""
        given = finite_array("theta", theta, 1)
        if len(given) != self.size:
            raise InvalidProblem(f"theta has {len(given)} entries; this problem has {self.size} parameters.")
        return DeepNetwork(self.shape, self.in_data_units(given), self.affine)

    def in_data_units(self, thetas: Array) -> Array:
        """Parameters of networks for z from those for z/c, c the unit: zᵀAz = (z/c)ᵀ(c²A)(z/c)."""
        return self._scaled(thetas, self.unit**-2)

    def _scaled(self, thetas: Array, factor: float) -> Array:
        """The first layer times a factor, of one θ or a batch."""
        rows, columns = self.shape.parts[0]
        first = thetas[..., : rows * columns] * factor
        return np.concatenate([first, thetas[..., rows * columns :]], axis=-1)

    def value(self, theta: Array) -> Any:
        """The loss with its penalty, at one θ or a batch."""
        return self.value_and_gradient(theta)[0]

    def value_and_gradient(self, theta: Array) -> tuple[Any, Array]:
        """Loss and gradient, at one θ or a batch."""
        values, gradients = self.evaluate(np.atleast_2d(theta))
        return (float(values[0]), gradients[0]) if np.ndim(theta) == 1 else (values, gradients)

    def loss(self, net: DeepNetwork) -> float:
        """The mean of (f(x) − y)², plus the penalty."""
        return float(self.value(self.pack(net)))

    def gradient(self, net: DeepNetwork) -> Array:
        """∇L in θ."""
        return self.value_and_gradient(self.pack(net))[1]

    def hessian(self, net: DeepNetwork) -> Array:
        """∇²L in θ, exact to rounding."""
        return self.hessian_at(self.pack(net))

    def hessian_at(self, theta: Array) -> Array:
        """∇²L at θ."""
        hessian = self.second_order(theta)[1]
        return np.asarray(hessian + hessian.T) / 2

    @property
    def _sizes(self) -> str:
        return "-".join(map(str, self.shape.sizes))

    def __repr__(self) -> str:
        penalty = f", penalty={self.penalty:g}" if self.penalty else ""
        affine = ", affine" if self.affine else ""
        return f"DeepProblem({counted(len(self.Z), 'sample')}, sizes {self._sizes}{affine}{penalty})"


def checked_samples(X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Samples, (N, n), and labels, (N, outputs)."""
    samples, labels = finite_array("X", X, 2), finite_array("y", y, (1, 2))
    labels = labels[:, None] if labels.ndim == 1 else labels
    if len(samples) != len(labels) or not len(samples):
        raise InvalidProblem(
            f"X has {len(samples)} rows and y {len(labels)}; expected the same, at least one."
        )
    return samples, labels


def convex_counterpart(Z: Array, Y: Array, weights: Array, degree: int) -> Quadratic | None:
    """The convex counterpart of degree 2^L, or None when it has too many features."""
    size = coordinates.dimension(Z.shape[1], degree)
    if size > LARGEST_FORM:
        return None
    frame = Frame.identity(Z.shape[1], False)
    if len(Z) < size:
        solution = fewer_samples(Z, Y, weights, False, degree)
    else:
        solution = dense(Z, Y, weights, frame, degree, 0.0)
    statistics = Statistics.empty(frame, degree, Y.shape[1]).add(Z, Y, weights)
    floor = mean_square(Y - solution.predict(Z), weights)
    return Quadratic(statistics.gram / statistics.weight, solution.entries, floor)


def _unit(Z: Array, weights: Array) -> float:
    """c with the mean of ‖z/c‖² the one of training."""
    return float(np.sqrt(weights @ np.sum(Z**2, axis=1) / weights.sum() / MEAN_SQUARE)) or 1.0


def _checked_weights(given: ArrayLike | None, count: int) -> Array:
    weights = np.ones(count) if given is None else finite_array("sample_weight", given, 1)
    if weights.shape != (count,) or np.any(weights < 0) or not np.any(weights > 0):
        raise InvalidProblem("sample_weight must hold one non-negative number a sample, not all zero.")
    return weights
