"""The landscape against brute force: losses by the problem itself, descents by SciPy, joins by the merge tree."""

from base64 import b64decode

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import shallows as sh
from shallows.uses.landscape.direction_loss import DirectionLoss
from shallows.uses.landscape.disc import frame_of, from_disc
from shallows.uses.landscape.picture import landscape
from shallows.uses.landscape.rolling import Neuron

TEACHER = np.diag([2.0, 1.5, 1.0])
QUADRATIC = sh.Power(2)
MIXED = np.array([[2.0, 0.4, 0.1], [0.4, -1.5, 0.2], [0.1, 0.2, 1.0]])


def heavy(fourth, n=3):
    return sh.IID(n, [1, 0, 1, 0, fourth])


def two_neurons(bias=None, activation=QUADRATIC, W=((1.0, 0.3), (-0.2, 0.8))):
    return sh.Network(np.array(W), [1.0, -1.0], activation=activation, bias=bias)


PROBLEMS = {
    "heavy tails": sh.Problem(TEACHER, heavy(30.0), 1),
    "Gaussian": sh.Problem(TEACHER, sh.Gaussian(3), 1),
    "both signs": sh.Problem(MIXED, heavy(9.0), 1),
    "only a = 1": sh.Problem(MIXED, heavy(9.0), 1, outer="ones"),
    "two inputs": sh.Problem(np.array([[2.0, 0.3], [0.3, -1.2]]), heavy(9.0, 2), 1),
    "cubic": sh.Problem(two_neurons(activation=sh.Power(3), W=((1, 0.3, 0.1), (-0.2, 0.8, 0.3))), sh.Gaussian(3), 1),
    "bias": sh.Problem(two_neurons([0.3, 0.2]), sh.Gaussian(2), 1, bias=True),
    "polynomial": sh.Problem(two_neurons(activation=sh.Polynomial([1, 1, 1])), sh.Gaussian(2), 1),
    "z + z²": sh.Problem(two_neurons(activation=sh.Polynomial([0, 1, 1])), sh.Gaussian(2), 1),
}  # fmt: skip


def network(problem, w, a):
    """a σ(w·x): with a bias or a polynomial activation w has the constant first."""
    if problem.bias:
        return sh.Network([w[1:]], [a], problem.activation, bias=[w[0]])
    if isinstance(problem.activation, sh.Polynomial):
        return sh.Network([w[1:] / w[0]], [a], problem.activation)
    return sh.Network([w], [a], problem.activation)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_best_neuron_of_a_direction_is_that_of_the_problem(name):
    problem = PROBLEMS[name]
    loss, rng = DirectionLoss.of(problem), np.random.default_rng(5)
    if name == "only a = 1":
        free = sh.Problem(MIXED, heavy(9.0), 1)
    for u in rng.standard_normal((12, loss.n)):
        u /= np.linalg.norm(u)
        if name == "only a = 1":  # s·uuᵀ with s ≥ 0, by the problem in which a is trained
            at = [free.loss(network(free, u, a)) for a in (0.0, 1.0, -1.0)]
        else:
            at = [problem.loss(network(problem, u, a)) for a in (0.0, 1.0, -1.0)]
        k, c = (at[1] + at[2]) / 2 - at[0], (at[2] - at[1]) / 4  # the loss is at₀ − 2ca + ka²
        best = max(c / k, 0.0) if name == "only a = 1" else c / k
        assert float(loss.values(u)) == pytest.approx(at[0] - 2 * c * best + k * best**2, rel=1e-9)


