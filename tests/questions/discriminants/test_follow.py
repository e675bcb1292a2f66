"""Paths of problems: collisions where the discriminant changes sign, vertices, and the same by another way."""

from fractions import Fraction

import numpy as np
import pytest

import shallows as sh
from shallows.discriminants import critical_students, follow, landscape_at, rank_one
from shallows.questions.discriminants.following.sampled import Segment, sampled_events
from shallows.questions.discriminants.rank_one_family import RankOneFamily
from shallows.questions.geometry.manifolds.rank_manifolds import SumsOfPowers

LAPLACE, UNIFORM = sh.IID.laplace, sh.IID.uniform


def problem(target, data, degree=2):
    tensor = sh.SymmetricTensor(target, data.n, degree)
    return sh.Problem(tensor, data, width=1)


def test_the_wall_of_diagonal_teachers_in_closed_form():
    """Laplace: μ4 = 6, μ2 = 1, so the walls at t01 = 0 are t00/t11 = (36−3)/12 = 11/4; here (1+2τ)/(1−τ/2) = 11/4."""
    found = follow(problem([1, 0, 1], LAPLACE(2)), problem([3, 0, 0.5], LAPLACE(2)), samples=17)
    assert found.completeness == "proved"
    (event,) = found.collisions
    assert event.position == pytest.approx(14 / 27, abs=1e-15)
    assert event.real_counts == (4, 2) and event.signs == (-1, 1)
    assert event.error < 1e-14
    assert found.real_counts[0] == 4 and found.real_counts[-1] == 2
    # the three critical points that meet are at the first axis: t00 + μ2²t11/μ4
    tau = event.position
    assert event.tensor == pytest.approx([1 + 2 * tau + (1 - tau / 2) / 6, 0, 0], abs=1e-6)


def test_the_discriminant_changes_sign_at_every_collision_and_only_there():
    found = follow(problem([1, 0.1, 1], LAPLACE(2)), problem([-3, 1, 0.5], UNIFORM(2)), samples=9)
    P = found.discriminant
    assert P.variables == ("tau",)
    step = Fraction(1, 10**9)
    for event in found.events:
        position = Fraction(event.position)
        before, after = P.sign(tau=position - step), P.sign(tau=position + step)
        assert (before, after) == event.signs
        assert (before != after) == (event.kind == "collision")
        counts = [landscape_at(P, tau=position + s) for s in (-step, step)]
        assert tuple(c.real_count for c in counts) == event.real_counts
        assert tuple(c.local_minima for c in counts) == event.local_minima
    assert {event.kind for event in found.events} == {"collision", "vertex"}


@pytest.mark.parametrize("degree", [2, 3])
def test_exact_events_are_those_found_by_the_parameter_homotopy(degree, rng):
    """Two inputs: roots of an exact polynomial against counting real solutions along the path."""
    kinds = set()
    for _ in range(3):
        start = problem(np.round(rng.standard_normal(degree + 1), 2), LAPLACE(2), degree)
        end = problem(np.round(rng.standard_normal(degree + 1), 2), UNIFORM(2), degree)
        exact = [e for e in follow(start, end, samples=5).events if e.kind != "complex collision"]
        segment = Segment.between(start, end)
        positions = np.linspace(0, 1, 41)
        numeric = sampled_events(segment, positions, [segment.at(t) for t in positions])
        gaps = np.diff([e.position for e in exact])
        if len(gaps) and np.min(gaps) < 1 / 40:
            continue  # closer than the samples: not promised
        assert [e.kind for e in numeric] == [e.kind for e in exact]
        for a, b in zip(numeric, exact, strict=True):
            assert a.position == pytest.approx(b.position, abs=2e-6)
            assert a.real_counts == b.real_counts and a.local_minima == b.local_minima
            if a.kind == "collision":
                assert a.tensor == pytest.approx(b.tensor, abs=1e-3)
        kinds |= {e.kind for e in exact}
    assert kinds


def test_tracks_are_the_critical_points_and_continuous():
    start, end = problem([1, 0.2, 1], LAPLACE(2)), problem([2, -0.3, 0.5], sh.IID(2, [1, 0, 1, 0, 8]))
    found = follow(start, end, samples=41)
    assert found.tensors.shape == (41, 4, 3)
    middle = found.positions[20]
    t = (1 - middle) * start.target_tensor().entries + middle * end.target_tensor().entries
    gram = (1 - middle) * start.gram() + middle * end.gram()
    P = rank_one(2).specialize(data=sh.Metric(2, 2, gram))
    exact = critical_students(P, t00=float(t[0]), t01=float(t[1]), t11=float(t[2]))
    ours = sorted(found.tensors[20][found.real[20]].real.tolist())
    assert ours == pytest.approx(np.array(sorted(s.entries.tolist() for s in exact)), abs=1e-8)
    jumps = np.max(np.abs(np.diff(found.tensors, axis=0)), axis=(1, 2))
    assert np.max(jumps) < 0.6  # square-root behaviour at collisions


