"""Limits of two merged neurons of neighbouring powers, against descents of a loss of its own."""

import numpy as np
import pytest
from numpy.polynomial.polynomial import polyder, polyval
from scipy.optimize import minimize

import shallows as sh
from shallows.questions.charts.neurons.tangent_limits import has_tangent_limits


def samples(seed, n=2):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((40, n)), rng.standard_normal(40)


def lowest(X, y, c, starts, seed=0):
    """The least loss that descents come to."""
    rng, n = np.random.default_rng(seed), X.shape[1]

    def loss(theta):
        W, a = theta[: 2 * n].reshape(2, n), theta[2 * n :]
        Z = X @ W.T
        r = polyval(Z, c) @ a - y
        slope = 2 / len(y) * (r[:, None] * a * polyval(Z, polyder(c))).T @ X
        return float(np.mean(r**2)), np.concatenate([slope.ravel(), 2 / len(y) * polyval(Z, c).T @ r])

    draws = rng.standard_normal((starts, 2 * n + 2)) * rng.choice([0.3, 1.0, 2.0], (starts, 1))
    return min(
        minimize(loss, x, jac=True, method="BFGS", options={"maxiter": 300, "gtol": 1e-9}).fun for x in draws
    )


@pytest.mark.parametrize(
    ("seed", "c", "attained"),
    [
        (1, (0.0, 0.0, 1.0, 1.0), True),
        (2, (0.0, 0.0, 1.0, 1.0), False),
        pytest.param(2, (0.0, 1.0, 1.0, 1.0), True, marks=pytest.mark.thorough),
        *(
            pytest.param(k, c, None, marks=pytest.mark.thorough)
            for k in range(3, 9)
            for c in ((0.0, 0.0, 1.0, 1.0), (0.0, 1.0, -0.5, 1.0), (0.0, 0.0, 0.0, 1.0, 2.0))
        ),
    ],
)
def test_descents_come_to_the_infimum_and_not_below(seed, c, attained):
    X, y = samples(seed)
    problem = sh.Problem(None, sh.Samples(X, y), 2, sh.Polynomial(list(c)))
    chart = sh.chart(problem)
    best = lowest(X, y, c, 12)
    if chart.scope:
        assert attained is None and chart.attained in (None, True) and "limits" in chart.scope
        return
    assert chart.infimum - 1e-9 <= best < chart.infimum + 1e-3
    assert attained is None or chart.attained is attained
    for point in chart.critical:
        if point.limit:
            assert abs(problem.loss(point.network) - point.loss) < 1e-4  # a network near it


def test_what_has_no_other_limits():
    def has(c, data=None, **options):
        target = sh.Network(
            np.eye(2), np.ones(2), sh.Polynomial(c), bias=np.zeros(2) if options.get("bias") else None
        )
        return has_tangent_limits(
            sh.Problem(target, data or sh.IID.laplace(2), options.pop("width", 2), **options)
        )

    assert has([0, 0, 1.0, 1.0]) and has([0, 1.0, 1.0, 1.0]) and has([0, 0, 0, 1.0, 1.0])
    assert not has([0, 1.0, 0, 1.0]) and not has([1.0, 1.0, 0, 1.0]) and not has([0, 1.0, 1.0, 0, 1.0])
    assert not has([0, 0, 1.0, 1.0], width=3) and not has([0, 0, 1.0, 1.0], bias=True)
    assert not has([0, 0, 1.0, 1.0], outer=[1.0, 1.0]) and not has([0, 0, 1.0, 1.0], sh.Gaussian(2))
