"""Hermite coefficients by table and by quadrature, against closed forms and integrals that share no code with them."""

from __future__ import annotations

from math import lgamma
from typing import Any

import numpy as np
import pytest
from scipy.special import erf, eval_hermitenorm, expit

import shallows as sh
from shallows.model.kernels.hermite_coefficients import by_quadrature, coefficients, octave

NAMED = {
    "tanh": np.tanh,
    "erf": erf,
    "softplus": lambda z: np.logaddexp(0, z),
    "sigmoid": expit,
    "gelu": lambda z: z * (1 + erf(z / np.sqrt(2))) / 2,
    "silu": lambda z: z * expit(z),
}


def by_summation(function: Any, scale: float, j: int) -> float:
    """E[σ(s z) h_j(z)] by a sum over a fine grid, Hermite polynomials by SciPy."""
    z = np.linspace(-12, 12, 6001)
    weight = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * (24 / 6000)
    return float(np.sum(function(scale * z) * eval_hermitenorm(j, z) * weight) / np.exp(lgamma(j + 1) / 2))


@pytest.mark.parametrize("name", sorted(NAMED))
@pytest.mark.parametrize("scale", [1e-3, 0.25, 1.0, 2.0, 3.7])
def test_coefficients_of_named_activations_agree_with_a_plain_sum(name: str, scale: float) -> None:
    found = coefficients(sh.Smooth(name), np.zeros(1), np.array([scale])).values[0]
    size = np.sqrt(np.sum(found**2))
    for j in (0, 1, 2, 3, 7, 16, 31):
        assert abs(found[j] - by_summation(NAMED[name], scale, j)) < 1e-13 * size


@pytest.mark.parametrize("name", sorted(NAMED))
def test_the_table_agrees_with_quadrature_over_octaves(name: str, rng: np.random.Generator) -> None:
    scale = np.exp(rng.uniform(np.log(1e-2), np.log(12), (4, 5)))
    table = coefficients(sh.Smooth(name), np.zeros((4, 5)), scale)
    direct = by_quadrature(sh.Smooth(name), np.zeros((4, 5)), scale)
    count = min(table.values.shape[-1], direct.values.shape[-1])
    root = np.sqrt(direct.energy)[..., None]
    assert np.max(np.abs(table.values[..., :count] - direct.values[..., :count]) / root) < 1e-14
    assert np.max(np.abs(table.values[..., count:]), initial=0.0) < 1e-14 * np.max(root)
    np.testing.assert_allclose(table.energy, direct.energy, rtol=1e-13)


def test_one_batch_is_the_same_as_neuron_by_neuron() -> None:
    scale = np.array([0.3, 4.0, 2.0, 1.0, 0.9999999999999999])
    together = coefficients(sh.Smooth("tanh"), np.zeros(5), scale).values
    for i, s in enumerate(scale):
        alone = coefficients(sh.Smooth("tanh"), np.zeros(1), np.array([s])).values[0]
        np.testing.assert_allclose(together[i, : len(alone)], alone, atol=1e-15)


def wave(frequency: float) -> sh.Smooth:
    return sh.Smooth(lambda z: np.cos(frequency * z))


@pytest.mark.parametrize("frequency", [0.5, 5.0, 20.0, 30.0])
def test_a_series_whose_first_terms_vanish_does_not_end_early(frequency: float) -> None:
    """c_j = ± ω^j e^(−ω²/2) / √j!: at ω = 20 the first hundred terms are below 1e-28, the largest is near 400."""
    found = coefficients(wave(frequency), np.zeros(1), np.ones(1)).values[0]
    j = np.arange(0, len(found), 2)
    logs = j * np.log(frequency) - frequency**2 / 2 - np.array([lgamma(k + 1) for k in j]) / 2
    exact = np.where(j % 4 == 0, 1.0, -1.0) * np.exp(logs)
    np.testing.assert_allclose(found[::2], exact, atol=2e-14)
    assert np.max(np.abs(found[1::2])) < 1e-14


def test_a_kernel_of_waves_is_its_closed_form() -> None:
    """E cos(u) cos(v) = e^(−(σ_u² + σ_v²)/2) cosh cov(u, v)."""
    W, V = np.array([[3.0, 1.0], [0.5, -2.0]]), np.array([[2.0, 2.0], [-3.0, -1.0], [3.0, 1.0]])
    cosine = wave(1.0)
    problem = sh.Problem(sh.Network(V, activation=cosine), sh.Gaussian(2), width=2)
    network = sh.Network(W, activation=cosine)
    rows, signs = np.concatenate([W, V]), np.array([1, 1, -1, -1, -1.0])
    C = rows @ rows.T
    K = np.exp(-np.add.outer(np.diag(C), np.diag(C)) / 2) * np.cosh(C)
    assert problem.loss(network) == pytest.approx(signs @ K @ signs, rel=1e-11)


def test_an_activation_that_cannot_be_interpolated_gets_its_own_quadrature() -> None:
    assert octave(wave(30.0), 0) is None
    assert octave(wave(0.5), 0) is not None


def plane_gradient(W: Any, V: Any) -> Any:
    """The gradient of E(Σ tanh(wᵢ·x) − Σ tanh(vⱼ·x))² in two inputs, by a sum over a fine grid of the plane."""
    t = np.arange(-9, 9, 0.03)
    x = np.stack(np.meshgrid(t, t, indexing="ij"), axis=-1).reshape(-1, 2)
    density = np.exp(-np.sum(x**2, axis=1) / 2) / (2 * np.pi) * 0.03**2
    values = np.tanh(x @ W.T)
    residual = density * (values.sum(axis=1) - np.tanh(x @ V.T).sum(axis=1))
    return 2 * (residual[:, None] * (1 - values**2)).T @ x


@pytest.mark.parametrize(
    "W",
    [
        [[1.0, 0.2], [0.3, -2.0]],
        [[0.7, 0.7], [0.7, 0.7]],
        [[1.0, 0.5], [-1.0, -0.5]],
        [[3.0, 2.0], [1e-3, 2e-3]],
        [[2.0, 0.0], [0.0, 2.0]],
    ],
    ids=["plain", "equal", "opposite", "long and short", "powers of two"],
)
def test_gradients_agree_with_a_sum_over_the_plane(W: Any) -> None:
    V = np.array([[1.0, 0.0], [0.0, 1.0], [0.7, 0.7]])
    tanh = sh.Smooth("tanh")
    problem = sh.Problem(sh.Network(V, activation=tanh), sh.Gaussian(2), width=2, outer="ones")
    found = problem.gradient(sh.Network(np.array(W), activation=tanh))
    np.testing.assert_allclose(np.reshape(found, (2, 2)), plane_gradient(np.array(W), V), atol=1e-11)
