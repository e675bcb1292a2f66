"""Singular ends of paths, examined: is there a family of critical points through them, or are they degenerate points?

The homotopy ends at arbitrary complex points of a positive-dimensional critical set. A real point of the set is looked
for in two ways: on the complex orbit of the end under the symmetries that metric and target share (the point of least
norm is real if the orbit has real points), and by Levenberg-Marquardt on the real gradient from the end's real part.

At a real point the set is the orbit of the shared symmetries when that has as many dimensions as the Hessian has
zeros. Zeros beyond it are explained by moving away and descending on ‖∇L‖² again: where that ends beside the point, the
set has more dimensions, observed and not proved; where it comes back, the point is degenerate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.numerical_rank import rank_of
from shallows.mathematics.same_points import is_among
from shallows.mathematics.signature import signature
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.mathematics.tensors.symmetry import Symmetry
from shallows.model.data.metric import Semidefinite
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.orbits import Orbits
from shallows.questions.charts.points.networks import realise, spectral_terms
from shallows.questions.charts.points.stratum import RealFamily, RealPoint
from shallows.questions.charts.shared_symmetry import SharedSymmetry
from shallows.support.checks import Array, counted
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import TINY

Complex = NDArray[np.complex128]
#: Losses with a larger imaginary part, relatively to ‖t‖², are not those of real points; double roots are known to √ε.
REAL_LOSS = 1e-5
#: A real point is critical when its gradient is this small against G t, and has its rank when no term is below NO_TERM.
CRITICAL, NO_TERM = 1e-9, 1e-6
#: Where least squares stop: at a few roundings, as SciPy ignores what is less than one.
STOP = 1e-15
#: Points beside a point are a family when they are critical to this share of G t: rounding, with room. At a degenerate
#: point of order four the gradient is the cube of the distance, so these are within 10⁻⁴ of it, and no family. It is
#: also the unit of least squares: in units of G t the gradient of ‖∇L‖² is 10⁻¹⁵ there at a distance of 10⁻³ already.
EXACTLY = 1e-12
#: Zeros of the Hessian at a point that is known to about the root of CRITICAL.
FLAT = 1e-6
#: How far, relatively, one moves to see whether a set goes on, and what share of that must remain for it to do so.
MOVE, REMAINS = 1e-2, 0.1
#: Two ends are on one family when their losses agree so well: they are known to the square of their own error.
SAME_FAMILY = 1e-6
#: Uncertified points closer than this, relatively, are one: multiple roots, of four to ε^{1/4} = 10⁻⁴.
MULTIPLE = 1e-3
SAMPLES = 5
#: What a chart says of ends next to the orbits of what is nearly a symmetry.
CLOSE = "where a symmetry holds nearly, not exactly: points too close to be told apart are missing"


@dataclass(frozen=True)
class End:
    """A singular end: complex neurons w_j (rows) with tensor Σ w_j^⊗d, outer weights absorbed.

    `isolated`: the exact equations say that it is an isolated point, of some multiplicity.
    """

    neurons: Complex
    degree: int
    isolated: bool = False

    @classmethod
    def of_matrix(cls, S: Complex, rank: int) -> End:
        """A complex symmetric matrix of this rank: S = B C Bᵀ, B a unitary basis of its range, and C = √C √Cᵀ.

        √C is a polynomial in C, hence symmetric too. (Eigenvectors would not do: of a repeated eigenvalue they are not
        orthogonal.)
        """
        from scipy.linalg import sqrtm

        B = np.linalg.svd(S)[0][:, :rank]
        root: Any = sqrtm(B.conj().T @ S @ B.conj())
        return cls(np.asarray((B @ root).T, np.complex128), 2)

    @property
    def entries(self) -> Complex:
        """The tensor."""
        neurons: Any = self.neurons
        return np.asarray(coordinates.monomials(neurons, self.degree).sum(axis=0), dtype=np.complex128)

    def real_terms(self) -> tuple[Array, Array]:
        """Real vectors and signs near it: each neuron is turned by a root of unity as far as that makes it real."""
        if self.degree == 2:
            S = np.einsum("ji,jk->ik", self.neurons, self.neurons).real
            return spectral_terms((S + S.T) / 2, len(self.neurons))
        lead = self.neurons[np.arange(len(self.neurons)), np.abs(self.neurons).argmax(axis=1)]
        zeta = lead / np.maximum(np.abs(lead), TINY)
        return (self.neurons / zeta[:, None]).real, np.sign((zeta**self.degree).real)


@dataclass(frozen=True)
class Examined:
    """What singular ends are: families of critical points, and degenerate points; `on_family` says it of each end.

    `close`: ends next to orbits of what is nearly a symmetry, where isolated points are too close to be told apart.
    """

    families: list[RealFamily]
    points: list[RealPoint]
    on_family: list[bool]
    close: int = 0


def examine(
    problem: Problem, rank: int, ends: Sequence[End], certify: bool, inputs: int | None = None
) -> Examined:
    """The real families and the real degenerate points that the ends belong to, each once.

    With `certify`, families that are orbits of exact symmetries are proved (`orbits`). At degree 2 matrices have their
    rank in the first `inputs`, all but a constant that the metric does not see.
    """
    families: list[RealFamily] = []
    points: list[RealPoint] = []
    on_family = [False] * len(ends)
    if not ends:
        return Examined(families, points, on_family)
    orbits = Orbits(problem) if certify else None
    student = Problem(problem.target_tensor(), Semidefinite(problem.n, problem.degree, problem.gram()), rank)
    shared = SharedSymmetry.of(problem)
    symmetry = shared.own
    for i, end in enumerate(ends):
        for candidate in _candidates(problem, end, symmetry):
            net = _real_point(student, candidate, rank, inputs)
            if net is not None and (end.isolated or not _is_close(student, net, shared)):
                on_family[i] = _sort_in(student, net, symmetry, orbits, families, points, end.isolated)
                break
    if shared.nearly is None:
        return Examined(families, points, on_family)
    close = sum(not (on or end.isolated) for on, end in zip(on_family, ends, strict=True))
    return Examined(families, points, on_family, close)


def _is_close(student: Problem, net: Network, shared: SharedSymmetry) -> bool:
    """Whether the point has flat directions that only what is nearly a symmetry explains."""
    if shared.nearly is None:
        return False
    point = _real(student, net)
    return point is not None and point.signature[1] > shared.own.orbit_dimension(net.tensor().entries)


def joined(found: list[RealPoint], examined: Examined, degree: int) -> list[RealPoint]:
    """The points that were found, and the degenerate ones that are not already among those without a proof."""
    open_ones = [_tensor(point, degree) for point in found if point.certificate is None]
    fresh = []
    for point in examined.points:
        s = _tensor(point, degree)
        if not is_among(s, open_ones, MULTIPLE * float(np.max(np.abs(s)))):
            fresh.append(point)
    return found + fresh


def off_families(problem: Problem, found: list[RealPoint], examined: Examined) -> list[RealPoint]:
    """The points that are on none of the families that are families to rounding only.

    Rounded data have isolated points there, of which some may be proved and others not: the family stands for all.
    """
    symmetry = SharedSymmetry.of(problem).own
    orbits = [
        _tensor(family.point, problem.degree)
        for family in examined.families
        if family.point.certificate is None and family.dimension <= symmetry.dimension
    ]
    near = np.sqrt(SAME_FAMILY)
    return [
        point
        for point in found
        if not any(symmetry.same_orbit(s, _tensor(point, problem.degree), near) for s in orbits)
    ]


def _tensor(point: RealPoint, degree: int) -> Array:
    return np.asarray(point.signs @ coordinates.monomials(point.vectors, degree))


def singular_note(rank: int, ends: int, families: int, points: int, close: int = 0) -> list[str]:
    """What a chart says of the singular ends of paths at one rank: where they are, and what that may mean."""
    if not ends:
        return []
    places = [f"{close} {CLOSE}"] if close else []
    places += [f"on {counted(families, 'family')}"] if families else []
    if points:
        places.append(
            f"at {counted(points, 'degenerate point')} on the discriminant, where real points may have met"
        )
    where = ", ".join(places) or "at no real point of this rank"
    return [f"rank {rank}: {counted(ends, 'singular end')} of paths, {where}"]


def _candidates(problem: Problem, end: End, symmetry: Symmetry) -> list[End]:
    """The point of least norm on the end's orbit, then the end itself; none where the loss is not real."""
    gap = end.entries - problem.target_tensor().entries
    target = problem.target_tensor().entries
    value, energy = complex(gap @ problem.gram() @ gap), float(target @ problem.gram() @ target)
    if abs(value.imag) > REAL_LOSS * max(energy, abs(value)):
        return []
    if not symmetry.dimension or end.isolated:
        return [end]
    return [replace(end, neurons=symmetry.least(end.neurons)), end]