@pytest.mark.parametrize("name", PROBLEMS)
def test_slopes_and_descents_are_those_of_the_problem(name):
    problem = PROBLEMS[name]
    loss, rng, h = DirectionLoss.of(problem), np.random.default_rng(6), 1e-6
    u = rng.standard_normal((5, loss.n))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    for place, slope in zip(u, loss.gradients(u), strict=True):
        across = rng.standard_normal(loss.n)
        across -= (across @ place) * place
        ends = [(place + s * h * across) / np.linalg.norm(place + s * h * across) for s in (1, -1)]
        change = float(loss.values(ends[0]) - loss.values(ends[1])) / (2 * h)
        assert float(slope @ across) == pytest.approx(change, rel=1e-5, abs=1e-6 * loss.zero)
    neuron = Neuron(problem, loss)
    thetas = sh.starts(problem, 4, rng=1)
    losses, gradients = neuron.evaluate(problem.lift(thetas))
    for theta, value, gradient in zip(thetas, losses, gradients, strict=True):
        net = problem.unpack(theta)
        assert value == pytest.approx(problem.loss(net), rel=1e-9)
        np.testing.assert_allclose(problem.lower(gradient), problem.gradient(net), rtol=1e-4, atol=1e-6)


def on_disc(frame, u):
    """The places (…, 2) of directions (…, 3), whichever of u and −u is on this side: the inverse of `from_disc`."""
    seen = u @ frame.T
    seen = seen * np.where(seen[..., :1] < 0, -1.0, 1.0)
    length = np.linalg.norm(seen, axis=-1, keepdims=True)
    return seen[..., 1:] / np.sqrt(length * (length + seen[..., :1]))


