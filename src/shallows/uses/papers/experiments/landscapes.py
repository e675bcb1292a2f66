"""Paper 000, Figure 1: the four kinds of landscapes, each by a network of this package with two free parameters.

(a) one cubic neuron on R: αw³ = 1; (b) one quadratic neuron on R², an indefinite teacher (Theorem 34: two minima);
(c) one quadratic neuron on R, a positive target (Example 15: w = 0, α < 0 are local minima); (d) two cubic neurons on
R² with the loss of Prop. 10. There the loss is drawn over the two angles, with the best outer weights. Off the diagonal
those are unique and enter quadratically, so that sublevel components are kept; on it the best ones are infinite, and
networks of two parallel neurons are not seen: some of those are bad minima (`parallel_traps`), all of them escapable.

Spurious valleys are found on the grid: the height over which one has to climb from a point to reach the global minimum.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import shallows as sh
from shallows.mathematics.tensors import coordinates
from shallows.support.checks import Array
from shallows.support.theme import GREEN, TEXT, VERMILLION, faint
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

#: In units of the energy (the loss of the zero network): what a grid can tell from zero.
RESOLVED = 0.05
#: Losses below this, of E y², are zero: descents of panel (a) end below 4e-16 or at 1 (measured).
ZERO_LOSS = 1e-6
#: Relative rounding of a loss, with room: a sum of a few terms has errors of a few ε.
ROUNDING = 1e-12
TEACHER_B = (2.0, -1.5)


@dataclass(frozen=True)
class Panel:
    """One landscape: what the paper says of it, its axes, and which of them are angles."""

    title: str
    bad_minima: bool
    valleys: bool
    names: tuple[str, str]
    ranges: tuple[tuple[float, float], tuple[float, float]]
    periodic: tuple[bool, bool] = (False, False)


PANELS = {
    "a": Panel("no bad minima, no spurious valleys", False, False, ("w", "α"), ((-2, 2), (-2, 2))),
    "b": Panel("bad minima and spurious valleys", True, True, ("angle of w", "α"), ((0, np.pi), (-3, 3)),
               (True, False)),
    "c": Panel("bad minima, no spurious valleys", True, False, ("w", "α"), ((-2, 2), (-2, 2))),
    "d": Panel(
        "spurious valleys; bad minima are escapable", False, True,
        ("angle of w₁", "angle of w₂"), ((0, np.pi), (0, np.pi)),
        (True, True),
    ),
}  # fmt: skip


def cells(plan: Plan) -> list[Settings]:
    """A cell a panel."""
    return [{"panel": name, "grid": plan.pick(81, 161), "seed": plan.seed} for name in PANELS]


def landscape(settings: Settings) -> list[Row]:
    """The loss on the grid (in units of the energy), after one row of what was found."""
    name, count = settings["panel"], settings["grid"]
    panel = PANELS[name]
    loss, bad, escapable = INSTANCES[name](settings["seed"])
    axes = [
        _axis(span, count, half * 0.5, turn)
        for span, half, turn in zip(panel.ranges, (0, name == "d"), panel.periodic, strict=True)
    ]
    values = loss(*np.meshgrid(*axes, indexing="ij"))
    heights = climbs(values, panel.periodic)
    depth = float(np.max(heights - values))
    i, j = np.unravel_index(int(np.argmax(heights - values)), values.shape)
    lowest = _lowest(values, heights, float(heights[i, j])) if depth > RESOLVED else None
    facts: Row = {
        "panel": name, "bad_minima": bad, "escapable": escapable, "valley_depth": depth, "valley_floor": lowest,
    }  # fmt: skip
    grid: list[Row] = [
        {"panel": name, "x": float(axes[0][i]), "y": float(axes[1][j]), "loss": float(values[i, j])}
        for i in range(count)
        for j in range(count)
    ]
    return [facts, *grid]


def _axis(span: tuple[float, float], count: int, shift: float, turn: bool) -> Array:
    """`count` points; of a circle without its end, moved by a share of a step where two axes must not meet."""
    if not turn:
        return np.linspace(*span, count)
    return span[0] + (np.arange(count) + shift) * (span[1] - span[0]) / count


def _lowest(values: Array, heights: Array, level: float) -> float:
    """The lowest loss among the points that are cut off below this level."""
    return float(values[(heights >= level) & (heights - values > RESOLVED)].min())


def climbs(values: Array, periodic: tuple[bool, bool] = (False, False)) -> Array:
    """For each grid point the least height that a path to the global minimum has to pass (a flood from below)."""
    heights = np.full(values.shape, np.inf)
    seeds = np.argwhere(values <= values.min() + RESOLVED * (values.min() < np.inf))
    queue = [(float(values[i, j]), int(i), int(j)) for i, j in seeds]
    for value, i, j in queue:
        heights[i, j] = value
    heapq.heapify(queue)
    rows, columns = values.shape
    while queue:
        level, i, j = heapq.heappop(queue)
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)):
            x, y = i + di, j + dj
            if periodic[0]:
                x %= rows
            if periodic[1]:
                y %= columns
            if not (0 <= x < rows and 0 <= y < columns):
                continue
            height = max(level, float(values[x, y]))
            if height < heights[x, y]:
                heights[x, y] = height
                heapq.heappush(queue, (height, x, y))
    return heights


#: The loss over the two parameters, whether there are bad minima, and whether those that were looked at are escapable.
Instance = tuple[Callable[[Array, Array], Array], bool, bool | None]


def _scaled(problem: sh.Problem, thetas: Array) -> Array:
    energy = float(problem.value(np.zeros(problem.size)))
    return np.asarray(problem.value(thetas.reshape(-1, problem.size)).reshape(thetas.shape[:-1]) / energy)


def _cubic(seed: int) -> Instance:
    """(a): wherever descent ends above the global minimum (at w = 0), some network nearby is better."""
    problem = sh.Problem(sh.Network([[1.0]], [1.0], sh.Power(3)), sh.Gaussian(1), 1)
    runs = sh.ensemble(problem, 60, method="gd", init="normal", rng=seed, cores=1, iterations=2000)
    moves = np.random.default_rng(seed).uniform(-0.1, 0.1, (2000, 2))
    ends = _scaled(problem, runs.thetas)
    around = _scaled(problem, runs.thetas[:, None] + moves).min(axis=1)
    bad = bool(np.any((ends > ZERO_LOSS) & (around >= ends)))
    return lambda w, a: _scaled(problem, np.stack([w, a], axis=-1)), bad, None


def _rank_one(seed: int) -> Instance:
    """(b): the chart lists a local minimum that is not global."""
    problem = sh.Problem(np.diag(TEACHER_B), sh.Frobenius(2), 1)
    kinds = [point.kind for point in sh.chart(problem, rng=seed).points]
    return (
        lambda angle, a: _scaled(problem, np.stack([np.cos(angle), np.sin(angle), a], axis=-1)),
        "local minimum" in kinds,
        None,
    )


def _positive(seed: int) -> Instance:
    """(c): no network near w = 0, α = −1 is better."""
    problem = sh.Problem(sh.Network([[1.0]], [1.0], sh.Power(2)), sh.Gaussian(1), 1)
    source = np.random.default_rng(seed)
    near = np.array([0.0, -1.0]) + 0.5 * source.uniform(-1, 1, (20_000, 2))
    bad = bool(np.all(_scaled(problem, near) >= 1 - ROUNDING))
    return lambda w, a: _scaled(problem, np.stack([w, a], axis=-1)), bad, None


def _valley(seed: int) -> Instance:
    """(d): the valley's own network and the bad minima with parallel neurons; from each a path leads down."""
    bad = sh.bad_minimum(3, 2, 2, rng=seed)
    gram, target = bad.metric.gram(3), bad.teacher.tensor().entries
    energy = float(target @ gram @ target)

    def reduced(first: Array, second: Array) -> Array:
        return best_outer(first, second, gram, target) / energy

    problem = bad.problem()
    traps = parallel_traps(bad)
    escapable = all(sh.explain_escape(problem, net).path is not None for net in [bad.network, *traps])
    return reduced, bool(traps), escapable


