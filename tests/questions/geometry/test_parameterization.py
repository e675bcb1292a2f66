"""dτ, its rank, Lemma 8's witness, Props. 6 and 7."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows import Frobenius, InvalidProblem, Network, Power, ReLU, SymmetricTensor
from shallows.mathematics.tensors.coordinates import dimension
from shallows.questions.geometry.ranks.branch_locus import (
    branch_rank,
    critical_representative,
    in_branch_locus,
    real_decomposition,
)
from shallows.questions.geometry.ranks.parameterization import (
    branch_witness,
    differential,
    differential_matrix,
    is_critical_parameter,
    parameterization_rank,
)
from shallows.questions.geometry.ranks.real_rank import real_rank
from shallows.questions.geometry.ranks.widths import space_dimension, thick_width

shapes = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 5))  # d, n, r
seeds = st.integers(0, 2**32 - 1)


def random_network(d, n, r, seed):
    rng = np.random.default_rng(seed)
    return Network(rng.standard_normal((r, n)), rng.standard_normal(r), Power(d))


def outer_sum(w, u, degree):
    """sym(w^⊗(d−1) ⊗ u) of equation (6), slot by slot on the full array."""
    total = 0.0
    for slot in range(degree):
        array = np.ones(())
        for k in range(degree):
            array = np.multiply.outer(array, u if k == slot else w)
        total = total + array
    return total


@given(shapes, seeds)
def test_differential_is_equation_six(shape, seed):
    d, n, r = shape
    net = random_network(d, n, r, seed)
    rng = np.random.default_rng(seed + 1)
    dW, da = rng.standard_normal((r, n)), rng.standard_normal(r)
    full = sum(a * outer_sum(w, u, d) for a, w, u in zip(net.a, net.W, dW, strict=True))
    full = full + SymmetricTensor.from_powers(net.W, da, d).to_array()
    found = differential(net, dW, da)
    assert np.allclose(found.to_array(), full, atol=1e-12)
    theta = np.concatenate([dW.ravel(), da])
    assert np.allclose(differential_matrix(net) @ theta, found.entries, atol=1e-12)
    h = 1e-6
    moved = [Network(net.W + s * h * dW, net.a + s * h * da, Power(d)).tensor().entries for s in (1, -1)]
    assert np.allclose((moved[0] - moved[1]) / (2 * h), found.entries, atol=1e-6)


@given(shapes, seeds)
def test_random_networks_have_the_dimension_of_the_function_space(shape, seed):
    d, n, r = shape
    net = random_network(d, n, r, seed)
    assert parameterization_rank(net, exact=True) == space_dimension(d, n, r)
    assert not is_critical_parameter(net, exact=True)


@given(shapes, seeds)
def test_rank_agrees_with_the_whole_matrix_and_with_symmetries(shape, seed):
    """Idle, zero and parallel neurons included; invariant under trivial symmetries and GL(n)."""
    d, n, r = shape
    rng = np.random.default_rng(seed)
    W = rng.integers(-2, 3, size=(r, n)).astype(float)
    a = rng.integers(-1, 2, size=r).astype(float)
    net = Network(W, a, Power(d))
    rank = parameterization_rank(net, exact=True)
    assert parameterization_rank(net) == rank
    assert np.linalg.matrix_rank(differential_matrix(net), tol=1e-9) == rank
    order, scale = rng.permutation(r), rng.choice([-2.0, 0.5, 4.0], r)
    A = rng.integers(-3, 4, size=(n, n)) + 7.0 * np.eye(n)
    moved = Network(scale[:, None] * W[order] @ A, a[order], Power(d))
    assert parameterization_rank(moved, exact=True) == rank


@given(shapes, seeds)
def test_witness_exists_exactly_when_dtau_is_not_onto(shape, seed):
    """Lemma 8 in both directions, for networks with idle neurons too."""
    d, n, r = shape
    rng = np.random.default_rng(seed)
    net = Network(rng.integers(-2, 3, size=(r, n)), rng.integers(-1, 2, size=r), Power(d))
    P = branch_witness(net)
    assert (P is None) == (parameterization_rank(net, exact=True) == dimension(n, d))
    if P is not None:
        assert P.norm(Frobenius(n)) == pytest.approx(1.0)
        active = net.a != 0
        scale = 1 + np.max(np.abs(net.W)) ** d
        assert np.max(np.abs(P.gradient(net.W[active])), initial=0.0) < 1e-10 * scale
        assert np.max(np.abs(P(net.W[~active])), initial=0.0) < 1e-10 * scale
        dW, da = rng.standard_normal((r, n)), rng.standard_normal(r)
        assert differential(net, dW, da).inner(P, Frobenius(n)) == pytest.approx(0.0, abs=1e-9 * scale)


def test_witness_of_the_defective_quartics_is_a_squared_conic():
    """Five points of the plane: P is the square of the conic through them, so P ≥ 0 or P ≤ 0."""
    net = random_network(4, 3, 5, 0)
    P = branch_witness(net)
    X = np.random.default_rng(1).standard_normal((500, 3))
    assert np.min(P(X)) * np.max(P(X)) >= -1e-12
    assert branch_witness(random_network(4, 3, 6, 0)) is None


def test_lemma_8_converse_needs_the_idle_condition():
    """A form singular at the active neurons exists, yet dτ is onto: an idle neuron with w ≠ 0 repairs the rank."""
    active = [[1.0, 0.0], [0.0, 1.0]]
    alone = Network(active, activation=Power(4))
    assert branch_witness(alone) is not None  # x1²x2²
    helped = Network([*active, [1.0, 1.0]], [1.0, 1.0, 0.0], Power(4))
    assert parameterization_rank(helped, exact=True) == 5
    assert branch_witness(helped) is None


@given(st.integers(2, 5), st.integers(0, 2), seeds)
def test_proposition_6(n, extra, seed):
    """d = 2, r ≥ n: Crit(τ_r) maps onto the matrices of rank < n, and only to those."""
    rng = np.random.default_rng(seed)
    r = n + extra
    assert branch_rank(2, n, r) == n - 1
    W = rng.integers(-1, 2, size=(r, n)).astype(float)
    net = Network(W, rng.integers(-1, 2, size=r), Power(2))
    if is_critical_parameter(net, exact=True):
        assert real_rank(net.tensor()) <= n - 1
    s = int(rng.integers(0, n))
    low = SymmetricTensor.from_powers(rng.standard_normal((max(s, 1), n)), np.ones(max(s, 1)) * (s > 0), 2)
    representative = critical_representative(low, r)
    assert is_critical_parameter(representative)
    assert np.allclose(representative.tensor().entries, low.entries, atol=1e-10)
    full = Network(rng.standard_normal((r, n)), activation=Power(2)).tensor()
    assert not in_branch_locus(full, r)
    with pytest.raises(InvalidProblem, match="real rank above"):
        critical_representative(full, r)


@given(st.integers(3, 8), st.integers(0, 2), seeds)
def test_proposition_7(d, extra, seed):
    """n = 2, r ≥ ⌈(d+1)/2⌉: Crit(τ_r) maps onto the forms of rank ≤ ⌊d/2⌋, and only to those."""
    rng = np.random.default_rng(seed)
    r = thick_width(d, 2) + extra
    assert branch_rank(d, 2, r) == d // 2
    net = Network(rng.integers(-1, 2, size=(r, 2)), rng.integers(-1, 2, size=r), Power(d))
    if is_critical_parameter(net, exact=True):
        assert in_branch_locus(net.tensor(), r)
    s = int(rng.integers(1, d // 2 + 1))
    angles = (np.arange(s) + rng.uniform(0.2, 0.8, s)) * np.pi / s
    low = SymmetricTensor.from_powers(
        np.stack([np.cos(angles), np.sin(angles)], 1), rng.choice([-1.0, 1.0], s), d
    )
    representative = critical_representative(low, r)
    assert is_critical_parameter(representative)
    assert np.allclose(representative.tensor().entries, low.entries, atol=1e-7)
    assert not in_branch_locus(SymmetricTensor.from_polynomial(f"x^{d - 1}*y"), r)


def test_lemma_5_at_a_critical_point_outside_the_critical_set(rng):
    """r ≥ r_thick and dτ onto: a zero gradient of ℓ∘τ forces ∇ℓ = 0."""
    net = random_network(2, 3, 4, 1)
    slope = rng.standard_normal(6)  # ∇ℓ, not zero
    assert np.linalg.norm(differential_matrix(net).T @ slope) > 1e-3


def test_branch_locus_is_refused_where_it_is_open():
    with pytest.raises(InvalidProblem, match="open"):
        branch_rank(3, 3, 5)
    with pytest.raises(InvalidProblem, match="below the thick width"):
        branch_rank(2, 4, 3)
    with pytest.raises(InvalidProblem, match="two inputs"):
        real_decomposition(SymmetricTensor(np.ones(10), 3, 3))


@pytest.mark.parametrize(
    "net",
    [
        Network([[1.0, 2.0]], activation=ReLU()),
        Network([[1.0, 2.0]], [[1.0], [2.0]]),
        Network([[1.0, 2.0]], norm=1.0),
        np.eye(2),
    ],
)
def test_networks_without_a_tensor_are_refused(net):
    with pytest.raises(InvalidProblem):
        parameterization_rank(net)


def test_degree_one_and_idle_neurons():
    """d = 1: dτ is onto as soon as one neuron is active, and has the rank of the idle neurons otherwise."""
    W = [[1.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
    for a, rank in (([1.0, 1.0], 3), ([0.0, 1.0], 3), ([0.0, 0.0], 1)):
        net = Network(W, a, Power(1))
        assert parameterization_rank(net) == parameterization_rank(net, exact=True) == rank
        assert differential_matrix(net).shape == (3, 8)


def test_bad_directions_are_refused():
    with pytest.raises(InvalidProblem, match="expected"):
        differential(random_network(2, 2, 2, 0), np.ones((1, 2)), np.ones(2))
