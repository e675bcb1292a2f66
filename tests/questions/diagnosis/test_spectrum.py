"""Eigenvalues with proved errors: against closed forms, and against matrices that were tampered with."""

import mpmath
import numpy as np
import pytest
from flint import arb_mat

import shallows as sh
from shallows.questions.diagnosis.spectrum import enclosed, spectrum_at


@pytest.mark.parametrize("k", [2, 3, 6])
def test_the_smallest_eigenvalue_at_the_teacher_is_that_of_the_paper(k):
    """Paper 003: ¼ − 1/(2π) for ½E at a global minimum, n = k; twice that here."""
    spectrum = spectrum_at(sh.relu_problem(k), sh.Network(np.eye(k), activation=sh.ReLU()))
    assert spectrum.proved
    assert abs(spectrum.values[0] - (0.5 - 1 / np.pi)) <= spectrum.errors[0] + 1e-16
    assert spectrum.errors.max() < 1e-13


@pytest.mark.parametrize("seed", range(3))
def test_errors_hold_in_forty_digits(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((5, 5))
    matrix = matrix + matrix.T
    values, vectors = np.linalg.eigh(matrix)
    errors = enclosed(arb_mat(5, 5, matrix.ravel().tolist()), values, vectors)
    with mpmath.workdps(40):
        true = sorted(mpmath.eigsy(mpmath.matrix(matrix.tolist()), eigvals_only=True))
        gaps = [abs(t - mpmath.mpf(float(v))) for t, v in zip(true, values, strict=True)]
        assert all(gap <= error for gap, error in zip(gaps, errors, strict=True))
    assert errors.max() < 1e-13


def test_wrong_eigenvalues_get_large_errors():
    matrix = np.diag([1.0, 2.0, 3.0])
    values, vectors = np.linalg.eigh(matrix)
    errors = enclosed(arb_mat(3, 3, matrix.ravel().tolist()), values + np.array([0, 0.1, 0]), vectors)
    assert errors[1] >= 0.1
    skewed = vectors + np.array([[0, 0.9, 0.9], [0, 0, 0.9], [0, 0, 0]])
    assert enclosed(arb_mat(3, 3, matrix.ravel().tolist()), values, skewed) is None


def test_without_balls_ten_digits_are_assumed():
    problem = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=2)
    spectrum = spectrum_at(problem, sh.Network(np.eye(2), a=[2.0, 1.0]))
    assert not spectrum.proved and spectrum.signature == (3, 3, 0)
    assert "not proved" in repr(spectrum)
