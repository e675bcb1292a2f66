"""Paper 003, Figure 2: f(x, y) = x²y², whose global minima are two lines and which is convex almost nowhere."""

from __future__ import annotations

import numpy as np

from shallows.support.checks import Array
from shallows.support.theme import VERMILLION
from shallows.uses.papers.experiments.experiment import (
    Comparison,
    Experiment,
    Plan,
    Presentation,
    Row,
    Settings,
)
from shallows.uses.papers.experiments.looks import panels, place
from shallows.uses.report.page import Picture

#: Of the finite differences: second ones of numbers up to one have errors of about ε/STEP² = 2e-8.
STEP = 1e-4
#: What counts as λ = 2 and as λ = 0; first differences are right to ε/STEP = 2e-12 (measured: 3e-14 and 0).
CONSTANT, NOTHING = 1e-6, 1e-9
#: f falls as t² on the diagonal, and so does the quotient: 8t² = 8e-4 at the nearest point, t = 0.01.
FALLEN = 1e-2


def product(w: Array) -> Array:
    """f(x, y) = x²y² at points (…, 2)."""
    return np.asarray(w[..., 0] ** 2 * w[..., 1] ** 2)


def cells(plan: Plan) -> list[Settings]:
    """One cell: the function on a grid."""
    return [{"grid": plan.pick(41, 121), "seed": plan.seed}]


def grid(settings: Settings) -> list[Row]:
    """The function and, by finite differences, the determinant of its Hessian."""
    axis = np.linspace(-1, 1, settings["grid"])
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    determinants = np.linalg.det(_hessians(points))
    rows: list[Row] = [
        {"part": "grid", "x": float(x), "y": float(y), "f": float(f), "determinant": float(det)}
        for (x, y), f, det in zip(points, product(points), determinants, strict=True)
    ]
    source = np.random.default_rng(settings["seed"])
    return [*rows, *_one_point(source)]


def _hessians(points: Array) -> Array:
    """Central second differences."""
    moves = STEP * np.eye(2)
    result = np.empty((len(points), 2, 2))
    for i in range(2):
        for j in range(2):
            result[:, i, j] = (
                product(points + moves[i] + moves[j]) - product(points + moves[i] - moves[j])
                - product(points - moves[i] + moves[j]) + product(points - moves[i] - moves[j])
            ) / (4 * STEP**2)  # fmt: skip
    return result


def gradients(points: Array) -> Array:
    """Central differences."""
    moves = STEP * np.eye(2)
    return np.stack([(product(points + m) - product(points - m)) / (2 * STEP) for m in moves], axis=-1)


def _one_point(source: np.random.Generator) -> list[Row]:
    """⟨∇f(w), w − w̃⟩/‖w − w̃‖² at the minimum w̃ = (0, 1): for w − w̃ orthogonal to w̃, and for any w near it."""
    centre = np.array([0.0, 1.0])
    orthogonal = np.stack([source.uniform(0.01, 0.1, 500), np.zeros(500)], axis=1)
    anywhere = source.uniform(-0.1, 0.1, (500, 2))
    anywhere[0] = 0.0, 0.1  # along the minima
    rows: list[Row] = []
    for name, moves in (("orthogonal", orthogonal), ("any", anywhere)):
        inner = np.sum(gradients(centre + moves) * moves, axis=1) / np.sum(moves**2, axis=1)
        rows.append({"part": "one-point convexity", "directions": name, "smallest": float(inner.min())})
    near = np.array([[0.1, 0.1], [0.03, 0.03], [0.01, 0.01]])
    slope = np.sum(gradients(near) ** 2, axis=1) / product(near)
    rows.append({"part": "Polyak–Łojasiewicz", "directions": "towards 0", "smallest": float(slope.min())})
    return rows


def present(rows: list[Row], plan: Plan) -> Presentation:
    """A surface and a contour map, as in the paper."""
    points = [row for row in rows if row["part"] == "grid"]
    side = round(len(points) ** 0.5)
    axis = [float(row["y"] or 0.0) for row in points[:side]]
    f = np.array([float(row["f"] or 0.0) for row in points]).reshape(side, side)
    specs = [[{"type": "surface"}, {"type": "xy"}]]
    figure = panels(["f(x, y) = x²y²", "contours and minima"], 2, 480, specs=specs)
    figure.add_surface(x=axis, y=axis, z=f.T, colorscale="Blues", showscale=False, row=1, col=1)
    figure.add_contour(
        x=axis, y=axis, z=np.sqrt(f.T), colorscale="Blues", showscale=False, contours={"size": 0.1},
        hoverinfo="skip", **place(1, 2),
    )  # fmt: skip
    for x, y in (([0, 0], [-1, 1]), ([-1, 1], [0, 0])):
        figure.add_scatter(
            x=x, y=y, mode="lines", line={"color": VERMILLION, "width": 3}, name="global minima",
            showlegend=x[0] == x[1], legendgroup="minima", **place(1, 2),
        )  # fmt: skip
    figure.update_xaxes(title_text="x", range=[-1, 1])
    figure.update_yaxes(title_text="y", range=[-1, 1])
    figure.update_layout(
        scene={"camera": {"eye": {"x": 1.5, "y": -1.5, "z": 0.9}}, "zaxis": {"title": {"text": "f"}}}
    )
    return Presentation(
        (
            "A function with a manifold of global minima that is convex at almost no point and one-point strongly "
            "convex around none of its minima, but is so in their orthogonal neighbourhoods.",
        ),
        [
            Picture("A function that is convex nowhere and easy to minimise", figure, (
                "Surface, and contours of √f = |xy| at equal steps; the global minima are the two axes."
            ))
        ],
        _compare(rows, points),
    )  # fmt: skip


def _compare(rows: list[Row], points: list[Row]) -> list[Comparison]:
    off = [row for row in points if abs(float(row["x"] or 0)) > 0.04 and abs(float(row["y"] or 0)) > 0.04]
    negative = sum(float(row["determinant"] or 0) < 0 for row in off)
    smallest = {str(row["directions"]): float(row["smallest"] or 0) for row in rows if row["part"] != "grid"}
    return [
        Comparison(
            "determinant of the Hessian off the axes", "negative", f"negative at {negative} of {len(off)} points",
            negative == len(off),
        ),
        Comparison(
            "one-point convexity at (0, 1), orthogonal directions", "λ = 2", f"{smallest['orthogonal']:.6f}",
            abs(smallest["orthogonal"] - 2) < CONSTANT,
        ),
        Comparison(
            "one-point strong convexity at (0, 1), all directions", "fails", f"smallest {smallest['any']:.3g}",
            smallest["any"] < NOTHING,
        ),
        Comparison(
            "Polyak–Łojasiewicz constant ‖∇f‖²/f towards 0", "none", f"falls to {smallest['towards 0']:.2g}",
            smallest["towards 0"] < FALLEN,
        ),
    ]  # fmt: skip


EXPERIMENTS = (
    Experiment(
        "003-figure-2", "Figure 2", "f(x, y) = x²y²: minima on two lines, convex almost nowhere.", cells, grid, present,
    ),
)  # fmt: skip
