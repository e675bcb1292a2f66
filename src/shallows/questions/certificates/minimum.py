"""Proofs that a point is (next to) a strict local minimum, in ball arithmetic.

Krawczyk's operator proves that exactly one critical point lies in a box around the given network; interval arithmetic
on the Hessian over that box proves that it is positive definite there (`proof`). A failed proof says nothing about
the point.
"""

from __future__ import annotations

from dataclasses import dataclass

from shallows.mathematics.balls.certification import DOUBLE
from shallows.mathematics.balls.definite import definite
from shallows.mathematics.balls.rounding import above, below
from shallows.mathematics.balls.systems import BITS, precision
from shallows.model.activations import ReLU
from shallows.model.network import Network
from shallows.model.problem import Problem, as_problem
from shallows.questions.certificates.proof import LARGEST_RELU, METHOD, critical_proof
from shallows.questions.charts.points.point import Certificate
from shallows.questions.descent.results.minima import Minimum
from shallows.questions.relu.large_certificate import large_proof
from shallows.questions.relu.scale_free import scale_free
from shallows.questions.relu.setting import student_of, teacher_of
from shallows.support.errors import InvalidProblem, NotConverged

#: Weights of the largest network with a proof in doubles: its Hessian takes 800 MB.
LARGEST_DOUBLES = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class CertifiedMinimum:
    """A proved strict local minimum.

    Exactly one critical point lies within `radius` (Frobenius) of `network`, and it is a strict minimum.
    `eigenvalue_bound` is a proved positive lower bound on the Hessian's eigenvalues at the true point, across the
    directions that leave the function alone; `loss_bounds` enclose its loss (E(f−y)²; halve for paper 003's ½E); `how`
    says what the enclosures are made of.

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
    how: str = "ReLU closed form"

    @property
    def certificate(self) -> Certificate:
        """What charts store about a point."""
        return Certificate(self.radius, True, True, f"{METHOD}, {self.how}")

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

    For every activation with a formula, with or without bias, fixed or trained outer weights:

    - ReLU under N(0, I): closed forms, up to 1,000 weights in balls of `bits` bits, up to 10,000 in doubles with error
      bounds;
    - powers and polynomials under any data with moments: exact moments;
    - `Smooth` tanh, erf, sigmoid, softplus, gelu, silu, sin and cos under Gaussians and mixtures of them: Hermite
      series, whose remainders and quadrature have proved bounds;
    - all of these on `Samples`, ReLU too where no sample is on a kink.

    Up to 200 parameters but for ReLU. Directions that leave the function alone (scalings of homogeneous neurons, fibers
    at degree 2) are divided out: the minimum is strict across them. For ReLU under N(0, I) the proof is then about |a|w
    with outer weights sign(a), the same function. `InvalidProblem` says where there is no enclosure (other functions
    are known by their values only). Raises `NotConverged` when no proof goes through: the point is not accurate enough,
    not a minimum, or not isolated (at zero loss, when the student has more neurons than the teacher).

    >>> problem, minimum = sh.relu_problem(6), sh.symmetric_minimum(6, [1, 5]).network()
    >>> f"{sh.certify_minimum(problem, minimum).eigenvalue_bound:.6f}"   # every Hessian eigenvalue is above this
    '0.009401'
    >>> elsewhere = sh.Network(minimum.W + 0.01, activation=sh.ReLU())
    >>> sh.certify_minimum(problem, elsewhere)
    Traceback (most recent call last):
        ...
    shallows.support.errors.NotConverged: No critical point is proved near this network: polish it to a gradient of ...

    A neuron tanh(w·x + b) with a trained outer weight, against two:

    >>> teacher = sh.Network([[1.0, 0.5], [-0.5, 1.0]], [1.0, 0.7], sh.Smooth("tanh"), bias=[0.2, -0.3])
    >>> problem = sh.Problem(teacher, sh.Gaussian(2), width=1, bias=True)
    >>> run = sh.descend(problem, sh.Network([[0.9, 1.0]], [1.0], sh.Smooth("tanh"), bias=[0.1]))
    >>> proof = sh.certify_minimum(problem, sh.nearest_critical(problem, run.network).network)
    >>> proof.is_local, proof.radius < 1e-9, proof.how
    (True, True, 'Hermite series with proved remainders')
    """
    problem, net = as_problem(problem), point.network if isinstance(point, Minimum) else point
    if isinstance(problem.activation, ReLU) and net.W.size > LARGEST_RELU:
        return _large(problem, net)
    proof = critical_proof(problem, net, bits)
    with precision(bits):
        bound, smallest = definite(proof.critical.hessian)
    if not bound > 0:
        raise NotConverged(
            f"A critical point is proved, but not that it is a minimum: the smallest Hessian eigenvalue is about "
            f"{smallest:.3g}."
        )
    loss = proof.loss(bits)
    bounds = max(below(loss), 0.0), above(loss)  # a mean of squares
    return CertifiedMinimum(proof.network, proof.critical.radius, bound, smallest, bounds, bits, proof.how)


def _large(problem: Problem, net: Network) -> CertifiedMinimum:
    """ReLU networks whose Hessians are too large for Arb: in doubles with error bounds."""
    problem, net = scale_free(problem, net)
    V, b = teacher_of(problem)
    W = student_of(problem, net)
    assert problem.outer is not None
    if W.size > LARGEST_DOUBLES:
        raise InvalidProblem(
            f"The dense proof is for up to {LARGEST_DOUBLES:,} weights; this network has {W.size:,}. For "
            "block-symmetric networks symmetric_minimum proves any size."
        )
    proof = large_proof(W, problem.outer[0], V, b)
    bounds = max(proof.loss_bounds[0], 0.0), proof.loss_bounds[1]
    return CertifiedMinimum(net, proof.radius, proof.bound, proof.smallest, bounds, DOUBLE)
