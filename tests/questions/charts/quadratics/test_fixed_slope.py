"""Three and more neurons αz² + βz + γ without bias, a fixed: descents, and the neurons' own chart."""

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.quadratics import fixed_slope as module
from shallows.questions.charts.quadratics.fixed_slope_chart import fixed_slope_chart


def problem_of(n, outer, seed, activation=(0.5, 1.0, 1.0)):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, n))
    y = rng.standard_normal(40) + X[:, 0] ** 2
    return sh.Problem(None, sh.Samples(X, y), len(outer), sh.Polynomial(list(activation)), outer=list(outer))


@pytest.mark.parametrize(("n", "outer"), [(2, (1.0, 1.0)), (2, (1.0, -3.0)), (3, (2.0, 1.0))])
def test_two_neurons_are_those_that_their_own_equations_have(n, outer):
    """At width two neurons are isolated, and the chart neuron by neuron shares no coordinates with this one."""
    for seed in range(2):
        problem = problem_of(n, outer, seed)
        mine, theirs = fixed_slope_chart(problem, sh.chart, True, 0, False), sh.chart(problem)
        np.testing.assert_allclose(mine.losses, theirs.losses, rtol=1e-9)
        assert mine.critical.table.kind.tolist() == theirs.critical.table.kind.tolist()


@pytest.mark.parametrize(
    ("n", "outer"),
    [(1, (1.0, 1.0, 1.0)), (2, (1.0, 1.0, 1.0)), (2, (1.0, -1.0, 2.0)), (3, (1.0, -2.0, -1.0))],
)
def test_points_are_critical_and_descents_end_on_them(n, outer):
    problem = problem_of(n, outer, 5)
    chart = sh.chart(problem)
    proved = min(outer) > 0  # n = 1, 2: by exclusion, and the last rank is the target's
    assert chart.completeness == ("proved" if proved else "trace-tested")
    assert chart.attained and chart.scope == ""
    for point in chart.points:
        assert np.abs(problem.gradient(point.network)).max() < 1e-8
        assert abs(problem.loss(point.network) - point.loss) <= 1e-9 * (1 + point.loss)
        assert point.certificate is not None
    runs = sh.ensemble(problem, runs=20, method="lbfgs", tolerance=1e-9)
    losses = np.array(runs.losses)[runs.converged]
    assert len(losses) and losses.min() >= chart.infimum - 1e-9
    assert all(np.abs(chart.losses - loss).min() < 1e-7 for loss in losses)


def test_odd_degrees_are_not_closed():
    from shallows.questions.charts.neurons.kinds import is_closed

    cubic = sh.Problem(
        None, problem_of(2, (1.0,), 0).data, 2, sh.Polynomial([0, 1.0, 0, 1.0]), outer=[1.0, 1.0]
    )
    assert not is_closed(cubic)


def test_only_roots_are_called_regular_ends(monkeypatch):
    """What far ends that look singular are asked: proved roots are regular, other places are not."""
    asked, ends, honest, settled = [], [], module.Detours, module.settle

    def watched(*given):
        asked.append(given[-1])
        return honest(*given)

    def noted(ways):
        run = settled(ways)
        ends.append(run.finite.points)
        return run

    monkeypatch.setattr(module, "Detours", watched)
    monkeypatch.setattr(module, "settle", noted)
    sh.chart(problem_of(2, (1.0, 1.0, 1.0), 5))
    assert len(asked) == len(ends) > 0
    for regular, points in zip(asked, ends, strict=True):
        assert len(points) and regular(points)[1].all() and not regular(points + 0.1)[1].any()
