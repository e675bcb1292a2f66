"""The critical equations of students that are polynomials of their parameters, at many boxes at once, in float64 balls.

s is a sum of terms c ∏ x_p^e in the parameters: powers, neurons with their outer weights, or limits of merged ones.
With e = G s − b and D = ∂s the values are D e, and the Jacobians D G Dᵀ plus the second derivatives of the terms
weighted by e.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from shallows.mathematics.balls.arrays import Ball, stacked
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.closure.term_map import Term, TermMap


class _Derivatives:
    """One order of derivatives of all terms, those that vanish left out: ∂_c of a term is again a coefficient times a
    monomial, and it is added up with others in one place: an entry, or a parameter and an entry, or a pair of
    parameters."""

    def __init__(self, terms: list[Term], places: list[tuple[int, ...]], by_entry: int) -> None:
        found, number = [], {down: k for k, down in enumerate(places)}
        for term in terms:
            own = sorted((p for p, _ in term.factors), reverse=True)
            for down in combinations_with_replacement(own, len(places[0])):
                left, factor = dict(term.factors), 1
                for p in down:
                    factor, left[p] = factor * left[p], left[p] - 1
                if factor:
                    monomial = [(p, e) for p, e in left.items() if e]
                    found.append((number[down], monomial, term.coefficient * factor, term.entry))
        place = [k * by_entry + entry if by_entry else k for k, _, _, entry in found]
        order = np.argsort(place, kind="stable")
        found, self.places = [found[k] for k in order], len(places) * max(by_entry, 1)
        self.present, self.starts = np.unique(np.array(place, np.intp)[order], return_index=True)
        longest = max((len(row[1]) for row in found), default=0) or 1
        self.factors = np.zeros((len(found), longest, 2), np.intp)
        for row, (_, monomial, _, _) in zip(self.factors, found, strict=True):
            row[: len(monomial)] = np.reshape(monomial, (-1, 2))
        self.coefficients = Ball.of_fractions([[row[2] for row in found]])
        self.entry = np.array([row[3] for row in found], np.intp)

    def at(self, powers: Ball) -> Ball:
        """All of them, coefficients and all, (m, terms)."""
        product = self.coefficients
        for f in range(self.factors.shape[1]):
            product = product * powers[:, self.factors[:, f, 0], self.factors[:, f, 1]]
        return product

    def summed(self, values: Ball) -> Ball:
        """Those of each place added up, (m, places)."""
        shape = (len(values.mid), self.places)
        mid, rad = np.zeros(shape, values.mid.dtype), np.zeros(shape)
        if len(self.starts):
            sums = values.segment_sums(self.starts)
            mid[:, self.present], rad[:, self.present] = sums.mid, sums.rad
        return Ball(mid, rad)


class TermBatch:
    """Values and Jacobians at discs (m, unknowns); the Jacobian is half the Hessian of ℓ at a solution."""

    is_real = True

    def __init__(self, map_: TermMap, exact: ExactLoss) -> None:
        self.n, self.degree, self.entries = map_.unknowns, map_.degree, map_.entries
        terms, n = list(map_.terms), self.n
        self.pairs = [(p, q) for p in range(n) for q in range(p + 1)]
        self.plain = _Derivatives(terms, [()], self.entries)
        self.first = _Derivatives(terms, [(p,) for p in range(n)], self.entries)
        self.second = _Derivatives(terms, list(self.pairs), 0)
        self.gram = Ball.of_fractions(exact.gram.tolist())
        self.right = Ball.of_fractions([exact.right.tolist()])

    def _powers(self, x: Ball) -> Ball:
        """x_p^e for e = 0 … d, (m, unknowns, d + 1)."""
        table = [Ball.exact(np.ones(x.mid.shape, x.mid.dtype)), x]
        for _ in range(self.degree - 1):
            table.append(table[-1] * x)
        return stacked([Ball(power.mid[:, :, None], power.rad[:, :, None]) for power in table], axis=2)

    def tensors(self, x: Ball) -> Ball:
        """s alone, (m, N)."""
        return self._tensors(self._powers(x))

    def _tensors(self, powers: Ball) -> Ball:
        return self.plain.summed(self.plain.at(powers))

    def tangents(self, x: Ball) -> Ball:
        """D alone, (m, unknowns, N)."""
        return self._tangents(self._powers(x))

    def _tangents(self, powers: Ball) -> Ball:
        return self.first.summed(self.first.at(powers)).reshape(-1, self.n, self.entries)

    def _student(self, powers: Ball) -> tuple[Ball, Ball]:
        """D and e = G s − b, (m, N)."""
        return self._tangents(powers), self._tensors(powers) @ self.gram - self.right

    def values(self, x: Ball) -> Ball:
        """The values alone."""
        D, e = self._student(self._powers(x))
        return (D @ e[:, :, None])[:, :, 0]

    def __call__(self, x: Ball) -> tuple[Ball, Ball]:
        """Values and Jacobians at the boxes x."""
        powers = self._powers(x)
        D, e = self._student(powers)
        jacobian = (D @ self.gram) @ D.swapaxes(1, 2)
        curved = self.second.summed(self.second.at(powers) * e[:, self.second.entry])
        rows, columns = np.array(self.pairs).T
        added = jacobian[:, rows, columns] + curved
        for one, other in ((rows, columns), (columns, rows)):
            jacobian.mid[:, one, other], jacobian.rad[:, one, other] = added.mid, added.rad
        return (D @ e[:, :, None])[:, :, 0], jacobian
