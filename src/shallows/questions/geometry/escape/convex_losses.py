"""Losses L = ℓ∘τ with ℓ convex on Sym^d(R^n): a Problem's quadratic ℓ, or any object with value and gradient."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.optimize import brentq, minimize

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.support.checks import Array, describe
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import EPSILON

#: A line search begins at FIRST_REACH of the tensor's size (over the direction's) and doubles until the loss rises, to
#: LAST_REACH at most: beyond, a loss that still falls has no minimum along the line.
FIRST_REACH, LAST_REACH, DOUBLINGS = 1e-3, 1e6, 80
#: Of a step in a, in units of the direction given: a parabola with no curvature to speak of has its minimum far away.
LONGEST_STEP = 2.0
#: The zero of a slope is sought to this share of the interval, and stepped back from by as much until the slope there
#: is not positive; brentq's smallest relative tolerance is 4ε.
ROOT_TOLERANCE, SHARPEST = 1e-14, 4 * EPSILON
#: Of L-BFGS for a user's loss: until the gradient is rounding, however little the value still falls.
MINIMISER = {"maxiter": 5000, "maxfun": 50_000, "maxcor": 40, "gtol": 1e-13, "ftol": 0.0, "maxls": 60}


@runtime_checkable
class ConvexLoss(Protocol):
    """A convex function ℓ on Sym^d(R^n): its value, and its gradient Γ with ℓ(S + H) ≈ ℓ(S) + ⟨Γ, H⟩_F."""

    def value(self, tensor: SymmetricTensor) -> float:
        """ℓ(S)."""

    def gradient(self, tensor: SymmetricTensor) -> SymmetricTensor:
        """The Frobenius gradient of ℓ at S."""


class Landscape(ABC):
    """ℓ and L = ℓ∘τ together."""

    exact: bool

    @abstractmethod
    def loss(self, net: Network) -> float:
        """L at a network."""

    @abstractmethod
    def value(self, tensor: SymmetricTensor) -> float:
        """ℓ(S)."""

    @abstractmethod
    def gradient(self, tensor: SymmetricTensor) -> SymmetricTensor:
        """The Frobenius gradient of ℓ at S."""

    @abstractmethod
    def minimiser(self, start: SymmetricTensor) -> SymmetricTensor:
        """A minimiser of ℓ; when `exact` is False, the best tensor that was found from `start`."""

    def tensor_loss(self, net: Network) -> float:
        """ℓ(τ(net)): its rounding grows with the terms aᵢwᵢ^⊗d, that of a sum of kernels with their squares."""
        return self.value(net.tensor())

    def slope(self, tensor: SymmetricTensor, direction: SymmetricTensor) -> float:
        """dℓ(S)(H) = ⟨Γ, H⟩_F."""
        return float(self.gradient(tensor).coefficients @ direction.entries)

    def parameter_gradient(self, net: Network) -> tuple[Array, Array]:
        """∂L/∂aᵢ = Γ(wᵢ) and ∂L/∂wᵢ = aᵢ ∇Γ(wᵢ) (the chain rule, paper 000, equation 7)."""
        form = self.gradient(net.tensor())
        degree = form.degree
        slopes = coordinates.monomials(net.W, degree - 1) @ coordinates.gradient_matrix(
            form.coefficients, form.n, degree
        )
        return form(net.W), net.a[:, None] * slopes

    def descend_to(self, start: SymmetricTensor, goal: SymmetricTensor) -> SymmetricTensor:
        """The last point of the segment up to which ℓ does not increase: the goal itself if it is a minimiser."""
        if self.exact:
            return goal
        step = goal - start

        def slope(t: float) -> float:
            return self.slope(start + t * step, step)

        return goal if slope(1.0) <= 0.0 else start + _last_descent(slope, 1.0) * step

    def best_outer_step(self, net: Network, way: Array, value: float, slope: float) -> float:
        """s > 0 up to which L falls along (a + s·way, W), for L = value and dL/ds = slope < 0 at s = 0."""
        tensor = net.tensor()
        return self.best_step(tensor, SymmetricTensor.from_powers(net.W, way, tensor.degree))

    def best_step(self, tensor: SymmetricTensor, direction: SymmetricTensor) -> float:
        """s of the sign that lowers ℓ(S + s·H), up to its minimum (or far down, when there is none)."""
        initial = self.slope(tensor, direction)
        sign = -1.0 if initial > 0 else 1.0

        def slope(t: float) -> float:
            return sign * self.slope(tensor + (sign * t) * direction, direction)

        size = max(float(np.linalg.norm(tensor.entries) / np.linalg.norm(direction.entries)), 1.0)
        reach = FIRST_REACH * size
        for _ in range(DOUBLINGS):
            if slope(reach) > 0:
                return sign * _last_descent(slope, reach)
            if reach > LAST_REACH * size:
                break
            reach *= 2
        return sign * reach


def _last_descent(slope: Callable[[float], float], upper: float) -> float:
    """The zero of an increasing slope on [0, upper], from below; 0 when the slope at 0 is not negative."""
    if slope(0.0) >= 0.0:
        return 0.0
    root = float(brentq(slope, 0.0, upper, xtol=ROOT_TOLERANCE * upper, rtol=SHARPEST))
    back = ROOT_TOLERANCE
    while slope(root) > 0.0 and back < 1.0:
        root *= 1.0 - back
        back *= 2
    return root


class ProblemLandscape(Landscape):
    """ℓ(S) = (s − s*)ᵀ G (s − s*) + L* of a Problem with a Power activation and one output."""

    exact = True

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.target = problem.target_tensor()

    @cached_property
    def _gram(self) -> Array:
        return self.problem.gram()

    def loss(self, net: Network) -> float:
        """problem.loss(net)."""
        return self.problem.loss(net)

    def value(self, tensor: SymmetricTensor) -> float:
        """(s − s*)ᵀ G (s − s*) + L*."""
        difference = tensor.entries - self.target.entries
        return float(difference @ self._gram @ difference) + self.problem.floor

    def gradient(self, tensor: SymmetricTensor) -> SymmetricTensor:
        """2 G (s − s*) / mult: derivatives by entries, divided by multiplicities, are the Frobenius gradient."""
        difference = tensor.entries - self.target.entries
        scale = coordinates.multiplicities(tensor.n, tensor.degree)
        return SymmetricTensor(2 * (self._gram @ difference) / scale, tensor.n, tensor.degree)

    def minimiser(self, start: SymmetricTensor) -> SymmetricTensor:
        """s*, the teacher's tensor or the least-squares one."""
        return self.target

    def best_outer_step(self, net: Network, way: Array, value: float, slope: float) -> float:
        """The minimum of the parabola through L, its slope, and L at s = 1 (no Gram matrix is built for it)."""
        curvature = self.loss(Network(net.W, net.a + way, net.activation)) - value - slope
        return -slope / (2 * curvature) if curvature > -slope / (2 * LONGEST_STEP) else LONGEST_STEP

    def parameter_gradient(self, net: Network) -> tuple[Array, Array]:
        """The problem's own gradient, split."""
        theta = self.problem.gradient(net)
        cut = net.width * net.n
        return theta[cut:], theta[:cut].reshape(net.width, net.n)


