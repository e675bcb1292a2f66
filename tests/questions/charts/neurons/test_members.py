"""Members of neurons under rotation-invariant data: trace-tested, and what descents end at is on the charts."""

from dataclasses import replace

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.continuation.kept_members import SHIPPED, name_of, read_member
from shallows.questions.charts.neurons import members
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.shipped_members import shapes


@pytest.mark.parametrize(
    "outer", [[1.0, -1.0], *(pytest.param(a, marks=pytest.mark.thorough) for a in ([1.0, 1.0], [1.0, 2.0]))]
)
def test_two_neurons_with_fixed_weights_under_gaussian_data(outer):
    """z + z³ with weights 1 and −1 was "sampled": its member was not trace-tested."""
    rng = np.random.default_rng(0)
    activation = sh.Polynomial([0.0, 1.0, 0.0, 1.0])
    teacher = sh.Network(rng.standard_normal((3, 2)), rng.standard_normal(3), activation)
    problem = sh.Problem(teacher, sh.Gaussian(2), 2, outer=outer)
    chart = sh.chart(problem)
    assert chart.completeness == "trace-tested"
    runs = sh.ensemble(problem, runs=40, method="newton", rng=1)
    ends = runs.losses[runs.converged]
    assert len(ends) and np.abs(ends[:, None] - chart.losses).min(axis=1).max() < 1e-7 * chart.losses.max()


def shipped_cubic():
    """z + z² + z³ with a bias in two inputs, trained: its equations, kind of metrics and the member that is shipped."""
    equations, special = next(
        (e, s)
        for e, s in shapes()
        if isinstance(e, NeuronEquations) and e.outer is None and e.neuron.terms[0][1] < 0 and e.outputs == 1
    )
    return equations, special, read_member(SHIPPED / name_of(equations, special))


def test_a_solution_that_came_twice_is_not_taken(monkeypatch):
    """One that is known to 10⁻⁸ only was counted as two, and such a member could not be read from the cache."""
    equations, special, whole = shipped_cubic()
    near = whole.points[:1] * (1 + 1e-7)
    twice = replace(whole, points=np.concatenate([whole.points, near]))
    given = iter([twice, whole])
    monkeypatch.setattr(members, "_by_monodromy", lambda *_: next(given))
    assert members.solve_invariant(equations, special) is whole


def test_a_member_whose_pencil_fails_is_tested_on_targets():
    """All 73 solutions pass, all but one do not."""
    equations, special, whole = shipped_cubic()
    assert len(whole.points) == 73
    for points, word in ((whole.points, "trace-tested"), (whole.points[1:], "sampled")):
        member = replace(whole, points=points, completeness="sampled")
        assert members._by_targets(equations, special, member).completeness == word


def test_names_of_members_do_not_depend_on_the_last_digits():
    """Coefficients of a moved and scaled activation differ by rounding from one machine to another."""
    equations, special, _ = shipped_cubic()
    terms = tuple((entry, c * (1 + 3e-16), row) for entry, c, row in equations.neuron.terms)
    moved = replace(equations, neuron=replace(equations.neuron, terms=terms))
    assert moved != equations and name_of(moved, special) == name_of(equations, special)
    other = tuple((entry, c * (1 + 1e-9), row) for entry, c, row in equations.neuron.terms)
    far = replace(equations, neuron=replace(equations.neuron, terms=other))
    assert name_of(far, special) != name_of(equations, special)
