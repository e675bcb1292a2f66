"""Two squares with two outputs and a bias: 45 networks of two neurons under a Gaussian moved along a line.

Some lie 10³ and more times as far out as the target, where doubles could make them up: they are solved for again with
60 digits, from moments written down here.
"""

import mpmath as mp
import numpy as np
import pytest
from tests.questions.charts.gradient_zeros import gradient_zeros

import shallows as sh
from shallows.questions.charts.continuation.equations import family
from shallows.questions.charts.continuation.kept_members import kept_member
from shallows.questions.charts.outputs.equations import OutputEquations
from shallows.questions.charts.outputs.merged_equations import MergedOutputEquations
from shallows.questions.charts.outputs.metrics import MovedMetrics, moved_frame
from shallows.questions.charts.outputs.shared_map import SharedEquations

EQUATIONS, MOVED = OutputEquations.of_powers(2, 3, 2, 2), MovedMetrics("moved Gaussian", 2, 3)
PAIRS = [(i, j) for i in range(3) for j in range(i, 3)]
#: Newton's method in 60 digits moves a point of doubles by its own error only: relatively, at a condition of 10⁸.
NEAR = 1e-7


def even(power):
    """E z^power of a normal z."""
    return 0 if power % 2 else int(np.prod(range(1, power, 2)))


