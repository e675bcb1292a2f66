"""Lines of steepest descent over directions: from every saddle down to minima and up to the tops, and the basins.

The steepest descent is that of the best neuron's loss on the sphere of directions. From a saddle of index one two lines
lead down, to the minima whose valleys meet there, and two lead up: these are where basins end (Morse and Smale).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shallows.support.checks import Array
from shallows.support.tolerances import TINY
from shallows.uses.landscape.direction_loss import DirectionLoss
from shallows.uses.landscape.disc import from_disc

#: Radians of a step of a line, and steps after which a line that arrives nowhere is given up: three times round.
STEP, STEPS = 0.04, 480
#: A line has arrived when it is this near to a point (radians): a pixel or two.
NEAR = 0.012
#: A step takes at most this share of the way to the nearest point, so that lines end in points and not beyond.
CAUTION = 0.4
#: A step that would lead the wrong way (across a ridge or a valley narrower than itself) is halved; one that did not is
#: followed by one this much longer.
LONGER = 1.5
#: Where a line starts: this share of the way from its saddle to the nearest other point, and at most so far.
AWAY, FARTHEST = 0.1, 0.02
#: A finite difference of gradients on the unit sphere (radians): its error, DIFFERENCE², is below what a line shows.
DIFFERENCE = 1e-5
#: Places a side of the coarse map of basins; each refinement doubles them, and asks only where neighbours differ.
COARSE, REFINEMENTS = 17, 2
#: Radians of a step of the basins' descent, and how many: two directions, up to sign, are at most π/2 apart.
STRIDE, STRIDES = 0.14, 36
#: Each stride is shorter than the one before: all together reach 2 radians, and the last is 0.016.
SHORTER = 0.94
#: A line up ends within this share of the loss of the zero network, than which no best neuron is worse.
TOP = 1e-4
#: A slope below this share of the range of losses is flat: the gradient's direction there is rounding.
FLAT = 1e-9


@dataclass(frozen=True, eq=False)
class Line:
    """A line of steepest descent (or ascent) from point `start` to point `end`; None where it ends at no listed one."""

    start: int
    end: int | None
    places: Array


def apart(u: Array, v: Array) -> Array:
    """Radians between directions (m, n) and (k, n), where u and −u are one; accurate for near ones."""
    near = np.minimum(
        np.linalg.norm(u[:, None] - v[None], axis=-1), np.linalg.norm(u[:, None] + v[None], axis=-1)
    )
    return np.asarray(2 * np.arcsin(np.minimum(near / 2, 1.0)))


def saddle_lines(
    loss: DirectionLoss, points: Array, saddles: list[int], targets: list[int], up: bool
) -> list[Line]:
    """Two lines from each saddle (a row of `points`) down to minima, or up to tops (`targets`)."""
    if not saddles:
        return []
    others = apart(points, points) + np.pi * np.eye(len(points))
    starts, origins = [], []
    for saddle in saddles:
        step = min(AWAY * float(others[saddle].min()), FARTHEST)
        across = _direction(loss, points[saddle], up)
        for side in (step, -step):
            starts.append(_unit(points[saddle] + side * across))
            origins.append(saddle)
    path, ends = _followed(loss, np.array(starts), points, targets, 1.0 if up else -1.0)
    lines = []
    for i, origin in enumerate(origins):
        end, count = ends[i]
        places = [points[origin], *path[:count, i]]
        if end is not None:
            places.append(points[end] * np.where(points[end] @ places[-1] < 0, -1.0, 1.0))
        lines.append(Line(origin, end, np.array(places)))
    return lines


def _followed(
    loss: DirectionLoss, u: Array, points: Array, targets: list[int], sense: float
) -> tuple[Array, list[tuple[int | None, int]]]:
    """Every place of all lines, (steps, m, n); for each line its end and how many of the places are its own."""
    path, height = [u], loss.values(u)
    ends: list[tuple[int | None, int]] = [(None, STEPS)] * len(u)
    open_, share = np.ones(len(u), dtype=bool), np.ones(len(u))
    for count in range(1, STEPS):
        distance = apart(u, points)
        nearest = np.min(distance, axis=1)
        if targets:
            goal = distance[:, targets]
            for i in np.flatnonzero(open_ & (goal.min(axis=1) < NEAR)):
                ends[i], open_[i] = (targets[int(goal[i].argmin())], count), False
        if sense > 0:  # where p = 0 the best neuron is the zero network: a line so high has ended
            for i in np.flatnonzero(open_ & (height > (1 - TOP) * loss.zero)):
                ends[i], open_[i] = (None, count), False
        if not open_.any():
            break
        h = (np.clip(CAUTION * nearest, NEAR / 4, STEP) * open_ * share)[:, None]
        middle = _heading(loss, _unit(u + sense * h / 2 * _heading(loss, u)))
        ahead = _unit(u + sense * h * middle)
        there = loss.values(ahead)
        kept = sense * there >= sense * height
        u, height = np.where(kept[:, None], ahead, u), np.where(kept, there, height)
        share = np.where(kept, np.minimum(LONGER * share, 1.0), share / 2)
        path.append(u)
    return np.array(path), ends


def _heading(loss: DirectionLoss, u: Array) -> Array:
    """The gradient at length one; zero where it is rounding."""
    slope = loss.gradients(u)
    size = np.sqrt(np.einsum("...i,...i", slope, slope))[..., None]
    return np.asarray(np.where(size > FLAT * max(loss.zero, TINY), slope / np.maximum(size, TINY), 0.0))


def _unit(u: Array) -> Array:
    return np.asarray(u / np.sqrt(np.einsum("...i,...i", u, u))[..., None])


def curvature(loss: DirectionLoss, u: Array) -> tuple[Array, Array]:
    """Eigenvalues, ascending, and eigenvectors (as rows) of the Hessian on the sphere at a critical direction u."""
    basis = np.linalg.svd(u[None])[2][1:]
    moved = _unit(np.concatenate([u + DIFFERENCE * basis, u - DIFFERENCE * basis]))
    slopes = loss.gradients(moved) @ basis.T
    hessian = (slopes[: len(basis)] - slopes[len(basis) :]) / (2 * DIFFERENCE)
    values, vectors = np.linalg.eigh((hessian + hessian.T) / 2)
    return values, vectors.T @ basis


def _direction(loss: DirectionLoss, u: Array, up: bool) -> Array:
    return np.asarray(curvature(loss, u)[1][-1 if up else 0])


def basins(loss: DirectionLoss, frame: Array, minima: Array) -> NDArray[np.uint8]:
    """Which minimum (a row, plus one) steepest descent reaches from each place of the disc; 0 where none.

    A square of places, rows from the top of the disc; the rim and beyond are those of the places opposite.
    """
    side = COARSE
    labels = _labels(loss, frame, _places(side), minima).reshape(side, side)
    for _ in range(REFINEMENTS):
        side = 2 * side - 1
        fine = np.zeros((side, side), dtype=np.uint8)
        fine[::2, ::2] = labels
        fine[1::2, ::2], fine[::2, 1::2], fine[1::2, 1::2] = labels[1:], labels[:, 1:], labels[1:, 1:]
        unsure = np.zeros((side, side), dtype=bool)
        for axis in (0, 1):
            for shift in (1, -1, 2, -2):
                unsure |= fine != np.roll(fine, shift, axis)
        unsure[::2, ::2] = False
        chosen = unsure.ravel()
        fine.ravel()[chosen] = _labels(loss, frame, _places(side)[chosen], minima)
        labels = fine
    return labels


def _places(side: int) -> Array:
    grid = np.linspace(-1, 1, side)
    y, x = np.meshgrid(-grid, grid, indexing="ij")
    return np.stack([x.ravel(), y.ravel()], axis=-1)


def _labels(loss: DirectionLoss, frame: Array, places: Array, minima: Array) -> NDArray[np.uint8]:
    """By descent from each place; what has not arrived belongs to the minimum that is nearest then."""
    size = np.maximum(np.sqrt(np.einsum("...i,...i", places, places))[..., None], 1.0)
    distance = apart(descended(loss, from_disc(frame, places / size)), minima)
    return np.asarray(distance.argmin(axis=1) + 1, dtype=np.uint8)


def descended(loss: DirectionLoss, u: Array) -> Array:
    """Where steepest descent over directions leads, to within a short stride."""
    for i in range(STRIDES):
        u = _unit(u - STRIDE * SHORTER**i * _heading(loss, u))
    return u
