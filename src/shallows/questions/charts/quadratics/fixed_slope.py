"""Quadratic neurons a(αz² + βz + γ) without bias, β ≠ 0, outer weights fixed, three and more of them.

With S = Σ aᵢ ≠ 0 and m = Σ aᵢwᵢ/S the linear part of a network is βS m and its matrix αS(mmᵀ + B), where
SB = Σ aᵢ(wᵢ − m)(wᵢ − m)ᵀ has rank ≤ r − 1. Rotations that keep diag(a) and the vector of ones
change no function, so neurons are not isolated from r = 3 on; (m, B) is. Which B occur is a matter of signs (Witt's
theorem): on the complement of the ones diag(a) has one positive sign less if S > 0, or one negative sign less. This is
a closed set, and (m, B) depends continuously on the function: limits are networks too, whatever the signs.

B = UAUᵀ, U = [I; Z], in a random frame, is the chart that the equations are written in: polynomials in (m, A, Z).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exact.rational_arrays import fractions
from shallows.mathematics.same_points import PointSet
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import polynomial_of
from shallows.model.exact_loss import ExactLoss
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.detours import Detours, proved_regular
from shallows.questions.charts.continuation.equations import Member
from shallows.questions.charts.continuation.lost_paths import FROM_GENERIC, UNCERTIFIED, Settled, settle
from shallows.questions.charts.continuation.rotation_invariant import rotation_invariant_weights
from shallows.questions.charts.matrices.sharp import low_rank_products
from shallows.questions.charts.neurons.balanced import invariant_metrics, is_invariant, whitening
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.members import start_for
from shallows.questions.charts.neurons.metrics import RotationInvariantMetrics
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.questions.charts.neurons.real import NeuronPoint, sort_neurons
from shallows.questions.charts.points.kinds import hessian_kind
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.stratum import POINT_ERROR, Part
from shallows.questions.charts.quadratics.students import QuadraticStudents
from shallows.support.checks import Array
from shallows.support.progress import Shown
from shallows.support.tolerances import TINY

#: Frames have so few binary digits that their exact products stay short, but where rotations leave the inputs alone:
#: there they are as orthogonal as doubles are.
DIGITS = 2.0**10
#: Frames that are tried where a solution has no regular place in one: a budget, each is as good as any other.
FRAMES = 4
#: Functions have a linear and a quadratic part.
DEGREES = (1, 2)


@lru_cache(maxsize=64)
def spread_neuron(n: int, rank: int) -> Neuron:
    """(m, A, Z) ↦ (m, mmᵀ + UAUᵀ), A symmetric of this rank, U = [I; Z].

    >>> spread_neuron(2, 1).values(np.array([1.0, 2.0, 10.0, 3.0]))          # m = (1, 2), A = 10, Z = 3
    array([  1.,   2.,  11.,  32.,  94.])
    """
    pairs = coordinates.indices(n, 2).tolist()
    entries = {tuple(pair): n + k for k, pair in enumerate(pairs)}
    products: list[tuple[int, float, tuple[int, ...]]] = [(i, 1.0, (i,)) for i in range(n)]
    products += [(entries[i, j], 1.0, (i, j)) for i, j in pairs]
    products += [(entries[i, j], 1.0, unknowns) for i, j, unknowns in low_rank_products(n, rank, n)]
    total = n + rank * (2 * n - rank + 1) // 2
    return Neuron.of_products(total, n + len(pairs), products)


@dataclass(frozen=True, eq=False)
class Spread:
    """The exact loss as a function of (m, mmᵀ + B) in a frame, m = Rm′ and B = RB′Rᵀ, and the way back."""

    #: A function of rank r has a matrix B of rank r − 1 beside m.
    beside: ClassVar[int] = 1

    problem: Problem
    students: QuadraticStudents
    weights: Array
    total: float
    frame: Array
    factors: Array
    exact: ExactLoss
    special: RotationInvariantMetrics | None

    @classmethod
    def of(cls, students: QuadraticStudents, turn: int = 0) -> Self:
        """That of a problem with fixed outer weights in the frame of this number; m stands for Σ aᵢwᵢ where their sum
        is zero."""
        problem, n = students.problem, students.problem.n
        assert problem.outer is not None
        a = problem.outer[0]
        S = sum(fractions(a).tolist()) or fractions(1.0)[()]
        gram, right = students.without_constant()
        _, beta, alpha = fractions(polynomial_of(problem.activation).coefficients)
        first = coordinates.dimension(n, 1)
        D = np.array([beta * S] * first + [alpha * S] * (len(right) - first), dtype=object)
        frame = _frame(students, gram, right, D, turn)
        P = _action(fractions(frame))
        H = P.T @ (gram * np.multiply.outer(D, D)) @ P
        b = P.T @ (right * D)
        rounded = H.astype(np.float64)
        special = None
        if is_invariant(problem, 2):
            special = invariant_metrics(rounded / np.abs(rounded).max(), DEGREES, n)
        return cls(problem, students, a, float(S), frame, D.astype(np.float64), ExactLoss(H, b), special)

    def member(self) -> Member:
        """The metric and the target to be solved."""
        gram, right = self.exact.gram.astype(np.float64), self.exact.right.astype(np.float64)
        scale = float(np.abs(gram).max())
        if self.special is None:
            return Member.of(gram / scale, right / scale)
        u = rotation_invariant_weights(gram / scale, DEGREES, self.problem.n)
        return Member(self.special, u, right / scale)

    def neuron(self, rank: int) -> Neuron:
        """The functions with a B of this rank."""
        return spread_neuron(self.problem.n, rank)

    def filled(self, rank: int) -> Array | None:
        """The unknowns of the target, the one critical point where all functions have this rank; None elsewhere."""
        n = self.problem.n
        if rank < n:
            return None
        entries = self.exact.target.astype(np.float64)
        m, Q = entries[:n], SymmetricTensor(entries[n:], n, 2).to_matrix()
        return np.concatenate([m, (Q - np.outer(m, m))[np.triu_indices(n)]])

    def flat(self, rank: int) -> int:
        """Rotations that change no function, but those that leave all neurons alone."""
        r = len(self.weights)
        return (r - 1) * (r - 2) // 2 - (r - 1 - rank) * (r - 2 - rank) // 2

    def parts(self, entries: Array) -> tuple[Array, Array]:
        """m and B from the entries of (m′, m′m′ᵀ + B′)."""
        n = self.problem.n
        m = entries[:n]
        B = SymmetricTensor(entries[n:], n, 2).to_matrix() - np.outer(m, m)
        return self.frame @ m, self.frame @ B @ self.frame.T

    def entries(self, m: Array, B: Array) -> Array:
        """The function's coordinates, with the constant where the space has one."""
        rest = np.concatenate([m, (np.outer(m, m) + B)[np.triu_indices(self.problem.n)]]) * self.factors
        constant = [float(self.students.fixed_constant)] if 0 in self.students.space.degrees else []
        return np.concatenate([constant, rest])

    def stretch(self) -> float:
        """How much larger than in the frame an error of an entry of the function can be."""
        P = _action(self.frame.astype(object)).astype(np.float64)
        return float((np.abs(self.factors)[:, None] * np.abs(P)).sum(axis=1).max())

    def network(self, m: Array, B: Array, rank: int) -> Network | None:
        """A network with this m and B, of rank `rank`; None where no real one has the signs for it."""
        values, vectors = np.linalg.eigh(self.total * B)
        chosen = np.argsort(-np.abs(values))[:rank]
        basis, signs = _complement(self.weights)
        free = {1.0: np.flatnonzero(signs > 0).tolist(), -1.0: np.flatnonzero(signs < 0).tolist()}
        spread = np.zeros((len(signs), self.problem.n))
        for k in chosen:
            sign = float(np.sign(values[k]))
            if not free.get(sign):
                return None
            spread[free[sign].pop(0)] = np.sqrt(abs(values[k])) * vectors[:, k]
        return Network(m + basis @ spread, self.weights, self.problem.activation)