class GaussianLandscape(ProblemLandscape):
    """ℓ(S) = 2‖S − T‖² + tr(S − T)²: quadratic networks under N(0, I) (Prop. 32), by matrices, without a kernel."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.matrix = self.target.to_matrix()

    @staticmethod
    def applies(problem: Problem) -> bool:
        """Whether the loss has this form."""
        metric = problem.data.rotation_invariance(2) if problem.activation == Power(2) else None
        return metric is not None and metric.covariance is None and metric.coefficients.tolist() == [2.0, 1.0]

    def loss(self, net: Network) -> float:
        """2‖D‖² + (tr D)², D = S − T."""
        D = self._difference(net)
        return float(2 * np.vdot(D, D) + np.trace(D) ** 2) + self.problem.floor

    def parameter_gradient(self, net: Network) -> tuple[Array, Array]:
        """Equation 26 (corrected): Diag(WΓWᵀ) and 2 diag(a) WΓ, Γ = ∇ℓ(S) = 4D + 2 tr(D) I."""
        D = self._difference(net)
        turned = net.W @ (4 * D) + 2 * np.trace(D) * net.W
        return np.sum(turned * net.W, axis=1), 2 * net.a[:, None] * turned

    def best_outer_step(self, net: Network, way: Array, value: float, slope: float) -> float:
        """The minimum of the parabola: its curvature is 2‖H‖² + (tr H)², H = Wᵀ diag(way) W."""
        H = (net.W.T * way) @ net.W
        curvature = float(2 * np.vdot(H, H) + np.trace(H) ** 2)
        return -slope / (2 * curvature) if curvature > -slope / (2 * LONGEST_STEP) else LONGEST_STEP

    def _difference(self, net: Network) -> Array:
        return np.asarray((net.W.T * net.a) @ net.W - self.matrix)


class LossLandscape(Landscape):
    """Any convex ℓ the user gives."""

    exact = False

    def __init__(self, given: ConvexLoss, like: SymmetricTensor) -> None:
        self.given = given
        slope = given.gradient(like)
        if not isinstance(slope, SymmetricTensor) or (slope.n, slope.degree) != (like.n, like.degree):
            raise InvalidProblem(
                f"gradient(tensor) returned {describe(slope)}; expected the Frobenius gradient, a SymmetricTensor of "
                f"degree {like.degree} in {like.n} variables."
            )
        if not np.isfinite(float(given.value(like))):
            raise InvalidProblem("value(tensor) is not finite at the network's tensor; expected a number.")

    def loss(self, net: Network) -> float:
        """ℓ(τ(net))."""
        return float(self.given.value(net.tensor()))

    def value(self, tensor: SymmetricTensor) -> float:
        """ℓ(S)."""
        return float(self.given.value(tensor))

    def gradient(self, tensor: SymmetricTensor) -> SymmetricTensor:
        """The user's gradient."""
        return self.given.gradient(tensor)

    def minimiser(self, start: SymmetricTensor) -> SymmetricTensor:
        """By L-BFGS in coordinates √mult · entry, in which the Frobenius product is the Euclidean one."""
        n, degree = start.n, start.degree
        root = np.sqrt(coordinates.multiplicities(n, degree))

        def objective(y: Array) -> tuple[float, Array]:
            tensor = SymmetricTensor(y / root, n, degree)
            return self.value(tensor), root * self.gradient(tensor).entries

        found = minimize(objective, root * start.entries, jac=True, method="L-BFGS-B", options=MINIMISER)
        return SymmetricTensor(found.x / root, n, degree)
