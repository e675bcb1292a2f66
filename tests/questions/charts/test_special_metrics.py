"""Special metrics: what they are made of, how many critical points they have, and charts without paths to infinity."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.questions.charts.gradient_zeros import gradient_zeros

import shallows as sh
from shallows.homotopy import monodromy
from shallows.mathematics.ed_degree import powers_degree
from shallows.mathematics.tensors import coordinates as co
from shallows.model.equivalent_power import as_powers
from shallows.questions.charts.continuation.balanced_coordinates import power_action
from shallows.questions.charts.continuation.balanced_problem import BalancedProblem
from shallows.questions.charts.continuation.detours import Detours
from shallows.questions.charts.continuation.equations import family
from shallows.questions.charts.continuation.generic_members import special_member
from shallows.questions.charts.continuation.metrics import SpecialMetrics, two_product, two_sum
from shallows.questions.charts.continuation.special_counts import (
    euler_number,
    moved_gaussian_degree,
    rank_one_count,
)
from shallows.questions.charts.continuation.special_data import special_data
from shallows.questions.charts.powers.equations import PowerEquations
from shallows.questions.charts.powers.sums import powers_stratum


def gaussian(n, seed, factor=1.5):
    """A Gaussian with a random covariance and a random mean, and the generator for what comes next."""
    rng = np.random.default_rng([seed, 5])
    A = rng.standard_normal((n, n))
    return sh.Gaussian(n, A @ A.T / n + np.eye(n), mean=factor * rng.standard_normal(n)), rng


def clusters(n):
    """Three Gaussians with one covariance, their means on a line."""
    mean = np.arange(1.0, n + 1)
    parts = [sh.Gaussian(n, np.diag(mean), mean=t * mean) for t in (1.0, -1.0, 0.5)]
    return sh.Mixture([0.5, 0.25, 0.25], parts)


DATA = {
    "standard": sh.Gaussian(3),
    "coloured": sh.Gaussian(3, np.diag([1.0, 2.0, 5.0])),
    "moved": gaussian(3, 0)[0],
    "clusters": clusters(3),
    "sphere": sh.Sphere(3),
    "two widths": sh.Mixture([0.5, 0.5], [sh.Gaussian(3), sh.Gaussian(3, 2 * np.eye(3))]),
    "Frobenius": sh.Frobenius(3),
    "with constant": gaussian(2, 0)[0].lifted(),
    "across": sh.Gaussian(3, np.diag([1.0, 2.0, 0.0]), mean=[1, 0, 1]),
}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("degree", [2, 3, 4])
def test_the_metric_in_special_coordinates_is_the_datas_own(name, degree):
    """PᵀGP, G from the moments of the data, is Σ u_j A_j."""
    special = special_data(DATA[name], degree)
    P = power_action(special.frame, degree)
    gram = P.T @ DATA[name].gram(degree) @ P
    made = special.metrics.at(special.parameters.astype(complex)).high.real
    np.testing.assert_allclose(made, gram, atol=1e-12 * np.abs(gram).max())


@pytest.mark.parametrize(
    "data",
    [
        sh.IID.laplace(3),
        sh.Mixture([0.5, 0.5], [sh.Gaussian(3), sh.Gaussian(3, np.diag([1.0, 1.0, 2.0]))]),
        sh.Mixture([0.5, 0.5], [sh.Gaussian(3, mean=[1, 0, 0]), sh.Gaussian(3, mean=[0, 1, 0])]),
        sh.Mixture([0.5, 0.5], [sh.Gaussian(3), sh.IID.laplace(3)]),
        sh.Gaussian(3, np.diag([1.0, 1.0, 0.0]), mean=[0, 1, 0]),
        sh.Gaussian(3, np.diag([1.0, 0.0, 0.0]), mean=[0, 0, 1]),
    ],
)
def test_data_that_are_not_special(data):
    assert special_data(data, 3) is None


@given(
    st.lists(st.floats(-10, 10), min_size=4, max_size=4), st.lists(st.floats(-10, 10), min_size=4, max_size=4)
)
def test_special_metrics_are_exact_to_31_digits(real, imaginary):
    metrics = SpecialMetrics("moved Gaussian", 3, 2)
    u = np.array(real) + 1j * np.array(imaginary)
    pair = metrics.at(u)
    ones = metrics.at(np.ones(4, complex)).high.real
    places = [metrics.at(np.eye(4, dtype=complex)[j]).high.real != 0 for j in range(4)]
    for part in ("real", "imag"):
        weights = sum(np.where(place, x, 0.0) for place, x in zip(places, getattr(u, part), strict=True))
        high, low = getattr(pair.high, part), getattr(pair.low, part)
        for w, a, h, rest in zip(weights.ravel(), ones.ravel(), high.ravel(), low.ravel(), strict=True):
            gap = Fraction(w) * Fraction(a) - Fraction(h) - Fraction(rest)
            assert abs(gap) <= Fraction(2) ** -104 * abs(Fraction(w) * Fraction(a)) + Fraction(2) ** -1000


@given(st.floats(-1e30, 1e30), st.floats(-1e30, 1e30))
def test_sums_lose_nothing(a, b):
    total, lost = two_sum(np.array([complex(a)]), np.array([complex(b)]))
    assert Fraction(a) + Fraction(b) == Fraction(total[0].real) + Fraction(lost[0].real)


@given(st.floats(-1e30, 1e30), st.floats(-1e30, 1e30))
def test_products_lose_nothing(a, b):
    assume(min(abs(a), abs(b)) > 1e-100)  # no underflow
    product, lost = two_product(np.array([a]), b)
    assert Fraction(a) * Fraction(b) == Fraction(product[0]) + Fraction(lost[0])


def test_the_exact_gram_matrix_of_a_gaussian():
    """Isserlis' recursion in fractions against floating point, and against E[(w·x)²ᵈ] of a one-dimensional normal."""
    data, rng = gaussian(3, 1)
    exact = data.exact_gram(3)
    assert isinstance(exact[0, 0], Fraction)
    np.testing.assert_allclose(exact.astype(float), data.gram(3), rtol=1e-13)
    w = rng.standard_normal(3)
    s = co.monomials(w, 3)
    mean, variance = w @ data.mean, w @ data.covariance @ w
    sixth = mean**6 + 15 * mean**4 * variance + 45 * mean**2 * variance**2 + 15 * variance**3
    assert s @ exact.astype(float) @ s == pytest.approx(sixth)


