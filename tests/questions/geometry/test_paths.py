"""Paths: ends met exactly, continuity, concatenation, lengths; and the motions that keep Σ a w wᵀ."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shallows import Frobenius, InvalidProblem, Network, Power, Problem
from shallows.questions.geometry.fibers.motions import PlaneMotion, Rescale, rotation_planes
from shallows.questions.geometry.paths import Path, Straight, Trail, energy


def state(a, W):
    return np.array(a, dtype=float), np.array(W, dtype=float)


A = state([1.0], [[0.0, 0.0]])
B = state([1.0], [[3.0, 4.0]])
C = state([2.0], [[3.0, 4.0]])


def test_time_runs_in_proportion_to_the_chords():
    path = Path([Straight("go", A, B), Straight("weigh", B, C)], Power(2))
    assert path.breakpoints.tolist() == [0.0, 5 / 6, 1.0]
    assert path.length == 6.0
    assert path(5 / 12).W.tolist() == [[1.5, 2.0]]
    assert path(11 / 12).a[0] == pytest.approx(1.5)
    assert path.labels == ("go", "weigh")
    assert path.start.W.tolist() == [[0.0, 0.0]] and path.end.a.tolist() == [2.0]
    assert "2 segments" in repr(path) and "weigh" in repr(path)


def test_concatenation_and_reversal():
    first, second = Path([Straight("go", A, B)], Power(2)), Path([Straight("weigh", B, C)], Power(2))
    whole = first + second
    assert whole.length == 6.0
    back = whole.reversed()
    for t in np.linspace(0, 1, 7):
        assert np.allclose(back(t).W, whole(1 - t).W) and np.allclose(back(t).a, whole(1 - t).a)
    with pytest.raises(InvalidProblem, match="continuous"):
        second + first
    with pytest.raises(InvalidProblem, match="different networks"):
        first + Path([Straight("go", B, C)], Power(3))


def test_losses_of_any_kind():
    path = Path([Straight("go", A, B)], Power(2))
    problem = Problem(np.diag([1.0, 0.0]), Frobenius(2), 1)

    class Square:
        def value(self, tensor):
            return tensor.entries @ tensor.entries

    assert path.losses(3, problem)[0] == pytest.approx(1.0)
    assert path.losses(2, Square())[1] == pytest.approx(81 + 144 + 256)
    assert path.losses(2, lambda net: net.W.sum()).tolist() == [0.0, 7.0]
    with pytest.raises(InvalidProblem, match="no loss"):
        path.losses(3)
    with pytest.raises(InvalidProblem, match="expected a Problem"):
        path.losses(3, 7)


@pytest.mark.parametrize("t", [-0.1, 1.1, np.nan, "x"])
def test_t_outside_the_unit_interval(t):
    with pytest.raises(InvalidProblem):
        Path([Straight("go", A, B)], Power(2))(t)


def test_empty_and_constant_paths():
    with pytest.raises(InvalidProblem, match="at least one"):
        Path([], Power(2))
    still = Path([Straight("stay", A, A), Straight("stay", A, A)], Power(2))
    assert still.length == 0.0 and still(0.3).a.tolist() == [1.0]


def test_a_trail_skips_what_does_not_move():
    trail = Trail(A)
    trail.go("nothing", a=A[0].copy())
    trail.go("something", W=B[1])
    assert [segment.label for segment in trail.segments] == ["something"]
    assert trail.state[1].tolist() == [[3.0, 4.0]]


def test_energy_is_the_sum_of_the_terms():
    assert energy(Network([[3.0, 4.0], [1.0, 0.0]], [-2.0, 5.0])) == 55.0
    assert energy(Network([[2.0]], [-3.0], Power(3))) == 24.0


def test_drift_of_a_known_motion():
    """τ runs from diag(0, 0) to (9, 12, 16), energy 25 at the end: the drift is 16/25."""
    assert Path([Straight("go", A, B)], Power(2)).drift(11) == pytest.approx(16 / 25)


@given(st.integers(1, 6), st.integers(0, 10**6))
def test_rescaling_keeps_every_term(width, seed):
    rng = np.random.default_rng(seed)
    a, W = (
        np.exp(5 * rng.normal(size=width)) * rng.choice([-1, 0, 1], size=width),
        rng.normal(size=(width, 3)),
    )
    motion = Rescale.to_signs((a, W))
    for t in (0.0, 0.3, 1.0):
        b, V = motion.at(t)
        assert np.allclose(b[:, None] * V**2, a[:, None] * W**2, rtol=1e-12)
    assert set(np.round(motion.end[0], 12)) <= {-1.0, 0.0, 1.0}


@given(st.integers(1, 7), st.integers(0, 10**6))
def test_rotation_planes_rebuild_the_rotation(m, seed):
    rng = np.random.default_rng(seed)
    R = np.linalg.qr(rng.normal(size=(m, m)))[0]
    if seed % 3 == 0:
        R = np.diag(rng.choice([-1.0, 1.0], size=m))
    if np.linalg.det(R) < 0:
        R[:, 0] *= -1
    U, V, angles = rotation_planes(R)
    motion = PlaneMotion.of("turn", (np.ones(m), np.eye(m)), U, V, angles)
    assert np.allclose(motion.end[1], R, atol=1e-12)
    for t in (0.25, 0.5):
        M = motion.at(t)[1]
        assert np.allclose(M.T @ M, np.eye(m), atol=1e-12)
    half = motion.at(0.5)[1]
    assert np.allclose(half @ half, R, atol=1e-12)


@given(st.floats(0.0, 6.0), st.integers(0, 10**6))
def test_a_boost_is_in_the_indefinite_orthogonal_group(angle, seed):
    rng = np.random.default_rng(seed)
    U, V = np.zeros((4, 2)), np.zeros((4, 2))
    U[:2], V[2:] = np.linalg.qr(rng.normal(size=(2, 2)))[0], np.linalg.qr(rng.normal(size=(2, 2)))[0]
    J = np.diag([1.0, 1.0, -1.0, -1.0])
    angles = np.array([angle, 0.5 * angle])
    motion = PlaneMotion.of("boost", (np.diag(J).copy(), np.eye(4)), U, V, angles, hyperbolic=True)
    for t in (0.3, 1.0):
        M = motion.at(t)[1]
        assert np.allclose(M.T @ J @ M, J, atol=1e-13 * np.exp(2 * angle))
    assert np.allclose(motion.at(0.5)[1] @ motion.at(0.5)[1], motion.end[1], atol=1e-12 * np.exp(angle))
