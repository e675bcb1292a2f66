"""All critical networks of r neurons with several outputs: solved, sorted, proved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.balls.inertia import inertia
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.balls.systems import BITS, ball_evaluator
from shallows.mathematics.same_points import most_real
from shallows.mathematics.signature import signature
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.balanced_coordinates import balanced_frame, power_action
from shallows.questions.charts.continuation.detours import Detours, Regular
from shallows.questions.charts.continuation.equations import CriticalEquations, Member
from shallows.questions.charts.continuation.generic_members import starting_member
from shallows.questions.charts.continuation.lost_paths import FROM_GENERIC, Settled, settle
from shallows.questions.charts.continuation.special_data import moved_gaussian
from shallows.questions.charts.exact.matrices import integer_frame
from shallows.questions.charts.outputs.counts import SOURCE
from shallows.questions.charts.outputs.equations import OutputEquations, generic_frame
from shallows.questions.charts.outputs.exact_loss import OutputsLoss
from shallows.questions.charts.outputs.metrics import (
    InvariantMetrics,
    MovedMetrics,
    OutputMetrics,
    moved_frame,
)
from shallows.questions.charts.outputs.neurons import NO_NEURON
from shallows.questions.charts.outputs.point import OutputPoint, OutputStratum
from shallows.questions.charts.outputs.singular import examine_output_ends
from shallows.questions.charts.outputs.system import OutputSystem
from shallows.questions.charts.points.proved_signature import (
    APART,
    distances,
    real_balls,
    shown,
    signs_at_once,
    with_proofs,
)
from shallows.questions.charts.points.stratum import POINT_ERROR, REAL, Counts
from shallows.support.checks import Array
from shallows.support.progress import Shown
from shallows.support.tolerances import TINY

Complex = NDArray[np.complex128]
To = TypeVar("To")
#: Coordinates in which paths are followed, the next where some are lost.
TURNS = 3
#: Unknowns of two squares and more up to which networks start among metrics of moved Gaussians: 8 are two outputs of
#: (1, x) in two inputs, 45 networks. Of 262 with three outputs some are 10⁴ and more times as far out as others: of 588
#: samples of the trace test 42 arrived, in 14 minutes.
MOST_MOVED = 8
#: Frames of integers that are looked at: of sixteen with entries up to 2 some have walls away from axes and diagonals.
FRAMES = 16


@dataclass(frozen=True, eq=False)
class Wanted:
    """The member to be solved: outputs turned so that those without a target are left out, w = frame (1, z)."""

    member: Member
    special: OutputMetrics | None
    turn: Array
    frame: Array
    unit: float

    @classmethod
    def of(
        cls,
        problem: Problem,
        loss: OutputsLoss,
        turn: int = 0,
        mixed: bool = False,
        dual: bool = False,
        moved: bool = False,
    ) -> Wanted:
        """In the coordinates of special metrics, where the data have some (those of `moved` Gaussians on request), or
        in balanced ones. Another `turn` is another rotation of them; outputs are those with singular values of their
        own, or `mixed` ones. In a `dual` problem, of slopes, frames are dual too."""
        independent, d = loss.rank, problem.degree
        gram, right = loss.gram.astype(float), loss.right.astype(float)
        special, frame = _frame(problem, gram, turn, dual, moved)
        P = power_action(frame, d)
        U = np.linalg.svd(right @ P)[0][:, :independent]
        if mixed:
            U = U @ generic_frame(independent)
        metric, g = P.T @ gram @ P, U.T @ right @ P
        metric = (metric + metric.T) / 2
        scale, size = float(np.abs(metric).max()), float(np.abs(g).max())
        member = Member.of(metric / scale, (g / size).ravel())
        if special is not None:
            member = Member(special, special.weights_of(metric / scale), (g / size).ravel())
        return cls(member, special, U, frame, size / scale)

    def restored(self, equations: OutputEquations, points: Complex) -> tuple[Complex, Complex]:
        """Outer weights (count, r, M) of all outputs and neurons (count, r, n)."""
        A, Z = equations.split(points)
        V = np.concatenate([np.ones((*Z.shape[:-1], 1)), Z], axis=-1)
        return A @ self.turn.T * self.unit, np.asarray(V @ self.frame.T, np.complex128)


def _frame(
    problem: Problem, gram: Array, turn: int, dual: bool, moved: bool
) -> tuple[OutputMetrics | None, Array]:
    """A kind of special metrics, if there is one, and coordinates in which they are metrics of it."""
    n, d = problem.n, problem.degree
    white = _white_frame(problem)
    if white is not None:
        white = np.asarray(np.linalg.inv(white).T, np.float64) if dual else white
        return InvariantMetrics(d, n), white @ _rotation(turn, n) @ generic_frame(n)
    line = moved_gaussian(problem.data, d) if moved and not problem.norm_neuron else None
    if line is None:
        return None, balanced_frame(gram, n, d) @ _rotation(turn, n) @ generic_frame(n)
    across = np.eye(n)
    across[1:, 1:] = _rotation(turn, n - 1)
    return MovedMetrics(line.metrics.kind, d, n), line.frame @ across @ moved_frame(n)


def _rotation(turn: int, n: int) -> Array:
    """A random rotation of this number; the first is none."""
    if not turn:
        return np.eye(n)
    return np.asarray(np.linalg.qr(np.random.default_rng(turn).standard_normal((n, n)))[0], np.float64)


def _white_frame(problem: Problem) -> Array | None:
    """L⁻ᵀ where the metric is rotation-invariant in Lᵀw; None where it is not known to be."""
    metric = problem.data.rotation_invariance(problem.degree)
    if metric is None:
        return None
    if metric.covariance is None:
        return np.eye(problem.n)
    if problem.norm_neuron or np.linalg.eigvalsh(metric.covariance)[0] <= 0:
        return None
    return np.asarray(np.linalg.inv(np.linalg.cholesky(metric.covariance).T), np.float64)


def output_stratum(
    problem: Problem, loss: OutputsLoss, rank: int, certify_points: bool, seed: int, tell: Shown = False
) -> OutputStratum:
    """All critical networks of `rank` neurons."""
    equations = OutputEquations.of_powers(problem.degree, problem.n, rank, loss.rank)
    wanted, run = followed(
        problem,
        loss,
        equations,
        seed,
        tell,
        lambda to: proved_regular(problem, loss, equations, to, seed),
        moved=rank == 1 or (problem.degree == 2 and equations.unknowns <= MOST_MOVED),
    )
    A, W = wanted.restored(equations, np.concatenate([run.finite.points, run.singular.points]))
    regular = np.arange(len(A)) < run.finite.count
    whole = _whole(A, W, problem.degree)
    system, points = _in_clear_frame(problem, loss, A[whole], W[whole], seed)
    points, singular = _told_apart(system, points, regular[whole], certify_points)
    found, proved, notes = sorted_points(system, points, certify_points, tell)
    ends, examined = examine_output_ends(system, singular, found)
    counts = _counts(equations, len(points) + examined.regular, wanted.special)
    complete = counts.bound is not None and proved == counts.bound
    return OutputStratum(
        found + ends,
        counts,
        [*_notes(rank, wanted, run), *examined.notes(rank), *(f"rank {rank}: {note}" for note in notes)],
        "proved" if complete else run.completeness,
    )


def _in_clear_frame(
    problem: Problem, loss: OutputsLoss, A: Complex, W: Complex, seed: int
) -> tuple[OutputSystem, Complex]:
    """The problem's own equations in a frame that suits these networks, and their unknowns in it."""
    equations = OutputEquations.of_powers(problem.degree, problem.n, W.shape[1], problem.outputs)
    system = OutputSystem(equations, loss, clear_frame(W, seed))
    return system, system.unknowns(A, W).reshape(-1, equations.unknowns)


