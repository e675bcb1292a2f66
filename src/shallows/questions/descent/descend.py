"""One training run: `descend(problem, start, method)`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shallows.model.network import Network
from shallows.model.problem import Problem, as_problem
from shallows.questions.descent.methods.stable_step import stable_step
from shallows.questions.descent.options import checked_options
from shallows.questions.descent.plan import Plan, plan_for
from shallows.questions.descent.results.run import Recorder, Run, Status
from shallows.support.checks import Array, finite_array, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator


def descend(
    problem: Problem,
    start: Network | ArrayLike,
    method: str = "gd",
    step: float | None = None,
    tolerance: float | None = None,
    rng: int | np.random.Generator = 0,
    record: int | None = None,
    **options: Any,
) -> Run:
    """Train one network from `start` (a Network or θ) by one of the methods of `ensemble`.

    `record=m` keeps every m-th step as `run.trajectory` (plain descent then: a recorded "gd" run is not polished).
    `options` are those of `Options`.

    >>> problem = sh.Problem(np.diag([2.0, 1.0]), sh.Frobenius(2), width=1)
    >>> run = sh.descend(problem, sh.Network([[1.0, 0.5]]))
    >>> run.converged, f"{run.loss:.10f}"   # Eckart and Young: rank one misses the eigenvalue 1, so 1² is left
    (True, '1.0000000000')
    """
    problem = as_problem(problem)
    theta = problem.lift(_checked_start(problem, start))
    trained = problem.homogeneous() if problem.bias else problem  # the same descent, on (1, x)
    every = None if record is None else positive_integer("record", record)
    plan = plan_for(trained, method, step, tolerance, theta[None], checked_options(options))
    recorder = None if every is None else Recorder(every)
    batch = plan.train(theta[None], [generator(rng)], recorder)
    status = Status(int(batch.status[0]))
    end = problem.lower(batch.thetas[0])
    return Run(
        network=problem.unpack(end),
        theta=end,
        loss=float(batch.losses[0]),
        gradient_norm=float(batch.norms[0]),
        iterations=int(batch.iterations[0]),
        status=status,
        message=sentence(plan, status, theta[None]),
        method=method,
        trajectory=None if recorder is None else recorder.trajectory(problem.lower),
    )


def sentence(plan: Plan, status: Status, starts: Array) -> str:
    """The status in words; for a step that is too long, with one that is not."""
    if status is Status.DIVERGED and plan.step is not None:
        with np.errstate(over="ignore", invalid="ignore"):
            step = stable_step(plan.evaluate, starts, plan.stopping.iterations)
        return f"The loss blew up with step {plan.step:g}: it is too long. A step of {step:.2g} is stable from here."
    return status.sentence


def _checked_start(problem: Problem, start: Network | ArrayLike) -> Array:
    if not isinstance(problem, Problem):
        raise InvalidProblem(f"problem is {problem!r}; expected a Problem.")
    if isinstance(start, Network):
        return problem.pack(start)
    theta = finite_array("start", start, 1)
    if len(theta) != problem.size:
        raise InvalidProblem(
            f"start has {len(theta)} entries; this problem has {problem.size} parameters: W row by row "
            f"({problem.width}×{problem.n}), then the bias if there is one, then a if it is trained, "
            "then the norm neuron's weight."
        )
    return theta
