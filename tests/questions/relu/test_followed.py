"""Points followed in k: against lists proved at the larger k, and limits known from the literature."""

from __future__ import annotations

import numpy as np
import pytest

import shallows as sh


def test_followed_points_are_in_the_list_at_the_larger_k() -> None:
    at_twenty = [p.half_loss for p in sh.relu.symmetric_chart(20, [1, 19]).symmetric]
    ends = [sh.relu.follow(p, to=20) for p in sh.relu.symmetric_chart(6, [1, 5]).symmetric]
    reached = [e.half_losses[-1] for e in ends if e.reached]
    assert len(reached) >= 12
    for loss in reached:
        assert np.min(np.abs(np.array(at_twenty) - loss)) < 1e-9
    assert len(at_twenty) == len(reached)  # those that vanish on the way are the only ones missing


@pytest.mark.parametrize(
    "k", [3, 5, *(pytest.param(k, marks=pytest.mark.thorough) for k in range(4, 20) if k != 5)]
)
def test_every_stored_point_goes_on_to_the_next_list_or_vanishes(k: int) -> None:
    """Losses of points that reach k + 1 are in the list there, which was proved on its own; only at 15 one vanishes."""
    here, there = (sh.relu.symmetric_chart(n, [1, n - 1]) for n in (k, k + 1))
    losses = np.array([p.half_loss for p in there.symmetric])
    ends = [sh.relu.follow(point, to=k + 1) for point in here.symmetric]
    for end in ends:
        assert not end.reached or np.abs(losses - end.half_losses[-1]).min() < 1e-9
    assert sum(not end.reached for end in ends) == (1 if k == 15 else 0)


@pytest.mark.parametrize(
    ("place", "power", "limit"),
    [(1, -1.0, 0.5 - 2 / np.pi**2), (3, 0.0, 0.5 - 1 / np.pi), (0, 0.0, 0.0)],  # Arjevani and Field 2021
)
def test_limits_are_those_of_the_literature(place: int, power: float, limit: float) -> None:
    followed = sh.relu.follow(sh.relu.symmetric_chart(6, [1, 5]).symmetric[place], to=300)
    assert followed.power == power and followed.reached
    assert followed.coefficient == pytest.approx(limit, rel=1e-2, abs=1e-12)
    assert all(p.certificate.signature_certified for p in followed.points)
    assert list(followed.k) == sorted(set(followed.k)) and followed.k[-1] == 300


def test_equal_rows_tend_to_the_closed_form() -> None:
    point = sh.relu.symmetric_chart(6, [6]).symmetric[2]
    followed = sh.relu.follow(point, to=50)
    k = 50
    theta = np.arccos(k**-0.5)
    c = k * (np.sin(theta) + (np.pi - theta) * np.cos(theta)) / (2 * np.pi)
    assert followed.half_losses[-1] == pytest.approx(
        (k / 2 + k * (k - 1) / (2 * np.pi)) / 2 - c * c, rel=1e-12
    )
    assert followed.power == 2.0


def test_a_smaller_k_is_refused() -> None:
    with pytest.raises(sh.InvalidProblem, match="k = 6"):
        sh.relu.follow(sh.relu.symmetric_chart(6, [6]).symmetric[0], to=6)
