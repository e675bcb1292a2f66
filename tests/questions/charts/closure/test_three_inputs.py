"""Limits of three cubic neurons in three inputs against searches that share no code with them.

Tensors are arrays 3×3×3 here, limits are written with outer products, and critical ones are looked for by minimisation
from random starts: w²v + p³ (a pair beside a neuron) and ±wv² + w²u (three merged).
"""

from itertools import permutations
from math import factorial

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize

import shallows as sh
from shallows.mathematics.ed_degree import osculating_degree, pair_beside_neuron_degree

N = 10
#: Steps end where the loss no longer falls, to 1e-15 of it, and gradients are then 1e-6 and less (measured): losses are
#: those of minima to 1e-11, where they are compared to 1e-6.
ENDED = 1e-5


def random_problem(data, seed, **options):
    rng = np.random.default_rng([seed, 33])
    if data is None:
        root = rng.standard_normal((N, N + 5))
        data = sh.Metric(3, 3, root @ root.T / 15)
    return sh.Problem(sh.SymmetricTensor(rng.standard_normal(N), 3, 3), data, 3, **options)


def product(a, b, c):
    """The symmetric product of three vectors, by entries i ≤ j ≤ k."""
    T = np.einsum("i,j,k->ijk", a, b, c)
    T = sum(np.transpose(T, order) for order in permutations(range(3))) / factorial(3)
    return np.array([T[i, j, k] for i in range(3) for j in range(i, 3) for k in range(j, 3)])


def pair_beside(x):
    w, v, p = x.reshape(3, 3)
    return product(w, w, v) + product(p, p, p)


def triple(x, sign=1.0):
    w, v, u = x.reshape(3, 3)
    return sign * product(w, v, v) + product(w, w, u)


def minima(problem, made, starts, seed):
    """Losses of the local minima that searches over one stratum end at, least squares in the metric's root."""
    root, t = np.linalg.cholesky(problem.gram()).T, problem.target_tensor().entries
    rng, found = np.random.default_rng(seed), []
    for _ in range(starts):
        x = rng.standard_normal(9)
        end = least_squares(
            lambda x: root @ (made(x) - t), x, "cs", xtol=1e-15, ftol=1e-15, gtol=1e-13, max_nfev=400
        )  # complex steps: differences are no better than 1e-7, at which few searches are known to have ended
        if end.success and np.abs(end.grad).max() < ENDED and np.abs(end.x).max() < 1e3:
            found.append(2 * end.cost + problem.floor)
    return np.array(found)


def check_strata(problem, chart, starts, seed=0):
    """What searches end at is on the chart, as a limit or as a network of fewer neurons; nothing is below."""
    losses = chart.losses
    strata = [pair_beside, triple, lambda x: triple(x, -1.0)]
    for made in strata[: 2 if problem.degree % 2 else 3]:
        found = minima(problem, made, starts, seed)
        assert len(found) > starts // 8
        gaps = np.abs(found[:, None] - losses).min(axis=1)
        assert gaps.max() < 1e-6 * losses.max()
        assert found.min() >= chart.infimum * (1 - 1e-9) - 1e-12


def slopes(made, x):
    """∂s by complex steps."""
    return np.array([np.imag(made(x + 1e-30j * e)) / 1e-30 for e in np.eye(9)])


def critical_losses(problem, made, starts, seed):
    """Losses at zeros of the gradient on a stratum, saddles too: Newton's method from random starts, steps of least
    length up to one."""
    G, t = problem.gram(), problem.target_tensor().entries

    def gradient(x):
        return slopes(made, x) @ (G @ (made(x) - t))

    rng, found = np.random.default_rng(seed), []
    for _ in range(starts):
        x = rng.standard_normal(9)
        for _ in range(80):
            H = np.array([gradient(x + 1e-6 * e) - gradient(x - 1e-6 * e) for e in np.eye(9)]) / 2e-6
            step = np.linalg.lstsq(H, -gradient(x), rcond=1e-9)[0]
            length = np.linalg.norm(step)
            x = x + step / max(length, 1.0)
            if length < 1e-9:
                break
        if np.abs(gradient(x)).max() < 1e-9 * np.abs(G @ t).max() and np.abs(x).max() < 50:
            found.append((made(x) - t) @ G @ (made(x) - t) + problem.floor)
    return np.array(found)


