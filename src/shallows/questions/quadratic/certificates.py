"""What can be said at a point of a quadratic network's loss (paper 002, appendix C; paper 001, Theorem 2.3).

In the paper's letters A = QΛQᵀ + αI (Q = Wᵀ, Λ = diag(a)), rₙ = yₙ − A•Xₙ, Xₙ = xₙxₙᵀ, and

    R = (1/N) Σ rₙXₙ = −½ ∇ℓ(A),       population: R = E[r xxᵀ].

- R = 0 is global optimality (Lemma C.1); a stationary point with rank Q = d and all aᵢ ≠ 0 has it (Lemma C.3).
- The curvature along Q + tU is 4 E(X•QΛUᵀ)² − 2 R•UΛUᵀ in units of t²: equation (C.15) with the factor 2 it lacks.
- If R is indefinite there is descent near every stationary point with the same Q (Lemma C.9); only a semidefinite R
  can hold training: those are the traps. A norm neuron makes tr R = 0, which leaves R = 0.

Signs and ranks are decided in floating point, relative to E y²; nothing here is an interval proof.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.numerical_rank import rank_of
from shallows.mathematics.signature import signature
from shallows.mathematics.tensors import coordinates
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.lowest import lowest_loss
from shallows.questions.quadratic.curvature import Descent, descent_direction
from shallows.questions.quadratic.statistics import require_quadratic
from shallows.support.arguments import typed
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: What counts as zero, relative to E y²: descent to gradients of 1e-9 leaves less, and a loss that is quadratic around
#: a minimum cannot show less than √ε.
TOLERANCE = 1e-7
#: Neurons shorter than this share of what the target needs are dying: what is said is about the point where they are 0,
#: to which they add 1e-16 of the target.
DYING = 1e-8
#: Singular values of W below this share of the largest, or of what the target needs, count as zero: a neuron of
#: relative length 1e-4 adds 1e-8 to A, and training leaves dying neurons at about that size.
RANK = 1e-4


@dataclass(frozen=True, eq=False)
class Inspection:
    """A point of the loss of a quadratic network (paper 002, appendix C).

    `residual` is R = E[r xxᵀ] (M matrices for M outputs), `definiteness` its sign: "zero" (global optimality, Lemma
    C.1), "positive", "negative" (semidefinite) or "indefinite"; `rank` is that of Q, `excess` L − L*, relative to
    `scale` = E y². `direction` is a parameter direction with negative curvature, or None when none was found; `idle`
    says that a neuron with a = 0 and w = 0 can then still lower the loss, to third order (paper 000, Lemma 14).
    `above` is the loss above the lowest one of the problem: a network narrower than d has R ≠ 0 at its global minimum
    too. It is None where nobody asked (a strict saddle), or nobody knows (`lowest_loss`). `away` is how long dying
    neurons are: they count as zero, and everything but the loss is about the network without them.

    >>> problem = sh.Problem(np.eye(2), sh.Gaussian(2), width=2)
    >>> found = sh.quadratic.inspect(problem, sh.Network(np.zeros((2, 2)), a=[-1.0, -1.0]))
    >>> found.verdict, found.definiteness, found.direction
    ('trap', 'positive', None)
    >>> found.residual.round(6).tolist()   # E[y xxᵀ] = 2T + (tr T)I with y = xᵀTx
    [[4.0, 0.0], [0.0, 4.0]]
    """

    loss: float
    excess: float
    scale: float
    gradient_norm: float
    stationary: bool
    rank: int
    n: int
    residual: Array
    eigenvalues: Array
    definiteness: str
    positive: int
    negative: int
    direction: Descent | None
    idle: bool
    above: float | None
    tolerance: float
    away: float = 0.0

    @property
    def is_global(self) -> bool:
        """Whether Σ rₙXₙ = 0 (Lemma C.1), or the loss is the lowest of narrower networks, to the tolerance."""
        lowest = self.stationary and self.above is not None and self.above <= self.tolerance * self.scale
        return self.definiteness == "zero" or lowest

    @property
    def is_trap(self) -> bool:
        """A stationary point that is known not to be global and from which no direction descends."""
        return self.verdict == "trap"

    @property
    def verdict(self) -> str:
        """One of: global minimum, trap, strict saddle, saddle, not stationary, trap or global minimum (undecided)."""
        if self.is_global:
            return "global minimum"
        if not self.stationary:
            return "not stationary"
        if self.direction is not None:
            return "strict saddle"
        if self.idle:
            return "saddle"
        return "trap or global minimum" if self.above is None else "trap"

    def __repr__(self) -> str:
        text = (
            f"Inspection({self.verdict}: loss {self.loss:.8g}, excess {self.excess / self.scale:.2g} of E y², rank Q "
            f"{self.rank} of {self.n}, ΣrX {self.definiteness}, {self.positive} positive and {self.negative} negative "
            f"outer weights"
        )
        if self.away:
            text += f", of the network without neurons of length {self.away:.2g}"
        return text + (f", {self.direction})" if self.direction else ")")


@typed
def residual_matrices(problem: Problem, net: Network) -> Array:
    """R = E[r xxᵀ] of each output, r = y − f(x), shape (M, d, d).

    It is zero exactly at a global minimum (paper 002, Lemma C.1); its Frobenius product with a change of A is −½ dL.

    >>> problem = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=2)
    >>> sh.quadratic.residual_matrices(problem, sh.Network(np.zeros((2, 2)))).round(6).tolist()   # 2T + (tr T)I
    [[[7.0, 0.0], [0.0, 5.0]]]
    >>> optimum = sh.Network(np.eye(2), a=[2.0, 1.0])
    >>> f"{abs(sh.quadratic.residual_matrices(problem, optimum)).max():.6f}"
    '0.000000'
    """
    require_quadratic(problem)
    n, outputs = problem.n, problem.outputs
    student = np.array([net.output(m).tensor().entries for m in range(outputs)])
    gap = _optimum(problem) - student
    image = gap @ problem.gram()
    pairs, weights = coordinates.indices(n, 2), coordinates.multiplicities(n, 2)
    result = np.zeros((outputs, n, n))
    result[:, pairs[:, 0], pairs[:, 1]] = image / weights
    result[:, pairs[:, 1], pairs[:, 0]] = image / weights
    return result


def _optimum(problem: Problem) -> Array:
    return problem._optimum[0]


def energy(problem: Problem) -> float:
    """E y² (summed over outputs): the loss of the zero function, without penalty."""
    s = _optimum(problem)
    return float(np.sum((s @ problem.gram()) * s)) + problem.floor


@typed
def inspect(problem: Problem, net: Network, tolerance: float = TOLERANCE) -> Inspection:
    """Whether a point is global, a trap or a strict saddle (paper 002, appendix C); `tolerance` is relative to E y².

    Dying neurons count as zero: W = 1e-12·I is not stationary itself, and what is said is about W = 0, 1e-12 `away`:
    a trap where a = −1, which descent reaches, and a strict saddle where a = 1.

    >>> problem = sh.Problem(np.diag([1.0, 1.0]), sh.Gaussian(2), width=2)
    >>> [sh.quadratic.inspect(problem, sh.Network(np.zeros((2, 2)), a)).verdict for a in ([-1.0, -1.0], [1.0, 1.0])]
    ['trap', 'strict saddle']
    """
    require_quadratic(problem)
    lengths = np.linalg.norm(net.W, axis=1)
    dying = (lengths > 0) & (lengths < DYING * _size(problem, net))
    if dying.any():
        W = np.where(dying[:, None], 0.0, net.W)
        without = Network(W, net.a, net.activation, norm=net.norm, bias=net.bias)
        return replace(
            inspect(problem, without, tolerance), loss=problem.loss(net), away=float(lengths[dying].max())
        )
    scale = energy(problem)
    gradient = problem.gradient(net)
    R = residual_matrices(problem, net)
    values = np.asarray(np.linalg.eigvalsh(R), dtype=np.float64)
    signs = _definiteness(values, tolerance, np.sqrt(scale) * _feature_size(problem))
    size = 1.0 + float(np.max(np.abs(problem.pack(net))))
    stationary = bool(np.max(np.abs(gradient)) <= tolerance * scale * size)
    fit = _fit(problem, net)
    direction = lowest = None
    idle = problem.outer is None and bool(np.any(_are_zero(net)))
    if stationary and signs != "zero":
        direction = descent_direction(problem, net, R, tolerance * scale)
        lowest = lowest_loss(problem) if direction is None and not idle else None
    return Inspection(
        loss=problem.loss(net),
        excess=max(fit - problem.floor, 0.0),
        scale=scale,
        gradient_norm=float(np.linalg.norm(gradient)),
        stationary=stationary,
        rank=_rank(net.W, _size(problem, net)),
        n=problem.n,
        residual=R if problem.outputs > 1 else R[0],
        eigenvalues=values if problem.outputs > 1 else values[0],
        definiteness=signs,
        positive=int(np.sum(net.a > 0)),
        negative=int(np.sum(net.a < 0)),
        direction=direction,
        idle=idle,
        above=None if lowest is None else fit - lowest,
        tolerance=tolerance,
    )


def _fit(problem: Problem, net: Network) -> float:
    """E(f − y)² without the orthogonality penalty."""
    return (
        problem.loss(net) - float(problem._penalty(net.neurons)[0])
        if problem.orthogonality
        else problem.loss(net)
    )


def _feature_size(problem: Problem) -> float:
    """√E‖x‖⁴, the size of Xₙ: |R| ≤ √E r² · √E‖X‖²."""
    identity = np.zeros(coordinates.dimension(problem.n, 2))
    pairs = coordinates.indices(problem.n, 2)
    identity[pairs[:, 0] == pairs[:, 1]] = 1.0
    return float(np.sqrt(identity @ problem.gram() @ identity))


def _definiteness(values: Array, error: float, scale: float) -> str:
    positive, _, negative = signature(values, error, scale)
    if positive and negative:
        return "indefinite"
    return "positive" if positive else "negative" if negative else "zero"


def _are_zero(net: Network) -> NDArray[np.bool_]:
    """Which neurons have a = 0, for every output, and w = 0."""
    return np.asarray(~np.any(np.atleast_2d(net.a), axis=0) & ~np.any(net.W, axis=1))


def _size(problem: Problem, net: Network) -> float:
    """How long a neuron is that makes up the optimum alone: √(‖T*‖/|a|)."""
    weight = float(np.max(np.abs(net.a), initial=0.0)) or 1.0
    return float(np.sqrt(np.max(np.abs(_optimum(problem))) / weight))


def _rank(W: Array, size: float) -> int:
    values = np.linalg.svd(W, compute_uv=False)
    return rank_of(values, RANK, least=max(size, TINY))


@typed
def full_rank_optimality(problem: Problem, net: Network, tolerance: float = TOLERANCE) -> bool | None:
    """Whether W is stationary of rank d, and so has zero loss (paper 001, Theorem 2.3).

    None when the theorem says nothing: W is not stationary, or rank-deficient. The theorem needs a teacher network and
    x ~ N(0, I); here any metric will do, since W of rank d and W∇ℓ(S) = 0 give ∇ℓ = 0. A False would contradict it.

    >>> problem = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=2, outer="ones")
    >>> net = sh.descend(problem, sh.Network([[1.0, 0.3], [-0.2, 1.0]])).network
    >>> sh.quadratic.full_rank_optimality(problem, net), f"{problem.loss(net):.10f}"
    (True, '0.0000000000')
    >>> deficient = sh.Network(np.zeros((2, 2)))   # stationary, of rank 0
    >>> sh.quadratic.full_rank_optimality(problem, deficient) is None
    True
    """
    found = inspect(problem, net, tolerance)
    active = np.any(np.atleast_2d(net.a) != 0, axis=0)
    if not found.stationary or _rank(net.W[active], _size(problem, net)) < problem.n:
        return None
    return found.is_global