def parallel_traps(bad: sh.BadMinimum) -> list[sh.Network]:
    """Bad local minima with two equal neurons w of weight α/2, at rank-one critical points S = αw^⊗d of positive loss.

    D(u) = dℓ_S(u^⊗d) has D(w) = 0 and ∇D(w) = 0 there. ℓ is convex and dℓ_S(S) = αD(w) = 0, so for every network W′

        L(W′) − L(W) ≥ dℓ_S(S′ − S) = Σ α′ᵢ D(w′ᵢ).

    Where αD has positive curvature across w it is ≥ 0 near w, and near W all α′ᵢ have the sign of α: the sum is ≥ 0,
    and W is a local minimum. Lemma 14 escapes it by shifting all of α to one of the two neurons first, far from W.
    """
    found = []
    for point in sh.chart(sh.Problem(bad.teacher, bad.metric, 1)).points:
        if point.rank == 1 and point.loss > ZERO_LOSS:
            w, alpha = point.network.W[0], float(point.network.a[0])
            across = np.array([-w[1], w[0]])
            curvature = alpha * float(across @ bad.gradient(point.tensor).hessian(w) @ across)
            if curvature > ZERO_LOSS:
                found.append(sh.Network(np.vstack([w, w]), [alpha / 2, alpha / 2], point.network.activation))
    return found


