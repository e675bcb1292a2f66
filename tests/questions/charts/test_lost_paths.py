"""One policy for lost paths: other ways are tried, and what stays lost is said, for matrices and for powers alike."""

from dataclasses import replace

import numpy as np
import pytest

import shallows as sh
from shallows.homotopy import SolutionSet
from shallows.homotopy import track as track_paths
from shallows.mathematics.homotopy.classify import classify
from shallows.questions.charts.chart_of_strata import chart_of_strata
from shallows.questions.charts.closure.closure import Closure
from shallows.questions.charts.continuation.balanced_problem import BalancedProblem
from shallows.questions.charts.continuation.detours import Detours
from shallows.questions.charts.continuation.generic_members import generic_member
from shallows.questions.charts.continuation.lost_paths import REPEATED, WAYS, Settled, settle
from shallows.questions.charts.matrices import rank_one, rank_r
from shallows.questions.charts.matrices.tracking import Frames
from shallows.questions.charts.powers.equations import PowerEquations


class Stubborn:
    """Ways that settle everything on the last of them, or never."""

    def __init__(self, works):
        self.works, self.tried = works, []

    def follow(self, way):
        self.tried.append(way)
        return self._ends(0) if way == self.works else None

    def unsettled(self):
        return self._ends(2)

    def _ends(self, lost):
        return Settled(SolutionSet(), SolutionSet(), np.zeros(0, bool), 0, lost, "count-matched")


def test_ways_are_tried_until_one_settles_everything():
    ways = Stubborn(works=2)
    assert settle(ways).completeness == "count-matched" and ways.tried == [0, 1, 2]


def test_what_no_way_settles_is_sampled():
    ways = Stubborn(works=None)
    settled = settle(ways)
    assert (settled.completeness, settled.lost) == ("sampled", 2) and ways.tried == list(range(WAYS))


def losing(track, key):
    """A tracker that loses one path of those it follows: the one whose end comes first by `key`."""

    def lossy(self, *given):
        solutions = track(self, *given)
        ends = sorted(solutions.finite, key=lambda s: key(self, given, s.point))
        if not ends:
            return solutions
        return replace(
            solutions,
            finite=SolutionSet(tuple(ends[1:]), solutions.finite.n),
            failed=SolutionSet((*solutions.failed, ends[0]), solutions.finite.n),
        )

    return lossy


def first_entry(self, given, point):
    """Of the tensor, or of the matrix in the member's own frame: the same for one end on all ways."""
    if isinstance(self, Frames):
        turn = given[2]
        entry = (turn @ self.equations.matrix(point) @ turn.T)[0, 0]
    else:
        entry = self.equations.tensors(point[None])[0, 0]
    return entry.real + entry.imag / 10  # conjugate ends differ


def test_two_ways_that_agree_on_less_than_all_have_found_settle_nothing(generic, monkeypatch):
    """Both may take the same points for infinite ones: a third that found one of them is believed."""
    equations = PowerEquations(degree=4, n=2, r=1)
    even = BalancedProblem.of(generic(2, 1, 1, degree=4))
    ways = Detours(equations, generic_member(equations), even.member, 0)
    whole = ways._tracked(0)
    ends, n = list(whole.finite), whole.finite.n
    assert len(ends) == 10

    def without(i, j, **others):
        return replace(
            whole, finite=SolutionSet(tuple(e for k, e in enumerate(ends) if k not in (i, j)), n), **others
        )

    lossy = without(0, 1, failed=SolutionSet((ends[0], ends[1]), n))
    wrong = without(0, 2, at_infinity=SolutionSet((ends[0], ends[2]), n))
    for told, settled in (([wrong, wrong], True), ([lossy, wrong, wrong], False)):
        ways.runs, turns = [], iter(told)
        monkeypatch.setattr(Detours, "_tracked", lambda self, way, turns=turns: next(turns))
        answers = [ways.follow(way) for way in range(len(told))]
        assert (answers[-1] is not None) == settled and all(answer is None for answer in answers[:-1])


def test_a_path_that_diverges_before_the_random_member_is_lost_not_infinite():
    """A generic member has no solution at infinity: that a path left every region there says nothing of its end."""
    family = sh.homotopy.PolynomialFamily.read(["a*x - b"], ["x"], ["a", "b"])
    near = sh.homotopy.TrackerSettings(divergence=1.5)
    found = [
        sh.homotopy.solve_member(
            family, [[1.0]], [1, 1], [1, 1], rng=seed, settings=near, on_incomplete="return", give_up=1
        )
        for seed in range(20)
    ]
    assert all(one.at_infinity.count == 0 for one in found)
    early = [end for one in found for end in one.failed if "before it came to the random member" in end.note]
    assert early and any(one.finite.count for one in found)


def path(self, given, point):
    """The first path of each way: another end each time."""
    return 0


CASES = {
    "matrices": (Frames, "_track", (3, 2, 0), {0: 1, 1: 13, 2: 13}),
    "powers": (Detours, "_tracked", (2, 2, 1, 4), {0: 1, 1: 10, 2: 13}),
}


