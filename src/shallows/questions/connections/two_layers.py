"""Problems of two-layer networks, as the search for saddles asks for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.certificates.proof import critical_proof
from shallows.questions.connections.searched import Proof
from shallows.questions.descent.descend import descend
from shallows.questions.descent.results.symmetry import group, lower_bound
from shallows.support.checks import Array, describe
from shallows.support.errors import InvalidProblem, NotConverged


class TwoLayers:
    """A `Problem`; see `Searched`."""

    fix = "train it first, sh.descend(problem, network).network"
    unproved = "the loss is flat in more directions than the symmetries of the network"

    def __init__(self, problem: Problem) -> None:
        self.problem: Problem | None = problem
        self._problem = problem
        self.title, self.width, self.size = f"{problem!r}", problem.width, problem.size
        self.energy = float(problem.value(np.zeros((1, problem.size)))[0])
        self.floor = lower_bound(problem)

    def value(self, thetas: Array) -> Any:
        """The loss at one θ or a batch."""
        return self._problem.value(thetas)

    def value_and_gradient(self, thetas: Array) -> tuple[Any, Array]:
        """Loss and gradient at one θ or a batch."""
        return self._problem.value_and_gradient(thetas)

    def hessian(self, theta: Array) -> Array:
        """∇²L at θ."""
        return self._problem.hessian(self._problem.unpack(theta))

    def pack(self, network: Any) -> Array:
        """θ of a network."""
        if not isinstance(network, Network):
            raise InvalidProblem(f"network is {describe(network)}; expected a Network.")
        return self._problem.pack(network)

    def unpack(self, theta: Array) -> Network:
        """The network of θ."""
        return self._problem.unpack(theta)

    def tensor(self, theta: Array) -> SymmetricTensor | None:
        """Powers of one output without constant are tensors."""
        problem = self._problem
        power = isinstance(problem.activation, Power) and problem.outputs == 1 and not problem.affine
        return self.unpack(theta).tensor() if power else None

    def aligned(self, first: Array, second: Array) -> list[Array]:
        """The parameters of a network like the second, its neurons in the order closest to the first's.

        Even powers do not see the sign of a neuron: that is chosen too.
        """
        from scipy.optimize import linear_sum_assignment

        problem = self._problem
        W, A, _ = problem.layout.split(first)
        V, B, norm = problem.layout.split(second)
        even = isinstance(problem.activation, Power) and problem.activation.degree % 2 == 0
        near = np.sum((W[:, None] - V[None]) ** 2, axis=2)
        far = np.sum((W[:, None] + V[None]) ** 2, axis=2)
        cost = np.minimum(near, far) if even else near
        if problem.outer is not None:  # neurons of different fixed weights do not change places
            fixed = np.atleast_2d(problem.outer)
            apart = np.any(fixed[:, :, None] != fixed[:, None, :], axis=0)
            cost = cost + np.where(apart, 1.0 + np.sum(cost), 0.0)
        order = linear_sum_assignment(cost)[1]
        rows = np.arange(len(W))
        turned = even & (far[rows, order] < near[rows, order])
        moved = np.where(np.reshape(turned, (-1, 1)), -V[order], V[order])
        return [problem.layout.join(moved, A if B is None else B[..., order], norm)]

    def same(self, thetas: Array, losses: Array) -> bool:
        """By permutations, signs, the fiber and the teacher's symmetries (`descent.results.symmetry`)."""
        return len(group(self._problem, thetas, losses, self.energy)) == 1

    def fall(self, theta: Array) -> Array:
        """Where descent from θ ends."""
        return descend(self._problem, theta).theta

    def proved(self, theta: Array, index: int) -> Proof | None:
        """Krawczyk and the Hessian's inertia over the box, where balls enclose the loss."""
        try:
            proof = critical_proof(self._problem, self._problem.unpack(theta))
        except InvalidProblem as error:
            self.unproved = str(error).removeprefix("Nothing is proved here: ").rstrip(".")
            return None
        except NotConverged:
            return None
        certificate = proof.certificate(index)
        return Proof(replace(certificate, method=f"{certificate.method}, in parameter space"), proof.flat)
