"""What a user holds prints in a line or a table, can be copied, and goes to another process: by example."""

import copy
import pickle
import re

import flint
import numpy as np
import pytest
from flint import Ordering, acb, acb_mat, arb, arb_mat, fmpq, fmpq_mpoly_ctx, fmpz_mpoly_ctx

import shallows as sh
from shallows.support.checks import counted


def _square_problem(data):
    return sh.Problem(np.diag([3.0, 1.0]), data, width=1)


def _cubic_path():
    first = sh.Network([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], a=[1.0, 1.0, 0.0])
    return sh.fiber_path(first, sh.Network([[0.0, 1.0], [1.0, 0.0], [1.0, 2.0]], a=[1.0, 1.0, 0.0]))


def _regions():
    axes = ("t00", -1, 3), ("t11", -1, 3)
    return sh.landscape_regions(_square_problem(sh.IID.laplace(2)), *axes, resolution=21)


def _relu(k):
    return sh.Network(np.eye(k), activation=sh.ReLU())


EXAMPLES = {
    "Network": lambda: sh.Network([[1.0, 2.0]], a=[-1.0], norm=0.5),
    "Network, two outputs": lambda: sh.Network(np.eye(2), np.ones((2, 2)), sh.ReLU()),
    "Network, smooth": lambda: sh.Network(np.eye(2), activation=sh.Smooth(np.tanh)),
    "Polynomial": lambda: sh.Polynomial([1, 2, 3]),
    "SymmetricTensor": lambda: sh.SymmetricTensor.from_matrix(np.diag([1.0, 2.0])),
    "Gaussian": lambda: sh.Gaussian(2, np.diag([1.0, 2.0]), [1.0, 0.0]),
    "IID": lambda: sh.IID(2, [1, 0, 1, 0, 6]),
    **{f"IID.{law}": lambda law=law: getattr(sh.IID, law)(3) for law in ("normal", "uniform", "laplace", "rademacher")},
    "IID.student": lambda: sh.IID.student(2, 7.5),
    "Radial": lambda: sh.Radial(2, [1, 1, 1.5, 3, 8]),
    "Sphere": lambda: sh.Sphere(3),
    "Mixture": lambda: sh.Mixture([0.5, 0.5], [sh.Gaussian(2), sh.IID.laplace(2)]),
    "Samples": lambda: sh.Samples(np.eye(2), [1.0, 2.0]),
    "Frobenius": lambda: sh.Frobenius(2),
    "Metric": lambda: sh.Metric(2, 2, np.eye(3)),
    "Problem": lambda: _square_problem(sh.IID.laplace(2)),
    "Problem, ReLU": lambda: sh.Problem(_relu(3), sh.Gaussian(3), 3, outer="ones"),
    "Problem, smooth": lambda: sh.Problem(sh.Network(np.eye(2), activation=sh.Smooth(np.tanh)), sh.Gaussian(2), 2),
    "Chart": lambda: sh.chart(_square_problem(sh.IID(2, [1, 0, 1, 0, 6]))),
    "CriticalPoint": lambda: sh.chart(_square_problem(sh.Gaussian(2))).points[0],
    "Ensemble": lambda: sh.ensemble(_square_problem(sh.IID.laplace(2)), 5, rng=0),
    "Minimum": lambda: sh.ensemble(_square_problem(sh.Gaussian(2)), 5, rng=0).minima[0],
    "Run": lambda: sh.descend(_square_problem(sh.Gaussian(2)), [1.0, 1.0, 1.0]),
    "Path": _cubic_path,
    "FocalPoint": lambda: sh.focal_points(_square_problem(sh.Frobenius(2)), np.diag([3.0, 0.0])),
    "Regime": lambda: sh.regime(2, 5, 3),
    "Barrier": lambda: sh.energy_barrier(np.diag([1.0, 2.0])),
    "Span": lambda: sh.spans_symmetric(np.eye(3)),
    "SymmetricMinimum": lambda: sh.symmetric_minimum(7, [1, 6]),
    "Claim": lambda: sh.claims("000")[0],
    "Discriminant": lambda: sh.discriminants.ellipse(4, 1),
    "Factorization": lambda: sh.discriminants.rank_one(2).specialize(data=sh.Frobenius(2)).factor(),
    "Solutions": lambda: sh.homotopy.solve(["x^2 + y - 3", "x*y - 1"]),
    "Certification": lambda: sh.homotopy.solve(["x^2 + y - 3", "x*y - 1"]).certify(),
    "TraceTest": lambda: sh.homotopy.TraceTest(True, 1e-12, 4, 1, np.zeros((0, 1), complex)),
    "Solution": lambda: sh.homotopy.solve(["x^2 + y - 3", "x*y - 1"]).finite[0],
    "CertifiedRoot": lambda: sh.homotopy.solve(["x^2 + y - 3", "x*y - 1"]).certify().certified[0],
    "LandscapeRegions": _regions,
    "ConvexOptimum": lambda: sh.quadratic.convex_optimum(_square_problem(sh.Gaussian(2))),
    "Straight": lambda: _cubic_path().segments[0],
    "Error": lambda: sh.InvalidProblem("what was given"),
}  # fmt: skip
WAYS = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_results_print_for_people(name):
    """No raw arrays or addresses, no line that wraps in a wide terminal, and one of a thing is no plural."""
    text = repr(EXAMPLES[name]())
    assert "array(" not in text and " object at 0x" not in text
    assert max(len(line) for line in text.splitlines()) <= 160
    assert not re.search(
        r"(?<![\d.,])1 (?:more |real |local |critical )*(?!is\b|was\b|does\b)[a-z]+(?:s|minima|maxima)\b",
        text,
    )


