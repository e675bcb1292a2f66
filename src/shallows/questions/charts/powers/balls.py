"""The critical equations of Σ ε_j u_j^⊗d in ball arithmetic, for real u: existence, realness and signature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import acb
from numpy.typing import NDArray

from shallows.mathematics.balls.systems import BITS, precision
from shallows.mathematics.newton import refined
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.closure.balls import TermSystem
from shallows.questions.charts.closure.term_map import EquationsMap, Term
from shallows.questions.charts.powers.equations import PowerEquations
from shallows.support.checks import Array

#: Newton steps that sharpen an end, and how far, relatively, they may take it.
NEWTON, NEAR = 12, 1e-3
#: A sharpened end is one that Newton's method with 128 bits moves by less than this share in the end; it stops where it
#: moves no double.
SHARP, STILL = 1e-12, 1e-16


@dataclass(frozen=True)
class PowerMap(EquationsMap):
    """(u₁, …, u_r) ↦ Σ ε_j u_j^⊗d.

    >>> PowerMap(PowerEquations(3, 1, 1), (-1.0,)).terms
    [Term(entry=0, coefficient=Fraction(-1, 1), factors=((0, 3),))]
    """

    equations: PowerEquations
    signs: tuple[float, ...]

    @property
    def degree(self) -> int:  # type: ignore[override]
        """d."""
        return self.equations.degree

    @property
    def terms(self) -> list[Term]:
        """ε_j u_j^I for each neuron and monomial."""
        n = self.equations.n
        table = [[(x, e) for x, e in enumerate(row) if e] for row in _exponents(n, self.degree)]
        return [
            Term(entry, Fraction(sign), tuple((j * n + x, e) for x, e in own))
            for j, sign in enumerate(self.signs)
            for entry, own in enumerate(table)
        ]


def _exponents(n: int, degree: int) -> list[list[int]]:
    table: list[list[int]] = coordinates.exponents(n, degree).tolist()
    return table


@dataclass(frozen=True, eq=False)
class PowerSystem(TermSystem):
    """∇_{u_j} ℓ(Σ ε_j u_j^⊗d) / 2 = 0; `signs` are the ε_j.

    `gram` and `target` are G and t as doubles; where no others are given, these are the exact numbers. Others are asked
    for when something is proved.
    """

    equations: PowerEquations
    gram: Array
    target: Array
    signs: tuple[float, ...]
    exact: Callable[[], ExactLoss] | None = None

    @classmethod
    def of(
        cls,
        problem: Problem,
        equations: PowerEquations,
        signs: tuple[float, ...],
        exact: Callable[[], ExactLoss],
    ) -> PowerSystem:
        """A problem's critical equations for neurons of these signs; `exact` makes `ExactLoss.of(problem)`."""
        return cls(equations, problem.gram(), problem.target_tensor().entries, signs, exact)

    @cached_property
    def loss(self) -> ExactLoss:  # type: ignore[override]
        """The exact G and b."""
        return self.exact() if self.exact is not None else ExactLoss.of_doubles(self.gram, self.target)

    @cached_property
    def map(self) -> PowerMap:  # type: ignore[override]
        """u ↦ Σ ε_j u_j^⊗d."""
        return PowerMap(self.equations, self.signs)


def sharpened(system: PowerSystem, point: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Newton's method with 128 bits: where a badly conditioned end belongs. The end itself when that is not near."""
    with precision(BITS):
        evaluator = system.ball_evaluator(BITS)
        found, moved, size = point, np.inf, float(np.abs(point).max())
        for x, moved in refined(evaluator, [acb(z) for z in point.tolist()], NEWTON):
            found = np.array([complex(a) for a in x])
            if moved < STILL * size:
                break
    near = np.abs(found - point).max() < NEAR * size
    return found if near and moved < SHARP * size else point
