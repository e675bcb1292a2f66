"""Losses that are sums of squares: L = ‖r(θ)‖² + const, with r and its Jacobian for a batch of runs.

- Power activations: with G = MMᵀ, r = Mᵀ(s − s*): as many rows as G has rank, however many samples there were.
- Polynomial activations under a law: the same with the coefficients of the function for s.
- Any activation on samples: r = (f(xᵢ) − yᵢ)/√N.
- The orthogonality penalty γ‖WᵀW − I‖² adds the rows √γ (WᵀW − I).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shallows.mathematics.solvers.levenberg_marquardt import Residual, gram_root
from shallows.mathematics.tensors import coordinates
from shallows.model.activations import Polynomial, Power, polynomial_of
from shallows.model.data.samples import Samples
from shallows.model.objective.build import labels_of
from shallows.model.objective.sample_pass import SamplePassObjective
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.model.single_outputs import single_outputs
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem


def constant_of(problem: Problem) -> float:
    """L − ‖r(θ)‖²: L*, what no tensor can fit, where r lives in function space; on samples r holds all of the loss.

    Known beforehand: the loss is a sum of two terms that are not negative, and nothing cancels near the optimum.
    """
    if _is_polynomial(problem):
        return sum(PolynomialSpace.of(one).floor for one in single_outputs(problem))
    return problem.floor if _in_function_space(problem) else 0.0


def losses_by_squares(problem: Problem, thetas: Array) -> Array:
    """‖r(θ)‖² + L*, a sum of two terms that are not negative: exact to rounding of r, however small the loss is."""
    r, _ = residual_of(problem)(thetas)
    return np.asarray(np.sum(r**2, axis=1) + constant_of(problem))


def _in_function_space(problem: Problem) -> bool:
    return isinstance(problem.activation, Power) and not isinstance(problem.objective, SamplePassObjective)


def _is_polynomial(problem: Problem) -> bool:
    """Whether students are polynomials of several powers, and the data is a law."""
    return isinstance(problem.activation, Polynomial) and problem.data.as_samples() is None


def residual_of(problem: Problem) -> Residual:
    """θ (batch, p) ↦ r (batch, R) and ∂r/∂θ (batch, R, p)."""
    samples = problem.data.as_samples()
    if _in_function_space(problem):
        main = _function_space(problem)
    elif _is_polynomial(problem):
        main = _polynomial_space(problem)
    elif samples is not None:
        main = _on_samples(problem, samples)
    else:
        raise InvalidProblem(
            f"Levenberg-Marquardt needs a loss that is a finite sum of squares: a Power or Polynomial activation, or "
            f"any on Samples. This problem has {problem.activation!r} under {problem.data!r}; use method='newton'."
        )
    return main if not problem.orthogonality else _with_penalty(problem, main)


def _function_space(problem: Problem) -> Residual:
    optimum, _ = problem._optimum
    n, d = problem.n, problem.degree

    def powers(W: Array) -> tuple[Array, Array]:
        return coordinates.monomials(W, d), coordinates.monomials_jvp(W[..., None, :], np.eye(n), d)

    return _by_coordinates(problem, powers, optimum, gram_root(problem.gram()))


def _polynomial_space(problem: Problem) -> Residual:
    """Σⱼ cⱼ (w·x)ʲ has the coordinates cⱼ w^J; a bias is a weight of the constant, whose powers G knows to be one."""
    spaces = [PolynomialSpace.of(one) for one in single_outputs(problem)]
    parts = [(float(polynomial_of(problem.activation).coefficients[j]), j) for j in spaces[0].degrees]
    axes = np.eye(problem.n)

    def powers(W: Array) -> tuple[Array, Array]:
        values = [c * coordinates.monomials(W, j) for c, j in parts]
        slopes = [c * coordinates.monomials_jvp(W[..., None, :], axes, j) for c, j in parts]
        return np.concatenate(values, axis=-1), np.concatenate(slopes, axis=-1)

    optimum = np.array([space.target for space in spaces])
    return _by_coordinates(problem, powers, optimum, gram_root(spaces[0].gram))


def _by_coordinates(
    problem: Problem, neurons: Callable[[Array], tuple[Array, Array]], optimum: Array, root: Array
) -> Residual:
    """r = Mᵀ(s − s*); `neurons` gives the coordinates of each neuron's function, and their derivatives by w."""
    outputs = problem.outputs
    squares = np.eye(problem.n)[problem.constants :]
    identity = coordinates.monomials(squares, 2).sum(axis=0) if problem.norm_neuron else None

    def residual(thetas: Array) -> tuple[Array, Array]:
        W, A, norm = problem._students(thetas)
        powers, slopes = neurons(W)  # (batch, k, N), (batch, k, n, N)
        s = A @ powers - optimum
        if norm is not None and identity is not None:
            s = s + norm[..., None] * identity
        parts = []
        for o in range(outputs):
            rows = _join_columns(problem, A[:, o, :, None, None] * slopes, powers, o, identity)
            parts.append((s[:, o] @ root, root.T @ rows))
        return np.concatenate([r for r, _ in parts], axis=1), np.concatenate([J for _, J in parts], axis=1)

    return residual


