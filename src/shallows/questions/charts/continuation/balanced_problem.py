"""A problem in coordinates where its critical points are of comparable size: the member of a family to be solved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.model.problem import Problem
from shallows.questions.charts.continuation.balanced_coordinates import balanced_frame, power_action
from shallows.questions.charts.continuation.equations import Member
from shallows.questions.charts.continuation.metrics import MOVED
from shallows.questions.charts.continuation.special_data import SpecialData, moved_gaussian, special_data
from shallows.support.checks import Array


@dataclass(frozen=True)
class BalancedProblem:
    """A problem's metric and target in coordinates w = unit^{1/d} · frame · w′, where G and Gt are of size one."""

    member: Member
    target: Array
    frame: Array
    unit: float
    degree: int

    @classmethod
    def of(cls, problem: Problem) -> BalancedProblem:
        """In the coordinates of special data, where the data are special; otherwise in balanced ones."""
        special = special_data(problem.data, problem.degree)
        if special is not None:
            return cls.in_frame(problem, special.frame, special)
        return cls.in_frame(problem, balanced_frame(problem.gram(), problem.n, problem.degree))

    @classmethod
    def turned(cls, problem: Problem, turn: Array) -> BalancedProblem:
        """As `of`, in coordinates turned by a rotation; metrics with an axis are then among all metrics."""
        special = special_data(problem.data, problem.degree)
        if special is not None and special.metrics.kind not in MOVED:
            return cls.in_frame(problem, special.frame @ turn, special)
        return cls.in_frame(problem, balanced_frame(problem.gram(), problem.n, problem.degree) @ turn)

    @classmethod
    def plain(cls, problem: Problem) -> BalancedProblem:
        """In the problem's own coordinates, unless the data are a non-central Gaussian."""
        special = moved_gaussian(problem.data, problem.degree)
        return cls.in_frame(problem, np.eye(problem.n) if special is None else special.frame, special)

    @classmethod
    def in_frame(cls, problem: Problem, frame: Array, special: SpecialData | None = None) -> BalancedProblem:
        """In the coordinates w = frame · w′."""
        P = power_action(frame, problem.degree)
        gram = P.T @ problem.gram() @ P
        gram = (gram + gram.T) / 2
        target = np.linalg.solve(P, problem.target_tensor().entries)
        scale, size = float(np.abs(gram).max()), float(np.abs(gram @ target).max()) or 1.0
        g = gram @ target / size
        if special is None:
            member = Member.of(gram / scale, g)
        else:
            member = Member(special.metrics, special.parameters / scale, g)
        return cls(member, np.asarray(target * scale / size), frame, size / scale, problem.degree)

    @property
    def gram(self) -> Array:
        """G."""
        return self.member.gram

    def restored(self, points: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """Neurons w′, all of a point in one row, in the problem's coordinates."""
        count, n = len(points), len(self.frame)
        W = points.reshape(count, points.shape[1] // n, n)
        return np.asarray((W @ self.frame.T).reshape(points.shape) * self.unit ** (1 / self.degree))
