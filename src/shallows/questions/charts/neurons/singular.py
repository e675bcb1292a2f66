"""What singular ends of paths are: families of critical networks, degenerate ones, or nothing real."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from shallows.mathematics.newton import gauss_newton
from shallows.questions.charts.continuation.equations import Complex
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.real import NeuronPoint, half_hessian, seen_point, sort_neurons
from shallows.questions.charts.singular_ends import (
    CRITICAL,
    EXACTLY,
    FLAT,
    MOVE,
    MULTIPLE,
    NO_TERM,
    REAL_LOSS,
    SAME_FAMILY,
    SAMPLES,
    least_gradient,
    seen_enough,
    singular_note,
    spread,
)
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: Trials beside a point, an unknown, to see whether a set of critical points goes on.
TRIALS = 3
#: Newton's steps across a family, from a hundredth of its size away: its error is squared by each.
CORRECTIONS = 8


class Quadratic(Protocol):
    """(s − t)ᵀG(s − t), b = Gt, and its value at s = 0."""

    @property
    def gram(self) -> Array:
        """G."""
        ...

    @property
    def right(self) -> Array:
        """b."""
        ...

    @property
    def target(self) -> Array:
        """t."""
        ...

    @property
    def energy(self) -> Any:
        """The value at s = 0."""
        ...


@dataclass(frozen=True)
class NeuronFamily:
    """A positive-dimensional set of critical networks: one of its points and some of its functions."""

    point: NeuronPoint
    dimension: int
    description: str
    samples: tuple[Array, ...]


@dataclass
class ExaminedEnds:
    """Families and degenerate points, each once; `regular` of the points are regular."""

    ends: int = 0
    regular: int = 0
    families: list[NeuronFamily] = field(default_factory=list)
    points: list[NeuronPoint] = field(default_factory=list)

    def notes(self, rank: int) -> list[str]:
        """What a chart says of them."""
        return singular_note(
            rank, self.ends - self.regular, len(self.families), len(self.points) - self.regular
        )


class StratumLoss:
    """The loss of r neurons on their own stratum, with derivatives from the equations in float64."""

    def __init__(self, space: Quadratic, system: NeuronSystem) -> None:
        self.space, self.equations, self._system = space, system.equations, system

    def unit(self, x: Array) -> float:
        """The size of G t, or of G s and its changes: the gradient is their difference."""
        here = np.abs(self.space.gram) @ self._reach(x)
        return max(float(np.maximum(np.abs(self.space.right), here).max()), TINY)

    def energy(self, x: Array) -> float:
        """The size of a loss near x: that of the target, or of functions that unit steps make."""
        reach = self._reach(x)
        return max(float(self.space.energy), float(reach @ np.abs(self.space.gram) @ reach), TINY)

    def alike(self, x: Array, first: Array, second: Array) -> bool:
        """Whether the function at x is another one, as far as multiple roots tell; the zero function has no size."""
        size = max(float(np.abs(first).max()), REAL_LOSS * float(self._reach(x).max()), TINY)
        return float(np.abs(first - second).max()) <= MULTIPLE * size

    def _reach(self, x: Array) -> Array:
        """How large s is within a unit step of x where a is fixed, so that t may be small or zero; else 0: t tells."""
        equations = self.equations
        if equations.outer is None:
            return np.zeros_like(self.space.target)
        steps = np.abs(equations.tangents(x.astype(np.complex128))).sum(axis=0)
        return np.asarray(np.abs(self.entries(x)) + steps)

    def gradient(self, x: Array) -> Array:
        """Half the gradient."""
        space = self.space
        e = space.gram @ self.entries(x) - space.right
        return np.asarray((self.equations.tangents(x.astype(np.complex128)) @ e).real)

    def entries(self, x: Array) -> Array:
        """The function's coordinates."""
        return np.asarray(self.equations.tensors(x[None].astype(np.complex128))[0].real)

    def in_use(self, x: Array) -> bool:
        """Whether every neuron with a trained outer weight adds something to the function, against what is wanted.

        Ends with w = 0 and any a, where targets have no linear part for instance, are of a lower rank.
        """
        equations = self.equations
        if equations.outer is not None:
            return True
        A, W = equations.split(x[None].astype(np.complex128))
        terms = np.abs(equations.neuron.values(W)).max(axis=-1) * np.abs(A).max(axis=-1)
        return bool(terms.min() > NO_TERM * max(float(terms.max()), float(np.abs(self.space.target).max())))

    def value(self, entries: Complex) -> complex:
        """The loss of a function."""
        gap = entries - self.space.target
        return complex(gap @ self.space.gram @ gap)

    def hessian(self, x: Array) -> Array:
        """Half the Hessian."""
        return half_hessian(self._system, x)

    def seen(self, x: Array) -> NeuronPoint:
        """The point, with its signature as seen."""
        return seen_point(self._system, x, FLAT)

    def proved(self, x: Array) -> list[NeuronPoint]:
        """A regular point with what can be proved of it."""
        return sort_neurons(self._system, x[None].astype(np.complex128), True).found

    def critical(self, x: Array) -> Array:
        """A zero of the gradient near x, by least squares."""
        return least_gradient(x, self.gradient, self.hessian, self.unit(x))

    def beside(self, x: Array, across: Array) -> Array:
        """Where the gradient vanishes along the columns of `across`, in x plus their span.

        If these cross a family all of it vanishes there; beside a degenerate point a power of the distance is left.
        """

        def slice_of(z: Array) -> tuple[Array, Array]:
            y = x + across @ z
            return across.T @ self.gradient(y), across.T @ self.hessian(y) @ across

        here = np.zeros(across.shape[1])
        for place in gauss_newton(slice_of, here, CORRECTIONS):
            here = place.next
        return np.asarray(x + across @ here)

    def is_critical(self, x: Array, share: float = CRITICAL) -> bool:
        """Whether the gradient is at most this share of G t, times the size of the network."""
        size = max(float(np.abs(x).max()), TINY)
        return float(np.abs(self.gradient(x)).max()) <= share * self.unit(x) * max(size, 1.0)


