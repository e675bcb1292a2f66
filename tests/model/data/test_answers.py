"""What a law says of itself is true of its moments: rotation invariance, Gaussian parts, exact moments, coordinates."""

from fractions import Fraction
from math import factorial, prod

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.tensors import coordinates as co

N = 3
COVARIANCE = np.array([[1.0, 0.3, 0.1], [0.3, 0.5, -0.2], [0.1, -0.2, 2.0]])
MEAN = np.array([0.5, -1.0, 0.25])
RADIAL = [factorial(k + 1) / 2**k for k in range(9)]
LAWS = {
    "standard": sh.Gaussian(N),
    "isotropic": sh.Gaussian(N, 0.3 * np.eye(N)),
    "coloured": sh.Gaussian(N, COVARIANCE),
    "shifted": sh.Gaussian(N, COVARIANCE, MEAN),
    "equal mean": sh.Gaussian(N, 2 * np.eye(N), 0.5 * np.ones(N)),
    "normal": sh.IID.normal(N),
    "kurtosis 3": sh.IID(N, [1, 0, 1, 0.25, 3, 0, 17, 0, 130]),
    "scaled": sh.IID(N, [1, 0, 0.25, 0, 3 * 0.25**2, 0, 15 * 0.25**3, 0, 105 * 0.25**4]),
    "uniform": sh.IID.uniform(N),
    "student": sh.IID.student(N, 10.5),
    "sphere": sh.Sphere(N),
    "radial": sh.Radial(N, RADIAL),
    "proportional": sh.Mixture([0.3, 0.7], [sh.Gaussian(N, COVARIANCE), sh.Gaussian(N, 4 * COVARIANCE)]),
    "round": sh.Mixture(
        [0.25, 0.75], [sh.Sphere(N), sh.Mixture([0.5, 0.5], [sh.IID.normal(N), sh.Gaussian(N)])]
    ),
    "line": sh.Mixture([0.5, 0.5], [sh.Gaussian(N, COVARIANCE, t * MEAN) for t in (1.0, -2.0)]),
    "off the line": sh.Mixture([0.5, 0.5], [sh.Gaussian(N, mean=m) for m in np.eye(N)[:2]]),
    "unlike": sh.Mixture([0.5, 0.5], [sh.Gaussian(N), sh.IID.uniform(N)]),
    "samples": sh.Samples(np.random.default_rng(1).standard_normal((40, N))),
}
INVARIANT = [
    "standard",
    "isotropic",
    "coloured",
    "normal",
    "scaled",
    "sphere",
    "radial",
    "proportional",
    "round",
]

#: Mixtures of Gaussians under whatever name, and laws of independent coordinates of one law.
GAUSSIANS = {
    "standard",
    "isotropic",
    "coloured",
    "shifted",
    "equal mean",
    "normal",
    "proportional",
    "line",
    "off the line",
}
INDEPENDENT = {"standard", "isotropic", "equal mean", "normal", "kurtosis 3", "scaled", "uniform", "student"}


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("name", LAWS)
def test_rotation_invariance(name, degree):
    """κ times the Gram matrix of N(0, Σ), and for the coefficients the kernel itself."""
    data, metric = LAWS[name], LAWS[name].rotation_invariance(degree)
    also = {1: ("uniform", "student", "unlike", "kurtosis 3"), 2: ("kurtosis 3",)}.get(degree, ())
    assert (metric is not None) == (name in INVARIANT or name in also)
    if metric is not None:
        reference = metric.scale * sh.Gaussian(N, metric.covariance).gram(degree)
        np.testing.assert_allclose(
            data.gram(degree), reference, rtol=1e-12, atol=1e-13 * np.abs(reference).max()
        )
        w, v = np.random.default_rng(degree).standard_normal((2, N))
        u, q = (w, v) if metric.covariance is None else (metric.root() @ w, metric.root() @ v)
        terms = [
            c * (u @ u * (q @ q)) ** h * (u @ q) ** (degree - 2 * h)
            for h, c in enumerate(metric.coefficients)
        ]
        value = co.monomials(w, degree) @ data.gram(degree) @ co.monomials(v, degree)
        assert value == pytest.approx(sum(terms), rel=1e-10)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_frobenius_is_rotation_invariant_in_its_own_way(degree):
    metric = sh.Frobenius(N).rotation_invariance(degree)
    w, v = np.random.default_rng(1).standard_normal((2, N))
    assert metric.family == "Frobenius" and metric.coefficients.tolist() == [1.0]
    value = co.monomials(w, degree) @ sh.Frobenius(N).gram(degree) @ co.monomials(v, degree)
    assert value == pytest.approx((w @ v) ** degree, rel=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("name", LAWS)
def test_moments_of_gaussian_parts_and_lines_and_coordinates(name, degree):
    data = LAWS[name]
    moments, parts, line = data.moments(degree), data.gaussian_parts(), data.gaussian_line()
    each = data.coordinate_moments(degree)
    assert (parts is not None) == (name in GAUSSIANS), name
    assert (each is not None) == (name in INDEPENDENT), name
    close = {"rtol": 1e-12, "atol": 1e-12 * (1 + np.abs(moments).max())}
    if parts is not None:
        np.testing.assert_allclose(sum(w * part.moments(degree) for w, part in parts), moments, **close)
    if data.as_gaussian() is not None:
        np.testing.assert_allclose(data.as_gaussian().moments(degree), moments, **close)
    if line is not None:
        on_it = [
            w * sh.Gaussian(N, line.covariance, s * line.direction).moments(degree)
            for w, s in zip(line.weights, line.values, strict=True)
        ]
        np.testing.assert_allclose(sum(on_it), moments, **close)
    if each is not None:
        products = [prod(each[list(row)]) for row in co.exponents(N, degree)]
        np.testing.assert_allclose(products, moments, **close)


def test_who_answers_what():
    """A test of the tests above: not every answer is None."""
    assert {name for name, data in LAWS.items() if data.as_gaussian() is not None} == {
        "standard", "isotropic", "coloured", "shifted", "equal mean", "normal"
    }  # fmt: skip
    lines = {name for name, data in LAWS.items() if data.gaussian_line() is not None}
    assert "line" in lines and not lines & {"off the line", "proportional", "unlike", "round"}
    assert (
        LAWS["equal mean"].coordinate_moments(2) is not None and LAWS["shifted"].coordinate_moments(2) is None
    )


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("name", [name for name in LAWS if name != "samples"])
def test_exact_moments_round_to_the_moments(name, degree):
    exact = LAWS[name].exact_moments(degree)
    assert all(isinstance(x, Fraction) for x in exact)
    moments = LAWS[name].moments(degree)
    np.testing.assert_allclose(exact.astype(float), moments, rtol=1e-14, atol=1e-15 * np.abs(moments).max())


def test_exact_moments_are_the_laws_own():
    assert sh.IID.uniform(2).exact_moments(4)[0] == Fraction(9, 5)
    assert sh.Sphere(3).exact_moments(4)[0] == Fraction(1, 5)
    assert sh.IID.student(2, 10).exact_moments(4)[0] == 3 * Fraction(8, 6)
    assert sh.Samples(np.eye(2)).exact_moments(2)[0] == Fraction(1, 2)
