"""Symmetric tensors against full arrays and obvious sums."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows import Frobenius, Gaussian, InvalidProblem, Network, Power, SymmetricTensor
from shallows.mathematics.tensors.coordinates import dimension

shapes = st.tuples(st.integers(1, 4), st.integers(1, 4))
seeds = st.integers(0, 2**32 - 1)


def random_tensor(n, degree, seed):
    return SymmetricTensor(np.random.default_rng(seed).standard_normal(dimension(n, degree)), n, degree)


@given(shapes, seeds)
def test_array_round_trip_and_symmetry(shape, seed):
    T = random_tensor(*shape, seed)
    full = T.to_array()
    assert full.shape == (T.n,) * T.degree
    for axes in itertools.permutations(range(T.degree)):
        assert np.array_equal(full.transpose(axes), full)
    assert np.array_equal(SymmetricTensor.from_array(full).entries, T.entries)


@given(shapes, seeds)
def test_polynomial_text_round_trip(shape, seed):
    T = random_tensor(*shape, seed)
    names = [f"x{i + 1}" for i in range(T.n)]
    again = SymmetricTensor.from_polynomial(T.polynomial(), names)
    assert np.allclose(again.entries, T.entries, rtol=1e-14)


@given(shapes, seeds)
def test_contraction_is_the_array_contraction(shape, seed):
    T = random_tensor(*shape, seed)
    rng = np.random.default_rng(seed + 1)
    full = T.to_array()
    vectors = []
    for k in range(1, T.degree + 1):
        vectors.append(rng.standard_normal(T.n))
        full = full @ vectors[-1]
        contracted = T.contract(*vectors)
        if k == T.degree:
            assert isinstance(contracted, float)
            assert contracted == pytest.approx(float(full), rel=1e-12, abs=1e-12)
        else:
            assert np.allclose(contracted.to_array(), full, atol=1e-12)


@given(shapes, seeds)
def test_gradient_and_hessian_are_contractions_and_slopes(shape, seed):
    T = random_tensor(*shape, seed)
    x, v = np.random.default_rng(seed + 1).standard_normal((2, T.n))
    h = 1e-5
    assert T.gradient(x) @ v == pytest.approx(
        float(T(x + h * v) - T(x - h * v)) / (2 * h), rel=1e-6, abs=1e-6
    )
    slope = (T.gradient(x + h * v) - T.gradient(x - h * v)) / (2 * h)
    assert np.allclose(T.hessian(x) @ v, slope, rtol=1e-6, atol=1e-6)
    assert T.gradient(x) @ x == pytest.approx(T.degree * float(T(x)), rel=1e-10, abs=1e-10)  # Euler


def test_published_identity_of_powers():
    """(x+y)³ + (x−y)³ − 2x³ = 6xy²: the monomial xy² is a sum of three cubes."""
    T = SymmetricTensor.from_powers([[1, 1], [1, -1], [1, 0]], [1, 1, -2], 3)
    assert T.polynomial() == "6*x1*x2^2"
    assert T.polynomial(["u", "v"]) == "6*u*v^2"


def test_polynomials_in_all_spellings():
    text = SymmetricTensor.from_polynomial("(x - y)^2*(x + 2*y)")
    mapping = SymmetricTensor.from_polynomial({(3, 0): 1, (1, 2): -3, (0, 3): 2})
    assert np.allclose(text.entries, mapping.entries, atol=1e-16)
    assert SymmetricTensor.from_polynomial("x2^2", ["x1", "x2", "x3"]).n == 3
    assert SymmetricTensor.from_polynomial("x10*x2").entries.tolist() == [0.0, 0.5, 0.0]
    assert SymmetricTensor(np.zeros(3), 2, 2).polynomial() == "0"


@pytest.mark.parametrize(
    ("polynomial", "match"),
    [
        ("x^2 + y", "degrees"),
        ("x - x", "is zero"),
        ("3", "degrees"),
        ("I*x^2", "complex"),
        ({(2, 0): 1.0, (1,): 1.0}, "one length"),
        ({(2, -1): 1.0}, "exponents"),
        ({}, "No term"),
        ({(1, 1): float("nan")}, "finite"),
        (7, "expected text"),
    ],
)
def test_bad_polynomials_are_refused(polynomial, match):
    with pytest.raises(InvalidProblem, match=match):
        SymmetricTensor.from_polynomial(polynomial)


def test_undeclared_variables_are_refused():
    with pytest.raises(InvalidProblem, match="declared"):
        SymmetricTensor.from_polynomial("x*z", ["x", "y"])


def test_contraction_refuses_wrong_vectors():
    T = random_tensor(3, 2, 0)
    with pytest.raises(InvalidProblem, match="length 2"):
        T.contract([1.0, 2.0])
    with pytest.raises(InvalidProblem, match="at most 2"):
        T.contract([1.0, 0, 0], [1.0, 0, 0], [1.0, 0, 0])
    with pytest.raises(InvalidProblem, match="named"):
        T.polynomial(["x"])
    with pytest.raises(InvalidProblem, match="one point"):
        T.hessian(np.zeros((2, 3)))


def test_large_degree_needs_no_full_array():
    """4^20 ≈ 10^12 places in the full array; contraction works on the 1771 distinct entries."""
    T = SymmetricTensor.from_powers(np.eye(10)[:2] + 0.1, [1.0, -1.0], 5)
    big = SymmetricTensor.from_powers(np.ones((1, 4)), [1.0], 20)
    assert big.contract(*[np.ones(4)] * 20) == pytest.approx(4.0**20)
    assert T.gradient(np.ones(10)).shape == (10,)


@given(shapes, seeds)
def test_inner_products(shape, seed):
    S, T = random_tensor(*shape, seed), random_tensor(*shape, seed + 1)
    frobenius = float(np.sum(S.to_array() * T.to_array()))
    assert S.inner(T, Frobenius(S.n)) == pytest.approx(frobenius, rel=1e-12, abs=1e-12)
    if S.degree <= 2:
        nodes, weights = np.polynomial.hermite_e.hermegauss(6)
        grid = np.stack(np.meshgrid(*[nodes] * S.n), -1).reshape(-1, S.n)
        mass = np.prod(np.stack(np.meshgrid(*[weights] * S.n), -1).reshape(-1, S.n), axis=1)
        expected = np.sum(mass * S(grid) * T(grid)) / np.sum(mass)
        assert S.inner(T, Gaussian(S.n)) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_networks_map_to_tensors(rng):
    net = Network(rng.standard_normal((3, 4)), rng.standard_normal(3), Power(3))
    X = rng.standard_normal((5, 4))
    assert np.allclose(net.tensor()(X), net(X))
