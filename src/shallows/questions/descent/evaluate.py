"""Losses and gradients of many networks at once: the fastest exact route a problem allows.

| problem | route |
| --- | --- |
| ReLU against ReLU, N(0, Σ) | the fused loop of `kernels._compiled.relu_loop` |
| Power(2), N(0, I), rotation-invariant data, Frobenius | c₀‖S − T‖² + c₁ tr(S − T)², in lanes |
| Power(d) against a network, the same data | Gram entries, in lanes |
| Power(d) of small degree and dimension, any other data | sufficient statistics (s − s*)ᵀG(s − s*) + L*, in lanes |
| the same with several outputs, a norm neuron or a penalty | sufficient statistics, in NumPy |
| everything else | `Problem.value_and_gradient` |

All of them are the same function to rounding (tested), and none depends on how a batch is cut. The routes that are
`Compiled` run a whole descent without the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.data.rotation_invariance import RotationInvariance
from shallows.model.network import Network
from shallows.model.objective.build import teacher_parts
from shallows.model.objective.function_space import FunctionSpaceObjective
from shallows.model.objective.relu import ReLUObjective
from shallows.model.problem import Problem
from shallows.questions.descent._compiled.powers import (
    CompiledPowers,
    matrix_model,
    powers_model,
    statistics_model,
)
from shallows.questions.descent._compiled.relu import CompiledReLU
from shallows.support.checks import Array

Evaluate = Callable[[Array], tuple[Array, Array]]
#: N above which the N×N Gram matrix is not multiplied by at every step: 150² numbers still fit the second-level cache.
LARGEST_STATISTIC = 150


def evaluator(problem: Problem) -> Evaluate:
    """θ of shape (batch, p) ↦ losses (batch,) and gradients (batch, p); a `Compiled` one can also descend by itself."""
    if problem.affine:  # a target with a bias, students without: the fast routes know one kind of input
        return problem.value_and_gradient
    plain = problem.outputs == 1 and not problem.norm_neuron and not problem.orthogonality
    if plain and isinstance(problem.objective, ReLUObjective):
        return _relu(problem, problem.objective)
    metric = _dot_product_metric(problem) if plain else None
    white = metric is not None and metric.covariance is None
    if _has_statistics(problem) and not white:
        return CompiledPowers(problem, *statistics_model(problem)) if plain else _on_statistics(problem)
    if metric is not None:
        return _dot_product(problem, metric)
    return problem.value_and_gradient


def _relu(problem: Problem, objective: ReLUObjective) -> Evaluate:
    runs = CompiledReLU(
        problem.width, problem.n, np.zeros(problem.width) if problem.outer is None else np.array(problem.outer[0]),
        problem.outer is None, np.array(objective.teacher), np.array(objective.teacher_outer[0]),
        objective.energy,
    )  # fmt: skip
    return runs if objective.root is None else _whitened(problem, runs, objective.root)


def _dot_product_metric(problem: Problem) -> RotationInvariance | None:
    """k(w, v) = Σ_h c_h (‖w‖‖v‖)^(2h) (w·v)^(d−2h) after whitening; None when the kernel is of another kind."""
    if not isinstance(problem.activation, Power) or not _is_sum_of_powers(problem):
        return None
    return problem.data.rotation_invariance(problem.degree)


def _is_sum_of_powers(problem: Problem) -> bool:
    """Whether the target is a sum of d-th powers of known vectors."""
    target = problem.target
    if isinstance(target, Network):
        return target.activation == problem.activation and not np.any(target.norm)
    return isinstance(target, SymmetricTensor) and target.degree == problem.degree == 2


def _dot_product(problem: Problem, metric: RotationInvariance) -> Evaluate:
    assert isinstance(problem.target, Network | SymmetricTensor)
    (part,) = teacher_parts(problem.target)
    root, coefficients = metric.root(), metric.coefficients
    V, b = part.V if root is None else part.V @ root, part.B[0]
    if problem.degree == 2:
        lanes = CompiledPowers(problem, *matrix_model(problem, coefficients, (V.T * b) @ V))
    else:
        energy = _energy(V, b, coefficients, problem.degree)
        lanes = CompiledPowers(problem, *powers_model(problem, coefficients, V, b, energy))
    return lanes if root is None else _whitened(problem, lanes, root)


def _whitened(problem: Problem, evaluate: Evaluate, root: Array) -> Evaluate:
    """L(W) = L₀(WΣ^½), so ∇L(W) = ∇L₀(WΣ^½) Σ^½; descent in W is not descent in WΣ^½, so nothing more is compiled."""

    def evaluate_coloured(thetas: Array) -> tuple[Array, Array]:
        W, A, _ = problem.layout.split(thetas)
        losses, gradients = evaluate(problem.layout.join(W @ root, A, None))
        dW, da, _ = problem.layout.split(gradients)
        return losses, problem.layout.join(dW @ root, da, None)

    return evaluate_coloured


def _energy(V: Array, b: Array, coefficients: Array, degree: int) -> float:
    """E y² = bᵀ k(V, V) b."""
    rho, p = V @ V.T, np.sum(V**2, axis=1)
    pq = np.outer(p, p)
    K = sum(c * pq**h * rho ** (degree - 2 * h) for h, c in enumerate(coefficients))
    return float(b @ K @ b)


def _has_statistics(problem: Problem) -> bool:
    """Whether the loss is (s − s*)ᵀG(s − s*) + L* with a G small enough to multiply by."""
    if not isinstance(problem.activation, Power):
        return False
    if coordinates.dimension(problem.n, problem.degree) > LARGEST_STATISTIC:
        return False
    if isinstance(problem.objective, FunctionSpaceObjective) or problem.data.as_samples() is not None:
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
