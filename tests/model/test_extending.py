"""CONTRIBUTING.md is true: a new law is its own class with moments and samples, a new activation its derivatives.

Both are defined here, outside the library, and nothing else is told about them: losses, charts, training, problem
files, stored problems and reports follow.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.tensors import coordinates
from shallows.model.activations import Activation
from shallows.model.data.base import Distribution
from shallows.model.problem_file import parse_written
from shallows.model.stored_problem import from_document, to_document
from shallows.uses.report.mathematics import problem_html
from shallows.uses.report.recipe import python_of, toml_of


class Corners(Distribution):
    """Uniform on the corners {−c, c}ⁿ of a cube."""

    def __init__(self, n, c):
        self.n, self.c = n, float(c)

    def moments(self, degree):
        """c^d where all exponents are even."""
        even = np.all(coordinates.exponents(self.n, degree) % 2 == 0, axis=1)
        return self.c**degree * even

    def sample(self, count, rng=0):
        """Signs times c."""
        return self.c * np.random.default_rng(rng).choice([-1.0, 1.0], size=(count, self.n))

    def construction(self):
        """Corners(n, c)."""
        return self.constructed(n=self.n, c=self.c)

    def __repr__(self):
        return f"Corners({self.n}, {self.c})"


@dataclass(frozen=True)
class Sine(Activation):
    """σ(z) = sin(ωz)."""

    frequency: float

    def derivative(self, z, order):
        """ω^k sin(ωz + kπ/2)."""
        return self.frequency**order * np.sin(self.frequency * np.asarray(z) + order * np.pi / 2)

    def construction(self):
        """Sine(ω)."""
        return self.constructed(frequency=self.frequency)


TARGET = np.array([[2.0, 0.3], [0.3, -1.0]])
CUBIC = sh.SymmetricTensor([1.0, 0.2, -0.4, 0.7], 2, 3)
POLYNOMIAL = sh.Polynomial([0.5, -1.0, 0.3, 0.2])
PAIRS = {
    "matrix": (TARGET, None),
    "network": (sh.Network([[1.0, 0.5], [0.2, -1.0]], activation=sh.Power(3)), None),
    "tensor": (CUBIC, None),
    "polynomial": (sh.Network([[1.0, 0.5], [0.2, -1.0]], activation=POLYNOMIAL), None),
    "other student": (TARGET, POLYNOMIAL),
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_loss_under_a_new_law_needs_only_its_moments(name):
    target, activation = PAIRS[name]
    new, known = (
        sh.Problem(target, data, 2, activation=activation)
        for data in (Corners(2, 2.0), sh.IID(2, [float(k % 2 == 0) * 2.0**k for k in range(9)]))
    )
    thetas = 0.5 * np.random.default_rng(3).standard_normal((4, new.size))
    np.testing.assert_allclose(new.value(thetas), known.value(thetas), rtol=1e-10, atol=1e-10)
    assert sh.check_derivatives(new, new.unpack(thetas[0]))


def test_charts_and_training_follow():
    problem = sh.Problem(TARGET, sh.Mixture([0.5, 0.5], [Corners(2, 1.0), sh.Gaussian(2)]), 1)
    chart = sh.chart(problem)
    assert chart.completeness in ("proved", "count-matched")
    runs = sh.ensemble(problem, runs=5, method="newton")
    assert min(runs.losses) == pytest.approx(chart.losses[0], rel=1e-9)


@pytest.mark.parametrize(
    "problem",
    [
        sh.Problem(TARGET, sh.Mixture([0.5, 0.5], [Corners(2, 1.5), sh.IID.laplace(2)]), 1),
        sh.Problem(sh.Network([[1.0, 0.5]], activation=Sine(0.7)), sh.Gaussian(2), 2),
    ],
    ids=["law", "activation"],
)
def test_files_and_reports_follow(problem):
    theta = np.random.default_rng(1).standard_normal(problem.size)
    for again in (from_document(*to_document(problem)), parse_written(toml_of(problem)).problem):
        assert repr(again) == repr(problem)
        assert float(again.value(theta)) == float(problem.value(theta))
    assert "sh.Mixture" in python_of(problem) or "sh.Sine" in python_of(problem)
    assert "Corners" in problem_html(problem) or "Sine" in problem_html(problem)


@pytest.mark.parametrize("data", [sh.Gaussian(2), sh.Gaussian(2, mean=[0.3, -0.1]), sh.Samples(np.eye(2))])
def test_a_new_activation_needs_only_its_derivatives(data):
    new = sh.Problem(sh.Network([[1.0, 0.5]], activation=Sine(0.7)), data, 2)
    smooth = sh.Smooth(
        lambda z: np.sin(0.7 * z), lambda z: 0.7 * np.cos(0.7 * z), lambda z: -0.49 * np.sin(0.7 * z)
    )
    known = sh.Problem(sh.Network([[1.0, 0.5]], activation=smooth), data, 2)
    theta = np.random.default_rng(1).standard_normal((3, new.size))
    np.testing.assert_allclose(new.value(theta), known.value(theta), rtol=1e-12, atol=1e-12)
    assert sh.check_derivatives(new, new.unpack(theta[0]))


def test_what_a_law_does_not_say_is_not_assumed():
    """Unknown is always a right answer: no closed form is claimed for a law that does not say it has one."""
    data = Corners(3, 1.0)
    assert data.rotation_invariance(2) is None and data.as_gaussian() is None
    assert data.coordinate_moments(4) is None and data.exact_moments(4) is None
    assert not isinstance(data.exact_gram(2)[0, 0], Fraction)
