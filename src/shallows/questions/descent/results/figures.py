"""Figures of training: loss curves with quantiles, shares by minimum, trajectories over a plane. Plotly loads late."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from shallows.questions.descent.results.run import Run, Trajectory
from shallows.support.arguments import typed
from shallows.support.checks import Array, counted, finite_array
from shallows.support.errors import InvalidProblem
from shallows.support.theme import (
    BLUE,
    CYCLE,
    GREY,
    KIND_COLOURS,
    SEQUENTIAL,
    SKY,
    TEXT,
    faint,
    loss_range,
    titled,
)
from shallows.support.tolerances import TINY

if TYPE_CHECKING:
    from shallows.model.problem import Problem
    from shallows.questions.descent.results.ensemble import Ensemble

GRID = 61
#: Paths over a map in blues are told apart by these.
PATHS = tuple(colour for colour in CYCLE if colour not in (BLUE, SKY))
#: Directions at a smaller angle are parallel: they are known to ε = 2·10⁻¹⁶ an entry, and a plane through them would
#: follow the rounding of thousands of entries.
PARALLEL = 1e-12
#: Losses below it are drawn as it: rounding of a loss of size 1.
SMALLEST_LOSS = 1e-16
#: Around the points, as a share of their extent, taken for 1e-3 at least (runs may not move along a direction).
MARGIN, SMALLEST_EXTENT = 0.15, 1e-3


def shares(runs: Ensemble) -> Any:
    """The share of runs at each distinct end point, with binomial standard errors."""
    import plotly.graph_objects as go

    minima = runs.minima
    share = np.array([minimum.share for minimum in minima])
    error = np.sqrt(share * (1 - share) / max(len(runs), 1))
    names = [f"{m.loss:.6g}" + ("" if m.rank is None else f" (rank {m.rank})") for m in minima]
    bars = go.Bar(
        x=names, y=share, customdata=[m.count for m in minima],
        error_y={"type": "data", "array": error, "thickness": 1.2, "width": 3, "color": GREY},
        marker={"color": [KIND_COLOURS["lowest minimum" if i == 0 else m.kind] for i, m in enumerate(minima)]},
    )  # fmt: skip
    bars.hovertemplate = "loss %{x}<br>%{customdata} runs, %{y:.1%}<extra></extra>"
    figure = go.Figure(bars)
    titled(figure, f"{counted(len(runs), 'run')} by {runs.method}", legend=False)
    figure.update_xaxes(title_text="loss of the end point", type="category")
    figure.update_yaxes(title_text="share of runs", tickformat=".0%")
    return figure


def losses(runs: Ensemble) -> Any:
    """Final losses of all runs, sorted: plateaus are minima."""
    import plotly.graph_objects as go

    figure = go.Figure()
    places = np.arange(1, len(runs) + 1)
    figure.add_scatter(x=places, y=np.sort(runs.losses), mode="lines+markers", marker={"color": TEXT})
    titled(figure, f"Final losses of {counted(len(runs), 'run')} by {runs.method}", legend=False)
    figure.update_xaxes(title_text="runs, sorted by loss")
    figure.update_yaxes(title_text="final loss", range=loss_range(runs.losses.tolist(), runs.scale))
    return figure


@typed
def loss_curves(runs: Sequence[Run], quantiles: Sequence[float] = (0.1, 0.5, 0.9)) -> Any:
    """Losses against iterations of recorded runs, thin, and their quantiles, thick.

    A run that has ended counts with its last loss, so that quantiles are over all runs at every iteration.

    >>> problem = sh.Problem(np.diag([1.0, -0.5]), sh.Gaussian(2), width=2)
    >>> runs = [sh.descend(problem, theta, record=1) for theta in sh.starts(problem, 3, rng=0)]
    >>> [curve.name for curve in sh.training.loss_curves(runs).data[3:]]
    ['10% quantile', '50% quantile', '90% quantile']
    """
    import plotly.graph_objects as go

    curves = [_trajectory(run) for run in runs]
    if not curves:
        raise InvalidProblem("No runs were given; record some with descend(..., record=10).")
    times = np.unique(np.concatenate([curve.times for curve in curves]))
    table = np.array([_held(curve, times) for curve in curves])
    figure = go.Figure()
    for curve in curves:
        line = {"width": 1, "color": faint(TEXT, 0.25)}
        figure.add_scatter(
            x=curve.times, y=curve.losses, mode="lines", line=line, showlegend=False, hoverinfo="skip"
        )
    for i, q in enumerate(quantiles):
        figure.add_scatter(
            x=times, y=np.quantile(table, q, axis=0), mode="lines", name=f"{q:.0%} quantile",
            line={"color": CYCLE[i % len(CYCLE)], "width": 2.5},
        )  # fmt: skip
    titled(figure, f"The loss along {counted(len(curves), 'run')}")
    figure.update_xaxes(title_text="iteration")
    figure.update_yaxes(title_text="loss", type="log")
    return figure


def _trajectory(run: Run) -> Trajectory:
    if run.trajectory is None or not len(run.trajectory):
        raise InvalidProblem(f"{run!r} has no trajectory. Fix: descend(..., record=m) keeps every m-th step.")
    return run.trajectory


def _held(curve: Trajectory, times: Array) -> Array:
    """The loss at these times: that of the last recorded point before."""
    places = np.clip(np.searchsorted(curve.times, times, side="right") - 1, 0, len(curve) - 1)
    return np.asarray(curve.losses[places])


@dataclass(frozen=True, eq=False)
class Plane:
    """θ = origin + x·axes[0] + y·axes[1], orthonormal axes; `explained` is each axis' share of the variance.

    >>> plane = sh.training.slice_plane([0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 1.0, 0.0])
    >>> plane.coordinates(np.array([[3.0, 4.0, 5.0]])).tolist()
    [[3.0, 4.0]]
    """

    origin: Array
    axes: Array
    explained: tuple[float, float] | None

    def coordinates(self, thetas: Array) -> Array:
        """The projections of points on the plane, shape (count, 2)."""
        return np.asarray((thetas - self.origin) @ self.axes.T)


@typed
def principal_plane(trajectories: Sequence[Trajectory]) -> Plane:
    """The first two principal directions of all recorded points, with the variance they explain.

    >>> problem = sh.Problem(np.diag([1.0, -0.5]), sh.Gaussian(2), width=2)
    >>> runs = [sh.descend(problem, theta, record=1) for theta in sh.starts(problem, 3, rng=0)]
    >>> plane = sh.training.principal_plane([run.trajectory for run in runs])
    >>> f"{sum(plane.explained):.0%}"
    '99%'
    """
    if not trajectories:
        raise InvalidProblem(
            "there are no trajectories; expected those of one run at least, made with record=1."
        )
    points = np.concatenate([trajectory.thetas for trajectory in trajectories])
    if len(points) < 3 or points.shape[1] < 2:
        raise InvalidProblem(
            f"{len(points)} points in {points.shape[1]} dimensions: principal directions need at least 3 points and "
            "2 dimensions."
        )
    origin = points.mean(axis=0)
    _, values, vectors = np.linalg.svd(points - origin, full_matrices=False)
    total = float(np.sum(values**2)) or 1.0
    return Plane(origin, vectors[:2], (float(values[0] ** 2 / total), float(values[1] ** 2 / total)))


@typed
def slice_plane(origin: ArrayLike, first: ArrayLike, second: ArrayLike) -> Plane:
    """The plane through `origin` spanned by two directions, made orthonormal.

    >>> abs(sh.training.slice_plane(np.zeros(3), [2.0, 0.0, 0.0], [1.0, 1.0, 0.0]).axes).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    base = finite_array("origin", origin, 1)
    directions = finite_array("directions", np.array([first, second], dtype=np.float64), 2)
    q, r = np.linalg.qr(directions.T)
    if abs(r[1, 1]) < PARALLEL * max(abs(r[0, 0]), TINY):
        raise InvalidProblem("The two directions are parallel; they span no plane.")
    return Plane(base, (q * np.sign(np.diag(r))).T, None)


