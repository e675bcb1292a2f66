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