def test_three_inputs_closed_form_for_iid_diagonal_teachers():
    """Theorem 36: for T = I all (3³−1)/2 = 13 supports with signs are real; for unequal entries fewer are."""
    start = sh.Problem(np.eye(3), LAPLACE(3), width=1)
    end = sh.Problem(np.diag([4.0, 0.7, 0.15]), LAPLACE(3), width=1)
    found = follow(start, end, samples=9)
    assert found.completeness == "sampled" and found.tensors.shape[1] == 13
    assert found.real_counts[0] == 13 > found.real_counts[-1]
    assert sum(e.real_counts[1] - e.real_counts[0] for e in found.events) == found.real_counts[-1] - 13


def test_three_inputs_a_fold_is_refined_and_degenerate(rng):
    start = problem([1.0, 0.1, 0, 1.1, 0.05, 0.9], LAPLACE(3))
    end = problem([3.0, 0.2, 0.1, 0.8, 0, 0.3], LAPLACE(3))
    found = follow(start, end, samples=17)
    assert found.collisions
    for event in found.collisions:
        segment = Segment.between(start, end)
        gram, target = segment.member(event.position)
        chart = SumsOfPowers.rank_one(sh.SymmetricTensor(event.tensor, 3, 2), 1e-5)
        u, sign = chart.neurons[0], float(chart.signs[0])
        assert np.max(np.abs(segment.family.gradient(u, sign, gram, target))) < 1e-9
        values = np.abs(np.linalg.eigvalsh(segment.family.hessian(u, sign, gram, target)))
        assert np.min(values) < 1e-6 * np.max(values)


@pytest.mark.parametrize(("n", "degree", "count"), [(2, 2, 4), (3, 2, 13), (2, 3, 7), (2, 4, 10)])
def test_the_family_finds_the_generic_number_of_critical_points(n, degree, count, rng):
    family = RankOneFamily.of(n, degree)
    assert family.expected == count
    found = family.at(LAPLACE(n).gram(degree), rng.standard_normal(sh.Frobenius(n).gram(degree).shape[0]))
    assert len(found.tensors) == count
    assert (count - found.real_count) % 2 == 0


def test_derivatives_of_the_family_against_differences(rng):
    family = RankOneFamily.of(2, 3)
    gram, target, u = LAPLACE(2).gram(3), rng.standard_normal(4), rng.standard_normal(2)

    def loss(w):
        s = np.array([w[0] ** 3, w[0] ** 2 * w[1], w[0] * w[1] ** 2, w[1] ** 3])
        return (s + target) @ gram @ (s + target) / 2  # sign −1

    eye = 1e-5 * np.eye(2)
    slope = [(loss(u + e) - loss(u - e)) / 2e-5 for e in eye]
    assert family.gradient(u, -1.0, gram, target) == pytest.approx(slope, rel=1e-6)
    bend = [
        (family.gradient(u + e, -1.0, gram, target) - family.gradient(u - e, -1.0, gram, target)) / 2e-5
        for e in eye
    ]
    assert family.hessian(u, -1.0, gram, target) == pytest.approx(np.array(bend), rel=1e-6)


def test_rotation_invariant_ends_of_degree_3(rng):
    """P vanishes identically along the path; the squarefree part decides."""
    start = problem([1, 0.5, -0.5, 2], sh.Gaussian(2), 3)
    end = problem([-1, 1.5, 1.5, 0.25], sh.Frobenius(2), 3)
    found = follow(start, end, samples=9)
    ends = [landscape_at(rank_one(3), data=d, **dict(zip(("t000", "t001", "t011", "t111"), t, strict=True))).real_count
            for d, t in ((sh.Gaussian(2), (1, 0.5, -0.5, 2)), (sh.Frobenius(2), (-1, 1.5, 1.5, 0.25)))]  # fmt: skip
    change = sum(e.real_counts[1] - e.real_counts[0] for e in found.events)
    assert change == ends[1] - ends[0]


@pytest.mark.parametrize(
    ("start", "end", "what"),
    [
        (problem([1, 0, 1], LAPLACE(2)), problem([1, 0, 1, 0], LAPLACE(2), 3), "degrees 2 and 3"),
        (problem([1, 0, 1], LAPLACE(2)), sh.Problem(np.eye(3), LAPLACE(3), 1), "2 and 3 inputs"),
        (sh.Problem(np.eye(2), LAPLACE(2), 2), problem([1, 0, 1], LAPLACE(2)), "width is 2"),
        (sh.Problem(np.eye(2), LAPLACE(2), 1, outer="ones"), problem([1, 0, 1], LAPLACE(2)), "outer weight"),
        (3, problem([1, 0, 1], LAPLACE(2)), "expected a Problem"),
        (sh.Problem(np.eye(2), sh.Gaussian(2), 1, orthogonality=1.0), problem([1, 0, 1], LAPLACE(2)), "penalty"),
        (problem([1, 0, 3], LAPLACE(2)), problem([1, 0, 3], LAPLACE(2)), "no path"),
        (problem([1, 0, 1], sh.Frobenius(2)), problem([1, 0, 3], sh.Frobenius(2)), "collision wall itself"),
    ],
)  # fmt: skip
def test_bad_paths(start, end, what):
    with pytest.raises(sh.InvalidProblem, match=what):
        follow(start, end, samples=3)


def test_the_report_names_every_event():
    found = follow(problem([1, 0, 1], LAPLACE(2)), problem([3, 0, 0.5], LAPLACE(2)), samples=5)
    assert "4 real at the start, 2 at the end, events proved" in repr(found)
    assert "collision at 0.518518518519: 4 -> 2 real critical points" in repr(found)
