"""Matrices S = U A Uᵀ, U = (I; Z), as a map of the unknowns (A, Z): their critical equations with 31 digits.

Under a metric that rotations leave alone paths run to infinity next to isotropic directions, where ⟨S, S⟩ is a small
share of its terms: for special targets A is 10⁴ at |t| = 10⁻³, and doubles lose the path there. The equations are
those of one neuron with a = 1 (`neurons.equations`): ∂S·e = 0, e = G(S − t).
"""

from __future__ import annotations

from functools import lru_cache

from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.matrices.equations import LowRankEquations
from shallows.questions.charts.neurons.equations import SharpEquations
from shallows.questions.charts.neurons.neuron import Neuron


def low_rank_products(n: int, rank: int, first: int = 0) -> list[tuple[int, int, tuple[int, ...]]]:
    """(i, j, unknowns) of each product in S_ij = Σ U_ik A_kl U_jl, i ≤ j; unknowns A and Z are numbered from `first`.

    >>> low_rank_products(2, 1)                               # A, AZ, ZAZ
    [(0, 0, (0,)), (0, 1, (0, 1)), (1, 1, (1, 0, 1))]
    """
    if not rank:
        return []
    inner = coordinates.indices(rank, 2).tolist()
    places = {tuple(pair): first + k for k, pair in enumerate(inner)}

    def z(i: int, k: int) -> tuple[int, ...]:
        """The unknown in U_ik: none in the identity."""
        return () if i < rank else (first + len(inner) + (i - rank) * rank + k,)

    return [
        (i, j, (*z(i, k), places[min(k, l), max(k, l)], *z(j, l)))
        for i, j in coordinates.indices(n, 2).tolist()
        for k in range(rank)
        for l in range(rank)
        if (i >= rank or i == k) and (j >= rank or j == l)
    ]


@lru_cache(maxsize=64)
def sharp_twin(equations: LowRankEquations) -> SharpEquations:
    """The same unknowns and solutions as those of these equations."""
    pairs = coordinates.indices(equations.n, 2).tolist()[: equations.entries]
    numbers = {tuple(pair): k for k, pair in enumerate(pairs)}
    products = [
        (numbers[i, j], 1.0, unknowns)
        for i, j, unknowns in low_rank_products(equations.n, equations.r)
        if (i, j) in numbers
    ]
    neuron = Neuron.of_products(equations.unknowns, equations.entries, products)
    return SharpEquations.of(neuron)
