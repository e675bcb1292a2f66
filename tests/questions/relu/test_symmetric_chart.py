"""Complete lists of block-symmetric critical points: against the dense gradient and Hessian, descents and sabotage."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.questions.relu.fixed_space import missing, newton_ends, without

import shallows as sh
from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.search import exclude
from shallows.mathematics.exclusion.system import check_enclosure
from shallows.questions.relu import block_search as search_module
from shallows.questions.relu import symmetric_chart as chart_module
from shallows.questions.relu import symmetric_lists as lists
from shallows.questions.relu import symmetric_point as point_module
from shallows.questions.relu.block_cell import entries_of
from shallows.questions.relu.block_system import BlockSystem
from shallows.questions.relu.parallel_rows import parallel_directions
from shallows.relu import BlockForm
from shallows.support.errors import InvalidProblem


def cells(sizes: list[int]) -> list[Any]:
    return list(
        product(
            *[[(i, s) for i in range(len(entries_of(sizes, a))) for s in (1, -1)] for a in range(len(sizes))]
        )
    )


def reduced_gradient(system: BlockSystem, x: np.ndarray) -> np.ndarray:
    """The library's dense gradient in the block values, a row of each block."""
    form = BlockForm.of(system.sizes, system.table(x))
    k = form.k
    dense = sh.relu_problem(k).gradient(form.network()).reshape(k, k)
    home, found = np.repeat(np.arange(len(system.sizes)), system.sizes), []
    for a in system.blocks:
        first = int(np.flatnonzero(home == a)[0])
        for entry in system.entries[a]:
            own = entry.block < 0
            columns = [first] if own else [j for j in range(k) if home[j] == entry.block and j != first]
            found.append(dense[first, columns].sum() * entry.unit * np.pi)
    return np.array(found)


@pytest.mark.parametrize("sizes", [[6], [1, 5], [2, 4]])
def test_equations_are_the_librarys_gradient_and_their_slopes_its_differences(sizes: list[int]) -> None:
    rng, step = np.random.default_rng(0), 1e-6
    for faces in cells(sizes)[::9]:
        system = BlockSystem(sizes, faces)
        x = rng.uniform(-1, 1, system.n)
        x[system.starts[:-1]] = rng.uniform(0.2, 1.5, len(sizes))
        x[system.starts[-2]] = 9.0
        value, slope = system(Intervals.exact(x[None]), True)
        assert slope is not None
        assert np.allclose(value.mid[0], reduced_gradient(system, x), atol=1e-10)
        ends = [
            [system(Intervals.exact((x + s * e)[None]), False)[0].mid[0] for s in (step, -step)]
            for e in np.eye(system.n)
        ]
        numeric = np.stack([(up - down) / (2 * step) for up, down in ends], axis=1)
        assert np.allclose(slope.mid[0], numeric, atol=1e-6)
        check_enclosure(system, system.region(), 1)
        assert np.allclose(system.coordinates(system.table(x)), x)


@pytest.mark.parametrize("sizes", [[1, 2], [2, 2], [2, 4]])
def test_opposite_rows_of_a_block_of_two_have_bounded_slopes(sizes: list[int]) -> None:
    two = sizes.index(2)
    faces = [(0, 1)] * len(sizes)
    system = BlockSystem(sizes, faces)
    table = np.random.default_rng(1).uniform(0.2, 1.0, (len(sizes), len(sizes) + 1))
    table[two] = 0.0
    table[two, two], table[two, -1] = 1.0, -1.0  # rows (1, −1, 0, …) and (−1, 1, 0, …)
    middle = system.coordinates(table)
    exact = Intervals.exact(middle[None])
    for width in (0.0, 1e-9, 1e-3, 0.1):
        box = Intervals(exact.lo - width, exact.hi + width)
        with np.errstate(all="ignore"):
            slope = system(box, True)[1]
        assert slope is not None and slope.magnitude.max() < 100
        check_enclosure(system, box[0], 3)
    rng, step = np.random.default_rng(2), 1e-7
    with np.errstate(all="ignore"):
        wide = system(Intervals(exact.lo - 1e-3, exact.hi + 1e-3), True)[1]
    assert wide is not None
    for _ in range(20):  # differences of the library's dense gradient, close to opposite rows and across them
        x = middle + rng.uniform(-5e-4, 5e-4, system.n)
        for j in range(system.n):
            ends = [reduced_gradient(system, x + s * step * np.eye(system.n)[j]) for s in (1, -1)]
            chord = (ends[0] - ends[1]) / (2 * step)
            assert np.all((chord > wide.lo[0, :, j] - 1e-5) & (chord < wide.hi[0, :, j] + 1e-5))


