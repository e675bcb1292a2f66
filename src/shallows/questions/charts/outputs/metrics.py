"""Which special metrics problems of several outputs start among, in coordinates w = F(1, z) without special directions.

A neuron with w₁ = 0 has no such coordinates. Under a metric that knows directions, such as that of (1, x) with a bias,
solutions lie in special position to its axes, so that F may not be one of them: its rotation turns the basis of the
space of metrics, and has rational entries, so that the turned basis is of integers, too, up to a power of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from shallows.model.data.gaussian import Gaussian
from shallows.model.data.metric import Frobenius
from shallows.questions.charts.continuation.balanced_coordinates import power_action
from shallows.questions.charts.continuation.metrics import (
    Complex,
    Kind,
    KindOfMetrics,
    Pair,
    SpecialMetrics,
    combined,
)
from shallows.support.checks import Array

#: The mirror's normal, entry by entry: small integers that no two neighbours share.
NORMAL = (3, 1, 2)


class OutputMetrics(KindOfMetrics, Protocol):
    """Special metrics of several outputs."""

    def weights_of(self, gram: Array) -> Array:
        """The u of a metric of this kind."""
        ...


@dataclass(frozen=True)
class InvariantMetrics:
    """u₀ Frobenius + u₁ Gaussian, the rotation-invariant metrics of data."""

    degree: int
    n: int
    kind: str = "rotation-invariant"

    @property
    def parameters(self) -> int:
        """Two."""
        return 2

    def at(self, u: Complex) -> Pair:
        """The metric with these parameters."""
        first, second = _invariant(self.degree, self.n)
        return Pair.of(u[0] * first + u[1] * second)

    def weights_of(self, gram: Array) -> Array:
        """By least squares."""
        return _weights(gram, np.array(_invariant(self.degree, self.n)))


@dataclass(frozen=True)
class MovedMetrics:
    """Those of a Gaussian moved along a line, in coordinates w = `moved_frame` · w′.

    >>> metrics = MovedMetrics("moved Gaussian", 2, 3)
    >>> u = np.array([1.0, 2.0, 5.0])
    >>> metrics.weights_of(metrics.at(u + 0j).high.real).round(12).tolist()
    [1.0, 2.0, 5.0]
    """

    kind: Kind
    degree: int
    n: int

    @property
    def parameters(self) -> int:
        """Those of the `SpecialMetrics`."""
        return self._plain.parameters

    @property
    def _plain(self) -> SpecialMetrics:
        return SpecialMetrics(self.kind, self.degree, self.n)

    def at(self, u: Complex) -> Pair:
        """Σ_j u_j PᵀA_jP."""
        return combined(u, _moved(self._plain))

    def weights_of(self, gram: Array) -> Array:
        """By least squares."""
        return _weights(gram, _moved(self._plain))


@lru_cache(maxsize=64)
def moved_frame(n: int) -> Array:
    """A mirror ‖v‖² I − 2vvᵀ of integers over the power of two next to ‖v‖²."""
    v = np.resize(np.array(NORMAL, np.float64), n)
    mirror = (v @ v) * np.eye(n) - 2 * np.outer(v, v)
    return np.asarray(mirror / 2.0 ** np.round(np.log2(v @ v)))


def _weights(gram: Array, basis: Array) -> Array:
    table = basis.reshape(len(basis), -1).T
    return np.asarray(np.linalg.lstsq(table, gram.ravel(), rcond=None)[0], np.float64)


@lru_cache(maxsize=64)
def _invariant(degree: int, n: int) -> tuple[Array, Array]:
    """Integer matrices, the same in every frame that is a rotation."""
    return Frobenius(n).gram(degree), Gaussian(n).gram(degree)


@lru_cache(maxsize=64)
def _moved(metrics: SpecialMetrics) -> Array:
    """The A_j in the turned coordinates, exactly: integers below 2⁵³ over a power of two."""
    P = power_action(moved_frame(metrics.n), metrics.degree)
    units = np.eye(metrics.parameters, dtype=np.complex128)
    return np.array([P.T @ metrics.at(unit).high.real @ P for unit in units])
