"""One power: all real critical points by exclusion, against paths and against zeros of a gradient of its own."""

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.optimize import least_squares

import shallows as sh
from shallows.questions.charts.powers.excluded import is_excludable, one_power_stratum
from shallows.questions.charts.powers.sums import powers_stratum

#: Tensors that are found to ten digits, as a share of their size.
SAME = 1e-8
#: Losses of zeros of a gradient, as a share of the target's.
LOSS = 1e-6


def lost(problem, patient, kept=0):
    """What paths might bring if nearly all were lost."""
    whole = powers_stratum(problem, 1, True, 0, patient=patient)
    return replace(whole, found=whole.found[:kept], completeness="sampled")


@pytest.mark.parametrize(
    ("n", "degree", "seed"), [(2, 3, 0), (2, 4, 1), (2, 5, 2), (3, 3, 3), (3, 4, 4), (4, 3, 5), (5, 3, 6)]
)
def test_what_paths_lose_is_found_again(n, degree, seed):
    rng = np.random.default_rng(seed)
    r = 3 if n < 5 else 6  # of three in five inputs the complement turns, and paths prove nothing
    teacher = sh.Network(rng.standard_normal((r, n)), rng.standard_normal(r), sh.Power(degree))
    problem = sh.Problem(teacher, sh.Gaussian(n), 1)
    whole = powers_stratum(problem, 1, True, 0)
    found = one_power_stratum(problem, partial(lost, problem))
    assert whole.completeness == found.completeness == "proved"
    ours, theirs = (
        np.array([point.entries(n, degree) for point in stratum.found]) for stratum in (found, whole)
    )
    assert len(ours) == len(theirs)
    pairs = [int(np.abs(theirs - s).max(axis=1).argmin()) for s in ours]
    assert np.abs(theirs[pairs] - ours).max() < SAME * np.abs(theirs).max()
    assert all(point.certificate for point in found.found)
    assert [p.signature for p in found.found] == [whole.found[k].signature for k in pairs]


def test_a_certified_point_that_exclusion_has_not_is_told():
    problem = sh.Problem(sh.Network(np.eye(2), [2.0, 1.0], sh.Power(3)), sh.Gaussian(2), 1)
    whole = powers_stratum(problem, 1, True, 0)
    wrong = replace(whole.found[0], vectors=whole.found[0].vectors * 1.25)

    def paths(patient):
        return replace(whole, found=[*whole.found[1:], wrong], completeness="sampled")

    found = one_power_stratum(problem, paths)
    assert found.completeness == "sampled" and "different points" in found.notes[-1]


def test_directions_of_the_zero_function_are_no_points():
    """C = 3v₃(v₁² − 2v₂²) + v₁³ vanishes twice at (0, 0, 1), where F is zero, and simply so."""
    form = {(0, 0, 2): 1.0, (1, 1, 2): -2.0, (0, 0, 0): 1.0}
    entries = [form.get(row, 0.0) for row in itertools.combinations_with_replacement(range(3), 3)]
    problem = sh.Problem(sh.SymmetricTensor(entries, 3, 3), sh.Frobenius(3), 1)
    whole = powers_stratum(problem, 1, True, 0)
    found = one_power_stratum(problem, partial(lost, problem))
    assert found.completeness == "proved" and len(found.found) == len(whole.found)
    assert min(np.abs(point.vectors).max() for point in found.found) > 0.1


#: Degree, and teacher: W, a, its degree; mean and covariance. Paths run away that a random target has.
SPECIAL = {
    "z³ against 2 + 2x₁²": (3, [[1, 0], [-1, 0]], [1, 1], 2, [1, 0], [[1, 1], [1, 2]]),
    "z⁴ against a quadratic": (4, [[-1, -1], [0, 1], [0, -1]], [1, 2, 0], 2, [1, 1], [[1, 1], [1, 2]]),
    "z³ against a line": (3, [[1, 0]], [1], 1, [0, 0], [[1, 0], [0, 1]]),
    "z⁴ against an identity": (4, [[1, 0], [0, 1]], [1, 1], 2, [0, 0], [[1, 0], [0, 1]]),
}


def gradient_of(name):
    """The gradient and loss in θ = (a, b, w), by a quadrature that is exact for them, and E y²."""
    degree, W, a, taught, mean, covariance = SPECIAL[name]
    nodes, weights = np.polynomial.hermite_e.hermegauss(degree + 1)
    Z = np.array(list(itertools.product(nodes, repeat=2)))
    mass = np.prod(list(itertools.product(weights / weights.sum(), repeat=2)), axis=1)
    X = np.column_stack([np.ones(len(Z)), np.array(mean) + Z @ np.linalg.cholesky(covariance).T])
    y = (X[:, 1:] @ np.array(W, float).T) ** taught @ np.array(a, float)

    def gradient(theta):
        z = X @ theta[1:]
        r = (theta[0] * z**degree - y) * mass
        return np.append(r @ z**degree, X.T @ (r * theta[0] * degree * z ** (degree - 1)))

    return gradient, lambda theta: mass @ (theta[0] * (X @ theta[1:]) ** degree - y) ** 2, mass @ y**2


@pytest.mark.parametrize("name", SPECIAL)
def test_charts_of_special_targets_have_all_zeros_that_a_search_finds(name):
    degree, W, a, taught, mean, covariance = SPECIAL[name]
    teacher = sh.Network(np.array(W, float), a, sh.Power(taught))
    law = sh.Gaussian(2, mean=mean, covariance=covariance)
    chart = sh.chart(sh.Problem(teacher, law, 1, sh.Power(degree), bias=True))
    gradient, loss, energy = gradient_of(name)
    rng, seen = np.random.default_rng(0), 0
    for start in rng.standard_normal((60, 4)):
        theta = least_squares(gradient, start, method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15).x
        if np.abs(theta).max() < 1e3 and np.abs(gradient(theta)).max() < 1e-10 * (1 + energy):
            seen += 1
            assert np.abs(chart.losses - loss(theta)).min() < LOSS * (1 + energy), theta
    assert seen > 10
    for point in chart.points:
        net = point.network
        theta = np.concatenate([net.a, net.bias, net.W[0]])
        assert np.abs(gradient(theta)).max() < LOSS * (1 + energy)
    if name != "z⁴ against an identity":
        assert chart.completeness == "proved"


def test_which_problems_have_few_enough_directions():
    def problem(n, degree):
        return sh.Problem(sh.Network(np.eye(n), np.ones(n), sh.Power(degree)), sh.Gaussian(n), 1)

    assert [is_excludable(problem(n, 3)) for n in (1, 2, 5, 6)] == [False, True, True, False]
    assert not is_excludable(problem(3, 2))