@pytest.mark.parametrize("k", [2, 6, 1000])
def test_one_block_has_four_points(k: int) -> None:
    chart = sh.relu.symmetric_chart(k, [k])
    assert chart.completeness == "proved" and len(chart.points) == 4 and not chart.families
    assert chart.count("global minimum") == (2 if k == 2 else 1)
    assert [p.rows for p in chart.symmetric].count(1) == 2
    assert all(p.certificate.signature_certified for p in chart.symmetric)
    for point in chart.symmetric:
        assert sum(times for _, times, _ in point.spectrum) == k * k == sum(point.signature)


def test_losses_of_six_neurons_are_those_of_the_design() -> None:
    known = [0.0, 0.055668581, 1.171273148, 3.708141487]  # a dense search, ½E: design.md, section 6
    assert np.allclose([p.half_loss for p in sh.relu.symmetric_chart(6, [6]).symmetric], known, atol=1e-9)


@pytest.mark.parametrize("k", [2, 5])
def test_spectra_are_those_of_the_dense_hessian(k: int) -> None:
    problem = sh.relu_problem(k)
    for point in sh.relu.symmetric_chart(k, [k]).symmetric:
        spectrum = np.sort(np.concatenate([np.full(times, value) for value, times, _ in point.spectrum]))
        dense = np.linalg.eigvalsh(problem.hessian(point.form.network()))
        assert np.allclose(spectrum, dense, atol=1e-7)
        assert np.abs(problem.gradient(point.form.network())).max() < 1e-12
        assert problem.loss(point.form.network()) == pytest.approx(point.loss_bounds[0], abs=1e-12)


@pytest.mark.parametrize(
    ("k", "starts"), [(2, 100), (6, 100), pytest.param(6, 10_000, marks=pytest.mark.thorough)]
)
def test_newton_finds_nothing_outside_the_list(k: int, starts: int) -> None:
    chart, ends = sh.relu.symmetric_chart(k, [k]), newton_ends([k], starts, 0)
    assert len(ends) > starts // 4 and missing(chart, ends) == 0
    for i in range(len(chart.symmetric)):  # each one deleted
        assert missing(without(chart, i), ends) > 0


def test_parallel_rows_are_critical_points_of_one_neuron() -> None:
    directions, complete = parallel_directions([1, 5])
    assert complete and len(directions) >= 2
    problem = sh.Problem(sh.Network(np.eye(6), activation=sh.ReLU()), sh.Gaussian(6), 1, outer="ones")
    for values in directions:
        row = np.repeat(values, [1, 5])
        sine, angle = np.sqrt(1 - row**2), np.arccos(row)
        length = 2 * np.sum(sine + (np.pi - angle) * row) / (2 * np.pi)
        assert np.abs(problem.gradient(sh.Network(length * row[None], activation=sh.ReLU()))).max() < 1e-9


def test_a_point_that_leaves_its_box_is_noticed(monkeypatch: Any) -> None:
    wrong = point_module.equal_rows(6, 1)
    monkeypatch.setattr(point_module, "equal_rows", lambda k, sign: wrong)
    with pytest.raises(sh.NotConverged, match="left the box"):
        sh.relu.symmetric_chart(6, [6])


