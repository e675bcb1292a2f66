"""k ReLU neurons against an orthonormal teacher: live descents, spurious minima, and splitting a neuron (paper 003).

A state says how many steps were made and after which one a neuron was split, so that a URL restores the whole view; the
steps are made again from the seed, from the farthest point of the same run that is remembered.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from shallows.model.problem import Problem
from shallows.questions.descent.ensemble import ensemble
from shallows.questions.descent.evaluate import evaluator
from shallows.questions.descent.plan import default_step
from shallows.questions.descent.starts import starts
from shallows.questions.relu.setting import relu_problem
from shallows.support.budget import slowness
from shallows.support.checks import Array
from shallows.support.theme import BLUE, DIVERGING, GREEN, KIND_COLOURS, VERMILLION, styled
from shallows.uses.explorer.costs import TRAIN
from shallows.uses.explorer.fields import Field, State
from shallows.uses.explorer.scene import Report, Scene, View
from shallows.uses.explorer.sketch import Sketch
from shallows.uses.explorer.views.symmetric_points import DISTINCT, ONE_APART, SYMMETRIC, TUBE
from shallows.uses.report.drawings import fitted_rows

KEPT = 24
#: Descents at most: all steps up to the opening's are made again when k or the seed moves, within 150 ms at k = 20.
MOST_RUNS = 32
#: Steps that have been made when the view opens: by then runs have arrived, or are stuck.
OPENING = 700
#: Standard deviation of the noise that takes a run off the saddle a split creates; small against weights of size one.
JITTER = 1e-3
#: Below this loss a run is at (or on its way to) the teacher.
SOLVED = 1e-4
#: A curve has at most so many points (and twice as many at first): its steps are thinned by powers of two.
MOST_POINTS = 240
#: Steps over which a stable step is looked for where 2.5/k is too long (k = 2): the steepest part is at the beginning.
STEADY_STEPS = 1000
#: Losses are drawn down to here; below is rounding.
FLOOR = 1e-14
#: Steps that are timed; the shortest counts.
CLOCKED = 5
#: Processor seconds on the reference machine, measured at k = 2 … 20 and 1 … 24 runs: drawing, and drawing a run.
DRAWING_SECONDS, RUN_SECONDS = 1.6e-3, 1.1e-4
#: A descent of the report: its fixed part, and its growing part at k = 20.
DESCENT_SECONDS, TWENTY_SECONDS = 2e-4, 7e-3


@dataclass(frozen=True, eq=False)
class Progress:
    """The descents after `step` steps; `losses[i]` are those of all runs at `times[i]`."""

    step: int
    thetas: Array
    times: tuple[int, ...]
    losses: tuple[Array, ...]
    width: int
    split: int = 0


class Memory:
    """The farthest progress of the last few descents; threads share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: OrderedDict[tuple[float, ...], Progress] = OrderedDict()

    def get(self, key: tuple[float, ...], step: int) -> Progress | None:
        """What is known of this descent, not beyond `step`."""
        with self._lock:
            known = self._known.get(key)
        return known if known is not None and known.step <= step else None

    def put(self, key: tuple[float, ...], progress: Progress) -> None:
        """Remember; the oldest goes when there are too many."""
        with self._lock:
            self._known[key] = progress
            self._known.move_to_end(key)
            while len(self._known) > KEPT:
                self._known.popitem(last=False)


MEMORY = Memory()


@dataclass(frozen=True)
class Leg:
    """A stretch of descents of one width: from a start (or what is remembered under `key`) to step `stop`."""

    key: tuple[float, ...]
    width: int
    start: int
    stop: int

    @property
    def missing(self) -> int:
        """Steps that are not remembered."""
        known = MEMORY.get(self.key, self.stop)
        return self.stop - (self.start if known is None else known.step)


def legs_of(state: State) -> list[Leg]:
    """The descents of a state: up to the split, and from there with one neuron more."""
    k, steps, split = int(state["k"]), int(state["steps"]), int(state["split"])
    key = (k, int(state["runs"]), int(state["seed"]))
    if not split or steps < split:
        return [Leg(key, k, 0, steps)]
    after = (*key, split, _neuron(state), state["alpha"])
    return [Leg(key, k, 0, split), Leg(after, k + 1, split, steps)]


def _neuron(state: State) -> int:
    return min(int(state["neuron"]), int(state["k"])) - 1


