"""Every kernel against Monte Carlo with an error bar, finite differences of itself, and the tensor view."""

from functools import reduce
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.mathematics.tensors import coordinates as co

N = 3
_random = np.random.default_rng(5)
_factor = _random.standard_normal((N, N))
COVARIANCE = _factor @ _factor.T / N + 0.3 * np.eye(N)
MEAN = np.array([0.5, -0.2, 0.1])
SAMPLES = sh.Samples(_random.standard_normal((60, N)))
DATA = {
    "standard": sh.Gaussian(N),
    "coloured": sh.Gaussian(N, COVARIANCE),
    "shifted": sh.Gaussian(N, COVARIANCE, MEAN),
    "laplace": sh.IID.laplace(N),
    "skewed": sh.IID(N, [1, 0.3, 1.2, 0.8, 4, 6, 40, 50, 900]),
    "sphere": sh.Sphere(N),
    "radial": sh.Radial(N, [2.0**k / (k + 1) for k in range(9)]),
    "mixture": sh.Mixture([0.3, 0.7], [sh.Gaussian(N, COVARIANCE, MEAN), sh.IID.uniform(N)]),
    "samples": SAMPLES,
}
TANH = sh.Smooth(np.tanh, lambda z: 1 / np.cosh(z) ** 2, lambda z: -2 * np.tanh(z) / np.cosh(z) ** 2)
POLYNOMIALS = {
    "linear": sh.Power(1),
    "square": sh.Power(2),
    "cube": sh.Power(3),
    "quartic": sh.Power(4),
    "mixed": sh.Polynomial([0.3, -1.0, 0.5, 0.2]),
}
PAIRS = [(a, a, d) for a in POLYNOMIALS.values() for d in DATA.values()]
PAIRS += [(sh.Power(2), sh.Polynomial([1, 2, 3, 0.1]), d) for d in DATA.values()]
PAIRS += [(sh.Power(d), sh.Power(d), sh.Frobenius(N)) for d in (1, 2, 3, 4)]
PAIRS += [(sh.Power(d), sh.Power(d), sh.Metric(N, d, sh.IID.laplace(N).gram(d))) for d in (1, 2, 3)]
PAIRS += [(sh.ReLU(), sh.ReLU(), DATA[d]) for d in ("standard", "coloured", "samples")]
PAIRS += [(TANH, TANH, DATA[d]) for d in ("standard", "shifted", "samples")]
PAIRS += [(TANH, sh.Power(3), DATA["shifted"]), (sh.ReLU(), sh.Power(2), DATA["coloured"])]
PAIRS += [(sh.Power(2), sh.ReLU(), DATA["shifted"]), (sh.ReLU(), TANH, DATA["standard"])]
PAIRS += [(TANH, TANH, sh.Mixture([0.5, 0.5], [DATA["standard"], SAMPLES]))]
IDS = [f"{left!r}-{right!r}-{data!r}"[:70] for left, right, data in PAIRS]


def setting(seed=3, scale=0.6):
    rng = np.random.default_rng(seed)
    return tuple(
        scale * rng.standard_normal(shape) for shape in ((4, N), (5, N), (4, 5), (4, N), (5, N), (4, 5))
    )


