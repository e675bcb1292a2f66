"""The methods by name, and the plan by which a batch of starts is trained with one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from shallows.model.activations import ReLU
from shallows.model.data.base import Distribution
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.descent.evaluate import Evaluate, evaluator
from shallows.questions.descent.methods.adam import adam
from shallows.questions.descent.methods.flow import flow
from shallows.questions.descent.methods.gradient import fixed_step, line_search
from shallows.questions.descent.methods.lbfgs import lbfgs
from shallows.questions.descent.methods.level_set import finish_on_level_set, has_invariants
from shallows.questions.descent.methods.levenberg import levenberg
from shallows.questions.descent.methods.newton import newton
from shallows.questions.descent.methods.perturbed import perturbed
from shallows.questions.descent.methods.polish import descend_and_polish, preconditioner
from shallows.questions.descent.methods.residuals import losses_by_squares, residual_of
from shallows.questions.descent.methods.sgd import sgd
from shallows.questions.descent.methods.stable_step import stable_step
from shallows.questions.descent.options import Options
from shallows.questions.descent.results.run import Batch, Recorder, Status
from shallows.questions.descent.results.symmetry import lower_bound
from shallows.questions.descent.stopping import DEFAULT_TOLERANCE, Stopping
from shallows.support.checks import Array, finite_number
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import EPSILON

METHODS = ("gd", "perturbed", "sgd", "adam", "flow", "lbfgs", "newton", "lm")
ITERATIONS = {"perturbed": 2_000, "sgd": 5_000, "adam": 5_000, "newton": 2_000, "lm": 2_000, "flow": 20_000}
MOST_ITERATIONS = 100_000
ONE_BY_ONE = ("flow", "newton")
#: E y² of a target that is zero, or as good as: losses are compared with it.
SMALLEST_SCALE = 1e-30
#: No tolerance is below so many roundings of a gradient of size E y²; the default is ten times that at least.
ROUNDINGS = 4
#: Students of ReLU networks up to so many times as wide as their teacher take the step 2.5/n; wider ones search.
WIDEST = 1.5


@dataclass(frozen=True, eq=False)
class Plan:
    """A checked request: everything a batch needs, the same for all of them."""

    problem: Problem
    method: str
    step: float | None
    options: Options
    stopping: Stopping
    evaluate: Evaluate

    def train(
        self, thetas: Array, sources: list[np.random.Generator], recorder: Recorder | None = None
    ) -> Batch:
        """Train from these starts; each run has its own generator."""
        batch = Batch.start(thetas)
        if self.method == "gd":
            self._descend(batch, recorder)
            return batch
        _MAIN[self.method](self, batch, sources, recorder)
        if self.options.polish and self.method == "flow" and has_invariants(self.problem):
            finish_on_level_set(self.problem, batch, thetas, self.stopping)
        elif self.options.polish:
            self._finish(batch)
        return batch

    def _descend(self, batch: Batch, recorder: Recorder | None) -> None:
        descent = self._plain(recorder)
        if self.options.polish and recorder is None:
            descend_and_polish(self.evaluate, batch, descent, self.stopping, preconditioner(self.problem))
        else:
            descent(batch, self.stopping)

    def _plain(self, recorder: Recorder | None) -> Callable[[Batch, Stopping], None]:
        if self.step is None:
            return lambda batch, stopping: line_search(self.evaluate, batch, stopping, recorder)
        step = self.step
        return lambda batch, stopping: fixed_step(self.evaluate, batch, step, stopping, recorder)

    def _finish(self, batch: Batch) -> None:
        """Take runs that ended above the tolerance on by descent with a line search, and polish them."""
        open_ended = np.isin(batch.status, (Status.LIMIT, Status.CONVERGED, Status.STALLED, Status.SLOW))
        rows = np.flatnonzero(open_ended & (batch.norms > self.stopping.tolerance))
        if not len(rows) or self.stopping.interrupted.is_set():
            return
        rest = Batch.start(batch.thetas[rows])
        stopping = Stopping(
            self.stopping.tolerance,
            self.options.iterations or MOST_ITERATIONS,
            self.stopping.goal,
            self.stopping.scale,
            self.stopping.interrupted,
        )
        search = partial(line_search, self.evaluate)
        descend_and_polish(self.evaluate, rest, search, stopping, preconditioner(self.problem))
        batch.thetas[rows], batch.losses[rows], batch.norms[rows] = rest.thetas, rest.losses, rest.norms
        batch.status[rows] = rest.status
        batch.iterations[rows] += rest.iterations
        if (
            self.method == "lm"
        ):  # the polish goes by aᵀKa − 2aᵀc + E y², which cancels; this method's losses do not
            batch.losses[rows] = losses_by_squares(self.problem, rest.thetas)


def _perturbed(
    plan: Plan, batch: Batch, sources: list[np.random.Generator], recorder: Recorder | None
) -> None:
    assert plan.step is not None
    options = plan.options
    perturbed(
        plan.evaluate, batch, plan.problem, plan.step, options.noise, sources, plan.stopping,
        options.per_neuron, recorder,
    )  # fmt: skip


def _sgd(plan: Plan, batch: Batch, sources: list[np.random.Generator], recorder: Recorder | None) -> None:
    assert plan.step is not None
    options = plan.options
    sgd(
        plan.evaluate, batch, plan.problem, plan.step, sources, plan.stopping, options.batch_size, options.decay,
        recorder,
    )  # fmt: skip


def _adam(plan: Plan, batch: Batch, sources: list[np.random.Generator], recorder: Recorder | None) -> None:
    assert plan.step is not None
    adam(plan.evaluate, batch, plan.step, plan.stopping, recorder)


def _flow(plan: Plan, batch: Batch, sources: list[np.random.Generator], recorder: Recorder | None) -> None:
    flow(plan.problem, batch, plan.stopping, plan.options.flow, recorder)


def _lbfgs(plan: Plan, batch: Batch, sources: list[np.random.Generator], recorder: Recorder | None) -> None:
    lbfgs(plan.evaluate, batch, plan.stopping, recorder)


def _newton(plan: Plan, batch: Batch, sources: list[np.random.Generator], recorder: Recorder | None) -> None:
    newton(plan.problem, batch, plan.stopping, recorder)


def _lm(plan: Plan, batch: Batch, sources: list[np.random.Generator], recorder: Recorder | None) -> None:
    levenberg(plan.problem, batch, plan.stopping, recorder)


_MAIN: dict[str, Callable[[Plan, Batch, list[np.random.Generator], Recorder | None], None]] = {
    "perturbed": _perturbed,
    "sgd": _sgd,
    "adam": _adam,
    "flow": _flow,
    "lbfgs": _lbfgs,
    "newton": _newton,
    "lm": _lm,
}


def plan_for(
    problem: Problem,
    method: str,
    step: float | None,
    tolerance: float | None,
    starts: Array,
    options: Options,
) -> Plan:
    """Check everything before any work; `starts` are used only to choose a stable step where one is needed."""
    if not isinstance(problem, Problem):
        raise InvalidProblem(f"problem is {problem!r}; expected a Problem.")
    if method not in METHODS:
        raise InvalidProblem(f"method is {method!r}; expected one of {', '.join(METHODS)}.")
    scale = loss_scale(problem)
    tolerance = _checked_tolerance(tolerance, scale)
    if step is not None and finite_number("step", step) <= 0:
        raise InvalidProblem(f"step is {step}; expected a positive number, or None for a default.")
    if method == "sgd" and not isinstance(problem.data, Distribution):
        raise InvalidProblem(
            f"SGD needs samples or a distribution to draw them from; the data is {problem.data!r}, a metric that "
            "cannot be sampled. Use method='gd', or Samples(X, y)."
        )
    if method == "lm":
        residual_of(problem)
    goal = -np.inf
    if options.loss_tolerance is not None:
        goal = lower_bound(problem) + options.loss_tolerance
    evaluate = evaluator(problem)
    iterations = options.iterations or ITERATIONS.get(method, MOST_ITERATIONS)
    step = step if step is not None else default_step(problem, method, evaluate, starts, iterations)
    return Plan(problem, method, step, options, Stopping(tolerance, iterations, goal, scale), evaluate)


def loss_scale(problem: Problem) -> float:
    """The size of a loss: E y², the loss of the zero network."""
    return max(float(problem.value(np.zeros(problem.size))), SMALLEST_SCALE)


def _checked_tolerance(tolerance: float | None, scale: float) -> float:
    smallest = ROUNDINGS * EPSILON * scale
    if tolerance is None:
        return max(DEFAULT_TOLERANCE, 10 * smallest)
    tolerance = finite_number("tolerance", tolerance)
    if tolerance < smallest:
        raise InvalidProblem(
            f"tolerance is {tolerance:g}, below what float64 can reach here: gradients of a loss of size {scale:.3g} "
            f"carry rounding errors of about {smallest:.1g}. Use a tolerance of at least {10 * smallest:.1g}."
        )
    return tolerance


def _far_longer(problem: Problem, starts: Array, teacher: Network) -> bool:
    """Whether the starts' neurons are on average more than three times as long as the teacher's."""
    W = problem.layout.split(starts)[0]
    return bool(np.linalg.norm(W, axis=-1).mean() > 3 * np.linalg.norm(teacher.W, axis=-1).mean())


def default_step(
    problem: Problem, method: str, evaluate: Evaluate, starts: Array, iterations: int
) -> float | None:
    """2.5/k for ReLU against k teacher neurons (paper 003: 5/k for ½E); a line search or a share of 1/λ otherwise.

    The largest curvature grows with the student's width n: above k the step is 2.5/n, and above 1.5k (or for k < 3,
    where 2.5/k is too long) there is none. Nor is there from neurons far longer than the teacher's (init="large"):
    there the gradient is almost linear, with a curvature of up to k, and 2.5/k diverges.
    """
    teacher = problem.target
    relu = isinstance(problem.activation, ReLU) and isinstance(teacher, Network) and problem.outer is not None
    if method in ("gd", "perturbed") and relu:
        assert isinstance(teacher, Network)
        if (
            teacher.width < 3
            or problem.width > WIDEST * teacher.width
            or _far_longer(problem, starts, teacher)
        ):
            return None if method == "gd" else 0.5 * stable_step(evaluate, starts[:16], iterations)
        return 2.5 / max(teacher.width, problem.width)
    if method == "adam":
        return 0.01
    if method == "perturbed":
        return 0.5 * stable_step(evaluate, starts[:16], iterations)
    if method == "sgd":
        return 0.1 * stable_step(evaluate, starts[:16], iterations)
    return None
