"""Trees of known landscapes, their files, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import shallows as sh


def tree_of(target, data, width, **options):
    return sh.chart(sh.Problem(target, data, width=width, **options)).connections()


def test_two_signs_meet_at_the_zero_network():
    tree = tree_of(np.diag([2.0, -1.0]), sh.Frobenius(2), 1)
    assert [leaf.loss for leaf in tree.leaves] == [1.0, 4.0]
    assert tree.barrier(0, 1) == tree.barrier(1, 0) == 5.0
    assert tree.edges[0].point.rank == 0 and tree.edges[0].leaves == (0, 1)
    assert tree.barrier(1, 1) == 4.0 and tree.join(1, 1) is None


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_one_leaf_from_filling_width_on(width, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(2, 2))
    data = sh.Gaussian(2, mean=rng.normal(size=2)) if seed else sh.IID.laplace(2)
    tree = tree_of(matrix + matrix.T, data, width)
    assert len(tree.leaves) == 1 and not tree.edges and tree.leaves[0].point.kind == "global minimum"


def test_eckart_young_valleys_by_signature():
    """Frobenius at width k: a valley is a signature (p, q), p + q = k, of the eigenvalues that are kept.

    Its minimum keeps the largest of each sign; (p, q) and (p−1, q+1) meet where the weaker of the two is left out.
    """
    sigma = np.array([5.0, 3.0, 1.5, -2.0, -4.0])
    tree = tree_of(np.diag(sigma), sh.Frobenius(5), 3)
    total = float(np.sum(sigma**2))
    plus, minus = [25.0, 9.0, 2.25], [16.0, 4.0]
    valleys = {q: total - sum(plus[: 3 - q]) - sum(minus[:q]) for q in range(3)}
    assert np.allclose(sorted(valleys.values()), [leaf.loss for leaf in tree.leaves])
    meets = [total - sum(plus[: 2 - q]) - sum(minus[:q]) for q in range(2)]
    assert np.allclose(sorted(meets), [edge.loss for edge in tree.edges])
    assert all(edge.point.rank == 2 for edge in tree.edges)


def test_fixed_outer_weights_have_no_second_sign():
    assert len(tree_of(np.diag([2.0, -1.0]), sh.Frobenius(2), 1, outer="ones").leaves) == 1
    zero = tree_of(np.diag([-2.0, -1.0]), sh.Frobenius(2), 1, outer="ones").leaves
    assert len(zero) == 1 and zero[0].point.rank == 0


def test_a_family_of_index_one_whose_negative_bundle_is_not_orientable_joins_nothing():
    """T = diag(2,1,1): round the circle of uuᵀ, u ⟂ e₁, the way to e₁e₁ᵀ changes its sign (u ↦ −u)."""
    tree = tree_of(np.diag([2.0, 1.0, 1.0]), sh.Frobenius(3), 1)
    assert len(tree.leaves) == 1 and not tree.edges


def test_zero_target():
    tree = tree_of(np.zeros((2, 2)), sh.Gaussian(2), 1)
    assert len(tree.leaves) == 1 and tree.leaves[0].loss == 0.0


def test_units_do_not_matter():
    small = tree_of(1e-5 * np.diag([3.0, 2.0, -1.0]), sh.Gaussian(3), 2)
    large = tree_of(1e5 * np.diag([3.0, 2.0, -1.0]), sh.Gaussian(3), 2)
    assert np.isclose(small.barrier(0, 1) * 1e20, large.barrier(0, 1))


def test_files(tmp_path):
    tree = tree_of(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), 1)
    again = sh.load_connections(tree.save(tmp_path / "tree"))
    assert again == tree and repr(again).splitlines()[1:] == repr(tree).splitlines()[1:]
    assert again.edges[0].point.tensor.entries.tolist() == tree.edges[0].point.tensor.entries.tolist()
    frame = tree.to_dataframe()
    assert list(frame.node) == ["leaf"] * 4 + ["join"] * 3


def test_what_is_refused(tmp_path):
    problem = sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=1)
    with pytest.raises(sh.InvalidProblem, match="space is 'weights'"):
        sh.chart(problem).connections(space="weights")
    with pytest.raises(sh.IncompleteChart, match=r"sh\.connect"):
        sh.chart(problem, method="descent").connections()
    tree = sh.chart(problem).connections()
    for number in (2, -1, True, "0"):
        with pytest.raises(sh.InvalidProblem, match="numbers 0 to 1"):
            tree.barrier(0, number)


def test_a_missing_point_is_noticed():
    """Without its lowest minimum a chart has a path that ends nowhere: the tree is refused, not guessed."""
    from dataclasses import replace

    chart = sh.chart(sh.Problem(np.diag([2.0, -1.0]), sh.Gaussian(2), width=1))
    table = chart.critical.table
    damaged = replace(chart, critical=chart.critical.where(np.arange(len(table)) > 0))
    with pytest.raises(sh.IncompleteChart, match="does not list"):
        damaged.connections()


@pytest.mark.parametrize(
    ("target", "data", "width"),
    [
        (np.diag([3.0, 2.0, -1.0]), sh.Gaussian(3), 2),
        (np.diag([3.0, 2.0, 1.0]), sh.Gaussian(3), 2),
        (np.diag([2.0, 1.0, 1.0]), sh.Frobenius(3), 1),
        (np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), 1),
        (sh.SymmetricTensor([1.0, 0.3, -0.2, 0.5, 0.1], 2, 4), sh.Gaussian(2, mean=[0.5, -0.3]), 1),
    ],
)
def test_proved(target, data, width):
    tree = tree_of(target, data, width)
    assert tree.known == "proved" and not tree.notes


def test_not_proved_where_normal_data_are_degenerate():
    """T = diag(2,1,0): at rank one the third eigenvalue of P∇ℓP vanishes."""
    tree = tree_of(np.diag([2.0, 1.0, 0.0]), sh.Frobenius(3), 2)
    assert len(tree.leaves) == 1 and tree.known == "numerical" and "non-degenerate" in tree.notes[0]


def test_a_valley_without_a_minimum():
    """Prop. 10 of paper 000 at d = 3, n = r = 2: beside the teacher a valley whose infimum no network attains."""
    bad = sh.bad_minimum(3, 2, 2)
    tree = sh.chart(bad.problem()).connections()
    assert len(tree.leaves) == 2 and tree.known == "numerical"
    teacher, valley = tree.leaves
    assert teacher.loss < 1e-12 and valley.point is None and bad.floor <= valley.loss < 1
    assert "no minimum" in repr(tree) and any("without a minimum" in note for note in tree.notes)
    assert "no minimum" in list(tree.to_dataframe().kind) and tree.figure() is not None
