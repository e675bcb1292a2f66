"""The critical equations of Σ ε_j u_j^⊗d in ball arithmetic, for real u: existence, realness and signature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import acb, acb_mat, arb, arb_mat
from numpy.typing import NDArray

from shallows.mathematics.balls.inertia import Inertia, inertia
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.balls.systems import BITS, made_once, precision
from shallows.mathematics.newton import refined
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.powers.batch import PowerBatch
from shallows.questions.charts.powers.equations import PowerEquations
from shallows.support.checks import Array

#: Newton steps that sharpen an end, and how far, relatively, they may take it.
NEWTON, NEAR = 12, 1e-3
#: A sharpened end is one that Newton's method with 128 bits moves by less than this share in the end; it stops where it
#: moves no double.
SHARP, STILL = 1e-12, 1e-16


@dataclass(frozen=True, eq=False)
class PowerSystem:
    """∇_{u_j} ℓ(Σ ε_j u_j^⊗d) / 2 = 0; `signs` are the ε_j.

    `gram` and `target` are G and t as doubles; where no others are given, these are the exact numbers. Others are asked
    for when something is proved.
    """

    equations: PowerEquations
    gram: Array
    target: Array
    signs: tuple[float, ...]
    exact: Callable[[], ExactLoss] | None = None

    @classmethod
    def of(
        cls,
        problem: Problem,
        equations: PowerEquations,
        signs: tuple[float, ...],
        exact: Callable[[], ExactLoss],
    ) -> PowerSystem:
        """A problem's critical equations for neurons of these signs; `exact` makes `ExactLoss.of(problem)`."""
        return cls(equations, problem.gram(), problem.target_tensor().entries, signs, exact)

    @cached_property
    def loss(self) -> ExactLoss:
        """The exact G and b."""
        return self.exact() if self.exact is not None else ExactLoss.of_doubles(self.gram, self.target)

    def ball_evaluator(self, bits: int) -> PowerBalls:
        """What `certify` asks for; made once for each precision."""
        return made_once(self, PowerBalls, bits)

    def ball_batch(self) -> PowerBatch:
        """The same at many boxes at once."""
        return PowerBatch(self.equations, self.signs, self.loss)

    def tensor(self, root: CertifiedRoot) -> list[acb]:
        """The entries of Σ ε_j w_j^⊗d over the root's box."""
        equations = self.equations
        with precision(BITS):
            entries = []
            for index in coordinates.indices(equations.n, equations.degree).tolist():
                total = acb(0)
                for j, sign in enumerate(self.signs):
                    term = acb(int(sign))
                    for x in index:
                        term = term * root.box[j * equations.n + x]
                    total = total + term
                entries.append(total)
            return entries


class PowerBalls:
    """Value and Jacobian of ε_i Σ_I e_I ∂_x(u_i^I): the Jacobian is half the Hessian of ℓ in u."""

    is_real = True

    def __init__(self, system: PowerSystem, bits: int) -> None:
        self.equations, self.n, self.signs = system.equations, system.equations.unknowns, system.signs
        self.gram, self.g = system.loss.balls(bits)
        table = coordinates.exponents(self.equations.n, self.equations.degree)
        self.exponents = [[int(c) for c in row] for row in table]

    def _monomial(self, powers: list[list[Any]], row: list[int], down: tuple[int, ...]) -> Any:
        """∂ of w^I in the variables `down`, one after the other; None when it vanishes."""
        left = list(row)
        factor = 1
        for x in down:
            if left[x] == 0:
                return None
            factor *= left[x]
            left[x] -= 1
        term = None
        for x, count in enumerate(left):
            if count:
                term = powers[x][count] if term is None else term * powers[x][count]
        return factor if term is None else term * factor

    def __call__(self, x: Sequence[Any]) -> tuple[Any, Any]:
        """Value and Jacobian at the balls x."""
        kind: Any = acb_mat if isinstance(x[0], acb) else arb_mat
        scalar: Any = acb if kind is acb_mat else arb
        n, r, size = self.equations.n, self.equations.r, self.equations.entries
        tables = [self._powers(x[j * n : (j + 1) * n], scalar) for j in range(r)]
        s = kind(size, 1)
        D = kind(self.n, size)
        for j in range(r):
            for i, row in enumerate(self.exponents):
                s[i, 0] = s[i, 0] + self._monomial(tables[j], row, ()) * int(self.signs[j])
                for y in range(n):
                    slope = self._monomial(tables[j], row, (y,))
                    if slope is not None:
                        D[j * n + y, i] = slope * int(self.signs[j])
        e = kind(self.gram) * s - kind(self.g)
        jacobian = D * kind(self.gram) * D.transpose()
        for j in range(r):
            for a in range(n):
                for b in range(a, n):
                    total = scalar(0)
                    for i, row in enumerate(self.exponents):
                        term = self._monomial(tables[j], row, (a, b))
                        if term is not None:
                            total = total + e[i, 0] * term
                    total = total * int(self.signs[j])
                    jacobian[j * n + a, j * n + b] = jacobian[j * n + a, j * n + b] + total
                    if a != b:
                        jacobian[j * n + b, j * n + a] = jacobian[j * n + b, j * n + a] + total
        return D * e, jacobian

    def _powers(self, w: Sequence[Any], scalar: Any) -> list[list[Any]]:
        table = []
        for entry in w:
            row = [scalar(1)]
            for _ in range(self.equations.degree):
                row.append(row[-1] * entry)
            table.append(row)
        return table


def sharpened(system: PowerSystem, point: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Newton's method with 128 bits: where a badly conditioned end belongs. The end itself when that is not near."""
    with precision(BITS):
        evaluator = system.ball_evaluator(BITS)
        found, moved, size = point, np.inf, float(np.abs(point).max())
        for x, moved in refined(evaluator, [acb(z) for z in point.tolist()], NEWTON):
            found = np.array([complex(a) for a in x])
            if moved < STILL * size:
                break
    near = np.abs(found - point).max() < NEAR * size
    return found if near and moved < SHARP * size else point


def prove_signature(system: PowerSystem, box: list[Any]) -> Inertia:
    """Proved inertia of the Hessian of ℓ in u over a real box."""
    with precision(BITS):
        return inertia(system.ball_evaluator(BITS)(box)[1])
