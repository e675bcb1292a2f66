"""Neurons whose outer weights are all 0, with several outputs under the penalty, which alone sees them.

Beside a critical network of orthonormal or no neurons, m neurons vᵢ of weight 0 are critical when (P − I)vᵢ = 0 and
vᵢᵀE_m vᵢ = 0 for all outputs: orthonormal in the complement of the others, and common zeros of the slopes. In z = n − r
dimensions these are mM equations for zm − m(m+1)/2 free numbers. Their functions are those of fewer neurons, so that a
search for them adds no function, and no minimum but where all slopes vanish.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from shallows.mathematics.numerical_rank import rank_of
from shallows.mathematics.same_points import is_among
from shallows.mathematics.tensors import coordinates
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: Random neurons from which zeros are looked for.
TRIES = 60
#: Least squares end at a residual of this share where there is a zero: a few roundings.
VANISHES = 1e-12
#: Singular values of the equations' derivative at a zero, known to VANISHES, and to its root where it is double.
RANK = 1e-6
#: Zeros that are closer are one.
SAME = 1e-6
#: How they were found.
SEARCHED = (
    "neurons of outer weight 0, which only the penalty sees, have the functions of fewer neurons; they are found by a "
    "search"
)


@dataclass(frozen=True, eq=False)
class Zeros:
    """m orthonormal common zeros of all slopes, one a row, and the dimension of the set of their projections."""

    V: Array
    dimension: int


def common_zeros(slopes: Array, frame: Array, m: int, constants: int = 0) -> Iterator[Zeros]:
    """m orthonormal vectors in the span of a frame's columns on which all slopes vanish: points, and one of each set.

    The first inputs, if these are `constants`, are free, and not seen in projections.

    >>> found = list(common_zeros(np.diag([1.0, -1.0])[None], np.eye(2), 1))        # x² = y²: two lines
    >>> len(found), [zeros.dimension for zeros in found]
    (2, [0, 0])
    """
    from scipy.optimize import least_squares

    z = frame.shape[1]
    if z < m:
        return
    size = max(float(np.abs(slopes).max(initial=0.0)), TINY)
    forms = np.einsum("pi,mpq,qj->mij", frame, slopes / size, frame)
    rng, known = np.random.default_rng([z, m]), dict[int, list[Array]]()

    def values(x: Array) -> Array:
        V = x.reshape(m, z)
        gaps = (V[:, constants:] @ V[:, constants:].T - np.eye(m))[np.triu_indices(m)]
        return np.concatenate([gaps, np.einsum("ki,mij,kj->mk", V, forms, V).ravel()])

    def table(x: Array) -> Array:
        return np.column_stack([_quadratic_slope(values, x, k) for k in range(len(x))])

    for _ in range(TRIES):
        start = np.linalg.qr(rng.standard_normal((z, m)))[0].T.ravel()
        x = np.asarray(least_squares(values, start, jac=table, xtol=VANISHES, ftol=VANISHES, gtol=VANISHES).x)
        if np.abs(values(x)).max() > VANISHES**0.75:
            continue
        V = x.reshape(m, z)
        dimension = _moved(table(x), V, constants)
        projection = coordinates.monomials(V[:, constants:], 2).sum(axis=0)
        seen = known.setdefault(dimension, [])
        if is_among(projection, seen, SAME) or (dimension and seen):
            continue
        seen.append(projection)
        yield Zeros(np.asarray(V @ frame.T), dimension)


def _quadratic_slope(values: Callable[[Array], Array], x: Array, k: int) -> Array:
    """∂/∂x_k of a quadratic function: a central difference has no error but rounding."""
    step = np.zeros(len(x))
    step[k] = 0.5
    return np.asarray(values(x + step) - values(x - step))


def _moved(slopes: Array, V: Array, constants: int) -> int:
    """The dimension of the projections VᵀV over the kernel of the equations' derivative."""
    _, sizes, rows = np.linalg.svd(slopes)
    kernel = rows[rank_of(sizes, RANK) :]
    halves = [V[:, constants:].T @ one.reshape(V.shape)[:, constants:] for one in kernel]
    images = [(half + half.T).ravel() for half in halves]
    return rank_of(np.linalg.svd(np.array(images), compute_uv=False), RANK) if images else 0
