"""ReLU under a moved Gaussian: against nested quadrature, the centred formulas, and derivatives at special neurons."""

import mpmath
import numpy as np
import pytest
from scipy import integrate

import shallows as sh
from shallows.model.kernels.moved_relu import MovedReLUKernel
from shallows.model.kernels.orthant import orthant
from shallows.model.kernels.relu import ReLUKernel

#: What the quadrature is asked for, and a margin.
QUADRATURE = 1e-9
#: Some roundings of numbers of size one.
ROUNDING = 1e-14
#: (1, x) with x standard normal in the plane.
LIFTED = MovedReLUKernel(np.array([1.0, 0.0, 0.0]), np.diag([0.0, 1.0, 1.0]))
SPECIAL = np.array(
    [
        [0.5, 1, 2],
        [0.5, 1, 2],  # twice
        [-0.5, -1, -2],  # opposite
        [0.7, 1, 2],  # parallel, another bias
        [1, 0, 0],  # constants
        [-1, 0, 0],
        [0, 1, 2],  # no bias
        [1e-9, 0, 1],
        [0.25, 0.5, 1],  # the same line, another length
        [90.0, 1, 0],  # always on, to the last bit
        [-90.0, 1, 0],  # never on
    ]
)


def by_quadrature(u, v):
    """E[(b + w·x)₊ (c + v·x)₊]: x = r·e with r along w, so that one integral is over a normal variable alone."""
    b, w, c, v = u[0], u[1:], v[0], v[1:]
    s = np.linalg.norm(w)
    unit = w / s if s else np.array([1.0, 0.0])
    along, across = v @ unit, np.linalg.norm(v - (v @ unit) * unit)

    def inner(r):
        """E[(m + across·z)₊], m = c + along·r."""
        m = c + along * r
        if across < 1e-15:
            return max(m, 0.0)
        t = m / across
        return m * 0.5 * (1 + float(mpmath.erf(t / mpmath.sqrt(2)))) + across * np.exp(-t * t / 2) / np.sqrt(
            2 * np.pi
        )

    def outer(r):
        return max(b + s * r, 0.0) * inner(r) * np.exp(-r * r / 2) / np.sqrt(2 * np.pi)

    edges = [-b / s] if s and abs(b / s) < 12 else []
    edges += [-c / along] if abs(along) > 1e-12 and abs(c / along) < 12 else []
    return integrate.quad(outer, -12, 12, points=edges or None, epsabs=1e-12, epsrel=1e-12, limit=400)[0]


@pytest.mark.parametrize("i", range(len(SPECIAL)))
def test_values_are_those_of_quadrature(i):
    row = LIFTED.value(SPECIAL[i : i + 1], SPECIAL)[0]
    expected = [by_quadrature(SPECIAL[i], v) for v in SPECIAL]
    assert row == pytest.approx(expected, rel=QUADRATURE, abs=QUADRATURE)


@pytest.mark.parametrize(
    "h, k, theta",
    [(0.0, 0.0, 1.0), (0.0, 0.7, 2.0), (0.3, 0.0, 0.1), (-1.0, 2.0, 3.0), (0.4, 0.4, 1e-9), (1, 1, 3.1)],
)
def test_orthant_is_the_integral_of_its_density(h, k, theta):
    """Φ₂(h, k; ρ) = ∫_{−∞}^h φ(x) Φ((k − ρx)/√(1−ρ²)) dx, in 30 digits."""
    with mpmath.workdps(30):
        rho, sine = mpmath.cos(theta), mpmath.sin(theta)
        kink = k / rho
        edges = sorted({mpmath.mpf(-14), *([kink] if -14 < kink < h else []), mpmath.mpf(h)})
        exact = mpmath.quad(lambda x: mpmath.npdf(x) * mpmath.ncdf((k - rho * x) / sine), edges)
    got = orthant(*(np.array(float(x)) for x in (h, k, np.sin(theta), np.cos(theta))))
    assert float(got) == pytest.approx(float(exact), abs=1e-8 if theta < 1e-6 else 1e-13)


def test_without_a_mean_it_is_the_arc_cosine_kernel():
    rng = np.random.default_rng(0)
    W, dW, B = rng.standard_normal((4, 3)), rng.standard_normal((4, 3)), rng.standard_normal((4, 4))
    W[1], W[2] = W[0], -2 * W[0]
    moved, centred = MovedReLUKernel(np.zeros(3), None), ReLUKernel(None)
    assert np.allclose(moved.value(W, W), centred.value(W, W), rtol=ROUNDING, atol=ROUNDING)
    assert np.allclose(moved.gradient(W, W, B), centred.gradient(W, W, B), rtol=ROUNDING, atol=ROUNDING)
    pair = (kernel.gradient_jvp(W, W, B, dW, dW, B) for kernel in (moved, centred))
    assert np.allclose(*pair, rtol=ROUNDING, atol=10 * ROUNDING)


@pytest.mark.parametrize("i", range(len(SPECIAL)))
def test_second_derivatives_at_special_pairs(i):
    """Central differences of the gradient; where neurons are parallel it is only C¹, so the error falls like h."""
    rng = np.random.default_rng(i)
    u, one = SPECIAL[i : i + 1], np.ones((1, 1))
    for v in SPECIAL:
        du, dv = rng.standard_normal((2, 1, 3))
        exact = LIFTED.gradient_jvp(u, v[None], one, du, dv, None)
        errors = []
        for h in (1e-4, 1e-5):
            there = [LIFTED.gradient(u + t * du, v[None] + t * dv, one) for t in (h, -h)]
            errors.append(np.abs((there[0] - there[1]) / (2 * h) - exact).max())
        assert errors[1] < max(0.2 * errors[0], 1e-7)


@pytest.mark.parametrize("data", [sh.Gaussian(2, [[1.0, 0.3], [0.3, 2.0]], [0.4, -0.2]), sh.Gaussian(2)])
def test_problems_with_bias(data):
    rng = np.random.default_rng(5)
    teacher = sh.Network(rng.standard_normal((2, 2)), [1.0, -2.0], sh.ReLU(), bias=[0.5, -0.2])
    problem = sh.Problem(teacher, data, width=2, bias=True)
    net = problem.unpack(rng.standard_normal(problem.size))
    x = data.sample(400_000, 1)
    squares = (net(x) - teacher(x)) ** 2
    assert abs(problem.loss(net) - squares.mean()) < 5 * squares.std() / np.sqrt(len(x))
    assert problem.loss(teacher) < 1e-14
    assert sh.check_derivatives(problem, net)


def test_a_neuron_that_is_zero_has_no_derivative_and_a_constant_one_has():
    one = np.ones((1, 1))
    with pytest.raises(sh.NotDifferentiable):
        LIFTED.gradient(np.zeros((1, 3)), SPECIAL[:1], one)
    assert np.all(np.isfinite(LIFTED.gradient(SPECIAL[4:5], SPECIAL[:1], one)))
