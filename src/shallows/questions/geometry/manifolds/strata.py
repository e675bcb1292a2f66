"""From a problem and a point of it to the manifold the point lies on: its rank stratum in function space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.equivalent_power import (
    as_powers,
    has_equivalent_power,
    power_degree,
    power_network,
    power_tensor,
)
from shallows.model.network import Network
from shallows.questions.geometry.manifolds.local_geometry import LocalGeometry
from shallows.questions.geometry.manifolds.rank_manifolds import RANK_TOLERANCE, MatricesOfRank, SumsOfPowers
from shallows.support.checks import describe
from shallows.support.errors import InvalidProblem

if TYPE_CHECKING:
    from shallows.model.problem import Problem


def stratum(
    problem: Problem, point: Any, rank: int | None = None, tolerance: float = RANK_TOLERANCE
) -> LocalGeometry:
    """The rank stratum of Sym^d(R^n) through a point, under the problem's metric.

    `point` is a SymmetricTensor, a Network, a symmetric matrix, or anything with a `tensor` (a critical point of a
    chart). Degree 2: the matrices of the point's rank. Any degree: the rank-one tensors. Degree ≥ 3 and rank ≥ 2:
    the sums of powers near a Network's neurons. With a bias, or a polynomial activation without a zero coefficient,
    these are powers in one input more. `rank` (degree 2) overrides the numerical rank at `tolerance`.
    """
    _require_distance(problem)
    tensor, net = _tensor_and_network(_among_powers(problem, point))
    problem = as_powers(problem)
    if (tensor.n, tensor.degree) != (problem.n, problem.degree):
        raise InvalidProblem(
            f"The point is a tensor of degree {tensor.degree} in {tensor.n} variables; this problem's students are "
            f"tensors of degree {problem.degree} in {problem.n}."
        )
    chart = _chart_at(tensor, net, rank, tolerance)
    if chart.rank > problem.width:
        raise InvalidProblem(
            f"The point has rank {chart.rank}; students of width {problem.width} have rank at most {problem.width}. "
            f"Use Problem(..., width={chart.rank}) or a point of lower rank."
        )
    return LocalGeometry(chart, problem.gram())


def _among_powers(problem: Problem, point: Any) -> Any:
    """A point of a problem as one of `as_powers`: by its network at degree ≥ 3, where the neurons matter."""
    if not problem.bias and not has_equivalent_power(problem):
        return point
    net = point if isinstance(point, Network) else getattr(point, "network", None)
    if isinstance(net, Network) and (net is point or power_degree(problem) > 2):
        return power_network(problem, net)
    tensor = getattr(point, "tensor", point)
    return power_tensor(problem, tensor) if isinstance(tensor, SymmetricTensor) else point


def _chart_at(
    tensor: SymmetricTensor, net: Network | None, rank: int | None, tolerance: float
) -> MatricesOfRank | SumsOfPowers:
    if tensor.degree == 2:
        return MatricesOfRank(tensor.to_matrix(), rank, tolerance)
    if rank is not None:
        raise InvalidProblem(
            f"rank={rank} was given, but the tensor has degree {tensor.degree}; the numerical rank can be overridden "
            "for matrices only."
        )
    if not np.any(tensor.entries):
        return SumsOfPowers(np.zeros((1, tensor.n)), np.zeros(1), tensor.degree)
    try:
        return SumsOfPowers.rank_one(tensor, tolerance)
    except InvalidProblem:
        if net is None:
            raise
        return SumsOfPowers(net.W, net.a, tensor.degree)


def _tensor_and_network(point: Any) -> tuple[SymmetricTensor, Network | None]:
    """The point's tensor, and its network where it has one."""
    if isinstance(point, Network):
        return point.tensor(), point
    if isinstance(point, SymmetricTensor):
        return point, None
    tensor, net = getattr(point, "tensor", None), getattr(point, "network", None)
    if isinstance(tensor, SymmetricTensor):
        return tensor, net if isinstance(net, Network) else None
    if np.ndim(point) == 2:
        return SymmetricTensor.from_matrix(point), None
    raise InvalidProblem(
        f"point is {describe(point)}; expected a SymmetricTensor, a Network, a symmetric matrix, or a critical point "
        "with a tensor."
    )


def _require_distance(problem: Problem) -> None:
    """The loss must be a distance to one tensor: L = ‖s − t‖²_G + const on tensors of rank ≤ width."""
    if problem.outputs != 1:
        raise InvalidProblem(f"The problem has {problem.outputs} outputs; its strata are for one output.")
    if problem.norm_neuron or problem.orthogonality:
        part = "a norm neuron" if problem.norm_neuron else "an orthogonality penalty"
        raise InvalidProblem(
            f"The problem has {part}: its loss is not a distance on a rank stratum. Leave that part out."
        )
    as_powers(problem).target_tensor()
