"""The parts of experiments that compute something of their own, each against a slow or known answer."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

import shallows as sh
from shallows.questions.quadratic.training import train
from shallows.support.errors import InvalidProblem
from shallows.uses.papers.experiments.deep_training import SAMPLES, D, synthetic_data
from shallows.uses.papers.experiments.experiment import Plan
from shallows.uses.papers.experiments.landscapes import best_outer, climbs, landscape, parallel_traps
from shallows.uses.papers.experiments.library import find_experiments
from shallows.uses.papers.experiments.product import gradients
from shallows.uses.papers.experiments.quadratic_training import (
    _without_neurons,
    cells,
    trainings,
)
from shallows.uses.papers.experiments.reference import FIGURE_2, FIGURE_4, FIGURE_5
from shallows.uses.papers.experiments.success_rates import figure_2_data, success_rate, variant_problem
from shallows.uses.papers.images import load, pair_task, read_idx


def test_a_climb_is_the_lowest_pass() -> None:
    """Two pits, a pass of height 3 between them, a wall of 9 elsewhere: flooding against all paths by hand."""
    values = np.full((3, 5), 9.0)
    values[1] = [0.0, 2.0, 3.0, 1.0, 2.5]
    heights = climbs(values)
    assert heights[1].tolist() == [0.0, 2.0, 3.0, 3.0, 3.0]
    assert heights[1, 3] - values[1, 3] == 2.0


def test_a_climb_may_go_around_a_circle() -> None:
    values = np.array([[0.0, 5.0, 1.0, 0.5]]).repeat(2, axis=0)
    assert climbs(values)[0, 2] == 5.0
    assert climbs(values, (False, True))[0, 2] == 1.0


def test_a_flood_agrees_with_thresholds() -> None:
    """A slow reference: the least level at which the component of a point contains a global minimum."""
    from scipy.ndimage import label

    values = np.random.default_rng(0).random((12, 12))
    heights = climbs(values)
    seeds = values <= values.min() + 0.05
    for i, j in [(0, 0), (3, 7), (11, 4), (8, 8)]:
        levels = np.unique(values)
        passes = [
            level
            for level in levels
            if level >= values[i, j]
            and (parts := label(values <= level, np.ones((3, 3)))[0])[i, j] in parts[seeds]
        ]
        assert heights[i, j] == passes[0]


def test_the_best_outer_weights_are_those_of_least_squares() -> None:
    bad = sh.bad_minimum(3, 2, 2)
    gram, target = bad.metric.gram(3), bad.teacher.tensor().entries
    root = np.linalg.cholesky(gram).T
    source = np.random.default_rng(1)
    for first, second in source.uniform(0, np.pi, (20, 2)):
        neurons = [
            sh.Network([[np.cos(t), np.sin(t)]], [1.0], sh.Power(3)).tensor().entries for t in (first, second)
        ]
        F = root @ np.array(neurons).T
        rest = root @ target - F @ np.linalg.lstsq(F, root @ target, rcond=None)[0]
        assert best_outer(np.array(first), np.array(second), gram, target) == pytest.approx(
            rest @ rest, abs=1e-9
        )


def test_figure_1_d_has_bad_minima_with_parallel_neurons() -> None:
    """L(W′) − L(W) ≥ Σ α′D(w′) for every W′, and ≥ 0 near W; descents end there; and a path leads out."""
    bad = sh.bad_minimum(3, 2, 2)
    problem = bad.problem()
    traps = parallel_traps(bad)
    assert [round(problem.loss(net), 3) for net in traps] == [3.244, 3.244]
    rng = np.random.default_rng(5)
    for net in traps:
        assert np.linalg.norm(problem.gradient(net)) < 1e-9
        form, base = bad.gradient(net.tensor()), problem.loss(net)
        for size in (
            0.02,
            3.0,
        ):  # near W, where the bound is not negative, and anywhere, where it still bounds
            for move in size * rng.standard_normal((200, problem.size)):
                other = problem.unpack(problem.pack(net) + move)
                bound = float(other.a @ form(other.W))
                assert problem.loss(other) - base >= bound - 1e-9 * (1 + abs(bound))
                assert size > 0.1 or bound >= -1e-12
        assert sh.explain_escape(problem, net).path is not None
    ends = sh.ensemble(problem, 60, rng=0).losses
    assert np.any(np.abs(ends - problem.loss(traps[0])) < 1e-6)


def test_the_valley_at_infinity_keeps_its_digits() -> None:
    """As the neurons meet, the loss tends to the projection on the cube and its derivative (a tangent line)."""
    bad = sh.bad_minimum(3, 2, 2)
    gram, target = bad.metric.gram(3), bad.teacher.tensor().entries
    t = np.pi / 6
    cube = np.array([np.cos(t) ** 3, np.cos(t) ** 2 * np.sin(t), np.cos(t) * np.sin(t) ** 2, np.sin(t) ** 3])
    c, s = np.cos(t), np.sin(t)
    slope = np.array([-3 * c * c * s, c**3 - 2 * c * s * s, 2 * c * c * s - s**3, 3 * s * s * c])
    root = np.linalg.cholesky(gram).T
    F = root @ np.column_stack([cube, slope])
    rest = root @ target - F @ np.linalg.lstsq(F, root @ target, rcond=None)[0]
    near = best_outer(np.array(t - 1e-6), np.array(t + 1e-6), gram, target)
    assert near == pytest.approx(rest @ rest, rel=1e-6)
    assert rest @ rest >= bad.floor


def test_a_landscape_without_its_bad_minimum_is_told_apart() -> None:
    """(b) has a valley of depth t₂²/‖T‖²: below zero loss of −1.5 e₂e₂ᵀ one has to climb to the zero network."""
    facts = landscape({"panel": "b", "grid": 61, "seed": 0})[0]
    assert facts["valley_depth"] == pytest.approx(1.5**2 / (2**2 + 1.5**2), abs=2e-3)
    assert facts["valley_floor"] == pytest.approx(2**2 / (2**2 + 1.5**2), abs=2e-3)


def test_trainings_repeat_the_librarys_success_rate() -> None:
    """Same data and starts, trained through the library: the same shares."""
    settings = {
        "variant": "norm",
        "kind": "gauss",
        "width": 6,
        "sets": 1,
        "runs": 3,
        "epochs": 400,
        "seed": 5,
    }
    (row,) = trainings(settings)
    data = figure_2_data("gauss", rng=np.random.default_rng([5, 1, 0]))
    result = train(
        variant_problem("norm", data, 6), 3, epochs=400, rng=np.random.default_rng([5, 1, 0, 6, 1])
    )
    assert row["nmse_mean"] == pytest.approx(float(result.nmse.mean()), rel=1e-12)
    assert row["share_within_0.005"] == result.share()


def test_below_width_d_the_penalty_is_that_of_the_library() -> None:
    rate = success_rate("orthogonality", "indep", 4, sets=1, epochs=300, rng=0)
    assert rate.runs == 1
    data = figure_2_data("indep", rng=0)
    assert variant_problem("orthogonality", data, 4).orthogonality == pytest.approx(
        np.mean(np.square(data.y))
    )
    assert variant_problem("orthogonality", data, 12).orthogonality == pytest.approx(
        np.mean(np.square(data.y))
    )


def test_without_neurons_the_norm_is_fitted_by_least_squares() -> None:
    data = figure_2_data("diag", rng=3)
    square, y = np.sum(data.X**2, axis=1)[:, None], np.ravel(data.y)
    alpha = np.linalg.lstsq(square, y, rcond=None)[0]
    nmse, optimum = _without_neurons("norm", data)
    assert nmse[0] == pytest.approx(np.sum((y - square @ alpha) ** 2) / np.sum(y**2), rel=1e-12)
    assert _without_neurons("plain", data)[0].tolist() == [1.0]
    assert optimum < 1e-12


def test_the_papers_grid_is_18900_trainings() -> None:
    settings = cells(Plan("paper"))
    assert sum(s["sets"] * s["runs"] for s in settings) == 18_900
    assert {s["epochs"] for s in settings} == {30_000}


def test_planted_labels_are_those_of_a_tensor() -> None:
    """The labels are a quartic form in x: least squares on all monomials of degree four leaves nothing."""
    X, y = synthetic_data("planted", np.random.default_rng(0))
    assert X.shape == (SAMPLES, D) and np.all(X[:, 0] == 1)
    index = np.array(
        [(a, b, c, d) for a in range(D) for b in range(a, D) for c in range(b, D) for d in range(c, D)]
    )
    X, y = X[:600], y[:600]  # more than the 495 monomials
    monomials = np.prod(X[:, index], axis=2)
    rest = y - monomials @ np.linalg.lstsq(monomials, y, rcond=None)[0]
    assert np.linalg.norm(rest) < 1e-8 * np.linalg.norm(y)
    _, other = synthetic_data("independent", np.random.default_rng(0))
    assert abs(other.mean()) < 1e-15


def test_the_variance_of_planted_labels_is_that_of_a_gaussian_tensor() -> None:
    """E y² given x is ‖x‖⁸ when all d⁴ entries of the tensor are independent N(0, 1)."""
    ratios = []
    for seed in range(40):
        X, y = synthetic_data("planted", np.random.default_rng(seed))
        ratios.append(np.mean(y**2 / np.sum(X**2, axis=1) ** 4))
    assert np.mean(ratios) == pytest.approx(1.0, abs=4 * np.std(ratios) / np.sqrt(40))


def test_slopes_of_the_product_are_exact() -> None:
    points = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    x, y = points.T
    assert gradients(points) == pytest.approx(np.stack([2 * x * y**2, 2 * y * x**2], axis=1), abs=1e-8)


def test_published_tables_are_complete() -> None:
    assert all(len(shares) in (14, 20) and shares[-1] <= 1 for shares in FIGURE_2.values())
    assert [len(table) for table in FIGURE_4.values()] == [20, 20]
    assert min(FIGURE_5) == 5 and max(FIGURE_5) == 125
    for mean, low, high in (row for table in FIGURE_4.values() for row in table.values()):
        assert low <= mean <= high


def _write_idx(path: Path, array: np.ndarray) -> None:
    raw = (
        struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
        + array.astype(np.uint8).tobytes()
    )
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small MNIST: eights are bright at the top, threes at the bottom."""
    source = np.random.default_rng(0)
    for name, count in (("train", 60), ("t10k", 20)):
        labels = source.choice([3, 8, 1], count)
        images = source.integers(0, 60, (count, 6, 6))
        images[labels == 8, :3] += 150
        images[labels == 3, 3:] += 150
        _write_idx(tmp_path / f"{name}-images-idx3-ubyte.gz", images)
        _write_idx(tmp_path / f"{name}-labels-idx1-ubyte", labels)
    return tmp_path


