"""Critical sets over the complex numbers against the charts' own engines, closed forms and known degrees."""

from __future__ import annotations

import numpy as np
import pytest

import shallows as sh


def real_losses(sets: object) -> list[float]:
    return sorted(one.loss.real for one in sets)  # type: ignore[attr-defined]


@pytest.mark.parametrize("data", [sh.Frobenius(3), sh.Gaussian(3)], ids=["Frobenius", "Gaussian"])
def test_isolated_points_are_those_of_the_theorems(data: object) -> None:
    chart = sh.chart(sh.Problem(np.diag([3.0, 2.0, -1.0]), data, width=3))
    sets = chart.critical_sets()
    assert sets.complete and all(one.dimension == 0 for one in sets)
    assert np.allclose(real_losses(sets), chart.losses, atol=1e-8)


def test_thirteen_points_of_rank_one() -> None:
    """Theorem 36 of paper 000: (3ⁿ − 1)/2 complex points, all real here; another engine, other equations."""
    chart = sh.chart(sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), width=1))
    sets = chart.critical_sets()
    assert sets.complete and sum(one.rank == 1 for one in sets) == (3**3 - 1) // 2
    assert np.allclose(real_losses(sets), chart.losses)


def test_complex_points_are_counted_too() -> None:
    problem = sh.Problem(np.diag([2.0, 1.0]), sh.IID(2, [1, 0, 1, 0, 1.7]), width=1)
    chart, sets = sh.chart(problem), sh.chart(problem).critical_sets()
    assert sum(one.rank == 1 for one in sets) == chart.complex_count[1]


def test_families_have_dimension_and_degree() -> None:
    """Repeated eigenvalues: {uuᵀ : u·u = 1} is a Veronese surface without its points at infinity, degree 4; a repeated
    pair gives a conic."""
    identity = sh.chart(sh.Problem(np.eye(3), sh.Frobenius(3), width=3))
    sets = identity.critical_sets()
    assert sets.complete
    assert [(one.rank, one.dimension, one.degree) for one in sets] == [
        (0, 0, 1),
        (1, 2, 4),
        (2, 2, 4),
        (3, 0, 1),
    ]
    pair = sh.chart(sh.Problem(np.diag([3.0, 3.0, 1.0]), sh.Gaussian(3), width=2))
    found = [one for one in pair.critical_sets() if one.dimension]
    assert [(one.rank, one.dimension, one.degree) for one in found] == [(1, 1, 2), (2, 1, 2)]
    for one in found:  # dimension and loss as the closed form has them, on the whole set
        (family,) = [family for family in pair.families if family.rank == one.rank]
        assert family.dimension == one.dimension and abs(family.loss - one.loss) < 1e-8
    for sample in pair.families[0].samples:
        entries = sample.entries.astype(complex)
        assert any(one.component.contains(entries) for one in found)


@pytest.mark.parametrize("entries", [[1.0, 2.0, 2.0], [1.0, 1.0, 1.0], [-2.0, 1.0, 1.0]])
def test_families_of_networks_with_a_bias(entries: list[float]) -> None:
    """A round target under round data: the chart finds orbits, the decomposition of the equations on (1, x) curves."""
    chart = sh.chart(sh.Problem(np.diag(entries), sh.Gaussian(2), width=1, bias=True))
    sets = chart.critical_sets()
    assert sets.complete and chart.families
    for family in chart.families:
        (one,) = family.components
        assert (one.dimension, one.rank) == (family.dimension, family.rank) and one.degree in (2, 4)
        assert abs(one.loss - family.loss) < 1e-8
    real = [one for one in sets if abs(one.loss.imag) < 1e-8]
    for point in chart.critical:
        assert any(abs(one.loss - point.loss) < 1e-8 and one.rank == point.rank for one in real)


def test_families_know_their_components() -> None:
    pair = sh.chart(sh.Problem(np.diag([3.0, 3.0, 1.0]), sh.Gaussian(3), width=2))
    found = {family.rank: family.components for family in pair.families}
    assert {rank: [(one.dimension, one.degree) for one in sets] for rank, sets in found.items()} == {
        1: [(1, 2)],
        2: [(1, 2)],
    }


def test_what_it_does_not_apply_to_is_refused() -> None:
    cubic = sh.Problem(sh.Network([[1.0, 0.5]], activation=sh.Power(3)), sh.Gaussian(2), width=1)
    with pytest.raises(sh.InvalidProblem, match="quadratic activations"):
        sh.chart(cubic).critical_sets()
