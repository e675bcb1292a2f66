"""Each output of a problem alone: losses are sums over outputs, which share their neurons."""

from __future__ import annotations

from shallows.model.data.samples import Samples
from shallows.model.network import Network
from shallows.model.problem import Problem


def single_outputs(problem: Problem) -> list[Problem]:
    """The problem of each output alone, with trained outer weights."""
    made = []
    for m in range(problem.outputs):
        target, data = problem.target, problem.data
        if isinstance(target, Network):
            target = target.output(m)
        elif target is None:
            samples = data.as_samples()
            assert samples is not None and samples.y is not None
            data = Samples(samples.X, samples.y.reshape(samples.count, -1)[:, m], samples.given)
        made.append(Problem(target, data, problem.width, problem.activation, bias=problem.bias))
    return made
