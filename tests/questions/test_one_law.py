"""One law under several names gets one answer, from every question: N(0, I) as Gaussian, as i.i.d. coordinates, as a
mixture of one part, and, as far as moments tell, as a random radius."""

from math import prod

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.closed_form.spectrum import spectrum_of
from shallows.questions.charts.continuation.special_data import special_data
from shallows.questions.descent.evaluate import evaluator
from shallows.uses.report.mathematics import data_formula

N = 3


def chi_moments(n, order=12):
    """E‖g‖^k for g ~ N(0, I) in R^n, exact for even k."""
    from math import gamma

    return [
        float(prod(range(n, n + k, 2))) if k % 2 == 0 else 2 ** (k / 2) * gamma((n + k) / 2) / gamma(n / 2)
        for k in range(order + 1)
    ]


def names(n):
    return {
        "gaussian": sh.Gaussian(n),
        "identity": sh.Gaussian(n, np.eye(n), np.zeros(n)),
        "normal": sh.IID.normal(n),
        "moments": sh.IID(n, [1, 0, 1, 0, 3, 0, 15, 0, 105]),
        "mixture": sh.Mixture([1.0], [sh.Gaussian(n)]),
        "nested": sh.Mixture([0.25, 0.75], [sh.IID.normal(n), sh.Mixture([1.0], [sh.Gaussian(n)])]),
        "radial": sh.Radial(n, chi_moments(n)),
    }


SAME = [name for name in names(N) if name != "gaussian"]
#: Those that are N(0, I) to all orders, not only in the moments that were given.
WHOLE = [name for name in SAME if name not in ("moments", "radial")]
TARGET = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, -0.5]])
CUBIC = sh.SymmetricTensor(np.random.default_rng(2).standard_normal(10), N, 3)
NEURONS = np.random.default_rng(4).standard_normal((4, N))


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("width", [1, 2])
def test_charts_have_the_same_closed_form_and_points(name, width):
    one, other = (sh.chart(sh.Problem(TARGET, names(N)[key], width)) for key in ("gaussian", name))
    assert other.method == one.method == "closed-form"
    assert other.completeness == one.completeness == "proved"
    assert (other.complex_count, other.expected_source) == (one.complex_count, one.expected_source)
    np.testing.assert_array_equal(other.losses, one.losses)
    for left, right in zip(other.points, one.points, strict=True):
        np.testing.assert_array_equal(left.tensor.entries, right.tensor.entries)
        assert (left.signature, left.kind, left.certificate) == (
            right.signature,
            right.kind,
            right.certificate,
        )


@pytest.mark.parametrize("name", SAME)
def test_a_diagonal_target_has_the_rotation_invariant_closed_form(name):
    """Not Theorem 36, which is for kurtosis other than 3."""
    one, other = (
        sh.chart(sh.Problem(np.diag([3.0, 2.0, 1.0]), names(N)[key], 1)) for key in ("gaussian", name)
    )
    np.testing.assert_array_equal(other.losses, one.losses)
    assert other.complex_count == one.complex_count == {0: 1, 1: 3}


@pytest.mark.parametrize("name", SAME)
def test_cubic_charts_start_from_the_same_special_metric(name):
    special, wanted = special_data(names(N)[name], 3), special_data(sh.Gaussian(N), 3)
    assert special is not None and special.metrics == wanted.metrics
    np.testing.assert_array_equal(special.parameters, wanted.parameters)
    np.testing.assert_array_equal(special.frame, wanted.frame)


def test_cubic_charts_have_the_same_points():
    one, other = (sh.chart(sh.Problem(CUBIC, data, 1)) for data in (sh.Gaussian(N), sh.IID.normal(N)))
    assert (other.complex_count, other.expected_source) == (one.complex_count, one.expected_source)
    np.testing.assert_allclose(other.losses, one.losses, rtol=1e-12)