def proved_regular(
    problem: Problem, loss: OutputsLoss, equations: OutputEquations, wanted: Wanted, seed: int
) -> Regular:
    """Whether an end that looks singular is regular: Krawczyk decides."""

    def regular(ends: Complex) -> tuple[Complex, NDArray[np.bool_]]:
        A, W = wanted.restored(equations, ends)
        proved = _whole(A, W, problem.degree)
        if proved.any():
            system, points = _in_clear_frame(problem, loss, A[proved], W[proved], seed)
            proved[proved] = [root is not None for root in certify(system.system, points).roots]
        return ends, proved

    return regular


def followed(
    problem: Problem,
    loss: OutputsLoss,
    equations: CriticalEquations,
    seed: int,
    tell: Shown,
    regular: Callable[[Wanted], Regular] | None = None,
    mixed: bool = False,
    dual: bool = False,
    moved: bool = False,
) -> tuple[Wanted, Settled]:
    """The ends of all paths, in the first coordinates in which none is lost: where w₁ = 1 is a bad scale for a neuron,
    it is not in others. `regular` gives ends that look singular a second chance.

    Networks start among `moved` Gaussians, limits among all metrics: of the 134 of two squares in three inputs under
    generic moved ones twelve are 10⁴ to 10⁸ out, and are lost on ways by random members.
    """

    def run(turn: int) -> tuple[Wanted, Settled]:
        wanted = Wanted.of(problem, loss, turn, mixed, dual, moved)
        start = starting_member(equations, wanted.special, Detours, tell)
        chance = None if regular is None else regular(wanted)
        return wanted, settle(Detours(equations, start, wanted.member, seed, tell, chance))

    return fewest_lost(run)


def fewest_lost(run: Callable[[int], tuple[To, Settled]]) -> tuple[To, Settled]:
    """The first of TURNS runs that loses no path, or the one that loses fewest."""
    runs = list[tuple[To, Settled]]()
    for turn in range(TURNS):
        runs.append(run(turn))
        if not runs[-1][1].lost:
            return runs[-1]
    return min(runs, key=lambda each: each[1].lost)


