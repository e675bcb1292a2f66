"""Distinct end points: how often, how deep, and how the loss curves there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.signature import signature
from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.descent.results.symmetry import group
from shallows.support.checks import Array

LARGEST_DENSE = 900
SMALLEST = 3
#: Lanczos vectors, and the relative residual at which a Ritz value counts: eigenvalues of symmetric minima repeat, and
#: scipy's 20 vectors to full accuracy did not end in a hundred seconds (k = 40, ReLU); these take 65 products.
LANCZOS_VECTORS, LANCZOS_RESIDUAL = 64, 1e-8
#: The Hessian's relative error at an end point: what descents stop at is known to six or seven digits.
FLAT = 1e-7
#: Eigenvalues of S below this share of the target count as zero: S is known to 1e-12 over the curvature
#: of the loss there, in units of the target.
RANK_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Minimum:
    """A class of end points up to symmetry, with its count and share, and one member in full.

    `signature` counts positive, zero and negative Hessian eigenvalues in parameter space (zero: below 1e-7 of the
    largest; the fiber and other symmetries show up there); None when there are too many parameters for a dense Hessian.
    `eigenvalues` are the smallest three with `directions` as rows. `rank` is that of the matrix, for degree 2.

    >>> problem = sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Frobenius(3), width=2)
    >>> best = sh.ensemble(problem, runs=20, rng=0).minima[0]
    >>> f"{best.loss:.8f}", best.rank, best.kind   # rank two misses the eigenvalue 1
    ('1.00000000', 2, 'degenerate minimum')
    >>> best.signature   # 8 parameters, 5 dimensions of matrices of rank two: the fiber has dimension 3
    (5, 3, 0)
    """

    count: int
    share: float
    loss: float
    gradient_norm: float
    theta: Array
    network: Network
    signature: tuple[int, int, int] | None
    eigenvalues: Array
    directions: Array
    rank: int | None
    members: np.ndarray

    @property
    def kind(self) -> str:
        """ "minimum" (all curvatures positive), "degenerate minimum" (some zero) or "saddle" (some negative).

        Curvature is all that is looked at: fibers have zero curvature, but where a curvature is zero for another reason
        the loss may still fall in higher order.
        """
        if self.signature is None:
            return "saddle" if self.eigenvalues[0] < -FLAT else "minimum"
        _, zero, negative = self.signature
        return "saddle" if negative else ("degenerate minimum" if zero else "minimum")

    def __repr__(self) -> str:
        rank = "" if self.rank is None else f", rank={self.rank}"
        return (
            f"Minimum(loss={self.loss:.10g}, count={self.count}, share={self.share:.3g}{rank}, "
            f"signature={self.signature}, smallest eigenvalue={self.eigenvalues[0]:.4g})"
        )


def distinct(
    problem: Problem, thetas: Array, losses: Array, norms: Array, usable: np.ndarray, scale: float
) -> tuple[Minimum, ...]:
    """The classes of the usable end points, sorted by loss; shares are of all runs."""
    rows = np.flatnonzero(usable)
    classes = group(problem, thetas[rows], losses[rows], scale)
    return tuple(_minimum(problem, thetas, losses, norms, rows[members]) for members in classes)


def _minimum(problem: Problem, thetas: Array, losses: Array, norms: Array, members: np.ndarray) -> Minimum:
    best = int(members[np.argmin(norms[members])])
    theta = thetas[best]
    values, vectors, signs = _curvature(problem, theta)
    return Minimum(
        count=len(members),
        share=len(members) / len(thetas),
        loss=float(losses[best]),
        gradient_norm=float(norms[best]),
        theta=theta,
        network=problem.unpack(theta),
        signature=signs,
        eigenvalues=values,
        directions=vectors,
        rank=matrix_rank(problem, theta),
        members=members,
    )


def _curvature(problem: Problem, theta: Array) -> tuple[Array, Array, tuple[int, int, int] | None]:
    """The smallest eigenvalues with eigenvectors as rows, and the signature when the Hessian is small enough."""
    if problem.size <= LARGEST_DENSE:
        values, vectors = np.linalg.eigh(problem.hessian(problem.unpack(theta)))
        return values[:SMALLEST], vectors.T[:SMALLEST], signature(values, FLAT)
    from scipy.sparse.linalg import LinearOperator, eigsh

    def product(v: Array) -> Array:
        return problem.hessian_product(theta, np.ravel(v))

    operator = LinearOperator((problem.size, problem.size), matvec=product, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(problem.size)
    values, vectors = eigsh(
        operator, k=SMALLEST, which="SA", v0=start, ncv=LANCZOS_VECTORS, tol=LANCZOS_RESIDUAL
    )
    order = np.argsort(values)
    return values[order], vectors.T[order], None


def matrix_rank(problem: Problem, theta: Array) -> int | None:
    """The numerical rank of S = Σ aᵢ wᵢwᵢᵀ (degree 2, one output, no norm neuron), to 1e-6 of the target."""
    if problem.bias:
        return None if problem.norm_neuron else matrix_rank(problem.homogeneous(), problem.lift(theta))
    if problem.activation != Power(2) or problem.outputs != 1 or problem.norm_neuron or problem.affine:
        return None
    matrix = problem.unpack(theta).tensor().to_matrix()
    scale = float(np.abs(problem._optimum[0]).max()) or 1.0
    return int(np.sum(np.abs(np.linalg.eigvalsh(matrix)) > RANK_TOLERANCE * scale))
