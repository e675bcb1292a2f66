"""Any metric by homotopy: the known counts, every point critical, certified, with the right signature."""

import numpy as np
import pytest

import shallows as sh
from shallows.homotopy import check_homotopy
from shallows.mathematics.homotopy.parameter import random_parameters
from shallows.questions.charts.closed_form.full_rank import FAINT, full_rank_stratum
from shallows.questions.charts.continuation.equations import Member, family
from shallows.questions.charts.continuation.generic_members import generic_member
from shallows.questions.charts.matrices.balls import LowRankSystem
from shallows.questions.charts.matrices.equations import LowRankEquations, frame_action
from shallows.questions.charts.points.proved_signature import boxes
from shallows.questions.geometry.manifolds.focal_points import index_by_eigenvalues, index_by_focal_points


def check(chart, everything_certified=True):
    problem = chart.problem
    scale = 1 + chart.losses[-1]
    for point in chart.points:
        assert np.linalg.norm(problem.gradient(point.network)) < 1e-7 * scale
        assert problem.loss(point.network) == pytest.approx(point.loss, rel=1e-8, abs=1e-9)
        if point.rank and point.signature[1] == 0:
            assert point.index == index_by_eigenvalues(problem, point, tolerance=1e-7)
        if everything_certified:
            assert point.certificate is not None and point.certificate.signature_certified


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_generic_3x3(generic, seed):
    chart = sh.chart(generic(3, 2, seed), rng=seed)
    assert chart.complex_count == {0: 1, 1: 13, 2: 13}
    assert chart.completeness == "proved"
    check(chart)


def test_generic_4x4(generic):
    chart = sh.chart(generic(4, 3, 0))
    assert chart.complex_count == {0: 1, 1: 40, 2: 122, 3: 40}
    assert chart.completeness == "proved"
    check(chart)
    lowest = next(point for point in chart.points if point.rank == 2)
    assert index_by_focal_points(chart.problem, lowest) == lowest.index  # Theorem 26


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(8))
def test_generic_4x4_many_seeds(generic, seed):
    chart = sh.chart(generic(4, 3, seed), rng=seed)
    assert chart.complex_count == {0: 1, 1: 40, 2: 122, 3: 40}
    check(chart)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_generic_5x5(generic, seed):
    chart = sh.chart(generic(5, 2, seed), certify=False, rng=seed)
    assert chart.complex_count == {0: 1, 1: 121, 2: 1042}


@pytest.mark.thorough
@pytest.mark.parametrize("n", [6, 7, 8, 9])
def test_generic_rank_one_large(generic, n):
    chart = sh.chart(generic(n, 1, 0))
    assert chart.complex_count[1] == (3**n - 1) // 2
    assert chart.completeness == "proved"


def test_full_width_ends_at_the_target(generic):
    problem = generic(2, 5, 0)
    chart = sh.chart(problem)
    assert chart.complex_count == {0: 1, 1: 4, 2: 1}
    assert chart.minimum.kind == "global minimum" and chart.minimum.loss < 1e-12
    assert chart.kinds()["saddle"] == len(chart.points) - 1
    proof = chart.minimum.certificate
    assert proof.signature_certified and proof.rank_certified and proof.radius < 1e-14
    gap = np.abs(chart.minimum.tensor.entries - problem.target_tensor().entries)
    assert gap.max() <= proof.radius
    assert all(p.certificate is None for p in sh.chart(problem, certify=False).points if p.rank)


def test_the_iid_metric_is_not_generic_at_rank_two():
    T = np.diag([1.0, 2.0, 3.0, 4.0]) + 0.3
    chart = sh.chart(sh.Problem(T, sh.IID.laplace(4), 2))
    assert chart.complex_count == {0: 1, 1: 40, 2: 110}
    assert chart.expected_count[2] == 122
    assert any("not generic" in note for note in chart.notes)
    check(chart)


