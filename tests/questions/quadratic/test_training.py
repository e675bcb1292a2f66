"""Batched Adam on sufficient statistics against the slow twin, and Figure 2 of paper 002."""

import subprocess
import sys

import numpy as np
import pytest

import shallows as sh
from shallows.quadratic import (
    figure_2_data,
    plain,
    success_rate,
    train,
    uniform_starts,
    with_norm,
    with_orthogonality,
)
from shallows.questions.quadratic.statistics import statistics_of

# Share of runs within 0.005 of the optimal NMSE, 20 trials on 5 data sets; x divided by √d as in the released code.
# Recomputed independently of this library (Figure 2 of paper 002). (variant, data): {width: share}
REFERENCE = {
    ("plain", "diag"): {8: 0.0, 10: 0.1, 15: 0.35, 20: 0.6},
    ("plain", "gauss"): {6: 0.0, 8: 0.6, 10: 0.7, 15: 1.0},
    ("plain", "indep"): {3: 0.0, 6: 0.55, 8: 0.85, 10: 1.0},
    ("norm", "diag"): {3: 0.05, 6: 0.7, 8: 0.8, 9: 1.0, 10: 1.0, 15: 1.0},
    ("norm", "gauss"): {5: 0.0, 7: 0.55, 9: 1.0, 10: 1.0},
    ("norm", "indep"): {3: 0.0, 5: 0.5, 7: 1.0, 10: 1.0},
    ("orthogonality", "diag"): {8: 0.0, 9: 0.0, 10: 1.0, 12: 1.0},
    ("orthogonality", "gauss"): {6: 0.0, 7: 0.2, 10: 1.0, 12: 1.0},
    ("orthogonality", "indep"): {4: 0.0, 6: 0.8, 8: 1.0, 10: 1.0},
}


def small(kind="gauss", d=4, **options):
    return figure_2_data(kind, d, 60, **options)


def slow_adam(problem, begin, epochs, step):
    """The textbook formulas on Problem.value_and_gradient."""
    theta, m, v = begin.copy(), np.zeros_like(begin), np.zeros_like(begin)
    for t in range(1, epochs + 1):
        _, g = problem.value_and_gradient(theta)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        theta = theta - step * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return theta


@pytest.mark.parametrize("width", [1, 3, 6])
@pytest.mark.parametrize("options", [{}, {"norm_neuron": True}, {"orthogonality": 0.7}], ids=str)
def test_the_compiled_loop_is_adam_on_the_problem(options, width):
    problem = sh.Problem(None, small(), width, **options)
    begin = uniform_starts(problem, 7, rng=3)
    result = train(problem, 7, begin, epochs=60, step=0.01)
    assert np.max(np.abs(result.thetas - slow_adam(problem, begin, 60, 0.01))) < 1e-12


def test_many_epochs_are_cut_into_chunks_without_a_trace():
    problem = plain(small(), 3)
    begin = uniform_starts(problem, 2)
    assert (
        np.max(np.abs(train(problem, 2, begin, epochs=1100).thetas - slow_adam(problem, begin, 1100, 1e-3)))
        < 1e-9
    )


def test_statistics_give_the_loss_over_the_samples():
    data = small("indep")
    problem = plain(data, 3)
    result = train(problem, 5, epochs=300)
    for i in range(5):
        direct = np.mean((result.network(i)(data.X) - data.y) ** 2)
        assert result.fits[i] == pytest.approx(direct, rel=1e-11)
        assert result.nmse[i] == pytest.approx(direct / np.mean(data.y**2), rel=1e-11)
    assert statistics_of(problem).energy == pytest.approx(np.mean(data.y**2), rel=1e-12)
    assert result.excess.min() >= 0 and "seed 0" in repr(result)


def test_the_fit_of_a_penalised_problem_is_without_the_penalty():
    data = small()
    problem = with_orthogonality(data, 4)
    result = train(problem, 1, epochs=500)
    assert result.fits[0] == pytest.approx(np.mean((result.network(0)(data.X) - data.y) ** 2), rel=1e-9)
    assert problem.orthogonality == pytest.approx(np.mean(data.y**2), rel=1e-12)  # Table 1