def _real_point(student: Problem, end: End, rank: int, inputs: int | None = None) -> Network | None:
    """A real critical point of rank r near an end, or None."""
    start = student.pack(realise(student, *end.real_terms()))
    net = student.unpack(_critical(student, start))
    return net if _is_critical(student, net, CRITICAL) and _has_rank(student, net, rank, inputs) else None


def _is_critical(student: Problem, net: Network, share: float) -> bool:
    """Whether ∇L is at most this share of G t, times the size of the network."""
    size = max(float(np.max(np.abs(student.pack(net)))), TINY)
    return float(np.linalg.norm(student.gradient(net))) <= share * _slope_size(student) * size


def _slope_size(student: Problem) -> float:
    return max(float(np.max(np.abs(student.gram() @ student.target_tensor().entries))), TINY)


def _critical(student: Problem, theta: Array) -> Array:
    """A zero of the gradient near θ."""
    return least_gradient(
        theta,
        lambda theta: student.value_and_gradient(theta)[1],
        lambda theta: student.hessian(student.unpack(theta)),
        _slope_size(student),
    )


def least_gradient(
    x: Array, gradient: Callable[[Array], Array], hessian: Callable[[Array], Array], size: float
) -> Array:
    """Where the gradient is least near x, by least squares in units of what is critical exactly: it may be singular."""
    from scipy.optimize import least_squares

    unit = EXACTLY * size
    with np.errstate(
        over="ignore"
    ):  # of SciPy's own length of a step, where the Hessian is singular: it takes none
        found: Any = least_squares(
            lambda y: gradient(y) / unit,
            x,
            jac=lambda y: hessian(y) / unit,
            method="trf",
            xtol=STOP,
            ftol=STOP,
            gtol=STOP,
            max_nfev=300,
        )
    return np.asarray(found.x)