def test_a_positive_dimensional_critical_set_is_reported_with_real_points():
    """I.i.d. metric, diagonal teacher, n = 4, rank 2: tight frames make a curve of critical points (errata)."""
    problem = sh.Problem(np.diag([1.0, 1.3, 1.7, 2.2]), sh.IID(4, [1, 0, 1, 0, 9]), 2)
    chart = sh.chart(problem)
    (family,) = chart.families
    assert family.rank == 2 and family.dimension == 1 and family.signature == (6, 1, 0)
    assert family.loss < chart.points[0].loss and chart.count("global minimum") == 1
    assert chart.minimum.dimension == 1 and problem.loss(family.network) == pytest.approx(family.loss)
    assert len(family.samples) >= 2
    distances = [np.max(np.abs(s.entries - family.samples[0].entries)) for s in family.samples[1:]]
    assert max(distances) > 1e-3  # different points, one loss
    for sample in family.samples:
        gap = sample.entries - problem.target_tensor().entries
        assert gap @ problem.gram() @ gap == pytest.approx(family.loss, rel=1e-9)
        assert np.linalg.matrix_rank(sample.to_matrix(), tol=1e-6) == 2


@pytest.mark.parametrize(
    "data",
    [
        sh.Mixture([0.8, 0.2], [sh.Gaussian(2), sh.Gaussian(2, 9 * np.eye(2), [1.0, 0.0])]),
        sh.Gaussian(2, mean=[0.5, -1.0]),
        sh.Samples(np.random.default_rng(0).standard_normal((30, 2))),
    ],
)
def test_other_metrics(data):
    chart = sh.chart(sh.Problem(np.array([[2.0, 0.5], [0.5, -1.0]]), data, 1))
    assert chart.complex_count[1] == 4 and chart.completeness == "proved"
    check(chart)


def test_labelled_samples_have_a_floor(rng):
    X, y = rng.standard_normal((60, 3)), rng.standard_normal(60)
    problem = sh.Problem(None, sh.Samples(X, y), 2)
    chart = sh.chart(problem)
    assert chart.complex_count == {0: 1, 1: 13, 2: 13}
    assert chart.losses[0] > problem.floor > 0
    check(chart)


def test_negating_the_teacher_negates_the_points(generic):
    problem = generic(3, 1, 5)
    other = sh.Problem(-1.0 * problem.target_tensor(), problem.data, 1)
    np.testing.assert_allclose(sh.chart(problem).losses, sh.chart(other).losses, rtol=1e-9)


def test_nearly_on_the_discriminant_there_are_two_close_points_and_on_it_they_are_degenerate():
    """Frobenius, n = 2: the discriminant is where the eigenvalues meet."""
    close = sh.chart(sh.Problem(np.diag([1.0, 1.0 + 1e-6]), sh.Frobenius(2), 1), method="homotopy")
    assert close.real_count[1] == 2 and abs(close.losses[0] - close.losses[1]) < 1e-4
    assert {point.index for point in close.points[:2]} == {0, 1}


def wall(shift):
    """I.i.d. data, diagonal teacher: two mirror points meet a third where β + γ t₁ = 0 (see `iid_diagonal`)."""
    mu4 = 30.0
    gamma = (mu4 - 1) / (mu4 - 3)
    k = (1 - 3 * gamma) / (mu4 + 3)
    t = np.array([-k / (k + gamma) + shift, 1.0])
    return sh.chart(sh.Problem(np.diag(t), sh.IID(2, [1, 0, 1, 0, mu4]), 1), method="homotopy")


@pytest.mark.parametrize("shift", [1e-3, 1e-6, 1e-8])
def test_beside_the_discriminant_close_points_are_kept_apart(shift):
    assert wall(shift).real_count[1] == 4 and wall(-shift).real_count[1] == 2
    assert wall(shift).completeness == wall(-shift).completeness == "proved"


