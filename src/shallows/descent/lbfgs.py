"""L-BFGS (SciPy's L-BFGS-B without bounds), one run at a time."""

from __future__ import annotations

import numpy as np

from shallows._checks import Array
from shallows.descent.control import Control, Recorder
from shallows.descent.evaluate import Evaluate
from shallows.descent.run import Batch, Status


def lbfgs(evaluate: Evaluate, batch: Batch, control: Control, recorder: Recorder | None = None) -> None:
    """Minimise from each start with 20 stored pairs; runs whose line search meets rounding end as stalled."""
    recorder = recorder or Recorder(None)
    for row in batch.running():
        if control.interrupted.is_set():
            batch.status[row] = Status.INTERRUPTED
            batch.losses[row], batch.norms[row] = _at(evaluate, batch.thetas[row])
            continue
        _one(evaluate, batch, int(row), control, recorder)


def _at(evaluate: Evaluate, theta: Array) -> tuple[float, float]:
    loss, gradient = evaluate(theta[None])
    return float(loss[0]), float(np.linalg.norm(gradient[0]))


def _one(evaluate: Evaluate, batch: Batch, row: int, control: Control, recorder: Recorder) -> None:
    from scipy.optimize import minimize

    tolerance = float(np.broadcast_to(control.tolerance, len(batch.thetas))[row])
    last: list[tuple[float, Array]] = []

    def value(theta: Array) -> tuple[float, Array]:
        loss, gradient = evaluate(theta[None])
        return float(loss[0]), gradient[0]

    def after_step(theta: Array) -> None:
        last.append((0.0, theta))
        if row == 0 and recorder.every is not None:
            recorder.note(len(last), theta, _at(evaluate, theta)[0])
        if control.interrupted.is_set():
            raise StopIteration

    if row == 0:
        recorder.note(0, batch.thetas[0], _at(evaluate, batch.thetas[0])[0])
    size = np.sqrt(batch.thetas.shape[1])  # SciPy's gtol is on the largest component
    options = {"maxiter": control.iterations, "maxfun": 20 * control.iterations, "maxcor": 20, "ftol": 0.0}
    result = minimize(
        value,
        batch.thetas[row],
        jac=True,
        method="L-BFGS-B",
        callback=after_step,
        options={**options, "gtol": tolerance / size, "maxls": 50},
    )
    loss, norm = _at(evaluate, result.x)
    batch.thetas[row], batch.losses[row], batch.norms[row] = result.x, loss, norm
    batch.iterations[row] += result.nit
    batch.status[row] = _status(loss, norm, tolerance, result.status, control)
    if row == 0:
        recorder.note(result.nit, result.x, loss, always=True)


def _status(loss: float, norm: float, tolerance: float, code: int, control: Control) -> Status:
    if not np.isfinite(loss) or not np.isfinite(norm):
        return Status.DIVERGED
    if norm <= tolerance:
        return Status.CONVERGED
    if loss <= control.goal:
        return Status.GOAL
    if control.interrupted.is_set():
        return Status.INTERRUPTED
    return Status.LIMIT if code == 1 else Status.STALLED