@pytest.mark.parametrize("kind", CASES)
def test_an_end_that_no_way_reaches_leaves_the_chart_sampled(kind, generic, monkeypatch):
    ways, method, shape, counts = CASES[kind]
    monkeypatch.setattr(ways, method, losing(getattr(ways, method), first_entry))
    chart = sh.chart(generic(*shape), certify=False)
    assert chart.completeness == "sampled" and chart.complex_count[2] == counts[2] - 1
    assert any(note.startswith("rank 2: 1 paths were lost") for note in chart.notes)


@pytest.mark.parametrize("kind", CASES)
def test_paths_that_are_lost_once_are_found_another_way(kind, generic, monkeypatch):
    ways, method, shape, counts = CASES[kind]
    track, calls = getattr(ways, method), []

    def once(self, *given):
        calls.append(len(calls))
        return (losing(track, path) if len(calls) == 1 else track)(self, *given)

    sh.chart(generic(*shape), certify=False)  # the generic member is solved
    monkeypatch.setattr(ways, method, once)
    chart = sh.chart(generic(*shape[:2], shape[2] + 1, *shape[3:]), certify=False)
    assert chart.complex_count == counts and chart.completeness != "sampled" and len(calls) > 1
    assert not any("lost" in note for note in chart.notes)


def jumping(track, image):
    """A tracker whose last path ends where its first one does, up to a symmetry of the student."""

    def wrong(self, *given):
        solutions = track(self, *given)
        ends = list(solutions.finite)
        if given[0] > 0 or len(ends) < 2:  # on the straight way only
            return solutions
        ends[-1] = replace(ends[-1], point=image(self.equations, ends[0].point))
        return replace(solutions, finite=SolutionSet(tuple(ends), solutions.finite.n))

    return wrong


@pytest.mark.parametrize("image", [0, 3], ids=["itself", "another sheet"])
def test_a_path_that_jumps_to_another_sheet_is_lost_and_found_by_another_way(generic, monkeypatch, image):
    problem = generic(2, 1, 1, degree=4)
    right = sh.chart(problem)
    track = jumping(Detours._tracked, lambda equations, x: equations.orbit(x)[image])
    monkeypatch.setattr(Detours, "_tracked", track)
    assert np.allclose(sh.chart(problem).losses, right.losses) and right.complex_count[1] == 10


def test_ends_that_are_one_up_to_sign_are_doubted():
    """Both paths of v³ − v at v = ±1 end at the same pair ±v: one of them has jumped."""
    system = sh.homotopy.RankOneSystem({(0, 0, 0, 0): 1, (1, 1, 1, 1): 1}, np.diag([2.0, 3.0]))
    homotopy, starts = system.prepare(np.random.default_rng(0))
    paths = track_paths(homotopy, starts)
    assert not classify(homotopy, paths).suspicious.any()
    ends = paths.ends.copy()
    ends[1] = -ends[0]
    assert classify(homotopy, replace(paths, ends=ends)).suspicious[:2].all()


def test_a_chart_lists_no_point_twice_and_proves_what_it_counts():
    """Under a mean of length 1,000 two paths ended at ±v, and the chart said count-matched with a point missing."""
    data = sh.Gaussian(2, mean=(-843.34701399594, 537.369345966191))
    chart = sh.chart(sh.Problem(np.array([[-1.0, -2.25], [-2.25, -1.0]]), data, width=1))
    # Sturm's sequence on 2p′q − pq′ in exact arithmetic has two real roots (tests/oracle, problem 679)
    assert chart.completeness == "proved" and chart.real_count[1] == 2
    assert [point.signature for point in chart.points] == [(2, 0, 0), (1, 0, 1), (0, 0, 0)]


@pytest.mark.parametrize("rank", [1, 2])
def test_points_proved_to_be_one_are_listed_once_and_no_count_is_claimed(generic, monkeypatch, rank):
    problem = generic(3, rank, 0)
    whole = sh.chart(problem)
    module = rank_one if rank == 1 else rank_r
    certify = module.certify

    def twice(system, points, **given):
        """The last point is the first one (or its mirror image) again."""
        if len(points) < 13:
            return certify(system, points, **given)
        return certify(system, np.vstack([points[:-1], -points[:1] if rank == 1 else points[:1]]), **given)

    monkeypatch.setattr(module, "certify", twice)
    chart = sh.chart(problem)
    assert whole.completeness == "proved" and chart.completeness == "sampled"
    assert any(REPEATED in note for note in chart.notes)
    assert len(set(np.round(chart.losses, 9))) == len(chart.losses)


@pytest.mark.parametrize(
    ("completeness", "kind"), [("sampled", "local minimum"), ("count-matched", "global minimum")]
)
def test_the_lowest_of_a_sampled_list_is_not_called_global(completeness, kind):
    """Where paths are lost a point may be missing, and be lower."""
    problem = sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), width=1)
    stratum = rank_one.rank_one_stratum(problem, True, 0)
    part = replace(
        stratum, found=[p for p in stratum.found if p.signature == (3, 0, 0)], completeness=completeness
    )
    chart = chart_of_strata(problem, {1: part}, Closure(), method="homotopy")
    assert chart.minimum.kind == kind
    assert chart.attained is (True if completeness == "count-matched" else None)
