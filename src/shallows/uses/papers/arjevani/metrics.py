"""Paper 000, sections 3.1 and 4.2: inner products that data induce.

Moments of these laws are rational numbers, and so are the instances: identities are decided in exact arithmetic, and
the doubles that the library returns are compared with the exact values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

import shallows as sh
from shallows.mathematics.exact.linear_algebra import integer_rank
from shallows.mathematics.tensors import coordinates
from shallows.model.data.base import Distribution
from shallows.model.data.metric import moment_defect
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.mutations import DOUBLED, DROPPED, NEGATED, NEVER, NOTHING, OPPOSITE, Mutation
from shallows.uses.papers.outcome import Outcome, proof

Law = Callable[[int], Distribution]
#: Doubles are to agree with the exact value to this share of the largest entry.
ROUNDING = Fraction(1, 10**13)


def _double_factorial(d: int) -> int:
    """E z^{2d} = (2d−1)!! of a standard normal."""
    return prod(range(1, 2 * d, 2))


def _moment_form(moments: Sequence[Any], n: int, order: int, z: Sequence[int]) -> Fraction:
    """⟨T, z^{⊗k}⟩ for a symmetric T, given by its entries, and integer z, exactly."""
    weights = coordinates.multiplicities(n, order).astype(int).tolist()
    powers = [prod(z[i] ** e for i, e in enumerate(row)) for row in coordinates.exponents(n, order).tolist()]
    return sum((w * Fraction(m) * p for w, m, p in zip(weights, moments, powers, strict=True)), Fraction(0))


def _close(values: Array, exact: Sequence[Any]) -> bool:
    """Whether doubles agree with exact values to `ROUNDING` of the largest, decided exactly."""
    largest = max(abs(Fraction(e)) for e in exact)
    return all(
        abs(Fraction(float(v)) - e) <= ROUNDING * largest for v, e in zip(values.ravel(), exact, strict=True)
    )


def _integers(trial: Trial, size: int | tuple[int, ...], largest: int = 9) -> Any:
    return trial.rng.integers(-largest, largest + 1, size=size)


def _positive_matrix(trial: Trial, n: int) -> Array:
    """A positive-definite matrix of integers."""
    A = _integers(trial, (n, n), 3)
    return np.asarray(A @ A.T + np.eye(n, dtype=int), dtype=float)


@claim(
    "000",
    "Proposition 20",
    "For all n, d and samples x₁, …, x_N: the ERM inner product on Sym^d(Rⁿ) is non-degenerate iff no non-zero form of "
    "degree d vanishes on the samples; for generic samples with N ≥ dim Sym^d(Rⁿ) that is so, for N < dim never.",
    control=("one sample fewer than the dimension", {"missing": 1}),
    tests={
        "shallows.Samples.is_nondegenerate": (OPPOSITE,),
        "shallows.Samples.vanishing_polynomial": (
            NOTHING,
            Mutation("another form", lambda form: form and form + _first_power(form)),
        ),
    },
)
def proposition_20(trial: Trial, missing: int = 0) -> Iterator[Outcome]:
    """Random integer samples, as many as the dimension, one fewer, and one of them doubled: exact ranks decide, and the
    library agrees."""
    for n, d in ((2, 2), (3, 2), (2, 4), (3, 3)):
        N = coordinates.dimension(n, d)
        generic = False
        for _ in trial.times(3, 20):
            X = _integers(trial, (N, n), 50)
            X[:, 0] += X[:, 0] == 0
            whole = X[: N - missing]
            doubled = np.vstack([X[:-1], 2 * X[:1]])
            generic |= _exact_span(whole, d) == N
            for samples, what in ((whole, "random"), (X[:-1], "one fewer"), (doubled, "one doubled")):
                yield from _vanishing(samples, n, d, f"n={n}, d={d}, {len(samples)} samples, {what}")
        yield proof(generic, f"n={n}, d={d}: {N - missing} random samples leave no form that vanishes")


def _first_power(form: sh.SymmetricTensor) -> sh.SymmetricTensor:
    return sh.SymmetricTensor(np.eye(1, len(form.entries))[0], form.n, form.degree)


def _exact_span(X: Any, d: int) -> int:
    """The rank over Q of the samples' powers."""
    table = coordinates.exponents(X.shape[1], d).tolist()
    rows = [
        [prod(int(x) ** e for x, e in zip(row, exponents, strict=True)) for exponents in table] for row in X
    ]
    return integer_rank(np.array(rows, dtype=object))