def check_zeros(problem, chart, starts, seed=0):
    """Critical limits that Newton's method finds are on the chart, or are networks of fewer neurons on it."""
    listed = np.array([point.loss for point in chart.critical])
    total = 0
    for made in (pair_beside, triple):
        found = critical_losses(problem, made, starts, seed)
        assert (
            np.abs(found[:, None] - listed).min(axis=1, initial=np.inf).max(initial=0.0) < 1e-6 * listed.max()
        )
        total += len(found)
    assert total >= starts // 4


@pytest.fixture(scope="module")
def generic():
    problem = random_problem(None, 0)
    return problem, sh.chart(problem)


def test_the_strata_are_charted(generic):
    problem, chart = generic
    assert chart.scope == "" and chart.completeness != "sampled"
    check_strata(problem, chart, 16)


def test_descents_come_to_the_infimum_and_not_below(generic):
    problem, chart = generic
    lowest = sh.ensemble(problem, runs=20, method="lm", rng=0).losses.min()
    assert chart.infimum * (1 - 1e-9) <= lowest <= chart.infimum * (1 + 1e-4)
    assert chart.attained is False and chart.minimum.kind == "global minimum" and chart.minimum.rank == 3


def test_limits_are_critical_for_the_loss_of_networks_near_them(generic):
    """`point.network` is near the limit: its loss is the limit's, its weights are large."""
    problem, chart = generic
    limits = [point for point in chart.points if point.limit and point.rank == 3]
    assert len(limits) > 20
    for point in limits:
        assert problem.loss(point.network) == pytest.approx(point.loss, rel=1e-3)
        assert point.certificate is not None


def test_kinds_of_limits_are_those_among_networks_near_them(generic):
    """From a limit that is a saddle searches among networks near it go down, from a minimum they do not."""
    problem, chart = generic
    root, t = np.linalg.cholesky(problem.gram()).T, problem.target_tensor().entries
    for point in [point for point in chart.points if point.limit and point.rank == 3][:14]:
        net = point.network
        start = np.concatenate([(np.cbrt(net.a)[:, None] * net.W).ravel()])
        end = minimize(
            lambda x: float(np.sum((root @ (sum(product(w, w, w) for w in x.reshape(3, 3)) - t)) ** 2)),
            start,
            method="L-BFGS-B",
            options={"maxiter": 3000, "ftol": 1e-14, "gtol": 1e-12},
        )
        fell = end.fun + problem.floor < point.loss * (1 - 1e-6)
        assert not (fell and point.kind.endswith("minimum"))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["pair beside a neuron", "three merged"])
def test_a_target_that_is_a_limit_is_not_attained(name):
    """The cuspidal cubic y²z + x³ and a conic with a tangent line, z(y² + xz), are limits of three cubic neurons."""
    e = np.eye(3)
    entries = (
        product(e[1], e[1], e[2]) + product(e[0], e[0], e[0])
        if name == "pair beside a neuron"
        else product(e[2], e[1], e[1]) + product(e[2], e[2], e[0])
    )
    problem = sh.Problem(sh.SymmetricTensor(entries, 3, 3), random_problem(None, 1).data, 3)
    chart = sh.chart(problem)
    assert chart.infimum < 1e-12 and chart.minimum.limit and chart.minimum.rank == 3
    assert chart.attained is False
    assert problem.loss(chart.minimum.network) < 1e-4


@pytest.mark.thorough
def test_networks_attain_their_own_target():
    net = sh.Network(np.array([[1.0, 0.2, 0], [0, 1, 0.3], [0.1, 0, 1]]), [1.0, 1, 1], sh.Power(3))
    chart = sh.chart(sh.Problem(net, random_problem(None, 1).data, 3))
    assert chart.attained is True and chart.infimum < 1e-12 and not chart.minimum.limit


