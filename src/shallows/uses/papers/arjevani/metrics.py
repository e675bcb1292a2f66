"""Paper 000, sections 3.1 and 4.2: inner products that data induce."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from math import prod

import numpy as np

import shallows as sh
from shallows.mathematics.tensors import coordinates
from shallows.model.data.base import Distribution
from shallows.support.checks import Array
from shallows.uses.papers.arjevani.instances import random_tensor
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact

Law = Callable[[int], Distribution]


def _double_factorial(d: int) -> int:
    """E z^{2d} = (2d−1)!! of a standard normal."""
    return prod(range(1, 2 * d, 2))


def _moment_form(data: Distribution, d: int, z: Array) -> float:
    """⟨E x^{⊗2d}, z^{⊗2d}⟩."""
    return float(sh.SymmetricTensor(data.moments(2 * d), data.n, 2 * d)(z))


@claim(
    "000",
    "Proposition 20",
    "N samples give an inner product on Sym^d(Rⁿ) iff no form of degree d vanishes on them; true for generic N ≥ dim.",
    control=("one sample fewer", {"missing": 1}),
)
def proposition_20(trial: Trial, missing: int = 0) -> Iterator[Outcome]:
    """As many random samples as the space has dimensions, and one fewer for the converse."""
    for n, d in ((2, 2), (3, 2), (2, 4), (3, 3)):
        N = coordinates.dimension(n, d)
        for _ in trial.times(2, 20):
            X = trial.rng.standard_normal((N, n))
            enough = sh.Samples(X[: N - missing])
            yield fact(enough.is_nondegenerate(d), f"n={n}, d={d}: {N - missing} samples, dimension {N}")
            form = sh.Samples(X[:-1]).vanishing_polynomial(d)
            yield fact(form is not None, f"n={n}, d={d}: {N - 1} samples leave a form that vanishes")
            if form is not None:
                size = np.linalg.norm(form.entries) * np.linalg.norm(X, axis=1).max() ** d
                yield equal(
                    float(np.abs(form(X[:-1])).max() / size),
                    1e-9,
                    f"n={n}, d={d}: it vanishes on the samples",
                )


@claim(
    "000",
    "Proposition 21",
    "For d ≥ 2 and n ≥ 2 no distribution induces the Frobenius inner product.",
    control=("d = 1, where any white distribution does", {"degrees": (1,)}),
    printed=("for every n", {"smallest": 1}),
)
def proposition_21(
    trial: Trial, degrees: tuple[int, ...] = (2, 3, 4), smallest: int = 2
) -> Iterator[Outcome]:
    """A Gram matrix of moments depends on I∪J only; how far Frobenius is from that."""
    for d in degrees:
        for n in range(smallest, 5):
            defect = sh.Frobenius(n).moment_defect(d)
            yield at_least(
                defect, 0.0, f"n={n}, d={d}: defect of Frobenius as a matrix of moments", strict=True
            )


@claim(
    "000",
    "Equation 14",
    "Moments of a rotation-invariant law are those of any other, times a number.",
    control=("i.i.d. Laplace coordinates", {"law": sh.IID.laplace}),
)
def equation_14(trial: Trial, law: Law | None = None) -> Iterator[Outcome]:
    """The ratio of the moments of order 2d to the Gaussian's, over all entries."""
    for n in (2, 3):
        for d in (2, 3):
            for _ in trial.times(2, 10):
                radii = np.sort(trial.rng.uniform(0.5, 2.0, 3))
                data = law(n) if law else sh.Radial(n, [float(np.mean(radii**k)) for k in range(2 * d + 1)])
                ours, gauss = data.moments(2 * d), sh.Gaussian(n).moments(2 * d)
                scale = float(ours @ gauss / (gauss @ gauss))
                error = float(np.abs(ours - scale * gauss).max() / np.abs(ours).max())
                yield equal(error, 1e-12, f"n={n}, d={d}: factor {scale:.4g}")


@claim(
    "000",
    "Equation 15",
    "⟨E x^{⊗2d}, z^{⊗2d}⟩ = (2d−1)!! ‖z‖^{2d} for standard Gaussian data.",
    control=("i.i.d. uniform coordinates", {"law": sh.IID.uniform}),
)
def equation_15(trial: Trial, law: Law = sh.Gaussian) -> Iterator[Outcome]:
    """At random z."""
    for n in (1, 2, 3, 4):
        for d in (1, 2, 3):
            for _ in trial.times(2, 20):
                z = trial.rng.standard_normal(n)
                expected = _double_factorial(d) * float(z @ z) ** d
                yield equal(abs(_moment_form(law(n), d, z) / expected - 1), 1e-12, f"n={n}, d={d}")


