"""The Hessian's eigenvalues at a network, each with a bound on its error.

Where the Hessian is known in balls the bound is proved. With V the eigenvectors that LAPACK found and Λ its
eigenvalues, let δ bound ‖VᵀV − I‖ and η bound ‖VᵀHV − Λ‖, both in ball arithmetic. Weyl: the eigenvalues μ of VᵀHV are
within η of Λ. Ostrowski: μᵢ = θᵢλᵢ with |θᵢ − 1| ≤ δ, λ those of H. So |λᵢ − Λᵢ| ≤ (η + δ|Λᵢ|)/(1 − δ).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat

from shallows.mathematics.balls.rounding import above
from shallows.mathematics.balls.systems import precision
from shallows.mathematics.signature import decided, error_bound
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.diagnosis.sample_hessian import sample_hessian
from shallows.questions.relu.balls import ReLUBalls
from shallows.questions.relu.setting import teacher_of
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem, NotConverged

#: Bits of the balls.
BITS = 96
#: Weights up to which the Hessian is made in balls: a second.
PROVED = 400
#: Hessians in floating point are known to about ten digits: what is counted as their error where nothing is proved.
HESSIAN_ERROR = 1e-10
#: Skewness of computed eigenvectors up to which the bound is used; LAPACK's is about 1e-14.
SKEW = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum:
    """Eigenvalues of ∇²L, ascending, and how far each may be off: `proved` in ball arithmetic, or ten digits assumed.

    >>> spectrum = spectrum_at(sh.relu_problem(2), sh.Network(np.eye(2), activation=sh.ReLU()))
    >>> spectrum
    Spectrum(4 positive, 0 undecided, 0 negative, from 0.181690114 to 1.81830989, each to ..., proved)
    """

    values: Array
    errors: Array
    proved: bool

    @property
    def signature(self) -> tuple[int, int, int]:
        """How many are positive, undecided (zero within the error) and negative."""
        return decided(self.values, self.errors)

    def __repr__(self) -> str:
        signs = "{} positive, {} undecided, {} negative".format(*self.signature)
        ends = f"from {self.values[0]:.9g} to {self.values[-1]:.9g}"
        word = "proved" if self.proved else "not proved"
        return f"Spectrum({signs}, {ends}, each to {self.errors.max(initial=0.0):.0e}, {word})"


def spectrum_at(problem: Problem, net: Network) -> Spectrum:
    """The spectrum of the loss's Hessian at a network; `NotDifferentiable` where there is none."""
    hessian = problem.hessian(net)
    values, vectors = np.linalg.eigh(hessian)
    proved = _proved_errors(problem, net, values, vectors)
    if proved is not None:
        return Spectrum(values, proved, True)
    return Spectrum(values, np.full(len(values), error_bound(values, HESSIAN_ERROR)), False)


def _proved_errors(problem: Problem, net: Network, values: Array, vectors: Array) -> Array | None:
    """Bounds on the errors of computed eigenvalues, or None where the Hessian is not known in balls."""
    if len(values) > PROVED:
        return None
    try:
        with precision(BITS):
            return enclosed(_hessian_in_balls(problem, net), values, vectors)
    except (InvalidProblem, NotConverged):
        return None


def _hessian_in_balls(problem: Problem, net: Network) -> Any:
    if problem.data.as_samples() is not None:
        return sample_hessian(problem, net)
    teacher, weights = teacher_of(problem)
    assert problem.outer is not None
    balls = ReLUBalls((problem.width, problem.n), problem.outer[0], teacher, weights)
    return balls([arb(float(w)) for w in net.W.ravel()])[1]


def enclosed(hessian: Any, values: Array, vectors: Array) -> Array | None:
    """(η + δ|Λ|)/(1 − δ) for a matrix of balls, rounded up; None where δ or η is not small enough to be known."""
    n = len(values)
    frame = arb_mat(n, n, vectors.ravel().tolist())
    turned = frame.transpose() * hessian * frame - _diagonal(values)
    skew = _norm(frame.transpose() * frame - _diagonal(np.ones(n)))
    if not skew < SKEW:
        return None
    bounds = [(_norm(turned) + skew * abs(arb(float(x)))) / (1 - skew) for x in values]
    errors = np.array([above(bound) for bound in bounds])
    return errors if np.isfinite(errors).all() else None


def _norm(matrix: Any) -> Any:
    """The largest sum of absolute values of a row: above the spectral norm of a symmetric matrix."""
    rows = [sum((entry.abs_upper() for entry in row), arb(0)).upper() for row in matrix.tolist()]
    return max(rows, default=arb(0))


def _diagonal(values: Array) -> Any:
    n = len(values)
    return arb_mat(n, n, [arb(float(values[i])) if i == j else arb(0) for i in range(n) for j in range(n)])
