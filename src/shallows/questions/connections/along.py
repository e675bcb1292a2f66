"""Trees along a path of problems: where two critical points meet, a leaf and its join disappear together."""

from __future__ import annotations

from collections.abc import Sequence

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.data.metric import Metric
from shallows.model.problem import Problem, as_problem
from shallows.questions.charts.chart import chart
from shallows.questions.connections.connections import connections
from shallows.questions.connections.tree import MergeTree
from shallows.support.checks import finite_number
from shallows.support.errors import InvalidProblem


def trees_along(problem0: Problem, problem1: Problem, positions: Sequence[float]) -> list[MergeTree]:
    """The merge trees at positions τ in [0, 1] of the segment of teachers and Gram matrices, as `follow` goes it.

    Between two events of `follow(problem0, problem1)` the tree has one shape; at a collision of a minimum with a saddle
    a leaf and a join disappear together.

    >>> start = sh.Problem(np.diag([1.0, 1.0]), sh.IID.laplace(2), width=1)
    >>> end = sh.Problem(np.diag([3.0, 0.5]), sh.IID.laplace(2), width=1)
    >>> where = sh.follow(start, end, samples=9).collisions[0].position
    >>> trees = sh.discriminants.trees_along(start, end, [where - 0.01, where + 0.01])
    >>> [(len(tree.leaves), len(tree.edges)) for tree in trees]
    [(2, 1), (1, 0)]
    """
    problem0, problem1 = as_problem(problem0), as_problem(problem1)
    shapes = [(p.n, p.degree, p.width) for p in (problem0, problem1)]
    if shapes[0] != shapes[1] or problem0.outer is not None or problem1.outer is not None:
        raise InvalidProblem(
            f"The problems have (inputs, degree, width) {shapes[0]} and {shapes[1]}; a path needs the same of both, "
            "and trained outer weights."
        )
    return [connections(chart(_between(problem0, problem1, tau))) for tau in positions]


def _between(problem0: Problem, problem1: Problem, position: float) -> Problem:
    tau = finite_number("positions", position)
    n, degree = problem0.n, problem0.degree
    gram = (1 - tau) * problem0.gram() + tau * problem1.gram()
    entries = (1 - tau) * problem0.target_tensor().entries + tau * problem1.target_tensor().entries
    return Problem(SymmetricTensor(entries, n, degree), Metric(n, degree, gram), problem0.width)