@typed
def trajectories(problem: Problem, runs: Sequence[Run], plane: Plane | None = None) -> Any:
    """Recorded runs over the loss on a plane: a given slice, or their first two principal directions.

    The contours are the loss on the plane itself; a trajectory that leaves the plane is drawn as its projection, and
    the title says how much of the variance the plane explains.

    >>> problem = sh.Problem(np.diag([1.0, -0.5]), sh.Gaussian(2), width=2)
    >>> runs = [sh.descend(problem, theta, record=1) for theta in sh.starts(problem, 3, rng=0)]
    >>> len(sh.training.trajectories(problem, runs).data)   # the loss, and three runs
    4
    """
    import plotly.graph_objects as go

    paths = [_trajectory(run) for run in runs]
    plane = principal_plane(paths) if plane is None else plane
    drawn = [plane.coordinates(path.thetas) for path in paths]
    grid, values = _contours(problem, plane, np.concatenate(drawn))
    figure = go.Figure(
        go.Contour(
            x=grid[0],
            y=grid[1],
            z=np.log10(values + SMALLEST_LOSS),
            colorscale=SEQUENTIAL,
            reversescale=True,
            ncontours=24,
            line={"width": 0.5},
            hovertemplate="log₁₀ loss %{z:.4g}<extra></extra>",
            colorbar={"title": {"text": "log₁₀ loss"}, "thickness": 14, "outlinewidth": 0},
        )
    )  # fmt: skip
    ends = [f"ends at loss {run.loss:.4g}" for run in runs]
    colours = dict(zip(dict.fromkeys(ends), cycle(PATHS), strict=False))
    for i, (name, points) in enumerate(zip(ends, drawn, strict=True)):
        figure.add_scatter(
            x=points[:, 0], y=points[:, 1], mode="lines+markers", name=name, legendgroup=name,
            showlegend=name not in ends[:i], line={"color": colours[name], "width": 2.5},
            marker={"size": [0] * (len(points) - 1) + [9], "color": colours[name]},
        )  # fmt: skip
    title = "Runs over a two-dimensional slice of the loss"
    if plane.explained is not None:
        title = "Runs over the loss on their principal plane"
        title += f", {plane.explained[0]:.1%} and {plane.explained[1]:.1%} of their variance"
    titled(figure, title, height=560)
    figure.update_xaxes(title_text="first direction", showgrid=False)
    figure.update_yaxes(title_text="second direction", showgrid=False)
    return figure


def _contours(problem: Problem, plane: Plane, points: Array) -> tuple[tuple[Array, Array], Array]:
    low, high = points.min(axis=0), points.max(axis=0)
    room = MARGIN * np.maximum(high - low, SMALLEST_EXTENT)
    x = np.linspace(low[0] - room[0], high[0] + room[0], GRID)
    y = np.linspace(low[1] - room[1], high[1] + room[1], GRID)
    mesh = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    values = problem.value(plane.origin + mesh @ plane.axes)
    return (x, y), np.asarray(values).reshape(GRID, GRID)
