"""Widths against tables of the literature and against exact ranks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows import InvalidProblem, Network, Power, SymmetricTensor
from shallows.mathematics.tensors.coordinates import dimension
from shallows.questions.geometry.ranks.generic_rank import generic_rank, is_singular_at, singular_form
from shallows.questions.geometry.ranks.parameterization import parameterization_rank
from shallows.questions.geometry.ranks.real_rank import real_rank
from shallows.questions.geometry.ranks.widths import (
    DEFECTIVE,
    filling_bounds,
    filling_width,
    regime,
    space_dimension,
    thick_width,
)

ALL = [(d, n) for d in range(1, 7) for n in range(1, 7)]

# Generic ranks of forms (Alexander–Hirschowitz): rows d = 2..6, columns n = 2..6.
GENERIC = {
    2: [2, 3, 4, 5, 6],
    3: [2, 4, 5, 8, 10],
    4: [3, 6, 10, 15, 21],
    5: [3, 7, 14, 26, 42],
    6: [4, 10, 21, 42, 77],
}


@pytest.mark.parametrize("d", GENERIC)
def test_table_of_generic_ranks(d):
    assert [thick_width(d, n) for n in range(2, 7)] == GENERIC[d]


@pytest.mark.parametrize(("d", "n"), ALL)
def test_thick_width_is_proved_by_exact_ranks(d, n):
    """rk dτ is N exactly from the thick width on: both bounds of the generic rank meet, just below and at it."""
    thick = thick_width(d, n)
    for r in {max(1, thick - 1), thick}:
        rank = generic_rank(d, n, r, rng=5)
        assert rank.proved
        assert rank.lower == space_dimension(d, n, r)
        assert (rank.lower == dimension(n, d)) == (r >= thick)


@pytest.mark.thorough
@pytest.mark.parametrize(("d", "n"), ALL)
def test_every_dimension_is_proved(d, n):
    for r in range(1, thick_width(d, n) + 2):
        rank = generic_rank(d, n, r, rng=r)
        assert rank.proved and rank.lower == space_dimension(d, n, r)


@pytest.mark.parametrize(("d", "n", "r"), sorted(DEFECTIVE))
def test_defects_have_an_exact_singular_form(d, n, r):
    """The form that Lemma 8 asks for exists at all general points; the expected rank N is missed by one."""
    rng = np.random.default_rng(d * n)
    W = rng.integers(-9, 10, size=(r, n))
    form = singular_form(W, d)
    assert form != 0
    assert is_singular_at(form, W)
    moved = W.copy()
    moved[-1] += 1
    assert not is_singular_at(form, moved)
    net = Network(W.astype(float), activation=Power(d))
    assert parameterization_rank(net, exact=True) == dimension(n, d) - 1
    assert n * r >= dimension(n, d)  # parameters would suffice: that is what makes it a defect


def test_singular_forms_are_refused_where_none_is_known():
    with pytest.raises(InvalidProblem, match="No singular form"):
        singular_form(np.ones((4, 3), dtype=int), 3)
    with pytest.raises(InvalidProblem, match="integer"):
        singular_form(np.ones((4, 3)), 4)


@pytest.mark.parametrize(
    ("d", "n", "value"), [(1, 7, 1), (9, 1, 1), (2, 8, 8), (5, 2, 5), (11, 2, 11), (3, 3, 5), (3, 2, 3)]
)
def test_known_filling_widths(d, n, value):
    assert filling_width(d, n) == (value, value)
    assert filling_bounds(d, n).exact


@pytest.mark.parametrize(
    ("d", "n", "lower"), [(4, 3, 7), (5, 3, 10), (3, 4, 7), (6, 3, 13), (3, 5, 9), (4, 4, 10)]
)
def test_filling_is_at_least_known_maximal_complex_ranks(d, n, lower):
    """Ternary quartics 7 (Kleppe, De Paris), quintics 10 (De Paris), cubic surfaces 7 (Segre)."""
    assert filling_width(d, n)[0] == lower


@given(st.integers(1, 9), st.integers(1, 9))
def test_filling_bounds_are_consistent(d, n):
    bounds = filling_bounds(d, n)
    assert thick_width(d, n) <= bounds.lower <= bounds.upper <= 2 * thick_width(d, n)
    assert bounds.upper <= dimension(n, d)
    assert bounds.lower_source and bounds.upper_source
    assert filling_bounds(d, n + 1).lower >= bounds.lower  # setting a variable to 0 keeps ranks
    assert filling_bounds(d + 1, n).lower >= bounds.lower  # every form is a derivative


@pytest.mark.parametrize(("d", "n"), [(4, 3), (4, 4), (6, 3), (5, 5)])
def test_submersion_bound_has_its_submersion(d, n):
    """The bound 2a+b needs dτ onto at a network with a active and b idle neurons: exactly so at a random one."""
    a = thick_width(d, n) - 1
    b = dimension(n, d) - space_dimension(d, n, a)
    assert filling_width(d, n)[1] == 2 * a + b
    W = np.random.default_rng(1).integers(-9, 10, size=(a + b, n)).astype(float)
    net = Network(W, [1.0] * a + [0.0] * b, Power(d))
    assert parameterization_rank(net) == dimension(n, d)
    fewer = Network(W[:-1], [1.0] * a + [0.0] * (b - 1), Power(d))
    assert parameterization_rank(fewer) < dimension(n, d)


def test_cubic_recursion_step(rng):
    """T − Σ bᵢ wᵢ³/(3 wᵢ·u) is killed by ∂_u: n neurons take one variable away."""
    T = SymmetricTensor(rng.standard_normal(20), 4, 3)
    u = rng.standard_normal(4)
    values, vectors = np.linalg.eigh(3 * T.contract(u).to_matrix())
    rest = T - SymmetricTensor.from_powers(vectors.T, values / (3 * vectors.T @ u), 3)
    assert np.max(np.abs(rest.contract(u).entries)) < 1e-10 * np.max(np.abs(rest.entries))
    assert filling_width(3, 4)[1] == 4 + filling_width(3, 3)[1]


@pytest.mark.parametrize(
    ("arguments", "name", "dim"),
    [
        ((2, 5, 3), "low-dimensional", 12),
        ((2, 5, 5), "filling", 15),
        ((3, 2, 2), "thick", 4),
        ((3, 2, 3), "filling", 4),
        ((3, 3, 4), "thick", 10),
        ((4, 3, 5), "low-dimensional", 14),
        ((4, 3, 6), "thick", 15),
        ((4, 3, 9), "thick, filling unknown", 15),
        ((4, 3, 11), "filling", 15),
        ((1, 4, 1), "filling", 4),
        ((7, 1, 1), "filling", 1),
    ],
)
def test_regimes(arguments, name, dim):
    found = regime(*arguments)
    assert (found.name, found.dimension) == (name, dim)
    assert found.ambient == dimension(arguments[1], arguments[0])
    assert str(found.thick) in repr(found)


def test_thick_is_not_filling_for_binary_cubics():
    """F_2 has interior but misses every cubic with three real roots (Example 2, as corrected)."""
    assert regime(3, 2, 2).name == "thick"
    assert real_rank("x*(x - y)*(x + y)") == 3


@pytest.mark.parametrize("arguments", [(0, 2, 1), (2, 0, 1), (2, 2, 0), (2.0, 2, 1), (True, 2, 1)])
def test_bad_widths_are_refused(arguments):
    with pytest.raises(InvalidProblem):
        regime(*arguments)
