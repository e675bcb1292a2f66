"""Figures: what is drawn is what was computed (how they look was judged by eye)."""

import numpy as np
import pytest

import shallows as sh
from shallows.discriminants import ellipse, focal_cloud, follow, landscape_at, landscape_regions, rank_one
from shallows.questions.discriminants.figures import figure2_centre, figure2_left, figure2_right, focal_rays


def named(figure, part):
    return [trace for trace in figure.data if trace.name and part in trace.name]


def test_figure_2_left_has_a_teacher_with_four_and_one_with_two_critical_points():
    figure = figure2_left()
    assert [t.name.rsplit(": ")[1] for t in named(figure, "teacher")] == [
        "4 critical points",
        "2 critical points",
    ]
    points = [len(t.x) for t in named(figure, "its")]
    assert points == [2, 2, 1, 1]
    (focal,) = named(figure, "focal")
    astroid = np.cbrt(2 * np.array(focal.x)) ** 2 + np.cbrt(np.array(focal.y)) ** 2
    assert np.allclose(astroid, 3 ** (2 / 3))


def test_figure_2_centre_has_the_focal_curve_of_every_metric():
    figure = figure2_centre(stretches=(0.5, 1.0), shears=(-0.5, 0.5))
    for trace in named(figure, " = "):
        name, value = trace.name.split(" = ")
        metric = {"m11": 1.0, "m12": 0.0, "m22": 1.0, name: float(value)}
        P = ellipse(4, 1).specialize(**metric)
        k = 100
        values = {"x": float(trace.x[k]), "y": float(trace.y[k])}
        scale = sum(abs(c) * abs(values["x"]) ** e[0] * abs(values["y"]) ** e[1] for e, c in P.terms.items())
        assert abs(float(P.evaluate(**values))) < 1e-9 * scale
    assert len(named(figure, " = ")) == 4


@pytest.mark.parametrize("moment", [1, 2, 4])
def test_figure_2_right_rays_lie_on_the_focal_surface(moment):
    P = rank_one(2).specialize(m0000=1, m1111=1, m0101=moment, m0001=0, m0011=0, m0111=0)
    for ray in focal_rays(moment, np.linspace(0.1, 3.0, 12)):
        t = ray / np.max(np.abs(ray))
        scale = sum(abs(c) * np.prod(np.abs(t) ** np.array(e)) for e, c in P.terms.items())
        value = float(P.evaluate(t00=float(t[0]), t01=float(t[1]), t11=float(t[2])))
        assert abs(value) < 1e-9 * float(scale)
    assert landscape_at(P, t00=1, t01=0, t11=1).real_count == 4  # the identity is inside
    assert landscape_at(P, t00=1, t01=0, t11=0.01).real_count == 2


def test_figure_2_right_has_the_cone_and_three_surfaces():
    figure = figure2_right()
    surfaces = [t for t in figure.data if t.type == "surface"]
    assert len(surfaces) == 4
    cone = surfaces[0]
    assert np.max(np.abs(np.array(cone.x) * np.array(cone.z) - np.array(cone.y) ** 2)) < 1e-12


def test_slices_name_every_landscape_and_both_walls():
    problem = sh.Problem(np.eye(2), sh.IID.laplace(2), width=1)
    figure = landscape_regions(problem, ("t00", -1, 3), ("t01", -2, 2), resolution=31).figure()
    assert len(named(figure, "critical points,")) == 3
    assert len(named(figure, "discriminant")) == len(named(figure, "vertex wall")) == 1
    metric = landscape_regions(problem, ("t00", -1, 3), ("m0101", 1, 2), t01=0.1, resolution=11).figure()
    assert not named(metric, "vertex wall")  # no closed form when the metric varies: regions only


def test_paths_and_clouds():
    start = sh.Problem(np.diag([1.0, 1.0]), sh.IID.laplace(2), width=1)
    end = sh.Problem(np.diag([3.0, 0.5]), sh.IID.laplace(2), width=1)
    figure = follow(start, end, samples=9).figure()
    assert len(figure.data) == 8 and len(figure.layout.shapes) == 1
    cloud = focal_cloud(sh.IID.laplace(3), rank=2, count=4)
    assert len(cloud.figure().data[0].x) == len(cloud)
    assert cloud.figure((0, 1)).data[0].type == "scatter"