def test_idx_files_are_read(folder: Path) -> None:
    images, labels = load(str(folder))
    assert images.shape == (80, 36) and labels.shape == (80,)
    assert images[labels == 8, :18].mean() > 100 > images[labels == 3, :18].mean()


def test_idx_files_that_are_none_are_named(folder: Path) -> None:
    broken = folder / "t10k-labels-idx1-ubyte"
    broken.write_bytes(broken.read_bytes()[:-3])
    with pytest.raises(InvalidProblem, match="should hold 20 bytes and holds 17"):
        load(str(folder))
    broken.write_bytes(b"PNG")
    with pytest.raises(InvalidProblem, match="no IDX file of bytes"):
        read_idx(broken)
    broken.unlink()
    with pytest.raises(InvalidProblem, match=r"has no t10k-labels-idx1-ubyte \(nor"):
        load(str(folder))


def test_a_pair_of_digits_as_the_paper_has_it(folder: Path) -> None:
    task = pair_task(str(folder), (3, 8), 4, 20, np.random.default_rng(0))
    assert task.train_x.shape == (20, 5)
    assert len(task.train_y) + len(task.test_y) == np.isin(load(str(folder))[1], (3, 8)).sum()
    for X, y in ((task.train_x, task.train_y), (task.test_x, task.test_y)):
        assert np.all(X[:, 0] == 1)
        assert np.linalg.norm(X[:, 1:], axis=1) == pytest.approx(np.ones(len(X)))
        assert set(y) == {1.0, -1.0}
    first = task.test_x[:, 1]
    assert abs(np.corrcoef(first, task.test_y)[0, 1]) > 0.9  # the first component tells them apart
    with pytest.raises(InvalidProblem, match="expected less than"):
        pair_task(str(folder), (3, 8), 4, 500, np.random.default_rng(0))


