"""The critical equations of students that are polynomials of their parameters, in ball arithmetic, the metric exact:
existence, realness, signature."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import acb, acb_mat, arb, arb_mat

from shallows.mathematics.balls.inertia import Inertia, inertia
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.balls.systems import BITS, made_once, precision, rational
from shallows.mathematics.exact.polynomials import Polynomial, scaled, times, total
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.closure.batch import TermBatch
from shallows.questions.charts.closure.term_map import Term, TermMap


class TermSystem:
    """∂s · (G s − b) = 0 in the parameters of a map x ↦ s: half the gradient of the loss."""

    map: TermMap
    loss: ExactLoss

    def __init__(self, map_: TermMap, loss: ExactLoss) -> None:
        self.map, self.loss = map_, loss

    def ball_evaluator(self, bits: int) -> TermBalls:
        """What `certify` asks for; made once for each precision."""
        return made_once(self, TermBalls, bits)

    def ball_batch(self) -> TermBatch:
        """What `certify` tries first: the same at many boxes at once."""
        return self._batch

    @cached_property
    def _batch(self) -> TermBatch:
        return TermBatch(self.map, self.loss)

    def inertia(self, box: list[Any]) -> Inertia:
        """Proved inertia of the Hessian of the loss over a real box."""
        with precision(BITS):
            return inertia(self.ball_evaluator(BITS)(box)[1])

    def polynomials(self) -> list[Polynomial]:
        """The equations as exact polynomials."""
        n, N = self.map.unknowns, self.map.entries
        table: list[list[Polynomial]] = [[{} for _ in range(N)] for _ in range(n + 1)]
        for term in self.map.terms:
            exponents = [0] * n
            for p, e in term.factors:
                exponents[p] = e
            _add(table[n][term.entry], tuple(exponents), term.coefficient)
            for p, e in term.factors:
                lower = tuple(k - (q == p) for q, k in enumerate(exponents))
                _add(table[p][term.entry], lower, e * term.coefficient)
        *slopes, s = table
        residual = [
            total([*(scaled(q, g) for q, g in zip(s, row, strict=True) if g), {(0,) * n: -b}])
            for row, b in zip(self.loss.gram.tolist(), self.loss.right.tolist(), strict=True)
        ]
        return [total([times(p, e) for p, e in zip(own, residual, strict=True)]) for own in slopes]

    def tensor(self, root: CertifiedRoot) -> list[acb]:
        """The entries of s over the root's box."""
        with precision(BITS):
            return self.ball_evaluator(BITS).entries([acb(x) for x in root.box])


class TermBalls:
    """Value D e and Jacobian D G Dᵀ + Σ_I e_I ∂∂s_I: half the Hessian of ℓ in the parameters, at a solution."""

    is_real = True

    def __init__(self, system: TermSystem, bits: int) -> None:
        self.map, self.n = system.map, system.map.unknowns
        self.gram, self.g = system.loss.balls(bits)
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

    def __call__(self, x: Sequence[Any]) -> tuple[Any, Any]:
        """Value and Jacobian at the balls x."""
        kind: Any = acb_mat if isinstance(x[0], acb) else arb_mat
        s, D, powers = kind(self.map.entries, 1), kind(self.n, self.map.entries), self._powers(x)
        for term, coefficient in self.terms:
            s[term.entry, 0] = s[term.entry, 0] + coefficient * _product(powers, term, ())
            for p, _ in term.factors:
                D[p, term.entry] = D[p, term.entry] + coefficient * _product(powers, term, (p,))
        e = kind(self.gram) * s - kind(self.g)
        jacobian = D * kind(self.gram) * D.transpose()
        for term, coefficient in self.terms:
            weight = coefficient * e[term.entry, 0]
            for k, (p, exponent) in enumerate(term.factors):
                for q, _ in term.factors[: k + 1]:
                    if p != q or exponent > 1:
                        curved = weight * _product(powers, term, (p, q))
                        jacobian[p, q] = jacobian[p, q] + curved
                        if p != q:
                            jacobian[q, p] = jacobian[q, p] + curved
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
        if exponent:
            value = value * powers[p][exponent]
    return value


def _add(polynomial: Polynomial, exponents: tuple[int, ...], coefficient: Fraction) -> None:
    polynomial[exponents] = polynomial.get(exponents, Fraction(0)) + coefficient
