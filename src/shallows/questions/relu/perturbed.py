"""Perturbed gradient descent near a global minimum (paper 003, Theorem 7 and Algorithm 1): step, noise, iterations.

If ∇F is L-Lipschitz and (w−w̃)ᵀH(w)(w−w̃) ≥ λ‖g‖², g = Σᵢ(wᵢ−w̃ᵢ), in an ε-neighbourhood of w̃ (ε ≤ 1), Theorem 7 takes

    η < λδ²/64L²,   α = δ/4n,   T > log δ / log(1 − ηλδ²/64)

and concludes ‖w(T)−w̃‖² ≤ δ with probability 1 − T e^{−Ω(d)}. Its proof bounds the step taken from the perturbed point,
‖w(t) − η∇F − w̃‖, without adding the perturbation to the next iterate: that is descent whose *gradient* is taken at
w + αξ, ξ ~ N(0, I/d) the same for all neurons, and such runs meet the bound. If the perturbations are kept in the
iterates, as the paper's description of Algorithm 1 says, they add up to a random walk: its stationary square is
about 2L²/nλμ, μ the curvature along equal moves of all neurons, whatever δ is, and the bound is not met (μ ≤ L and
λ ≤ L/n): `keep_noise=True` shows it.

For n ≥ 2 neurons the theorem is false in either reading: F(w) = ‖Σwᵢ − v‖² has λ = 2 and L = 2n, its gradient
and the perturbation are the same for all neurons, so that wᵢ − wⱼ never changes, however far from w̃ it starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.relu.setting import student_of, teacher_of
from shallows.support.arguments import typed
from shallows.support.checks import Array, finite_array, finite_number, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

#: Radii and steps are taken this much smaller than the theorem's strict bounds.
MARGIN = 0.99


@dataclass(frozen=True)
class PerturbedPlan:
    """What Theorem 7 prescribes (see `perturbed_plan`); λ and L belong to the same function (E(f−y)² here, or ½E).

    >>> from shallows.relu import perturbed_plan
    >>> [perturbed_plan(1.0, 1.0, delta, neurons=1).iterations for delta in (0.9, 0.5, 0.1)]   # T ~ δ⁻⁴ log(1/δ)
    [665, 45885, 95266550]
    """

    curvature: float
    lipschitz: float
    delta: float
    neurons: int
    step: float
    noise: float
    iterations: int

    def __repr__(self) -> str:
        return (
            f"PerturbedPlan(δ={self.delta:g}, λ={self.curvature:g}, L={self.lipschitz:g}, n={self.neurons}: "
            f"step {self.step:.4g}, noise {self.noise:.4g}, {self.iterations} iterations)"
        )


@dataclass(frozen=True, eq=False)
class PerturbedRuns:
    """Squared distances ‖w(t)−w̃‖² of several runs, at the start, at checkpoints and at the end (one row a run).

    >>> from shallows.relu import perturbed_plan, perturbed_runs
    >>> problem, minimum = sh.relu_problem(1), sh.Network([[1.0]], activation=sh.ReLU())
    >>> plan = perturbed_plan(curvature=1.0, lipschitz=1.0, delta=0.9, neurons=1)
    >>> runs = perturbed_runs(problem, minimum, plan, [[0.1], [0.5]], rng=0)
    >>> runs.times[[0, -1]].tolist(), runs.squares[:, 0].round(4).tolist(), runs.met.tolist()
    ([0, 665], [0.81, 0.25], [True, True])
    """

    plan: PerturbedPlan
    times: np.ndarray
    squares: Array
    thetas: Array
    keep_noise: bool

    @property
    def met(self) -> np.ndarray:
        """Which runs ended with ‖w(T)−w̃‖² ≤ δ."""
        return np.asarray(self.squares[:, -1] <= self.plan.delta)

    def __repr__(self) -> str:
        kind = "kept" if self.keep_noise else "for the gradient only"
        return (
            f"PerturbedRuns({int(self.met.sum())} of {len(self.squares)} runs within δ={self.plan.delta:g} after "
            f"{self.plan.iterations} iterations, noise {kind}; largest ‖w−w̃‖² {self.squares[:, -1].max():.4g})"
        )


def perturbed_plan(curvature: float, lipschitz: float, delta: float, neurons: int) -> PerturbedPlan:
    """Step, noise and iteration count of paper 003, Theorem 7, for λ, L, 0 < δ < 1 and n neurons.

    η < λδ²/64L² (1% below the bound), α = δ/4n, T > log δ / log(1 − ηλδ²/64).

    >>> from shallows.relu import perturbed_plan
    >>> perturbed_plan(curvature=1.0, lipschitz=1.0, delta=0.9, neurons=1)
    PerturbedPlan(δ=0.9, λ=1, L=1, n=1: step 0.01253, noise 0.225, 665 iterations)
    """
    lam = finite_number("curvature", curvature)
    bound = finite_number("lipschitz", lipschitz)
    target = finite_number("delta", delta)
    neurons = positive_integer("neurons", neurons)
    if lam <= 0 or bound < lam:
        raise InvalidProblem(f"λ = {lam} and L = {bound} were given; expected 0 < λ ≤ L.")
    if not 0 < target < 1:
        raise InvalidProblem(f"delta is {target}; expected a number between 0 and 1.")
    step = MARGIN * lam * target**2 / (64 * bound**2)
    rate = np.log1p(-step * lam * target**2 / 64)
    iterations = int(np.floor(np.log(target) / rate)) + 1
    return PerturbedPlan(lam, bound, target, neurons, step, target / (4 * neurons), iterations)


@typed
def perturbed_runs(
    problem: Problem,
    minimum: Network,
    plan: PerturbedPlan,
    starts: Array,
    rng: int | np.random.Generator = 0,
    keep_noise: bool = False,
    checkpoints: int = 10,
) -> PerturbedRuns:
    """Run the plan from `starts` (runs, p), all within distance one of `minimum`.

    The gradient is taken at w + αξ, ξ ~ N(0, I/d) the same for all neurons; `keep_noise` also leaves αξ in the iterate,
    as the paper describes Algorithm 1: a random walk, for which the bound ‖w(T)−w̃‖² ≤ δ of Theorem 7 fails.

    >>> from shallows.relu import perturbed_plan, perturbed_runs
    >>> problem, minimum = sh.relu_problem(1), sh.Network([[1.0]], activation=sh.ReLU())   # L = (w − 1)²/2, w > 0
    >>> plan = perturbed_plan(curvature=1.0, lipschitz=1.0, delta=0.9, neurons=1)
    >>> starts = np.full((20, 1), 0.5)
    >>> for kept in (False, True):
    ...     print(int(perturbed_runs(problem, minimum, plan, starts, rng=0, keep_noise=kept).met.sum()), "of 20")
    20 of 20
    9 of 20
    """
    teacher_of(problem)
    student_of(problem, minimum)
    centre, source = problem.pack(minimum), generator(rng)
    thetas = np.array(finite_array("starts", starts, 2))
    if thetas.shape[1] != problem.size or np.any(np.sum((thetas - centre) ** 2, axis=1) >= 1):
        raise InvalidProblem(
            f"starts has shape {thetas.shape}; expected (runs, {problem.size}), each within distance 1 of the minimum."
        )
    marks = np.unique(np.linspace(0, plan.iterations, checkpoints + 1).astype(int))
    squares = [np.sum((thetas - centre) ** 2, axis=1)]
    for first, last in pairwise(marks.tolist()):
        for _ in range(first, last):
            xi = source.standard_normal((len(thetas), 1, problem.n)) / np.sqrt(problem.n)
            noise = np.broadcast_to(plan.noise * xi, (len(thetas), problem.width, problem.n))
            moved = thetas + noise.reshape(len(thetas), -1)
            slope = problem.value_and_gradient(moved)[1]
            thetas = (moved if keep_noise else thetas) - plan.step * slope
        squares.append(np.sum((thetas - centre) ** 2, axis=1))
    return PerturbedRuns(plan, marks, np.array(squares).T, thetas, keep_noise)
