"""Sums of r powers of linear forms in two variables, exactly: Sylvester's apolarity turns them into few unknowns.

In a frame w_j = R(1, z_j) the student's entries are moments s_m = Σ_j a_j z_j^m, m = 0, …, d. With the kernel
K(z) = Π_j (z − z_j) = Σ_i k_i z^i, k_r = 1, they satisfy the recurrences Σ_i k_i s_{m+i} = 0, m = 0, …, d − r, and
every solution of those with distinct z_j is such a sum. It is critical when the form E(z) = Σ_m e_m z^m, e = G(s − t)
in the frame, vanishes doubly at every z_j: E = K² h, h of degree d − 2r (e = 0 when 2r = d + 1). So s = t + G⁻¹e, and
the recurrences are d − r + 1 equations in the d − r + 1 unknowns (k_0, …, k_{r−1}, h_0, …, h_{d−2r}): orders, signs
and scales of the neurons are gone, and so are parallel neurons. Solutions with a z_j at infinity have K of degree
r − 1; that there are none is checked too.
(J. J. Sylvester, "Sketch of a memoir on elimination, transformation, and canonical forms", 1851.)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np
from flint import fmpq, fmpq_mat

from shallows.mathematics.exact import linear_algebra
from shallows.mathematics.exact.polynomials import Polynomial, constant, scaled, times, total, variable
from shallows.mathematics.exact.rational_arrays import rational_matrix
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.support.checks import Array

Matrix = list[list[Fraction]]
#: Roots of the kernel with imaginary parts above this are a conjugate pair: simple roots of low degree are known to
#: about ε times a condition of 10⁶.
PAIRED = 1e-9


@dataclass(frozen=True)
class BinaryProblem:
    """The inverse metric and the target in the moments of a frame, exactly."""

    degree: int
    inverse: Matrix
    solved: list[Fraction]
    frame: Array

    @classmethod
    def of(cls, problem: Problem, frame: Array) -> BinaryProblem:
        """The metric and target of a problem in two variables, read as the rational numbers they are."""
        d = problem.degree
        change = fmpq_mat(
            [[linear_algebra.to_flint(Fraction(c)) for c in row] for row in moment_change(frame, d)]
        )
        exact = ExactLoss.of(problem)
        gram = rational_matrix(exact.gram)
        target = gram.inv() * rational_matrix(exact.right[:, None])
        inverse = (change.transpose() * gram * change).inv()
        solved = change.inv() * target
        table = [[_fraction(inverse[i, j]) for j in range(d + 1)] for i in range(d + 1)]
        return cls(d, table, [_fraction(solved[i, 0]) for i in range(d + 1)], frame)

    def equations(self, rank: int, at_infinity: bool = False) -> list[Polynomial]:
        """The recurrences; `at_infinity`, those of solutions with one z_j at infinity (k_r = 0, k_{r−1} = 1).

        The latter are one equation more than unknowns: an unused unknown makes the system square, so that it has no
        solution, or infinitely many.
        """
        d, free = self.degree, rank - int(at_infinity)
        count = free + d - 2 * rank + 1 + int(at_infinity)
        K = [variable(count, i) for i in range(free)] + [constant(count, Fraction(1))]
        h = [variable(count, free + i) for i in range(d - 2 * rank + 1)]
        e = _convolved(_convolved(K, K), h)
        return self._recurrences(count, K, e, d - rank + 1)

    def limit_equations(self) -> list[Polynomial]:
        """The recurrences of limits of two merged neurons: K = (z − z₀)², and E = (z − z₀)³h, h of degree d − 3.

        E annihilates w^(d−1)b and w^(d−2)v a when it vanishes triply at w. Unknowns are z₀ and the coefficients of h.
        """
        d = self.degree
        count = d - 1
        root = [scaled(variable(count, 0), Fraction(-1)), constant(count, Fraction(1))]
        K = _convolved(root, root)
        e = _convolved(_convolved(K, root), [variable(count, 1 + i) for i in range(d - 2)])
        return self._recurrences(count, K, e, d - 1)

    def _recurrences(
        self, count: int, K: list[Polynomial], e: list[Polynomial], rows: int
    ) -> list[Polynomial]:
        """Σᵢ kᵢ s_{m+i} = 0 for the moments s of the tensor with slope e."""
        moments = []
        for row, start in zip(self.inverse, self.solved, strict=True):
            terms = [scaled(p, c) for p, c in zip(e, row, strict=False)]
            moments.append(total([constant(count, start), *terms]))
        return [total([times(k, moments[m + i]) for i, k in enumerate(K)]) for m in range(rows)]

    def merged(self, root: Array) -> tuple[Array, Array]:
        """w and v of the limit w^(d−1)v at a root of `limit_equations`: moments α z₀^m + β m z₀^(m−1)/d."""
        d, z = self.degree, float(root[0])
        line = np.array([-z, 1.0])
        e = np.convolve(np.convolve(np.convolve(line, line), line), root[1:])
        moments = np.array([float(x) for x in self.solved])
        moments = moments + np.array([[float(x) for x in row] for row in self.inverse]) @ e
        powers = np.arange(d + 1)
        table = np.stack([z**powers, powers * z ** np.maximum(powers - 1, 0) / d], axis=1)
        along, across = np.linalg.lstsq(table, moments, rcond=None)[0]
        w = self.frame @ np.array([1.0, z])
        return w, along * w + self.frame @ np.array([0.0, across])

    def neurons(self, rank: int, root: Array) -> tuple[Array, Array] | None:
        """Real vectors u_j and signs with Σ ε_j u_j^⊗d at a root; None when the z_j are not real and distinct."""
        d = self.degree
        kernel = np.append(root[:rank], 1.0)
        z = np.roots(kernel[::-1])
        if np.max(np.abs(z.imag), initial=0.0) > PAIRED * (1 + np.max(np.abs(z))):
            return None
        moments = np.array([float(x) for x in self.solved])
        if 2 * rank <= d:
            e = np.convolve(np.convolve(kernel, kernel), root[rank:])
            moments = moments + np.array([[float(x) for x in row] for row in self.inverse]) @ e
        a = np.linalg.lstsq(np.vander(z.real, d + 1, increasing=True).T, moments, rcond=None)[0]
        vectors = np.stack([np.ones(rank), z.real], axis=1) @ self.frame.T
        vectors = vectors * np.abs(a[:, None]) ** (1 / d)
        signs = np.sign(a)
        return (vectors * signs[:, None], np.ones(rank)) if d % 2 else (vectors, signs)


def moment_change(frame: Array, degree: int) -> list[list[int]]:
    """The matrix C with s_k = Σ_m C_km Σ_j a_j z_j^m, s_k the entry with k indices 1, for w_j = R(1, z_j)."""
    (a, b), (c, d) = frame.astype(int).tolist()
    return [
        [
            sum(
                comb(degree - k, i)
                * a ** (degree - k - i)
                * b**i
                * comb(k, m - i)
                * c ** (k - m + i)
                * d ** (m - i)
                for i in range(max(0, m - k), min(degree - k, m) + 1)
            )
            for m in range(degree + 1)
        ]
        for k in range(degree + 1)
    ]


def _convolved(p: list[Polynomial], q: list[Polynomial]) -> list[Polynomial]:
    """The product of two polynomials in z whose coefficients are polynomials."""
    parts: list[list[Polynomial]] = [[] for _ in range(len(p) + len(q) - 1)]
    for i, x in enumerate(p):
        for j, y in enumerate(q):
            parts[i + j].append(times(x, y))
    return [total(row) for row in parts]


def _fraction(x: fmpq) -> Fraction:
    return Fraction(int(x.p), int(x.q))