def _has_rank(student: Problem, net: Network, rank: int, inputs: int | None) -> bool:
    """No term vanishes against the largest, or against the target: at degree ≥ 3 all gradients vanish near zero."""
    tensor = net.tensor()
    if tensor.degree == 2:
        values = np.sort(np.abs(np.linalg.eigvalsh(tensor.to_matrix()[:inputs, :inputs])))[::-1]
    else:
        values = np.sort(np.abs(net.a) * np.linalg.norm(net.W, axis=1) ** tensor.degree)[::-1]
    largest = max(float(values[0]), float(np.max(np.abs(student.target_tensor().entries))))
    return bool(values[rank - 1] > NO_TERM * largest)


def _sort_in(
    student: Problem,
    net: Network,
    symmetry: Symmetry,
    orbits: Orbits | None,
    families: list[RealFamily],
    points: list[RealPoint],
    isolated: bool,
) -> bool:
    """A family, a degenerate point, or nothing: a regular point is found without this. Whether it is a family."""
    point = _real(student, net)
    if point is None or not point.signature[1]:
        return False
    family = None if isolated else _family(student, net, point, symmetry)
    if family is None:
        if not any(_same_tensor(student, point, other) for other in points):
            points.append(point)
    elif not any(_same_family(student, family, other, symmetry) for other in families):
        families.append(family if orbits is None else _proved(family, symmetry, orbits))
    return family is not None


def _family(student: Problem, net: Network, point: RealPoint, symmetry: Symmetry) -> RealFamily | None:
    """The set of critical points through a point, as far as it is seen; None when it is alone."""
    entries = net.tensor().entries
    orbit = symmetry.orbit_dimension(entries)
    if point.signature[1] > orbit:
        beside = _beside(student, net, point.signature[1])
        dimension = min(spread(entries, [tensor.entries for tensor in beside]), point.signature[1])
        if dimension > orbit:
            text = "a set of critical points; its dimension is observed"
            return RealFamily(point, dimension, text, (net.tensor(), *beside)[:SAMPLES])
    if not orbit:
        return None
    rng = np.random.default_rng(0)
    turns = [symmetry.turn(rng.standard_normal(symmetry.dimension)) for _ in range(SAMPLES - 1)]
    turned = [replace(point, vectors=point.vectors @ M.T) for M in turns]
    samples = (net.tensor(), *(_network(student, other).tensor() for other in turned))
    text = (
        f"the orbit of {'a symmetry' if orbit == 1 else 'the symmetries'} that the data and the target share"
    )
    return RealFamily(point, orbit, text, samples)


def _proved(family: RealFamily, symmetry: Symmetry, orbits: Orbits) -> RealFamily:
    """The family with a certificate where it is the orbit of exact symmetries; else it may say why there is none."""
    if symmetry.orbit_dimension(family.samples[0].entries) < family.dimension:
        return family  # observed
    if len(orbits.algebra) < symmetry.dimension:
        return replace(family, description=f"{family.description} to rounding, not exactly")
    point = None
    if family.point.signature[1] == family.dimension:
        point = orbits.proved(family.point, family.dimension)
    return family if point is None else replace(family, point=point)