def test_too_many_angles_are_refused() -> None:
    with pytest.raises(InvalidProblem, match="7 angles"):
        sh.relu.symmetric_chart(6, [1, 1, 4])


@pytest.mark.thorough
def test_one_and_five_have_twelve() -> None:
    chart = sh.relu.symmetric_chart(6, [1, 5], search=True)
    stored = sh.relu.symmetric_chart(6, [1, 5])
    assert [p.half_loss for p in stored.symmetric] == pytest.approx([p.half_loss for p in chart.symmetric])
    assert [p.signature for p in stored.symmetric] == [p.signature for p in chart.symmetric]
    rows = [p.rows for p in chart.symmetric if p.rows > 1]
    assert len(rows) == 12 and rows.count(6) == 8 and rows.count(2) == 4
    assert "but for" not in chart.scope and len(chart.families) >= 2
    problem = sh.relu_problem(6)
    for point in chart.symmetric:
        net = point.form.network()
        assert np.abs(problem.gradient(net)).max() < 1e-10
        spectrum = np.sort(np.concatenate([np.full(times, value) for value, times, _ in point.spectrum]))
        assert np.allclose(spectrum, np.linalg.eigvalsh(problem.hessian(net)), atol=1e-6)


def test_one_cell_of_one_and_five_has_the_published_minimum() -> None:
    published = sh.symmetric_minimum(6, [1, 5]).form.values  # ½E 0.0250805810
    system = BlockSystem([1, 5], ((0, -1), (0, 1)))
    region = system.region()
    middle = system.coordinates(published)
    box = Intervals(np.maximum(middle - 0.05, region.lo), np.minimum(middle + 0.05, region.hi))
    found = exclude(system, box)
    assert found.complete and len(found.box) == 1
    assert np.allclose(system.table(found.zeros[0]), published, atol=1e-9)


@pytest.mark.parametrize(
    ("k", "starts"),
    [
        (6, 40),
        *(pytest.param(k, 10_000, marks=pytest.mark.thorough) for k in range(3, 21)),
    ],
)
def test_newton_finds_nothing_outside_the_stored_list(k: int, starts: int) -> None:
    chart, ends = sh.relu.symmetric_chart(k, [1, k - 1]), newton_ends([1, k - 1], starts, 0)
    assert len(ends) > 8 and missing(chart, ends) == 0
    assert missing(without(chart, 0), ends) > 0  # the list without its first point


def test_stored_lists_are_proved_anew_and_damage_is_noticed(tmp_path: Path, monkeypatch: Any) -> None:
    text = lists.FILE.read_text()
    document = json.loads(text)
    document["lists"]["1+5"]["values"].pop()
    broken = tmp_path / "lists.json"
    broken.write_text(json.dumps(document))
    with pytest.raises(InvalidProblem, match="damaged"):
        lists.stored_list((1, 5), broken)
    known = lists.stored_list((1, 5))
    assert known is not None
    wrong = lists.StoredList(known.sizes, known.values + 1e-6, known.boxes)
    monkeypatch.setattr(chart_module, "stored_list", lambda sizes: wrong)
    with pytest.raises(sh.NotConverged):
        sh.relu.symmetric_chart(6, [1, 5])


def test_a_saved_chart_keeps_its_spectra(tmp_path: Path) -> None:
    chart = sh.relu.symmetric_chart(6, [1, 5])
    loaded = sh.relu.SymmetricChart.load(chart.save(tmp_path / "six"))
    assert loaded.scope == chart.scope and loaded.kinds() == chart.kinds()
    for a, b in zip(chart.symmetric, loaded.symmetric, strict=True):
        assert a.spectrum == b.spectrum and a.signature == b.signature and a.certificate == b.certificate
        assert np.array_equal(a.form.values, b.form.values) and a.loss_bounds == b.loss_bounds
    assert sh.load_chart(tmp_path / "six").losses.tolist() == chart.losses.tolist()