def test_prepared_tasks_are_taken_as_they_are_and_checked(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    arrays = {"train_x": rng.random((20, 3)), "train_y": rng.choice([-1.0, 1.0], (20, 1))}
    arrays |= {"test_x": rng.random((9, 3)), "test_y": rng.choice([-1, 1], 9)}
    np.savez(tmp_path / "mnist_pca_47.npz", **arrays)
    task = pair_task(str(tmp_path), (4, 7), 10, 1504, rng)
    assert np.array_equal(task.train_x, arrays["train_x"]) and task.train_y.shape == (20,)
    (experiment,) = find_experiments("002-figure-5")
    settings = experiment.cells(Plan(data=str(tmp_path)))
    assert {tuple(s["pair"]) for s in settings} == {
        (4, 7)
    }  # the other pair is not there, and nothing stands in for it
    rows = experiment.compute({**settings[-1], "runs": 1, "iterations": 20, "hidden": 2})
    assert rows[0]["data"] == "MNIST" and rows[0]["test_samples"] == 9
    assert len(experiment.present(rows, Plan(data=str(tmp_path))).pictures) == 1
    np.savez(tmp_path / "mnist_pca_47.npz", **{**arrays, "test_y": rng.random(9)})
    with pytest.raises(InvalidProblem, match="labels ±1"):
        pair_task(str(tmp_path), (4, 7), 10, 1504, rng)
    np.savez(tmp_path / "mnist_pca_47.npz", train_x=arrays["train_x"])
    with pytest.raises(InvalidProblem, match="has no train_y, test_x, test_y"):
        pair_task(str(tmp_path), (4, 7), 10, 1504, rng)


def test_figure_5_runs_on_idx_files(folder: Path) -> None:
    (experiment,) = find_experiments("002-figure-5")
    settings = experiment.cells(Plan(data=str(folder)))
    assert {s["training"] for s in settings} == {1504, 1539}
    small = [
        {**s, "training": 20, "components": 2, "runs": 1, "iterations": 30, "hidden": h, "pair": [3, 8]}
        for h, s in zip((2, 5), settings, strict=False)
    ]
    rows = [row for s in small for row in experiment.compute(s)]
    assert {row["data"] for row in rows} == {"MNIST"}
    shown = experiment.present(rows, Plan(data=str(folder)))
    assert "MNIST" in shown.sentences[0] and len(shown.pictures) == 1
