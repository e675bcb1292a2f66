"""The critical equations of Σ aᵢ ψ(wᵢ), one output, in ball arithmetic, from the exact G and b."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import acb, acb_mat, arb, arb_mat

from shallows.mathematics.balls.inertia import Inertia, inertia
from shallows.mathematics.balls.systems import BITS, made_once, precision
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.neurons.batch import NeuronBatch
from shallows.questions.charts.neurons.equations import NeuronEquations


@dataclass(frozen=True, eq=False)
class NeuronSystem:
    """Half the gradient of the loss in the unknowns (aᵢ, wᵢ) or wᵢ."""

    equations: NeuronEquations
    exact: ExactLoss

    def ball_evaluator(self, bits: int) -> NeuronBalls:
        """What `certify` asks for; made once for each precision."""
        return made_once(self, NeuronBalls, bits)

    @cached_property
    def _batch(self) -> NeuronBatch:
        return NeuronBatch(self.equations, self.exact)

    def ball_batch(self) -> NeuronBatch:
        """The same at many boxes at once."""
        return self._batch

    def inertia(self, box: list[Any]) -> Inertia:
        """Proved inertia of the Hessian of the loss over a real box."""
        with precision(BITS):
            return inertia(self.ball_evaluator(BITS)(box)[1])


class NeuronBalls:
    """Values and Jacobians, half the Hessian of the loss, as in `batch`."""

    is_real = True

    def __init__(self, system: NeuronSystem, bits: int) -> None:
        self.equations, self.n = system.equations, system.equations.unknowns
        self.gram, self.right = system.exact.balls(bits)

    def _psi(self, powers: list[list[Any]], along: tuple[int, ...], kind: Any) -> Any:
        """A column: ψ of one neuron, or its derivative."""
        neuron = self.equations.neuron
        result = kind(neuron.size, 1)
        for entry, coefficient, row in neuron.terms:
            left, factor = list(row), 1
            for x in along:
                factor *= left[x]
                left[x] = max(left[x] - 1, 0)
            if not factor:
                continue
            term = arb(coefficient) * factor
            for x, count in enumerate(left):
                if count:
                    term = powers[x][count] * term
            result[entry, 0] = result[entry, 0] + term
        return result

    def __call__(self, x: Sequence[Any]) -> tuple[Any, Any]:
        """Value and Jacobian at the balls x."""
        equations = self.equations
        kind: Any = acb_mat if isinstance(x[0], acb) else arb_mat
        scalar: Any = acb if kind is acb_mat else arb
        n, r, lead, size = equations.neuron.n, equations.r, equations.lead, equations.neuron.size
        own, degree = lead + n, equations.neuron.degree
        tables, weights = [], []
        for i in range(r):
            weights.append(x[i * own] if equations.outer is None else scalar(equations.outer[i][0]))
            tables.append([_powers(x[i * own + lead + y], degree, scalar) for y in range(n)])
        psi = [self._psi(table, (), kind) for table in tables]
        slopes = [[self._psi(table, (y,), kind) for y in range(n)] for table in tables]
        s, D = kind(size, 1), kind(self.n, size)
        for i in range(r):
            s = s + psi[i] * weights[i]
            for k in range(size):
                if lead:
                    D[i * own, k] = psi[i][k, 0]
                for y in range(n):
                    D[i * own + lead + y, k] = slopes[i][y][k, 0] * weights[i]
        e = kind(self.gram) * s - kind(self.right)
        jacobian = D * kind(self.gram) * D.transpose()
        for i in range(r):
            for y in range(n):
                first = i * own + lead + y
                added = [(i * own, (slopes[i][y].transpose() * e)[0, 0])] if lead else []
                for z in range(y + 1):
                    curved = (self._psi(tables[i], (y, z), kind).transpose() * e)[0, 0] * weights[i]
                    added.append((i * own + lead + z, curved))
                for second, value in added:
                    jacobian[first, second] = jacobian[first, second] + value
                    if first != second:
                        jacobian[second, first] = jacobian[second, first] + value
        return D * e, jacobian


def _powers(x: Any, degree: int, scalar: Any) -> list[Any]:
    row = [scalar(1)]
    for _ in range(degree):
        row.append(row[-1] * x)
    return row