def examine_ends(
    space: Quadratic,
    system: NeuronSystem,
    singular: Complex,
    known: Sequence[NeuronPoint],
    starts: Callable[[Complex], list[Array]] | None = None,
) -> ExaminedEnds:
    """The real families and degenerate points that a stratum's singular ends belong to, beside its `known` points.

    `starts` are real points near an end, from which critical ones are looked for.
    """
    return examine_with(StratumLoss(space, system), singular, known, starts)


def examine_with(
    loss: StratumLoss,
    singular: Complex,
    known: Sequence[NeuronPoint],
    starts: Callable[[Complex], list[Array]] | None = None,
) -> ExaminedEnds:
    """The same for a loss that says itself what its Hessian is, and how points are seen and proved."""
    result, equations = ExaminedEnds(ends=len(singular)), loss.equations
    for end in singular:
        level = loss.value(equations.tensors(end[None])[0])
        scale = max(loss.energy(end.real), abs(level))
        if abs(level.imag) > REAL_LOSS * scale:
            continue
        near = starts(end) if starts is not None else _real_starts(equations.split(end), equations.join)
        for start in near:
            x = loss.critical(start)
            entries = loss.entries(x)
            there = loss.value(entries.astype(np.complex128)).real
            if loss.is_critical(x) and abs(there - level.real) <= REAL_LOSS * scale:
                if loss.in_use(x):
                    _sort_in(loss, known, x, result)
                break
    return result


def _real_starts(parts: tuple[Complex, Complex], join: Any) -> list[Array]:
    """Real networks near a complex one: its real part, with the lengths that the squares wᵢ·wᵢ have."""
    A, W = parts
    squares = np.einsum("ij,ij->i", W, W).real
    lengths = np.sqrt(np.maximum(squares, 0.0))
    now = np.linalg.norm(W.real, axis=1)
    scaled = W.real * (lengths / np.where(now > 0, now, 1.0))[:, None]
    return [join(A.real, scaled).real, join(A.real, W.real).real]


def _sort_in(loss: StratumLoss, known: Sequence[NeuronPoint], x: Array, result: ExaminedEnds) -> None:
    point = loss.seen(x)
    new = not any(loss.alike(x, point.entries, other.entries) for other in [*result.points, *known])
    if not point.signature[1]:  # regular after all, as w = 0 may be
        if new:
            result.points += loss.proved(x)
            result.regular += 1
        return
    beside = _beside(loss, x, point.entries, point.signature[1])
    dimension = min(spread(point.entries, beside), point.signature[1])
    if dimension:
        family = NeuronFamily(
            point,
            dimension,
            "a set of critical points; its dimension is observed",
            (point.entries, *beside)[:SAMPLES],
        )
        if not any(_same_family(loss, family, other) for other in result.families):
            result.families.append(family)
    elif new:
        result.points.append(point)


def _beside(loss: StratumLoss, x: Array, entries: Array, zeros: int) -> list[Array]:
    """Critical functions of the same loss, reached from small moves away from x."""
    level, scale = loss.value(entries.astype(np.complex128)).real, loss.energy(x)
    rng, found = np.random.default_rng(0), list[Array]()
    values, vectors = np.linalg.eigh(loss.hessian(x))
    order = np.argsort(np.abs(values))
    flat, across = vectors[:, order[:zeros]], vectors[:, order[zeros:]]
    for _ in range(TRIALS * len(x)):
        along = rng.standard_normal(zeros)
        step = MOVE * float(np.abs(x).max()) * (flat @ along) / np.linalg.norm(along)
        other = loss.beside(x + step, across)
        there = loss.entries(other)
        if (
            loss.is_critical(other, EXACTLY)
            and abs(loss.value(there.astype(np.complex128)).real - level) <= SAME_FAMILY * scale
        ):
            found.append(there)
            if seen_enough(entries, found, zeros):
                break
    return found


def _same_family(loss: StratumLoss, family: NeuronFamily, other: NeuronFamily) -> bool:
    levels = [loss.value(f.point.entries.astype(np.complex128)).real for f in (family, other)]
    alike = abs(levels[0] - levels[1]) <= SAME_FAMILY * max(*map(abs, levels), TINY)
    return alike and family.dimension == other.dimension