def seconds(state: State) -> float:
    """Processor time for the steps that are missing, from the time of a step on this machine, and for the drawing."""
    runs = int(state["runs"])
    steps = [leg.missing * step_seconds(int(state["k"]), leg.width, runs) for leg in legs_of(state)]
    return sum(steps) + (DRAWING_SECONDS + RUN_SECONDS * runs) * slowness()


@lru_cache(maxsize=256)
def step_seconds(k: int, width: int, runs: int) -> float:
    """The time of one step of all runs: the shortest of five, so that a busy machine refuses nothing by chance."""
    problem = relu_problem(k, width)
    evaluate, thetas = evaluator(problem), starts(problem, runs, "xavier", 0)
    clocks = [time.thread_time()]
    for _ in range(CLOCKED):
        thetas = thetas - JITTER * evaluate(thetas)[1]
        clocks.append(time.thread_time())
    return float(np.min(np.diff(clocks)))


def descents(state: State) -> Progress:
    """The descents of a state."""
    k, first, *rest = int(state["k"]), *legs_of(state)
    progress = _continued(first, k, lambda: _first(k, int(state["runs"]), int(state["seed"])))
    if not rest:
        return progress
    return _continued(rest[0], k, lambda: _split(progress, k, _neuron(state), state))


def _first(k: int, runs: int, seed: int) -> Progress:
    problem = relu_problem(k, k)
    thetas = starts(problem, runs, "xavier", seed)
    return Progress(0, thetas, (0,), (evaluator(problem)(thetas)[0],), k)


def _split(progress: Progress, k: int, neuron: int, state: State) -> Progress:
    """Every run with the neuron split in two and moved a little off the saddle."""
    problem, wider = relu_problem(k, k), relu_problem(k, k + 1)
    nets = [problem.unpack(theta).split(neuron, state["alpha"]) for theta in progress.thetas]
    thetas = np.array([wider.pack(net) for net in nets])
    thetas += JITTER * np.random.default_rng(int(state["seed"])).standard_normal(thetas.shape)
    return Progress(progress.step, thetas, progress.times, progress.losses, k + 1, progress.step)


def _continued(leg: Leg, k: int, first: Callable[[], Progress]) -> Progress:
    progress = MEMORY.get(leg.key, leg.stop) or first()
    if progress.step < leg.stop:
        progress = _advanced(progress, k, leg.stop)
    MEMORY.put(leg.key, progress)
    return progress


def _advanced(progress: Progress, k: int, steps: int) -> Progress:
    """Gradient descent at the library's own step; points of the curve are at fixed times, whoever asked when."""
    width = progress.width
    evaluate, step = evaluator(relu_problem(k, width)), step_of(k, width)
    every = spacing(steps)
    known = [pair for pair in zip(progress.times, progress.losses, strict=True) if pair[0] < progress.step]
    points = [(time, loss) for time, loss in known if time % every == 0 or time == progress.split]
    thetas = progress.thetas.copy()
    for i in range(progress.step, steps + 1):
        loss, gradient = evaluate(thetas)
        if i % every == 0 or i in (progress.split, steps):
            points.append((i, loss))
        if i < steps:
            thetas -= step * gradient
    times, losses = zip(*points, strict=True)
    return Progress(steps, thetas, times, losses, width, progress.split)


def spacing(steps: int) -> int:
    """Every how many steps a curve of `steps` steps has a point: a power of two, so that a longer curve's points are
    among a shorter one's, and a run looks the same however it was cut into pieces."""
    return int(2 ** max(0, int(np.ceil(np.log2(max(steps, 1) / MOST_POINTS)))))


@lru_cache(maxsize=256)
def step_of(k: int, width: int) -> float:
    """The step of `descend` and `ensemble`; where they search a line, that of their methods with a fixed one."""
    problem = relu_problem(k, width)
    evaluate, begin = evaluator(problem), starts(problem, 16, "xavier", 0)
    found = [default_step(problem, method, evaluate, begin, STEADY_STEPS) for method in ("gd", "perturbed")]
    return next(step for step in found if step is not None)