def test_a_search_that_does_not_end_says_so_and_proves_what_newton_finds(monkeypatch: Any) -> None:
    two = search_module.searched_cells((2, 2))[:2]  # two of ten cells: seconds
    monkeypatch.setattr(search_module, "searched_cells", lambda sizes: two)
    chart = sh.relu.symmetric_chart(4, [2, 2], search=True, most=2_000)
    assert chart.completeness != "proved" and "but for" in chart.scope and "of all)" in chart.scope
    assert "found by Newton's method from open boxes" in chart.notes[0]
    assert (
        chart.count("global minimum") >= 4 and len(chart.points) > 4
    )  # the teacher, with pairs in any order
    problem = sh.relu_problem(4)
    for point in chart.symmetric:
        net = point.form.network()
        assert np.abs(problem.gradient(net)).max() < 1e-10 and point.certificate.radius < 1e-12
        spectrum = np.sort(np.concatenate([np.full(times, value) for value, times, _ in point.spectrum]))
        assert np.allclose(spectrum, np.linalg.eigvalsh(problem.hessian(net)), atol=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("k", range(3, 21))
def test_every_stored_list_has_losses_spectra_kinds_and_certificates(k: int) -> None:
    chart = sh.relu.symmetric_chart(k, [1, k - 1])
    assert chart.completeness == "proved" and "0.01 rad" in chart.scope and "but for" not in chart.scope
    assert len(chart.points) == (12 if k < 16 else 11) and len(chart.families) == 2
    problem = sh.relu_problem(k)
    for place, point in enumerate(chart.symmetric):
        net = point.form.network()
        assert np.abs(problem.gradient(net)).max() < 1e-10
        assert point.loss_bounds[0] - 1e-9 <= problem.loss(net) <= point.loss_bounds[1] + 1e-9
        values = np.sort(np.concatenate([np.full(times, value) for value, times, _ in point.spectrum]))
        assert (
            np.allclose(values, np.linalg.eigvalsh(problem.hessian(net)), atol=1e-6) and len(values) == k * k
        )
        positive, zero, negative = point.signature
        assert positive + zero + negative == k * k and point.certificate.signature_certified
        assert (values > 1e-7).sum() == positive and (values < -1e-7).sum() == negative
        kind = chart.critical.table.kind[place]
        assert kind == (
            "saddle" if negative else "global minimum" if point.half_loss < 1e-9 else "local minimum"
        )


@pytest.mark.thorough
@pytest.mark.parametrize("sizes", [*([1, k - 1] for k in range(3, 21)), [2, 2]])
def test_a_search_of_a_stored_list_finds_it_again(sizes: list[int]) -> None:
    searched, stored = (sh.relu.symmetric_chart(sum(sizes), sizes, search=again) for again in (True, False))
    assert searched.kinds() == stored.kinds() and searched.scope == stored.scope
    for a, b in zip(searched.symmetric, stored.symmetric, strict=True):
        assert a.half_loss == pytest.approx(b.half_loss, abs=1e-12) and a.signature == b.signature


def test_a_search_that_was_stopped_goes_on_from_its_folder(tmp_path, monkeypatch):
    whole = sh.relu.symmetric_chart(4, [4], search=True)
    monkeypatch.setattr(search_module, "PORTION", 3)
    honest, calls = search_module.exclude, []

    def stopped(*given, **options):
        calls.append(options.get("resume"))
        if len(calls) == 2:
            return honest(
                *given, **{**options, "most": 1}
            )  # as an interrupt leaves it: pending, below the limit
        return honest(*given, **options)

    monkeypatch.setattr(search_module, "exclude", stopped)
    with pytest.raises(KeyboardInterrupt, match="is kept in"):
        sh.relu.symmetric_chart(4, [4], search=True, keep=tmp_path)
    monkeypatch.setattr(search_module, "exclude", honest)
    again = sh.relu.symmetric_chart(4, [4], search=True, keep=tmp_path)
    assert np.array_equal(again.losses, whole.losses) and again.scope == whole.scope
    assert list(tmp_path.glob("blocks-4-cell-*.json"))
