"""Solving one member of a family of critical equations F(x; G, g): from a generic member, or under its own metric.

For a generic metric every path of the parameter homotopy from a generic (G, g) ends at a finite point. A special
metric (Frobenius, Gaussian, i.i.d. at rank two) has fewer critical points: paths would run to infinity. Then monodromy
over the targets alone, the metric held fixed, finds how many there are, and no path of the last homotopy is lost.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from shallows._checks import Array
from shallows.homotopy import CompiledFamily, Homotopy, Solutions, monodromy, solve_member

Complex = NDArray[np.complex128]
ATTEMPTS = 6


class Shape(Hashable, Protocol):
    """What the critical equations of one kind of student bring: sizes, an evaluator, a first solution."""

    @property
    def entries(self) -> int:
        """N, the dimension of Sym^d(R^n)."""
        ...

    @property
    def unknowns(self) -> int:
        """The number of unknowns x."""
        ...

    @property
    def count(self) -> int | None:
        """The number of solutions (up to symmetry) for generic (G, g), where it is known."""
        ...

    def homotopy(self, start: tuple[Complex, Complex], target: tuple[Complex, Complex]) -> Homotopy:
        """F along the segment from (G, g) = start to target."""
        ...

    def first(self, gram: Complex, rng: np.random.Generator) -> tuple[Complex, Complex]:
        """A random x and a g with F(x; G, g) = 0."""
        ...

    def orbit(self, x: Complex) -> Complex:
        """All images of x under the symmetries that leave the student unchanged, one a row."""
        ...


def family(shape: Shape, gram: Complex | None = None) -> CompiledFamily:
    """The family over all symmetric G and all g, or over all g with the metric held fixed."""
    size = shape.entries
    pairs = size * (size + 1) // 2

    def split(p: Complex) -> tuple[Complex, Complex]:
        if gram is not None:
            return gram, p
        full = np.zeros((size, size), np.complex128)
        full[np.triu_indices(size)] = p[:pairs]
        return full + np.triu(full, 1).T, p[pairs:]

    def make(start: Complex, target: Complex) -> Homotopy:
        return shape.homotopy(split(start), split(target))

    return CompiledFamily(shape.unknowns, size if gram is not None else pairs + size, make)


def pack(gram: Complex | Array, g: Complex | Array) -> Complex:
    """(upper triangle of G, g) as one vector of parameters."""
    return np.concatenate([gram[np.triu_indices(len(gram))], g]).astype(np.complex128)


@dataclass(frozen=True)
class SolvedMember:
    """All solutions (one an orbit) at some parameters, and how complete they are known to be."""

    parameters: Complex
    points: Complex
    completeness: str


@lru_cache(maxsize=32)
def solved_generic(shape: Shape, seed: int = 0) -> SolvedMember:
    """A generic (G, g) solved by monodromy, once a process: every problem of this shape starts from it."""
    rng = np.random.default_rng([seed, shape.unknowns, shape.entries])
    gram = draw(rng, shape.entries, shape.entries)
    gram = gram + gram.T
    x, g = shape.first(gram, rng)
    return _loops(family(shape), shape, x, pack(gram, g), seed, shape.count)


def solved_target(shape: Shape, gram: Complex, seed: int, count: int | None) -> SolvedMember:
    """A generic target under one given metric, solved by monodromy."""
    x, g = shape.first(gram, np.random.default_rng([seed, 1]))
    return _loops(family(shape, gram), shape, x, g, seed, count)


def _loops(
    members: CompiledFamily, shape: Shape, x: Complex, p: Complex, seed: int, count: int | None
) -> SolvedMember:
    result = monodromy(members, x[None, :], p, rng=seed, group=shape.orbit, target=count, patience=8)
    return SolvedMember(p, result.points, result.completeness)


def rounding(size: int) -> float:
    """Residuals below this are rounding: G and g are of size about one, s and U of size up to about ten."""
    return 1e3 * float(np.finfo(float).eps) * size


def draw(rng: np.random.Generator, *size: int) -> Complex:
    """Complex standard normal numbers."""
    return np.asarray(rng.standard_normal(size) + 1j * rng.standard_normal(size)) / np.sqrt(2)


@dataclass(frozen=True)
class Run:
    """The solutions of one member, how complete they are, and where they came from."""

    solutions: Solutions
    completeness: str
    generic: bool

    @property
    def how(self) -> str:
        """In words."""
        if self.generic:
            return "parameter homotopy from a generic member"
        return "this metric is not generic: monodromy over targets under it"


def run_member(
    shape: Shape, gram: Array, g: Array, seed: int, special: bool = False, own_count: int | None = None
) -> Run:
    """All solutions at (G, g), both of size about one; `special` skips the attempt from the generic member."""
    if not special:
        known = solved_generic(shape)
        solutions = _track(family(shape), known, pack(gram, g), seed, attempts=3, final="return")
        if solutions.finite.count == len(known.points):
            return Run(solutions, known.completeness, True)
        if solutions.singular.count and solutions.at_infinity.count == 0 and solutions.failed.count == 0:
            return Run(solutions, known.completeness, True)
    fixed = gram.astype(np.complex128)
    own = solved_target(shape, fixed, seed, own_count)
    solutions = _track(family(shape, fixed), own, g.astype(np.complex128), seed, ATTEMPTS, "raise")
    return Run(solutions, own.completeness, False)


def _track(
    members: CompiledFamily,
    known: SolvedMember,
    wanted: Complex,
    seed: int,
    attempts: int,
    final: Literal["raise", "return"],
) -> Solutions:
    """Lost paths mean another way round: all are tracked again by another random member."""
    for attempt in range(attempts):
        solutions = solve_member(
            members,
            known.points,
            known.parameters.tolist(),
            wanted.tolist(),
            rng=seed + attempt,
            detour=attempt > 0,
            on_incomplete="return" if attempt + 1 < attempts else final,
        )
        if solutions.failed.count == 0:
            break
    return solutions
