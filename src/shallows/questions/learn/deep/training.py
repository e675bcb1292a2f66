"""Training deep quadratic networks in a batch, and how far each run ends from the least-squares optimum.

The optimum of every network of depth L is that of linear regression on features of degree 2^L (paper 002, appendix F,
remark 4), reached exactly when Σ r z^{⊗2^L} = 0 (Lemma F.1): both are reported for every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.tensors import coordinates
from shallows.questions.descent.methods.adam import adam
from shallows.questions.descent.methods.lbfgs import lbfgs
from shallows.questions.descent.results.run import Batch
from shallows.questions.descent.stopping import Stopping
from shallows.questions.learn.deep.costs import require_training
from shallows.questions.learn.deep.factors import Factors, through_forms
from shallows.questions.learn.deep.layers import Shape, forward
from shallows.questions.learn.deep.losses import (
    LARGEST_FORM,
    Evaluate,
)
from shallows.questions.learn.deep.network import DeepNetwork
from shallows.questions.learn.deep.problem import DeepProblem
from shallows.questions.learn.fitting.frame import features
from shallows.questions.learn.fitting.solve import mean_square
from shallows.support.checks import Array, counted, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Progress
from shallows.support.seeds import generator, seed_text

METHODS = ("lbfgs", "adam")
#: The paper's step.
ADAM_STEP = 1e-3
#: Gradient norm at which L-BFGS stops, in the units of `train_deep`: where the curvature is λ the loss is then 10⁻¹⁸/λ
#: above the minimum, and the paper's criterion asks for 0.005.
STATIONARY = 1e-9


@dataclass(frozen=True, eq=False)
class DeepRuns:
    """Where a batch of deep networks ended; losses are mean squares without the penalty, NMSE is loss / mean y².

    `optimum` is the loss of least squares on features of degree 2^L, which no network of depth L is below (paper 002,
    appendix F, remark 4); `stationarity` is the norm of the mean of r z^{⊗2^L}, zero exactly there (Lemma F.1).
    `networks` are where they ended, `sh.connect(runs.problem, runs.networks)` says how these connect.

    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> runs = sh.learn.train_deep(X, (X[:, 0] * X[:, 1] - X[:, 2] ** 2) ** 2, hidden=(3,), runs=4, rng=0)
    >>> runs.shape.degree, runs.share_within(0.005), f"{runs.optimal_nmse:.8f}"
    (4, 1.0, '0.00000000')
    >>> runs.predict([[1.0, 2.0, 1.0]]).round(4).tolist()   # (2 − 1)²
    [[1.0]]
    """

    problem: DeepProblem
    thetas: Array
    losses: Array
    optimum: float | None
    stationarity: Array = field(repr=False)
    gradient_norms: Array
    iterations: Array
    method: str
    seed: str

    @property
    def shape(self) -> Shape:
        """Sizes of the layers."""
        return self.problem.shape

    @property
    def energy(self) -> float:
        """The mean of ‖y‖²."""
        return self.problem.energy

    @property
    def networks(self) -> tuple[DeepNetwork, ...]:
        """Where the runs ended, one network each."""
        return tuple(DeepNetwork(self.shape, theta, self.problem.affine) for theta in self.thetas)

    @property
    def nmse(self) -> Array:
        """Normalised errors, one a run."""
        return np.asarray(self.losses / self.energy)

    @property
    def optimal_nmse(self) -> float | None:
        """That of least squares on features of degree 2^L; None when there are too many of them."""
        return None if self.optimum is None else self.optimum / self.energy

    @property
    def best(self) -> int:
        """The run of lowest loss."""
        return int(np.argmin(self.losses))

    def share_within(self, tolerance: float) -> float:
        """The share of runs whose NMSE is within `tolerance` of the optimum (the paper's criterion is 0.005)."""
        if self.optimal_nmse is None:
            raise InvalidProblem(
                f"The optimum of degree {self.shape.degree} in {self.shape.sizes[0]} inputs is not known: it has more "
                f"than {LARGEST_FORM:,} features."
            )
        return float(np.mean(self.nmse <= self.optimal_nmse + tolerance))

    def predict(self, X: ArrayLike, run: int | None = None) -> Array:
        """The outputs of one run (the best by default), (rows, outputs)."""
        return self.networks[self.best if run is None else run](X)

    def __repr__(self) -> str:
        sizes = "-".join(map(str, self.shape.sizes))
        optimum = "unknown" if self.optimal_nmse is None else f"{self.optimal_nmse:.6g}"
        return (
            f"DeepRuns({counted(len(self.losses), 'run')} of {sizes} by {self.method}: "
            f"NMSE mean {self.nmse.mean():.6g}, best {self.nmse.min():.6g}, "
            f"least-squares optimum {optimum}; seed {self.seed})"
        )


def checked_method(method: str) -> str:
    """One of the `METHODS`."""
    if method not in METHODS:
        raise InvalidProblem(f"method is {method!r}; expected one of {', '.join(METHODS)}.")
    return method


def train_deep(
    X: ArrayLike,
    y: ArrayLike,
    hidden: Sequence[int] = (20,),
    runs: int = 10,
    *,
    affine: bool = False,
    method: str = "lbfgs",
    penalty: float = 0.0,
    factors: bool = False,
    iterations: int = 2000,
    tolerance: float = STATIONARY,
    sample_weight: ArrayLike | None = None,
    rng: int | np.random.Generator = 0,
    progress: bool = True,
) -> DeepRuns:
    """Train deep quadratic networks with hidden sizes h_1, …, h_{L−1} from `runs` starts (paper 002, appendix F).

    - `affine`: append the homogenising coordinate (paper 002 has it as the first column of its data);
    - `method`: "lbfgs", or "adam" with the paper's step 0.001 (falling as a half cosine);
    - `penalty`: γ of equation F.1;
    - `factors`: train the neurons Q and linear weights Λ of appendix F.1, A_i = QΛ_iQᵀ, instead of the A_i (one output;
      slower: more parameters for the same functions); the result is returned as A_i either way;
    - inputs are trained in units in which the mean of ‖z‖² is 2, as in the paper's section 4.3; the
      penalty is on the matrices in these units, the returned parameters are in the data's own;
    - starts: Q̃ᵀQ̃ = I and a zero last layer (`Shape.start`), each run with its own generator.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 3))
    >>> runs = sh.learn.train_deep(X, (X[:, 0] * X[:, 1] - X[:, 2] ** 2) ** 2, hidden=(3,), runs=4)
    >>> f"{runs.nmse.min():.10f}"
    '0.0000000000'
    """
    checked_method(method)
    problem = DeepProblem(X, y, hidden, affine=affine, penalty=penalty, sample_weight=sample_weight)
    shape, labels, weights = problem.shape, problem.labels, problem.weights
    if factors and labels.shape[1] > 1:
        raise InvalidProblem(
            f"factors=True trains one output, as appendix F has it; y has {labels.shape[1]}. Train them one by one."
        )
    iterations, runs = positive_integer("iterations", iterations), positive_integer("runs", runs)
    require_training(shape, len(labels), runs, iterations)
    sources = generator(rng).spawn(runs)
    factored = Factors(shape) if factors else None
    begin = np.array([(shape if factored is None else factored).start(source) for source in sources])
    evaluate = problem.evaluate
    if factored is not None:
        evaluate = through_forms(factored, evaluate, problem.penalty)
    batch = run_batch(evaluate, begin, method, Stopping(tolerance, iterations), progress)
    thetas = batch.thetas if factored is None else factored.forms(batch.thetas)
    thetas = problem.in_data_units(thetas)
    losses, stationarity = _measure(shape, thetas, problem.Z, labels, weights)
    return DeepRuns(
        problem, thetas, losses, None if problem.quadratic is None else problem.quadratic.floor, stationarity,
        batch.norms, batch.iterations, method, seed_text(rng),
    )  # fmt: skip


def run_batch(evaluate: Evaluate, begin: Array, method: str, stopping: Stopping, progress: bool) -> Batch:
    """Descend from all starts at once by one of `METHODS`."""
    batch = Batch.start(begin)
    with Progress(stopping.iterations, f"deep, {method}") as bar:
        done = 0

        def watched(thetas: Array) -> tuple[Array, Array]:
            nonlocal done
            done += 1
            if progress:
                bar.update(min(done, stopping.iterations))
            return evaluate(thetas)

        if method == "adam":
            adam(watched, batch, ADAM_STEP, stopping)
        else:
            lbfgs(watched, batch, stopping)
    return batch


def _measure(shape: Shape, thetas: Array, Z: Array, Y: Array, weights: Array) -> tuple[Array, Array]:
    """Losses, and ‖Σ w rψ(z)‖/W of degree 2^L (Lemma F.1; degree 2 where that has too many features)."""
    degree = shape.degree if coordinates.dimension(Z.shape[1], shape.degree) <= LARGEST_FORM else 2
    block = features(Z, degree) * (weights / weights.sum())[:, None]
    residuals = [Y - forward(shape, theta, Z) for theta in thetas]
    losses = np.array([mean_square(r, weights) for r in residuals])
    return losses, np.array([np.linalg.norm(block.T @ r) for r in residuals])
