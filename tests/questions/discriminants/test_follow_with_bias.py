"""Paths of problems with a bias or a polynomial activation: events where charts of the problems between them differ."""

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.equivalent_power import as_powers

W = np.array([[1.0, 0.3], [-0.2, 0.8]])
#: How far beside an event the landscape is looked at: far more than its position's error, less than to the next one.
BESIDE = 1e-3


def pair(first, second, activation=None, bias=(None, None)):
    def made(outer, b):
        net = sh.Network(W, outer, activation=activation or sh.Power(2), bias=b)
        return sh.Problem(net, sh.Gaussian(2), 1, bias=b is not None)

    return made(first, bias[0]), made(second, bias[1])


PATHS = {
    "bias": pair([1, -1], [1, 1], bias=([0.3, 0.2], [0.3, -0.9])),
    "polynomial": pair([1, -1], [1, 1], sh.Polynomial([0.3, 1, 1])),
}


def between(start, end, tau):
    """The problem at τ, from the definition: teachers and Gram matrices are mixed."""
    start, end = as_powers(start), as_powers(end)
    gram = (1 - tau) * start.gram() + tau * end.gram()
    teacher = (1 - tau) * start.target_tensor().entries + tau * end.target_tensor().entries
    return sh.Problem(SymmetricTensor(teacher, start.n, 2), sh.Metric(start.n, 2, gram), 1)


def landscape(problem):
    points = [p for p in sh.chart(problem).critical if p.rank]
    return len(points), sum(p.index == 0 for p in points)


@pytest.mark.parametrize("name", PATHS)
def test_charts_beside_every_event_have_its_numbers(name):
    start, end = PATHS[name]
    found = sh.follow(start, end, samples=33)
    assert found.events
    for event in found.events:
        sides = [landscape(between(start, end, event.position + side)) for side in (-BESIDE, BESIDE)]
        assert list(zip(event.real_counts, event.local_minima, strict=True)) == sides
    ends = (found.events[0].real_counts[0], found.events[-1].real_counts[1])
    assert ends == (landscape(start)[0], landscape(end)[0])


def test_a_neuron_with_one_input_is_followed_exactly():
    activation = sh.Polynomial([0.3, 1, 1])
    first, second = (
        sh.Problem(sh.Network([[1.0], [2.0]], [1.0, a], activation=activation), sh.Gaussian(1), 1)
        for a in (-0.5, 0.5)
    )
    found = sh.follow(first, second, samples=5)
    assert found.completeness == "proved"
    for event in found.events:
        sides = [landscape(between(first, second, event.position + side)) for side in (-BESIDE, BESIDE)]
        assert list(zip(event.real_counts, event.local_minima, strict=True)) == sides
