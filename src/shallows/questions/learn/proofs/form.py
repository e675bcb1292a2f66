"""The fitted polynomial form in ball arithmetic: the function f(x) = Σ_I a_I ψ_I(z′) of the float64 numbers a, T, mean.

z′ = T(x − mean), with a last coordinate 1 in the affine case, as `Frame.apply` has it. `predict` evaluates this
function in floating point; here it is enclosed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shallows.mathematics.balls.arrays import Ball, raised, stacked
from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.fitting.frame import Frame, from_matrix, to_matrix
from shallows.support.checks import Array


def transformed(frame: Frame, X: Array) -> Ball:
    """z′ of each row of X."""
    if not frame.affine:
        return Ball.exact(X) @ Ball.exact(frame.T.T)
    moved = (Ball.exact(X) - Ball.exact(frame.mean)) @ Ball.exact(frame.T[:-1, :-1].T)
    return stacked([moved, Ball.exact(np.ones((len(X), 1)))], axis=1)


def feature_balls(Z: Ball, degree: int) -> Ball:
    """ψ_I(z) = √mult(I) z^I."""
    table = coordinates.indices(Z.mid.shape[1], degree)
    root = np.sqrt(coordinates.multiplicities(Z.mid.shape[1], degree).astype(np.float64))
    result = Ball.rounded(root, 1)
    for column in table.T:
        result = result * Z[:, column]
    return result


def matrix_ball(entries: Array, size: int) -> Ball:
    """The symmetric matrix (or matrices) with these exact orthonormal coordinates: a root and a division an entry."""
    return Ball.rounded(to_matrix(entries, size), 3)


def entries_ball(matrix: Ball) -> Ball:
    """The orthonormal coordinates of a symmetric ball: a root and a product an entry more."""
    mid = from_matrix(matrix.mid)
    return Ball(mid, raised(from_matrix(matrix.rad) + Ball.rounded(mid, 3).rad, 4))


def layer_values(layers: Sequence[Array], Z: Array) -> Ball:
    """The outputs of a deep quadratic network (`deep.layers.forward`) at homogenised inputs."""
    v = Ball.exact(Z)
    for layer in layers:
        v = feature_balls(v, 2) @ Ball.exact(layer.T)
    return v


def power_values(W: Array, a: Array, degree: int, Z: Array) -> Ball:
    """Σᵢ aᵢ(wᵢ·z)^p at homogenised inputs, a (outputs, width)."""
    inner = Ball.exact(Z) @ Ball.exact(W.T)
    power = inner
    for _ in range(degree - 1):
        power = power * inner
    return power @ Ball.exact(a.T)
