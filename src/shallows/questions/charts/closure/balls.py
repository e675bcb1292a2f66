"""The critical equations of limits in ball arithmetic, with the exact metric: existence, realness, signature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import acb, acb_mat, arb, arb_mat

from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.balls.systems import BITS, made_once, precision, rational
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.closure.batch import MergedBatch
from shallows.questions.charts.closure.term_map import Term, TermMap


@dataclass(frozen=True, eq=False)
class MergedSystem:
    """∂s · (G s − b) = 0 in the parameters of blocks of merged neurons, w_c = 1."""

    map: TermMap
    exact: ExactLoss

    def ball_evaluator(self, bits: int) -> MergedBalls:
        """What `certify` asks for; made once for each precision."""
        return made_once(self, MergedBalls, bits)

    def ball_batch(self) -> MergedBatch:
        """What `certify` tries first."""
        return self._batch

    @cached_property
    def _batch(self) -> MergedBatch:
        return MergedBatch(self.map, self.exact)

    def tensor(self, root: CertifiedRoot) -> list[acb]:
        """The entries of s over the root's box."""
        with precision(BITS):
            return self.ball_evaluator(BITS).entries([acb(x) for x in root.box])


class MergedBalls:
    """Value D e and Jacobian D G Dᵀ + Σ_I e_I ∂∂s_I: half the Hessian of ℓ in the parameters, at a solution."""

    is_real = True

    def __init__(self, system: MergedSystem, bits: int) -> None:
        self.map, self.n = system.map, system.map.unknowns
        self.gram, self.g = system.exact.balls(bits)
        with precision(max(bits, BITS)):
            self.terms: list[tuple[Term, arb]] = [
                (term, arb(rational(term.coefficient))) for term in system.map.terms
            ]

    def entries(self, x: Sequence[Any]) -> list[Any]:
        """s alone."""
        found, powers = [type(x[0])(0)] * self.map.entries, self._powers(x)
        for term, coefficient in self.terms:
            found[term.entry] = found[term.entry] + coefficient * _product(powers, term, ())
        return found

    def students(self, x: Sequence[Any]) -> tuple[Any, Any]:
        """s, N×1, and D = ∂s, unknowns × N."""
        kind: Any = acb_mat if isinstance(x[0], acb) else arb_mat
        s, D, powers = kind(self.map.entries, 1), kind(self.n, self.map.entries), self._powers(x)
        for term, coefficient in self.terms:
            s[term.entry, 0] = s[term.entry, 0] + coefficient * _product(powers, term, ())
            for p, _ in term.factors:
                D[p, term.entry] = D[p, term.entry] + coefficient * _product(powers, term, (p,))
        return s, D

    def __call__(self, x: Sequence[Any]) -> tuple[Any, Any]:
        """Value and Jacobian at the balls x."""
        kind: Any = acb_mat if isinstance(x[0], acb) else arb_mat
        s, D = self.students(x)
        powers = self._powers(x)
        e = kind(self.gram) * s - kind(self.g)
        jacobian = D * kind(self.gram) * D.transpose()
        for term, coefficient in self.terms:
            weight = coefficient * e[term.entry, 0]
            for p, exponent in term.factors:
                for q, _ in term.factors:
                    if p != q or exponent > 1:
                        jacobian[p, q] = jacobian[p, q] + weight * _product(powers, term, (p, q))
        return D * e, jacobian

    def _powers(self, x: Sequence[Any]) -> list[list[Any]]:
        table = []
        for entry in x:
            row = [type(entry)(1)]
            for _ in range(self.map.degree):
                row.append(row[-1] * entry)
            table.append(row)
        return table


def _product(powers: list[list[Any]], term: Term, down: tuple[int, ...]) -> Any:
    """∂ of a term's monomial in the parameters `down`."""
    value: Any = 1
    for p, exponent in term.factors:
        for _ in range(down.count(p)):
            value = value * exponent
            exponent -= 1
        value = value * powers[p][exponent]
    return value
