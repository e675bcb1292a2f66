"""Metrics that rotations leave alone, as sums of basis matrices: against Gram matrices of laws, block by block."""

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.continuation.rotation_invariant import (
    degree_pairs,
    rotation_invariant_basis,
    rotation_invariant_weights,
)


def test_pairs_of_degrees_are_those_without_odd_moments():
    assert degree_pairs((1, 2, 3)) == [(1, 1), (1, 3), (2, 2), (3, 3)]
    assert degree_pairs((0, 2)) == [(0, 0), (0, 2), (2, 2)]
    assert degree_pairs((1, 4)) == [(1, 1), (4, 4)]


@pytest.mark.parametrize("law", [sh.Gaussian, sh.Sphere])
@pytest.mark.parametrize(("degrees", "n"), [((1, 2, 3), 2), ((2, 4), 2), ((1, 3), 3)])
def test_weights_and_basis_make_up_the_metric(law, degrees, n):
    data = law(n)
    gram = np.block([[data.cross_gram(i, j) for j in degrees] for i in degrees])
    basis, weights = rotation_invariant_basis(degrees, n), rotation_invariant_weights(gram, degrees, n)
    assert len(weights) == len(basis) == len(degree_pairs(degrees))
    np.testing.assert_allclose(np.tensordot(weights, basis, axes=1), gram, atol=1e-12)
    if law is sh.Gaussian:
        np.testing.assert_allclose(weights, 1.0)
