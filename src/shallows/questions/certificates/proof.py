"""A critical point of a two-layer loss proved next to given weights, with its index: one proof for all activations.

The loss, its gradient and its Hessian are enclosed in balls over boxes of parameters: ReLU by closed forms
(`relu.balls`, `relu_pairs`), polynomial activations by exact moments, samples one by one (`features`), and smooth
activations under Gaussians by Hermite series with proved remainders (`pairs`). Krawczyk's operator then proves the
point, on a slice across the directions that leave the function alone (`moves`), and interval arithmetic the signs of
the Hessian there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shallows.mathematics.balls.across import CriticalBox, critical_box
from shallows.mathematics.balls.systems import BITS, precision
from shallows.model.activations import PolynomialActivation, ReLU
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.certificates.features import MONOMIALS, FeatureBalls, Monomials, SampleValues
from shallows.questions.certificates.moves import moves
from shallows.questions.certificates.pairs import PairBalls
from shallows.questions.charts.points.point import Certificate
from shallows.questions.relu.balls import ReLUBalls
from shallows.questions.relu.scale_free import scale_free
from shallows.questions.relu.setting import student_of, teacher_of
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem, NotConverged

#: Weights of the largest ReLU network: its Hessian has a million entries then.
LARGEST_RELU = 1_000
#: Parameters of the largest network of any other kind: some seconds.
LARGEST = 200
METHOD = "Krawczyk and interval Hessian"


@dataclass(frozen=True, eq=False)
class CriticalProof:
    """What is proved next to a network: one critical point, up to the directions that leave the function alone.

    `network` is the one the box is around: the given one, with trained outer weights of ReLU divided out.
    """

    network: Network
    critical: CriticalBox
    balls: Any
    how: str
    flat: int

    @property
    def signature(self) -> tuple[int, int, int]:
        """Signs of the Hessian's eigenvalues that are proved, the flat directions among those that are not."""
        signs = self.critical.signs
        return signs.positive, signs.undecided + self.flat, signs.negative

    def certificate(self, index: int | None = None) -> Certificate:
        """What charts store: the signature counts as proved when all signs are, and are those of this index."""
        signs = self.critical.signs
        known = signs.certified and index in (None, signs.negative)
        return Certificate(self.critical.radius, known, True, f"{METHOD}, {self.how}")

    def loss(self, bits: int = BITS) -> Any:
        """The loss over the box, a ball."""
        with precision(bits):
            return self.balls.loss(list(self.critical.box))


def critical_proof(problem: Problem, net: Network, bits: int = BITS) -> CriticalProof:
    """Prove a critical point next to a network.

    `InvalidProblem` says where there are no balls for a problem, `NotConverged` where no proof goes through.
    """
    if problem.norm_neuron or problem.orthogonality:
        raise InvalidProblem(
            "Nothing is proved here: problems with a norm neuron or a penalty have charts, not balls."
        )
    closed_form = isinstance(problem.activation, ReLU) and problem.data.as_samples() is None
    if closed_form and not problem.affine and _is_standard(problem):
        return _relu(problem, net, bits)
    theta = problem.pack(net)
    if len(theta) > LARGEST:
        raise InvalidProblem(f"Proofs are for up to {LARGEST} parameters; this network has {len(theta):,}.")
    with precision(bits):
        balls, how = _enclosed(problem, theta, bits)
        found = critical_box(balls, theta, bits, moves(problem))
    return CriticalProof(net, _required(found), balls, how, found.flat if found else 0)


def _relu(problem: Problem, net: Network, bits: int) -> CriticalProof:
    """ReLU under N(0, I): outer weights that are trained are divided out, one flat direction a neuron."""
    flat = problem.width if problem.outer is None else 0
    plain, net = scale_free(problem, net)
    V, b = teacher_of(plain)
    W = student_of(plain, net)
    if W.size > LARGEST_RELU:
        raise InvalidProblem(
            f"Proofs in balls are for up to {LARGEST_RELU:,} weights; this network has {W.size:,}."
        )
    assert plain.outer is not None
    with precision(bits):
        balls = ReLUBalls((plain.width, plain.n), plain.outer[0], V, b)
        found = critical_box(balls, W.ravel(), bits)
    return CriticalProof(net, _required(found), balls, "ReLU closed form", flat)


def _is_standard(problem: Problem) -> bool:
    data = problem.data.as_gaussian()
    return problem.outputs == 1 and data is not None and data.centred and data.white


def _enclosed(problem: Problem, theta: Array, bits: int) -> tuple[Any, str]:
    """The balls of loss, gradient and Hessian, and what they are made of."""
    if _is_polynomial(problem) and (problem.outputs == 1 or Monomials.needed(problem) <= MONOMIALS):
        return FeatureBalls(problem, Monomials(problem)), "exact moments"
    if problem.data.as_samples() is not None:
        return FeatureBalls(problem, SampleValues(problem)), "sample by sample"
    how = "closed forms" if isinstance(problem.activation, ReLU) else "Hermite series with proved remainders"
    return PairBalls(problem, theta, bits), how


def _is_polynomial(problem: Problem) -> bool:
    target = problem.target
    student = isinstance(problem.activation, PolynomialActivation)
    return student and (
        not isinstance(target, Network) or isinstance(target.activation, PolynomialActivation)
    )


def _required(found: CriticalBox | None) -> CriticalBox:
    if found is None:
        raise NotConverged(
            "No critical point is proved near this network: polish it to a gradient of about 1e-10 first, or the "
            "Hessian is (nearly) singular there. Fix: sh.nearest_critical(problem, net).network is polished."
        )
    return found
