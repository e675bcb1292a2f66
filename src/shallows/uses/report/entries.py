"""What a report lists: one row a critical point of a chart, or one row a distinct end point of training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shallows.mathematics.signature import error_bound
from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.points.point import CriticalPoint
from shallows.questions.charts.result import Chart
from shallows.questions.descent.results.ensemble import Ensemble
from shallows.questions.descent.results.minima import Minimum
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem, NotConverged, NotDifferentiable

#: Hessians in parameter space are computed for the first so many rows, when there are at most so many parameters.
EIGENVALUE_ROWS = 60
LARGEST_DENSE = 400
SHOWN_EIGENVALUES = 8
#: Eigenvalues below this share of the largest are rounding, and are shown as zero.
FLAT = 1e-9
#: End points of training whose losses differ by less, relatively, share the lowest. A loss is off by the square of its
#: gradient norm; this leaves room for runs that stopped at 1e-4.
TRAINED_LOSS = 1e-7
#: A run is at a point of the chart when its loss is this near, in units of E y²: room for runs that stopped at 1e-3.
NEAR = 1e-6


@dataclass(frozen=True, eq=False)
class Entry:
    """A row: `eigenvalues` are the smallest of the Hessian in parameter space, `share` is of all training runs.

    `lower`: a saddle of lower rank than the width; its index is on its own stratum, and a further neuron leads down.
    """

    number: int
    loss: float
    rank: int | None
    signature: tuple[int, int, int] | None
    kind: str
    dimension: int
    proof: str
    share: float | None
    network: Network
    eigenvalues: Array | None
    lower: bool = False

    @property
    def index(self) -> int | None:
        """The number of negative directions."""
        return None if self.signature is None else self.signature[2]


def chart_entries(chart: Chart, shares: dict[int, float] | None, eigenvalues: bool = True) -> list[Entry]:
    """The points and families of a chart; `shares` are of runs by place in `chart.critical`, None without training."""
    rows = EIGENVALUE_ROWS if eigenvalues else 0
    return [
        Entry(
            number=i + 1,
            loss=point.loss,
            rank=point.rank,
            signature=point.signature,
            kind=point.kind,
            dimension=point.dimension,
            proof=_proof(point),
            share=None if shares is None else shares.get(i, 0.0),
            network=point.network,
            eigenvalues=_smallest(chart.problem, point.network) if i < rows else None,
            lower=point.kind == "saddle" and chart.problem is not None and point.rank < chart.problem.width,
        )
        for i, point in enumerate(chart.critical)
    ]


def listed_kind(point: CriticalPoint | Entry) -> str:
    """The kind, and that it is a family where it is one."""
    return f"{point.kind}, a family of dimension {point.dimension}" if point.dimension else point.kind


def minima_entries(minima: Sequence[Minimum]) -> list[Entry]:
    """The distinct end points of an ensemble; signatures are in parameter space there."""
    lowest = min((minimum.loss for minimum in minima), default=0.0)
    room = TRAINED_LOSS * abs(lowest)
    return [
        Entry(
            number=i + 1,
            loss=minimum.loss,
            rank=minimum.rank,
            signature=minimum.signature,
            kind=f"lowest {minimum.kind}" if minimum.loss <= lowest + room else minimum.kind,
            dimension=0,
            proof="no",
            share=minimum.share,
            network=minimum.network,
            eigenvalues=_cleared(minimum),
        )
        for i, minimum in enumerate(minima)
    ]


def _cleared(minimum: Minimum) -> Array:
    """Its smallest eigenvalues, with those that its signature counts as zero at zero: they are rounding."""
    values = np.array(minimum.eigenvalues)
    if minimum.signature is not None:
        _, zero, negative = minimum.signature
        values[negative : negative + zero] = 0.0
    return values


def _proof(point: CriticalPoint) -> str:
    """What is proved about a point: everything, its existence, or nothing."""
    certificate = point.certificate
    if certificate is None:
        return "no"
    return "point and signature" if certificate.signature_certified else "point"


def _smallest(problem: Problem | None, net: Network) -> Array | None:
    if problem is None or problem.size > LARGEST_DENSE:
        return None
    try:
        hessian = problem.hessian(net)
    except (NotDifferentiable, NotConverged, InvalidProblem):
        return None  # a neuron that is zero, or stands for one at infinity: there is no Hessian to show
    values = np.linalg.eigvalsh(hessian)
    return np.where(np.abs(values) <= error_bound(values, FLAT), 0.0, values)[:SHOWN_EIGENVALUES]


def shares_of(chart: Chart, runs: Ensemble) -> tuple[dict[int, float], float]:
    """The share of runs at each point of the chart (by place), and the share that ended elsewhere.

    Tensors are compared where there are any; otherwise losses (a chart of what descent found).
    """
    if (
        isinstance(runs.problem.activation, Power)
        and runs.problem.outputs == 1
        and not runs.problem.norm_neuron
    ):
        matched = runs.match(chart, strict=False)
        return matched.shares, len(matched.unmatched) / max(len(runs), 1)
    places = np.argmin(np.abs(runs.losses[:, None] - chart.losses[None, :]), axis=1)
    near = np.abs(runs.losses - chart.losses[places]) <= NEAR * runs.scale
    found, counts = np.unique(places[near & runs.ended], return_counts=True)
    shares = {int(i): float(c) / len(runs) for i, c in zip(found, counts, strict=True)}
    return shares, float(np.mean(runs.ended & ~near))
