"""Descent with the orthogonality penalty from (λ, Q) = (0, I), and the repair it needs (paper 002, Theorem D.1(2)).

F = E(f − y)² + γ‖QQᵀ − I‖² with γ ≥ E y² starts at F = E y², and a rank-deficient Q costs at least γ (Lemma B.4): so
descent keeps rank Q = d. The proof then uses QᵀRQ = 0, but training a diagonal Λ gives only diag(QᵀRQ) = 0. Where
the residual R = E[r xxᵀ] has zero diagonal at the start, (0, I) is itself stationary: A = [[0,1],[1,0]] stays put, and
blocks of that kind stay put in larger problems. The repair: any orthogonal Q₀ has QQᵀ = I, so start at a rotation of I
when the diagonal vanishes somewhere, and leave a strict saddle, should descent end at one, along its direction of
negative curvature. Both keep F ≤ E y², so the theorem's argument stands.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.descent.descend import descend
from shallows.questions.descent.results.run import Run
from shallows.questions.quadratic.certificates import Inspection, energy, inspect, residual_matrices
from shallows.questions.quadratic.curvature import Descent
from shallows.questions.quadratic.training import identity_start
from shallows.support.checks import Array, finite_number
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

#: Entries of R's diagonal below this share of its largest entry vanish: for simple teachers they are zero to rounding.
VANISHING = 1e-9
#: Strict saddles that are left before giving up.
ESCAPES = 10
#: The size of a rotation that leaves a start where the gradient vanishes by chance: far above rounding, far below 1.
ANGLE = 1e-3
#: Gradient norm at which descent stops, relative to E y²: a hundred thousand ε or so.
GRADIENT = 1e-10


@dataclass(frozen=True, eq=False)
class OrthogonalFit:
    """Where descent from (0, I) with the orthogonality penalty ended (paper 002, Theorem D.1(2)).

    `rotated` says whether the start was turned (the gradient's diagonal vanished), `escapes` how many strict saddles
    were left; `defect` is ‖QQᵀ − I‖, `inspection` the certificate of the end point.

    >>> problem = sh.Problem([[0.0, 1.0], [1.0, 0.0]], sh.Frobenius(2), width=2, orthogonality=2.0)
    >>> fit = sh.quadratic.fit_orthogonal(problem)
    >>> fit.inspection.verdict, fit.rotated, fit.defect < 1e-6, sorted(fit.network.a.round(6).tolist())
    ('global minimum', True, True, [-1.0, 1.0])
    """

    network: Network
    inspection: Inspection
    defect: float
    rotated: bool
    escapes: int
    run: Run

    def __repr__(self) -> str:
        start = "a rotation of (0, I)" if self.rotated else "(0, I)"
        return (
            f"OrthogonalFit({self.inspection.verdict} from {start}, {self.escapes} saddles left: loss "
            f"{self.inspection.loss:.8g}, ‖QQᵀ − I‖ {self.defect:.2g})"
        )


def vanishing_diagonal(problem: Problem) -> np.ndarray:
    """The i with Rᵢᵢ = 0 at (0, I): neuron i gets no gradient there, although R ≠ 0."""
    R = residual_matrices(problem, problem.unpack(identity_start(problem)))
    diagonal = np.max(np.abs(np.diagonal(R, axis1=1, axis2=2)), axis=0)
    size = float(np.max(np.abs(R), initial=0.0))
    return np.flatnonzero(diagonal <= VANISHING * size) if size > 0 else np.zeros(0, dtype=np.intp)


def rotated_identity(problem: Problem, angle: float = ANGLE, rng: int | np.random.Generator = 0) -> Array:
    """(0, Q₀) with Q₀ the Cayley transform of a random skew matrix of this size: Q₀Q₀ᵀ = I, near the identity."""
    n = problem.n
    K = finite_number("angle", angle, minimum=0.0) * generator(rng).standard_normal((n, n))
    K = (K - K.T) / 2
    rotation = np.linalg.solve(np.eye(n) + K, np.eye(n) - K)
    W, a, norm = problem.layout.split(identity_start(problem))
    turned = np.array(W)
    turned[:n] = rotation
    assert norm is None
    return problem.layout.join(turned, a, None)


def fit_orthogonal(
    problem: Problem,
    *,
    repair: bool = True,
    method: str = "lbfgs",
    tolerance: float = GRADIENT,
    rng: int | np.random.Generator = 0,
) -> OrthogonalFit:
    """Train with the orthogonality penalty from (λ, Q) = (0, I) (paper 002, Theorem D.1(2)).

    With `repair` a start or an end where the gradient only happens to vanish is left. `tolerance` is on the gradient
    norm, relative to E y².

    >>> stuck = sh.Problem([[0.0, 1.0], [1.0, 0.0]], sh.Frobenius(2), width=2, orthogonality=2.0)
    >>> [sh.quadratic.fit_orthogonal(stuck, repair=repair).inspection.verdict for repair in (False, True)]
    ['strict saddle', 'global minimum']
    """
    _require_penalty(problem)
    scale = energy(problem)
    rotated = repair and len(vanishing_diagonal(problem)) > 0
    theta = rotated_identity(problem, rng=rng) if rotated else identity_start(problem)
    for escapes in range(ESCAPES + 1):
        run = descend(problem, theta, method=method, tolerance=tolerance * scale)
        found = inspect(problem, run.network)
        if not repair or found.direction is None or escapes == ESCAPES:
            break
        theta = _escaped(problem, run.theta, found.direction)
    defect = float(np.linalg.norm(run.network.W.T @ run.network.W - np.eye(problem.n)))
    return OrthogonalFit(run.network, found, defect, rotated, escapes, run)


def _escaped(problem: Problem, theta: Array, descent: Descent) -> Array:
    """The lowest of a few points along ± the direction."""
    steps = np.array([s * 10.0**-p for p in range(5) for s in (1.0, -1.0)])
    points = theta + steps[:, None] * descent.direction
    return np.asarray(points[np.argmin(problem.value(points))])


def _require_penalty(problem: Problem) -> None:
    if not isinstance(problem, Problem) or not problem.orthogonality or problem.norm_neuron:
        raise InvalidProblem(
            "Theorem D.1(2) is about Problem(…, orthogonality=γ) without a norm neuron: use with_orthogonality."
        )
    if problem.width < problem.n or problem.outer is not None:
        raise InvalidProblem(
            f"The penalty γ‖QQᵀ − I‖² needs a width of at least d = {problem.n} and trained outer weights; the "
            f"width is {problem.width}."
        )
