"""When the metric at degree 2 is rotation-invariant, after a change of variable: the spectrum that decides all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.eigenpairs import EigenEnclosure, Whitening, enclose
from shallows.model.data.base import InnerProduct
from shallows.model.data.gaussian import Gaussian
from shallows.model.data.iid import IID
from shallows.model.data.metric import Frobenius
from shallows.model.data.mixture import Mixture
from shallows.model.data.radial import Radial
from shallows.model.problem import Problem
from shallows.support.checks import Array


@dataclass(frozen=True)
class Spectrum:
    """The metric is scale·(2‖S‖² + (tr S)²) for `gaussian` data and ‖S‖² for Frobenius.

    `sigma` and `vectors` are the eigenpairs of T. For a coloured Gaussian `root` is the Cholesky factor L of Σ = LLᵀ,
    the eigenpairs are those of LᵀTL, and `vectors` are brought back by L⁻ᵀ; `white` are the vectors before that.
    """

    sigma: Array
    vectors: Array
    scale: float
    gaussian: bool
    root: Array | None
    white: Array

    @property
    def n(self) -> int:
        """The number of inputs."""
        return len(self.sigma)

    def shift(self, rank: int, left_out: Array) -> Array:
        """c_I from Σ_{j∉I} σ_j."""
        return left_out / (rank + 2) if self.gaussian else np.zeros_like(left_out)

    def loss(self, rank: int, left_out: Array, squares: Array) -> Array:
        """The loss from Σ_{j∉I} σ_j and Σ_{j∉I} σ_j²."""
        if not self.gaussian:
            return self.scale * squares
        return self.scale * (2 * squares + 2 * left_out**2 / (rank + 2))

    def slope(self, values: Array) -> Array:
        """∇ℓ on the left-out eigenvectors, from σ_j + c_I."""
        return -self.scale * (4.0 if self.gaussian else 2.0) * values

    def matrix(self, chosen: NDArray[np.intp], eigenvalues: Array) -> Array:
        """U diag(λ) Uᵀ in the problem's coordinates."""
        U = self.vectors[:, chosen]
        return np.asarray((U * eigenvalues) @ U.T)


def spectrum_of(problem: Problem) -> Spectrum | None:
    """The spectrum when the data has a closed form at degree 2, else None."""
    if problem.degree != 2:
        return None
    T = problem.target_tensor().to_matrix()
    data = problem.data
    if isinstance(data, Gaussian) and data.centred and rotation_scale(data) is None:
        if np.linalg.eigvalsh(data.covariance)[0] <= 0:
            return None
        root = np.asarray(np.linalg.cholesky(data.covariance), dtype=np.float64)
        sigma, white = np.linalg.eigh(root.T @ T @ root)
        return Spectrum(sigma, np.linalg.solve(root.T, white), 1.0, True, root, white)
    scale = 1.0 if isinstance(data, Frobenius) else rotation_scale(data)
    if scale is None:
        return None
    sigma, vectors = np.linalg.eigh(T)
    return Spectrum(sigma, vectors, scale, not isinstance(data, Frobenius), None, vectors)


def rotation_scale(data: InnerProduct) -> float | None:
    """κ when E S(x)T(x) = κ(2 tr ST + tr S tr T) at degree 2: rotation-invariant fourth moments; else None."""
    if isinstance(data, Gaussian):
        variance = float(data.covariance[0, 0])
        isotropic = (
            data.centred and np.array_equal(data.covariance, variance * np.eye(data.n)) and variance > 0
        )
        return variance**2 if isotropic else None
    if isinstance(data, Radial):
        return data.gaussian_ratio(4)
    if isinstance(data, IID):
        centred = data.moment(1) == 0 and data.moment(3) == 0
        mu2, mu4 = data.moment(2), data.moment(4)
        return mu2**2 if centred and mu4 == 3 * mu2**2 else None
    if isinstance(data, Mixture):
        scales = [rotation_scale(part) for part in data.parts]
        if any(scale is None for scale in scales):
            return None
        return float(sum(w * s for w, s in zip(data.weights, scales, strict=True) if s is not None))
    return None


def enclosure_of(problem: Problem, spectrum: Spectrum) -> EigenEnclosure | None:
    """Proved bounds on the eigenpairs, through the change of variable for a coloured Gaussian."""
    T = problem.target_tensor().to_matrix()
    if spectrum.root is None:
        return enclose(T, spectrum.sigma, spectrum.white)
    assert isinstance(problem.data, Gaussian)
    whitening = Whitening.of(problem.data.covariance)
    return None if whitening is None else enclose(T, spectrum.sigma, spectrum.white, whitening)
