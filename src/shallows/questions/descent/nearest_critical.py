"""From trained weights to the critical point they are at: Newton's method, distance, kind, a proof if there is one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shallows.mathematics.newton import falling
from shallows.mathematics.signature import signature
from shallows.model.activations import ReLU
from shallows.model.network import Network
from shallows.model.problem import Problem, as_problem
from shallows.questions.certificates.proof import critical_proof
from shallows.questions.charts.points.point import Certificate
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem, NotConverged, NotDifferentiable
from shallows.support.records import Records
from shallows.support.tolerances import TINY

#: Newton steps, and halvings of one that does not lower the gradient.
STEPS, HALVINGS = 200, 40
#: A step is at most this share of the weights.
LONGEST = 0.3
#: Curvatures below this share of the largest are flat directions, along which no step is taken: families of critical
#: points. Hessians are known to about ten digits at weights of eight.
FLAT = 1e-9
#: The gradient vanishes when it is below this share of the largest curvature times the weights: rounding.
VANISHING = 1e-12
#: Parameters of the largest network: its Hessian has nine million entries, and Newton's steps take a minute.
LARGEST = 3_000
#: Weights up to which a proof in ball arithmetic is tried: a second or two.
PROVED = 400


@dataclass(frozen=True, eq=False, repr=False)
class NearestCritical:
    """The critical point that Newton's method reaches from given weights.

    `distance` is how far the parameters moved (Euclidean), `signature` (positive, zero, negative) is of the Hessian in
    parameters, `certificate` what is proved (where `sh.certify_minimum` has balls, up to 400 weights), or None.

    >>> problem = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1, outer="ones")
    >>> found = sh.nearest_critical(problem, sh.Network([[1.6, 0.01]]))
    >>> found.kind, round(found.loss, 6), found.signature
    ('minimum', 2.666667, (2, 0, 0))
    """

    network: Network
    distance: float
    loss: float
    gradient_norm: float
    signature: tuple[int, int, int]
    certificate: Certificate | None

    @property
    def kind(self) -> str:
        """ "minimum", "saddle" or "maximum"; flat directions are not counted: they may be a family, or not."""
        positive, _, negative = self.signature
        if positive and negative:
            return "saddle"
        return "maximum" if negative else "minimum"

    @property
    def index(self) -> int:
        """The number of negative curvatures."""
        return self.signature[2]

    def save(self, path: str | Path) -> Path:
        """Write `path`.json and `path`.npz; `NearestCritical.load` reads them. The path of the first."""
        return RECORDS.save(path, self)

    @classmethod
    def load(cls, path: str | Path) -> NearestCritical:
        """What `save` wrote.

        >>> import tempfile
        >>> problem = sh.Problem(np.diag([2.0, 1.0]), sh.Gaussian(2), width=1, outer="ones")
        >>> found = sh.nearest_critical(problem, sh.Network([[1.6, 0.01]]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     repr(sh.NearestCritical.load(found.save(f"{folder}/end"))) == repr(found)
        True
        """
        found: NearestCritical = RECORDS.load(path)
        return found

    def __repr__(self) -> str:
        flat = f", {self.signature[1]} flat directions" if self.signature[1] else ""
        proof = "numerical" if self.certificate is None else repr(self.certificate)
        return (
            f"NearestCritical({self.kind} of index {self.index}{flat}, loss {self.loss:.12g}, "
            f"{self.distance:.3g} away, gradient {self.gradient_norm:.1e}; {proof})"
        )


RECORDS = Records("shallows-nearest-critical", 1, NearestCritical, Certificate)


def nearest_critical(problem: Problem, net: Network) -> NearestCritical:
    """The critical point at which training left a network: minimum, saddle or maximum, and how far it is.

    Newton's method on the gradient, which goes to critical points of every kind; flat directions (the scaling of a
    neuron with a trained outer weight, families) are left alone. Raises `NotConverged` where it does not arrive.

    >>> problem = sh.relu_problem(6)
    >>> minimum = sh.symmetric_minimum(6, [1, 5]).network()
    >>> trained = sh.Network(minimum.W + 1e-4 * np.cos(np.arange(36.0)).reshape(6, 6), activation=sh.ReLU())
    >>> found = sh.nearest_critical(problem, trained)
    >>> found.kind, f"{found.distance:.1e}", f"{found.loss / 2:.10f}", found.certificate.signature_certified
    ('minimum', '4.3e-04', '0.0250805810', True)
    """
    problem = as_problem(problem)
    start = problem.pack(net)
    if problem.size > LARGEST:
        raise InvalidProblem(
            f"The network has {problem.size:,} parameters; Newton's method is for up to {LARGEST:,}. Fix: "
            'sh.descend(problem, net, method="lbfgs").'
        )
    theta = _newton(problem, start)
    end = problem.unpack(theta)
    if isinstance(problem.activation, ReLU) and np.any(
        np.linalg.norm(end.W, axis=1) <= FLAT * np.linalg.norm(net.W, axis=1)
    ):
        raise NotConverged(
            "Newton's method from this network does not reach a critical point: a neuron shrinks to zero, where ReLU "
            "has no derivative. Fix: a narrower network."
        )
    hessian = problem.hessian(end)
    seen = signature(np.linalg.eigvalsh(hessian), FLAT)
    proof, signs = _proof(problem, end)
    return NearestCritical(
        network=end,
        distance=float(np.linalg.norm(theta - start)),
        loss=problem.loss(end),
        gradient_norm=float(np.linalg.norm(problem.gradient(end))),
        signature=seen if signs is None else signs,
        certificate=proof,
    )


def _newton(problem: Problem, theta: Array) -> Array:
    """Newton's method in the directions that are not flat, halved until the gradient falls."""
    arrived = False

    def step(at: Array, gradient: Array) -> Array | None:
        nonlocal arrived
        arrived = False
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # a neuron that shrinks to zero, told below
                hessian = problem.hessian(problem.unpack(at))
        except NotDifferentiable:
            return None
        if not np.isfinite(hessian).all():
            return None
        values, vectors = np.linalg.eigh(hessian)
        largest, size = float(np.abs(values).max()), max(float(np.linalg.norm(at)), 1.0)
        arrived = float(np.linalg.norm(gradient)) <= VANISHING * largest * size
        steep = np.abs(values) > FLAT * largest
        whole = -(vectors[:, steep] @ ((vectors[:, steep].T @ gradient) / values[steep]))
        return np.asarray(min(1.0, LONGEST * size / max(float(np.linalg.norm(whole)), TINY)) * whole)

    for place, _ in falling(lambda at: problem.value_and_gradient(at)[1], step, theta, STEPS, HALVINGS):
        theta = place
    if arrived:  # nothing is left to gain but rounding
        return theta
    raise NotConverged(
        "Newton's method from this network does not reach a critical point: the gradient stopped falling at "
        f"{float(np.linalg.norm(problem.value_and_gradient(theta)[1])):.2g}. Fix: train longer, with sh.descend."
    )


def _proof(problem: Problem, net: Network) -> tuple[Certificate | None, tuple[int, int, int] | None]:
    """Krawczyk and the inertia of the Hessian, where balls enclose the loss."""
    if net.W.size > PROVED:
        return None, None
    try:
        proof = critical_proof(problem, net)
    except (InvalidProblem, NotConverged):
        return None, None
    return proof.certificate(), proof.signature