def test_the_disc_has_every_direction_once():
    rng = np.random.default_rng(2)
    u = rng.standard_normal((50, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    for lifted in (False, True):
        frame = frame_of(lifted)
        np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-12)
        again = from_disc(frame, on_disc(frame, u))
        np.testing.assert_allclose(np.abs(np.sum(again * u, axis=1)), 1, atol=1e-12)
        assert np.linalg.norm(on_disc(frame, u), axis=1).max() <= 1 + 1e-12


def joins(chart):
    """Rows at which valleys meet, by the merge tree; the zero network has no direction."""
    return {edge.row + 1 for edge in chart.connections().edges if edge.point.rank}


CASES = [(TEACHER, 30.0), (TEACHER, 3.0), (MIXED, 9.0), (np.diag([2.0, 1.8, -1.0]), 12.0)]
MORE = [(np.random.default_rng(i).standard_normal((3, 3)), 3.0 + 4 * i) for i in range(12)]


@pytest.mark.parametrize(
    ("teacher", "fourth"), CASES + [pytest.param(*case, marks=pytest.mark.thorough) for case in MORE]
)
def test_bold_paths_are_the_joins_of_the_merge_tree(teacher, fourth):
    chart = sh.chart(sh.Problem((teacher + teacher.T) / 2, heavy(fourth), 1))
    paths = landscape(chart, runs=0)["paths"]
    assert {path["saddle"] for path in paths if path["join"]} == joins(chart)
    edges = {edge.row + 1: set(edge.leaves) for edge in chart.connections().edges}
    leaves = {leaf.row + 1: leaf.number for leaf in chart.connections().leaves}
    for saddle in joins(chart):
        assert {leaves[path["end"]] for path in paths if path["saddle"] == saddle} == edges[saddle]


def label_at(picture, place):
    side, labels = picture["basins"]["side"], b64decode(picture["basins"]["labels"])
    column, row = round((place[0] + 1) / 2 * (side - 1)), round((1 - place[1]) / 2 * (side - 1))
    return picture["basins"]["numbers"][labels[row * side + column] - 1]


@pytest.mark.parametrize("teacher", [TEACHER, MIXED])
def test_basins_are_where_descent_ends(teacher):
    problem = sh.Problem(teacher, heavy(30.0), 1)
    chart = sh.chart(problem)
    picture, rng = landscape(chart, runs=0), np.random.default_rng(3)
    minima = {p["number"]: np.array(p["u"]) for p in picture["points"] if p["u"] and p["index"] == 0}
    frame, loss, h = np.array(picture["frame"]), DirectionLoss.of(problem), 1e-6

    def slope(_, u):  # by differences of losses, not by the gradient that is tested
        u = u / np.linalg.norm(u)
        ahead, back = loss.values(u + h * np.eye(3)), loss.values(u - h * np.eye(3))
        return -(ahead - back) / (2 * h) / loss.zero

    agree = []
    for place in rng.uniform(-0.7, 0.7, (12, 2)):
        end = solve_ivp(slope, (0, 60), from_disc(frame, place), rtol=1e-4, atol=1e-6).y[:, -1]
        reached = max(minima, key=lambda number: abs(minima[number] @ end))
        agree.append(label_at(picture, place) == reached)
    assert np.mean(agree) >= 0.9  # a place within half a pixel of a border may be on either side


def best_loss(problem, u):
    """By the problem's own loss, a parabola in the outer weight: its value at the bottom."""
    minus, zero, plus = (problem.loss(sh.Network(np.array([u]), [a])) for a in (-1.0, 0.0, 1.0))
    return zero - (plus - minus) ** 2 / (8 * (plus + minus - 2 * zero))


#: Losses along a line whose places are rounded for the page, relative to the largest: a few units of its last place.
ROUNDED = 2e-3


@pytest.mark.parametrize("fourth", [1.1, 9.0, 46.1])
@pytest.mark.parametrize("seed", range(4))
def test_borders_climb_to_a_top_or_to_the_zero_network(fourth, seed):
    """They went to and fro over the ridge where the best neuron is none, until their 480 steps were spent."""
    teacher = np.random.default_rng(seed).normal(size=(3, 3))
    problem = sh.Problem(teacher + teacher.T - np.diag([0, 0, 3.0]), heavy(fourth), 1)
    picture = landscape(sh.chart(problem), runs=0)
    tops = [np.array(p["u"]) for p in picture["points"] if p["u"] and p["index"] == 2]
    zero = problem.loss(sh.Network(np.zeros((1, 3)), [0.0]))
    for line in picture["borders"]:
        values = np.array([best_loss(problem, u) for u in line])
        assert np.all(np.diff(values) > -ROUNDED * zero)
        ended = values[-1] > (1 - ROUNDED) * zero or any(
            abs(np.array(line[-1]) @ top) > 1 - ROUNDED for top in tops
        )
        assert ended


def test_training_rolls_into_the_minima():
    chart = sh.chart(PROBLEMS["heavy tails"])
    picture = landscape(chart)
    minima = np.array([p["u"] for p in picture["points"] if p["u"] and p["index"] == 0])
    ends = np.array([run["line"][-1] for run in picture["runs"] if not run["died"]])
    assert len(picture["runs"]) == 24 and np.abs(ends @ minima.T).max(axis=1).min() > 0.98
    # a neuron that begins with a < 0 cannot change its sign if a² > ‖w‖²/2 (Corollary 17): it dies at the zero network
    runs = sh.ensemble(chart.problem, runs=24, rng=chart.seed)
    assert sum(run["died"] for run in picture["runs"]) == sum(
        abs(loss - 230.5) < 1e-3 for loss in runs.losses
    )


def test_families_and_what_has_no_picture():
    picture = landscape(sh.chart(sh.Problem(np.eye(3), sh.Gaussian(3), 1)))
    assert picture["basins"] is None and any(point["family"] for point in picture["points"])
    for problem in (
        sh.Problem(np.eye(3), sh.Gaussian(3), 2),
        sh.Problem(np.eye(4), sh.Gaussian(4), 1),
        sh.Problem(sh.Network(np.eye(2), activation=sh.ReLU()), sh.Gaussian(2), 1),
    ):
        assert DirectionLoss.of(problem) is None
    degenerate = sh.chart(sh.Problem(np.diag([2.25, 1.75, 1.0]), heavy(6.0), 1))  # on the discriminant
    assert landscape(degenerate)["points"]
    assert landscape(sh.chart(sh.Problem(np.zeros((3, 3)), sh.Gaussian(3), 1))) is not None