def clear_frame(W: Complex, seed: int) -> Array:
    """Of a few frames of integers the one in which no neuron is nearly at infinity, where there is no w = R(1, z).

    Neurons of special teachers lie on axes, and so do the walls at infinity of frames with zeros.
    """
    frames = [integer_frame(W.shape[-1], seed + k) for k in range(FRAMES)]
    shares = []
    for frame in frames:
        V = np.linalg.solve(frame, np.swapaxes(W, -1, -2))
        shares.append(
            float((np.abs(V[..., 0, :]) / np.linalg.norm(V, axis=-2).clip(min=TINY)).min(initial=1.0))
        )
    return frames[int(np.argmax(shares))]


def _told_apart(
    system: OutputSystem, points: Complex, regular: NDArray[np.bool_], certify_points: bool
) -> tuple[Complex, Complex]:
    """Points with different functions, with ends that looked singular, but are proved to be regular; other ends."""
    singular = points[~regular]
    joined = np.zeros(len(singular), bool)
    if certify_points and len(singular):
        joined[list(certify(system.system, singular, digits=APART).distinct)] = True
    return different(system, np.concatenate([points[regular], singular[joined]])), singular[~joined]


def different(system: OutputSystem, points: Complex) -> Complex:
    """One point of each function, a real one where there is one."""
    unit = float(np.abs(system.equations.tensors(points)).max(initial=0.0)) or 1.0
    return most_real(points, lambda x: system.equations.tensors(x) / unit)


def _whole(A: Complex, W: Complex, degree: int) -> NDArray[np.bool_]:
    """Those whose neurons all add something to the function."""
    terms = np.abs(A).max(axis=-1) * np.linalg.norm(W, axis=-1) ** degree
    return np.asarray(terms.min(axis=1, initial=np.inf) > NO_NEURON * terms.max(axis=1, initial=0.0))


def _counts(equations: OutputEquations, count: int, special: OutputMetrics | None) -> Counts:
    if equations.r > 1:
        return Counts(count, None, "not known beforehand for several outputs")
    bound = equations.count if special is None else equations.special_count(special)
    return Counts(count, bound, SOURCE, bound=bound)


def _notes(rank: int, wanted: Wanted, run: Settled) -> list[str]:
    kind = "" if wanted.special is None else f" among {wanted.special.kind} metrics"
    return run.notes(f"rank {rank}", FROM_GENERIC + kind)


def sorted_points(
    system: OutputSystem, points: Complex, certify_points: bool, tell: Shown = False
) -> tuple[list[OutputPoint], int, list[str]]:
    """The real networks, how many functions are proved to be there, and what is to be said of the others."""
    proof = certify(system.system, points, digits=APART, progress=tell) if certify_points else None
    size = np.abs(points).max(axis=1, initial=0.0)
    nearly = np.abs(points.imag).max(axis=1, initial=0.0) <= REAL * size
    found, roots, kept = [], [], []
    for k, point in enumerate(points):
        root = None if proof is None else proof.roots[k]
        if (root is not None and root.real is not True) or (root is None and not nearly[k]):
            continue
        root = None if root is None else shown(root)
        x = (root.point if root is not None else point).real
        seen = signature(system.curvatures(x), POINT_ERROR)
        found.append(_point(system, x, seen))
        roots.append(root)
        kept.append(k)
    tensors = system.equations.tensors(points)
    apart = np.setdiff1d(np.arange(len(points)), kept)
    real = np.abs(tensors[apart].imag).max(axis=1, initial=0.0) <= REAL * np.abs(tensors[apart]).max(
        axis=1, initial=0.0
    )
    notes = (
        [f"{int(real.sum())} real functions whose neurons are in conjugate pairs: no real networks"]
        if real.any()
        else []
    )
    open_ones = sum(root is None for root in roots) if proof is not None else 0
    notes += [f"{open_ones} points without a certificate"] if open_ones else []
    return _certified(system, found, roots), 0 if proof is None else proof.count, notes


def _point(system: OutputSystem, x: Array, seen: tuple[int, int, int]) -> OutputPoint:
    A, W = system.network(x)
    return OutputPoint(A, W, system.entries(x), seen)


def _certified(
    system: OutputSystem, found: list[OutputPoint], roots: list[CertifiedRoot | None]
) -> list[OutputPoint]:
    """The points with what the boxes of their roots prove."""
    proved = [root for root in roots if root is not None]
    if not proved:
        return found
    places = [k for k, root in enumerate(roots) if root is not None]
    box = real_balls(proved)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not proved
        hessians = signs_at_once(
            system.system.ball_batch()(box)[1],
            proved,
            lambda entries: inertia(ball_evaluator(system.system, BITS)(entries)[1]),
        )
        radii = distances(np.array([found[k].entries for k in places]), system.entry_balls(box))
    points = list(found)
    for k, point in zip(places, with_proofs([found[k] for k in places], hessians, radii), strict=True):
        points[k] = point
    return points
