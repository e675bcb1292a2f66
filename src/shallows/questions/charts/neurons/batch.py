"""The critical equations of Σ aᵢ ψ(wᵢ), one output, at many boxes at once, in float64 ball arithmetic.

With s = Σ aᵢψ(wᵢ), e = G s − b and D = ∂s by the unknowns, the values are D e, and the Jacobians, half the Hessians of
the loss, are D G Dᵀ plus, for each neuron, ∂ψ·e between its outer weight and its weights and a ∂²ψ·e between these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.arrays import Ball, stacked
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.neurons.equations import NeuronEquations


class NeuronBatch:
    """Values and Jacobians at discs (m, unknowns)."""

    is_real = True

    def __init__(self, equations: NeuronEquations, exact: ExactLoss) -> None:
        self.equations, self.n = equations, equations.unknowns
        neuron = equations.neuron
        self.gram = Ball.of_fractions(exact.gram.tolist())
        self.right = Ball.of_fractions([exact.right.tolist()])
        self.powers = np.array([row for _, _, row in neuron.terms])
        self.coefficients = np.array([c for _, c, _ in neuron.terms])
        scatter = np.zeros((len(neuron.terms), neuron.size))
        scatter[np.arange(len(neuron.terms)), [entry for entry, _, _ in neuron.terms]] = 1.0
        self.scatter = Ball.exact(scatter)

    def _psi(self, W: Ball, along: tuple[int, ...] = ()) -> Ball:
        """ψ at neurons (m, r, n), or its derivative in the variables `along`: (m, r, N)."""
        left, factor = self.powers.copy(), self.coefficients.copy()
        for x in along:
            factor = (
                factor * left[:, x]
            )  # small integers: the product of a coefficient with them is rounded below
            left[:, x] = np.maximum(left[:, x] - 1, 0)
        places = _places(left)
        ones = Ball.exact(np.ones((*W.mid.shape[:2], 1), W.mid.dtype))
        padded = stacked([W, ones], axis=2)
        product = Ball.rounded(np.broadcast_to(factor, (*W.mid.shape[:2], len(factor))), 2 * len(along))
        for column in places.T:
            product = product * padded[:, :, column]
        return product @ self.scatter

    def _split(self, x: Ball) -> tuple[Ball, Ball]:
        """Outer weights (m, r, 1) and neurons (m, r, n)."""
        equations = self.equations
        shape = (len(x.mid), equations.r, equations.lead + equations.neuron.n)
        table = Ball(x.mid.reshape(shape), x.rad.reshape(shape))
        if equations.outer is None:
            return table[:, :, :1], table[:, :, 1:]
        fixed = np.broadcast_to(np.array(equations.outer), (len(x.mid), equations.r, 1))
        return Ball.exact(fixed), table

    def tensors(self, x: Ball) -> Ball:
        """Σ aᵢψ(wᵢ), (m, N)."""
        a, W = self._split(x)
        return (self._psi(W) * a).sum(axis=1)

    def values(self, x: Ball) -> Ball:
        """The values alone."""
        return self(x)[0]

    def __call__(self, x: Ball) -> tuple[Ball, Ball]:
        """Values and Jacobians at the boxes x."""
        equations = self.equations
        a, W = self._split(x)
        n, r, lead = equations.neuron.n, equations.r, equations.lead
        psi = self._psi(W)
        slopes = [self._psi(W, (y,)) for y in range(n)]
        e = (psi * a).sum(axis=1) @ self.gram - self.right
        rows = []
        for i in range(r):
            rows += [psi[:, i : i + 1]] if lead else []
            rows += [slope[:, i : i + 1] * a[:, i : i + 1] for slope in slopes]
        D = stacked(rows, axis=1)
        column = e[:, :, None]
        jacobian = (D @ self.gram) @ Ball(D.mid.swapaxes(1, 2), D.rad.swapaxes(1, 2))
        mid, rad = jacobian.mid, jacobian.rad
        for y in range(n):
            own = [(0, slopes[y] @ column)] if lead else []
            own += [(lead + z, (self._psi(W, (y, z)) @ column) * a) for z in range(y + 1)]
            for z, added in own:
                for i in range(r):
                    first, second = i * (lead + n) + lead + y, i * (lead + n) + z
                    entry = Ball(mid[:, first, second], rad[:, first, second]) + added[:, i, 0]
                    mid[:, first, second], rad[:, first, second] = entry.mid, entry.rad
                    mid[:, second, first], rad[:, second, first] = entry.mid, entry.rad
        return (D @ column)[:, :, 0], Ball(mid, rad)


def _places(powers: NDArray[np.intp]) -> NDArray[np.intp]:
    """Each monomial as a list of its variables, filled up with number n, which stands for 1."""
    n, longest = powers.shape[1], int(powers.sum(axis=1).max(initial=0))
    table = np.full((len(powers), longest), n, dtype=np.intp)
    for k, row in enumerate(powers):
        variables = np.repeat(np.arange(n), row)
        table[k, : len(variables)] = variables
    return table