def test_on_the_discriminant_the_point_is_degenerate():
    chart = wall(0.0)
    (met,) = (point for point in chart.points if point.signature[1])
    assert (
        met is chart.minimum or met.loss == chart.minimum.loss
    )  # the lowest of a complete list: global all the same
    assert met.kind == "global minimum" and chart.completeness == "count-matched"
    assert any("the discriminant" in note for note in chart.notes)


def test_fixed_signs_filter_real_points(generic):
    problem = generic(3, 2, 1)
    free = sh.chart(problem)
    ones = sh.chart(sh.Problem(problem.target, problem.data, 2, outer="ones"))
    positive = [p for p in free.points if np.linalg.eigvalsh(p.tensor.to_matrix())[0] > -1e-9]
    assert len(ones.points) == len(positive)
    for point in ones.points:
        assert np.all(point.network.a == 1)


def test_the_compiled_evaluator_has_the_right_jacobian(rng):
    for n, r in [(3, 1), (3, 2), (4, 2), (5, 3)]:
        equations = LowRankEquations(n, r)
        members = family(equations)
        start, end = random_parameters(members, rng), random_parameters(members, rng)
        x = rng.standard_normal(equations.unknowns) + 1j * rng.standard_normal(equations.unknowns)
        assert check_homotopy(members.segment(start, end), x) < 1e-7


def test_the_ball_evaluator_is_the_compiled_one(generic, rng):
    """Two implementations of one system, in floats and in balls."""
    problem = generic(4, 2, 3)
    equations, gram, target = LowRankEquations(4, 2), problem.gram(), problem.target_tensor().entries
    frame, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    action = frame_action(frame)
    p = Member.of(action.T @ gram @ action, action.T @ gram @ target).parameters
    x = rng.standard_normal(equations.unknowns)
    value, jacobian = family(equations).segment(p, p).at(np.append(x, 0.0))
    balls = LowRankSystem(equations, gram, target, frame).ball_evaluator(128)
    from flint import arb

    exact, slope = balls([arb(float(v)) for v in x])
    np.testing.assert_allclose([float(v) for v in exact.entries()], value.real, atol=1e-10)
    dense = np.array([float(v) for v in slope.entries()]).reshape(equations.unknowns, equations.unknowns)
    np.testing.assert_allclose(dense, jacobian[:, :-1].real, atol=1e-10)


def test_the_hessian_in_a_frame_is_that_of_central_differences(generic, rng):
    from shallows.questions.charts.matrices.hessian import half_hessian

    problem = generic(4, 2, 1)
    gram, target, equations = problem.gram(), problem.target_tensor().entries, LowRankEquations(4, 2)
    frame, _ = np.linalg.qr(rng.standard_normal((4, 4)))

    def loss(x):
        S = frame @ equations.matrix(x.astype(complex)).real @ frame.T
        gap = S[np.triu_indices(4)] - target
        return gap @ gram @ gap

    x, step, unit = rng.standard_normal(equations.unknowns), 1e-4, np.eye(equations.unknowns)
    differences = [
        [
            sum(s * t * loss(x + step * (s * a + t * b)) for s in (1, -1) for t in (1, -1)) / (4 * step**2)
            for a in unit
        ]
        for b in unit
    ]
    exact = 2 * half_hessian(LowRankSystem(equations, gram, target, frame), x)[0]
    np.testing.assert_allclose(exact, differences, atol=1e-5 * np.abs(exact).max())


@pytest.mark.parametrize(("n", "r", "count"), [(3, 2, 13), (4, 2, 122), (4, 3, 40)])
def test_monodromy_finds_the_ed_degree(n, r, count):
    assert len(generic_member(LowRankEquations(n, r)).points) == count == LowRankEquations(n, r).count


@pytest.mark.thorough
def test_monodromy_finds_the_ed_degree_5x5():
    assert len(generic_member(LowRankEquations(5, 4)).points) == 121