@claim(
    "000",
    "Equation 16",
    "Moments of i.i.d. coordinates are products: an entry of index I is Π_s μ_s^{#(I,s)}.",
    control=("a mixture of two Gaussians, uncorrelated but dependent", {"dependent": True}),
)
def equation_16(trial: Trial, dependent: bool = False) -> Iterator[Outcome]:
    """Entry by entry, for symmetric and for skew laws."""
    for n in (2, 3):
        for d in (1, 2, 3):
            atoms, weights = trial.rng.standard_normal(5), trial.rng.dirichlet(np.ones(5))
            mu = [float(weights @ atoms**s) for s in range(2 * d + 1)]
            data: Distribution = sh.IID(n, mu)
            if dependent:
                data = sh.Mixture(
                    [0.5, 0.5], [sh.Gaussian(n, 0.2 * np.eye(n)), sh.Gaussian(n, 1.8 * np.eye(n))]
                )
                mu = [1.0, 0.0, 1.0, 0.0, 3 * (0.04 + 3.24) / 2, 0.0, 15 * (0.008 + 5.832) / 2]
            expected = [
                prod(mu[s] for s in Counter(I).values()) for I in coordinates.indices(n, 2 * d).tolist()
            ]
            error = float(np.abs(data.moments(2 * d) - expected).max() / np.abs(expected).max())
            yield equal(error, 1e-12, f"n={n}, d={d}: {len(expected)} entries")


@claim(
    "000",
    "Equation 17",
    "⟨E x^{⊗2d}, z^{⊗2d}⟩ = (2d−1)!! (zᵀΣz)^d for N(0, Σ).",
    control=("a mean that is not zero", {"mean": 1.0}),
)
def equation_17(trial: Trial, mean: float = 0.0) -> Iterator[Outcome]:
    """Random covariances and directions."""
    for n in (1, 2, 3):
        for d in (1, 2, 3):
            for _ in trial.times(2, 20):
                A = trial.rng.standard_normal((n, n))
                data = sh.Gaussian(n, A @ A.T + 0.1 * np.eye(n), mean * np.ones(n) if mean else None)
                z = trial.rng.standard_normal(n)
                expected = _double_factorial(d) * float(z @ data.covariance @ z) ** d
                yield equal(abs(_moment_form(data, d, z) / expected - 1), 1e-10, f"n={n}, d={d}")


@claim(
    "000",
    "Equation 18",
    "Moments of a mixture are the mixture of the moments.",
    control=("the weights exchanged", {"exchanged": True}),
)
def equation_18(trial: Trial, exchanged: bool = False) -> Iterator[Outcome]:
    """A mixture of two empirical laws is the empirical law of the samples together."""
    for n, d in ((2, 2), (3, 2), (2, 3)):
        for _ in trial.times(2, 20):
            X, Y = trial.rng.standard_normal((7, n)), 2 * trial.rng.standard_normal((21, n))
            weights = [0.75, 0.25] if exchanged else [0.25, 0.75]
            mixed = sh.Mixture(weights, [sh.Samples(X), sh.Samples(Y)]).moments(2 * d)
            together = sh.Samples(np.vstack([X, Y])).moments(2 * d)
            yield equal(
                float(np.abs(mixed - together).max() / np.abs(together).max()), 1e-12, f"n={n}, d={d}"
            )


@claim(
    "000",
    "Example 22",
    "For n = d = 2 the metric is the 4×4 matrix of fourth moments; standard Gaussian: 3, 1, 0 as printed.",
    control=("Laplace data", {"law": sh.IID.laplace}),
)
def example_22(trial: Trial, law: Law = sh.Gaussian) -> Iterator[Outcome]:
    """The matrix of samples by its definition, and the Gaussian one number by number."""
    printed = np.array([[3, 0, 0, 1], [0, 1, 1, 0], [0, 1, 1, 0], [1, 0, 0, 3]])
    yield equal(
        float(np.abs(law(2).moment_matrix(2) - printed).max()), 1e-12, f"{law(2)!r}: the printed matrix"
    )
    for _ in trial.times(3, 30):
        X = trial.rng.standard_normal((6, 2))
        outer = np.einsum("ni,nj->nij", X, X).reshape(6, 4)
        error = float(np.abs(sh.Samples(X).moment_matrix(2) - outer.T @ outer / 6).max())
        yield equal(error, 1e-12, "samples: E vec(xxᵀ) vec(xxᵀ)ᵀ")


@claim(
    "000",
    "Proposition 32",
    "Centred i.i.d. coordinates: ⟨S, T⟩ = 2μ₂² tr ST + μ₂² tr S tr T + (μ₄ − 3μ₂²) tr S∗T.",
    control=("coordinates with a mean", {"shift": 0.5}),
)
def proposition_32(trial: Trial, shift: float = 0.0) -> Iterator[Outcome]:
    """Random matrices under laws with two atoms of opposite sign (so of any μ₂, μ₄), and the named ones."""
    for n in (2, 3, 4):
        for _ in trial.times(4, 40):
            p, x = trial.rng.uniform(0.1, 0.9), trial.rng.uniform(0.5, 2.0)
            atoms = np.array([x * (1 - p), -x * p]) + shift
            mu = [float(np.array([p, 1 - p]) @ atoms**s) for s in range(5)]
            for data in (sh.IID(n, mu), sh.IID.uniform(n), sh.IID.laplace(n)):
                m2, m4 = data.moment(2), data.moment(4)
                S, T = (random_tensor(trial.rng, n, 2) for _ in range(2))
                A, B = S.to_matrix(), T.to_matrix()
                expected = 2 * m2**2 * np.trace(A @ B) + m2**2 * np.trace(A) * np.trace(B)
                expected += (m4 - 3 * m2**2) * np.trace(A * B)
                size = np.linalg.norm(A) * np.linalg.norm(B) * m4 * n
                yield equal(float(abs(S.inner(T, data) - expected) / size), 1e-12, f"n={n}, {data!r}")
