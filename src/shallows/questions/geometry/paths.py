"""Paths of networks: segments laid end to end, t ∈ [0, 1] running along them in proportion to their chords.

A segment moves the parameters (a, W) of one-output networks. `Straight` moves them along a line; the curved ones
(`fibers.motions`, `escape.eigenpaths`) have closed formulas. A `Path` is continuous: every
segment starts where the one before it ends.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np

from shallows.model.activations import Activation
from shallows.model.network import Network
from shallows.support.arguments import typed
from shallows.support.checks import Array, counted, describe, finite_number, positive_integer
from shallows.support.errors import InvalidProblem

State = tuple[Array, Array]
Loss = Callable[[Network], float]

#: Segments join when the gap is below this share of 1 + ‖(a, W)‖: what curved motions leave of their ends is 1e-13.
JOIN_TOLERANCE = 1e-9
#: A curved segment's length is that of so many chords: to 3e-5 for a quarter turn.
CHORDS_PER_SEGMENT = 64
ROUNDING_GAP = "close the rounding gap"


def distance(first: State, second: State) -> float:
    """The Euclidean distance of two points (a, W) of parameter space."""
    da, dW = first[0] - second[0], first[1] - second[1]
    return sqrt(np.vdot(da, da) + np.vdot(dW, dW))


def quadratic_energy(state: State) -> float:
    """Σᵢ |aᵢ|‖wᵢ‖²: `energy` of a quadratic network."""
    a, W = state
    return float(np.abs(a) @ (W * W).sum(axis=1))


class Segment(ABC):
    """A curve of parameters: `at(t)` for t in [0, 1], from `start` to `end`."""

    label: str
    start: State
    end: State

    @abstractmethod
    def at(self, t: float) -> State:
        """The parameters (a, W) at t."""

    def __repr__(self) -> str:
        k, n = self.start[1].shape
        return f"{type(self).__name__}({self.label!r}, width={k}, n={n})"

    def reversed(self) -> Segment:
        """The same curve run backwards."""
        return Backwards(self)

    @cached_property
    def chord(self) -> float:
        """The distance between the two ends."""
        return distance(self.start, self.end)


@dataclass(frozen=True, eq=False, repr=False)
class Straight(Segment):
    """(1−t)·start + t·end."""

    label: str
    start: State
    end: State

    def at(self, t: float) -> State:
        """The point at t; the ends are met exactly."""
        (a0, W0), (a1, W1) = self.start, self.end
        return (1 - t) * a0 + t * a1, (1 - t) * W0 + t * W1

    def reversed(self) -> Segment:
        """The line from `end` to `start`."""
        return Straight(self.label, self.end, self.start)


@dataclass(frozen=True, eq=False, repr=False)
class Backwards(Segment):
    """Another segment, run from its end to its start."""

    forward: Segment

    @property
    def label(self) -> str:  # type: ignore[override]
        """The forward segment's label."""
        return self.forward.label

    @property
    def start(self) -> State:  # type: ignore[override]
        """Where the forward segment ends."""
        return self.forward.end

    @property
    def end(self) -> State:  # type: ignore[override]
        """Where the forward segment starts."""
        return self.forward.start

    def at(self, t: float) -> State:
        """The forward segment at 1−t."""
        return self.forward.at(1 - t)

    def reversed(self) -> Segment:
        """The forward segment itself."""
        return self.forward


