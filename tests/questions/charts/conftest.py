"""Random rational metrics and teachers, through the `generic` fixture."""

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.tensors import coordinates as co


def _generic(n, width, seed, degree=2):
    """A random rational metric and teacher."""
    rng = np.random.default_rng([seed, n, degree])
    N = co.dimension(n, degree)
    A = np.round(rng.standard_normal((N, N)) * 64) / 64
    t = np.round(rng.standard_normal(N) * 64) / 64
    return sh.Problem(
        sh.SymmetricTensor(t, n, degree), sh.Metric(n, degree, A @ A.T / N + np.eye(N) / 2), width
    )


@pytest.fixture
def generic():
    """generic(n, width, seed, degree=2) -> Problem."""
    return _generic
