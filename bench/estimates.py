"""Explorer: what is announced against what is spent, over the range of every view's controls.

An estimate is worth making if it is right within a factor of three: above five seconds the explorer refuses. Times are
of the processor. That estimates grow with the work, and that what is remembered costs nothing, is a test; how long
things take on this machine is not.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from bench.report import Row
from shallows.uses.explorer.fields import State, defaults
from shallows.uses.explorer.scene import View
from shallows.uses.explorer.server import warm
from shallows.uses.explorer.views import NAMES, relu, view_of

#: An estimate may be wrong by this factor either way.
FACTOR = 3.0
PLACES = 9
#: k, runs and split of live descents, with as many steps as are announced at SECONDS.
DESCENTS = ((6.0, 40.0, 0.0), (12.0, 10.0, 50.0), (20.0, 4.0, 0.0))
SECONDS = 0.4
REPORTS: tuple[tuple[str, dict[str, str]], ...] = (
    ("cone", {}), ("binary", {"degree": "4", "law": "laplace"}), ("quadratic", {"train": "5000"}),
    ("quadratic", {"kurtosis": "3", "train": "0"}), ("flow", {}), ("binary", {"train": "2000"}),
    ("binary", {"degree": "4", "law": "moments", "train": "1500"}), ("relu", {"k": "6"}),
    ("relu", {"k": "14", "train": "800"}), ("relu", {"k": "20", "train": "400"}),
)  # fmt: skip


def run() -> list[Row]:
    """One row a view, a setting of live descents, a report."""
    warm()
    drawings = [_drawing(view_of(name)) for name in NAMES]
    return [*drawings, *(_descents(*at) for at in DESCENTS), *(_report(*at) for at in REPORTS)]


def spent(function: Callable[[State], object], state: State) -> float:
    """Processor seconds of a call."""
    begin = time.process_time()
    function(state)
    return time.process_time() - begin


def random_state(view: View, rng: np.random.Generator) -> State:
    """A state anywhere within the bounds, but for the steps of live descents."""
    values = {}
    for field in view.fields:
        if field.choices:
            values[field.name] = float(rng.integers(len(field.choices)))
        else:
            steps = int(rng.integers(1, round((field.high - field.low) / field.step)))
            values[field.name] = float(f"{field.low + field.step * steps:.6g}")
    if view.name == "ellipse":
        values["m12"] = 0.0  # or the metric may not be positive definite
    if view.name == "relu":
        values.update(steps=0.0, split=0.0)
    return values


def _row(question: str, ratios: list[float]) -> Row:
    ratio = float(np.median(ratios))
    ours = f"{ratio:.2g} times the estimate"
    return Row(question, ours, f"1/{FACTOR:.0f} to {FACTOR:.0f}", FACTOR * min(ratio, 1 / ratio), 1)


def _drawing(view: View) -> Row:
    rng = np.random.default_rng(3)
    states = [random_state(view, rng) for _ in range(PLACES)]
    ratios = [spent(view.draw, state) / view.seconds(state) for state in states]
    return _row(f"{view.name}: drawing, median of {PLACES}", ratios)


def _descents(k: float, runs: float, split: float) -> Row:
    state = {**defaults(relu.VIEW.fields), "k": k, "runs": runs, "seed": 77.0, "split": split, "steps": 100.0}
    state["steps"] = float(np.ceil(100 * SECONDS / relu.seconds(state)))
    after = f" after a split at {split:.0f}" if split else ""
    question = f"relu: {state['steps']:.0f} steps of {runs:.0f} descents, k = {k:.0f}{after}"
    estimate = relu.seconds(state)
    return _row(question, [spent(relu.draw, state) / estimate])


def _report(name: str, values: dict[str, str]) -> Row:
    view = view_of(name)
    assert view.report is not None
    state = {
        field.name: field.read(values.get(field.name, field.text(field.default))) for field in view.fields
    }
    view.report.write({**state, "train": 10.0})  # loads what it needs
    said = ", ".join(f"{field} = {value}" for field, value in values.items())
    ratio = spent(view.report.write, state) / view.report.seconds(state)
    return _row(f"{name}: a report" + (f" with {said}" if said else ""), [ratio])
