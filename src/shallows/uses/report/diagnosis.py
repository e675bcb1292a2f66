"""The page of a diagnosis."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from shallows.questions.diagnosis.diagnosis import Diagnosis
from shallows.questions.diagnosis.text import diagnosis_rows
from shallows.support.theme import BLUE, styled
from shallows.uses.report.mathematics import problem_html
from shallows.uses.report.page import Cell, Picture, Section, render, write
from shallows.uses.report.recipe import NoRecipe, python_of, toml_of

LEAD = "Trained weights: what they are at, what is proved of it, and what is only sampled."
#: Weights of the largest network that is written out in the recipe.
LARGEST_RECIPE = 400
#: Places of an escape path at which its loss is drawn.
PLACES = 101


def diagnosis_report(diagnosis: Diagnosis, path: str | Path) -> Path:
    """Write the page; returns its path."""
    return write(path, diagnosis_html(diagnosis))


def diagnosis_html(diagnosis: Diagnosis) -> str:
    """The page as text."""
    title = f"Trained weights: {diagnosis.kind}"
    rows = diagnosis_rows(diagnosis)
    table = [[Cell(name, name, numeric=False), Cell(words, words, numeric=False)] for name, words in rows]
    section = Section(
        title=title,
        tiles=_tiles(diagnosis),
        mathematics=problem_html(diagnosis.problem),
        sentences=["What is not proved, or only sampled:", *diagnosis.notes]
        if diagnosis.notes
        else ["Nothing was sampled."],
        notes=[],
        table=(["question", "answer"], table),
        left_out=0,
        table_caption="Losses are E(f − y)². Distances are Euclidean, in the parameters.",
        pictures=_pictures(diagnosis),
        python=_recipe(diagnosis),
        toml=_toml(diagnosis),
        provenance=[("network", repr(diagnosis.network))],
    )
    return render(title, LEAD, [section])


def _tiles(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    tiles = [(f"{diagnosis.loss:.6g}", "loss"), (diagnosis.kind, "kind")]
    if diagnosis.critical is not None:
        tiles.append((f"{diagnosis.critical.distance:.2g}", "to the critical point"))
    tiles.append(("no" if diagnosis.certificate is None else "yes", "certificate"))
    if diagnosis.valley is not None:
        tiles.append((str(diagnosis.valley.leaf.number), "leaf of the merge tree"))
    tiles.append(("yes" if diagnosis.escape else "none known", "escape path"))
    return tiles


def _pictures(diagnosis: Diagnosis) -> list[Picture]:
    pictures = []
    if diagnosis.spectrum is not None:
        caption = (
            "The Hessian’s eigenvalues at the weights. A negative one is a way down; zeros are symmetries, or idle "
            "neurons."
        )
        pictures.append(Picture("Spectrum", diagnosis.figure(), caption))
    if diagnosis.escape.path is not None:
        pictures.append(_path_picture(diagnosis))
    if diagnosis.tree is not None and len(diagnosis.tree.leaves) > 1:
        figure = diagnosis.tree.figure()
        figure.add_hline(y=diagnosis.loss, line={"color": BLUE, "dash": "dot"}, annotation_text="the weights")
        leaf = (
            "" if diagnosis.valley is None else f" The weights lie above leaf {diagnosis.valley.leaf.number}."
        )
        caption = (
            f"How minima connect ({diagnosis.tree.known}); the dotted line is the loss of the weights.{leaf}"
        )
        pictures.append(Picture("Merge tree", figure, caption))
    return pictures


def _path_picture(diagnosis: Diagnosis) -> Picture:
    import plotly.graph_objects as go

    path = diagnosis.escape.path
    assert path is not None
    figure = go.Figure()
    figure.add_scatter(
        x=np.linspace(0.0, path.length, PLACES), y=path.losses(PLACES), mode="lines", line={"color": BLUE}
    )
    figure.update_layout(xaxis={"title": "way in parameter space"}, yaxis={"title": "loss E(f − y)²"})
    return Picture(
        "The way out", styled(figure, legend=False), f"{diagnosis.escape.theorem}: {diagnosis.escape.reason}."
    )


def _recipe(diagnosis: Diagnosis) -> str:
    net = diagnosis.network
    if net.W.size > LARGEST_RECIPE:
        weights = "net = ...    # too many weights to write out"
    else:
        bias = "" if net.bias is None else f", bias={net.bias.tolist()}"
        norm = f", norm={np.asarray(net.norm).tolist()}" if np.any(net.norm) else ""
        weights = f"net = sh.Network({net.W.tolist()}, {net.a.tolist()}, problem.activation{norm}{bias})"
    try:
        return python_of(diagnosis.problem, f"{weights}\nprint(sh.diagnose(problem, net))")
    except NoRecipe as reason:
        return f"# This problem cannot be written down: {reason}."


def _toml(diagnosis: Diagnosis) -> str:
    try:
        return toml_of(diagnosis.problem)
    except NoRecipe as reason:
        return f"# This problem cannot be written down: {reason}."
