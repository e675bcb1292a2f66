"""What the search for saddles asks of a loss: values, derivatives, symmetries and proofs in flat parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.problem import Problem
from shallows.questions.charts.points.point import Certificate
from shallows.support.checks import Array


@dataclass(frozen=True)
class Proof:
    """What balls prove of a critical point: `flat` are its directions along symmetries, in which the loss is constant.

    Where the certificate has the signature, the point's other directions are proved to be curved.
    """

    certificate: Certificate
    flat: int


class Searched(Protocol):
    """A loss in flat parameters θ, with what is known about it beside its values.

    `problem` is what charts keep (None where they cannot), `width` what they say as rank; `energy` is the loss at
    θ = 0, the unit of loss differences; `floor` a lower bound; `fix` says how a network is trained first,
    `unproved` for which points balls prove nothing.
    """

    problem: Problem | None
    title: str
    width: int
    size: int
    energy: float
    floor: float
    fix: str
    unproved: str

    def value(self, thetas: Array) -> Any:
        """The loss at one θ or a batch."""
        ...

    def value_and_gradient(self, thetas: Array) -> tuple[Any, Array]:
        """Loss and gradient at one θ or a batch."""
        ...

    def hessian(self, theta: Array) -> Array:
        """∇²L at θ."""
        ...

    def pack(self, network: Any) -> Array:
        """θ of a network; one that is none of this problem is refused."""
        ...

    def unpack(self, theta: Array) -> Any:
        """The network of θ."""
        ...

    def tensor(self, theta: Array) -> SymmetricTensor | None:
        """The network as a tensor, where it is one."""
        ...

    def aligned(self, first: Array, second: Array) -> list[Array]:
        """Symmetric images of the second that are close to the first: ends of strings."""
        ...

    def same(self, thetas: Array, losses: Array) -> bool:
        """Whether two points differ by a symmetry of the problem."""
        ...

    def fall(self, theta: Array) -> Array:
        """Where descent from θ ends."""
        ...

    def proved(self, theta: Array, index: int) -> Proof | None:
        """What balls prove of a critical point of this index; None without a proof."""
        ...