def best_outer(first: Array, second: Array, gram: Array, target: Array) -> Array:
    """min over (a₁, a₂) of the loss of two cubic neurons at these angles: an orthogonal projection in the metric G."""
    powers = [_cube(np.asarray(angle)) for angle in (first, second)]
    # an orthonormal pair from the sum and the difference keeps its digits when the neurons are nearly parallel
    plus, minus = powers[0] + powers[1], powers[0] - powers[1]
    e = _unit(plus, gram)
    f = _unit(minus - _inner(minus, e, gram)[..., None] * e, gram)
    t = np.broadcast_to(target, plus.shape)
    return np.asarray(_inner(t, t, gram) - _inner(t, e, gram) ** 2 - _inner(t, f, gram) ** 2)


def _cube(angle: Array) -> Array:
    index = coordinates.indices(2, 3)
    w = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    return np.asarray(np.prod(w[..., index], axis=-1))


def _inner(x: Array, y: Array, gram: Array) -> Array:
    return np.asarray(np.einsum("...i,ij,...j->...", x, gram, y))


def _unit(x: Array, gram: Array) -> Array:
    return np.asarray(x / np.sqrt(_inner(x, x, gram))[..., None])


INSTANCES: dict[str, Callable[[int], Instance]] = {"a": _cubic, "b": _rank_one, "c": _positive, "d": _valley}


def present(rows: list[Row], plan: Plan) -> Presentation:
    """Four contour maps; where they are needed, the bad minima as marks."""
    figure = panels(
        [f"({name}) {panel.title}" for name, panel in PANELS.items()], 2, 860, vertical_spacing=0.13
    )
    compared = []
    for number, (name, panel) in enumerate(PANELS.items()):
        mine = [row for row in rows if row["panel"] == name]
        _draw(figure, mine[1:], panel, place(number, 2), number)
        _marks(figure, name, place(number, 2), number)
        compared += _compare(name, panel, mine[0])
    figure.update_layout(margin={"b": 60}, legend={"yref": "paper", "y": 1.06, "yanchor": "bottom"})
    return Presentation(
        (
            "Real landscapes in place of the paper's sketches: each is the loss of a small network over its two free "
            "parameters, in units of the loss of the zero network (white is high, dark is low).",
            "(a) and (c) have one neuron on R; (b) one quadratic neuron on R² against diag(2, −1.5); (d) two cubic "
            "neurons on R² under the loss of Prop. 10, with the best outer weights at each pair of angles. On its "
            "diagonal the neurons coincide and the best outer weights are infinite: the valley there has an infimum "
            "above the global minimum that no network attains.",
            "The paper's sketch (d) has no bad minima. This loss has: two equal neurons at a rank-one critical point "
            "of loss 3.244 (0.845 of the energy) with outer weights of one sign, where L(W′) − L(W) ≥ Σ α′D(w′) ≥ 0 "
            "for all W′ nearby; of 200 descents 27 end there. They are escapable, as Theorem 11 says, and crossed "
            "out in the picture on the diagonal.",
        ),
        [
            Picture("Four landscapes", figure, (
                "Contours of the loss. Green stars: global minima. Crosses: local minima that are not global; in (c) "
                "the whole dotted half-line is one, and one leaves it along the line, through w = α = 0. In (d) the "
                "dotted diagonal is at infinity: the valley that crosses it at the lower left has its infimum there, "
                "at the open circle, and nowhere else; the crosses on it are networks with two equal neurons."
            ))
        ],
        compared,
    )  # fmt: skip


def _draw(figure: Any, grid: list[Row], panel: Panel, where: dict[str, int], number: int) -> None:
    x = sorted({float(row["x"] or 0.0) for row in grid})
    y = sorted({float(row["y"] or 0.0) for row in grid})
    values = np.array([float(row["loss"] or 0.0) for row in grid]).reshape(len(x), len(y)).T
    if panel.periodic[0]:
        x, values = [*x, x[0] + np.pi], np.column_stack([values, values[:, 0]])
    if panel.periodic[1]:
        y, values = [*y, y[0] + np.pi], np.vstack([values, values[0]])
    top = {"b": 2.2}.get("abcd"[number], 2.0 if number != 3 else float(values.max()))
    figure.add_contour(
        x=x, y=y, z=np.minimum(values, top), colorscale="Blues_r", showscale=False,
        contours={"start": 0, "end": top, "size": top / 16}, line={"width": 0.6, "color": faint(TEXT, 0.4)},
        **where,
    )  # fmt: skip
    figure.update_xaxes(title_text=panel.names[0], range=list(panel.ranges[0]), **where)
    figure.update_yaxes(title_text=panel.names[1], range=list(panel.ranges[1]), **where)


