"""Three squares with several outputs in special position: zeros of a gradient that is written down here are listed.

The adversary knows samples, labels and least squares, nothing else: it starts from weights in a plane, from parallel
outer weights, from nearly equal neurons and from anywhere.
"""

import numpy as np
import pytest
from scipy.optimize import least_squares

import shallows as sh
from shallows.questions.charts.outputs.special_map import Group, SpecialMap
from shallows.questions.charts.outputs.special_networks import _apolar_roots, _zero_frame

#: A gradient of this share of the labels' is zero; functions this close, relatively, are one.
ZERO, SAME = 1e-9, 1e-5
WIDTH = 3


class Squares:
    """E‖Σ aᵢ (wᵢ·x)² − y‖² over samples, by its own formulas."""

    def __init__(self, n, outputs, seed, gaussian=False):
        rng = np.random.default_rng(seed)
        self.n, self.outputs = n, outputs
        if gaussian:  # ± the points of a design that has the Gaussian moments up to degree 4
            self.X, self.weights = _gaussian_nodes(n)
            W, A = rng.standard_normal((5, n)), rng.standard_normal((outputs, 5))
            self.Y = (self.X @ W.T) ** 2 @ A.T
            data = sh.Gaussian(n)
            self.problem = sh.Problem(sh.Network(W, A, sh.Power(2)), data, WIDTH)
        else:
            self.X, self.Y = rng.standard_normal((40, n)), rng.standard_normal((40, outputs))
            self.weights = np.full(40, 1 / 40)
            self.problem = sh.Problem(None, sh.Samples(self.X, self.Y), WIDTH)
        self.scale = float(np.abs((self.weights[:, None] * self.Y).T @ self.X**2).max())

    def gradient(self, theta):
        A = theta[: self.outputs * WIDTH].reshape(self.outputs, WIDTH)
        W = theta[self.outputs * WIDTH :].reshape(WIDTH, self.n)
        Z = self.X @ W.T
        gap = (Z**2 @ A.T - self.Y) * self.weights[:, None]
        return np.concatenate([(2 * gap.T @ Z**2).ravel(), (4 * ((gap @ A) * Z).T @ self.X).ravel()])

    def value(self, theta):
        A = theta[: self.outputs * WIDTH].reshape(self.outputs, WIDTH)
        W = theta[self.outputs * WIDTH :].reshape(WIDTH, self.n)
        return float(self.weights @ ((self.values(A, W) - self.Y) ** 2).sum(axis=1))

    def values(self, A, W):
        return (self.X @ W.T) ** 2 @ A.T

    def start(self, kind, rng):
        A, W = rng.standard_normal((self.outputs, WIDTH)), rng.standard_normal((WIDTH, self.n))
        if kind == "plane":
            W = rng.standard_normal((WIDTH, 2)) @ rng.standard_normal((2, self.n))
        elif kind == "two parallel":
            A[:, 1] = A[:, 0] * rng.standard_normal()
        elif kind == "parallel":
            A = np.outer(rng.standard_normal(self.outputs), rng.standard_normal(WIDTH))
        elif kind == "merged":
            W[1] = W[0] + 0.1 * rng.standard_normal(self.n)
        return np.concatenate([A.ravel() * self.scale, W.ravel()])

    def zero(self, theta, far=30.0):
        """A zero of the gradient next to these weights, balanced; None where there is none."""
        found = least_squares(
            self.gradient, theta, method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=3000
        ).x
        A = found[: self.outputs * WIDTH].reshape(self.outputs, WIDTH)
        W = found[self.outputs * WIDTH :].reshape(WIDTH, self.n)
        a, w = np.linalg.norm(A, axis=0), np.linalg.norm(W, axis=1)
        share = np.where((a > 0) & (w > 0), np.cbrt(np.maximum(a, 1e-300) / np.maximum(w, 1e-300)), 1.0)
        A, W = A / share**2, W * share[:, None]
        slope = np.abs(self.gradient(np.concatenate([A.ravel(), W.ravel()]))).max()
        inside = max(np.abs(A).max(), np.abs(W).max()) < far
        return (A, W) if slope <= ZERO * self.scale and inside else None


def _gaussian_nodes(n):
    nodes, weights = np.polynomial.hermite_e.hermegauss(3)
    grid = np.stack(np.meshgrid(*[nodes] * n, indexing="ij"), axis=-1).reshape(-1, n)
    mass = np.prod(np.stack(np.meshgrid(*[weights] * n, indexing="ij"), axis=-1).reshape(-1, n), axis=1)
    return grid, mass / mass.sum()


def _checked(loss, starts, seed, certify=True):
    """The chart, each of whose networks is a zero, and zeros that are not on it."""
    chart = sh.chart(loss.problem, certify=certify)
    rows = [point for point in chart.critical if not point.limit]
    for point in rows:
        theta = np.concatenate([point.network.a.ravel(), point.network.W.ravel()])
        assert np.abs(loss.gradient(theta)).max() <= 1e-8 * loss.scale
    listed = np.array([loss.values(point.network.a, point.network.W) for point in rows])
    rng, missing, hits = np.random.default_rng(seed), [], set()
    for k in range(starts):
        kind = ("plane", "two parallel", "parallel", "merged", "any")[k % 5]
        zero = loss.zero(loss.start(kind, rng))
        if zero is not None:
            gaps = np.abs(listed - loss.values(*zero)).max(axis=(1, 2))
            hits.add(int(gaps.argmin()))
            if gaps.min() > SAME * np.abs(listed).max():
                missing.append((kind, zero))
    return chart, missing, [rows[k] for k in hits]