@pytest.mark.parametrize("name", ["coloured", "clusters", "sphere"])
def test_exact_gram_matrices_round_to_the_datas_own(name):
    exact = DATA[name].exact_gram(3)
    assert isinstance(exact[0, 0], Fraction)
    np.testing.assert_allclose(exact.astype(float), DATA[name].gram(3), rtol=1e-13, atol=1e-13)


def test_euler_numbers_of_complete_intersections():
    """P², a conic, a plane quartic of genus 3, a cubic surface, a quintic threefold, points by Bézout."""
    assert [euler_number(2, ()), euler_number(2, (2,)), euler_number(2, (4,))] == [3, 2, -4]
    assert [euler_number(3, (3,)), euler_number(4, (5,)), euler_number(3, (2, 3, 4))] == [9, -200, 24]


@pytest.mark.parametrize(("d", "n"), [(2, 3), (2, 6), (3, 2), (3, 3), (3, 4), (4, 3), (5, 3)])
def test_aluffi_and_harris_give_the_known_counts(d, n):
    """(−1)^{n−1} χ(P^{n−1} ∖ (Q ∪ H)): Q is smooth of degree 2d for generic metrics, a quadric for Gaussians."""

    def degree(q):
        whole = euler_number(n - 1, ()) - euler_number(n - 1, (d,))
        return (-1) ** (n - 1) * (whole - euler_number(n - 1, (q,)) + euler_number(n - 1, (q, d)))

    assert degree(2 * d) == powers_degree(d, n, 1)
    assert degree(2) == rank_one_count(SpecialMetrics("Gaussian", d, n))


@pytest.mark.parametrize(
    ("d", "n"),
    [
        (2, 3),
        (2, 5),
        (3, 2),
        (3, 3),
        *(pytest.param(d, n, marks=pytest.mark.thorough) for d, n in [(4, 3), (3, 4)]),
    ],
)
def test_monodromy_that_is_not_told_the_number_finds_it(d, n):
    """Among moved Gaussian metrics, from one solution: 3n − 2 at degree 2; 7, 19, 43 cubics; 37 quartics."""
    equations, metrics = PowerEquations(d, n, 1), SpecialMetrics("moved Gaussian", d, n)
    rng = np.random.default_rng(d + n)
    u = np.round((rng.standard_normal(d + 1) + 1j * rng.standard_normal(d + 1)) * 1024) / 1024
    x, g = equations.first(metrics.at(u).high, rng)
    start = np.concatenate([u, g])
    found = monodromy(
        family(equations, metrics), x[None], start, invariants=equations.tensors, trace=False, members=7
    )
    assert (
        found.count == moved_gaussian_degree(d, n) == len(special_member(equations, metrics, Detours).points)
    )


