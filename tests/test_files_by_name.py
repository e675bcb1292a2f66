"""Every kind of result is saved under a name with dots, beside another one, and read back by that name alone."""

from __future__ import annotations

import numpy as np
import pytest

import shallows as sh

QUADRATIC = {mu: sh.Problem(np.diag([2.0, 1.0]), sh.IID(2, [1, 0, 1, 0, mu]), width=1) for mu in (2.5, 9)}
CIRCLE = ([-2.0, -2.0], [2.0, 2.0])
KINDS = {
    "chart": (lambda mu: sh.chart(QUADRATIC[mu]), sh.load_chart),
    "tree": (lambda mu: sh.chart(QUADRATIC[mu]).connections(), sh.load_connections),
    "ensemble": (lambda mu: sh.ensemble(QUADRATIC[mu], runs=4, rng=0), sh.load_ensemble),
    "symmetric": (lambda mu: sh.relu.symmetric_chart(int(mu) + 3, [int(mu) + 3]), sh.load_chart),
    "exclusion": (
        lambda mu: sh.exclusion.exclude([f"x^2 + y^2 - {mu}", "x^2 - y"], CIRCLE),
        sh.exclusion.Exclusion.load,
    ),
    "decomposition": (
        lambda mu: sh.homotopy.decompose([f"x*(y - {mu})", "x*z"]),
        sh.homotopy.load_decomposition,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_two_results_whose_names_differ_after_the_dot(kind, tmp_path):
    make, load = KINDS[kind]
    results = {f"kurtosis-{i}.{mu}": make(mu) for i, mu in enumerate(QUADRATIC)}
    for name, result in results.items():
        assert result.save(tmp_path / name) == tmp_path / f"{name}.json"
    again = {name: load(tmp_path / name) for name in results}
    assert {name: repr(result) for name, result in again.items()} == {
        name: repr(result) for name, result in results.items()
    }
    assert len({file.stem for file in tmp_path.iterdir()}) == 2


PLANE = sh.Gaussian(2)
QUADRATICS = sh.Network(np.eye(2) + 0.1, [[1.0, 2.0], [0.5, -1.0]], sh.Power(2))
GATES = sh.Network([[1.0, 0.2], [-0.3, 0.8]], activation=sh.ReLU())
CUBIC = sh.SymmetricTensor(np.array([0.0, 1.0, 0.0, 0.2]), 2, 3)
#: Every way to a chart, and every kind of point: limits, families, outputs, biases, points that are no tensors.
CHARTS = {
    "family": sh.Problem(np.eye(2), PLANE, 1),
    "homotopy": sh.Problem(np.diag([2.0, 1.0]) + 0.1, sh.IID.laplace(2), 2),
    "exact": sh.Problem(np.diag([2.0, 1.0]) + 0.1, sh.IID.laplace(2), 1),
    "limits": sh.Problem(CUBIC, sh.IID.laplace(2), 2),
    "limits with bias": sh.Problem(
        sh.Network([[1.0]], activation=sh.Power(3), bias=[0.5]), sh.Gaussian(1), 2, bias=True
    ),
    "limits of outputs": sh.Problem(QUADRATICS, PLANE, 2),
    "limits of polynomials": sh.Problem(
        sh.Network([[1.0, 0.5]], activation=sh.Polynomial([0, 1, 0, 1])), PLANE, 1
    ),
    "linear": sh.Problem(sh.Network(np.eye(2), [[1.0, 2.0], [0.5, -1.0]], sh.Power(1)), PLANE, 1),
    "bias": sh.Problem(np.diag([2.0, 1.0]), PLANE, 1, bias=True),
    "norm neuron": sh.Problem(np.diag([2.0, 1.0]), PLANE, 1, norm_neuron=True),
    "penalty": sh.Problem(np.diag([2.0, 1.0]) + 0.1, PLANE, 2, orthogonality=0.1),
    "fixed outer weights": sh.Problem(
        sh.Network(np.eye(2) + 0.2, activation=sh.Polynomial([0, 0.5, 1])), PLANE, 1, outer="ones"
    ),
    "exclusion": sh.Problem(GATES, PLANE, 1),
    "two gates": sh.Problem(GATES, PLANE, 2, outer="ones"),
    "smooth": sh.Problem(sh.Network([[1.0, 0.2]], activation=sh.Smooth(np.tanh)), PLANE, 1),
    "descent": sh.relu_problem(4),
}


@pytest.mark.parametrize("kind", CHARTS)
def test_every_kind_of_chart_comes_back_as_it_was(kind, tmp_path):
    chart = sh.chart(CHARTS[kind], method=kind if kind in ("exact", "descent") else "auto")
    chart.save(tmp_path / "kurtosis-2.5")
    again = sh.load_chart(tmp_path / "kurtosis-2.5")
    assert repr(again) == repr(chart) and repr(again.problem) == repr(chart.problem)
    assert (again.notes, again.scope, again.completeness) == (chart.notes, chart.scope, chart.completeness)
    assert len(again.points) == len(chart.points) > 0
    for loaded, point in zip(again.points, chart.points, strict=True):
        assert (loaded.kind, loaded.limit, loaded.certificate) == (point.kind, point.limit, point.certificate)
        np.testing.assert_array_equal(
            again.problem.pack(loaded.network), chart.problem.pack(point.network), strict=True
        )
    assert kind.startswith("limits") <= any(point.limit for point in chart.points)
