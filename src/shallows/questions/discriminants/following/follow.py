"""Critical points along a path of problems: where two of them meet, and where one goes through zero."""

from __future__ import annotations

import numpy as np

from shallows.model.problem import Problem
from shallows.questions.discriminants.following.exact import exact_events
from shallows.questions.discriminants.following.result import Following
from shallows.questions.discriminants.following.sampled import Segment, sampled_events, tracks
from shallows.questions.discriminants.setting import rank_one_powers
from shallows.support.checks import positive_integer
from shallows.support.errors import InvalidProblem


def follow(problem0: Problem, problem1: Problem, *, samples: int = 65) -> Following:
    """Follow all rank-one critical points from one problem to another, on the segment of teachers and Gram matrices.

    Both problems have width 1, the same number of inputs and degree, and a free outer weight. With two inputs the
    discriminant along the path is an exact polynomial in τ whose real roots are isolated: every event is found and
    proved. With more inputs the real critical points are counted at `samples` positions and events are bracketed and
    refined. The points themselves come from a parameter homotopy. A neuron with a bias, or with a polynomial activation
    that has no zero coefficient, is a power in one input more: the path is one of its Gram matrices and teachers.

    >>> from shallows import IID, Problem
    >>> start = Problem(np.diag([1.0, 1.0]), IID.laplace(2), width=1)
    >>> end = Problem(np.diag([3.0, 0.5]), IID.laplace(2), width=1)
    >>> follow(start, end, samples=9).collisions
    (Event(collision at 0.518518518519: 4 -> 2 real critical points, 2 -> 1 local minimum, discriminant -1 -> +1),)
    """
    samples = positive_integer("samples", samples, 2)
    problem0, problem1 = (rank_one_powers(problem) for problem in (problem0, problem1))
    if (problem0.n, problem0.degree) != (problem1.n, problem1.degree):
        raise InvalidProblem(
            f"The problems have {problem0.n} and {problem1.n} inputs, degrees {problem0.degree} and {problem1.degree}; "
            "a path needs the same of both."
        )
    segment = Segment.between(problem0, problem1)
    positions = np.linspace(0.0, 1.0, samples)
    points = [segment.at(tau) for tau in positions]
    tensors, real = tracks(points)
    if problem0.n == 2:
        events, discriminant = exact_events(problem0, problem1)
        return Following(positions, tensors, real, events, "proved", problem0.degree, discriminant)
    events = sampled_events(segment, positions, points)
    return Following(positions, tensors, real, events, "sampled", problem0.degree)