def _complement(a: Array) -> tuple[Array, Array]:
    """A basis N of {v : Σ aᵢvᵢ = 0} with NᵀAN = diag(signs), A = diag(a); zero weights have sign 0."""
    away = np.linalg.svd(a[None, :])[2][1:].T
    values, vectors = np.linalg.eigh(away.T @ (a[:, None] * away))
    null = np.abs(values) <= POINT_ERROR * np.abs(a).max()
    scale = np.where(null, 1.0, 1 / np.sqrt(np.where(null, 1.0, np.abs(values))))
    return away @ vectors * scale, np.where(null, 0.0, np.sign(values))


def _frame(
    students: QuadraticStudents, gram: NDArray[Any], right: NDArray[Any], D: NDArray[Any], turn: int
) -> Array:
    """A random frame in which the target is of size about one; of whitened inputs where rotations leave those alone."""
    n = students.problem.n
    target = np.linalg.lstsq((gram * D).astype(np.float64), right.astype(np.float64))[0]
    turned = np.linalg.qr(np.random.default_rng([n, 25 + turn]).standard_normal((n, n)))[0]
    if is_invariant(students.problem, 2):
        turned = whitening(gram[:n, :n].astype(np.float64)) @ turned
        target = np.linalg.solve(_action(turned.astype(object)).astype(np.float64), target)
    else:
        turned = np.round(turned * DIGITS) / DIGITS
    size = max(float(np.abs(target[:n]).max()), float(np.sqrt(np.abs(target[n:]).max())), TINY)
    return np.asarray(turned * 2.0 ** np.round(np.log2(size)))


