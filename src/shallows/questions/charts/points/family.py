"""What a chart lists beside its points: sets of critical points that are not isolated."""

from __future__ import annotations

from dataclasses import dataclass

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.support.checks import counted


@dataclass(frozen=True)
class CriticalFamily:
    """A positive-dimensional (or degenerate) set of critical points: described, never dropped.

    Where eigenvalues of the teacher coincide, Theorems 34 and 35 of paper 000 leave a choice of eigenvectors:

    >>> chart = sh.chart(sh.Problem(np.eye(3), sh.Frobenius(3), width=1))       # every uuᵀ, ‖u‖ = 1, is critical
    >>> chart.families[0]
    CriticalFamily(rank=1, dimension=2, loss=2, 3 samples: eigenvalues 1 kept, of which some are repeated: a product
    of Grassmannians)
    """

    rank: int
    dimension: int
    loss: float
    description: str
    samples: tuple[SymmetricTensor, ...] = ()

    def __repr__(self) -> str:
        return (
            f"CriticalFamily(rank={self.rank}, dimension={self.dimension}, loss={self.loss:.8g}, "
            f"{counted(len(self.samples), 'sample')}: {self.description})"
        )
