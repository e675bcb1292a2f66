"""Rays from the origin: the best scale of a network, and what it says about minima and maxima (paper 003, section 4).

Along t ↦ tW the loss is a parabola, L = t² aᵀk(W,W)a − 2t aᵀk(W,V)b + E y² (equation 66), for any teacher. So

- a local minimum has t* = aᵀk(W,V)b / aᵀk(W,W)a = 1;
- no point but the origin can be a local maximum (Lemma 11; the origin is one for k ≥ 2: see `origin`);
- with an orthonormal teacher and outer weights one, Σ‖wᵢ‖ ≤ kn at every local minimum (Proposition 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.model.kernels.relu import ReLUKernel
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.relu.setting import orthonormal_teacher, student_of, teacher_of
from shallows.support.arguments import typed
from shallows.support.errors import InvalidProblem


@dataclass(frozen=True, eq=False)
class Ray:
    """The parabola L(t) = curvature/2 · t² − slope · t + energy along t ↦ tW (E(f−y)²).

    >>> from shallows.relu import ray
    >>> line = ray(sh.relu_problem(2), sh.Network(4 * np.eye(2), activation=sh.ReLU()))
    >>> line.best_scale, line.best_network().W.tolist()
    (0.25, [[1.0, 0.0], [0.0, 1.0]])
    >>> [f"{line.loss(t):.6f}" for t in (0.0, 0.25, 0.5)]   # E y² = 1 + 1/π at both ends
    ['1.318310', '0.000000', '1.318310']
    """

    network: Network
    curvature: float
    slope: float
    energy: float

    @property
    def best_scale(self) -> float:
        """t*, not less than zero: the ray stops at the origin."""
        return max(self.slope / self.curvature, 0.0)

    @property
    def best_loss(self) -> float:
        """L(t*)."""
        return max(self.loss(self.best_scale), 0.0)

    def loss(self, t: float) -> float:
        """L(t)."""
        return self.curvature / 2 * t * t - self.slope * t + self.energy

    def best_network(self) -> Network:
        """t*W."""
        return Network(self.best_scale * self.network.W, self.network.a, self.network.activation)

    def __repr__(self) -> str:
        return f"Ray(t*={self.best_scale:.10g}, loss {self.loss(1.0):.8g} → {self.best_loss:.8g})"


@typed
def ray(problem: Problem, net: Network) -> Ray:
    """The loss along the ray t ↦ tW through `net`, a parabola (paper 003, equation 66); any ReLU teacher under N(0, I).

    The curvature 2E f² is positive for every network that is not the zero function: no local maximum there (Lemma 11).

    >>> from shallows.relu import ray
    >>> ray(sh.relu_problem(3), sh.Network(2 * np.eye(3), activation=sh.ReLU()))
    Ray(t*=0.5, loss 2.4549297 → 0)
    >>> f"{ray(sh.relu_problem(6), sh.symmetric_minimum(6, [1, 5]).network()).best_scale:.8f}"   # 1 at a minimum
    '1.00000000'
    """
    V, b = teacher_of(problem)
    W = student_of(problem, net, differentiable=False)
    a, kernel = np.atleast_2d(net.a)[0], ReLUKernel()
    curvature = 2 * float(a @ kernel.value(W, W) @ a)
    if curvature <= 0:
        raise InvalidProblem(
            "The network is the zero function: it has no direction to scale (Lemma 10 is about it)."
        )
    slope = 2 * float(a @ kernel.value(W, V) @ b)
    return Ray(net, curvature, slope, float(b @ kernel.value(V, V) @ b))


def slope_at_origin(problem: Problem, net: Network) -> float:
    """dL/dt at t = 0 along tW: negative for a teacher with positive outer weights and a student of any direction.

    So the origin is no local minimum (Lemma 10). For two orthonormal teacher neurons and more the slope is bounded away
    from zero, and the origin is a strict local maximum, where the lemma has none (`questions.relu.origin`).
    """
    return -ray(problem, net).slope


@typed
def norm_sum(net: Network) -> float:
    """Σ |aᵢ| ‖wᵢ‖, which Theorem 8 of paper 003 assumes to be at most k.

    >>> from shallows.relu import norm_sum
    >>> norm_sum(sh.Network([[3.0, 4.0], [0.0, 1.0]], a=[2.0, -1.0], activation=sh.ReLU()))
    11.0
    >>> f"{norm_sum(sh.symmetric_minimum(7, [1, 6]).network()):.8f}"
    '6.98172882'
    """
    return float(np.abs(np.atleast_2d(net.a)[0]) @ np.linalg.norm(net.W, axis=1))


@typed
def norm_sum_bound(problem: Problem) -> int:
    """The bound kn on Σ‖wᵢ‖ at every local minimum (paper 003, Proposition 1).

    >>> from shallows.relu import norm_sum_bound
    >>> norm_sum_bound(sh.relu_problem(5)), norm_sum_bound(sh.relu_problem(5, width=8))
    (25, 40)
    """
    return len(orthonormal_teacher(problem, "Proposition 1")) * problem.width
