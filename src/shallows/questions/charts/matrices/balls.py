"""The rank-r critical equations in ball arithmetic: proofs of existence, realness, rank and signature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

from flint import acb, acb_mat, arb, arb_mat

from shallows.mathematics.balls.inertia import Inertia, inertia
from shallows.mathematics.balls.systems import BITS, made_once, precision
from shallows.mathematics.tensors import coordinates
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.matrices.batch import LowRankBatch
from shallows.questions.charts.matrices.equations import LowRankEquations
from shallows.support.checks import Array


@dataclass(frozen=True, eq=False)
class LowRankSystem:
    """M(S) R U = 0, multiplied by Rᵀ: S = R U A Uᵀ Rᵀ, with G, b and the frame R as the exact numbers they are.

    `gram` and `target` are G and t as doubles; where no others are given, these are the exact numbers. Others are asked
    for when something is proved.
    """

    equations: LowRankEquations
    gram: Array
    target: Array
    frame: Array
    exact: Callable[[], ExactLoss] | None = None

    @classmethod
    def of(cls, problem: Problem, equations: LowRankEquations, frame: Array) -> LowRankSystem:
        """A problem's critical equations in a frame."""
        target = problem.target_tensor().entries
        return cls(equations, problem.gram(), target, frame, cache(partial(ExactLoss.of, problem)))

    @cached_property
    def in_frame(self) -> ExactLoss:
        """G and b on the entries of S′ = U A Uᵀ, so that no frame comes into the equations."""
        exact = self.exact() if self.exact is not None else ExactLoss.of_doubles(self.gram, self.target)
        return exact.in_frame(self.frame)

    def ball_evaluator(self, bits: int) -> LowRankBalls:
        """What `certify` asks for; made once for each precision."""
        return made_once(self, LowRankBalls, bits)

    def ball_batch(self) -> LowRankBatch:
        """The same at many boxes at once."""
        return self._batch

    @cached_property
    def _batch(self) -> LowRankBatch:
        return LowRankBatch(self.equations, self.in_frame)


class LowRankBalls:
    """Value and Jacobian of the equations at balls (A, Z)."""

    is_real = True

    def __init__(self, system: LowRankSystem, bits: int) -> None:
        self.equations, self.n = system.equations, system.equations.unknowns
        self.gram, self.g = system.in_frame.balls(bits)
        indices = coordinates.indices(self.equations.n, 2)
        self.pairs = [(int(i), int(j)) for i, j in indices]

    def _split(self, x: Sequence[Any], kind: Any) -> tuple[Any, Any]:
        n, r = self.equations.n, self.equations.r
        A = kind(r, r)
        k = 0
        for a in range(r):
            for b in range(a, r):
                A[a, b] = A[b, a] = x[k]
                k += 1
        U = kind(n, r)
        for a in range(r):
            U[a, a] = 1
        for i in range(r, n):
            for a in range(r):
                U[i, a] = x[k]
                k += 1
        return A, U

    def _slope(self, S: Any, kind: Any, subtract: bool) -> Any:
        """The matrix M of G s (− b)."""
        n = self.equations.n
        e = kind(self.gram) * kind([[S[i, j]] for i, j in self.pairs])
        if subtract:
            e = e - kind(self.g)
        M = kind(n, n)
        for k, (i, j) in enumerate(self.pairs):
            entry = e[k, 0]
            M[i, j] = entry if i == j else entry / 2
            M[j, i] = M[i, j]
        return M

    def _flatten(self, MU: Any) -> list[Any]:
        n, r = self.equations.n, self.equations.r
        lower = [MU[i, a] for i in range(r, n) for a in range(r)]
        return lower + [MU[a, b] for a in range(r) for b in range(a, r)]

    def __call__(self, x: Sequence[Any]) -> tuple[Any, Any]:
        """Value and Jacobian at the balls x."""
        kind: Any = acb_mat if isinstance(x[0], acb) else arb_mat
        n, r = self.equations.n, self.equations.r
        A, U = self._split(x, kind)
        M = self._slope(U * A * U.transpose(), kind, True)
        value = self._flatten(M * U)
        columns = []
        for a in range(r):
            for b in range(a, r):
                change = kind(r, r)
                change[a, b] = change[b, a] = 1
                columns.append(self._flatten(self._slope(U * change * U.transpose(), kind, False) * U))
        UA = U * A
        for i in range(r, n):
            for a in range(r):
                change = kind(n, n)
                for j in range(n):
                    change[i, j] = change[i, j] + UA[j, a]
                    change[j, i] = change[j, i] + UA[j, a]
                moved = kind(n, r)
                moved[i, a] = 1
                columns.append(self._flatten(self._slope(change, kind, False) * U + M * moved))
        size = self.n
        jacobian = kind(size, size, [columns[j][i] for i in range(size) for j in range(size)])
        return kind([[v] for v in value]), jacobian

    def hessian(self, x: Sequence[Any]) -> arb_mat:
        """Half the Hessian of ℓ in (A, Z) over a real box around a root: T(x) J(x), h = T(x) F(x) the gradient.

        h at A_ab is c_ab ((MU)_ab + Σ_k Z_ka (MU)_kb), c = 1 on the diagonal and 2 off it; at Z_kl it is
        2 Σ_b (MU)_kb A_bl.
        """
        n, r = self.equations.n, self.equations.r
        A, U = self._split(x, arb_mat)
        lower = (n - r) * r
        T = arb_mat(self.n, self.n)
        row = 0
        for a in range(r):
            for b in range(a, r):
                factor = 1 if a == b else 2
                T[row, lower + a * r - a * (a - 1) // 2 + b - a] = factor
                for k in range(n - r):
                    T[row, k * r + b] = T[row, k * r + b] + U[r + k, a] * factor
                row += 1
        for k in range(n - r):
            for l in range(r):
                for b in range(r):
                    T[row, k * r + b] = A[b, l] * 2
                row += 1
        product: arb_mat = T * self(x)[1]
        symmetric: arb_mat = (product + product.transpose()) / 2
        return symmetric


def prove_box(system: LowRankSystem, box: list[arb]) -> tuple[Inertia, Inertia]:
    """Proved inertia of the Hessian on the stratum, and of A (whose signs are those of S; all decided: rank r).

    The box is real and contains a root.
    """
    evaluator = system.ball_evaluator(BITS)
    with precision(BITS):
        A, _ = evaluator._split(box, arb_mat)
        return inertia(evaluator.hessian(box)), inertia(A)