@pytest.fixture(scope="module")
def two_outputs():
    loss = Squares(3, 2, 5)
    return (loss, *_checked(loss, 0, 0))


def test_three_squares_with_two_outputs(two_outputs):
    chart = two_outputs[1]
    assert chart.completeness == "trace-tested"
    assert chart.complex_count == {
        0: 1,
        1: 23,
        2: 101,
        3: 29,
    }  # 75 + 26 at rank 2; the target, 26 + 2 at rank 3
    assert chart.scope == ""
    special = [point for point in chart.critical if point.rank == 3 and not point.limit]
    assert len(special) == 8 and {point.kind for point in special} == {"saddle"}
    assert all(point.certificate.radius < 1e-8 for point in special)


def test_one_form_for_all_outputs_leaves_one_singular_value_out(two_outputs):
    """p ⊗ Q: losses are squares of the singular values that are left out, of targets in an orthonormal basis."""
    loss, chart = two_outputs[:2]
    table = np.array([loss.X[:, i] * loss.X[:, j] for i in range(3) for j in range(i, 3)]).T
    best = np.linalg.lstsq(table, loss.Y, rcond=None)[0]
    floor = float(((table @ best - loss.Y) ** 2).sum(axis=1).mean())
    values = np.linalg.svd(table @ best / np.sqrt(len(table)))[1]
    shared = [
        point
        for point in chart.critical
        if point.rank == 3 and not point.limit and np.linalg.matrix_rank(point.network.a, 1e-7) == 1
    ]
    assert shared
    for point in shared:
        assert np.abs(floor + values**2 - point.loss).min() < 1e-9 * point.loss


@pytest.mark.thorough
@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_zeros_of_three_squares_anywhere(seed, gaussian):
    chart, missing, hits = _checked(Squares(3, 2, seed, gaussian), 60, seed)
    assert not missing and chart.completeness != "sampled"
    assert len(hits) >= 4


@pytest.mark.parametrize("signs", [(1, 1, 1), (1, 1, -1), (-1, 1, -1)])
def test_frames_of_zeros(signs):
    eta, rng, found = np.array(signs, float), np.random.default_rng(3), 0
    for _ in range(40):
        K = rng.standard_normal((3, 3))
        K = K + K.T
        K -= np.diag(eta) * (np.trace(np.diag(eta) @ K) / 3)
        X = _zero_frame(K, eta)
        if X is None:  # K has one sign where η has its single one: seen on a fine net
            odd = int(np.argmin(eta * np.sign(eta.sum())))
            net = np.insert(rng.uniform(-1, 1, (4000, 2)), odd, 1.0, axis=1)
            net = net[(net**2 @ eta) * eta[odd] > 0]
            values = np.einsum("ka,ab,kb->k", net, K, net)
            assert values.min() > 0 or values.max() < 0
            continue
        found += 1
        products = X @ np.diag(eta) @ X.T
        assert np.allclose(np.abs(products), np.eye(3), atol=1e-9)
        assert np.abs(np.einsum("ia,ab,ib->i", X, K, X)).max() < 1e-9 * np.abs(K).max() * np.abs(X).max() ** 2
    assert found == 40 if abs(eta.sum()) == 3 else 0 < found < 40


def test_roots_of_apolar_cubics():
    rng = np.random.default_rng(0)
    for count in (0, 1, 2):
        cubics = rng.standard_normal((count, 4))
        W = _apolar_roots(cubics, 1.0)
        if W is None:
            assert count > 1
            continue
        for C in cubics:
            full = np.array([[[C[a + b + c] for c in (0, 1)] for b in (0, 1)] for a in (0, 1)])
            assert abs(np.einsum("abc,a,b,c->", full, *W)) < 1e-10


def test_groups_are_what_their_parameters_say():
    rng = np.random.default_rng(1)
    groups = Group((0, 2), 1), Group((1,))
    special = SpecialMap(3, 2, groups)
    x = rng.standard_normal(special.unknowns)
    pair, one = special.split(x)
    p, S = pair.shared
    forms = [pair.U @ (p[m] * S) @ pair.U.T + one.S[m, 0, 0] * np.outer(one.U, one.U) for m in range(2)]
    entries = np.concatenate([form[np.triu_indices(3)] for form in forms])
    assert np.allclose(special.tensors(x[None])[0], entries)
    assert np.allclose(special.join([pair, one]), x)


def test_a_teacher_on_axes_under_gaussian_data():
    """Two of its neurons that share outer weights, beside an idle one, have no slope anywhere."""
    teacher = sh.Network(np.eye(3), [[1.0, 2.0, 3.0], [1.0, -1.0, 2.0]], sh.Power(2))
    chart = sh.chart(sh.Problem(teacher, sh.Gaussian(3), WIDTH), certify=False)
    assert chart.infimum < 1e-12 and chart.attained