class Path:
    """A continuous path of networks: `path(t)` for t in [0, 1].

    `breakpoints` are the t at which one segment ends and the next begins, `labels` say what each segment does.
    `loss` is what `losses` evaluates (an escape path brings its own).

    >>> from shallows import Power
    >>> line = Straight("scale", (np.ones(1), np.eye(1, 2)), (np.ones(1), 3 * np.eye(1, 2)))
    >>> path = Path([line], Power(2))
    >>> path(0.5).W.tolist(), path.length
    ([[2.0, 0.0]], 2.0)
    """

    @typed
    def __init__(
        self,
        segments: Sequence[Segment],
        activation: Activation,
        norm: float = 0.0,
        loss: Loss | None = None,
    ) -> None:
        if not segments:
            raise InvalidProblem("A path needs at least one segment; none was given.")
        _require_joined(segments)
        moving = [segment for segment in segments if segment.chord > 0.0]
        self.segments: tuple[Segment, ...] = tuple(moving or segments[:1])
        self.activation = activation
        self.norm = norm
        self.loss = loss
        chords = np.array([segment.chord for segment in self.segments])
        total = float(chords.sum())
        self._knots = np.concatenate([[0.0], np.cumsum(chords / total if total else np.ones(1))])
        self._knots[-1] = 1.0

    @property
    def breakpoints(self) -> Array:
        """0 = t₀ < t₁ < … < 1, the ends of the segments."""
        return self._knots.copy()

    @property
    def labels(self) -> tuple[str, ...]:
        """What each segment does."""
        return tuple(segment.label for segment in self.segments)

    @property
    def start(self) -> Network:
        """path(0)."""
        return self(0.0)

    @property
    def end(self) -> Network:
        """path(1)."""
        return self(1.0)

    def __call__(self, t: float) -> Network:
        """The network at t ∈ [0, 1]."""
        position = finite_number("t", t)
        if not 0.0 <= position <= 1.0:
            raise InvalidProblem(f"t is {position}; a path is defined for t in [0, 1].")
        return self._network(self._state(position))

    def _state(self, t: float) -> State:
        if t == 0.0:
            return self.segments[0].start
        if t == 1.0:
            return self.segments[-1].end
        index = min(int(np.searchsorted(self._knots, t, side="right")) - 1, len(self.segments) - 1)
        left, right = self._knots[index], self._knots[index + 1]
        return self.segments[index].at(float(min(1.0, (t - left) / (right - left))))

    def _network(self, state: State) -> Network:
        return Network(state[1], state[0], self.activation, self.norm)

    def networks(self, count: int) -> list[Network]:
        """The networks at `count` equally spaced t, ends included."""
        count = positive_integer("count", count, minimum=2)
        return [self(t) for t in np.linspace(0.0, 1.0, count)]

    def losses(self, count: int, loss: Any = None) -> Array:
        """The loss at `count` equally spaced t, ends included.

        `loss` is a Problem, or any object with value(tensor), or a function of a network; an escape path has its
        own and needs none.
        """
        evaluate = self.loss if loss is None else as_network_loss(loss)
        if evaluate is None:
            raise InvalidProblem("This path comes with no loss. Fix: path.losses(count, problem).")
        return np.array([evaluate(net) for net in self.networks(count)])

    def drift(self, count: int = 1000) -> float:
        """max over `count` points of ‖τ(t) − τ(0)‖_max / Σᵢ |aᵢ|‖wᵢ‖^d, the larger sum of the two ends.

        Zero, to rounding, for a path inside a fiber.
        """
        first = self.start.tensor().entries
        scale = max(energy(self.start), energy(self.end))
        worst = max(float(np.max(np.abs(net.tensor().entries - first))) for net in self.networks(count))
        return worst / scale if scale else worst

    @cached_property
    def length(self) -> float:
        """The Euclidean length in parameter space, by chords (exact for straight segments)."""
        return float(sum(_length(segment) for segment in self.segments))

    def reversed(self) -> Path:
        """The same path from its end to its start."""
        backwards = [segment.reversed() for segment in reversed(self.segments)]
        return Path(backwards, self.activation, self.norm, self.loss)

    def __add__(self, other: Path) -> Path:
        """This path followed by another one that starts where this one ends."""
        if self.activation != other.activation or self.norm != other.norm:
            raise InvalidProblem(
                "The two paths are of different networks: activations or norm neurons differ."
            )
        return Path([*self.segments, *other.segments], self.activation, self.norm, self.loss or other.loss)

    def __repr__(self) -> str:
        a, W = self.segments[0].start
        names = ", ".join(name for name in dict.fromkeys(self.labels) if name != ROUNDING_GAP)
        parts = counted(len(self.segments), "segment")
        return f"Path(width={len(a)}, n={W.shape[1]}, {parts}, length={self.length:.4g}: {names})"


@typed
def energy(net: Network) -> float:
    """Σᵢ |aᵢ|‖wᵢ‖^d, the size of the terms whose sum is τ: the yardstick for rounding errors in τ.

    >>> energy(sh.Network([[1.0, 0.0], [0.0, 2.0]], a=[1.0, -1.0]))   # 1 + 4
    5.0
    """
    degree = getattr(net.activation, "degree", 1)
    return float(np.sum(np.abs(net.a) * np.linalg.norm(net.W, axis=1) ** degree))


def as_network_loss(loss: Any) -> Loss:
    """A function of a network, from a Problem (`loss`), a convex loss (`value` of a tensor) or a function."""
    if hasattr(loss, "loss"):
        return lambda net: float(loss.loss(net))
    if hasattr(loss, "value"):
        return lambda net: float(loss.value(net.tensor()))
    if callable(loss):
        return lambda net: float(loss(net))
    raise InvalidProblem(
        f"loss is {describe(loss)}; expected a Problem, an object with value(tensor), or a function of a network."
    )


def _require_joined(segments: Sequence[Segment]) -> None:
    for before, after in pairwise(segments):
        if before.end is after.start:
            continue
        if before.end[1].shape != after.start[1].shape:
            raise InvalidProblem("The segments of a path must move networks of one shape.")
        gap = distance(before.end, after.start)
        scale = 1.0 + float(np.linalg.norm(before.end[0]) + np.linalg.norm(before.end[1]))
        if gap > JOIN_TOLERANCE * scale:
            raise InvalidProblem(
                f"Segment {before.label!r} ends at a distance of {gap:.3g} from where {after.label!r} starts; a path "
                "must be continuous."
            )


def _length(segment: Segment) -> float:
    if isinstance(segment, Straight):
        return segment.chord
    states = [segment.at(t) for t in np.linspace(0.0, 1.0, CHORDS_PER_SEGMENT + 1)]
    return sum(distance(p, q) for p, q in pairwise(states))


class Trail:
    """Segments being laid: the current state, and what has been laid so far."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.segments: list[Segment] = []

    def add(self, segment: Segment) -> None:
        """Lay a segment that starts at the current state."""
        self.segments.append(segment)
        self.state = segment.end

    def go(self, label: str, a: Array | None = None, W: Array | None = None) -> None:
        """Lay a straight segment to new values of a, of W, or of both."""
        end = (self.state[0] if a is None else a, self.state[1] if W is None else W)
        if not (np.array_equal(end[0], self.state[0]) and np.array_equal(end[1], self.state[1])):
            self.add(Straight(label, self.state, end))
