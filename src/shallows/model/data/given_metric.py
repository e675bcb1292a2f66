"""An inner product on Sym²(Rⁿ) that a problem was reduced to: exact numbers, with the target's own b = Gt."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.model.data.metric import Semidefinite
from shallows.model.data.rotation_invariance import RotationInvariance


class GivenMetric(Semidefinite):
    """G and b as fractions; `known` is a t with Gt = b where G vanishes somewhere, `invariance` what rotations do."""

    def __init__(
        self,
        n: int,
        gram: NDArray[Any],
        right: NDArray[Any],
        known: NDArray[Any] | None = None,
        invariance: RotationInvariance | None = None,
    ) -> None:
        super().__init__(n, 2, np.asarray(gram.astype(np.float64)))
        self._exact, self._right, self._known, self._invariance = gram, right, known, invariance

    def exact_gram(self, degree: int) -> NDArray[Any]:
        """G."""
        self.gram(degree)
        return self._exact

    def exact_right(self) -> NDArray[Any]:
        """b."""
        return self._right

    def exact_known(self) -> NDArray[Any] | None:
        """t with Gt = b, where it was given."""
        return self._known

    def rotation_invariance(self, degree: int) -> RotationInvariance | None:
        """What was said of it."""
        return self._invariance
