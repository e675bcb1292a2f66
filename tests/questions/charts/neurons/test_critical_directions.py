"""Critical directions in two inputs: against derivatives by quadrature on a circle, and special targets."""

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.neurons.critical_directions import CriticalDirections
from shallows.questions.charts.outputs.neuron_system import OutputSpaces

#: Directions on the half circle at which the slope is looked at.
FINE = 4001
ODD, SHIFTED, WHOLE = [0.0, 1, 0, 1], [0.0, 1, 1], [0.0, 1, 1, 1]


def drawn(coefficients, outputs, target, rng):
    rows = {"identity": 2, "one neuron": 1}.get(target, 3)
    W = np.eye(2)[:rows] if target != "random" else rng.standard_normal((rows, 2))
    a = np.eye(outputs)[:, :rows] if target != "random" else rng.standard_normal((outputs, rows))
    a = np.ones(rows) if outputs == 1 and target != "random" else a if outputs > 1 else a[0]
    return sh.Network(W, a, sh.Polynomial(coefficients))


def profile(teacher, degrees, angles):
    """What the best Σ_j C_j (u·x)^j takes off the loss under N(0, I), by Gauss-Hermite quadrature."""
    x, mass = np.polynomial.hermite_e.hermegauss(8)
    X, mass = np.array([[p, q] for p in x for q in x]), np.outer(mass, mass).ravel() / mass.sum() ** 2
    y = np.asarray(teacher(X)).reshape(len(X), -1)
    found = []
    for angle in angles:
        z = X @ [np.cos(angle), np.sin(angle)]
        basis = np.sqrt(mass)[:, None] * np.stack([z**j for j in degrees], axis=1)
        Q = np.linalg.qr(basis)[0]
        found.append(np.sum((Q.T @ (np.sqrt(mass)[:, None] * y)) ** 2))
    return np.array(found)


def turns(values):
    """Where values on a circle change from rising to falling or back: between which neighbours."""
    signs = np.sign(np.diff(np.append(values, values[:2])))
    return np.flatnonzero(signs[1:] != signs[:-1]) + 1


@pytest.mark.parametrize("target", ["identity", "one neuron", "random"])
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("coefficients", [ODD, SHIFTED, WHOLE])
def test_real_ones_are_where_the_profile_turns(coefficients, outputs, target, rng):
    """Where the zero function is best, in the direction across a single neuron's, it turns too."""
    teacher = drawn(coefficients, outputs, target, rng)
    problem = sh.Problem(teacher, sh.Gaussian(2), width=2)
    spaces = OutputSpaces.of(problem)
    found = CriticalDirections.of(spaces.first.degrees, spaces.exact)
    assert found is not None and set(found.multiplicities) == {1}
    real = found.u.real[np.abs(found.u.imag).max(axis=1) == 0]
    angles = np.linspace(0, np.pi, FINE, endpoint=False) + 0.0123
    values = profile(teacher, spaces.first.degrees, angles)
    seen = [k % FINE for k in turns(values) if values[k % FINE] > 1e-4 * values.max()]
    assert len(real) == len(seen)
    for k in seen:
        gaps = np.abs(np.sin(np.arctan2(real[:, 1], real[:, 0]) - angles[k]))
        assert gaps.min() < 2 * np.pi / FINE


def test_all_directions_as_good_have_none():
    """1 + z² against ‖x‖² + 2."""
    spaces = OutputSpaces.of(
        sh.Problem(sh.Network(np.eye(2), activation=sh.Polynomial([1.0, 0, 1])), sh.Gaussian(2), width=2)
    )
    assert CriticalDirections.of(spaces.first.degrees, spaces.exact) is None


def test_as_many_as_the_theorem_says_under_samples(rng):
    """4Σj − 2 for generic data."""
    samples = sh.Samples(rng.standard_normal((40, 2)), rng.standard_normal(40))
    problem = sh.Problem(None, samples, width=2, activation=sh.Polynomial(ODD))
    spaces = OutputSpaces.of(problem)
    found = CriticalDirections.of(spaces.first.degrees, spaces.exact)
    assert len(found.u) == 4 * (1 + 3) - 2


def test_parallel_weights_are_proved_for_an_identity():
    """Paths to an identity's directions run to infinity, and lists were "sampled"."""
    teacher = sh.Network(np.eye(2), activation=sh.Polynomial(ODD))
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(2), width=2))
    assert chart.completeness == "trace-tested"
    assert any("parallel weights" in note and "(proved)" in note for note in chart.notes)