@pytest.mark.parametrize(
    ("factor", "seed"),
    [
        (1.5, 0),
        (1.5, 1),  # points 200 and 1,100 times as far as the nearest
        (0.5, 4),
        (4.0, 1),  # 3,400 times
        (10.0, 10),  # a box that the proof in doubles leaves too wide to contract: its root is found again
        *(
            pytest.param(factor, seed, marks=pytest.mark.thorough)
            for factor in (0.2, 0.5, 1.5, 4.0, 10.0)
            for seed in range(12)
        ),
    ],
)
def test_all_19_cubic_points_of_a_moved_gaussian_are_proved(factor, seed):
    """Of the 39 generic ones 20 are at infinity."""
    data, rng = gaussian(3, seed, factor)
    chart = sh.chart(sh.Problem(sh.SymmetricTensor(rng.standard_normal(10), 3, 3), data, 1), rng=seed)
    assert (chart.complex_count[1], chart.expected_count[1], chart.completeness) == (19, 19, "proved")
    problem = chart.problem
    for point in chart.points:
        assert np.linalg.norm(problem.gradient(point.network)) < 1e-7 * (1 + chart.losses[-1])
        assert problem.loss(point.network) == pytest.approx(point.loss, rel=1e-8)


def nearly_centred(degree, width, rng):
    """At mean 10⁻⁴ some points are 10⁴ times as far as others and more."""
    target = sh.SymmetricTensor(rng.standard_normal(co.dimension(3, degree)), 3, degree)
    return sh.Problem(target, sh.Gaussian(3, mean=[1e-4, 0.0, 0.0]), width)


@pytest.mark.parametrize("width", [1, 2])
def test_a_nearly_centred_gaussian_says_whether_points_are_too_far_out(width, rng):
    chart = sh.chart(nearly_centred(2, width, rng))
    short = chart.complex_count[width] < 7
    assert (chart.completeness == "sampled") == short
    assert any("too far out" in x for x in chart.notes) == short


def test_paths_take_cubic_points_that_are_too_far_out_for_infinity_and_exclusion_has_the_real_ones(rng):
    """Paths say which they are; the chart's list is proved over all directions, and a search finds no others."""
    problem = nearly_centred(3, 1, rng)
    paths = powers_stratum(problem, 1, True, 0)
    assert paths.completeness == "sampled" and any("too far out" in x for x in paths.notes)
    chart = sh.chart(problem)
    assert chart.completeness == "proved" and chart.complex_count[1] < 19
    losses = [problem.loss(net) for net in gradient_zeros(problem, 40, rng)]
    assert len(losses) > 10
    assert all(np.abs(chart.losses - loss).min() < 1e-6 * chart.losses[-1] for loss in losses)


def test_two_symmetric_clusters_are_a_moved_gaussian():
    """Only even moments count, so ½N(μ, Σ) + ½N(−μ, Σ) has the chart of N(μ, Σ)."""
    data, rng = gaussian(3, 2)
    other = sh.Gaussian(3, data.covariance, mean=-data.mean)
    target = sh.SymmetricTensor(rng.standard_normal(10), 3, 3)
    one = sh.chart(sh.Problem(target, data, 1))
    two = sh.chart(sh.Problem(target, sh.Mixture([0.5, 0.5], [data, other]), 1))
    assert two.complex_count == one.complex_count and two.completeness == "proved"
    np.testing.assert_allclose(two.losses, one.losses, rtol=1e-9)


