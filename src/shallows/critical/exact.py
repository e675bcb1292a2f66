"""Rank-one charts in exact arithmetic: msolve isolates every real root, an engine that shares nothing with homotopy.

S = ε u^⊗d is critical when Σ_I e_I ∂_x(u^I) = 0, e = G(ε u^⊗d − t), with G and t read as the rational numbers they are.
For even degrees both signs ε are solved and u is taken up to sign; u = 0 is always a root and is left out. All real
roots of a zero-dimensional system are in the answer, so the list is complete; complex ones are not counted.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb, fmpq

from shallows import coordinates
from shallows._checks import Array
from shallows.certify.intervals import precision
from shallows.certify.msolve import ExactRealRoots, real_roots
from shallows.certify.signature import inertia
from shallows.charts import Certificate, Chart
from shallows.critical.found import Counts, Found, assemble, origin
from shallows.critical.powers_balls import BITS, PowerSystem
from shallows.critical.powers_family import PowerShape
from shallows.critical.realise import spectral_terms
from shallows.errors import InvalidProblem
from shallows.problem import Problem

Polynomial = dict[tuple[int, ...], Fraction]


def exact_chart(problem: Problem) -> Chart:
    """All real critical points of rank at most one (and the target, where rank n is the next)."""
    full = problem.degree == 2 and problem.n == 2 and problem.width > 1
    if problem.width > 1 and not full:
        raise InvalidProblem(
            f'method="exact" is for one neuron (or n = 2); this problem has width {problem.width}. Use '
            'method="homotopy".'
        )
    found = [origin(problem)]
    counts = {0: Counts(1, 1, "the zero tensor")}
    for sign in (1, -1) if problem.degree % 2 == 0 else (1,):
        found += _points(problem, sign)
    counts[1] = Counts(None, len(found) - 1, "all real roots, isolated exactly by msolve")
    if full:
        matrix = problem.target_tensor().to_matrix()
        if np.linalg.matrix_rank(matrix) == 2:
            found.append(Found(*spectral_terms(matrix, 2), (3, 0, 0)))
        counts[2] = Counts(None, None, "the target itself")
    return assemble(problem, found, counts, completeness="proved", method="exact")


def critical_equations(problem: Problem, sign: int) -> list[Polynomial]:
    """∂_x of (ε τ(u)ᵀGτ(u)/2 − gᵀτ(u)) as exact polynomials in u."""
    n, d = problem.n, problem.degree
    exponents = [tuple(int(c) for c in row) for row in coordinates.exponents(n, d)]
    gram = [[Fraction(float(x)) for x in row] for row in problem.gram()]
    target = [Fraction(float(x)) for x in problem.target_tensor().entries]
    g = [sum((a * t for a, t in zip(row, target, strict=True)), Fraction(0)) for row in gram]
    equations: list[Polynomial] = []
    for x in range(n):
        terms: Polynomial = {}
        for i, left in enumerate(exponents):
            if not left[x]:
                continue
            slope = tuple(c - (y == x) for y, c in enumerate(left))
            terms[slope] = terms.get(slope, Fraction(0)) - g[i] * left[x]
            for j, right in enumerate(exponents):
                key = tuple(a + b for a, b in zip(slope, right, strict=True))
                terms[key] = terms.get(key, Fraction(0)) + sign * gram[i][j] * left[x]
        equations.append({key: value for key, value in terms.items() if value})
    return equations


def _points(problem: Problem, sign: int) -> list[Found]:
    roots: ExactRealRoots = real_roots(critical_equations(problem, sign), bits=2 * BITS)
    if roots.boxes is None:
        raise InvalidProblem(
            'The critical points of rank one are not isolated, so msolve cannot list them. Use method="homotopy", '
            "which reports them as a family."
        )
    found = []
    for box in roots.boxes:
        lead = next(((low, high) for low, high in box if low > 0 or high < 0), None)
        if lead is None or (problem.degree % 2 == 0 and lead[1] < 0):
            continue
        found.append(_found(problem, sign, box))
    return found


def _found(problem: Problem, sign: int, box: tuple[tuple[Fraction, Fraction], ...]) -> Found:
    shape = PowerShape(problem.degree, problem.n, 1)
    u: Array = np.array([float((low + high) / 2) for low, high in box])
    width = max(float(high - low) for low, high in box)
    system = PowerSystem(shape, problem.gram(), problem.target_tensor().entries, (float(sign),))
    with precision(BITS):
        balls = [arb(_ball(low)).union(arb(_ball(high))) for low, high in box]
        proof = inertia(system.ball_evaluator(BITS)(balls)[1])
    signature = (proof.positive, proof.undecided, proof.negative)
    size = float(np.max(np.abs(u)))
    radius = problem.degree * size ** (problem.degree - 1) * (width + 4e-16 * size)
    certificate = Certificate(radius, proof.certified, True, "msolve")
    return Found(u[None, :], np.array([float(sign)]), signature, certificate)


def _ball(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)
