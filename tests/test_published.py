"""Numbers from the papers and their published data, with their source; losses of paper 003 are for ½E."""

import numpy as np
import pytest

import shallows as sh

# Block values published with Safran, Yehudai and Shamir, "The effects of mild over-parameterization on the
# optimization landscape of shallow ReLU neural networks": k, block sizes p, vals, loss of ½E.
MINIMA = [
    (7, [1, 6], [[-0.6327039049152542, 0.2616910758354652, 0.0],
                 [0.18599104632000957, 0.9969227987935689, -0.035080155932389]], 0.023202714914),
    (10, [1, 9], [[-0.6990368174937948, 0.1823677558076051, 0.0],
                  [0.1260423608593617, 1.0043548232579, -0.015811925808083275]], 0.018702194586),
    (10, [2, 8], [[-0.7298404388078432, 0.1910123490233815, 0.153264703663583],
                  [0.13551927912304826, 0.9975635613036784, -0.03741234270743544]], 0.035326880319),
    (20, [1, 19], [[-0.8100205756125721, 0.0931874083064712, 0.0],
                   [0.06371471024780159, 1.0030037460062085, -0.003655140678552429]], 0.011275581948),
    (20, [2, 18], [[-0.821456164610111, 0.09459475829197726, 0.08185021048859624],
                   [0.06471389763838958, 1.0048279190189948, -0.007796776585663741]], 0.021922973466),
]  # fmt: skip


def from_blocks(sizes, values):
    """vals[i][i] is the diagonal of block i, vals[i][-1] its off-diagonal, vals[i][j] block (i, j)."""
    ends = np.cumsum([0, *sizes])
    W = np.empty((ends[-1], ends[-1]))
    for i in range(len(sizes)):
        for j in range(len(sizes)):
            W[ends[i] : ends[i + 1], ends[j] : ends[j + 1]] = values[i][j] if i != j else values[i][-1]
        block = W[ends[i] : ends[i + 1], ends[i] : ends[i + 1]]
        np.fill_diagonal(block, values[i][i])
    return sh.Network(W.T, activation=sh.ReLU())


@pytest.mark.parametrize(("k", "sizes", "values", "loss"), MINIMA, ids=[f"k={m[0]} {m[1]}" for m in MINIMA])
def test_published_relu_minima(k, sizes, values, loss):
    problem, net = sh.relu_problem(k), from_blocks(sizes, values)
    assert problem.loss(net) / 2 == pytest.approx(loss, abs=1e-9)
    assert np.linalg.norm(problem.gradient(net)) < 1e-8
    assert np.linalg.eigvalsh(problem.hessian(net))[0] > 0


@pytest.mark.parametrize("k", [2, 6, 13, 20])
def test_theorem_2_of_paper_003_smallest_eigenvalue_at_the_global_minimum(k):
    """¼ − 1/(2π) for ½E, whatever k."""
    problem = sh.relu_problem(k)
    net = sh.Network(np.eye(k), activation=sh.ReLU())
    assert problem.loss(net) < 1e-13
    smallest = np.linalg.eigvalsh(problem.hessian(net))[0] / 2
    assert smallest == pytest.approx(1 / 4 - 1 / (2 * np.pi), abs=1e-12)


def test_the_energy_of_an_orthonormal_relu_teacher():
    """E(Σ ReLU(xᵢ))² = k/2 + k(k−1)/(2π)."""
    for k in (1, 5, 20):
        energy = sh.relu_problem(k).objective.energy
        assert energy == pytest.approx(k / 2 + k * (k - 1) / (2 * np.pi), rel=1e-14)


def test_corollary_2_2_of_paper_001_polynomial_loss_splits_by_degree(rng):
    """For αz²+βz+γ and outer ones, E(f−y)² = α²E(xᵀRx)² + β²‖δ‖² + c² + 2αc tr R, R = WᵀW−VᵀV."""
    alpha, beta, gamma = 0.7, -1.3, 0.4
    activation = sh.Polynomial([gamma, beta, alpha])
    V, W = rng.standard_normal((4, 3)), rng.standard_normal((5, 3))
    problem = sh.Problem(sh.Network(V, activation=activation), sh.Gaussian(3), 5, outer="ones")
    R, delta, c = W.T @ W - V.T @ V, W.sum(0) - V.sum(0), gamma * (5 - 4)
    trace = np.trace(R)
    expected = (
        alpha**2 * (2 * np.sum(R**2) + trace**2) + beta**2 * delta @ delta + c**2 + 2 * alpha * c * trace
    )
    assert problem.loss(sh.Network(W, activation=activation)) == pytest.approx(expected, rel=1e-12)


def test_the_penalty_of_paper_002(rng):
    """γ‖QQᵀ − I‖²_F with Q = Wᵀ, d×k."""
    W = rng.standard_normal((4, 3))
    plain = sh.Problem(np.eye(3), sh.Gaussian(3), 4)
    penalised = sh.Problem(np.eye(3), sh.Gaussian(3), 4, orthogonality=2.5)
    Q = W.T
    expected = 2.5 * np.linalg.norm(Q @ Q.T - np.eye(3), "fro") ** 2
    net = sh.Network(W)
    assert penalised.loss(net) - plain.loss(net) == pytest.approx(expected, rel=1e-11)
