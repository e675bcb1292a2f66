"""Every converged end point of a thousand descents is on the chart: each kind of problem that has one."""

import numpy as np
import pytest

import shallows as sh

RUNS = 1000


def samples(n, seed, outputs=1, weighted=False):
    rng = np.random.default_rng([seed, n])
    X = rng.standard_normal((30, n))
    y = np.einsum("ij,mjk,ik->im", X, rng.standard_normal((outputs, n, n)), X)
    y += X @ rng.standard_normal((n, outputs)) + rng.standard_normal((30, outputs))
    weights = rng.uniform(0.2, 3.0, 30) if weighted else None
    return sh.Samples(X, y[:, 0] if outputs == 1 else y, weights)


KINDS = {
    "bias": lambda seed: sh.Problem(None, samples(2, seed), 1, bias=True),
    "bias, two neurons": lambda seed: sh.Problem(None, samples(2, seed), 2, bias=True),
    "1+z+z²": lambda seed: sh.Problem(None, samples(2, seed), 1, sh.Polynomial([1.0, 1.0, 1.0])),
    "z+z², two neurons": lambda seed: sh.Problem(None, samples(3, seed), 2, sh.Polynomial([0.0, 1.0, 1.0])),
    "1+z² with bias, two neurons": lambda seed: sh.Problem(
        None, samples(2, seed), 2, sh.Polynomial([1.0, 0.0, 1.0]), bias=True
    ),
    "z+z³, a fixed": lambda seed: sh.Problem(
        None, samples(2, seed), 1, sh.Polynomial([0.0, 1.0, 0.0, 1.0]), "ones"
    ),
    "z+z², a fixed": lambda seed: sh.Problem(
        None, samples(2, seed), 2, sh.Polynomial([0.0, 1.0, 1.0]), "ones"
    ),
    "two outputs": lambda seed: sh.Problem(None, samples(2, seed, 2), 1),
    "two outputs, two neurons": lambda seed: sh.Problem(None, samples(3, seed, 2), 2),
    "norm neuron": lambda seed: sh.Problem(None, samples(3, seed), 1, norm_neuron=True),
    "penalty": lambda seed: sh.Problem(None, samples(2, seed), 1, outer="ones", orthogonality=0.3),
    "penalty, weights of both signs": lambda seed: sh.Problem(
        None, samples(2, seed), 2, outer=[1.0, -1.0], orthogonality=0.3
    ),
    "penalty, a trained": lambda seed: sh.Problem(None, samples(2, seed), 2, orthogonality=0.3),
    "z+z², three neurons, a fixed": lambda seed: sh.Problem(
        None, samples(2, seed), 3, sh.Polynomial([0.0, 1.0, 1.0]), outer=[1.0, -1.0, 2.0]
    ),
    "z+z³": lambda seed: sh.Problem(None, samples(2, seed), 1, sh.Polynomial([0.0, 1.0, 0.0, 1.0])),
    "z+z³ with bias": lambda seed: sh.Problem(
        None, samples(2, seed), 1, sh.Polynomial([0.0, 1.0, 0.0, 1.0]), bias=True
    ),
    "z+z³, two neurons": lambda seed: sh.Problem(
        None, samples(2, seed), 2, sh.Polynomial([0.0, 1.0, 0.0, 1.0])
    ),
    "1+z+z², two neurons": lambda seed: sh.Problem(None, samples(2, seed), 2, sh.Polynomial([1.0, 1.0, 1.0])),
    "z³, two neurons": lambda seed: sh.Problem(None, samples(2, seed), 2, sh.Power(3)),
    "z³ with bias": lambda seed: sh.Problem(None, samples(2, seed), 1, sh.Power(3), bias=True),
    "norm neuron with bias": lambda seed: sh.Problem(None, samples(2, seed), 1, norm_neuron=True, bias=True),
    "penalty with bias": lambda seed: sh.Problem(
        None, samples(2, seed), 2, outer="ones", orthogonality=0.3, bias=True
    ),
    "two outputs with bias": lambda seed: sh.Problem(None, samples(2, seed, 2), 1, bias=True),
    "two outputs, a fixed": lambda seed: sh.Problem(
        None, samples(2, seed, 2), 2, outer=[[1.0, 1.0], [1.0, -1.0]]
    ),
    "z+z², two outputs": lambda seed: sh.Problem(
        None, samples(2, seed, 2), 1, sh.Polynomial([0.0, 1.0, 1.0])
    ),
    "weighted samples": lambda seed: sh.Problem(None, samples(3, seed, weighted=True), 2),
}


def off_the_chart(problem, runs, seed):
    """Losses of converged runs that no critical point has, and how many converged."""
    chart = sh.chart(problem)
    plain = problem.outputs == 1 and not problem.orthogonality and not problem.norm_neuron
    method = "lm" if plain else "gd"
    ends = sh.ensemble(problem, runs=runs, rng=seed, method=method, tolerance=1e-8)
    converged = ends.losses[ends.converged]
    assert ends.losses.min() >= chart.infimum - 1e-8
    if not len(converged):  # no minimum is attained: all weights grow, towards limits that are minima
        lowest = np.array([p.loss for p in chart.critical if p.limit and p.kind.endswith("minimum")])
        assert not any(p.kind.endswith("minimum") and not p.limit for p in chart.critical)
        return ends.losses[np.abs(lowest[None] - ends.losses[:, None]).min(axis=1) > 1e-2 * ends.losses], 0
    gaps = np.abs(chart.losses[None] - converged[:, None]).min(axis=1)
    return converged[gaps > 1e-6 * (1 + converged)], len(converged)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_every_converged_end_point_is_on_the_chart(kind, seed):
    off, _ = off_the_chart(KINDS[kind](seed), RUNS, seed)
    assert not len(off)
