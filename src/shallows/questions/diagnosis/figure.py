"""The spectrum of the Hessian at trained weights, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.support.errors import InvalidProblem
from shallows.support.theme import BLUE, GREY, VERMILLION, styled

if TYPE_CHECKING:
    from shallows.questions.diagnosis.diagnosis import Diagnosis


def spectrum_figure(diagnosis: Diagnosis) -> Any:
    """Every eigenvalue by its number, coloured by sign."""
    import plotly.graph_objects as go

    spectrum = diagnosis.spectrum
    if spectrum is None:
        raise InvalidProblem("There is no Hessian at these weights, so there is no spectrum to draw.")
    values, errors = spectrum.values, spectrum.errors
    figure = go.Figure()
    for name, colour, chosen in (
        ("negative: ways down", VERMILLION, values < -errors),
        ("zero within the error", GREY, np.abs(values) <= errors),
        ("positive", BLUE, values > errors),
    ):
        rows = np.flatnonzero(chosen)
        if len(rows):
            marker = {"color": colour, "size": 7}
            figure.add_scatter(x=rows + 1, y=values[rows], mode="markers", name=name, marker=marker)
    figure.update_layout(xaxis={"title": "number"}, yaxis={"title": "eigenvalue of ∇²L"})
    return styled(figure)
