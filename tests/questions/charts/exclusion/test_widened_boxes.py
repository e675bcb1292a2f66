"""Controls for every kind of chart by exclusion: boxes that are wider than what was proved are no certificates."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.result import Exclusion
from shallows.questions.charts.exclusion import one_neuron, smooth_neuron, two_neurons
from shallows.support.errors import NotConverged

#: Boxes become wider by this on each side: they hold other zeros, or none that is known to be alone.
MORE = 0.3


def student(activation: Any, V: Any, width: int, outer: Any) -> sh.Problem:
    return sh.Problem(sh.Network(V, activation=activation), sh.Gaussian(2), width=width, outer=outer)


CHARTS = {
    "one ReLU neuron": (one_neuron, student(sh.ReLU(), [[1.0, 0.2], [-0.3, 1.0]], 1, "ones")),
    "one smooth neuron": (smooth_neuron, student(sh.Smooth("erf"), [[1.5, 0.2], [-0.4, 1.0]], 1, "ones")),
    "two ReLU neurons": (
        two_neurons,
        student(sh.ReLU(), [[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.9]], 2, "ones"),
    ),
}


@pytest.mark.parametrize("kind", CHARTS)
def test_a_widened_box_is_noticed(kind: str, monkeypatch: Any) -> None:
    module, problem = CHARTS[kind]
    honest: Any = module.exclude  # type: ignore[attr-defined]
    searched = [p for p in sh.chart(problem).points if p.rank == problem.width]
    assert searched and all(p.certificate.signature_certified for p in searched)

    def wide(*arguments: Any, **options: Any) -> Exclusion:
        found: Exclusion = honest(*arguments, **options)
        box = Intervals(found.box.lo - MORE, found.box.hi + MORE)
        return dataclasses.replace(found, box=box)

    monkeypatch.setattr(module, "exclude", wide)
    try:
        chart = sh.chart(problem)
    except NotConverged:
        return
    for point in chart.points:
        if point.rank == problem.width:
            narrow = point.certificate is not None and point.certificate.radius < MORE / 10
            home = min(np.abs(point.network.W - p.network.W).max() for p in searched) < 1e-6
            # either it says that it is wide, or Newton's method has contracted it to a point of the list again
            assert home or not narrow
            assert home or not point.certificate.signature_certified
