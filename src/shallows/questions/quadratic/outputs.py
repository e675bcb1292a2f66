"""Several outputs that share their neurons (paper 002, appendix E).

- Theorem E.1: with k ≥ Md neurons, a norm neuron an output and a random start, descent reaches the global minimum.
- Lemma E.1: with k = d(d+1)/2 neurons eᵢ, eᵢ + eⱼ fixed, the outer weights are a linear regression: no training of Q.
- Theorem E.2: block penalties γ Σ_m ‖Q_m Q_mᵀ − I‖², neurons I_m = {(m−1)d+1, …, md}, γ ≥ E‖y‖². Printed with the start
  Λ = 0, Q_m = I for all m; but then all blocks have the same gradients and stay equal for ever, so that k = d neurons
  in effect serve all outputs and outputs without common eigenvectors cannot be fitted (`fit_blocks(rotate=False)`
  shows it). Blocks that start at different rotations have no such symmetry.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.descent.methods.lbfgs import lbfgs
from shallows.questions.descent.results.run import Batch
from shallows.questions.descent.starts import _haar as haar
from shallows.questions.descent.stopping import Stopping
from shallows.questions.quadratic.certificates import energy, residual_matrices
from shallows.questions.quadratic.sample_span import require_span
from shallows.support.arguments import typed
from shallows.support.checks import Array, finite_number
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

#: Gradient norm at which descent stops, relative to E‖y‖²: where the curvature is λ the loss is then 10⁻¹⁸/λ above the
#: minimum, twelve orders below what OPTIMAL tells apart.
GRADIENT = 1e-9
#: A residual below this share of that of the zero function is zero: descent leaves `GRADIENT` over the neurons' length.
OPTIMAL = 1e-6


@dataclass(frozen=True, eq=False)
class BlockFit:
    """The end point of a descent with block penalties (paper 002, Theorem E.2).

    `excess` is (L − L*)/E‖y‖², `defects` ‖Q_mQ_mᵀ − I‖ of each output's block.

    >>> teacher = sh.Network([[1.0, 0.0], [1.0, 1.0]], a=[[1.0, 0.0], [0.0, 1.0]])   # x² and (x + y)²
    >>> fit = sh.quadratic.fit_blocks(sh.Problem(teacher, sh.Gaussian(2), width=4), rng=0)
    >>> fit.is_global, f"{fit.excess:.8f}", fit.defects.shape, f"{fit.defects.max():.4f}"
    (True, '0.00000000', (2,), '0.0000')
    """

    network: Network
    loss: float
    excess: float
    gradient_norm: float
    residual: float
    defects: Array
    iterations: int

    @property
    def is_global(self) -> bool:
        """Whether Σ rₙXₙ = 0 for every output, to `OPTIMAL` of its size at the zero function."""
        return self.residual <= OPTIMAL

    def __repr__(self) -> str:
        verdict = "global minimum" if self.is_global else "not global"
        return (
            f"BlockFit({verdict}: loss {self.loss:.8g}, excess {self.excess:.2g} of E‖y‖², largest ‖Q_mQ_mᵀ − I‖ "
            f"{np.max(self.defects):.2g}, {self.iterations} iterations)"
        )


@typed
def sufficient_width(outputs: int, d: int) -> int:
    """The width min(Md, d(d+1)/2), enough for any M quadratic outputs (paper 002, Theorem E.1, Lemma E.1).

    >>> sh.quadratic.sufficient_width(2, 5), sh.quadratic.sufficient_width(10, 5)
    (10, 15)
    """
    return min(outputs * d, coordinates.dimension(d, 2))


def basis_neurons(d: int) -> Array:
    """The rows eᵢ (i = j; the paper has 2eᵢ) and eᵢ + eⱼ (i < j): their squares are a basis of quadratic forms."""
    pairs = coordinates.indices(d, 2)
    W = np.zeros((len(pairs), d))
    W[np.arange(len(pairs)), pairs[:, 0]] = 1.0
    W[np.arange(len(pairs)), pairs[:, 1]] = 1.0
    return W


@typed
def basis_network(problem: Problem) -> Network:
    """The global minimum of all outputs at once, by linear regression on fixed neurons (paper 002, Lemma E.1).

    The neurons are eᵢ and eᵢ + eⱼ, d(d+1)/2 of them whatever the number of outputs. Refused when the samples do not
    determine it, with what is missing.

    >>> teacher = sh.Network([[1.0, 0.0], [1.0, -1.0]], a=[[1.0, 0.0], [0.0, 1.0]])   # x² and (x − y)²
    >>> net = sh.quadratic.basis_network(sh.Problem(teacher, sh.Gaussian(2), width=3))
    >>> net.W.tolist()
    [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    >>> (net.a.round(6) + 0.0).tolist()   # (x − y)² = 2x² − (x + y)² + 2y²
    [[1.0, 0.0, 0.0], [2.0, -1.0, 2.0]]
    """
    if problem.activation != Power(2):
        raise InvalidProblem(f"Lemma E.1 is for Power(2); the activation is {problem.activation!r}.")
    samples = problem.data.as_samples()
    if samples is not None:
        require_span(samples.seen)
    W = basis_neurons(problem.n)
    a = np.linalg.solve(coordinates.monomials(W, 2).T, problem._optimum[0].T).T
    return Network(W, a if problem.outputs > 1 else a[0])


def require_width(problem: Problem) -> None:
    """Theorems E.1 and E.2 need k ≥ Md."""
    needed = problem.outputs * problem.n
    if problem.width < needed:
        raise InvalidProblem(
            f"{problem.outputs} outputs in {problem.n} inputs need a width of at least Md = {needed} (Theorem E.1); it "
            f"is {problem.width}. With d(d+1)/2 = {coordinates.dimension(problem.n, 2)} neurons basis_network(problem) "
            "solves it by linear regression."
        )


def block_penalty(problem: Problem, W: Array) -> tuple[Array, Array]:
    """Σ_m ‖Q_mQ_mᵀ − I‖² and its gradient 4W_m(W_mᵀW_m − I) in the first Md neurons; leading axes are batches."""
    used = problem.outputs * problem.n
    blocks = W[..., :used, :].reshape(*W.shape[:-2], problem.outputs, problem.n, problem.n)
    defect = blocks.swapaxes(-1, -2) @ blocks - np.eye(problem.n)
    slope = np.zeros_like(W)
    slope[..., :used, :] = 4 * (blocks @ defect).reshape(*W.shape[:-2], used, problem.n)
    return np.asarray(np.sum(defect**2, axis=(-1, -2, -3))), slope


@typed
def fit_blocks(
    problem: Problem,
    gamma: float | None = None,
    *,
    rotate: bool = True,
    tolerance: float = GRADIENT,
    iterations: int = 20_000,
    rng: int | np.random.Generator = 0,
) -> BlockFit:
    """Descent (L-BFGS) on the loss with block penalties γ Σ_m ‖Q_mQ_mᵀ − I‖² from Λ = 0; γ = E‖y‖² by default.

    `rotate` starts every block at its own random rotation; without it at Q_m = I, as printed in paper 002, Theorem E.2,
    where all blocks stay equal and outputs without common eigenvectors are not fitted. `tolerance` is on the gradient
    norm, relative to E‖y‖².

    >>> teacher = sh.Network([[1.0, 0.0], [1.0, 1.0]], a=[[1.0, 0.0], [0.0, 1.0]])   # x² and (x + y)²
    >>> problem = sh.Problem(teacher, sh.Gaussian(2), width=4)
    >>> [sh.quadratic.fit_blocks(problem, rotate=rotate, rng=0).is_global for rotate in (True, False)]
    [True, False]
    """
    require_width(problem)
    if problem.orthogonality or problem.norm_neuron or problem.outer is not None:
        raise InvalidProblem(
            "Theorem E.2 is about a plain problem with trained outer weights: the penalty is added here."
        )
    scale = energy(problem)
    weight = scale if gamma is None else finite_number("gamma", gamma, minimum=0.0)

    def evaluate(thetas: Array) -> tuple[Array, Array]:
        value, slope = problem.value_and_gradient(thetas)
        penalty, bend = block_penalty(problem, problem.layout.split(thetas)[0])
        slope[..., : problem.width * problem.n] += weight * bend.reshape(*thetas.shape[:-1], -1)
        return value + weight * penalty, slope

    batch = Batch.start(_block_start(problem, rotate, rng)[None])
    lbfgs(evaluate, batch, Stopping(tolerance * scale, iterations, scale=scale))
    return _block_result(problem, batch, scale)


def _block_start(problem: Problem, rotate: bool, rng: int | np.random.Generator) -> Array:
    d, source = problem.n, generator(rng)
    W = np.zeros((problem.width, d))
    for m in range(problem.outputs):
        W[m * d : (m + 1) * d] = haar(d, d, source) if rotate else np.eye(d)
    return problem.layout.join(W, np.zeros((problem.outputs, problem.width)), None)


def _block_result(problem: Problem, batch: Batch, scale: float) -> BlockFit:
    network = problem.unpack(batch.thetas[0])
    loss = problem.loss(network)
    zero = Network(np.zeros((problem.width, problem.n)), np.zeros_like(network.a))
    size = float(np.max(np.abs(residual_matrices(problem, zero))))
    used = problem.outputs * problem.n
    blocks = network.W[:used].reshape(problem.outputs, problem.n, problem.n)
    return BlockFit(
        network=network,
        loss=loss,
        excess=max(loss - problem.floor, 0.0) / scale,
        gradient_norm=float(batch.norms[0]),
        residual=float(np.max(np.abs(residual_matrices(problem, network)))) / size,
        defects=np.linalg.norm(blocks.swapaxes(1, 2) @ blocks - np.eye(problem.n), axis=(1, 2)),
        iterations=int(batch.iterations[0]),
    )
