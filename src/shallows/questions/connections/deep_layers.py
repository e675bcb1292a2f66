"""Problems of deep quadratic networks, as the search for saddles asks for them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from shallows.mathematics.same_points import nearest
from shallows.mathematics.tensors import coordinates
from shallows.model.problem import Problem
from shallows.questions.connections.deep_proof import deep_proof
from shallows.questions.connections.searched import Proof
from shallows.questions.descent.results.coordinate_symmetries import CoordinateGroup, coordinate_group
from shallows.questions.descent.results.symmetry import LARGEST_TENSOR, LOSS_TOLERANCE, POINT_TOLERANCE
from shallows.questions.learn.deep.layers import forward
from shallows.questions.learn.deep.network import DeepNetwork
from shallows.questions.learn.deep.problem import DeepProblem
from shallows.questions.learn.deep.scalings import aligned
from shallows.questions.learn.fitting.frame import features
from shallows.support.checks import Array
from shallows.support.seeds import generator

#: The flow ends at this gradient norm, in units of the loss at θ = 0: Newton's method, which follows, is at home there.
ROUGHLY = 1e-7
#: How far the flow goes at most, and its errors a step: it need not be followed closely, only stay in its valley.
LONG, ACCURACY = 1e8, 1e-5
#: Points at which forms are compared, in units of their coefficients: twice as many, so that none is ill-conditioned.
POINTS = 2


class DeepLayers:
    """A `DeepProblem`; see `Searched`. Networks are compared as forms of degree 2^L."""

    problem: Problem | None = None
    fix = "train it longer, sh.learn.train_deep(..., iterations=20000)"
    unproved = (
        "the loss is flat in more directions than the scalings between layers, or the network is too large"
    )

    def __init__(self, problem: DeepProblem) -> None:
        self._deep = problem
        self.title, self.width, self.size = f"{problem!r}", problem.shape.sizes[1], problem.size
        self.energy, self.floor = float(problem.value(np.zeros(problem.size))), problem.floor

    def value(self, thetas: Array) -> Any:
        """The loss at one θ or a batch."""
        return self._deep.value(thetas)

    def value_and_gradient(self, thetas: Array) -> tuple[Any, Array]:
        """Loss and gradient at one θ or a batch."""
        return self._deep.value_and_gradient(thetas)

    def hessian(self, theta: Array) -> Array:
        """∇²L at θ."""
        return self._deep.hessian_at(theta)

    def pack(self, network: Any) -> Array:
        """θ of a network."""
        return self._deep.pack(network)

    def unpack(self, theta: Array) -> DeepNetwork:
        """The network of θ."""
        return self._deep.unpack(theta)

    def tensor(self, theta: Array) -> None:
        """Several layers are listed as networks."""
        return

    def aligned(self, first: Array, second: Array) -> list[Array]:
        """The second turned by orthogonal maps between its layers, one a choice of orientations."""
        return aligned(self._deep.shape, first, second)

    def same(self, thetas: Array, losses: Array) -> bool:
        """Equal losses and, up to signed permutations of the inputs that leave the loss alone, equal functions."""
        if abs(losses[0] - losses[1]) > LOSS_TOLERANCE * self.energy:
            return False
        first, second = (self._form(theta) for theta in thetas)
        images = second[None] if self._group is None else self._group.orbit(second)
        _, gap = nearest(first.reshape(1, -1), images.reshape(len(images), -1))
        return bool(gap[0] <= POINT_TOLERANCE * (1.0 + float(np.abs(first).max())))

    @cached_property
    def _points(self) -> Array:
        """Inputs at which a form is known by its values; the samples themselves for forms of many coefficients."""
        shape = self._deep.shape
        count = coordinates.dimension(shape.sizes[0], shape.degree)
        if count > LARGEST_TENSOR:
            return np.asarray(self._deep.Z / self._deep.unit)
        points = generator(0).standard_normal((POINTS * count, shape.sizes[0]))
        return np.asarray(points / np.sqrt(shape.sizes[0]))

    @cached_property
    def _group(self) -> CoordinateGroup | None:
        """Signed permutations of the inputs that leave the convex counterpart alone."""
        shape, quadratic = self._deep.shape, self._deep.quadratic
        if quadratic is None or len(quadratic.gram) > LARGEST_TENSOR:
            return None
        root = np.sqrt(coordinates.multiplicities(shape.sizes[0], shape.degree))
        scaled = quadratic.gram * np.outer(root, root)
        return coordinate_group(quadratic.optimum / root, scaled, shape.sizes[0], shape.degree)

    def _form(self, theta: Array) -> Array:
        """The network's function: the entries of its form, or values where these are too many."""
        shape = self._deep.shape
        values = forward(shape, theta, self._points)
        if self._group is None:
            return values.T
        block = features(self._points, shape.degree)
        root = np.sqrt(coordinates.multiplicities(shape.sizes[0], shape.degree))
        return np.asarray(np.linalg.lstsq(block, values, rcond=None)[0].T / root)

    def fall(self, theta: Array) -> Array:
        """Where the gradient flow from θ ends, or is after a long time: θ̇ = −∇L by Radau's implicit method."""
        from scipy.integrate import solve_ivp

        def slow(_: float, x: Array) -> float:
            return float(np.linalg.norm(self.value_and_gradient(x)[1])) - ROUGHLY * self.energy

        slow.terminal = True  # type: ignore[attr-defined]
        path = solve_ivp(
            lambda _, x: -self.value_and_gradient(x)[1], (0.0, LONG), theta, method="Radau",
            jac=lambda _, x: -self.hessian(x), events=slow, rtol=ACCURACY, atol=ACCURACY,
        )  # fmt: skip
        return np.asarray(path.y[:, -1])

    def proved(self, theta: Array, index: int) -> Proof | None:
        """Krawczyk on a slice across the scalings between layers."""
        return deep_proof(self._deep, theta, index)
