"""Proofs that a point is (next to) a strict local minimum of a ReLU loss, in ball arithmetic.

Krawczyk's operator on the closed-form gradient proves that exactly one critical point lies in a box around the given
network; interval arithmetic on the Hessian over that box proves that it is positive definite there. A failed proof
says nothing about the point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat

from shallows.mathematics.balls.krawczyk import CertifiedRoot, certify_point
from shallows.mathematics.balls.rounding import above, below, longest
from shallows.mathematics.balls.systems import precision
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.points.point import Certificate
from shallows.questions.descent.results.minima import Minimum
from shallows.questions.relu.balls import ReLUBalls
from shallows.questions.relu.large_certificate import large_proof
from shallows.questions.relu.scale_free import scale_free
from shallows.questions.relu.setting import student_of, teacher_of
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem, NotConverged

#: Bits of the balls.
BITS = 128
#: Weights of the largest network with a proof in Arb's balls: its Hessian has a million entries then.
LARGEST = 1_000
#: Weights of the largest network with a proof in doubles: its Hessian takes 800 MB.
LARGEST_DOUBLES = 10_000
#: Bits of a double.
DOUBLE = 53


@dataclass(frozen=True, eq=False, repr=False)
class CertifiedMinimum:
    """A proved strict local minimum of a ReLU loss.

    Exactly one critical point lies within `radius` (Frobenius) of `network`, and it is a strict minimum.
    `eigenvalue_bound` is a proved positive lower bound on the Hessian's eigenvalues at the true point; `loss_bounds`
    enclose its loss (E(f−y)²; halve for the paper's ½E).

    >>> minimum = sh.symmetric_minimum(6, [1, 5]).network()
    >>> proof = sh.certify_minimum(sh.relu_problem(6), minimum)
    >>> proof.is_local, proof.radius < 1e-12, f"{proof.eigenvalue_bound:.6f}"
    (True, True, '0.009401')
    >>> [f"{bound:.10f}" for bound in proof.half_loss_bounds]
    ['0.0250805810', '0.0250805810']
    """

    network: Network
    radius: float
    eigenvalue_bound: float
    smallest_eigenvalue: float
    loss_bounds: tuple[float, float]
    bits: int

    @property
    def certificate(self) -> Certificate:
        """What charts store about a point."""
        return Certificate(self.radius, True, True, "Krawczyk and interval Hessian, ReLU closed form")

    @property
    def half_loss_bounds(self) -> tuple[float, float]:
        """The same for ½E."""
        return self.loss_bounds[0] / 2, self.loss_bounds[1] / 2

    @property
    def is_local(self) -> bool:
        """Whether it is proved not to be global: its loss is positive."""
        return self.loss_bounds[0] > 0

    def __repr__(self) -> str:
        low, high = self.loss_bounds
        return (
            f"CertifiedMinimum(width={self.network.width}: a strict local minimum within {self.radius:.1e} of the "
            f"network, loss in [{low:.12g}, {high:.12g}], Hessian eigenvalues > "
            f"{self.eigenvalue_bound:.6g}, {self.bits} bits)"
        )


def certify_minimum(problem: Problem, point: Network | Minimum, bits: int = BITS) -> CertifiedMinimum:
    """Prove that a strict local minimum lies next to `point` (a network, or one of `runs.minima`).

    Any teacher under N(0, I); up to 1,000 weights in balls of `bits` bits, up to 10,000 (k = 100) in doubles with error
    bounds. Trained outer weights are divided out: the proof is about the network |a|w with outer weights sign(a), the
    same function, and its minimum is strict up to the scaling of each neuron. Raises `NotConverged` when no proof goes
    through: the point is not accurate enough, not a minimum, or not isolated (every minimum at zero loss is of that
    kind when the student has more neurons than the teacher).

    >>> problem, minimum = sh.relu_problem(6), sh.symmetric_minimum(6, [1, 5]).network()
    >>> f"{sh.certify_minimum(problem, minimum).eigenvalue_bound:.6f}"   # every Hessian eigenvalue is above this
    '0.009401'
    >>> elsewhere = sh.Network(minimum.W + 0.01, activation=sh.ReLU())
    >>> sh.certify_minimum(problem, elsewhere)
    Traceback (most recent call last):
        ...
    shallows.support.errors.NotConverged: No critical point is proved near this network: polish it to a gradient of ...
    """
    net = point.network if isinstance(point, Minimum) else point
    problem, net = scale_free(problem, net)
    V, b = teacher_of(problem)
    W = student_of(problem, net)
    assert problem.outer is not None
    if W.size > LARGEST_DOUBLES:
        raise InvalidProblem(
            f"The dense proof is for up to {LARGEST_DOUBLES:,} weights; this network has {W.size:,}. For "
            "block-symmetric networks symmetric_minimum proves any size."
        )
    if W.size > LARGEST:
        proof = large_proof(W, problem.outer[0], V, b)
        return CertifiedMinimum(net, proof.radius, proof.bound, proof.smallest, proof.loss_bounds, DOUBLE)
    with precision(bits):
        balls = ReLUBalls((problem.width, problem.n), problem.outer[0], V, b)
        root = _root(balls, W.ravel(), bits)
        _, hessian = balls(list(root.box))
        bound, smallest = definite(hessian)
        if not bound > 0:
            raise NotConverged(
                f"A critical point is proved, but not that it is a minimum: the smallest Hessian eigenvalue is about "
                f"{smallest:.3g}."
            )
        loss = balls.loss(list(root.box))
        gaps = [x - arb(float(w)) for x, w in zip(root.box, W.ravel(), strict=True)]
        return CertifiedMinimum(net, longest(gaps), bound, smallest, (below(loss), above(loss)), bits)


def _root(balls: ReLUBalls, theta: Array, bits: int) -> CertifiedRoot:
    root = certify_point(balls, balls, theta.astype(np.complex128), bits, real=True)
    if root is None:
        raise NotConverged(
            "No critical point is proved near this network: polish it to a gradient of about 1e-10 first, or the "
            "Hessian is (nearly) singular there."
        )
    return root


def definite(matrix: Any) -> tuple[float, float]:
    """A proved lower bound on the smallest eigenvalue of a symmetric matrix of balls, and its double-precision value.

    With C the eigenvectors of the midpoint, CᵀAC is nearly diagonal and CᵀC nearly I. Gershgorin gives
    yᵀCᵀACy ≥ m‖y‖² and ‖Cy‖² ≤ M‖y‖², so λ ≥ m/M when m > 0; when not, nothing is proved and −∞ is returned.
    """
    n = matrix.nrows()
    middle = np.array([float(entry.mid()) for entry in matrix.entries()]).reshape(n, n)
    if not np.isfinite(middle).all():
        return float("-inf"), float("nan")
    values, vectors = np.linalg.eigh((middle + middle.T) / 2)
    frame = arb_mat(n, n, vectors.ravel().tolist())
    form = (frame.transpose() * matrix * frame).entries()
    gram = (frame.transpose() * frame).entries()
    lowest, widest = arb("inf"), arb(0)
    for i in range(n):
        row = range(i * n, (i + 1) * n)
        here = i * n + i
        around = sum((form[j].abs_upper() for j in row if j != here), arb(0))
        lowest = min(lowest, (form[here] - around).lower())
        widest = max(widest, sum((gram[j].abs_upper() for j in row), arb(0)).upper())
    bound = lowest / widest
    return (below(bound) if bound > 0 else float("-inf")), float(values[0])
