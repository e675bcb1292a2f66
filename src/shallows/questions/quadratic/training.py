"""Full-batch Adam for many quadratic networks at once, as in the experiments of paper 002 (section 4.1).

Constant step (1e-3), 30,000 epochs, β = (0.9, 0.999), on the sufficient statistics. `sh.ensemble(problem,
method="adam")` lets its step fall to zero and polishes to a stationary point; this is the paper's procedure instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.descent.starts import starts
from shallows.questions.quadratic.statistics import Statistics, statistics_of
from shallows.support import cache_lines
from shallows.support.arguments import typed
from shallows.support.checks import Array, finite_array, finite_number, positive_integer
from shallows.support.errors import InvalidProblem, NotConverged
from shallows.support.progress import Progress
from shallows.support.seeds import generator, seed_text

#: Epochs between two reports of progress.
CHUNK = 1_000
#: Adam's step in paper 002.
STEP = 1e-3
#: Reached, as the paper counts it (NMSE above the optimal one), and relative to the excess of the zero function.
NMSE_REACHED, EXCESS_REACHED = 0.005, 0.001


@dataclass(frozen=True, eq=False)
class Training:
    """The end points of `runs` trainings of one problem by full-batch Adam (paper 002, section 4.1).

    `fits` are E(f − y)² without the penalty; `nmse` divides by E y², and `excess` is (fit − L*)/(E y² − L*), zero at
    the global minimum and one at the zero function.

    >>> runs = sh.quadratic.train(sh.Problem(np.eye(2), sh.Gaussian(2), width=2), 20, epochs=10_000, rng=0)
    >>> runs.share(), sorted(set(runs.nmse.round(4).tolist()))   # traps: one neuron, or both, cannot change sign
    (0.5, [0.0, 0.3333])
    >>> f"{sh.energy_barrier(np.eye(2)).exact / 8:.4f}"   # the least NMSE of one neuron, E y² = 8
    '0.3333'
    """

    problem: Problem
    statistics: Statistics
    thetas: Array
    starts: Array
    fits: Array
    epochs: int
    step: float
    seed: str

    def __len__(self) -> int:
        return len(self.thetas)

    @property
    def nmse(self) -> Array:
        """Σr²/Σy² of each run."""
        return self.fits / self.statistics.energy

    @property
    def excess(self) -> Array:
        """(L − L*)/(E y² − L*) of each run."""
        room = self.statistics.energy - self.statistics.floor
        return np.asarray((self.fits - self.statistics.floor) / room)

    def reached(self, tolerance: float = NMSE_REACHED, relative: bool = False) -> np.ndarray:
        """Which runs are at the global minimum: NMSE within 0.005 of the optimum's (paper 002), or relative excess."""
        if relative:
            return np.asarray(self.excess <= tolerance)
        return np.asarray(self.nmse <= self.statistics.floor / self.statistics.energy + tolerance)

    def share(self, tolerance: float = NMSE_REACHED, relative: bool = False) -> float:
        """The share of runs at the global minimum."""
        return float(np.mean(self.reached(tolerance, relative)))

    def network(self, run: int) -> Network:
        """The network of one run."""
        return self.problem.unpack(self.thetas[run])

    def __repr__(self) -> str:
        best = self.statistics.floor / self.statistics.energy
        return (
            f"Training({len(self)} runs, {self.epochs:,} epochs of Adam at step {self.step:g}, seed {self.seed}: "
            f"{self.share():.1%} within {NMSE_REACHED} of the optimal NMSE {best:.6g}, "
            f"{self.share(EXCESS_REACHED, True):.1%} with relative excess below {EXCESS_REACHED}, "
            f"mean NMSE {np.mean(self.nmse):.6g})"
        )


@typed
def uniform_starts(problem: Problem, runs: int, rng: int | np.random.Generator = 0) -> Array:
    """The starts of the released code of paper 002.

    W uniform in ±1/√d, a uniform in ±1/√k and, with a norm neuron, α ~ N(0, 1).

    >>> problem = sh.Problem(np.eye(4), sh.Gaussian(4), width=9)
    >>> thetas = sh.quadratic.uniform_starts(problem, 1000, rng=0)
    >>> thetas.shape, f"{abs(thetas[:, :36]).max():.3f}", f"{abs(thetas[:, 36:]).max():.3f}"   # 1/√d, 1/√k
    ((1000, 45), '0.500', '0.333')
    """
    source, runs = generator(rng), positive_integer("runs", runs)
    W = source.uniform(-1, 1, (runs, problem.width, problem.n)) / np.sqrt(problem.n)
    a = source.uniform(-1, 1, (runs, problem.outputs, problem.width)) / np.sqrt(problem.width)
    return problem.layout.join(W, a, source.standard_normal((runs, problem.outputs)))


