"""The Euclidean distance degree of a variety: how many complex critical points the distance to a generic point has.

On the smooth part of X = V(F) of codimension c the critical points x of ‖x − u‖² have x − u in the span of gradients:

    f₁ = … = f_c = 0,   x − u = Σ λᵢ ∇fᵢ(x),

with c equations of F, or as many random combinations where X has more (their other solutions do not satisfy all of F).
(J. Draisma, E. Horobeţ, G. Ottaviani, B. Sturmfels, R. Thomas, "The Euclidean distance degree of an algebraic variety",
Found. Comput. Math. 16, 2016.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shallows.mathematics.homotopy.sets.decomposition import decompose
from shallows.mathematics.homotopy.sets.numeric import NumericSystem, Row, partial
from shallows.mathematics.homotopy.solutions import Status
from shallows.mathematics.homotopy.solve import solve
from shallows.mathematics.homotopy.systems import PolynomialSystem
from shallows.support.errors import IncompleteChart, InvalidProblem
from shallows.support.progress import Shown
from shallows.support.seeds import complex_normal, seed_of

#: An equation holds at a critical point when no more than this share of its terms is left: solutions are known to
#: 10⁻¹⁰, those of combinations that are not on the variety leave a few percent.
HOLDS = 1e-6


def ed_degree(
    polynomials: Any,
    rng: int | np.random.Generator = 0,
    *,
    variables: Sequence[str] | None = None,
    max_paths: int = 100_000,
    threads: int | None = None,
    progress: Shown = False,
) -> int:
    """The Euclidean distance degree of the variety of these equations, over the complex numbers.

    The variety must have one dimension throughout and no multiple components: `decompose` is asked first. The number is
    counted for one random point u: right with probability one, and numerical.

    >>> [sh.homotopy.ed_degree(curve) for curve in ("x^2 + y^2 - 1", "x^2 + 4*y^2 - 4", "y - x^2")]
    [2, 4, 3]
    """
    system = PolynomialSystem.read(polynomials, variables, square=False)
    seed = seed_of(rng)
    parts = decompose(system, rng=seed, max_paths=max_paths, threads=threads)
    if len(parts.degrees) != 1 or any(c.multiplicity != 1 for c in parts.components):
        raise InvalidProblem(
            f"the variety has dimensions {sorted(parts.degrees)} and multiplicities "
            f"{sorted({c.multiplicity or 0 for c in parts.components})}; expected one dimension, no multiple ones. "
            "Fix: give the equations of one of its parts"
        )
    exact = NumericSystem.of(system)
    n, codimension = system.n, system.n - parts.dimension
    random = np.random.default_rng(seed)
    chosen = exact.squared(codimension, random)
    equations = [*(_padded(row, codimension) for row in chosen), *_gradients(chosen, n, random)]
    names = [*(f"x{j}" for j in range(n)), *(f"l{i}" for i in range(codimension))]
    found = solve(
        equations,
        rng=seed,
        variables=names,
        groups=[
            names[:n],
            names[n:],
        ],  # as many paths as a generic variety of these degrees has critical points
        max_paths=max_paths,
        on_incomplete="return",
        threads=threads,
        progress=progress,
    )
    if found.status in (Status.INCOMPLETE, Status.UNDECIDED):
        raise IncompleteChart(
            f"The critical equations are {found.status.value}: {found.message}. Fix: another rng, or fewer equations"
        )
    return sum(bool((exact.share(point[:n]) < HOLDS).all()) for point in found.finite.points)


def _padded(row: Row, more: int) -> Row:
    return {(*key, *((0,) * more)): value for key, value in row.items()}


def _gradients(rows: Sequence[Row], n: int, rng: np.random.Generator) -> list[Row]:
    """x − u − Σ λᵢ ∇fᵢ, coordinate by coordinate."""
    goal = complex_normal(rng, n)
    nothing = (0,) * len(rows)
    result = []
    for j in range(n):
        row: Row = {
            (*(int(i == j) for i in range(n)), *nothing): 1.0 + 0j,
            (0,) * (n + len(rows)): -complex(goal[j]),
        }
        for i, terms in enumerate(rows):
            for key, value in partial(terms, j).items():
                row[*key, *(int(k == i) for k in range(len(rows)))] = -value
        result.append(row)
    return result
