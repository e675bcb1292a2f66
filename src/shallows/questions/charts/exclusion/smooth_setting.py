"""What is searched for one smooth neuron: its forms, its ball, the hole around 0; and where none of that applies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.exclusion.blown_up import Blown
from shallows.questions.charts.exclusion.polynomial_form import PolynomialForm
from shallows.questions.charts.exclusion.setting import beyond
from shallows.questions.charts.exclusion.smooth_form import FORMS, SmoothForm, form_of
from shallows.questions.charts.exclusion.smooth_near_zero import NearZero
from shallows.questions.charts.exclusion.smooth_reach import (
    beyond_reach,
    certain_reach,
    hole_of,
    trained_reach,
)
from shallows.questions.charts.exclusion.smooth_system import SmoothSystem
from shallows.questions.charts.exclusion.smooth_target import SmoothTarget
from shallows.support.errors import InvalidProblem

#: Unknowns that are searched at most.
MOST_UNKNOWNS = 3
#: No hole.
SEARCHED = NearZero(0.0, True)


def why_not(problem: Problem) -> str:
    """Why this exclusion does not apply; empty where it does."""
    target = problem.target
    if form_of(problem.activation, False) is None:
        return f"{problem.activation!r} is none of {', '.join(FORMS)}, and no polynomial"
    if isinstance(problem.activation, Power) or _pure(problem):
        return "the activation is a power: its charts are algebraic"
    if not isinstance(target, Network):
        return "the target is no network"
    if target.activation != problem.activation:
        return (
            f"the teacher has {target.activation!r} and the student {problem.activation!r}: kernels of two different "
            "activations have no enclosures here"
        )
    if beyond(problem, target):
        return beyond(problem, target)
    if problem.width != 1:
        return f"the width is {problem.width}; one neuron is charted"
    if problem.outer is not None and not problem.outer.all():
        return "the outer weight is fixed to zero"
    return ""


def _pure(problem: Problem) -> bool:
    form = form_of(problem.activation, False)
    return isinstance(form, PolynomialForm) and sum(c != 0 for c in form.coefficients) == 1


@dataclass(frozen=True, eq=False)
class Setting:
    """What is searched: fine forms for proofs, the ball, and the hole around 0."""

    problem: Problem
    coarse: SmoothForm | PolynomialForm
    fine: SmoothForm | PolynomialForm
    target: SmoothTarget
    outer: float | None
    reach: float
    near: NearZero
    far: Blown | None = None

    @property
    def hole(self) -> float:
        """The radius of the ball around 0 that is not searched."""
        return self.near.radius

    def system(self, fine: bool, outside: bool) -> SmoothSystem:
        """The equations in the span, or outside of it."""
        form = self.fine if fine else self.coarse
        return SmoothSystem(form, self.target, self.outer, outside=outside, reach=self.reach, hole=self.hole)


def unknowns_of(target: SmoothTarget) -> int:
    """Coordinates in the teacher's span, and one outside of it."""
    return target.rank + int(target.codimension > 0)


def setting_of(problem: Problem) -> Setting:
    """Coordinates, ball and hole of a problem; `InvalidProblem` where there are too many unknowns."""
    network, data = problem.target, problem.data.as_gaussian()
    assert isinstance(network, Network) and data is not None
    coarse, fine = form_of(problem.activation, False), form_of(problem.activation, True)
    assert coarse is not None and fine is not None
    target = SmoothTarget.of(network.W, np.atleast_2d(network.a)[0], data.covariance, fine.odd, fine.at_zero)
    unknowns = unknowns_of(target)
    if unknowns > MOST_UNKNOWNS:
        raise InvalidProblem(
            f"The teacher's neurons span {target.rank} of {target.dimension} dimensions: {unknowns} unknowns, and "
            f'up to {MOST_UNKNOWNS} are searched. Fix: fewer inputs, a teacher of lower rank, or method="descent".'
        )
    if problem.outer is not None:
        outer = float(problem.outer[0, 0])
        return Setting(problem, coarse, fine, target, outer, certain_reach(fine, target, outer), SEARCHED)
    near = hole_of(fine, target) if fine.at_zero else SEARCHED
    reach = trained_reach(target)
    return Setting(problem, coarse, fine, target, None, reach, near, beyond_reach(fine, target, reach))
