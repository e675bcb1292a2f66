"""The energy barrier between rank-deficient networks and the teacher (paper 001, Theorem 2.1 and Corollary 2.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.data.base import InnerProduct, as_inner_product
from shallows.model.data.gaussian import Gaussian
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.chart import chart
from shallows.questions.charts.closed_form.spectrum import Spectrum
from shallows.questions.quadratic.closed_form_barrier import (
    Barrier,
    closed_form_barrier,
    left_out_by_the_example,
    natural_outer,
)
from shallows.questions.quadratic.linear_part import barrier_with_linear_part
from shallows.questions.quadratic.teachers import (
    is_positive_semidefinite,
    matrix_rank,
    network_of,
    quadratic_coefficients,
    teacher_matrix,
)
from shallows.support.checks import Array, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import SAME_LOSS

#: Eigenvalues of a charted tensor below this share of the largest are zero: charts know entries to about twelve digits.
CHARTED_RANK = 1e-9


def energy_barrier(
    teacher: Network | SymmetricTensor | ArrayLike,
    rank: int | None = None,
    *,
    data: InnerProduct | None = None,
    outer: str | None = None,
    rng: int | np.random.Generator = 0,
) -> Barrier:
    """The least loss of a network of rank at most `rank` (d−1 by default) against a teacher (paper 001, Theorem 2.1).

    - `data`: N(0, I) by default (N(0, Σ), rotation-invariant laws and Frobenius have the closed form too); others take
      the best point of the chart over all ranks up to `rank`, the positive semidefinite ones when `outer` is "ones";
    - `outer`: "ones" (positive semidefinite students, as in paper 001) or "free" (any sign); by default "ones" for a
      positive semidefinite teacher, "free" otherwise. For the closed form it makes no difference when T ⪰ 0;
    - a teacher network with activation αz²+βz+γ is Corollary 2.2: exact for β = 0, a numerical minimum otherwise.

    >>> sh.energy_barrier(np.diag([3.0, 2.0, 1.0]))
    Barrier(rank ≤ 2: minimum 2.5 (closed form), bound 2, example 3)
    """
    T = teacher_matrix(teacher)
    d = len(T)
    law = Gaussian(d) if data is None else as_inner_product(data)
    if law.n != d:
        raise InvalidProblem(f"The teacher has {d} inputs and the data {law.n}; they must agree.")
    rank = _checked_rank(rank, T)
    outer = _checked_outer(outer, T)
    width = teacher.width if isinstance(teacher, Network) else rank
    if isinstance(teacher, Network) and quadratic_coefficients(teacher)[1] != 0.0:
        return barrier_with_linear_part(teacher, T, rank, law, rng)
    metric = law.rotation_invariance(2)
    spectrum = None if metric is None else Spectrum.of(T, metric)
    if (spectrum is None or not spectrum.share) and not _is_power(teacher):
        raise InvalidProblem(f"αz²+βz+γ goes with Gaussian data here (Corollary 2.2); the data is {law!r}.")
    if spectrum is None:
        return _from_chart(T, rank, law, outer, max(width, rank), rng)
    barrier = closed_form_barrier(spectrum, rank, outer, max(width, rank))
    return _in_units_of(teacher, barrier) if isinstance(teacher, Network) else barrier


def _checked_rank(rank: int | None, T: Array) -> int:
    d = len(T)
    if d < 2 and rank is None:
        raise InvalidProblem("The teacher has one input; a barrier needs at least two (ranks 1 to d−1).")
    rank = d - 1 if rank is None else positive_integer("rank", rank)
    if rank >= d:
        raise InvalidProblem(
            f"rank is {rank}; expected at most d − 1 = {d - 1}: a network of rank d is no obstacle."
        )
    if matrix_rank(T) <= rank:
        raise InvalidProblem(
            f"The teacher has rank {matrix_rank(T)}, so a network of rank {rank} attains it: there is no barrier. "
            f"Use a rank below {matrix_rank(T)}."
        )
    return rank


def _checked_outer(outer: str | None, T: Array) -> str:
    if outer is None:
        return natural_outer(T)
    if outer not in ("ones", "free"):
        raise InvalidProblem(f'outer is {outer!r}; expected "ones", "free" or None.')
    return outer


def _is_power(teacher: Any) -> bool:
    return not isinstance(teacher, Network) or teacher.activation == Power(2)


def _in_units_of(teacher: Network, barrier: Barrier) -> Barrier:
    """The network with the teacher's own activation αz² + γ and outer weights 1: T, and so S, has the sign of α."""
    if _is_power(teacher):
        return barrier
    if not np.all(teacher.a == 1.0):
        raise InvalidProblem("Corollary 2.2 is for outer weights 1; absorb them: wᵢ ← √aᵢ wᵢ, aᵢ ← 1.")
    alpha, _, _ = quadratic_coefficients(teacher)
    network = Network(barrier.network.W / np.sqrt(abs(alpha)), activation=teacher.activation)
    return replace(barrier, network=network)


def weakest_direction(law: InnerProduct) -> float:
    """min E(xᵀAx)² over ‖A‖_F = 1: the factor 2 of Theorem 2.1(b) for any law."""
    weights = np.sqrt(coordinates.multiplicities(law.n, 2))
    return float(np.linalg.eigvalsh(law.gram(2) / np.outer(weights, weights))[0])


def _from_chart(
    T: Array, rank: int, law: InnerProduct, outer: str, width: int, rng: int | np.random.Generator
) -> Barrier:
    """The best critical point over all ranks up to `rank`: the minimum over a closed set of bounded rank is one."""
    found = chart(Problem(T, law, rank), rng=rng)
    tensors = [(float(point.loss), point.tensor) for point in found.points]
    tensors += [(float(family.loss), sample) for family in found.families for sample in family.samples]
    usable = [pair for pair in tensors if outer == "free" or is_positive_semidefinite(pair[1].to_matrix())]
    loss, best = min(usable, key=lambda pair: pair[0])
    # of a family only samples are known: one below the minimum found may hold a student that is allowed
    open_question = any(family.loss < loss * (1 - SAME_LOSS) for family in found.families)
    values, vectors = np.linalg.eigh(T)
    dropped = left_out_by_the_example(values, rank, outer)
    D = SymmetricTensor.from_matrix((vectors[:, dropped] * values[dropped]) @ vectors[:, dropped].T)
    return Barrier(
        lower=weakest_direction(law) * float(np.sum(values[dropped] ** 2)),
        exact=loss,
        example=D.inner(D, law),
        network=network_of(best.to_matrix(), width, tolerance=CHARTED_RANK),
        rank=rank,
        method="chart",
        completeness="sampled" if open_question else found.completeness,
    )