def draw(state: State) -> Scene:
    """Losses of all runs, and the weights of the worst and the best."""
    k = int(state["k"])
    progress = descents(state)
    last = progress.losses[-1]
    problem = relu_problem(k, progress.width)
    solved = int(np.sum(last < SOLVED))
    worst, best = int(np.argmax(last)), int(np.argmin(last))
    order = np.argsort(last)
    return Scene(
        figures=[
            _curves(progress, int(state["split"]), SYMMETRIC[k] if progress.width == k else ()),
            _weights(problem, progress.thetas, worst, best, last),
        ],
        facts=[
            (f"{progress.step:,}", "steps"),
            (f"{solved}/{len(last)}", "runs near loss 0"),
            (f"{last[worst]:.4g}", "highest loss"),
            (str(progress.width), "neurons"),
            *_listed(k, progress.width),
        ],
        headings=("run, or critical point", "loss", "longest neuron", "Σ‖w‖"),
        rows=[
            *_symmetric_rows(k, progress.width),
            *(_row(problem, progress.thetas[i], i, float(last[i])) for i in order),
        ],
        code=_code(state),
        problem=problem,
    )


def _row(problem: Problem, theta: Array, i: int, loss: float) -> list[str]:
    norms = np.linalg.norm(problem.unpack(theta).W, axis=1)
    return [str(i + 1), f"{loss:.6g}", f"{norms.max():.4g}", f"{norms.sum():.4g}"]


def _listed(k: int, width: int) -> list[tuple[str, str]]:
    """How long the lists are that are complete: networks fixed by S_k or S_{k−1}, as many neurons as the teacher."""
    if width != k:
        return []
    whole = f"critical points, proved complete within networks fixed by S_{k}: αI + β11ᵀ"
    facts = [(str(len(SYMMETRIC[k])), whole)]
    if k in ONE_APART:
        # of αI + β11ᵀ those with k distinct rows; equal rows are in families of parallel ones
        count = len(ONE_APART[k]) + DISTINCT
        within = f"critical points, proved complete within networks fixed by S_1 × S_{k - 1}, outside {TUBE} rad of"
        facts.append((str(count), f"{within} all rows parallel"))
    return facts


def _symmetric_rows(k: int, width: int) -> list[list[str]]:
    """The complete lists above the runs."""
    if width != k:
        return []
    named = [(f"αI + β11ᵀ: {kind}", loss) for loss, kind in SYMMETRIC[k]]
    named += [(f"one neuron apart: {kind}", loss) for loss, kind in ONE_APART.get(k, ())]
    return [[name, f"{loss:.6g}", "–", "–"] for name, loss in named]


def _guides(figure: Sketch, last: int, listed: Sequence[tuple[float, str]]) -> None:
    """The losses of the complete list as dotted lines; that of the teacher is zero, below every axis."""
    for loss, kind in listed:
        if loss > FLOOR:
            figure.add_scatter(
                x=[0, max(last, 1)], y=[loss, loss], mode="lines", name=f"αI + β11ᵀ: {kind}", legendgroup=kind,
                showlegend=all(trace.get("legendgroup") != kind for trace in figure.data),
                line={"color": KIND_COLOURS[kind], "width": 1.5, "dash": "dot"},
                hovertemplate=f"{kind} αI + β11ᵀ, loss {loss:.6g}<extra></extra>",
            )  # fmt: skip


def _curves(progress: Progress, split: int, listed: Sequence[tuple[float, str]]) -> Any:
    table = np.array(progress.losses)
    figure = Sketch()
    for i in range(table.shape[1]):
        solved = table[-1, i] < SOLVED
        name = "near zero" if solved else "above zero"
        figure.add_scatter(
            x=progress.times, y=np.maximum(table[:, i], FLOOR), mode="lines", name=name, legendgroup=name,
            showlegend=all(trace["name"] != name for trace in figure.data), hovertemplate=f"run {i + 1}: %{{y:.5g}}",
            line={"color": GREEN if solved else VERMILLION, "width": 1.6},
        )  # fmt: skip
    _guides(figure, progress.step, listed)
    if split and split <= progress.step:
        line = {"color": BLUE, "dash": "dash", "width": 1.5}
        figure.add_shape(type="line", x0=split, x1=split, y0=0, y1=1, yref="paper", line=line)
    styled(figure, height=420)
    figure.update_xaxes(title_text="steps of gradient descent", rangemode="tozero")
    figure.update_yaxes(title_text="loss E(f − y)²", type="log", exponentformat="power")
    return figure


