"""The Euclidean distance degree of a variety: how many complex critical points the distance to a generic point has.

On the smooth part of X = V(F) of codimension c the critical points x of ‖x − u‖² have x − u in the span of gradients:

    f₁ = … = f_c = 0,   x − u = Σ λᵢ ∇fᵢ(x),

with c equations of F, or as many random combinations where there are more. A point x of X and any λ are a solution for
the u that these equations then give, so one is known for each component of X; monodromy in u finds the others on it,
since the pairs (x, u) are an irreducible variety, and the trace test says when they are all.
(J. Draisma, E. Horobeţ, G. Ottaviani, B. Sturmfels, R. Thomas, "The Euclidean distance degree of an algebraic variety",
Found. Comput. Math. 16, 2016.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shallows.mathematics.homotopy.families import PolynomialFamily, Vector
from shallows.mathematics.homotopy.monodromy import monodromy
from shallows.mathematics.homotopy.sets.decomposition import decompose
from shallows.mathematics.homotopy.sets.numeric import NumericSystem, Row, partial
from shallows.mathematics.homotopy.systems import PolynomialSystem
from shallows.mathematics.homotopy.trace import TraceTest, trace_test
from shallows.mathematics.same_points import PointSet
from shallows.support.errors import IncompleteChart, InvalidProblem
from shallows.support.progress import Shown
from shallows.support.seeds import complex_normal, seed_of


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

    The variety must have one dimension throughout and no multiple components: `decompose` is asked first. The degrees
    of its irreducible components are added. Each is trace-tested: right with probability one, and numerical.

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
    if not parts.complete:
        raise IncompleteChart(
            "The components of the variety are not all known. Fix: another rng; see decompose"
        )
    n, codimension = system.n, system.n - parts.dimension
    random = np.random.default_rng(seed)
    slopes = NumericSystem.of(system).squared(codimension, random)
    family = _critical_family(slopes.equations, n)
    total = 0
    for component in parts.components:
        x, multipliers = component.points[0], complex_normal(random, codimension)
        goal = x - multipliers @ slopes.jacobian(x)

        def complete(known: PointSet, rng: np.random.Generator, goal: Vector = goal) -> TraceTest:
            return trace_test(family, known.points, goal, rng, traced=n, threads=threads)

        found = monodromy(
            family,
            [[*x, *multipliers]],
            goal,
            seed,
            limit=max_paths,
            trace=complete,
            threads=threads,
            progress=progress,
        )
        if found.completeness != "trace-tested":
            raise IncompleteChart(
                f"{found.count} critical points were found on a component, and the trace test does not say that they "
                "are all. Fix: another rng"
            )
        total += found.count
    return total


def _critical_family(rows: Sequence[Row], n: int) -> PolynomialFamily:
    """f = 0 and x − u − Σ λᵢ ∇fᵢ = 0 in the unknowns (x, λ), with the parameters u."""
    count = len(rows)
    nothing = (0,) * n

    def unit(k: int, size: int) -> tuple[int, ...]:
        return tuple(int(i == k) for i in range(size))

    equations: list[Row] = [{(*key, *((0,) * count), *nothing): c for key, c in row.items()} for row in rows]
    for j in range(n):
        row: Row = {
            (*unit(j, n), *((0,) * count), *nothing): 1.0 + 0j,
            (*nothing, *((0,) * count), *unit(j, n)): -1.0 + 0j,
        }
        for i, terms in enumerate(rows):
            for key, value in partial(terms, j).items():
                row[*key, *unit(i, count), *nothing] = -value
        equations.append(row)
    names = [*(f"x{j}" for j in range(n)), *(f"l{i}" for i in range(count))]
    return PolynomialFamily(PolynomialSystem.read(equations, names, [f"u{j}" for j in range(n)]))
