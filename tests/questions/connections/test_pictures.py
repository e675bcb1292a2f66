"""Pictures of sublevel sets and of ways over a barrier: what they show is what the loss is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shallows as sh

BIASED = np.array([[2.0, 0.2, 0.0], [0.2, 1.0, 0.0], [0.0, 0.0, -0.5]])
PROBLEMS = {
    "both signs": sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=1),
    "heavy tails": sh.Problem(np.diag([2.0, 1.5]), sh.IID(2, [1, 0, 1, 0, 30]), width=1),
    "in space": sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), width=1),
    "identity": sh.Problem(np.eye(2), sh.Gaussian(2), width=1),
    "fixed sign": sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=1, outer=[-2.0]),
    "cubic": sh.Problem(sh.SymmetricTensor(np.array([1.0, 0.5, -1.0, 2.0]), 2, 3), sh.Gaussian(2), width=1),
    "bias": sh.Problem(BIASED, sh.Gaussian(2), width=1, bias=True),
}


def loss_at(problem: sh.Problem, vector: Any, sign: float) -> float:
    """By the problem itself, from the weights a picture shows: the bias is the first of them."""
    w, bias = (vector[1:], [vector[0]]) if problem.bias else (vector, None)
    if problem.outer is None:
        return problem.loss(sh.Network([w], [sign], problem.activation, bias=bias))
    a = float(problem.outer[0, 0])
    return problem.loss(sh.Network([np.asarray(w) / abs(a) ** (1 / problem.degree)], [a], problem.activation))


def signs_of(figure: Any, problem: sh.Problem) -> list[float]:
    titles = [note.text for note in figure.layout.annotations]
    if titles:
        return [1.0 if ">" in title else -1.0 for title in titles]
    return [1.0]


@pytest.mark.parametrize("name", PROBLEMS)
def test_colours_markers_and_levels_are_losses(name: str, rng: np.random.Generator) -> None:
    problem = PROBLEMS[name]
    chart = sh.chart(problem)
    tree = chart.connections()
    figure = tree.sublevel_figure()
    signs = signs_of(figure, problem)
    levels = sorted({round(edge.loss, 9) for edge in tree.edges})
    known = np.array([point.loss for point in chart.critical])
    for trace in figure.data:
        place = getattr(trace, "xaxis", None) or getattr(trace, "scene", "scene")
        sign = signs[1 if str(place).endswith("2") else 0]
        if trace.type == "heatmap":
            for i, j in rng.integers(0, len(trace.x), (6, 2)):
                true = loss_at(problem, np.array([trace.x[i], trace.y[j]]), sign)
                assert np.isclose(trace.z[j][i], min(true, trace.zmax), rtol=1e-9)
        elif trace.type == "contour":
            assert trace.contours.start == trace.contours.end
            assert min(abs(trace.contours.start - level) for level in levels) < 1e-6 * abs(
                trace.contours.start
            )
        elif trace.type == "isosurface":
            i = int(rng.integers(len(trace.x)))
            true = loss_at(problem, np.array([trace.x[i], trace.y[i], trace.z[i]], dtype=float), sign)
            assert np.isclose(trace.value[i], true, rtol=1e-4)
            assert min(abs(trace.isomin - level) for level in levels) < 1e-6 * abs(trace.isomin)
        else:
            axes = [trace.x, trace.y, *([trace.z] if trace.type == "scatter3d" else [])]
            for vector in np.stack([np.asarray(axis, dtype=float) for axis in axes], axis=1):
                assert np.min(np.abs(known - loss_at(problem, vector, sign))) < 1e-7 * np.max(known)


def test_every_critical_point_is_marked() -> None:
    tree = sh.chart(PROBLEMS["heavy tails"]).connections()
    marked = sum(len(trace.x) for trace in tree.sublevel_figure().data if trace.type == "scatter")
    assert marked == 2 * 4 + 1  # two minima and two saddles, w and −w, and the zero network


@pytest.mark.parametrize("name", ["both signs", "heavy tails", "in space", "bias"])
def test_the_student_of_an_animation_has_the_loss_beside_it(name: str) -> None:
    problem = PROBLEMS[name]
    way = sh.chart(problem).connections().crossing(0)
    figure = way.animation()
    assert len(figure.frames) > 10
    seen = [float(frame.data[-1].y[0]) for frame in figure.frames]
    assert max(seen) == pytest.approx(way.losses[way.top])
    assert way.losses[way.top] == pytest.approx(max(way.losses))
    for frame in figure.frames[:: len(figure.frames) // 5]:
        trace, loss = frame.data[0], float(frame.data[-1].y[0])
        vector = np.array([trace.x[1], trace.y[1]]) if trace.type == "scatter" else np.asarray(trace.y)
        sign = (
            1.0
            if (trace.line.color if trace.type == "scatter" else trace.marker.color) == "#0072B2"
            else -1.0
        )
        assert loss_at(problem, vector, sign) == pytest.approx(loss, rel=1e-7)


@pytest.mark.parametrize(
    "problem",
    [
        sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=2),
        sh.Problem(np.diag([4.0, 3.0, 2.0, 1.0]), sh.Gaussian(4), width=1),
    ],
    ids=["width 2", "four weights"],
)
def test_other_landscapes_are_refused_with_what_there_is(problem: sh.Problem) -> None:
    with pytest.raises(sh.InvalidProblem, match=r"two or three weights.*tree\.figure\(\)"):
        sh.chart(problem).connections().sublevel_figure()
    with pytest.raises(sh.InvalidProblem, match="function space"):
        sh.chart(sh.Problem(np.eye(2), sh.Gaussian(2), width=2, outer="ones")).connections(
            space="parameters"
        ).sublevel_figure()