def test_a_pair_is_a_network_of_three_neurons():
    """w²v is a limit of two neurons and a network of three: at width three it is attained."""
    from shallows.questions.charts.points.networks import are_networks, realise, with_idle
    from shallows.questions.charts.points.stratum import RealPoint

    w, v = np.array([1.0, 0.5, 0]), np.array([0.2, 1.0, -2])
    pair = RealPoint(np.zeros((0, 3)), np.zeros(0), (5, 0, 0), None, np.array([[w, v]]))
    problem = random_problem(None, 0)
    assert are_networks(pair, 3, 1) and not are_networks(pair, 3, 0) and not are_networks(pair, 4, 1)
    net = realise(problem, *with_idle(pair))
    np.testing.assert_allclose(net.tensor().entries, product(w, w, v), atol=1e-12)


def test_numbers_of_limits():
    """Of conics with a tangent line: 42 of them pass through six points, the first of the polar degrees that add up."""
    assert pair_beside_neuron_degree(3, 3) == 180
    assert [osculating_degree(d, 2) for d in (5, 6, 7)] == [17, 24, 31]  # by monodromy and trace tests before
    assert osculating_degree(3, 3) == 648


E3 = np.eye(3)
SPECIAL = {
    "identity": sum(product(e, e, e) for e in E3),
    "three lines": product(*E3),
    "pair beside a neuron": product(E3[1], E3[1], E3[2]) + product(E3[0], E3[0], E3[0]),
    "three merged": product(E3[2], E3[1], E3[1]) + product(E3[2], E3[2], E3[0]),
}


@pytest.mark.parametrize("data", [sh.Gaussian(3), pytest.param(sh.Frobenius(3), marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(2, 6))]
)
def test_limits_under_invariant_data_are_complete(data, seed):
    """18 pairs beside a neuron and 60 of three merged, whatever the target: no path is lost, each starts among metrics
    of the data's kind."""
    problem = random_problem(data, seed)
    chart = sh.chart(problem)
    assert chart.completeness == "trace-tested" and chart.scope == ""
    notes = [note for note in chart.notes if note.startswith("rank 3, limits")]
    assert [note.split(": ")[1].split(" ")[0] for note in notes] == ["18", "60"]
    assert not any("lost" in note or "infinity" in note for note in chart.notes)
    check_zeros(problem, chart, 4 if seed == 1 else 60, seed)


@pytest.mark.thorough
@pytest.mark.parametrize("name", list(SPECIAL))
def test_special_targets_under_gaussian_data(name):
    """Points that meet, limits that are the target itself: no path to limits is lost."""
    problem = sh.Problem(sh.SymmetricTensor(SPECIAL[name], 3, 3), sh.Gaussian(3), 3)
    chart = sh.chart(problem)
    assert not any("limits" in note and "lost" in note for note in chart.notes)
    check_zeros(problem, chart, 40)
    lowest = sh.ensemble(problem, runs=20, method="lm", rng=0).losses.min()
    assert chart.infimum * (1 - 1e-9) - 1e-12 <= lowest
    if name in ("pair beside a neuron", "three merged"):
        assert chart.infimum < 1e-12 and chart.minimum.limit


@pytest.mark.thorough
@pytest.mark.parametrize("data", [sh.Gaussian(3), sh.Frobenius(3), sh.IID.uniform(3), None])
@pytest.mark.parametrize("seed", [1, 2])
def test_strata_under_other_data(data, seed):
    problem = random_problem(data, seed)
    chart = sh.chart(problem)
    check_strata(problem, chart, 40, seed)
    assert chart.completeness != "sampled"
    lowest = sh.ensemble(problem, runs=40, method="lm", rng=seed).losses.min()
    assert chart.infimum * (1 - 1e-9) <= lowest
    assert lowest <= chart.infimum * (1 + 1e-3)
    assert chart.minimum.kind == "global minimum"