#: Products of four coordinates that have a moment: indices, half the power of x₁, and the moment of the others.
MOMENTS = [
    (index, index.count(0) // 2, even(index.count(1)) * even(index.count(2)))
    for index in np.ndindex(3, 3, 3, 3)
    if not any(index.count(k) % 2 for k in range(3))
]


def inner(a, b, c, d, u):
    """E[(a·x)(b·x)(c·x)(d·x)] of x = (x₁, z₂, z₃) with E x₁²ʲ = u_j, by all products of coordinates."""
    return mp.fsum(u[j] * moment * a[p] * b[q] * c[r] * d[s] for (p, q, r, s), j, moment in MOMENTS)


def conditions(frame, u, g):
    """∂L/∂a_im and ∂L/∂z_ij of two neurons F(1, z), g the products of the target with the monomials of (1, z)."""

    def at(*x):
        A, Z = [x[0:2], x[4:6]], [[mp.mpf(1), *x[2:4]], [mp.mpf(1), *x[6:8]]]
        W = [[mp.fsum(frame[a][b] * z[b] for b in range(3)) for a in range(3)] for z in Z]
        rows = []
        for i in range(2):
            for m in range(2):
                pull = mp.fsum(g[m][k] * Z[i][p] * Z[i][q] for k, (p, q) in enumerate(PAIRS))
                rows.append(mp.fsum(A[j][m] * inner(W[i], W[i], W[j], W[j], u) for j in range(2)) - pull)
            for k in (1, 2):
                along = [frame[a][k] for a in range(3)]
                slope = mp.mpf(0)
                for m in range(2):
                    push = mp.fsum(2 * A[j][m] * inner(along, W[i], W[j], W[j], u) for j in range(2))
                    pull = mp.fsum(
                        g[m][e] * ((p == k) * Z[i][q] + (q == k) * Z[i][p]) for e, (p, q) in enumerate(PAIRS)
                    )
                    slope += A[i][m] * (push - pull)
                rows.append(slope)
        return rows

    return at


def test_the_farthest_points_of_the_member_are_solutions_with_60_digits():
    member = kept_member(EQUATIONS, MOVED)
    assert len(member.points) == 45 and member.completeness == "trace-tested"
    with mp.workdps(60):
        u = [mp.mpc(complex(x)) for x in member.parameters[:3]]
        g = [[mp.mpc(complex(x)) for x in row] for row in member.parameters[3:].reshape(2, 6)]
        equations = conditions([[mp.mpf(float(x)) for x in row] for row in moved_frame(3)], u, g)
        farthest = np.argsort(np.abs(member.points).max(axis=1))[[0, 20, -2, -1]]
        for x in member.points[farthest]:
            found = mp.findroot(equations, [mp.mpc(complex(entry)) for entry in x], tol=1e-80)
            apart = max(abs(new - complex(old)) for new, old in zip(found, x, strict=True))
            assert apart < NEAR * np.abs(x).max()


def test_the_metric_of_a_bias_is_one_of_them_in_the_turned_frame():
    """G of (1, z) in coordinates F(1, z), by the naive contraction."""
    frame, u = moved_frame(3), np.array([1.0, 1.0, 1.0])
    gram = MOVED.at(u + 0j).high.real
    with mp.workdps(30):
        for a, (i, j) in enumerate(PAIRS):
            for b, (k, l) in enumerate(PAIRS):
                F = frame.T.tolist()
                orders = [(F[i], F[j]), (F[j], F[i])], [(F[k], F[l]), (F[l], F[k])]
                value = inner(*orders[0][0], *orders[1][0], u.tolist())
                shares = (1 + (i != j)) * (1 + (k != l))  # s_ij stands for s_ji, too
                assert float(mp.re(value)) * shares == pytest.approx(gram[a, b], rel=1e-14, abs=1e-14)


@pytest.mark.parametrize(
    "equations",
    [EQUATIONS, MergedOutputEquations(2, 3, 2, (2,)), SharedEquations(3, (2,), 2)],
    ids=lambda equations: type(equations).__name__,
)
def test_lost_paths_have_other_coordinates_in_which_solutions_are_solutions(equations, rng):
    """Several outputs were offered none."""
    gram = MOVED.at(rng.standard_normal(3) + 0j).high
    x, g = equations.first(gram, rng)
    whole = family(equations)
    parameters = np.concatenate([gram[np.triu_indices(6)], g])
    for way in range(4):
        other = whole.elsewhere(way, parameters, parameters)
        there = other.there(x[None])
        value, jacobian = other.segment.at(np.append(there[0], 0.0))
        assert np.abs(value).max() < 1e-9 * np.abs(there).max() ** 3
        assert np.linalg.cond(jacobian[:, :-1]) < 1e12
        np.testing.assert_allclose(
            equations.tensors(other.back(there)), equations.tensors(x[None]), rtol=1e-9
        )


def teacher(seed, neurons, n=2):
    rng = np.random.default_rng(seed)
    W, a, b = (
        rng.standard_normal((neurons, n)),
        rng.standard_normal((2, neurons)),
        rng.standard_normal(neurons),
    )
    return sh.Network(W, a, sh.Power(2), bias=b)


@pytest.mark.parametrize(
    ("seed", "neurons"), [(1, 6), (4, 2), (6, 6), pytest.param(5, 6, marks=pytest.mark.thorough)]
)
def test_generic_targets_lose_no_path(seed, neurons):
    """They were "sampled": some networks are so far out that doubles lose them on every way."""
    problem = sh.Problem(teacher(seed, neurons), sh.Gaussian(2), 2, bias=True)
    chart = sh.chart(problem)
    assert chart.completeness == "trace-tested" and chart.complex_count[1] == 17
    assert not any("lost" in note for note in chart.notes)
    listed = np.append(chart.losses, chart.infimum)
    for net in gradient_zeros(problem, 6, np.random.default_rng(seed), (0.5, 1.0), far=20.0):
        value = problem.loss(net)
        assert np.abs(listed - value).min() < 1e-6 * (1 + value)


def test_an_identity_is_charted_by_the_trace_test():
    net = sh.Network(np.eye(2), np.eye(2), sh.Power(2), bias=np.zeros(2))
    chart = sh.chart(sh.Problem(net, sh.Gaussian(2), 2, bias=True))
    assert chart.completeness == "trace-tested" and chart.infimum == pytest.approx(0.0, abs=1e-12)
