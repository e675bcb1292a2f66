"""Gradient flow θ̇ = −∇L(θ), by SciPy's integrators (paper 000, section 2.2).

Along the flow of a Power(d) network with a trained, δᵢ = aᵢ² − ‖wᵢ‖²/d stays constant (Prop. 16); see `traps`.

An integrator that is accurate to rtol cannot make the velocity much smaller than rtol: the flow stops at a steady state
‖∇L‖ ≤ max(tolerance, 100 rtol (1 + ‖∇L(θ₀)‖)). Above the tolerance it is called slow, and what is left is polished away
by Newton's method on the level set of the invariants (`level_set`), to which every end is brought back.

Time is cheap near a steady state: implicit integrators lengthen their steps as the flow slows down, so `time` may be
enormous (1e12 by default). A steady state must be a point: while ‖θ‖ still
grows like a power of t, a small gradient means that the flow escapes to infinity (Example 19), and that is what the
status says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shallows.model.problem import Problem
from shallows.questions.descent.evaluate import Evaluate, evaluator
from shallows.questions.descent.methods.level_set import has_invariants, invariants, retract
from shallows.questions.descent.results.run import Batch, Recorder, Status
from shallows.questions.descent.stopping import Stopping
from shallows.support.checks import Array, finite_number
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import TINY

INTEGRATORS = ("LSODA", "BDF", "Radau", "DOP853", "RK45", "RK23")
IMPLICIT = ("LSODA", "BDF", "Radau")
#: ‖θ‖ ~ t^g with g above this runs away (Example 19: ‖θ‖ grows like a power of t); at a steady state g is 0.
GROWTH = 0.02
#: Decades of time over which the exponent is fitted.
DECADES = 0.5
#: Steady at so many rtol of the first velocity: an integrator's error keeps the velocity above rtol of it.
STEADY = 1e2


@dataclass(frozen=True)
class FlowOptions:
    """How the flow is integrated: stiff (LSODA, BDF, Radau, with the exact Hessian) or not (DOP853, RK45, RK23).

    θ̇ = −∇L(θ) is followed up to `time`, or until ‖θ‖ > `farthest`; `rtol` and `atol` are the integrator's tolerances.

    >>> problem = sh.Problem(np.diag([2.0, 1.0]), sh.Frobenius(2), width=1)
    >>> start = sh.Network([[1.0, 0.5]], a=[0.5])
    >>> run = sh.descend(problem, start, method="flow", flow=sh.FlowOptions("DOP853", rtol=1e-10))
    >>> [f"{sh.flow_invariants(net)[0]:.6f}" for net in (start, run.network)]   # a² − ‖w‖²/2 is kept (Prop. 16)
    ['-0.375000', '-0.375000']
    """

    integrator: str = "Radau"
    #: The velocity can then fall to 1e-6 of its first value (STEADY); what is left is polished away.
    rtol: float = 1e-8
    #: For parameters that go to zero: they are followed with `rtol` until they are 1e-4 of those of size one.
    atol: float = 1e-12
    #: A hundred times what the slowest curvature takes that doubles tell from zero in ten digits, 1e-10.
    time: float = 1e12
    #: From there on a quadratic form of θ has lost all its digits to rounding.
    farthest: float = 1e8

    def __post_init__(self) -> None:
        if self.integrator not in INTEGRATORS:
            raise InvalidProblem(
                f"integrator is {self.integrator!r}; expected one of {', '.join(INTEGRATORS)} (the first three are for "
                "stiff problems)."
            )
        for name in ("rtol", "atol", "time", "farthest"):
            if finite_number(name, getattr(self, name)) <= 0:
                raise InvalidProblem(f"{name} is {getattr(self, name)}; expected a positive number.")


def flow(
    problem: Problem,
    batch: Batch,
    stopping: Stopping,
    options: FlowOptions | None = None,
    recorder: Recorder | None = None,
) -> None:
    """Follow the gradient flow from each start to a steady state, to infinity, or to `options.time`."""
    for row in batch.running():
        if stopping.interrupted.is_set():
            batch.status[row] = Status.INTERRUPTED
            continue
        _one(problem, batch, int(row), stopping, options or FlowOptions(), recorder if row == 0 else None)


class _History:
    """log‖θ‖ against log t at the accepted steps: how fast the point still runs away."""

    def __init__(self) -> None:
        self.log_time: list[float] = []
        self.log_norm: list[float] = []

    def add(self, t: float, theta: Array) -> None:
        if t > 0:
            self.log_time.append(float(np.log10(t)))
            self.log_norm.append(float(np.log10(np.linalg.norm(theta) + TINY)))

    def growth(self) -> float:
        """The exponent of ‖θ‖ ~ t^growth over the last half decade of time; zero when there is not as much."""
        if not self.log_time or self.log_time[-1] - self.log_time[0] < DECADES:
            return 0.0
        times = np.array(self.log_time)
        recent = times >= times[-1] - DECADES
        if np.sum(recent) < 3 or np.ptp(times[recent]) < DECADES / 2:
            return 0.0
        return float(np.polyfit(times[recent], np.array(self.log_norm)[recent], 1)[0])


def _one(
    problem: Problem,
    batch: Batch,
    row: int,
    stopping: Stopping,
    options: FlowOptions,
    recorder: Recorder | None,
) -> None:
    evaluate = evaluator(problem)
    tolerance = float(np.broadcast_to(stopping.tolerance, len(batch.thetas))[row])
    first = float(np.linalg.norm(evaluate(batch.thetas[row : row + 1])[1]))
    steady = max(tolerance, STEADY * options.rtol * (1 + first))
    solver, history = _integrator(problem, evaluate, batch.thetas[row], options), _History()
    note = recorder or Recorder(None)
    steps, status = 0, Status.RUNNING
    while status is Status.RUNNING:
        losses, gradients = evaluate(solver.y[None])
        loss, norm = float(losses[0]), float(np.linalg.norm(gradients[0]))
        history.add(solver.t, solver.y)
        if steps % (note.every or 1) == 0:
            note.note(solver.t, solver.y, loss, always=True)
        status = _ended(solver, loss, norm, (tolerance, steady), history, steps, stopping, options)
        if status is Status.RUNNING:
            with np.errstate(over="ignore", invalid="ignore"):
                solver.step()
            steps += 1
    theta = solver.y
    if has_invariants(problem) and np.isfinite(loss):
        theta = retract(problem, theta, invariants(problem, batch.thetas[row])[0])
        losses, gradients = evaluate(theta[None])
        loss, norm = float(losses[0]), float(np.linalg.norm(gradients[0]))
    batch.thetas[row], batch.losses[row], batch.norms[row] = theta, loss, norm
    batch.iterations[row] += steps
    batch.status[row] = status
    note.note(solver.t, theta, loss, always=True)


def _integrator(problem: Problem, evaluate: Evaluate, theta: Array, options: FlowOptions) -> Any:
    """One of SciPy's step-by-step solvers of θ̇ = −∇L, with the Jacobian −∇²L where it is used."""
    from scipy import integrate

    def velocity(_: float, y: Array) -> Array:
        return np.asarray(-evaluate(y[None])[1][0])

    def jacobian(_: float, y: Array) -> Array:
        return np.asarray(-problem.hessian_product(y, np.eye(problem.size)))

    extra = {"jac": jacobian} if options.integrator in IMPLICIT else {}
    solver = getattr(integrate, options.integrator)
    return solver(velocity, 0.0, np.array(theta), options.time, rtol=options.rtol, atol=options.atol, **extra)


def _ended(
    solver: object,
    loss: float,
    norm: float,
    levels: tuple[float, float],
    history: _History,
    steps: int,
    stopping: Stopping,
    options: FlowOptions,
) -> Status:
    state, theta = getattr(solver, "status", "running"), np.asarray(getattr(solver, "y", 0.0))
    if not (np.isfinite(loss) and np.isfinite(norm)):
        return Status.DIVERGED
    growing = history.growth() > GROWTH
    if np.linalg.norm(theta) > options.farthest:
        return Status.ESCAPING
    tolerance, steady = levels
    if norm <= steady:
        return Status.ESCAPING if growing else Status.CONVERGED if norm <= tolerance else Status.SLOW
    if loss <= stopping.goal:
        return Status.GOAL
    if stopping.interrupted.is_set():
        return Status.INTERRUPTED
    if state == "failed":
        return Status.ESCAPING if growing else Status.STALLED
    if state == "finished" or steps >= stopping.iterations:
        return Status.ESCAPING if growing else Status.LIMIT
    return Status.RUNNING
