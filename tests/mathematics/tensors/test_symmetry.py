"""Shared symmetries: against finite turns, stabilisers known by hand, exact arithmetic, orbits with real points."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

import shallows as sh
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetry import derivation, exact_algebra, symmetry_algebra


def moved(tensor: np.ndarray, M: np.ndarray) -> np.ndarray:
    """M acting on every index of a full array: the slow twin of D."""
    for axis in range(tensor.ndim):
        tensor = np.moveaxis(np.tensordot(M, tensor, axes=(1, axis)), 0, axis)
    return tensor


@pytest.mark.parametrize(("n", "degree"), [(2, 2), (3, 2), (2, 3), (3, 3), (2, 5)])
def test_the_derivation_is_the_derivative_of_turning_a_full_array(n, degree):
    rng = np.random.default_rng(n * 10 + degree)
    X = rng.standard_normal((n, n))
    T = sh.SymmetricTensor(rng.standard_normal(coordinates.dimension(n, degree)), n, degree)
    h = 1e-5
    forward, back = (moved(T.to_array(), expm(s * h * X)) for s in (1, -1))
    slope = sh.SymmetricTensor.from_array((forward - back) / (2 * h)).entries
    np.testing.assert_allclose(derivation(X, degree) @ T.entries, slope, rtol=1e-8, atol=1e-8)


def data(kind: str, n: int):
    return {
        "gaussian": sh.Gaussian(n),
        "frobenius": sh.Frobenius(n),
        "laplace": sh.IID.laplace(n),
        "moved": sh.Gaussian(n, mean=np.eye(n)[0]),
        "coloured": sh.Gaussian(n, np.diag(np.arange(1.0, n + 1))),
    }[kind]


#: Dimensions of stabilisers, by hand: so(n), so of the repeated eigenvalues, so(n−1) around the mean.
KNOWN = [
    ("gaussian", np.eye(2), 1), ("gaussian", np.eye(3), 3), ("gaussian", np.eye(4), 6),
    ("gaussian", np.diag([2.0, 2, 1]), 1), ("gaussian", np.diag([3.0, 2, 1]), 0), ("gaussian", np.zeros((3, 3)), 3),
    ("frobenius", np.diag([1.0, 1, 1, 2]), 3), ("frobenius", np.diag([1.0, 1, 2, 2]), 2),
    ("laplace", np.eye(3), 0), ("laplace", np.zeros((2, 2)), 0),
    ("moved", np.diag([1.0, 2, 2]), 1), ("moved", np.diag([2.0, 2, 1]), 0), ("moved", np.eye(4), 3),
    ("coloured", np.eye(3), 0), ("coloured", np.diag(1 / np.arange(1.0, 4)), 3),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "target", "dimension"), KNOWN)
def test_known_stabilisers_numerically_and_exactly(kind, target, dimension):
    n = len(target)
    law, t = data(kind, n), sh.SymmetricTensor.from_matrix(target).entries
    gram = law.gram(2)
    found = symmetry_algebra(gram, t, n, 2)
    assert found.dimension == dimension
    if kind != "coloured" or dimension == 0:  # 1/3 is no float: only nearly symmetric
        rows = [[Fraction(x) for x in row] for row in gram.tolist()]
        exact = exact_algebra(
            rows,
            [sum(g * x for g, x in zip(row, map(Fraction, t.tolist()), strict=True)) for row in rows],
            n,
            2,
        )
        assert len(exact) == dimension


def test_a_metric_given_as_numbers_and_samples_on_an_icosahedron_have_the_symmetry_of_the_sphere():
    golden = (1 + 5**0.5) / 2
    corners = [(0, a, b * golden) for a in (1, -1) for b in (1, -1)]
    X = np.array([np.roll(c, k) for c in corners for k in range(3)])
    for law in (sh.Metric(3, 2, sh.Gaussian(3).gram(2)), sh.Samples(X)):
        assert (
            symmetry_algebra(law.gram(2), sh.SymmetricTensor.from_matrix(np.eye(3)).entries, 3, 2).dimension
            == 3
        )


def test_a_cube_has_no_symmetry_algebra():
    X = np.array(
        [[a, b, c] for a in (1, -1) for b in (1, -1) for c in (1, -1)] + [*np.eye(3), *-np.eye(3)], float
    )
    assert symmetry_algebra(sh.Samples(X).gram(2), np.array([1.0, 0, 0, 1, 0, 1]), 3, 2).dimension == 0


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([1e-9, 1.0, 1e9]))
def test_coordinates_and_units_do_not_matter(seed, unit):
    rng = np.random.default_rng(seed)
    M = np.linalg.qr(rng.standard_normal((3, 3)))[0] @ np.diag(rng.uniform(0.3, 3, 3))
    inverse = np.linalg.inv(M)
    law = sh.Gaussian(3, M @ M.T)
    target = unit * inverse.T @ np.diag([2.0, 2.0, 1.0]) @ inverse
    t = sh.SymmetricTensor.from_matrix((target + target.T) / 2).entries
    assert symmetry_algebra(law.gram(2), t, 3, 2).dimension == 1


def test_turns_keep_loss_and_orbits_have_their_dimension():
    problem = sh.Problem(np.diag([2.0, 2.0, 1.0]), sh.Gaussian(3), width=1)
    found = symmetry_algebra(problem.gram(), problem.target_tensor().entries, 3, 2)
    w = np.array([0.3, -0.8, 0.5])
    turned = found.turn([0.7]) @ w
    assert not np.allclose(turned, w)
    losses = [problem.loss(sh.Network([v], [1.3])) for v in (w, turned)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-13)
    orbit = [found.orbit_dimension(coordinates.monomials(np.array(v), 2)) for v in ([1.0, 0, 0], [0.0, 0, 1])]
    assert orbit == [1, 0]


@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("n", [2, 3])
def test_a_complex_point_of_a_real_orbit_comes_back_to_it(n, degree):
    rng = np.random.default_rng(degree)
    law = sh.Gaussian(n)
    identity = (
        sh.SymmetricTensor.from_matrix(np.eye(n)).entries
        if degree == 2
        else np.zeros(coordinates.dimension(n, 3))
    )
    found = symmetry_algebra(law.gram(degree), identity, n, degree)
    real = rng.standard_normal((2, n))
    boost = expm(1j * np.tensordot(rng.standard_normal(found.dimension), found.basis, axes=1))
    back = found.least(real @ boost.T)
    assert np.max(np.abs(back.imag)) < 1e-7
    # the same orbit: inner products of neurons are what rotations keep
    np.testing.assert_allclose(back.real @ back.real.T, real @ real.T, atol=1e-7)


def test_an_orbit_without_real_points_stays_complex():
    found = symmetry_algebra(sh.Gaussian(2).gram(2), np.array([1.0, 0, 1.0]), 2, 2)
    w = np.array([[1.0 + 1j, 0.3]])  # w·w = 1.09 + 2i is no real number: no turn makes w real
    least = found.least(w)
    assert np.sum(least * least) == pytest.approx(np.sum(w * w))
    assert np.max(np.abs(least.imag)) > 0.1