@pytest.mark.parametrize("name", SAME)
def test_the_energy_barrier_is_the_same(name):
    teacher = np.diag([3.0, 2.0, 1.0])
    one, other = (sh.energy_barrier(teacher, data=names(N)[key]) for key in ("gaussian", name))
    assert other.method == one.method == "closed form"
    assert (other.lower, other.exact, other.example) == (one.lower, one.exact, one.example)
    np.testing.assert_array_equal(other.network.W, one.network.W)


@pytest.mark.parametrize("name", SAME)
def test_the_barrier_with_a_linear_part_is_the_same(name):
    teacher = sh.Network(np.eye(N) + 0.2, activation=sh.Polynomial([0.0, 0.5, 1.0]))
    one, other = (sh.energy_barrier(teacher, data=names(N)[key]) for key in ("gaussian", name))
    assert (other.method, other.exact) == (one.method, one.exact)


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("degree", [2, 3])
def test_descent_evaluates_the_same_way(name, degree):
    teacher = sh.Network(NEURONS, activation=sh.Power(degree))
    one, other = (sh.Problem(teacher, names(N)[key], 2) for key in ("gaussian", name))
    theta = np.random.default_rng(1).standard_normal((6, one.size))
    first, second = evaluator(one), evaluator(other)
    assert type(second) is type(first)
    for left, right in zip(second(theta), first(theta), strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("activation", [sh.ReLU(), sh.Smooth(np.tanh)], ids=repr)
def test_other_activations_have_the_same_kernel(name, activation):
    teacher = sh.Network(NEURONS / 2, activation=activation)
    one, other = (sh.Problem(teacher, names(N)[key], 2) for key in ("gaussian", name))
    assert type(other.objective) is type(one.objective)
    theta = np.random.default_rng(1).standard_normal((6, one.size))
    for left, right in zip(other.value_and_gradient(theta), one.value_and_gradient(theta), strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("name", WHOLE)
def test_paper_003_accepts_the_law_under_every_name(name):
    from shallows.questions.relu.setting import teacher_of

    teacher = sh.Network(np.eye(N), activation=sh.ReLU())
    V, _ = teacher_of(sh.Problem(teacher, names(N)[name], N, outer="ones"))
    np.testing.assert_array_equal(V, np.eye(N))


@pytest.mark.parametrize("name", SAME)
def test_discriminants_are_the_same(name):
    general = sh.discriminants.rank_one(2)
    one, other = (general.specialize(data=names(2)[key]) for key in ("gaussian", name))
    assert repr(other.factor()) == repr(one.factor())


PLANE = {
    "quadratic": (np.array([[2.0, 0.3], [0.3, 1.0]]), {}),
    "bias": (sh.Network([[1.0, 0.4]], bias=[0.5]), {"bias": True}),
    "outputs": (sh.Network(np.eye(2) + 0.1, [[1.0, 2.0], [0.5, -1.0]], sh.Power(2)), {}),
    "norm neuron": (np.diag([2.0, 1.0]), {"norm_neuron": True}),
    "penalty": (np.array([[2.0, 0.3], [0.3, 1.0]]), {"orthogonality": 0.1}),
    "polynomial": (sh.Network(np.eye(2) + 0.2, activation=sh.Polynomial([0, 0.5, 1])), {}),
    "cubic": (sh.SymmetricTensor(np.array([1.0, 0.3, -0.2, 2.0]), 2, 3), {}),
}


@pytest.mark.parametrize("kind", PLANE)
@pytest.mark.parametrize("name", ["normal", "mixture", "radial"])
def test_charts_of_every_kind_are_the_same(name, kind):
    target, options = PLANE[kind]
    width = 1 if kind in ("bias", "norm neuron") else 2
    one, other = (sh.chart(sh.Problem(target, names(2)[key], width, **options)) for key in ("gaussian", name))
    assert (other.method, other.completeness) == (one.method, one.completeness)
    assert (other.complex_count, other.expected_source) == (one.complex_count, one.expected_source)
    assert [(p.kind, p.signature) for p in other.points] == [(p.kind, p.signature) for p in one.points]
    np.testing.assert_allclose(other.losses, one.losses, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", PLANE)
@pytest.mark.parametrize("name", ["normal", "mixture", "radial"])
def test_proofs_and_nearest_points_are_the_same(name, kind):
    target, options = PLANE[kind]
    problems = [sh.Problem(target, names(2)[key], 2, **options) for key in ("gaussian", name)]
    starts = [problem.unpack(sh.starts(problem, 1, rng=1)[0]) for problem in problems]
    one, other = (sh.nearest_critical(*pair) for pair in zip(problems, starts, strict=True))
    assert (other.kind, other.signature) == (one.kind, one.signature)
    assert (other.certificate is None) == (one.certificate is None)
    np.testing.assert_allclose(other.loss, one.loss, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", SAME)
def test_exact_moments_are_the_same(name):
    np.testing.assert_array_equal(names(N)[name].exact_gram(3), sh.Gaussian(N).exact_gram(3))


def test_laws_that_only_look_alike_are_told_apart():
    """A negative control: kurtosis 3 alone is not enough at degree 3, nor is a symmetric law with another one."""
    kurtosis = sh.IID(N, [1, 0, 1, 0, 3, 0, 16])
    assert spectrum_of(sh.Problem(TARGET, kurtosis, 1)) is not None
    assert special_data(kurtosis, 3) is None
    for data in (sh.IID.laplace(N), sh.Mixture([0.5, 0.5], [sh.Gaussian(N), sh.IID.laplace(N)])):
        assert spectrum_of(sh.Problem(TARGET, data, 1)) is None
    unlike = sh.Mixture([0.5, 0.5], [sh.Gaussian(N), sh.Gaussian(N, np.diag([1.0, 1.0, 2.0]))])
    assert spectrum_of(sh.Problem(TARGET, unlike, 1)) is None


@pytest.mark.parametrize("name", SAME)
def test_charts_with_bias_are_as_complete(name):
    one, other = (
        sh.chart(sh.Problem(np.diag([2.0, 1.0]), names(2)[key], 1, bias=True)) for key in ("gaussian", name)
    )
    assert (other.method, other.completeness) == (one.method, one.completeness) == ("closed-form", "proved")
    np.testing.assert_allclose(other.losses, one.losses, rtol=1e-9)


def test_a_law_with_one_odd_moment_is_no_gaussian():
    one = sh.Problem(np.diag([2.0, 1.0]), sh.IID(2, [1, 0, 1, 0.5, 3]), 1, bias=True)
    assert one.homogeneous().data.as_gaussian() is None


@pytest.mark.parametrize("name", SAME)
def test_reports_write_the_same_formula(name):
    """Of a law that is given by a few moments they say so: it need not be normal."""
    same = data_formula(names(N)[name]) == data_formula(sh.Gaussian(N))
    assert same == (name in WHOLE) == ("𝒩" in data_formula(names(N)[name]))


@pytest.mark.parametrize("name", SAME)
def test_regions_and_paths_of_teachers_are_the_same(name):
    one, other = (sh.Problem(np.diag([2.0, 1.0]), names(2)[key], 1) for key in ("gaussian", name))
    slices = [sh.landscape_regions(p, ("t00", -2, 2), ("t11", -2, 2), resolution=11) for p in (one, other)]
    assert slices[0].regions == slices[1].regions and slices[0].walls == slices[1].walls
    ends = [sh.Problem(np.diag([2.0, -1.0]), p.data, 1) for p in (one, other)]
    first, second = (sh.follow(p, end, samples=3) for p, end in zip((one, other), ends, strict=True))
    assert repr(first) == repr(second)


@pytest.mark.parametrize("name", SAME)
def test_trees_and_diagnoses_are_the_same(name):
    one, other = (sh.Problem(np.diag([2.0, -1.0]), names(2)[key], 1) for key in ("gaussian", name))
    trees = [sh.chart(problem).connections() for problem in (one, other)]
    assert repr(trees[0].edges) == repr(trees[1].edges) and repr(trees[0].leaves) == repr(trees[1].leaves)
    net = sh.Network([[0.001, 0.81]], a=[-0.5])
    first, second = (sh.diagnose(problem, net).to_dict() for problem in (one, other))
    del first["problem"], second["problem"]
    assert first == second