def _real(student: Problem, net: Network) -> RealPoint | None:
    """The point with its signature on the stratum; None where neurons are so close that its rank is lower."""
    from shallows.questions.geometry.manifolds.strata import stratum

    tensor = net.tensor()
    if student.degree == 2 and np.linalg.eigvalsh(student.gram())[0] <= FLAT * student.gram().max():
        return _in_neurons(student, *spectral_terms(tensor.to_matrix(), student.width))
    try:
        if student.degree == 2:
            geometry = stratum(student, tensor, rank=student.width, tolerance=FLAT)
        else:
            geometry = stratum(student, net, tolerance=FLAT)
        positive, zero, negative = geometry.signature(student.target_tensor().entries, FLAT)
    except InvalidProblem:
        return None
    if student.degree == 2:
        vectors, signs = spectral_terms(tensor.to_matrix(), student.width)
    else:
        vectors = net.W * (np.abs(net.a) ** (1 / student.degree))[:, None]
        signs = np.sign(net.a)
    return RealPoint(vectors, signs, (int(positive), int(zero), int(negative)))


def _in_neurons(student: Problem, vectors: Array, signs: Array) -> RealPoint:
    """The point with its signature from the Hessian in the neurons, for metrics that do not see all of a tensor.

    Of its zeros r(r−1)/2 are those of turns that leave the matrix alone.
    """
    held = Problem(student.target, student.data, len(signs), outer=signs)
    eigenvalues = np.linalg.eigvalsh(held.hessian(Network(vectors, signs)))
    positive, zero, negative = signature(eigenvalues, FLAT)
    return RealPoint(vectors, signs, (positive, zero - len(signs) * (len(signs) - 1) // 2, negative))


def _network(student: Problem, point: RealPoint) -> Network:
    return realise(student, point.vectors, point.signs)


def _beside(student: Problem, net: Network, zeros: int) -> list[SymmetricTensor]:
    """Critical points of the same loss that are reached from small moves away from this one.

    There are no more to look for when they span as many dimensions as the Hessian has zeros.
    """
    theta, loss = student.pack(net), student.loss(net)
    energy = student.loss(student.unpack(np.zeros_like(theta)))
    rng = np.random.default_rng(0)
    found: list[SymmetricTensor] = []
    for _ in range(2 * student.size):
        start = theta + MOVE * float(np.max(np.abs(theta))) * rng.standard_normal(len(theta))
        other = student.unpack(_critical(student, start))
        same = abs(student.loss(other) - loss) <= SAME_FAMILY * max(energy, TINY)
        if same and _is_critical(student, other, EXACTLY):
            found.append(other.tensor())
            if seen_enough(net.tensor().entries, [tensor.entries for tensor in found], zeros):
                break
    return found


def seen_enough(entries: Array, beside: Sequence[Array], zeros: int) -> bool:
    """Whether nearby points are as many as are kept, and span as many dimensions as the Hessian has zeros."""
    return len(beside) >= SAMPLES - 1 and spread(entries, beside) >= zeros


def spread(entries: Array, beside: Sequence[Array]) -> int:
    """The dimension that nearby points of a set span around one of them, beyond its curvature."""
    if not beside:
        return 0
    steps = np.array(beside) - entries
    values = np.linalg.svd(steps / np.sqrt(len(steps)), compute_uv=False)
    if values[0] < REMAINS * MOVE * float(np.max(np.abs(entries))):
        return 0
    return rank_of(values, REMAINS)


def _same_tensor(student: Problem, point: RealPoint, other: RealPoint) -> bool:
    first, second = (_network(student, p).tensor().entries for p in (point, other))
    return bool(np.max(np.abs(first - second)) <= np.sqrt(SAME_FAMILY) * np.max(np.abs(first)))


def _same_family(student: Problem, family: RealFamily, other: RealFamily, symmetry: Symmetry) -> bool:
    """The same loss and dimension, and where both are orbits the same orbit."""
    if family.dimension != other.dimension or family.point.signature != other.point.signature:
        return False
    nets = [_network(student, f.point) for f in (family, other)]
    losses = [student.loss(net) for net in nets]
    if abs(losses[0] - losses[1]) > SAME_FAMILY * max(map(abs, losses)):
        return False
    first, second = (net.tensor().entries for net in nets)
    orbit = symmetry.orbit_dimension(first)
    return orbit < family.dimension or symmetry.same_orbit(first, second, np.sqrt(SAME_FAMILY))
