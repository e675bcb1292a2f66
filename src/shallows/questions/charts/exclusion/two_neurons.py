"""The chart of two ReLU neurons in the plane: complete, by exclusion over two angles (`pair_system`).

Functions of rank two are the zeros of the pair's equations. Those of rank one, where one neuron is zero or both are
parallel, are the critical points of one neuron, and the zero function has rank zero. From these the loss decreases to
first order as soon as what is left of the teacher correlates with a neuron that may still be added.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from flint import arb

from shallows.mathematics.balls.inertia import inertias
from shallows.mathematics.balls.rounding import above, below
from shallows.mathematics.balls.systems import precision
from shallows.mathematics.exclusion.intervals import PI, Intervals
from shallows.mathematics.exclusion.result import Exclusion
from shallows.mathematics.exclusion.search import exclude
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.exclusion.listed import Listed, chart_of_listed
from shallows.questions.charts.exclusion.pair_system import TUBE, NeuronPairs, Pull, kernel
from shallows.questions.charts.exclusion.relu_neuron import METHOD, one_neuron_points
from shallows.questions.charts.exclusion.relu_target import BITS, ReLUTarget, spread
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.result import Chart
from shallows.support.errors import InvalidProblem, NotConverged
from shallows.support.progress import Shown

#: Directions in which an added neuron is tried: one with a proved sign of the correlation is enough.
TRIED = 720
#: More than the error of a direction and an amplitude that were rounded to doubles (1e-15), times their slopes.
SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class Pair:
    """A zero: its box in (p, q, θ, δ), and the amplitudes of the two neurons."""

    box: Intervals
    domain: Intervals

    @property
    def amplitudes(self) -> tuple[Intervals, Intervals]:
        """s₁ = (p + q)/2 and s₂ = (p − q)/2."""
        p, q = self.box[0:1], self.box[1:2]
        return (p + q) * 0.5, (p - q) * 0.5

    @property
    def signs(self) -> tuple[int, int]:
        """Of the amplitudes; 0 where one is not proved."""
        first, second = (int(s.lo[0] > 0) - int(s.hi[0] < 0) for s in self.amplitudes)
        return first, second


def two_neurons_chart(problem: Problem, certify: bool, progress: Shown = False) -> Chart:
    """Every critical point of two ReLU neurons in the plane."""
    target, data = problem.target, problem.data.as_gaussian()
    assert isinstance(target, Network) and data is not None
    form = ReLUTarget.of(target.W, np.atleast_2d(target.a)[0], data.covariance)
    if form.rank != 2 or form.dimension != 2:
        raise InvalidProblem(
            f"The teacher's neurons span {form.rank} of {form.dimension} dimensions; two students are charted where "
            'they span a plane. Fix: one student (width=1), or method="descent".'
        )
    system = NeuronPairs(form)
    search = exclude(system, system.region(), progress=progress)
    pairs = _distinct(search)
    near = system.nearly_parallel()
    doubtful = [pair for pair in pairs if 0 in pair.signs]
    kept = [pair for pair in pairs if _order(problem, pair) is not None]
    singles = [_wider(problem, form, system, item) for item in one_neuron_points(problem, form, progress)]
    listed = [*singles, *(_listed(problem, form, system, pair) for pair in kept)]
    compact = problem.outer is not None and bool(np.all(problem.outer > 0) or np.all(problem.outer < 0))
    lowest = min(item.loss[0] for item in listed)
    return chart_of_listed(
        problem,
        listed,
        scope=_scope(search, near, doubtful),
        notes=_notes(problem, search, near),
        attained=lowest <= 0 or (compact and near == 0 and search.complete and not doubtful),
        searched=search.complete,
        certify=certify,
    )


def _distinct(search: Exclusion) -> list[Pair]:
    """Each pair once: θ is an angle, and beyond δ = π the neurons change places."""
    kept: list[Pair] = []
    for i in range(len(search.box)):
        pair = Pair(search.box[i], search.domain[i])
        if not any(_same(image, other) for other in kept for image in _images(pair.box)):
            kept.append(pair)
    return kept


def _images(box: Intervals) -> Iterator[Intervals]:
    """The box a turn on and back, and with its neurons exchanged."""
    p, q, theta, delta = (box[i : i + 1] for i in range(4))
    full = Intervals(PI.lo[None], PI.hi[None]) * 2.0
    for turns in (-1.0, 0.0, 1.0):
        around = full * turns
        yield _box(p, q, theta + around, delta)
        yield _box(p, -q, theta + delta + around, full - delta)


def _box(*parts: Intervals) -> Intervals:
    return Intervals(np.concatenate([x.lo for x in parts]), np.concatenate([x.hi for x in parts]))


def _same(image: Intervals, other: Pair) -> bool:
    if np.any((image.lo > other.box.hi) | (image.hi < other.box.lo)):
        return False
    if np.all(image.within(other.domain)):
        return True
    raise NotConverged(f"Two pairs of neurons may be the same: {image!r} and {other.box!r}.")


def _order(problem: Problem, pair: Pair) -> tuple[int, int] | None:
    """Which student each neuron is; None where the amplitudes have other signs than fixed outer weights."""
    if 0 in pair.signs:
        return None
    if problem.outer is None:
        return (0, 1)
    a = np.sign(problem.outer[0])
    for order in ((0, 1), (1, 0)):
        if pair.signs[0] == a[order[0]] and pair.signs[1] == a[order[1]]:
            return order
    return None


def _listed(problem: Problem, target: ReLUTarget, system: NeuronPairs, pair: Pair) -> Listed:
    """Loss, signature and network at a zero."""
    theta, delta = pair.box[2:3], pair.box[3:4]
    one, two = system.pull(theta), system.pull(theta + delta)
    first, second = pair.amplitudes
    signs = inertias(_hessian(first, second, one, two, delta).ball())[0]
    with precision(BITS):
        unit = arb(2) ** target.exponent
        energy = target.energy * unit * unit
        gain = (first * one.value + second * two.value) / (PI * 2.0)
        loss = energy - arb(float(gain.lo[0])).union(arb(float(gain.hi[0]))) * unit * unit
    network, radius = _network(problem, target, pair)
    proof = Certificate(radius, signs.certified, True, METHOD)
    signature = (signs.positive, signs.undecided, signs.negative)
    return Listed(network, (max(below(loss), 0.0), max(above(loss), 0.0)), 2, signature, proof)


def _hessian(s1: Intervals, s2: Intervals, one: Pull, two: Pull, delta: Intervals) -> Intervals:
    """Of πL in (s₁, s₂, θ₁, θ₂)."""
    k = kernel(delta)
    none, both = s1 * 0.0, s1 * s2 * k.bend
    rows = [
        [none + PI, k.value, none, s2 * k.slope],
        [k.value, none + PI, -(s1 * k.slope), none],
        [none, -(s1 * k.slope), both - s1 * one.bend, -both],
        [s2 * k.slope, none, -both, both - s2 * two.bend],
    ]
    return Intervals.stack([Intervals.stack(row) for row in rows], axis=1)


def _network(problem: Problem, target: ReLUTarget, pair: Pair) -> tuple[Network, float]:
    """Weights in doubles, and how far the true ones can be."""
    order = _order(problem, pair)
    assert order is not None
    W, a, radius = np.zeros((2, 2)), np.zeros(2), 0.0
    with precision(BITS):
        unit = arb(2) ** target.exponent
        theta, delta = (arb(float(x.lo)).union(arb(float(x.hi))) for x in (pair.box[2], pair.box[3]))
        for place, (size, angle) in zip(
            order, zip(pair.amplitudes, (theta, theta + delta), strict=True), strict=True
        ):
            amplitude = arb(float(size.lo[0])).union(arb(float(size.hi[0]))) * unit
            root = np.sign(float(amplitude.mid())) * np.sqrt(abs(float(amplitude.mid())))
            a[place] = root if problem.outer is None else problem.outer[0, place]
            length = amplitude / arb(a[place])
            balls = target.weight_vector([length * angle.cos(), length * angle.sin()])
            W[place] = [float(x.mid()) for x in balls]
            radius = float(np.hypot(radius, spread(balls, W[place])))
    return Network(W, a, problem.activation), radius


def _wider(problem: Problem, target: ReLUTarget, system: NeuronPairs, item: Listed) -> Listed:
    """A function of one neuron, or none, among those of two: the other neuron is zero."""
    W, a = np.zeros((2, 2)), np.zeros(2) if problem.outer is None else problem.outer[0].copy()
    if item.rank:
        weight = np.atleast_2d(item.made.a)[0, 0]
        same = np.flatnonzero(np.sign(a) == np.sign(weight))
        place = 0 if problem.outer is None else int(same[0])
        a[place] = weight if problem.outer is None else a[place]
        W[place] = item.made.W[0] * (weight / a[place])
    escapes = _escapes(problem, target, system, item)
    positive, zero, negative = item.signature
    if not escapes and item.rank:  # nothing is proved of the neuron that may be added
        zero += 2
    return replace(
        item,
        network=Network(W, a, problem.activation),
        signature=(positive, zero, negative),
        escapes=escapes,
    )


def _escapes(problem: Problem, target: ReLUTarget, system: NeuronPairs, item: Listed) -> bool:
    """Whether a direction is proved to correlate with what is left, with a sign that an outer weight can have."""
    theta = Intervals.exact(np.linspace(0.0, 2 * np.pi, TRIED, endpoint=False))
    left = system.pull(theta).value
    if item.rank:
        angle, size = _seen(target, item)
        apart = np.abs(np.mod(theta.lo - angle + np.pi, 2 * np.pi) - np.pi)
        left = left - kernel(Intervals(apart - SLACK, apart + SLACK)).value * size
    rising, falling = bool(np.any(left.lo > SLACK)), bool(np.any(left.hi < -SLACK))
    if problem.outer is None:
        return rising or falling
    free = np.sign(problem.outer[0])
    return bool((rising and np.any(free > 0)) or (falling and np.any(free < 0)))


def _seen(target: ReLUTarget, item: Listed) -> tuple[float, float]:
    """The angle of a neuron in the target's frame, and its amplitude in the target's units."""
    frame = np.array([[float(x.mid()) for x in row] for row in target.frame])
    weight = float(np.atleast_2d(item.made.a)[0, 0])
    u = np.linalg.solve(frame.T, item.made.W[0])
    return float(np.arctan2(u[1], u[0])), float(np.linalg.norm(u) * weight) * 2.0**-target.exponent


def _scope(search: Exclusion, near: float, doubtful: list[Pair]) -> str:
    parts: list[str] = []
    if near:
        parts.append(f"two neurons within {TUBE} rad of each other (in {near:.2g} of all directions)")
    left = len(search.undecided) + len(search.pending)
    if left:
        share = search.share(search.undecided) + search.share(search.pending)
        parts.append(f"{left} boxes of directions ({share:.2g} of all)")
    if doubtful:
        parts.append(f"{len(doubtful)} pairs of which one neuron may be zero")
    return "all networks but for " + " and ".join(parts) if parts else ""


def _notes(problem: Problem, search: Exclusion, near: float) -> list[str]:
    notes = [f"pairs of directions: {search.boxes:,} boxes excluded, contracted or proved"]
    if not near:
        notes.append(
            f"neurons within {TUBE} rad of each other: none is critical, but for parallel ones (rank one)"
        )
    notes.append(
        "functions of rank one are listed once: a zero neuron, or the neuron's length shared by parallel ones"
    )
    if problem.outer is None or len(set(np.sign(problem.outer[0]).tolist())) > 1:
        notes.append(
            "neurons of opposite signs can merge as their norms grow: the infimum may be such a limit"
        )
    return notes