@typed
def identity_start(problem: Problem) -> Array:
    """The start (λ, Q) = (0, I) of paper 002, Theorem D.1(2).

    wᵢ = eᵢ, further neurons and all outer weights zero.

    >>> problem = sh.quadratic.with_orthogonality(sh.Gaussian(2), 3, target=sh.Network(np.eye(2)))
    >>> start = problem.unpack(sh.quadratic.identity_start(problem))
    >>> start.W.tolist(), start.a.tolist(), round(problem.loss(start), 6)   # E y², no penalty
    ([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [0.0, 0.0, 0.0], 8.0)
    """
    W = np.eye(problem.width, problem.n)
    return problem.layout.join(W, np.zeros((problem.outputs, problem.width)), np.zeros(problem.outputs))


def train(
    problem: Problem,
    runs: int = 100,
    init: str | ArrayLike | None = None,
    *,
    epochs: int = 30_000,
    step: float = STEP,
    rng: int | np.random.Generator = 0,
) -> Training:
    """Train `runs` networks by full-batch Adam at a constant step (paper 002, section 4.1).

    `init`: "uniform" (the released code's start), "identity" ((0, I), the same for all runs), a kind that
    `sh.starts` knows, or an array (runs, p). By default "identity" with an orthogonality penalty, "uniform" without.

    >>> problem = sh.Problem(np.diag([1.0, -0.5]), sh.Gaussian(2), width=2, norm_neuron=True)
    >>> sh.quadratic.train(problem, 20, epochs=5000).share()
    1.0
    """
    runs, epochs = positive_integer("runs", runs), positive_integer("epochs", epochs)
    step = finite_number("step", step, minimum=0.0)
    statistics = statistics_of(problem)
    begin = _checked_starts(problem, runs, init, rng)
    ends = adam(problem, statistics, begin, epochs, step)
    if not np.all(np.isfinite(ends)):
        raise NotConverged(f"Adam diverged with step {step:g}. Fix: a smaller step.")
    return Training(problem, statistics, ends, begin, fits_of(problem, ends), epochs, step, seed_text(rng))


def fits_of(problem: Problem, thetas: Array) -> Array:
    """E(f − y)² without the orthogonality penalty."""
    losses = problem.value(thetas)
    if problem.orthogonality:
        losses = losses - problem._penalty(problem.layout.split(thetas)[0])[0]
    return np.asarray(np.maximum(losses, problem.floor))


def _checked_starts(
    problem: Problem, runs: int, init: str | ArrayLike | None, rng: int | np.random.Generator
) -> Array:
    if init is None:
        init = "identity" if problem.orthogonality else "uniform"
    if isinstance(init, str):
        if init == "uniform":
            return uniform_starts(problem, runs, rng)
        if init == "identity":
            return np.tile(identity_start(problem), (runs, 1))
        return starts(problem, runs, init, rng)
    given = finite_array("init", init, 2)
    if given.shape != (runs, problem.size):
        raise InvalidProblem(
            f"init has shape {given.shape}; expected ({runs}, {problem.size}): one row a run."
        )
    return given


def adam(problem: Problem, statistics: Statistics, begin: Array, epochs: int, step: float) -> Array:
    """The end points of `epochs` epochs from the starts `begin` (runs, p), all runs at once."""
    from shallows.questions.quadratic._adam_loop import adam_loop, rows_of_room

    runs, size = begin.shape
    rows = rows_of_room(problem.width, problem.n, len(statistics.optimum), size)
    theta, m, v, room = (cache_lines.zeros((each, runs)) for each in (size, size, size, rows))
    theta[:] = begin.T
    with Progress(epochs, "epochs of Adam") as progress:
        for done in range(0, epochs, CHUNK):
            adam_loop(
                theta, m, v, problem.width, problem.n, problem.norm_neuron, problem.orthogonality,
                statistics.gram, statistics.optimum, step, done, min(CHUNK, epochs - done), room,
            )  # fmt: skip
            progress.update(min(done + CHUNK, epochs))
    return np.array(theta.T, order="C")