def _join_columns(problem: Problem, inner: Array, values: Array, o: int, square: Array | None) -> Array:
    """Derivatives of R numbers of output o by W (batch, k, n, R), A and norm → (batch, R, p).

    `values` are those of the neurons (batch, k, R), `square` of ‖x‖² where there are norm neurons.
    """
    batch, size = len(inner), inner.shape[-1]
    parts = [inner.reshape(batch, -1, size)]
    if problem.outer is None:
        outer = np.zeros((batch, problem.outputs, problem.width, size))
        outer[:, o] = values
        parts.append(outer.reshape(batch, -1, size))
    if square is not None:
        scale = np.zeros((batch, problem.outputs, size))
        scale[:, o] = square
        parts.append(scale)
    return np.concatenate(parts, axis=1).swapaxes(-1, -2)


def _on_samples(problem: Problem, samples: Samples) -> Residual:
    X, labels = samples.X, labels_of(problem.target, samples)
    squares, outputs = np.sum(X[:, problem.constants :] ** 2, axis=1), problem.outputs
    root = np.ones(len(X)) if samples.weights is None else np.sqrt(samples.weights)
    scale = np.tile(root / np.sqrt(len(X)), outputs)

    def residual(thetas: Array) -> tuple[Array, Array]:
        W, A, norm = problem._students(thetas)
        z = W @ X.T  # (batch, k, N)
        hidden, slope = problem.activation(z), problem.activation.derivative(z, 1)
        r = A @ hidden - labels.T
        if norm is not None:
            r = r + norm[..., None] * squares
        columns = []
        for o in range(outputs):
            inner = (A[:, o, :, None] * slope)[:, :, None, :] * X.T
            columns.append(_join_columns(problem, inner, hidden, o, None if norm is None else squares))
        J = np.concatenate(columns, axis=1)
        return scale * r.reshape(len(W), -1), scale[:, None] * J

    return residual


def _with_penalty(problem: Problem, main: Residual) -> Residual:
    n, weight, first = problem.n, np.sqrt(problem.orthogonality), problem.constants
    inputs = n - first

    def residual(thetas: Array) -> tuple[Array, Array]:
        r, J = main(thetas)
        W = problem.layout.split(thetas)[0][..., first:]
        defect = W.swapaxes(-1, -2) @ W - np.eye(inputs)
        change = np.zeros((len(W), inputs, inputs, J.shape[-1]))
        for i in range(problem.width):
            for j in range(inputs):  # ∂(WᵀW)/∂W_ij = e_j wᵢᵀ + wᵢ e_jᵀ
                change[:, j, :, i * n + first + j] += W[:, i, :]
                change[:, :, j, i * n + first + j] += W[:, i, :]
        rows = weight * change.reshape(len(W), inputs * inputs, -1)
        return np.concatenate([r, weight * defect.reshape(len(W), -1)], axis=1), np.concatenate(
            [J, rows], axis=1
        )

    return residual