def test_a_count_above_the_limit_is_refused_before_work_starts():
    problem = sh.Problem(np.eye(12), sh.IID.laplace(12), 2, outer=[1.0, 1.0])
    with pytest.raises(sh.InvalidProblem, match="265,720 complex critical points of rank 1 at n = 12"):
        sh.chart(problem)


REFUSALS = [
    (lambda generic: sh.chart(generic(2, 1, 0), method="guess"), "expected one of"),
    (lambda generic: sh.chart(generic(2, 1, 0), method="closed-form"), "no closed form"),
    (lambda generic: sh.chart(sh.Problem(np.eye(3), sh.Samples(np.eye(3)), 1)), "degenerate"),
    (
        lambda generic: sh.chart(sh.Problem(sh.Network(np.eye(2), activation=sh.ReLU()), sh.Gaussian(2), 3)),
        'method="descent"',
    ),
]


@pytest.mark.parametrize(("build", "what"), REFUSALS, ids=[what for _, what in REFUSALS])
def test_refusals(build, what, generic):
    with pytest.raises(sh.InvalidProblem, match=what):
        build(generic)


def test_the_same_seed_gives_the_same_chart(generic):
    first, second = (sh.chart(generic(3, 2, 4), rng=3) for _ in range(2))
    np.testing.assert_array_equal(first.losses, second.losses)
    assert first.seed == second.seed == 3


def test_signatures_that_ten_digits_leave_open_are_decided_with_thirty():
    """Badly conditioned points under samples: the Hessian over the first box has pivots that contain 0."""
    from shallows.questions.charts.points import proved_signature

    rng = np.random.default_rng(2)
    data = sh.Samples(rng.standard_normal((23, 3)) * rng.uniform(0.5, 2, 3) + rng.standard_normal(3) * 0.3)
    problem = sh.Problem(sh.SymmetricTensor(rng.standard_normal(6), 3, 2), data, width=2)
    asked = []

    def watched(root):
        for number, box in enumerate(boxes(root)):
            asked.append(number)
            yield box

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proved_signature, "boxes", watched)
        chart = sh.chart(problem, rng=2)
    assert 0 in asked and 1 in asked  # the case is one of those
    assert all(point.certificate.signature_certified for point in chart.points)


def test_full_rank_is_decided_by_the_exact_target():
    """A teacher of two neurons has rank 2, whatever the rounding of its tensor; a matrix has that of its doubles."""
    rng = np.random.default_rng(1)
    data = sh.IID.laplace(3)
    teacher = sh.Network(rng.standard_normal((2, 3)), a=[1.0, -2.0])
    assert 3 not in {point.rank for point in sh.chart(sh.Problem(teacher, data, width=3)).points}
    assert full_rank_stratum(sh.Problem(teacher, data, width=3), True).completeness == "proved"
    T = np.diag([2.0, 1.0, 0.0])
    T[2, 2] = 1e-30  # of full rank, which no eigenvalue in doubles shows next to 2
    faint = full_rank_stratum(sh.Problem(T, data, width=3), True)
    assert not faint.found and faint.completeness == "count-matched" and FAINT in faint.notes[0]
    T[2, 2] = 0.0
    assert full_rank_stratum(sh.Problem(T, data, width=3), True).completeness == "proved"
    T[2, 2] = -1e-3
    (point,) = full_rank_stratum(sh.Problem(T, data, width=3), True).found
    assert sorted(point.signs.tolist()) == [-1.0, 1.0, 1.0] and point.certificate.rank_certified


def test_an_end_that_only_looks_singular_is_listed_without_certificates_too():
    entries = [-0.8300328513485238, 0.3484196692877539, -0.47902667339800215, 0.9718052594817148]
    target = sh.SymmetricTensor([*entries, -1.4926170217227432, -1.4273117343658854], 3, 2)
    chart = sh.chart(sh.Problem(target, sh.IID.laplace(3), width=2), certify=False)
    assert chart.complex_count[2] == 13
    assert np.isclose(chart.losses, 12.3504, atol=1e-4).any()