def full_power(w, degree):
    """w^⊗d with all its n^d places."""
    return reduce(np.multiply.outer, [w] * degree)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_the_frobenius_kernel_is_the_sum_over_all_places(degree):
    W, V, *_ = setting()
    places = [[np.sum(full_power(w, degree) * full_power(v, degree)) for v in V] for w in W]
    power = sh.Power(degree)
    np.testing.assert_allclose(sh.Frobenius(N).kernel(power, power).value(W, V), places, rtol=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_the_kernel_of_a_metric_is_the_double_sum_over_entries(degree, rng):
    """Under a Gram matrix that no data induce, entry by entry."""
    entries = list(combinations_with_replacement(range(N), degree))
    factor = rng.standard_normal((len(entries), len(entries)))
    data = sh.Metric(N, degree, factor @ factor.T + np.eye(len(entries)))
    W, V, *_ = setting()
    slow = [
        [
            sum(
                prod(w[list(i)]) * data.gram(degree)[a, b] * prod(v[list(j)])
                for a, i in enumerate(entries)
                for b, j in enumerate(entries)
            )
            for v in V
        ]
        for w in W
    ]
    power = sh.Power(degree)
    np.testing.assert_allclose(data.kernel(power, power).value(W, V), slow, rtol=1e-10, atol=1e-12)


SAMPLED = [pair for pair in PAIRS if hasattr(pair[2], "sample")]


@pytest.mark.parametrize(("left", "right", "data"), SAMPLED, ids=[IDS[PAIRS.index(pair)] for pair in SAMPLED])
def test_kernel_agrees_with_monte_carlo(left, right, data, rng):
    """Every pair under a distribution; the two tests above are for metrics, which have no samples."""
    W, V, *_ = setting()
    x = data.sample(40_000, rng)
    draws = left(x @ W.T)[:, :, None] * right(x @ V.T)[:, None, :]
    error = draws.std(axis=0) / np.sqrt(len(x)) + 1e-12
    assert np.max(np.abs(draws.mean(axis=0) - data.kernel(left, right).value(W, V)) / error) < 5


@pytest.mark.parametrize(("left", "right", "data"), PAIRS, ids=IDS)
def test_first_and_second_derivatives_agree_with_finite_differences(left, right, data):
    k = data.kernel(left, right)
    W, V, B, dW, dV, dB = setting()
    h = 1e-5

    def slope(function):
        return (function(h) - function(-h)) / (2 * h)

    def close(value, reference, rel=2e-7):
        assert np.max(np.abs(value - reference)) <= rel * (1 + np.max(np.abs(reference)))

    close(k.value_jvp(W, V, dW, dV), slope(lambda t: k.value(W + t * dW, V + t * dV)))
    close(k.value_jvp(W, V, dW, None), slope(lambda t: k.value(W + t * dW, V)))
    gradient = k.gradient(W, V, B)
    close(np.sum(gradient * dW), slope(lambda t: np.sum(B * k.value(W + t * dW, V))))
    moved = slope(lambda t: k.gradient(W + t * dW, V + t * dV, B + t * dB))
    close(k.gradient_jvp(W, V, B, dW, dV, dB), moved)
    close(k.gradient_jvp(W, V, B, dW, None, None), slope(lambda t: k.gradient(W + t * dW, V, B)))


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("law", ["gaussian", "iid", "radial", "mixture", "samples", "frobenius", "metric"])
def test_kernel_view_and_tensor_view_agree(degree, n, law, rng):
    """k(w, v) = τ(w)ᵀ G τ(v) to 1e-10 for d = 1..5, n ≤ 4."""
    gaussian = sh.Gaussian(n, np.eye(n) + 0.2, 0.3 * np.ones(n))
    iid = sh.IID(n, sh.IID.laplace(n).moment_sequence(10))
    data = {
        "gaussian": gaussian,
        "iid": iid,
        "radial": sh.Radial(n, [factorial(k + 1) / 2**k for k in range(11)]),
        "mixture": sh.Mixture([0.4, 0.6], [gaussian, sh.Mixture([0.5, 0.5], [iid, sh.Sphere(n)])]),
        "samples": sh.Samples(rng.standard_normal((100, n))),
        "frobenius": sh.Frobenius(n),
        "metric": sh.Metric(n, degree, iid.gram(degree)),
    }[law]
    W, V = 0.7 * rng.standard_normal((3, n)), 0.7 * rng.standard_normal((4, n))
    tensor = co.monomials(W, degree) @ data.gram(degree) @ co.monomials(V, degree).T
    value = data.kernel(sh.Power(degree), sh.Power(degree)).value(W, V)
    assert np.max(np.abs(value - tensor)) <= 1e-10 * max(1.0, np.max(np.abs(tensor)))


def test_the_iid_kernel_is_exact_where_no_moment_tensor_could_exist():
    """d = 4, n = 1000: against exact rational arithmetic by multiplying 1000 truncated series."""
    from fractions import Fraction

    n, d = 1000, 4
    rng = np.random.default_rng(1)
    w, v = (rng.integers(-8, 9, n) / 16 for _ in range(2))
    moments = [Fraction(m) for m in (1, 0, 1, 0, 6, 0, 90, 0, 2520)]
    total = {(0, 0): Fraction(1)}
    for wi, vi in zip(w, v, strict=True):
        wi, vi = Fraction(float(wi)), Fraction(float(vi))
        factor = {
            (a, b): moments[a + b] * wi**a * vi**b / (factorial(a) * factorial(b))
            for a in range(d + 1)
            for b in range(d + 1)
            if (a + b) % 2 == 0
        }
        following = {}
        for (i, j), x in total.items():
            for (a, b), y in factor.items():
                if i + a <= d and j + b <= d:
                    following[i + a, j + b] = following.get((i + a, j + b), 0) + x * y
        total = following
    exact = float(total[d, d] * factorial(d) ** 2)
    data = sh.IID.laplace(n)
    value = data.kernel(sh.Power(d), sh.Power(d)).value(w[None, :], v[None, :])[0, 0]
    assert value == pytest.approx(exact, rel=1e-12)


def test_rademacher_cancellation_stays_small():
    """At n = 1 the kernel of ±1 data is (wv)^d, though the cumulants reach −272."""
    k = sh.IID.rademacher(1).kernel(sh.Power(4), sh.Power(4))
    assert k.value(np.array([[0.7]]), np.array([[1.3]]))[0, 0] == pytest.approx((0.7 * 1.3) ** 4, rel=1e-12)


@given(st.integers(0, 10_000), st.sampled_from(["cube", "square", "mixed"]))
def test_rotation_invariance(seed, name):
    rng = np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(rng.standard_normal((N, N)))
    W, V = rng.standard_normal((2, 3, N))
    for data in (sh.Gaussian(N), sh.Sphere(N)):
        k = data.kernel(POLYNOMIALS[name], POLYNOMIALS[name])
        np.testing.assert_allclose(k.value(W @ rotation, V @ rotation), k.value(W, V), rtol=1e-9, atol=1e-9)


@given(st.integers(0, 10_000), st.floats(0.1, 10))
def test_homogeneity_and_symmetry(seed, factor):
    rng = np.random.default_rng(seed)
    W, V = rng.standard_normal((2, 3, N))
    for activation, degree in ((sh.Power(3), 3), (sh.ReLU(), 1)):
        k = sh.Gaussian(N).kernel(activation, activation)
        np.testing.assert_allclose(
            k.value(factor * W, V), factor**degree * k.value(W, V), rtol=1e-9, atol=1e-12
        )
        np.testing.assert_allclose(k.value(W, V), k.value(V, W).T, rtol=1e-12, atol=1e-14)


@given(st.integers(0, 10_000), st.sampled_from(list(DATA)))
def test_kernel_matrices_are_positive_semidefinite(seed, name):
    W = np.random.default_rng(seed).standard_normal((6, N))
    for activation in (sh.Power(2), sh.Power(3)):
        K = DATA[name].kernel(activation, activation).value(W, W)
        assert np.linalg.eigvalsh(K)[0] > -1e-10 * np.abs(K).max()


def test_batches_are_the_same_as_one_at_a_time(rng):
    W, dW = 0.6 * rng.standard_normal((2, 3, 4, N))
    V, B = 0.6 * rng.standard_normal((5, N)), rng.standard_normal((3, 4, 5))
    for left, right, data in PAIRS:
        if TANH in (left, right) and not isinstance(data, sh.Gaussian):
            continue
        k = data.kernel(left, right)
        one = [k.gradient_jvp(W[i], V, B[i], dW[i], None, None) for i in range(3)]
        np.testing.assert_allclose(k.gradient_jvp(W, V, B, dW, None, None), one, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(k.value(W, V), [k.value(w, V) for w in W], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("activation", "data"),
    [
        (sh.ReLU(), sh.IID.laplace(2)),
        (sh.ReLU(), sh.Sphere(2)),
        (sh.ReLU(), sh.Mixture([0.5, 0.5], [sh.Gaussian(2), sh.IID.uniform(2)])),
        (TANH, sh.Frobenius(2)),
        (sh.Polynomial([0, 1, 1]), sh.Frobenius(2)),
        (sh.Power(3), sh.Metric(2, 2, np.eye(3))),
    ],
)
def test_a_combination_without_a_kernel_lists_those_that_exist(activation, data):
    with pytest.raises(sh.InvalidProblem, match="The combinations are:"):
        data.kernel(activation, activation)


@pytest.mark.parametrize(
    "data", [sh.Gaussian(2), sh.IID.laplace(2), sh.Gaussian(2, np.diag([1.0, 3.0]))], ids=repr
)
def test_a_cross_kernel_that_vanishes_has_a_hessian_too(data):
    """An odd teacher and an even student are uncorrelated under a centred law: E[y σ(w·x)] = 0 for every w."""
    teacher = sh.Network(np.eye(2), activation=sh.Power(3))
    problem = sh.Problem(teacher, data, width=2, activation=sh.Power(2))
    report = sh.check_derivatives(problem, sh.Network([[0.3, 1.0], [-0.7, 0.2]], [1.0, -0.5]))
    assert report.passed, report
