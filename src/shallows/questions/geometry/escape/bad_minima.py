"""Prop. 10: a convex loss with a bad minimum or a spurious valley wherever the closure of F_r is known to be proper.

The loss is quadratic, ℓ(S) = (t − 1)² + K‖S − A − tD‖², on the line A + tD from a network A ∈ F_r (t = 0, ℓ = 1) to a
teacher B = A + D ∈ F_r (t = 1, ℓ = 0): the global minimum 0 is attained, and yet A lies in a valley of its own.

- r < r_thick: t(S) = P(S − A)/P(D) with P the branch witness of A (Lemma 8), so ℓ is critical at A along F_r; for K
  above a curvature of F_r at A, A is a strict local minimum of ℓ on F_r, and its parameters a bad minimum of L.
- n = 2, r_thick ≤ r < d: M = Re (x+iy)^d takes the values ±1 alternately at 2d points of the circle, so every S with
  ‖S − M‖_F < 1 has d real roots and rank d > r. M is the midpoint of A and B, made of r and d−r of the d powers
  cos^d(θ − kπ/d). With K > 3/4 no S ∈ F_r with t(S) = ½ has ℓ(S) ≤ 1: the valley of A is cut off, with ℓ ≥ ¼ on it.
  Its infimum is not attained by any network, since every network can be escaped (Theorem 11): it is attained only in
  the closure of F_r (Figure 1(d) of the paper).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.data.metric import Metric
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.geometry.ranks.parameterization import (
    RANK_TOLERANCE,
    branch_witness,
    differential_matrix,
)
from shallows.questions.geometry.ranks.widths import filling_width, space_dimension, thick_width
from shallows.support.checks import Array, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

#: K over the curvature it must exceed.
SAFETY = 2.0
#: Random networks (the best conditioned is taken) and random directions (the one with the largest |P| is).
CANDIDATES, DIRECTIONS = 16, 64


@dataclass(frozen=True, eq=False)
class BadMinimum:
    """A convex quadratic loss on Sym^d(R^n) whose restriction to networks of width r has a spurious valley.

    `network` lies in the valley (loss 1); `teacher` is a network of the same width with loss 0. `attained` says
    whether `network` is itself the bad local minimum; if not, the valley's infimum lies in the closure of F_r only
    and is at least `floor` (paper 000, Prop. 10 and Remark 13).

    >>> bad = sh.bad_minimum(degree=2, n=2, width=1)
    >>> problem = bad.problem()
    >>> f"{problem.loss(bad.network):.6f} {problem.loss(bad.teacher):.6f} {bad.attained}"
    '1.000000 0.000000 True'
    >>> values = np.linalg.eigvalsh(problem.hessian(bad.network))       # a minimum: flat along the scaling only
    >>> int(np.sum(values > 1e-9)), int(np.sum(np.abs(values) < 1e-9))
    (2, 1)
    """

    degree: int
    n: int
    width: int
    network: Network
    teacher: Network
    metric: Metric
    attained: bool
    floor: float
    reason: str

    def value(self, tensor: SymmetricTensor) -> float:
        """ℓ(S) = (s − b)ᵀ G (s − b)."""
        return (tensor - self.teacher.tensor()).norm(self.metric) ** 2

    def gradient(self, tensor: SymmetricTensor) -> SymmetricTensor:
        """The Frobenius gradient of ℓ: the tensor ∇ℓ with dℓ(E) = ⟨∇ℓ, E⟩_F."""
        slope = 2 * self.metric.gram(self.degree) @ (tensor - self.teacher.tensor()).entries
        return SymmetricTensor(slope / coordinates.multiplicities(self.n, self.degree), self.n, self.degree)

    def problem(self) -> Problem:
        """The teacher-student problem with this loss: L = ℓ∘τ_r."""
        return Problem(self.teacher, self.metric, self.width)

    def __repr__(self) -> str:
        where = "attained" if self.attained else f"in the closure only, at least {self.floor:.3g}"
        return (
            f"BadMinimum(d={self.degree}, n={self.n}, r={self.width}: valley of loss <= 1 beside the global minimum "
            f"0; its minimum is {where})"
        )


def bad_minimum(degree: int, n: int, width: int, rng: int | np.random.Generator = 0) -> BadMinimum:
    """A convex loss with a bad minimum for networks of this degree, number of inputs and width (paper 000, Prop. 10).

    ℓ(S) = (t − 1)² + K‖S − A − tD‖²_F with t linear in S, t = 0 at a network A and t = 1 at the teacher A + D: the
    loss is 1 at A and 0 at the teacher, and for K large enough A lies in a valley of its own. Refused where the
    closure of F_r is all of Sym^d, and where it is not known to be proper.

    >>> bad_minimum(3, 3, 2)
    BadMinimum(d=3, n=3, r=2: valley of loss <= 1 beside the global minimum 0; its minimum is attained)
    >>> bad_minimum(5, 2, 3)
    BadMinimum(d=5, n=2, r=3: valley of loss <= 1 beside the global minimum 0; its minimum is in the closure only, \
at least 0.25)
    """
    d, n = positive_integer("degree", degree), positive_integer("n", n)
    r = positive_integer("width", width)
    source = generator(rng)
    if r < thick_width(d, n):
        return _below_thick(d, n, r, source)
    if n == 2 and r < d:
        return _thick_binary(d, r)
    raise InvalidProblem(_refusal(d, n, r))


def _refusal(d: int, n: int, r: int) -> str:
    head = f"Prop. 10 needs cl(F_{r}) ≠ Sym^{d}(R^{n}). "
    if r >= filling_width(d, n)[1]:
        return head + f"Width {r} is filling: F_{r} is everything."
    if (d, n, r) == (3, 3, 4):
        return (
            head
            + "F_4 is dense among ternary cubics: 4 is their only typical rank (Bernardi–Blekherman–Ottaviani)."
        )
    return (
        head + f"Whether the closure is proper is not known here: width {r} is at least the thick width "
        f"{thick_width(d, n)}. Known cases: width below the thick width, or n = 2 and width below the degree."
    )


def _metric(d: int, n: int, functional: Array, direction: Array, stiffness: float) -> Metric:
    """G of ℓ: t² + K‖S − tD‖²_F with t = functional·s, functional·D = 1."""
    projection = np.eye(len(direction)) - np.outer(direction, functional)
    frobenius = coordinates.multiplicities(n, d)
    gram = np.outer(functional, functional) + stiffness * projection.T @ (frobenius[:, None] * projection)
    return Metric(n, d, (gram + gram.T) / 2)


def _below_thick(d: int, n: int, r: int, rng: np.random.Generator) -> BadMinimum:
    net = _generic_network(d, n, r, rng)
    witness = branch_witness(net)
    assert witness is not None
    teacher = _teacher_off(witness, r, rng)
    direction = (teacher.tensor() - net.tensor()).entries
    conormal = witness.entries * coordinates.multiplicities(n, d)
    functional = conormal / (conormal @ direction)
    stiffness = max(1.0, SAFETY * _curvature(net, witness, float(conormal @ direction)))
    metric = _metric(d, n, functional, direction, stiffness)
    reason = f"width {r} is below the thick width {thick_width(d, n)}"
    return BadMinimum(d, n, r, net, teacher, metric, True, 1.0, reason)


def _generic_network(d: int, n: int, r: int, rng: np.random.Generator) -> Network:
    """Unit neurons with rk dτ = dim F_r: of a few random networks, the one whose dτ is best conditioned."""
    dim = space_dimension(d, n, r)
    best, score = None, RANK_TOLERANCE
    while best is None:
        for _ in range(CANDIDATES):
            W = rng.standard_normal((r, n))
            units = W / np.linalg.norm(W, axis=1, keepdims=True)
            net = Network(units, rng.choice([-1.0, 1.0], size=r), Power(d))
            values = np.linalg.svd(differential_matrix(net), compute_uv=False)
            if values[dim - 1] > score * values[0]:
                best, score = net, float(values[dim - 1] / values[0])
    return best


def _teacher_off(witness: SymmetricTensor, r: int, rng: np.random.Generator) -> Network:
    """A teacher of width r, one active neuron v with P(v) ≠ 0: the best of a few random directions."""
    candidates = rng.standard_normal((DIRECTIONS, witness.n))
    candidates /= np.linalg.norm(candidates, axis=1, keepdims=True)
    best = candidates[np.argmax(np.abs(witness(candidates)))]
    W = np.zeros((r, witness.n))
    W[0] = best
    return Network(W, np.eye(1, r)[0], Power(witness.degree))


def _curvature(net: Network, witness: SymmetricTensor, gap: float) -> float:
    """The largest c with d²t(δ) = c‖dτ δ‖²_F: the largest principal curvature of F_r at A along P, over P(D).

    P∘τ = Σ αᵢ P(wᵢ) is critical at the network (∇P(wᵢ) = 0) and its Hessian is the block diagonal of αᵢ∇²P(wᵢ).
    To second order ℓ = 1 − d²t(δ) + K‖dτ δ‖²_F along F_r, so A is a strict minimum there when K > c.
    """
    d, n = witness.degree, net.n
    J = np.sqrt(coordinates.multiplicities(n, d))[:, None] * differential_matrix(net)
    hessian = np.zeros((J.shape[1], J.shape[1]))
    for i, (alpha, w) in enumerate(zip(net.a, net.W, strict=True)):
        block = slice(i * n, (i + 1) * n)
        hessian[block, block] = alpha * witness.hessian(w)
    inverse = np.linalg.pinv(J, rcond=RANK_TOLERANCE)
    shape = inverse.T @ hessian @ inverse / gap
    return float(np.linalg.eigvalsh((shape + shape.T) / 2)[-1])


def _thick_binary(d: int, r: int) -> BadMinimum:
    """cos dθ = (2^{d−1}/d) Σ_k (−1)^k cos^d(θ − kπ/d), k = 0, …, d−1, cut into r and d−r neurons."""
    angles = np.arange(d) * np.pi / d
    neurons = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    weights = 2 * (2.0 ** (d - 1) / d) * (-1.0) ** np.arange(d)
    net = Network(neurons[:r], weights[:r], Power(d))
    W, a = np.zeros((r, 2)), np.zeros(r)
    W[: d - r], a[: d - r] = neurons[r:], weights[r:]
    teacher = Network(W, a, Power(d))
    direction = (teacher.tensor() - net.tensor()).entries
    conormal = direction * coordinates.multiplicities(2, d)
    metric = _metric(d, 2, conormal / (conormal @ direction), direction, 1.0)
    reason = f"two inputs and width {r} below the degree {d}: forms with {d} real roots are out of reach"
    return BadMinimum(d, 2, r, net, teacher, metric, False, 0.25, reason)
