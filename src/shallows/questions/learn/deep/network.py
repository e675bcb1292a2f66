"""One deep quadratic network: its shape and its parameters."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from shallows.questions.learn.deep.layers import Shape, forward
from shallows.questions.learn.fitting.frame import homogenise, to_matrix
from shallows.support.checks import Array, counted, finite_array


@dataclass(frozen=True, eq=False)
class DeepNetwork:
    """Layers v ↦ (vᵀA_iv)_i (paper 002, appendix F.1); θ holds the A_i in orthonormal coordinates (`Shape.split`).

    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> runs = sh.learn.train_deep(X, (X[:, 0] * X[:, 1]) ** 2, hidden=(1,), runs=2)
    >>> net = runs.networks[runs.best]
    >>> net, net([[2.0, 3.0]]).round(6).tolist()
    (DeepNetwork(2-1-1, 4 parameters), [[36.0]])
    """

    shape: Shape
    theta: Array
    affine: bool = False

    @property
    def layers(self) -> list[Array]:
        """The symmetric matrices of each layer, (h_l, h_{l−1}, h_{l−1})."""
        return [
            to_matrix(layer, size)
            for layer, size in zip(self.shape.split(self.theta), self.shape.sizes, strict=False)
        ]

    def __call__(self, X: ArrayLike) -> Array:
        """The outputs, (rows, outputs)."""
        return forward(self.shape, self.theta, homogenise(finite_array("X", X, 2), self.affine))

    def __repr__(self) -> str:
        sizes = "-".join(map(str, self.shape.sizes))
        affine = ", affine" if self.affine else ""
        return f"DeepNetwork({sizes}, {counted(len(self.theta), 'parameter')}{affine})"
