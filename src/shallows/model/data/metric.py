"""Inner products on Sym^d(R^n) that need not come from data: Frobenius, and any positive-definite Gram matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.tensors import coordinates
from shallows.model.activations import Activation, Power
from shallows.model.data.base import InnerProduct
from shallows.model.data.rotation_invariance import RotationInvariance
from shallows.model.kernels.base import Kernel, no_kernel
from shallows.model.kernels.frobenius import FrobeniusKernel
from shallows.model.kernels.metric import MetricKernel
from shallows.support.checks import Array, positive_integer, symmetric_matrix
from shallows.support.construction import Construction
from shallows.support.errors import InvalidProblem

ONE_DEGREE = "a metric on Sym^d(R^n) knows powers of that degree only"


class Frobenius(InnerProduct):
    """`⟨S, T⟩_F = Σ S_{i1…id} T_{i1…id}` (paper 000, equation 10).

    No distribution induces it for n, d ≥ 2 (Prop. 21): it would need E[x1²·x2²] = 0 and E[(x1x2)²] > 0. So it
    has no `sample`; `moment_defect` measures the contradiction.

    >>> sh.Frobenius(2).gram(2)                 # T11, T12, T22: the entry T12 stands for two
    array([[1., 0., 0.],
           [0., 2., 0.],
           [0., 0., 1.]])
    >>> sh.Frobenius(2).moment_defect(2)
    0.5
    """

    def __init__(self, n: int) -> None:
        self.n = positive_integer("n", n)

    def in_words(self) -> str:
        """The Frobenius norm."""
        return "the Frobenius norm"

    def sentence(self) -> str:
        """What the norm is."""
        return "‖·‖ is the Frobenius norm of tensors; no distribution of data induces it."

    def gram(self, degree: int) -> Array:
        """The diagonal of multiplicities."""
        degree = positive_integer("degree", degree)
        coordinates.require_storable(self.n, degree, coordinates.MATRIX)
        return np.diag(coordinates.multiplicities(self.n, degree))

    def rotation_invariance(self, degree: int) -> RotationInvariance:
        """⟨w^⊗d, v^⊗d⟩_F = (w·v)^d."""
        return RotationInvariance("Frobenius", degree, 1.0)

    def kernel(self, left: Activation, right: Activation) -> Kernel:
        """(w·v)^d, for a power and the same power."""
        if not isinstance(left, Power) or left != right:
            raise no_kernel(left, right, self, ONE_DEGREE)
        return FrobeniusKernel(left.degree)

    def moment_defect(self, degree: int) -> float:
        """How far the Gram matrix is from a matrix of moments; zero if it is one (see `moment_defect`)."""
        return moment_defect(self, degree)

    def construction(self) -> Construction:
        """Frobenius(n)."""
        return self.constructed(n=self.n)

    def __repr__(self) -> str:
        return f"Frobenius({self.n})"


class Semidefinite(InnerProduct):
    """sᵀ G t on the entries of tensors of one degree, for a G that may vanish in some directions.

    For metrics that problems are reduced to: what a chart refuses is directions that its students can see.
    """

    def __init__(self, n: int, degree: int, gram: Array) -> None:
        self.n, self.degree, self._gram = n, degree, gram

    def gram(self, degree: int) -> Array:
        """G, for the one degree it was given for."""
        if degree != self.degree:
            raise InvalidProblem(
                f"This {type(self).__name__} is on tensors of degree {self.degree}; degree {degree} was asked for."
            )
        return self._gram

    def kernel(self, left: Activation, right: Activation) -> Kernel:
        """τ(w)ᵀ G τ(v), for powers of this degree."""
        if not isinstance(left, Power) or left != right:
            raise no_kernel(left, right, self, ONE_DEGREE)
        if left.degree != self.degree:
            raise no_kernel(left, right, self, f"this metric is on tensors of degree {self.degree}")
        return MetricKernel(self._gram, self.n, self.degree, self.degree)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={self.n}, degree={self.degree})"


class Metric(Semidefinite):
    """⟨S, T⟩ = sᵀ G t on the entries of tensors of one degree, for any positive-definite G.

    The loss is then (s − t)ᵀ G (s − t) (paper 000, equation 19); G acts on T_{i1≤…≤id} in lexicographic order.

    >>> data = sh.Metric(2, degree=2, gram=np.diag([1.0, 2.0, 5.0]))
    >>> problem = sh.Problem(np.diag([2.0, 3.0]), data, width=1)
    >>> problem.loss(sh.Network([[1.0, 0.0]], a=[2.0]))         # misses T22 = 3: 5·3²
    45.0
    """

    def __init__(self, n: int, degree: int, gram: ArrayLike) -> None:
        n, degree = positive_integer("n", n), positive_integer("degree", degree)
        matrix = symmetric_matrix("gram", gram)
        size = coordinates.dimension(n, degree)
        if len(matrix) != size:
            raise InvalidProblem(
                f"gram is {len(matrix)} × {len(matrix)}; Sym^{degree}(R^{n}) has dimension {size}, so expected "
                f"{size} × {size}, acting on the entries T_(i1<=...<=id) in lexicographic order."
            )
        lowest = float(np.linalg.eigvalsh(matrix)[0])
        if lowest <= 0:
            raise InvalidProblem(
                f"gram is not positive definite: its smallest eigenvalue is {lowest:.6g}. A metric needs all of "
                "them positive."
            )
        super().__init__(n, degree, matrix)

    def in_words(self) -> str:
        """A given metric."""
        return "a given metric"

    def sentence(self) -> str:
        """Where the norm is."""
        return f"‖·‖ is the norm of a given Gram matrix on Sym^{self.degree}(ℝ^{self.n})."

    def moment_defect(self, degree: int | None = None) -> float:
        """How far the Gram matrix is from a matrix of moments; zero if it is one (see `moment_defect`)."""
        return moment_defect(self, self.degree if degree is None else degree)

    def construction(self) -> Construction:
        """Metric(n, degree, gram)."""
        return self.constructed(n=self.n, degree=self.degree, gram=self._gram)


def moment_defect(data: InnerProduct, degree: int) -> float:
    """The largest |m_IJ − m_KL| over I∪J = K∪L, m_IJ = G_IJ / (mult(I) mult(J)).

    A distribution gives m_IJ = E[x^(I∪J)], so the defect is zero; a positive defect proves that no
    distribution induces this inner product (paper 000, Prop. 21: Frobenius has defect ½ at n = d = 2).
    """
    scale = coordinates.multiplicities(data.n, degree)
    values = data.gram(degree) / np.outer(scale, scale)
    places = coordinates.product_table(data.n, degree, degree)
    size = coordinates.dimension(data.n, 2 * degree)
    highest, lowest = np.full(size, -np.inf), np.full(size, np.inf)
    np.maximum.at(highest, places, values)
    np.minimum.at(lowest, places, values)
    return float(np.max(highest - lowest))
