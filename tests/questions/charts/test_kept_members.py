"""Generic members on disk: what is shipped is made again and compared, what is damaged is not used."""

import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.continuation import generic_members, kept_members
from shallows.questions.charts.continuation.equations import SolvedMember
from shallows.questions.charts.continuation.generic_members import SPECIAL_SEEDS, first_whole, generic_member
from shallows.questions.charts.continuation.kept_members import (
    SHIPPED,
    clear,
    contents,
    folder,
    is_solved,
    keep_member,
    kept_member,
    name_of,
    read_member,
)
from shallows.questions.charts.powers.equations import PowerEquations
from shallows.questions.charts.shipped_members import shapes, solved
from shallows.support.errors import InvalidProblem

QUARTIC = PowerEquations(4, 2, 2)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache directory, nothing shipped, and a process that has solved nothing."""
    monkeypatch.setenv("SHALLOWS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(kept_members, "SHIPPED", tmp_path / "none")
    monkeypatch.setattr(generic_members, "SOLVED", {})
    return tmp_path / "cache"


def as_a_set(equations, member):
    tensors = equations.tensors(member.points)
    return tensors[np.lexsort((tensors[:, 0].imag.round(6), tensors[:, 0].real.round(6)))]


def test_all_that_is_shipped_is_sound_and_small():
    wanted = {name_of(equations, special): (equations, special) for equations, special in shapes()}
    assert wanted.keys() == {file.stem for file in SHIPPED.glob("*.json")}
    for name, (equations, special) in wanted.items():
        assert is_solved(equations, special, read_member(SHIPPED / name)), name
    assert sum(file.stat().st_size for file in SHIPPED.iterdir()) < 1_000_000


def test_what_is_shipped_can_be_made_again():
    shipped, again = read_member(SHIPPED / name_of(QUARTIC, None)), solved(QUARTIC, None)
    np.testing.assert_allclose(shipped.parameters, again.parameters)
    np.testing.assert_allclose(as_a_set(QUARTIC, shipped), as_a_set(QUARTIC, again), atol=1e-9)


def test_a_member_is_solved_once_and_then_read(cache, monkeypatch):
    first = generic_members.generic_member(QUARTIC)
    assert contents()[0] == 1
    monkeypatch.setattr(generic_members, "SOLVED", {})
    monkeypatch.setattr(generic_members, "solve_generic", None)
    np.testing.assert_array_equal(generic_members.generic_member(QUARTIC).points, first.points)
    clear()
    assert contents() == (0, 0) and kept_member(QUARTIC, None) is None


@pytest.mark.parametrize("part", [".json", ".npz"])
@pytest.mark.parametrize("harm", ["cut", "byte", "empty"])
def test_a_damaged_file_is_solved_and_written_anew(cache, monkeypatch, part, harm):
    generic_members.generic_member(QUARTIC)
    file = folder() / f"{name_of(QUARTIC, None)}{part}"
    whole = bytearray(file.read_bytes())
    if harm == "byte":
        whole[len(whole) // 2] ^= 1
    file.write_bytes({"cut": whole[: len(whole) // 2], "byte": whole, "empty": b""}[harm])
    assert kept_member(QUARTIC, None) is None
    monkeypatch.setattr(generic_members, "SOLVED", {})
    generic_members.generic_member(QUARTIC)
    assert kept_member(QUARTIC, None) is not None


def test_files_that_are_whole_but_wrong_are_not_used(cache):
    """Checksums fit, the content does not: a moved point, one too few, one twice, another shape, no numbers."""
    good = solved(QUARTIC, None)
    moved, twice = good.points.copy(), good.points.copy()
    moved[3, 0] += 1e-5
    twice[1] = twice[0]
    nothing = np.full_like(good.points, np.nan)
    for points in (moved, good.points[:-1], twice, good.points[:, :-1], nothing, good.points[:0]):
        keep_member(QUARTIC, None, SolvedMember(good.parameters, points, "count-matched"))
        assert kept_member(QUARTIC, None) is None
    keep_member(QUARTIC, None, SolvedMember(good.parameters[:-1], good.points, "count-matched"))
    assert kept_member(QUARTIC, None) is None
    keep_member(QUARTIC, None, good)
    assert kept_member(QUARTIC, None) is not None


def test_incomplete_members_are_kept_with_that_word_and_never_believed_more(cache):
    """Another process would find no more: each solved them again. A list that is short of a theorem's number is not
    used, whatever its file says."""
    good = solved(QUARTIC, None)
    keep_member(QUARTIC, None, SolvedMember(good.parameters, good.points, "sampled"))
    assert contents()[0] == 1 and kept_member(QUARTIC, None).completeness == "sampled"
    keep_member(QUARTIC, None, SolvedMember(good.parameters, good.points[1:], "sampled"))
    assert kept_member(QUARTIC, None) is None


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("SHALLOWS_CACHE_DIR", str(blocked))
    keep_member(QUARTIC, None, solved(QUARTIC, None))
    assert blocked.read_text() == "in the way"


def _write(seed):
    """Write and read many times; what is read while the other one writes is whole, or known to be damaged."""
    points = np.full((13, 4), seed + 1j)
    for _ in range(20):
        keep_member(QUARTIC, None, SolvedMember(np.zeros(20) + 0j, points, "count-matched"))
        with suppress(InvalidProblem):
            found = read_member(folder() / name_of(QUARTIC, None))
            assert len(np.unique(found.points)) == 1
    return seed


def test_two_processes_write_at_once(cache):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert sorted(pool.map(_write, range(2))) == [0, 1]
    assert not [file for file in folder().iterdir() if file.name.startswith(".")]


@pytest.mark.thorough
def test_a_new_process_reads_what_is_shipped():
    """A cubic at width 2 in three inputs: no monodromy in a new process."""
    code = (
        "import numpy as np, shallows as sh\n"
        "from shallows.questions.charts.continuation import generic_members\n"
        "generic_members.monodromy = None\n"
        "T = sh.SymmetricTensor(np.random.default_rng(0).standard_normal(10), 3, 3)\n"
        "print(sh.chart(sh.Problem(T, sh.Gaussian(3), 2)).completeness)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "count-matched"


@pytest.mark.thorough
def test_two_quartic_neurons_with_bias_under_gaussian_data():
    """From the member that is shipped; following paths from a generic metric took more than twenty minutes."""
    rng = np.random.default_rng(0)
    teacher = sh.Network(
        rng.standard_normal((3, 2)), rng.standard_normal(3), sh.Power(4), bias=rng.standard_normal(3)
    )
    problem = sh.Problem(teacher, sh.Gaussian(2), 2, bias=True)
    chart = sh.chart(problem)
    assert (chart.completeness, chart.complex_count[2], chart.attained) == ("trace-tested", 715, True)
    lowest = sh.ensemble(problem, runs=20, method="lbfgs", rng=0).losses.min()
    assert lowest == pytest.approx(chart.infimum, rel=1e-6)


def test_a_member_with_a_solution_twice_is_not_complete_and_another_is_drawn():
    """A trace test does not see it: both go the same way."""
    equations = PowerEquations(4, 2, 1)
    whole = generic_member(equations)
    double = SolvedMember(whole.parameters, np.concatenate([whole.points, whole.points[:1]]), "trace-tested")
    alone = first_whole(equations, lambda seed: double)
    assert alone.completeness == "sampled" and len(alone.points) == len(whole.points)
    drawn = {SPECIAL_SEEDS[0]: double, SPECIAL_SEEDS[1]: whole}
    assert first_whole(equations, drawn.__getitem__).completeness == whole.completeness != "sampled"
