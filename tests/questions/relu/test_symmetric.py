"""Block-symmetric minima: against the published ones, the dense Hessian, and for k up to 10,000."""

import numpy as np
import pytest
from flint import arb
from hypothesis import assume, given
from hypothesis import strategies as st

import shallows as sh
from shallows.mathematics.balls.systems import precision
from shallows.questions.relu.block_form import BlockForm, recognise
from shallows.questions.relu.isotypic import isotypes
from shallows.questions.relu.reduced import coordinates, unit_directions, variation
from shallows.questions.relu.setting import relu_problem
from shallows.questions.relu.symmetric import symmetric_minimum


def balls(values):
    return [[arb(float(entry)) for entry in row] for row in values]


@st.composite
def block_forms(draw):
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    assume(sum(sizes) > 1)
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    return BlockForm.of(sizes, rng.standard_normal((len(sizes), len(sizes) + 1)))


@given(block_forms())
def test_the_reduced_loss_is_the_whole_loss_at_the_lifted_point(form):
    problem, net = relu_problem(form.k), form.network()
    with precision(128):
        found = variation(form.sizes, balls(form.values), unit_directions(form.sizes))
    assert float(found.loss.mid()) == pytest.approx(problem.loss(net), rel=1e-11)
    whole = np.linalg.norm(problem.gradient(net))
    reduced = np.linalg.norm([float(entry.mid()) for entry in found.slope])
    assert reduced == pytest.approx(whole, rel=1e-9)  # the gradient at a symmetric point is symmetric


@given(block_forms())
def test_isotypic_blocks_have_the_spectrum_of_the_dense_hessian(form):
    """At any symmetric point, critical or not: all k² eigenvalues with their multiplicities."""
    dense = np.linalg.eigvalsh(relu_problem(form.k).hessian(form.network()))
    with precision(128):
        parts = isotypes(form.sizes, balls(form.values))
    split = np.sort(np.concatenate([np.repeat(part.eigenvalues, part.dimension) for part in parts]))
    assert len(split) == form.k**2
    np.testing.assert_allclose(split, dense, atol=1e-9 * max(1.0, np.abs(dense).max()))


def test_published_minima_are_fixed_points_and_strict(published):
    """Polished distance below 1e-8, norm sum to 1e-8, and the published eigenvalue at the published point to 1e-10.

    Three published points are 4e-10 to 3e-9 off the true minimum, which moves their smallest eigenvalue by up to 5e-10.
    """
    form = BlockForm.from_published(published["p"], published["vals"])
    found = symmetric_minimum(published["k"], published["p"], form)
    assert found.form.distance(form) < 1e-8
    assert found.norm_sum == pytest.approx(published["norm_sum"], abs=1e-8)
    there = np.linalg.eigvalsh(relu_problem(form.k).hessian(form.network()))[0] / 2
    assert there == pytest.approx(published["min_eig"], abs=1e-10)
    assert found.half_smallest_eigenvalue == pytest.approx(published["min_eig"], abs=6e-10)
    assert found.is_certified and found.kind == "local minimum"
    assert 0 < found.eigenvalue_bound <= found.smallest_eigenvalue


@pytest.mark.parametrize(
    ("k", "blocks", "half_loss"),
    # Losses of ½E: published with paper 003 (k = 7, 10, 20).
    [(7, [1, 6], 0.023202714914), (10, [1, 9], 0.018702194586), (10, [2, 8], 0.035326880319),
     (20, [2, 18], 0.021922973466), (20, [1, 19], 0.011275581948)],
)  # fmt: skip
def test_published_losses_from_the_default_start(k, blocks, half_loss):
    found = symmetric_minimum(k, blocks)
    assert found.half_loss == pytest.approx(half_loss, abs=1e-12)
    problem, net = relu_problem(k), found.network()
    assert problem.loss(net) == pytest.approx(found.loss, abs=1e-11)
    assert np.linalg.norm(problem.gradient(net)) < 1e-12
    dense = np.linalg.eigvalsh(problem.hessian(net))
    split = np.sort(np.concatenate([[value] * times for value, times, _ in found.spectrum()]))
    np.testing.assert_allclose(split, dense, atol=1e-12)