def _action(R: NDArray[Any]) -> NDArray[Any]:
    """How m = Rm′ and Q = RQ′Rᵀ act on the entries of (m, Q)."""
    n, squares = len(R), coordinates.square_action(R)
    P = np.full((n + len(squares), n + len(squares)), R[0, 0] * 0, dtype=object)
    P[:n, :n], P[n:, n:] = R, squares
    return P


def stratum_in_frames(
    spread: Spread, rank: int, certify_points: bool, seed: int, tell: Shown
) -> tuple[Spread, Part[NeuronPoint]]:
    """All critical functions whose B has this rank, and the frame they are in: the first of FRAMES in which every path
    has a regular end. Where the first coordinates of a solution are small in a frame its unknowns are large."""
    tried: list[tuple[Spread, Part[NeuronPoint]]] = []
    for turn in range(FRAMES):
        own = spread if not turn else spread.of(spread.students, turn)
        stratum = spread_stratum(own, rank, certify_points, seed, tell)
        if stratum.completeness != "sampled":
            return own, stratum
        tried.append((own, stratum))
    return max(tried, key=lambda item: item[1].count)


def spread_system(spread: Spread, rank: int) -> NeuronSystem:
    """The critical equations of functions whose B has this rank."""
    return NeuronSystem(NeuronEquations(spread.neuron(rank), 1, outer=((1.0,),)), spread.exact)


def spread_stratum(
    spread: Spread, rank: int, certify_points: bool, seed: int, tell: Shown
) -> Part[NeuronPoint]:
    """All critical functions whose B has this rank, real ones with their entries in the frame."""
    system = spread_system(spread, rank)
    equations = system.equations
    filled = spread.filled(rank)
    if filled is not None:
        found = sort_neurons(system, filled[None].astype(np.complex128), certify_points, tell).found
        level = "proved" if found and found[0].certificate is not None else "count-matched"
        return Part(found, 1, [f"rank {rank + spread.beside}: the target itself ({level})"], level)

    start = start_for(equations, spread.special, tell)
    run = settle(Detours(equations, start, spread.member(), seed, tell, proved_regular(system)))
    points = PointSet(run.finite.points, invariants=equations.tensors).points
    result = sort_neurons(system, points, certify_points, tell)
    completeness = "sampled" if run.singular.count else run.completeness
    notes = _notes(rank + spread.beside, spread.special, run, result.undecided)
    return Part(result.found, len(points), notes, completeness)


def _notes(rank: int, special: RotationInvariantMetrics | None, run: Settled, undecided: int) -> list[str]:
    how = FROM_GENERIC if special is None else f"{FROM_GENERIC} among {special.kind} metrics"
    singular = (run.singular.count, "paths end at singular points or on families, which are not listed")
    return run.notes(f"rank {rank}", how, singular, (undecided, UNCERTIFIED))


def placed(spread: Spread, point: NeuronPoint, rank: int) -> tuple[NeuronPoint, Network] | None:
    """A point as a network of the problem; None where its squares have signs that the outer weights do not give."""
    m, B = spread.parts(point.entries)
    net = spread.network(m, B, rank)
    if net is None:
        return None
    proof = point.certificate
    if proof is not None:
        proof = Certificate(
            proof.radius * spread.stretch(), proof.signature_certified, proof.rank_certified, proof.method
        )
    own = NeuronPoint(
        np.zeros((rank + spread.beside, spread.problem.n)),
        np.zeros(rank + spread.beside),
        spread.entries(m, B),
        point.signature,
        proof,
    )
    return own, net


def kind_of(spread: Spread, net: Network, rank: int) -> str:
    """By the Hessian in all neurons, whose zeros are the rotations that change no function."""
    return hessian_kind(spread.problem.hessian(net), turns=spread.flat(rank))
