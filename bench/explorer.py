"""Explorer: what the server spends on a slider move, in every view, against the 150 ms promised.

Every slider goes through its whole range, under every choice of the view, from the default state; then random states
are visited, of which no two share anything that could be remembered. A move is a request as the page sends it, answered
by the application in this process: reading, computing, drawing, writing. The verdict is on processor time, which other
work on the machine does not change; the clock's is in the note.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from bench.report import Row, show_time
from shallows.uses.explorer.app import make_app
from shallows.uses.explorer.fields import Field
from shallows.uses.explorer.scene import View
from shallows.uses.explorer.server import warm
from shallows.uses.explorer.views import NAMES, view_of

#: Seconds of server time promised for a move at n = 2, 3.
PROMISED = 0.15
PLACES = 12
ANYWHERE = 40
#: What a report asks for does not move the picture; steps of descents are measured by themselves.
ELSEWHERE = {"train", "steps", "split"}
#: k, runs, step and split at which the button Run is measured; a tick makes 20 steps.
TICKS = ((2, 16, 400, 0), (3, 16, 400, 0), (3, 16, 400, 200), (12, 16, 400, 0), (20, 16, 400, 0))
TICK = 20
JUMP = 10_000

#: Sentences that a slider can meet: the ellipse's m12 far from 0; a teacher of zero, on a wall, with too few critical
#: points; a tree that is not known.
NO_PICTURE = (
    "The metric is not positive definite",
    "The teacher is zero",
    "a plane needs three",
    "is degenerate",
    "is on a wall",
)

Texts = dict[str, str]


@dataclass(frozen=True)
class Spent:
    """Seconds of one request: processor and clock."""

    processor: float
    clock: float


def run() -> list[Row]:
    """One row a view, and what a tick of live descents takes."""
    warm()
    client = make_app().server.test_client()
    views = [_view_row(client, view_of(name)) for name in NAMES]
    return [*views, *(_tick_row(client, *at) for at in TICKS), _jump_row(client)]


def ask(client: Any, view: str, values: Texts, known: list[str]) -> tuple[Spent, list[str]] | None:
    """Send a state: what it took, and the names of the traces that the page then has; None if it has no picture."""
    body = json.dumps({"view": view, "values": values, "known": known})
    processor, clock = time.process_time(), time.perf_counter()
    answer = client.post("/scene", data=body, content_type="application/json", headers={"Host": "127.0.0.1"})
    text = answer.get_data(as_text=True)
    spent = Spent(time.process_time() - processor, time.perf_counter() - clock)
    found = json.loads(text)
    if any(said in found["message"] for said in NO_PICTURE):
        return None
    if found["message"]:
        raise RuntimeError(f"{view} at {values}: {found['message']}")
    return spent, [name for figure in found["figures"] for name, _ in figure["data"]]


def _view_row(client: Any, view: View) -> Row:
    known: list[str] = []
    spent = []
    for values in (*swept(view), *anywhere(view)):
        answer = ask(client, view.name, values, known)
        if answer is not None:
            known = answer[1]
            spent.append(answer[0])
    return _row(f"{view.name}: a slider move", spent)


def _row(question: str, spent: list[Spent]) -> Row:
    processor, clock = ([getattr(s, name) for s in spent] for name in ("processor", "clock"))
    median, worst = float(np.median(processor)), max(processor)
    return Row(
        f"{question}, worst of {len(spent)}",
        f"{show_time(worst)} (median {show_time(median)})",
        show_time(PROMISED),
        PROMISED / worst,
        1,
        f"by the clock: median {show_time(float(np.median(clock)))}, worst {show_time(max(clock))}",
    )


def sliders(view: View) -> list[Field]:
    """The sliders that move the picture."""
    return [field for field in view.fields if not field.choices and field.name not in ELSEWHERE]


def choices(view: View) -> Iterator[Texts]:
    """Every combination of the view's choices."""
    fields = [field for field in view.fields if field.choices]
    for texts in product(*(field.choices for field in fields)):
        yield {field.name: text for field, text in zip(fields, texts, strict=True)}


def on_slider(field: Field, share: float) -> str:
    """The text of the slider's step nearest to this share of its range."""
    steps = round((field.high - field.low) / field.step)
    return field.text(min(field.low + field.step * round(share * steps), field.high))


def swept(view: View) -> Iterator[Texts]:
    """Each slider through its range, the others at their defaults."""
    for chosen, field, share in product(choices(view), sliders(view), np.linspace(0, 1, PLACES)):
        yield {**chosen, field.name: on_slider(field, float(share))}


def anywhere(view: View) -> Iterator[Texts]:
    """Random states."""
    rng, combinations = np.random.default_rng(7), list(choices(view))
    for i in range(ANYWHERE):
        values = {field.name: on_slider(field, float(rng.random())) for field in sliders(view)}
        yield {**combinations[i % len(combinations)], **values}


def _tick_row(client: Any, k: int, runs: int, steps: int, split: int) -> Row:
    """The button Run: twenty more steps of every descent, again and again."""
    spent, known = [], list[str]()
    for i in range(PLACES):
        values = {"k": k, "runs": runs, "split": split, "steps": steps + TICK * i}
        answer = ask(client, "relu", {name: str(value) for name, value in values.items()}, known)
        assert answer is not None
        known = answer[1]
        if i:  # the first makes all steps before it
            spent.append(answer[0])
    after = f" after a split at {split}" if split else ""
    return _row(f"relu: a tick of Run, k = {k}, {runs} descents{after}", spent)


def _jump_row(client: Any) -> Row:
    """Steps pulled up at once: work that was asked for, of which nothing is promised but the refusal above 5 s."""
    answer = ask(client, "relu", {"k": "3", "runs": "16", "seed": "1", "steps": str(JUMP)}, [])
    assert answer is not None
    took = show_time(answer[0].processor)
    return Row(f"relu: from 0 to {JUMP:,} steps at once, k = 3, 16 descents", took, "", None)