def test_counted_words():
    words = [counted(1, "run"), counted(0, "run"), counted(1, "local minimum"), counted(2, "local minimum")]
    assert words == ["1 run", "0 runs", "1 local minimum", "2 local minima"]


def test_a_span_explains_itself_in_grammatical_sentences():
    one = sh.spans_symmetric(np.eye(2)).explain()
    assert "at least 1 more is missing" in one and "nor" not in one
    assert "(nor 1 other)" in sh.spans_symmetric([[1.0, 1.0]]).explain()
    assert "1 sample spans 1 of the 3" in sh.spans_symmetric([[1.0, 1.0]]).explain()


def test_points_of_a_system_print_as_points():
    solution = sh.homotopy.solve(["x^2 + y^2 - 5", "x*y - 2"], rng=0).real[0]
    assert re.fullmatch(r"Solution\(\(-?\d, -?\d\), real, residual \S+, condition \S+\)", repr(solution))
    assert "multiplicity 2" in repr(sh.homotopy.solve(["(x - 1)^2*(x + 2)"]).singular[0])
    pair = {repr(s).split(")")[0] for s in sh.homotopy.solve(["x^2 + 1"]).finite}
    assert pair == {"Solution((0+1j", "Solution((0-1j"}
    many = sh.homotopy.Solution(np.arange(9, dtype=complex), real="real")
    assert repr(many).startswith("Solution((0, 1, 2, 3, 4, 5, … 9 coordinates), real")


@pytest.mark.parametrize(("noise", "words"), [(0.0, "loss 0 to rounding"), (1e-7, "loss 1.")])
@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_a_convex_optimum_tells_rounding_from_a_loss(noise, words, shift, rng):
    X = rng.standard_normal((200, 4)) + shift
    A = rng.standard_normal((4, 4))
    residual = np.sqrt(1.05) * noise * np.sign(rng.standard_normal(200))
    y = np.einsum("ni,ij,nj->n", X, A + A.T, X) + residual
    best = sh.quadratic.convex_optimum(sh.Problem(None, sh.Samples(X, y), width=4))
    assert (
        words in repr(best)
        if noise == 0
        else best.loss > 1e3 * best.rounding and "rounding" not in repr(best)
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_copies_print_alike(name):
    value = EXAMPLES[name]()
    for way in WAYS.values():
        again = way(value)
        assert type(again) is type(value)
        assert repr(again) == repr(value)


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_network_is_the_same_function_and_as_immutable(way, rng):
    net = sh.Network(rng.standard_normal((3, 2)), rng.standard_normal((2, 3)), sh.Power(3), [0.0, 1.0])
    again, X = WAYS[way](net), rng.standard_normal((5, 2))
    np.testing.assert_array_equal(again(X), net(X))
    with pytest.raises(AttributeError, match="immutable"):
        again.W = net.W
    with pytest.raises(ValueError, match="read-only"):
        again.W[0, 0] = 1.0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "data", [sh.IID.student(2, 5.5), sh.IID(2, [1, 0.1, 1, 0, 6]), sh.Gaussian(2)], ids=repr
)
def test_a_copied_problem_has_the_same_loss_and_draws_the_same_samples(way, data):
    problem = _square_problem(data)
    again, theta = WAYS[way](problem), np.array([0.3, -0.7, 1.2])
    assert again.value(theta) == problem.value(theta)
    np.testing.assert_array_equal(again.data.sample(4, rng=1), data.sample(4, rng=1))


def test_a_chart_from_another_process_keeps_its_certificates():
    chart = sh.chart(_square_problem(sh.IID.laplace(2)))
    again = pickle.loads(pickle.dumps(chart))
    assert [p.certificate for p in again.points] == [p.certificate for p in chart.points]
    assert [p.loss for p in again.points] == [p.loss for p in chart.points]


@pytest.mark.parametrize("way", ["pickle", "deepcopy"])
def test_balls_are_copied_without_rounding_whatever_the_precision(way):
    old = flint.ctx.prec
    try:
        flint.ctx.prec = 300
        x = arb(1) / 3
    finally:
        flint.ctx.prec = old
    for value in (x, x * 0, arb(2) ** -2000, arb(5, 0.25), arb(5, 0.3), arb(5, 1e-300), arb(0, 3)):
        again = WAYS[way](value)
        assert again.mid().man_exp() == value.mid().man_exp()
        assert again.rad().man_exp() == value.rad().man_exp()
    for value in (arb("nan"), arb("inf"), arb(0, float("inf"))):
        assert str(WAYS[way](value)) == str(value)
    z = WAYS[way](acb(x, 2))
    assert z.real.mid().man_exp() == x.mid().man_exp()
    for kind, entry in ((arb_mat, x), (acb_mat, acb(x, 1))):
        matrix = WAYS[way](kind(1, 2, [entry, entry * 2]))
        assert (matrix.nrows(), matrix.ncols()) == (1, 2)
        assert str(matrix[0, 1]) == str(entry * 2)


@pytest.mark.parametrize("way", ["pickle", "deepcopy"])
def test_exact_polynomials_are_copied_with_their_ring(way):
    integral = fmpz_mpoly_ctx.get(("x", "y"), Ordering.degrevlex).from_dict({(1, 2): 3, (0, 0): -(10**40)})
    rational = fmpq_mpoly_ctx.get(("t",), Ordering.lex).from_dict({(5,): fmpq(1, 3)})
    for p in (integral, rational):
        again = WAYS[way](p)
        assert again == p and again.context() is p.context()
