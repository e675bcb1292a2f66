"""Critical sets of quadratic networks over the complex numbers: dimension, degree and irreducible components.

At degree 2 a matrix S is critical on its rank stratum when M(S) = G(S − T), as a symmetric matrix, annihilates its
columns (paper 000, section 4): M(S)·S = 0, n² quadrics in the entries of S, for all ranks at once. Its irreducible
components are the critical points and families of the chart, and those that are not real.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exact.polynomials import Polynomial, constant, scaled, times, total, variable
from shallows.mathematics.homotopy.sets.components import Component
from shallows.mathematics.homotopy.sets.decomposition import Decomposition, decompose
from shallows.mathematics.homotopy.sets.images import ImageComponent
from shallows.mathematics.numerical_rank import rank_of
from shallows.mathematics.tensors.coordinates import symmetric_matrices
from shallows.model.activations import Power
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.support.checks import counted
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Shown

#: Singular values of a witness point that count for its rank, as a share of the largest or of 1.
RANK = 1e-8


@dataclass(frozen=True)
class CriticalSet:
    """An irreducible set of complex critical points of one rank and one loss.

    dimension, degree: of the set, in the entries of the tensors that the neurons make (of S at degree 2). confirmed: by
    the trace test. loss: the same on the whole set. `component.contains(entries)` tells what is on it.
    """

    rank: int
    loss: complex
    dimension: int
    degree: int
    confirmed: bool
    component: Component | ImageComponent = field(repr=False, compare=False)

    def __repr__(self) -> str:
        real = abs(self.loss.imag) < RANK * max(1.0, abs(self.loss))
        loss = f"{self.loss.real:.6g}" if real else f"{self.loss:.6g}"
        what = "a point" if self.dimension == 0 else f"dimension {self.dimension}, degree {self.degree}"
        return f"CriticalSet(rank {self.rank}, loss {loss}, {what})"


@dataclass(frozen=True)
class CriticalSets(Sequence[CriticalSet]):
    """All of them up to the width, by rank, then loss; numerical, as `decomposition` says."""

    sets: tuple[CriticalSet, ...]
    decomposition: Decomposition = field(repr=False)

    def __len__(self) -> int:
        return len(self.sets)

    def __getitem__(self, index: int) -> CriticalSet:  # type: ignore[override]
        return self.sets[index]

    def __iter__(self) -> Iterator[CriticalSet]:
        return iter(self.sets)

    @property
    def complete(self) -> bool:
        """Whether no path was lost and every component is confirmed; numerically."""
        return self.decomposition.complete

    def __repr__(self) -> str:
        state = "complete (numerically)" if self.complete else "NOT known to be complete"
        lines = [f"CriticalSets: {counted(len(self), 'irreducible set')} over C, {state}"]
        return "\n".join([*lines, *(f"  {one!r}" for one in self.sets)])


def critical_sets(
    problem: Problem, rng: int | np.random.Generator = 0, *, progress: Shown = False
) -> CriticalSets:
    """The irreducible sets of critical points of a quadratic problem with one output, of every rank up to the width.

    With a bias they are those of the same problem on (1, x).
    """
    plain = isinstance(problem.activation, Power) and problem.activation.degree == 2
    if not plain or problem.outputs != 1 or problem.norm_neuron or problem.orthogonality:
        raise InvalidProblem(
            "critical sets are for quadratic activations and one output, without norm neuron and penalty; "
            f"given {problem!r}. Fix: family.components, for each of chart.families"
        )
    if problem.bias:
        problem = problem.homogeneous()
    n = problem.n
    pairs = list(combinations_with_replacement(range(n), 2))
    names = [f"s{i + 1}_{j + 1}" for i, j in pairs]
    exact = ExactLoss.of(problem)
    found = decompose(_equations(n, pairs, exact), rng=rng, variables=names, progress=progress)
    zero = problem.loss(problem.unpack(np.zeros(problem.size)))
    gram, right = exact.gram.astype(np.float64), exact.right.astype(np.float64)
    sets = []
    for component in found.components:
        s = component.points[0]
        rank = _rank(s)
        if rank <= problem.width:
            loss = complex(s @ gram @ s - 2 * right @ s + zero)
            sets.append(
                CriticalSet(rank, loss, component.dimension, component.degree, component.confirmed, component)
            )
    sets.sort(key=lambda one: (one.rank, one.loss.real, one.loss.imag))
    return CriticalSets(tuple(sets), found)


def _equations(n: int, pairs: Sequence[tuple[int, int]], exact: ExactLoss) -> list[Polynomial]:
    """M(S)·S, entry by entry."""
    count = len(pairs)
    place = {pair: k for k, pair in enumerate(pairs)}
    unknowns = [variable(count, k) for k in range(count)]
    S = [[unknowns[place[min(i, j), max(i, j)]] for j in range(n)] for i in range(n)]
    M: list[list[Polynomial]] = [[{} for _ in range(n)] for _ in range(n)]
    for (i, j), row, b in zip(pairs, exact.gram.tolist(), exact.right.tolist(), strict=True):
        scale = Fraction(1) if i == j else Fraction(1, 2)
        terms = [scaled(x, scale * weight) for x, weight in zip(unknowns, row, strict=True)]
        M[i][j] = M[j][i] = total([*terms, constant(count, -scale * b)])
    products = [total([times(M[i][k], S[k][j]) for k in range(n)]) for i in range(n) for j in range(n)]
    return [product for product in products if product]


def _rank(s: NDArray[np.complex128]) -> int:
    values = np.linalg.svd(symmetric_matrices(s), compute_uv=False)
    return rank_of(values, RANK, least=1.0)