def _weights(problem: Problem, thetas: Array, worst: int, best: int, losses: Array) -> Any:
    figure = Sketch()
    scale = {
        "colorscale": DIVERGING,
        "zmin": -1.2,
        "zmax": 1.2,
        "colorbar": {"thickness": 12, "outlinewidth": 0},
    }
    for i, (name, run) in enumerate((("worst run", worst), ("best run", best))):
        W = fitted_rows(problem.unpack(thetas[run]).W, np.eye(problem.n))
        axis = "" if i == 0 else "2"
        hover = f"{name}, neuron %{{y}}, input %{{x}}: %{{z:.3g}}<extra></extra>"
        figure.add_trace({"type": "heatmap", "z": W, "xaxis": f"x{axis}", "yaxis": f"y{axis}", "showscale": i == 0,
                          "hovertemplate": hover, **scale})  # fmt: skip
    styled(figure, height=400, legend=False)
    hidden = {"visible": False, "constrain": "domain"}
    titles = [f"worst run: loss {losses[worst]:.4g}", f"best run: loss {losses[best]:.4g}"]
    figure.update_layout(
        xaxis={**hidden, "domain": [0, 0.47]},
        xaxis2={**hidden, "domain": [0.53, 1], "anchor": "y2"},
        yaxis={**hidden, "autorange": "reversed"},
        yaxis2={**hidden, "autorange": "reversed", "anchor": "x2"},
        annotations=[
            {
                "text": title,
                "x": x,
                "y": 1.02,
                "xref": "paper",
                "yref": "paper",
                "showarrow": False,
                "xanchor": "center",
                "yanchor": "bottom",
            }
            for title, x in zip(titles, (0.235, 0.765), strict=True)
        ],
        margin={"l": 10, "r": 10, "t": 40, "b": 20},
    )
    return figure


def _code(state: State) -> str:
    k = int(state["k"])
    text = (
        "import numpy as np\nimport shallows as sh\n\n"
        f"teacher = sh.Network(np.eye({k}), activation=sh.ReLU())\n"
        f'problem = sh.Problem(teacher, sh.Gaussian({k}), width={k}, outer="ones")\n'
        f"runs = sh.ensemble(problem, runs={int(state['runs'])}, rng={int(state['seed'])})\nprint(runs)\n"
    )
    if state["split"]:
        text += (
            f'\nwider = sh.Problem(teacher, sh.Gaussian({k}), width={k + 1}, outer="ones")\n'
            "worst = problem.unpack(runs.thetas[np.argmax(runs.losses)])\n"
            f"start = worst.split({min(int(state['neuron']), k) - 1}, {state['alpha']:g})\n"
            f"theta = wider.pack(start) + {JITTER:g} * np.random.default_rng(0).standard_normal(wider.size)\n"
            "print(sh.descend(wider, theta))\n"
        )
    return text


def _report(state: State) -> str:
    from shallows.uses.report.build import ensemble_html

    problem = relu_problem(int(state["k"]), legs_of(state)[-1].width)
    runs = ensemble(problem, runs=max(1, int(state["train"])), rng=int(state["seed"]))
    return ensemble_html(runs, title="ReLU")


def _report_seconds(state: State) -> float:
    """Measured at k = 2 … 20: a fixed part, and a part for each descent that grows with the neurons."""
    each = DESCENT_SECONDS + TWENTY_SECONDS * (state["k"] / 20) ** 3.3
    return float((0.6 + each * state["train"]) * slowness())


VIEW = View(
    name="relu",
    title="ReLU",
    lead="k ReLU neurons learn k orthonormal ones, from random starts. Some descents reach the teacher, "
    "others stop at a spurious minimum (from k = 6 on). Split a neuron there: the minimum becomes a saddle.",
    fields=(
        Field("k", "teacher neurons k", 2, 20, 1, 12),
        Field("runs", "descents", 1, MOST_RUNS, 1, 16),
        Field("seed", "seed", 0, 9999, 1, 0),
        Field("steps", "steps", 0, 200_000, 1, OPENING),
        Field("split", "split after step (0: never)", 0, 200_000, 1, 0),
        Field("neuron", "neuron to split", 1, 20, 1, 1),
        Field("alpha", "share α of the split", 0, 1, 0.01, 0.5),
        TRAIN,
    ),
    captions=(
        "The loss along every descent. A flat line well above zero is a spurious minimum; dotted lines "
        "are the losses of all critical points αI + β11ᵀ, the networks that permuting inputs and neurons together "
        "leaves as they are: proved complete; the dashed line is where a neuron was split.",
        "Weights, a row a neuron, matched to the teacher’s (the identity). In a spurious minimum one neuron answers "
        "for many inputs.",
    ),
    draw=draw,
    seconds=seconds,
    advice="Use fewer descents or fewer steps.",
    live=True,
    report=Report(_report, _report_seconds, "Ask for fewer descents in the report, or for fewer neurons."),
)
