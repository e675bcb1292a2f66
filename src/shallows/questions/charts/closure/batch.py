"""The critical equations of limits at many boxes at once, in float64 ball arithmetic.

s is a sum of terms c ∏ x_p^e in the parameters of merged neurons; with e = G s − b and D = ∂s the values are D e, and
the Jacobians D G Dᵀ plus the second derivatives of the terms weighted by e.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.balls.arrays import Ball, stacked
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.closure.term_map import Term, TermMap


class _Derivatives:
    """One order of derivatives of all terms, those that vanish left out: ∂_c of a term is again a coefficient times a
    monomial, and it is added up with others in one place: an entry, or a parameter and an entry, or a pair of
    parameters."""

    def __init__(self, terms: list[Term], n: int, places: list[tuple[int, ...]], by_entry: int) -> None:
        exponents, coefficients, entry, place = [], [], [], []
        for k, down in enumerate(places):
            for term in terms:
                left, factor = [0] * n, 1
                for p, exponent in term.factors:
                    left[p] = exponent
                for p in down:
                    factor, left[p] = factor * left[p], left[p] - 1
                if factor:
                    exponents.append(left)
                    coefficients.append(term.coefficient * factor)
                    entry.append(term.entry)
                    place.append(k * by_entry + term.entry if by_entry else k)
        self.exponents = np.array(exponents, np.intp).reshape(-1, n)
        self.coefficients = Ball.of_fractions([coefficients])
        self.entry = np.array(entry, np.intp)
        sums = np.zeros((len(place), len(places) * max(by_entry, 1)))
        sums[np.arange(len(place)), place] = 1.0
        self.sums = Ball.exact(sums)

    def at(self, powers: Ball) -> Ball:
        """All of them, coefficients and all, (m, terms)."""
        product = self.coefficients
        for p in range(self.exponents.shape[1]):
            if self.exponents[:, p].any():
                product = product * powers[:, p, self.exponents[:, p]]
        return product


class MergedBatch:
    """Values and Jacobians at discs (m, unknowns); the Jacobian is half the Hessian of ℓ at a solution."""

    is_real = True

    def __init__(self, map_: TermMap, exact: ExactLoss) -> None:
        self.n, self.degree, self.entries = map_.unknowns, map_.degree, map_.entries
        terms, n = list(map_.terms), self.n
        self.pairs = [(p, q) for p in range(n) for q in range(p + 1)]
        self.plain = _Derivatives(terms, n, [()], self.entries)
        self.first = _Derivatives(terms, n, [(p,) for p in range(n)], self.entries)
        self.second = _Derivatives(terms, n, list(self.pairs), 0)
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
        return self.plain.at(powers) @ self.plain.sums

    def _student(self, powers: Ball) -> tuple[Ball, Ball]:
        """D, (m, unknowns, N), and e = G s − b, (m, N)."""
        e = self._tensors(powers) @ self.gram - self.right
        D = (self.first.at(powers) @ self.first.sums).reshape(-1, self.n, self.entries)
        return D, e

    def values(self, x: Ball) -> Ball:
        """The values alone."""
        D, e = self._student(self._powers(x))
        return (D @ e[:, :, None])[:, :, 0]

    def __call__(self, x: Ball) -> tuple[Ball, Ball]:
        """Values and Jacobians at the boxes x."""
        powers = self._powers(x)
        D, e = self._student(powers)
        jacobian = (D @ self.gram) @ D.swapaxes(1, 2)
        curved = (self.second.at(powers) * e[:, self.second.entry]) @ self.second.sums
        rows, columns = np.array(self.pairs).T
        added = jacobian[:, rows, columns] + curved
        for one, other in ((rows, columns), (columns, rows)):
            jacobian.mid[:, one, other], jacobian.rad[:, one, other] = added.mid, added.rad
        return (D @ e[:, :, None])[:, :, 0], jacobian