def _vanishing(X: Any, n: int, d: int, what: str) -> Iterator[Outcome]:
    """The library's two answers against the exact rank, and that the form it gives vanishes, to rounding, exactly."""
    data, full = sh.Samples(X.astype(float)), _exact_span(X, d) == coordinates.dimension(n, d)
    yield proof(data.is_nondegenerate(d) == full, f"{what}: {'an' if full else 'no'} inner product")
    form = data.vanishing_polynomial(d)
    yield proof((form is None) == full, f"{what}: {'no' if full else 'a'} form vanishes")
    if form is not None:
        entries = [Fraction(float(e)) for e in form.entries]
        size = max(abs(e) for e in entries) * int(np.abs(X).max()) ** d
        values = [_moment_form(entries, n, d, x) for x in X.tolist()]
        yield proof(max(map(abs, values)) <= 100 * ROUNDING * size, f"{what}: it vanishes")


@claim(
    "000",
    "Proposition 21",
    "For all d ≥ 2 and n ≥ 2 no distribution on Rⁿ induces the Frobenius inner product of Sym^d(Rⁿ).",
    control=("d = 1, where any white distribution does", {"degrees": (1,)}),
    printed=("d ≥ 2 and every n: at n = 1 a law with E x^{2d} = 1 does", {"smallest": 1}),
    tests={
        "shallows.Frobenius.moment_defect": (DOUBLED, NEVER),
        "shallows.model.data.metric.moment_defect": (Mutation("always one", lambda defect: 1.0),),
        "shallows.Frobenius.gram": (Mutation("the one of E x⁴ = 1", np.ones_like),),
    },
)
def proposition_21(
    trial: Trial, degrees: tuple[int, ...] = (2, 3, 4), smallest: int = 2
) -> Iterator[Outcome]:
    """Of a law, ⟨x^I, x^J⟩ depends on I + J only; of Frobenius the two values for x₁^(2d−2)x₂² are 1/d and 0: small
    integers over d, so that this is exact."""
    for d in degrees:
        for n in range(smallest, 5):
            defect = sh.Frobenius(n).moment_defect(d)
            yield proof(defect == 1 / d, f"n={n}, d={d}: two values for one moment, {defect:.4g} apart")
            yield proof(moment_defect(sh.Gaussian(n), d) == 0, f"n={n}, d={d}: one value under N(0, I)")


@claim(
    "000",
    "Equation 14",
    "For every rotation-invariant law x = ρy on Rⁿ (y uniform on the sphere, ρ ≥ 0 independent) and every d: "
    "E x^{⊗2d} = E ρ^{2d} · E y^{⊗2d}, so that any two such laws differ by a factor.",
    control=("i.i.d. Laplace coordinates", {"law": sh.IID.laplace}),
    tests={
        "shallows.Radial.exact_moments": (DOUBLED, DROPPED, NEGATED),
        "shallows.Radial.moments": (DOUBLED, DROPPED),
    },
)
def equation_14(trial: Trial, law: Law | None = None) -> Iterator[Outcome]:
    """Radial laws with three random radii: every entry against E ρ^{2d} Π (2kᵢ−1)!! / n(n+2)…(n+2d−2), exactly."""
    for n in (2, 3):
        for d in (2, 3):
            for _ in trial.times(2, 10):
                radii = [Fraction(int(r), 8) for r in trial.rng.integers(4, 17, 4)]
                radial = [sum(r**k for r in radii) / 4 for k in range(2 * d + 1)]
                data = law(n) if law else sh.Radial(n, [float(m) for m in radial])
                sphere = prod(range(n, n + 2 * d, 2))
                expected = [
                    radial[2 * d] * _odd_products(row) / sphere
                    for row in coordinates.exponents(n, 2 * d).tolist()
                ]
                what = f"n={n}, d={d}, E ρ^{2 * d} = {float(radial[2 * d]):.4g}"
                exact = data.exact_moments(2 * d)
                assert exact is not None
                yield proof(exact.tolist() == expected, f"{what}: {len(expected)} moments")
                yield proof(_close(data.moments(2 * d), expected), f"{what}: as doubles")