def test_population_problems_train_too():
    problem = sh.Problem(np.diag([1.0, -0.5]), sh.IID.uniform(2), 2, norm_neuron=True)
    assert train(problem, 10, epochs=4000, step=3e-3).share(1e-4, relative=True) == 1.0


@pytest.mark.parametrize("kind", ["diag", "gauss", "indep"])
def test_theorem_3_1_from_width_d_on_both_variants_reach_the_optimum(kind):
    data = figure_2_data(kind, 5, 200, rng=1)
    for problem in (with_norm(data, 5), with_orthogonality(data, 5)):
        assert train(problem, 8, epochs=30_000).share() == 1.0
    assert with_norm(data, 5).norm_neuron and with_orthogonality(data, 5, gamma=2.0).orthogonality == 2.0


def agrees(rate, expected, trials):
    """Binomial error of both sides, with the spread between data sets (5 of them in the reference)."""
    p = (rate.share * rate.runs * len(rate.shares) + expected * trials) / (
        rate.runs * len(rate.shares) + trials
    )
    between = max(float(np.var(rate.shares)) - rate.share * (1 - rate.share) / rate.runs, 0.0)
    variance = p * (1 - p) * (1 / trials + 1 / (rate.runs * len(rate.shares))) + between * (
        1 / 5 + 1 / len(rate.shares)
    )
    return abs(rate.share - expected) <= 3 * np.sqrt(variance) + 1e-9


def test_three_cells_of_figure_2():
    """The plain network fails, the norm neuron repairs it, one neuron too few and the penalty fails."""
    assert agrees(success_rate("plain", "diag", 10, sets=3, runs=10, epochs=8_000, rng=1), 0.1, 20)
    assert success_rate("norm", "diag", 10, sets=2, runs=10, epochs=12_000, rng=1).share == 1.0
    assert success_rate("orthogonality", "diag", 9, sets=1, epochs=8_000).share == 0.0


@pytest.mark.thorough
@pytest.mark.parametrize("cell", [(v, k, w) for (v, k), row in REFERENCE.items() for w in row], ids=str)
def test_figure_2_within_binomial_error(cell):
    variant, kind, width = cell
    expected = REFERENCE[variant, kind][width]
    sets = 8 if variant != "orthogonality" else 20
    rate = success_rate(variant, kind, width, sets=sets, runs=20, rng=7)
    # the reference's orthogonality runs are deterministic: 5 distinct ones
    assert agrees(rate, expected, 5 if variant == "orthogonality" else 20), rate


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: train(sh.Problem(np.eye(2), sh.Gaussian(2), 2, outer="ones"), 2), "trained outer weights"),
        (lambda: train(plain(small(), 2), 2, np.zeros((3, 10))), "expected \\(2, 10\\)"),
        (lambda: train(plain(small(), 2), 2, "best"), "init is 'best'"),
        (lambda: train(plain(small(), 2), 0), "runs is 0"),
        (lambda: with_orthogonality(small(), 3), "needs a width of at least d = 4"),
        (lambda: success_rate("none", "diag", 3), "variant is"),
        (lambda: figure_2_data("cubic"), "kind is"),
        (lambda: plain(sh.Samples([[1.0, np.nan]], [1.0]), 2), "NaN"),
    ],
)
def test_bad_input(call, what):
    with pytest.raises(sh.InvalidProblem, match=what):
        call()


def test_a_step_that_is_far_too_long_is_said():
    with pytest.raises(sh.NotConverged, match="step"), np.errstate(all="ignore"):
        train(plain(small(), 2), 2, epochs=50, step=1e200)


def test_a_later_process_trains_with_the_kept_code():
    """Code from the cache brings all it calls: numba's memory is not there, and loops that make arrays crashed."""
    code = "import shallows as sh, numpy as np; from shallows.quadratic import train; "
    code += "rng = np.random.default_rng(0); data = sh.Samples(rng.standard_normal((20, 2)), rng.standard_normal(20)); "
    code += "print(train(sh.Problem(None, data, 1), 2, epochs=3).thetas.tobytes().hex())"
    first, second = (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert first == second and len(first) > 16
