"""Networks of polynomial neurons as powers in one input more: the same losses, by the problem itself."""

import numpy as np
import pytest

import shallows as sh
from shallows.model.equivalent_power import as_powers, has_equivalent_power, power_network, power_tensor

TEACHER = sh.Network([[1.0, 0.4], [-0.3, 0.8]], [1.0, -0.7], sh.Polynomial([0.5, 1.0, -2.0, 1.0]))
LAWS = [sh.Gaussian(2), sh.IID.uniform(2), sh.Mixture([0.5, 0.5], [sh.Gaussian(2), sh.Sphere(2)])]


@pytest.mark.parametrize("data", LAWS, ids=repr)
def test_losses_differ_by_what_no_cubic_reaches(data, rng):
    problem = sh.Problem(TEACHER, data, width=2)
    powers = as_powers(problem)
    assert has_equivalent_power(problem) and powers.activation == sh.Power(3) and powers.n == 3
    for _ in range(5):
        net = sh.Network(rng.standard_normal((2, 2)), rng.standard_normal(2), TEACHER.activation)
        assert powers.loss(power_network(problem, net)) == pytest.approx(problem.loss(net), rel=1e-9)
        tensor = power_network(problem, net).tensor()
        values = [
            powers.data.kernel(sh.Power(3), sh.Power(3)).value(w[None], w[None])[0, 0] for w in np.eye(3)
        ]
        assert values == pytest.approx(np.diag(powers.gram())[[0, 6, 9]].tolist(), rel=1e-12)
        assert power_tensor(powers, tensor) is tensor


def test_other_activations_have_no_such_kernel():
    data = as_powers(sh.Problem(TEACHER, sh.Gaussian(2), width=1)).data
    for pair in ((sh.Power(3), sh.Power(2)), (sh.Power(2), sh.Power(2)), (sh.ReLU(), sh.ReLU())):
        with pytest.raises(sh.InvalidProblem, match="no kernel"):
            data.kernel(*pair)
    with pytest.raises(sh.InvalidProblem, match="degree 3, not 2"):
        data.gram(2)
    assert data.in_words() == "EquivalentMetric"
    assert (
        sh.Frobenius(2).in_words() == "the Frobenius norm" and sh.Sphere(2).in_words() == "data on the sphere"
    )