def _odd_products(exponents: Sequence[int]) -> int:
    """Π (kᵢ−1)!! for even kᵢ, 0 if one is odd: the Gaussian moment."""
    return prod(_double_factorial(k // 2) if k % 2 == 0 else 0 for k in exponents)


@claim(
    "000",
    "Equation 15",
    "For every n, d and z in Rⁿ: ⟨E x^{⊗2d}, z^{⊗2d}⟩ = (2d−1)!! ‖z‖^{2d} for x ~ N(0, I).",
    control=("i.i.d. uniform coordinates", {"law": sh.IID.uniform}),
    tests={
        "shallows.Gaussian.exact_moments": (DOUBLED, DROPPED, NEGATED),
        "shallows.Gaussian.moments": (DOUBLED, DROPPED),
    },
)
def equation_15(trial: Trial, law: Law = sh.Gaussian) -> Iterator[Outcome]:
    """Random integer z ≠ 0 with n ≤ 4 and d ≤ 3, in exact arithmetic."""
    for n in (1, 2, 3, 4):
        for d in (1, 2, 3):
            data = law(n)
            exact = data.exact_moments(2 * d)
            assert exact is not None
            yield proof(_close(data.moments(2 * d), exact.tolist()), f"n={n}, d={d}: moments as doubles")
            for _ in trial.times(2, 20):
                z = (_integers(trial, n) | 1).tolist()  # odd, so that no monomial of z vanishes
                expected = _double_factorial(d) * sum(x * x for x in z) ** d
                found = _moment_form(exact.tolist(), n, 2 * d, z)
                yield proof(found == expected, f"n={n}, d={d}, z = {z}: {found}")


@claim(
    "000",
    "Equation 16",
    "For i.i.d. coordinates with moments μ_s and every index I in [n]^{2d}: (E x^{⊗2d})_I = Π_s μ_s^{#(I,s)}.",
    control=("a mixture of two Gaussians, uncorrelated but dependent", {"dependent": True}),
    tests={
        "shallows.IID.exact_moments": (DOUBLED, DROPPED, NEGATED),
        "shallows.IID.moments": (DOUBLED, DROPPED),
    },
)
def equation_16(trial: Trial, dependent: bool = False) -> Iterator[Outcome]:
    """Every entry for n ≤ 3 and d ≤ 3, laws with five random atoms (skew, with a mean), in exact arithmetic."""
    for n in (2, 3):
        for d in (1, 2, 3):
            atoms, weights = trial.rng.standard_normal(5), trial.rng.dirichlet(np.ones(5))
            mu = [1.0, *(float(weights @ atoms**s) for s in range(1, 2 * d + 1))]
            data: Distribution = sh.IID(n, mu)
            if dependent:
                parts = [sh.Gaussian(n, 0.25 * np.eye(n)), sh.Gaussian(n, 1.75 * np.eye(n))]
                data = sh.Mixture([0.5, 0.5], parts)
                mu = [1.0, 0.0, 1.0, 0.0, 3 * (0.25**2 + 1.75**2) / 2, 0.0, 15 * (0.25**3 + 1.75**3) / 2]
            expected = [
                prod(Fraction(mu[s]) for s in Counter(I).values())
                for I in coordinates.indices(n, 2 * d).tolist()
            ]
            exact = data.exact_moments(2 * d)
            assert exact is not None
            yield proof(exact.tolist() == expected, f"n={n}, d={d}: {len(expected)} entries")
            yield proof(_close(data.moments(2 * d), expected), f"n={n}, d={d}: as doubles")


@claim(
    "000",
    "Equation 17",
    "For every covariance Σ, every d and z in Rⁿ: ⟨E x^{⊗2d}, z^{⊗2d}⟩ = (2d−1)!! (zᵀΣz)^d for x ~ N(0, Σ).",
    control=("a mean that is not zero", {"mean": 1.0}),
    tests={
        "shallows.Gaussian.exact_moments": (DOUBLED, DROPPED, NEGATED),
        "shallows.Gaussian.moments": (DOUBLED, DROPPED),
    },
)
def equation_17(trial: Trial, mean: float = 0.0) -> Iterator[Outcome]:
    """Random integer covariances and z, n ≤ 3 and d ≤ 3, in exact arithmetic."""
    for n in (1, 2, 3):
        for d in (1, 2, 3):
            for _ in trial.times(2, 20):
                covariance = _positive_matrix(trial, n)
                data = sh.Gaussian(n, covariance, mean * np.ones(n) if mean else None)
                exact = data.exact_moments(2 * d).tolist()
                z = (_integers(trial, n) | 1).tolist()
                form = sum(z[i] * int(covariance[i, j]) * z[j] for i in range(n) for j in range(n))
                found = _moment_form(exact, n, 2 * d, z)
                yield proof(found == _double_factorial(d) * form**d, f"n={n}, d={d}, z = {z}: {found}")
                yield proof(_close(data.moments(2 * d), exact), f"n={n}, d={d}: moments as doubles")


@claim(
    "000",
    "Equation 18",
    "For every mixture D = Σ γᵢDᵢ and every d: E_D x^{⊗2d} = Σ γᵢ E_{Dᵢ} x^{⊗2d}.",
    control=("the weights exchanged", {"exchanged": True}),
    tests={
        "shallows.Mixture.exact_moments": (DOUBLED, DROPPED, NEGATED),
        "shallows.Mixture.moments": (DOUBLED, DROPPED),
    },
)
def equation_18(trial: Trial, exchanged: bool = False) -> Iterator[Outcome]:
    """Mixtures ¼ + ¾ of two empirical laws of integer samples are the empirical law of 7 + 21 samples; exactly."""
    for n, d in ((2, 2), (3, 2), (2, 3)):
        for _ in trial.times(2, 20):
            X, Y = _integers(trial, (7, n)) | 1, 2 * _integers(trial, (21, n))
            weights = [0.75, 0.25] if exchanged else [0.25, 0.75]
            mixed = sh.Mixture(weights, [sh.Samples(X.astype(float)), sh.Samples(Y.astype(float))])
            exact = mixed.exact_moments(2 * d)
            together = _means(np.vstack([X, Y]), 2 * d)
            assert exact is not None
            yield proof(exact.tolist() == together, f"n={n}, d={d}: {len(together)} moments")
            yield proof(_close(mixed.moments(2 * d), together), f"n={n}, d={d}: as doubles")


def _means(X: Any, order: int) -> list[Fraction]:
    """The moments of integer samples, by their definition."""
    table = coordinates.indices(X.shape[1], order).tolist()
    return [Fraction(sum(prod(int(row[i]) for i in I) for row in X), len(X)) for I in table]


@claim(
    "000",
    "Example 22",
    "For n = d = 2 an inner product that data induce is the 4×4 matrix of fourth moments (m_ijkl); for N(0, I) it has "
    "3 for iiii, 1 for the other even moments and 0 for odd ones, as printed.",
    control=("Laplace data", {"law": sh.IID.laplace}),
    tests={
        "shallows.Gaussian.moment_matrix": (DOUBLED, DROPPED, NEGATED),
        "shallows.Samples.moment_matrix": (DOUBLED, DROPPED),
    },
)
def example_22(trial: Trial, law: Law = sh.Gaussian) -> Iterator[Outcome]:
    """The Gaussian matrix number by number; that of 8 random integer samples (dyadic, so exact) by its definition."""
    printed = np.array([[3, 0, 0, 1], [0, 1, 1, 0], [0, 1, 1, 0], [1, 0, 0, 3]])
    yield proof(np.array_equal(law(2).moment_matrix(2), printed), f"{law(2)!r}: the printed matrix")
    for _ in trial.times(3, 30):
        X = (_integers(trial, (8, 2)) | 1).astype(float)
        outer = np.einsum("ni,nj->nij", X, X).reshape(8, 4)
        same = np.array_equal(sh.Samples(X).moment_matrix(2), outer.T @ outer / 8)
        yield proof(same, "samples: E vec(xxᵀ) vec(xxᵀ)ᵀ")


@claim(
    "000",
    "Proposition 32",
    "For i.i.d. coordinates with mean 0 and all S, T in Sym²(Rⁿ): "
    "⟨S, T⟩ = 2μ₂² tr ST + μ₂² tr S tr T + (μ₄ − 3μ₂²) tr S∗T.",
    control=("coordinates with a mean", {"shift": Fraction(1, 2)}),
    tests={
        "shallows.IID.exact_moments": (DOUBLED, DROPPED, NEGATED),
        "shallows.IID.moments": (DOUBLED, DROPPED),
        "shallows.SymmetricTensor.inner": (DOUBLED, NEGATED),
    },
)
def proposition_32(trial: Trial, shift: Fraction = Fraction(0)) -> Iterator[Outcome]:
    """Random integer matrices, n = 2, 3, 4, under laws with two dyadic atoms (any μ₂, μ₄) and named ones; exactly."""
    for n in (2, 3, 4):
        for _ in trial.times(3, 30):
            p, x = Fraction(int(trial.rng.integers(2, 15)), 16), Fraction(int(trial.rng.integers(4, 17)), 8)
            atoms = ((p, x * (1 - p) + shift), (1 - p, -x * p + shift))
            mu = [sum(w * a**s for w, a in atoms) for s in range(5)]
            for data in (sh.IID(n, [float(m) for m in mu]), sh.IID.uniform(n), sh.IID.laplace(n)):
                m2, m4 = (Fraction(data.exact_moments(k)[0]) for k in (2, 4))
                S, T = (_symmetric_integers(trial, n) for _ in range(2))
                expected = 2 * m2**2 * int(np.trace(S @ T)) + m2**2 * int(np.trace(S)) * int(np.trace(T))
                expected += (m4 - 3 * m2**2) * int(np.sum(np.diag(S) * np.diag(T)))
                s, t = (sh.SymmetricTensor.from_matrix(M.astype(float)) for M in (S, T))
                s_exact, t_exact = ([Fraction(v) for v in tensor.entries.tolist()] for tensor in (s, t))
                gram = data.exact_gram(2).tolist()
                found = sum(a * g * b for a, row in zip(s_exact, gram, strict=True)
                            for g, b in zip(row, t_exact, strict=True))  # fmt: skip
                yield proof(found == expected, f"n={n}, {data!r}: ⟨S, T⟩ = {float(expected):.6g}")
                scale = m4 * int(np.abs(S).sum()) * int(np.abs(T).sum())
                gap = abs(Fraction(s.inner(t, data)) - expected)
                yield proof(gap <= ROUNDING * scale, f"n={n}, {data!r}: as a double")


def _symmetric_integers(trial: Trial, n: int) -> Any:
    A = _integers(trial, (n, n))
    return A + A.T + np.eye(n, dtype=int)
