"""Quadratic receptive fields: the filters of a neuron whose rate depends on squares of a few projections.

A complex cell of visual cortex responds to (excitation)² − (suppression)² of its stimulus, whatever their
sign (paper 002, introduction). Its spike counts are regressed on the quadratic features of the stimulus; the
eigenvectors of the quadratic part are the filters: positive eigenvalues excite, negative ones suppress.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from shallows.support.arguments import typed
from shallows.support.checks import Array, finite_array, finite_number, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

if TYPE_CHECKING:
    from shallows.questions.learn.estimators.quadratic_regressor import QuadraticNetRegressor


@dataclass(frozen=True, eq=False)
class QuadraticReceptiveField:
    """rate(x) = Σ sᵢ(fᵢ·x)² + linear·x + baseline: eigenvalues s (largest size first) and unit filters f, one a row.

    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> model = sh.learn.QuadraticNetRegressor().fit(X, 3 * X[:, 0] ** 2 - X[:, 1] ** 2 + X[:, 1] + 2)
    >>> field = sh.learn.receptive_field(model)
    >>> field
    QuadraticReceptiveField(2 inputs; strongest eigenvalues +3, -1)
    >>> abs(field.linear).round(6).tolist(), round(field.baseline, 6)
    ([0.0, 1.0], 2.0)
    """

    eigenvalues: Array
    filters: Array
    linear: Array
    baseline: float

    @property
    def excitatory(self) -> Array:
        """Filters of positive eigenvalues, strongest first."""
        return np.asarray(self.filters[self.eigenvalues > 0])

    @property
    def suppressive(self) -> Array:
        """Filters of negative eigenvalues, strongest first."""
        return np.asarray(self.filters[self.eigenvalues < 0])

    def __repr__(self) -> str:
        values = ", ".join(f"{value:+.4g}" for value in self.eigenvalues[:6])
        return f"QuadraticReceptiveField({len(self.filters[0])} inputs; strongest eigenvalues {values})"


@typed
def receptive_field(model: QuadraticNetRegressor) -> QuadraticReceptiveField:
    """The filters of a fitted regressor with one output: eigenvectors of its quadratic part P in xᵀPx + 2qᵀx + c.

    >>> X, spikes = sh.learn.simulate_spikes([[0.6, 0.8, 0.0]], [[0.0, 0.0, 1.0]], 20_000, baseline=4.0, rng=0)
    >>> field = sh.learn.receptive_field(sh.learn.QuadraticNetRegressor().fit(X, spikes))
    >>> abs(field.excitatory[0]).round(1).tolist(), abs(field.suppressive[0]).round(1).tolist()   # up to sign
    ([0.6, 0.8, 0.0], [0.0, 0.0, 1.0])
    """
    A = model.matrix_
    if A.ndim != 2:
        raise InvalidProblem(f"The model has {len(A)} outputs; fit one regressor a cell to read its filters.")
    n = model.n_features_in_
    values, vectors = np.linalg.eigh(A[:n, :n])
    order = np.argsort(-np.abs(values), kind="stable")
    linear, constant = (2 * A[:n, n], float(A[n, n])) if model.affine else (np.zeros(n), 0.0)
    return QuadraticReceptiveField(values[order], vectors[:, order].T, linear, constant)


def simulate_spikes(
    excitatory: ArrayLike,
    suppressive: ArrayLike,
    count: int,
    *,
    baseline: float = 1.0,
    gain: float = 1.0,
    rng: int | np.random.Generator = 0,
) -> tuple[Array, Array]:
    """White Gaussian stimuli (count, n) and Poisson spike counts of a quadratic cell.

    The rate is gain · max(0, baseline + Σ(e·x)² − Σ(s·x)²) over the rows e of `excitatory` and s of
    `suppressive`: it is rectified, as a rate must be, so the regression's quadratic model is an approximation that
    keeps the filters.

    >>> X, spikes = sh.learn.simulate_spikes([[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]], 20_000, baseline=4.0, rng=0)
    >>> X.shape, f"{spikes.mean():.1f}"   # E(4 + x₀² − x₁²) = 4, and a little for what is rectified
    ((20000, 3), '4.1')
    """
    excite, suppress = finite_array("excitatory", excitatory, 2), finite_array("suppressive", suppressive, 2)
    if excite.shape[1] != suppress.shape[1]:
        raise InvalidProblem(
            f"excitatory filters have {excite.shape[1]} inputs and suppressive ones {suppress.shape[1]}."
        )
    finite_number("baseline", baseline)
    finite_number("gain", gain, minimum=0.0)
    source = generator(rng)
    X = source.standard_normal((positive_integer("count", count), excite.shape[1]))
    drive = baseline + np.sum((X @ excite.T) ** 2, axis=1) - np.sum((X @ suppress.T) ** 2, axis=1)
    return X, source.poisson(gain * np.maximum(drive, 0.0)).astype(np.float64)