def _marks(figure: Any, name: str, where: dict[str, int], number: int) -> None:
    star = {
        "mode": "markers",
        "marker": {"symbol": "star", "size": 13, "color": GREEN, "line": {"width": 1, "color": "white"}},
    }
    cross = {"mode": "markers", "marker": {"symbol": "x", "size": 10, "color": VERMILLION}}
    dotted = {"mode": "lines", "line": {"color": VERMILLION, "dash": "dot", "width": 3}}
    if name in "ac":
        w = np.linspace(0.5 ** (1 / 3) if name == "a" else 0.5**0.5, 2, 60)
        for sign in (1, -1):
            a = sign / w**3 if name == "a" else 1 / w**2
            figure.add_scatter(
                x=sign * w, y=a, mode="lines", line={"color": GREEN, "width": 3}, name="global minima",
                showlegend=name == "a" and sign == 1, legendgroup="global", **where,
            )  # fmt: skip
    if name == "b":
        figure.add_scatter(x=[0, np.pi], y=[2, 2], name="global minimum", legendgroup="star", **star, **where)
        figure.add_scatter(
            x=[np.pi / 2], y=[-1.5], name="bad local minimum", legendgroup="cross", **cross, **where
        )
    if name == "c":
        figure.add_scatter(
            x=[0, 0], y=[-2, -0.02], name="bad local minima", legendgroup="half-line", **dotted, **where
        )
    if name == "d":
        angle = 2 * np.pi / 3
        turns = [
            float(np.arctan2(*net.W[0, ::-1])) % np.pi for net in parallel_traps(sh.bad_minimum(3, 2, 2))
        ]
        figure.add_scatter(x=turns, y=turns, legendgroup="cross", showlegend=False, **cross, **where)
        figure.add_scatter(
            x=[0, np.pi], y=[0, np.pi], mode="lines", line={"color": "black", "dash": "dot", "width": 1.5},
            name="at infinity", **where,
        )  # fmt: skip
        figure.add_scatter(
            x=[np.pi / 6], y=[np.pi / 6], name="infimum of the valley, not attained", mode="markers",
            marker={"symbol": "circle-open", "size": 12, "color": VERMILLION, "line": {"width": 3}}, **where,
        )  # fmt: skip
        figure.add_scatter(
            x=[angle, angle], y=[0, np.pi], mode="lines", line={"color": GREEN, "width": 3}, showlegend=False,
            legendgroup="global", **where,
        )  # fmt: skip
        figure.add_scatter(
            x=[0, np.pi], y=[angle, angle], mode="lines", line={"color": GREEN, "width": 3}, showlegend=False,
            legendgroup="global", **where,
        )  # fmt: skip


def _compare(name: str, panel: Panel, facts: Row) -> list[Comparison]:
    depth, floor = float(facts["valley_depth"] or 0.0), facts["valley_floor"]
    words = {True: "yes", False: "none"}
    cut = (
        f"yes: {depth:.2g} deep, floor {float(floor or 0):.2g}"
        if depth > RESOLVED
        else f"none ({depth:.2g} deep)"
    )
    escapable = facts.get("escapable")
    minima = Comparison(
        f"({name}) bad minima", words[panel.bad_minima], words[bool(facts["bad_minima"])],
        bool(facts["bad_minima"]) == panel.bad_minima,
    )  # fmt: skip
    if (
        escapable is not None
    ):  # what the paper proves of such losses (Remark 13) is that every network is escapable
        minima = Comparison(
            f"({name}) networks that are not escapable", "none", words[not escapable], bool(escapable),
            "Remark 13; the sketch has no bad minima, this loss has",
        )  # fmt: skip
    return [
        minima,
        Comparison(
            f"({name}) spurious valleys", words[panel.valleys], cut, (depth > RESOLVED) == panel.valleys
        ),
    ]  # fmt: skip


EXPERIMENTS = (
    Experiment(
        "000-figure-1", "Figure 1", "Four landscapes: with and without bad minima, with and without spurious valleys.",
        cells, landscape, present,
    ),
)  # fmt: skip