@pytest.mark.parametrize(("n", "counts"), [(3, [7, 7]), (4, [10, 18, 10])])
@pytest.mark.parametrize("seed", [0, 1])
def test_quadratic_networks_under_a_moved_gaussian(n, counts, seed):
    data, rng = gaussian(n, seed)
    target = sh.SymmetricTensor(rng.standard_normal(n * (n + 1) // 2), n, 2)
    chart = sh.chart(sh.Problem(target, data, n - 1), rng=seed)
    assert [chart.complex_count[r] for r in range(1, n)] == counts and chart.completeness == "proved"
    other = sh.chart(sh.Problem(target, data, n - 1), method="homotopy", rng=seed)
    assert other.complex_count == chart.complex_count and other.completeness == "count-matched"
    np.testing.assert_allclose(other.losses, chart.losses, rtol=1e-9)


def test_quadratic_networks_under_a_moved_gaussian_agree_with_msolve():
    data = sh.Gaussian(3, mean=[1.0, 2.0, 0.0])
    problem = sh.Problem(sh.SymmetricTensor([3, 1, -1, 2, 1, -2], 3, 2), data, 2)
    exact = sh.chart(problem, method="exact")
    np.testing.assert_allclose(sh.chart(problem).losses, exact.losses, rtol=1e-9)


@pytest.mark.thorough
def test_moved_gaussians_in_five_dimensions():
    """The second problem once ended with 33 of 34 and a claim of completeness."""
    for seed in range(4):
        data, rng = gaussian(5, seed)
        problem = sh.Problem(sh.SymmetricTensor(rng.standard_normal(15), 5, 2), data, 2)
        chart = sh.chart(problem, method="homotopy", rng=seed)
        assert chart.complex_count == {0: 1, 1: 13, 2: 34} and chart.completeness == "count-matched"
        np.testing.assert_allclose(sh.chart(problem).losses, chart.losses, rtol=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "count"), [("moved", 91), ("clusters", 91), ("coloured", 25), ("Frobenius", 25)]
)
def test_two_cubic_neurons_under_special_metrics(name, count, rng):
    """Of the 219 generic ones: every path is accounted for, once a kind of metric."""
    chart = sh.chart(sh.Problem(sh.SymmetricTensor(rng.standard_normal(10), 3, 3), DATA[name], 2))
    assert chart.complex_count[2] == count and chart.completeness == "count-matched"


@pytest.mark.thorough
def test_three_cubic_neurons_under_a_moved_gaussian(rng):
    """133 of 301, the other 168 paths run to infinity. The limits of three neurons are why the chart is "sampled".

    Paths to them start from a generic metric: about 104 and 398 of 180 and 648 run to infinity, and one of each kind
    has no end on any way. Limits lie up to 10⁶ times as far out as the target (conditions to 10²¹), where doubles do
    not tell them from infinity, and points that rounding brings back from there are not told from them: of pairs
    beside a neuron 76 are listed, 72 are found among moved Gaussian metrics; of three in one place 293, and 248 to 251
    by the random member. So another word needs more digits, or a number that is a theorem.
    """
    chart = sh.chart(
        sh.Problem(sh.SymmetricTensor(rng.standard_normal(10), 3, 3), DATA["moved"], 3), certify=False
    )
    assert chart.complex_count == {0: 1, 1: 19, 2: 91, 3: 133}
    levels = {
        note.split(": ")[0]: note.split("(")[-1] for note in chart.notes if "parameter homotopy" in note
    }
    assert [levels.pop(f"rank {r}") for r in (1, 2, 3)] == [
        "count-matched)",
        "count-matched)",
        "trace-tested)",
    ]
    assert levels.pop("rank 2, limits w^(3−1)v of two merged neurons") == "count-matched)"
    assert set(levels.values()) == {"sampled)"} and all("rank 3, limits" in where for where in levels)
    assert chart.completeness == "sampled"


@pytest.mark.parametrize("name", [*DATA, "affine"])
@pytest.mark.parametrize("frame", ["of", "turned"])
def test_members_are_the_problem_in_their_own_coordinates(name, frame, rng):
    """PᵀGP and PᵀGt, whatever turns: a kind of metrics that has an axis is not turned into itself."""
    affine = sh.Network(rng.standard_normal((3, 2)), [1.0, -1.0, 2.0], sh.Polynomial([1, 0.7, 0.5, 0.9]))
    if name == "affine":
        problem = as_powers(sh.Problem(affine, sh.Gaussian(2), 2))
    else:
        problem = sh.Problem(sh.SymmetricTensor(rng.standard_normal(10), 3, 3), DATA[name], 2)
    turn = np.linalg.qr(rng.standard_normal((problem.n, problem.n)))[0]
    even = BalancedProblem.of(problem) if frame == "of" else BalancedProblem.turned(problem, turn)
    P = power_action(even.frame, 3)
    gram, g = P.T @ problem.gram() @ P, P.T @ problem.gram() @ problem.target_tensor().entries
    for own, made in ((even.gram, gram), (even.member.g, g)):
        own, made = own / np.abs(own).max(), made / np.abs(made).max()
        np.testing.assert_allclose(own, made, atol=1e-12)


def test_limits_under_an_affine_gaussian_are_critical(rng):
    """Their metrics have an axis: paths to limits went to other problems, and four of four limits were none."""
    activation = sh.Polynomial([1.0, 0.7, 0.5, 0.9])
    teacher = sh.Network(rng.standard_normal((3, 2)), rng.standard_normal(3), activation)
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(2), 2))
    limits = [point for point in chart.critical if point.limit and point.rank == 2]
    assert limits and all(point.certificate is not None for point in limits)
    assert chart.completeness == "count-matched"


def test_balanced_coordinates_of_special_data_keep_the_loss(rng):
    """⟨s′ − t′, s′ − t′⟩ there is the loss of the restored neurons, up to the units."""
    problem = sh.Problem(sh.SymmetricTensor(rng.standard_normal(10), 3, 3), DATA["moved"], 1)
    even = BalancedProblem.of(problem)
    point = rng.standard_normal((1, 3))
    W = even.restored(point + 0j).real
    gap = co.monomials(point, 3).sum(axis=0) - even.target
    zero = even.target @ even.gram @ even.target
    nothing = problem.loss(sh.Network(np.zeros((1, 3)), np.ones(1), sh.Power(3)))
    loss = problem.loss(sh.Network(W, np.ones(1), sh.Power(3)))
    assert gap @ even.gram @ gap / zero == pytest.approx(loss / nothing)
