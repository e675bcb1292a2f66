"""Activations that are a power under another name: p(z) = c (z + h)^d, h = 0 unless a bias takes it up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb

import numpy as np

from shallows.model.activations import Polynomial, Power
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.points.point import Points, Reread
from shallows.questions.charts.result import Chart


@dataclass(frozen=True)
class PurePower:
    """c (z + h)^d."""

    degree: int
    scale: float
    shift: float


def pure_power(problem: Problem) -> PurePower | None:
    """The power that the activation is, exactly; None when it is none."""
    activation = problem.activation
    if not isinstance(activation, Polynomial) or activation.degree < 1:
        return None
    c, d = [Fraction(float(x)) for x in activation.coefficients], activation.degree
    h = c[-2] / (d * c[-1])
    same = all(c[j] == c[-1] * comb(d, j) * h ** (d - j) for j in range(d + 1))
    if not same or (h and not problem.bias):
        return None
    return PurePower(d, float(c[-1]), float(h))


def pure_power_chart(problem: Problem, power: PurePower, of_powers: Callable[[Problem], Chart]) -> Chart:
    """The chart of the same problem with a power, its networks read with this activation."""
    outer = "free" if problem.outer is None else problem.outer * power.scale
    inner = Problem(
        problem.target, problem.data, problem.width, Power(power.degree), outer, bias=problem.bias
    )
    chart = of_powers(inner)
    critical = Points(
        chart.critical.table, _Renamed(chart.critical.maker, problem, power), problem, chart.critical.places
    )
    return replace(chart, critical=critical, problem=problem)


@dataclass(frozen=True)
class _Renamed(Reread):
    """A maker whose networks get another activation."""

    problem: Problem
    power: PurePower

    def network(self, i: int) -> Network:
        """A network that realises it."""
        net = self.inner.network(i)
        fixed, single = self.problem.outer, self.problem.outputs == 1
        a = net.a / self.power.scale if fixed is None else fixed[0] if single else fixed
        bias = None if net.bias is None else net.bias - self.power.shift
        return Network(net.W, np.asarray(a), self.problem.activation, bias=bias)
