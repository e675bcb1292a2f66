"""Where the list of one smooth neuron is complete, and how it was made, in words."""

from __future__ import annotations

import numpy as np

from shallows.mathematics.exclusion.result import Exclusion
from shallows.questions.charts.exclusion.smooth_setting import Setting


def scope_of(setting: Setting, undecided: list[str]) -> str:
    """The chart's scope; empty where nothing is left out."""
    parts = []
    if setting.outer is None and setting.target.exact:
        norm = "‖w‖" if np.array_equal(setting.target.dimension, setting.problem.n) else "√(wᵀΣw)"
        inner = "" if setting.near.proved or not setting.fine.at_zero else f"{setting.hole:g} ≤ "
        outer = "" if setting.far is not None else f" ≤ {setting.reach:g}"
        if inner or outer:
            parts.append(f"neurons with {inner}{norm}{outer}")
    if undecided:
        parts.append(("all networks " if not parts else "") + "but for " + " and ".join(undecided))
    return ", ".join(parts)


def notes_of(setting: Setting, searches: list[Exclusion]) -> list[str]:
    """What was searched."""
    target, boxes = setting.target, sum(search.boxes for search in searches)
    where = (
        f"all critical points have norm at most {setting.reach:.3g}"
        if setting.outer is not None
        else f"neurons up to norm {setting.reach:g}{_words(setting)}"
    )
    notes = [f"{where}; {boxes:,} boxes in {target.rank} of {target.dimension} dimensions"]
    if any(getattr(setting.fine, "errors", ())):
        notes.append(
            f"{setting.fine.name} by a mixture of eleven normal distributions, with bounds on the rest"
        )
    if target.dimension < setting.problem.n:
        notes.append(
            "the covariance is singular: networks that differ by its kernel are one function, listed once"
        )
    return notes


def _words(setting: Setting) -> str:
    """How many points lie around 0 and beyond the ball."""
    near, parts = setting.near, []
    if near.proved and near.radius:
        count = int(near.inner is not None) if near.blown is None else len(near.blown.zeros)
        parts.append(f"{_number(count)} below {near.radius:g}")
    if setting.far is not None:
        parts.append(f"{_number(len(setting.far.zeros))} beyond")
    return "".join(f", {part}" for part in parts)


def _number(count: int) -> str:
    return ("none", "one")[count] if count < 2 else str(count)