@pytest.mark.parametrize("k", [100, 1000, 10_000])
def test_the_minimum_with_one_reversed_neuron_exists_for_large_k(k):
    found = symmetric_minimum(k, [1, k - 1])
    assert found.is_certified and found.kind == "local minimum"
    assert found.gradient_norm < 1e-9
    assert found.loss_bounds[1] - found.loss_bounds[0] < 1e-12 * found.loss
    assert found.norm_sum < k
    assert sum(times for _, times, _ in found.spectrum()) == k**2
    # ½E falls like 0.3/k, and the smallest eigenvalue rises towards that of the global minimum, ¼ − 1/2π
    assert 0.2 < found.half_loss * k < 0.31
    assert found.half_smallest_eigenvalue < 0.25 - 1 / (2 * np.pi)


def test_at_k_100_the_reduced_numbers_are_those_of_a_matrix_free_dense_computation():
    found = symmetric_minimum(100, [1, 99])
    problem, net = relu_problem(100), found.network()
    assert problem.loss(net) == pytest.approx(found.loss, abs=1e-10)
    assert np.linalg.norm(problem.gradient(net)) < 1e-11
    # one eigenvector of each representation: products with the dense Hessian give the eigenvalue back
    rng = np.random.default_rng(0)
    rows = np.zeros((100, 100))
    rows[1:, 1:] = rng.standard_normal((99, 99))
    skew = rows - rows.T
    centred = np.zeros((100, 100))
    projector = np.eye(99) - 1 / 99
    centred[1:, 1:] = projector @ skew[1:, 1:] @ projector
    value = {name: v for v, _, name in found.spectrum()}["exterior square of block 1"]
    flat = centred.ravel()
    np.testing.assert_allclose(problem.hvp(net, flat), value * flat, atol=1e-9 * np.abs(flat).max())


def test_the_second_family_and_the_global_minimum():
    within = symmetric_minimum(14, [6, 8], start="within")
    assert within.norm_sum == pytest.approx(13.97981187661279, abs=1e-8)  # published with paper 003
    across = symmetric_minimum(14, [6, 8], start="across")
    assert across.form.distance(within.form) > 0.1
    whole = symmetric_minimum(20, [20])
    assert whole.kind == "global minimum" and whole.loss == 0 and whole.gradient_norm < 1e-40
    assert whole.half_smallest_eigenvalue == pytest.approx(0.25 - 1 / (2 * np.pi), abs=1e-14)  # Theorem 2


def test_a_symmetric_critical_point_that_is_no_minimum_is_called_a_saddle():
    """All neurons reversed at k = 5: below k = 6 this point is a saddle."""
    found = symmetric_minimum(4, [3, 1], start="within")
    assert found.kind == "saddle" and not found.is_certified and found.eigenvalue_bound < 0


def test_bad_blocks_and_starts_are_refused():
    with pytest.raises(sh.InvalidProblem, match=r"add up to 9; they must add up to k = 10"):
        symmetric_minimum(10, [1, 8])
    with pytest.raises(sh.InvalidProblem, match="block size"):
        symmetric_minimum(10, [0, 10])
    with pytest.raises(sh.InvalidProblem, match="empty"):
        symmetric_minimum(10, [])
    with pytest.raises(sh.InvalidProblem, match="start is 'sideways'"):
        symmetric_minimum(10, [1, 9], start="sideways")
    with pytest.raises(sh.InvalidProblem, match="at least 3 neurons"):
        symmetric_minimum(10, [1, 9], start="within")
    with pytest.raises(sh.InvalidProblem, match="shape"):
        symmetric_minimum(10, [1, 9], start=[[1.0, 0.0]])
    with pytest.raises(sh.InvalidProblem, match="written out up to"):
        symmetric_minimum(5000, [1, 4999]).network()
    with pytest.raises(sh.NotConverged):  # two blocks that start alike stay alike
        symmetric_minimum(10, [5, 5], start=[[1.0, 0.01, 0.01], [0.01, 1.0, 0.01]])


@given(block_forms(), st.integers(0, 1000))
def test_a_block_form_is_recognised_after_permutations(form, seed):
    assume(2 not in form.sizes and form.sizes.count(1) <= 1)  # others may be read in several ways
    rng = np.random.default_rng(seed)
    W = form.network().W
    k = len(W)
    found = recognise(W[rng.permutation(k)][:, rng.permutation(k)])
    assert found is not None
    assert sorted(found.sizes) == sorted(form.sizes)
    assert found.norm_sum == pytest.approx(form.norm_sum, rel=1e-9)


def test_a_generic_matrix_is_all_single_blocks_and_coordinates_count_the_weights(rng):
    assert recognise(rng.standard_normal((4, 3))) is None
    found = recognise(rng.standard_normal((4, 4)))
    assert found is not None and found.sizes == (1, 1, 1, 1)
    assert sum(count for _, _, count in coordinates((2, 5, 1))) == 64
