"""Losses and gradients of many networks at once: the fastest exact route a problem allows.

| problem | route |
| --- | --- |
| ReLU against ReLU, N(0, Σ) | the fused loop of `kernels._relu_loop` |
| Power(2), N(0, Σ), rotation-invariant data, Frobenius | c₀‖S − T‖² + c₁ tr(S − T)², fused |
| Power(d) against a network, the same data | a fused loop over Gram entries |
| Power(d) of small degree and dimension, any other data | sufficient statistics: (s − s*)ᵀG(s − s*) + L* |
| everything else | `Problem.value_and_gradient` |

All of them are the same function to rounding (tested), and none depends on how a batch is cut.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb, factorial, prod

import numpy as np

from shallows import coordinates
from shallows._checks import Array
from shallows.activations import Power
from shallows.data import Frobenius, Gaussian, InnerProduct, Radial, Samples
from shallows.descent.compiled import Compiled
from shallows.kernels.relu import require_nonzero
from shallows.kernels.relu_fused import arccos_polynomial
from shallows.network import Network
from shallows.objective import FunctionSpaceObjective
from shallows.objective.build import teacher_parts
from shallows.objective.relu import ReLUObjective
from shallows.problem import Problem
from shallows.tensors import SymmetricTensor

Evaluate = Callable[[Array], tuple[Array, Array]]
LARGEST_STATISTIC = 150


def evaluator(problem: Problem) -> Evaluate:
    """θ of shape (batch, p) ↦ losses (batch,) and gradients (batch, p)."""
    if problem.outputs == 1 and not problem.norm_neuron and not problem.orthogonality:
        if isinstance(problem.objective, ReLUObjective):
            return _relu(problem, problem.objective)
        coefficients = _dot_product_coefficients(problem)
        if coefficients is not None:
            return _dot_product(problem, coefficients)
    if _statistics_pay(problem):
        return _on_statistics(problem)
    return problem.value_and_gradient


def _students(problem: Problem, thetas: Array) -> tuple[Array, Array]:
    """Contiguous W (batch, k, n) and a (batch, k)."""
    W, A, _ = problem.layout.split(thetas)
    if A is None:
        assert problem.outer is not None
        outer = np.broadcast_to(problem.outer[0], (len(thetas), problem.width))
    else:
        outer = A[:, 0, :]
    return np.array(W, order="C"), np.array(outer, order="C")


def _relu(problem: Problem, objective: ReLUObjective) -> Evaluate:
    polynomial = np.array(
        arccos_polynomial()
    )  # writable copies: one compiled version of the loops serves all problems
    root, teacher, outer = objective.root, np.array(objective.teacher), np.array(objective.teacher_outer[0])

    def evaluate(thetas: Array) -> tuple[Array, Array]:
        from shallows.descent._loops import relu_loop

        W, a = _students(problem, thetas)
        if root is not None:
            W = np.ascontiguousarray(W @ root)
        losses, dW, da = np.empty(len(W)), np.empty_like(W), np.empty_like(a)
        if relu_loop(W, a, teacher, outer, polynomial, losses, dW, da) == 0:
            require_nonzero(np.sqrt(np.sum(W**2, axis=-1)))
        if root is not None:
            dW = dW @ root
        return np.maximum(losses + objective.energy, 0.0), problem.layout.join(dW, da, None)

    if root is None:
        evaluate.compiled = _compiled(problem, 0, teacher, outer, polynomial, objective.energy)  # type: ignore[attr-defined]
    return evaluate


def _dot_product_coefficients(problem: Problem) -> Array | None:
    """c_h of k(w, v) = Σ_h c_h (‖w‖‖v‖)^(2h) (w·v)^(d−2h) after whitening, or None when the kernel is of another kind.

    Isserlis: c_h = C(d, 2h)² (d−2h)! ((2h−1)!!)² for N(0, I); rotation-invariant data scales it; Frobenius has c_0 = 1.
    """
    if not isinstance(problem.activation, Power) or not _is_sum_of_powers(problem):
        return None
    d = problem.degree
    if isinstance(problem.data, Frobenius):
        return np.ones(1)
    scale = _gaussian_scale(problem.data, d)
    if scale is None:
        return None
    odd = [prod(range(1, 2 * h, 2)) for h in range(d // 2 + 1)]
    return scale * np.array(
        [comb(d, 2 * h) ** 2 * factorial(d - 2 * h) * odd[h] ** 2 for h in range(d // 2 + 1)]
    )


def _gaussian_scale(data: InnerProduct, degree: int) -> float | None:
    if isinstance(data, Gaussian) and data.centred:
        return 1.0
    return data.gaussian_ratio(2 * degree) if isinstance(data, Radial) else None


def _is_sum_of_powers(problem: Problem) -> bool:
    """Whether the target is a sum of d-th powers of known vectors."""
    target = problem.target
    if isinstance(target, Network):
        return target.activation == problem.activation and not np.any(target.norm)
    return isinstance(target, SymmetricTensor) and target.degree == problem.degree == 2


def _dot_product(problem: Problem, coefficients: Array) -> Evaluate:
    assert isinstance(problem.target, Network | SymmetricTensor)
    (part,) = teacher_parts(problem.target)
    data, degree = problem.data, problem.degree
    plain = not isinstance(data, Gaussian) or np.array_equal(data.covariance, np.eye(data.n))
    root = None if plain or not isinstance(data, Gaussian) else data.root()
    V = np.array(part.V if root is None else part.V @ root, order="C")
    b = np.array(part.B[0])
    energy = 0.0 if degree == 2 else _energy(V, b, coefficients, degree)

    def evaluate(thetas: Array) -> tuple[Array, Array]:
        from shallows.descent._loops import dot_product_loop, quadratic_loop

        W, a = _students(problem, thetas)
        if root is not None:
            W = np.ascontiguousarray(W @ root)
        losses, dW, da = np.empty(len(W)), np.empty_like(W), np.empty_like(a)
        if degree == 2:
            quadratic_loop(W, a, V, b, coefficients, losses, dW, da)
        else:
            dot_product_loop(W, a, V, b, coefficients, degree, losses, dW, da)
        if root is not None:
            dW = dW @ root
        return np.maximum(losses + energy, 0.0), problem.layout.join(dW, da, None)

    if root is None:
        evaluate.compiled = _compiled(problem, degree, V, b, coefficients, energy)  # type: ignore[attr-defined]
    return evaluate


def _compiled(problem: Problem, degree: int, V: Array, b: Array, c: Array, energy: float) -> Compiled:
    outer = np.zeros(problem.width) if problem.outer is None else np.array(problem.outer[0])
    return Compiled(problem.width, problem.n, outer, degree, problem.outer is None, V, b, c, energy)


def _energy(V: Array, b: Array, coefficients: Array, degree: int) -> float:
    """E y² = bᵀ k(V, V) b."""
    rho, p = V @ V.T, np.sum(V**2, axis=1)
    pq = np.outer(p, p)
    K = sum(c * pq**h * rho ** (degree - 2 * h) for h, c in enumerate(coefficients))
    return float(b @ K @ b)


def _statistics_pay(problem: Problem) -> bool:
    if not isinstance(problem.activation, Power) or isinstance(problem.objective, FunctionSpaceObjective):
        return False
    if coordinates.dimension(problem.n, problem.degree) > LARGEST_STATISTIC:
        return False
    if isinstance(problem.data, Samples):
        return True
    target = problem.target
    if isinstance(target, SymmetricTensor):
        return target.degree == problem.degree
    return isinstance(target, Network) and target.activation == problem.activation and not np.any(target.norm)


def _on_statistics(problem: Problem) -> Evaluate:
    """The problem's own assembly around an objective that sees the data through G, s* and L*."""
    entries, floor = problem._optimum
    fast = object.__new__(Problem)
    fast.__dict__.update(problem.__dict__)
    fast.objective = FunctionSpaceObjective(problem.n, problem.degree, problem.gram(), entries, floor)
    return fast.value_and_gradient
