"""When the metric at degree 2 is rotation-invariant, after a change of variable: the spectrum that decides all."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.eigenpairs import EigenEnclosure, Whitening, enclose
from shallows.mathematics.exact.linear_algebra import distinct_eigenvalues, matrix
from shallows.mathematics.exact.rational_arrays import fractions
from shallows.mathematics.tensors import coordinates
from shallows.model.data.rotation_invariance import RotationInvariance
from shallows.model.exact_loss import exact_target
from shallows.model.problem import Problem
from shallows.questions.charts.closed_form.left_out import LeftOut
from shallows.support.checks import Array


@dataclass(frozen=True)
class Spectrum:
    """The metric is scale·(‖S‖² + β (tr S)²): β = ½ for Gaussian data, 0 for Frobenius, −1/n beside a norm neuron.

    `sigma` and `vectors` are the eigenpairs of T. After a change of variable with the covariance Σ = LLᵀ the eigenpairs
    are those of LᵀTL, and `vectors` are brought back by L⁻ᵀ; `white` are the vectors before that.
    """

    sigma: Array
    vectors: Array
    scale: float
    share: Fraction
    covariance: Array | None
    white: Array

    @classmethod
    def of(cls, T: Array, metric: RotationInvariance) -> Spectrum | None:
        """The spectrum of a target under a rotation-invariant metric; None when its change of variable is singular."""
        scale, share = float(metric.coefficients[0]), metric.trace_share
        if metric.covariance is None:
            sigma, vectors = np.linalg.eigh(T)
            return cls(sigma, vectors, scale, share, None, vectors)
        if np.linalg.eigvalsh(metric.covariance)[0] <= 0:
            return None
        root = np.asarray(np.linalg.cholesky(metric.covariance), dtype=np.float64)
        sigma, white = np.linalg.eigh(root.T @ T @ root)
        vectors = np.linalg.solve(root.T, white)
        return cls(sigma, vectors, scale, share, metric.covariance, white)

    @property
    def n(self) -> int:
        """The number of inputs."""
        return len(self.sigma)

    @property
    def top(self) -> int:
        """The highest rank with isolated points: n − 1 where the metric vanishes on the identity, β = −1/n."""
        return self.n - (1 + self.n * self.share == 0)

    def divisor(self, rank: int) -> Fraction | None:
        """(1 + rβ)/β, by which Σ_{j∉I} σ_j is divided in c_I: r + 2 for Gaussian data; None where β = 0 and c_I = 0."""
        return (1 + rank * self.share) / self.share if self.share else None

    def shift(self, rank: int, left_out: Array) -> Array:
        """c_I from Σ_{j∉I} σ_j."""
        divisor = self.divisor(rank)
        return np.zeros_like(left_out) if divisor is None else left_out / float(divisor)

    def loss(self, rank: int, left_out: Array, squares: Array) -> Array:
        """The loss from Σ_{j∉I} σ_j and Σ_{j∉I} σ_j²."""
        divisor = self.divisor(rank)
        return self.scale * (squares if divisor is None else squares + left_out**2 / float(divisor))

    def norm(self, trace: float, squares: float) -> float:
        """‖D‖² under the metric, from tr D and Σ of the squares of its eigenvalues."""
        return self.scale * (squares + float(self.share) * trace**2)

    def slope(self, values: Array) -> Array:
        """∇ℓ on the left-out eigenvectors, from σ_j + c_I."""
        return -2.0 * self.scale * values

    def matrix(self, chosen: NDArray[np.intp], eigenvalues: Array) -> Array:
        """U diag(λ) Uᵀ in the problem's coordinates."""
        U = self.vectors[:, chosen]
        return np.asarray((U * eigenvalues) @ U.T)


def spectrum_of(problem: Problem) -> Spectrum | None:
    """The spectrum when the data has a closed form at degree 2, else None."""
    if problem.degree != 2:
        return None
    metric = problem.data.rotation_invariance(2)
    return None if metric is None else Spectrum.of(problem.target_tensor().to_matrix(), metric)


def exact_matrix(problem: Problem) -> NDArray[Any]:
    """T at degree 2 as the fractions that were given."""
    return coordinates.symmetric_matrices(exact_target(problem))


def enclosure_of(problem: Problem, spectrum: Spectrum) -> EigenEnclosure | None:
    """Proved bounds on the eigenpairs, through the change of variable for a coloured Gaussian."""
    T = exact_matrix(problem)
    if spectrum.covariance is None:
        return enclose(T, spectrum.sigma, spectrum.white)
    whitening = Whitening.of(spectrum.covariance)
    return None if whitening is None else enclose(T, spectrum.sigma, spectrum.white, whitening)


def distinct_count(problem: Problem, spectrum: Spectrum) -> int:
    """How many different eigenvalues there are, exactly."""
    return distinct_eigenvalues(_similar(problem, spectrum))


def left_out_of(problem: Problem, spectrum: Spectrum, line: NDArray[Any] | None = None) -> LeftOut | None:
    """The exact eigenvalues, and what there is of a linear form ℓ, of fractions, in their eigenvectors."""
    if line is None:
        return LeftOut.of(_similar(problem, spectrum))
    beside = line if spectrum.covariance is None else fractions(spectrum.covariance) @ line
    return LeftOut.of(_similar(problem, spectrum), line, beside)


def _similar(problem: Problem, spectrum: Spectrum) -> NDArray[Any]:
    """T, or ΣT, which is LᵀTL in another basis, as fractions."""
    T = exact_matrix(problem)
    return T if spectrum.covariance is None else np.asarray(fractions(spectrum.covariance) @ T)


def exact_rank(problem: Problem) -> int:
    """The rank of T, exactly."""
    return int(matrix(exact_matrix(problem).tolist()).rank())
