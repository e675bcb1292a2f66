"""The student on its way over a barrier, as a moving picture: its neurons on the left, its loss on the right.

Neurons are drawn as |a|^(1/d)·w, which says all about a(w·x)^d but the sign of a; that is their colour. With two
weights they are lines in the plane, otherwise bars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.model.network import Network
from shallows.support.checks import Array
from shallows.support.theme import BLUE, GREY, KIND_COLOURS, KIND_SYMBOLS, VERMILLION, styled

if TYPE_CHECKING:
    from shallows.questions.connections.crossing import Crossing

#: Pictures of an animation, and milliseconds for each: four seconds, and the page stays under half a megabyte.
PICTURES, PACE = 60, 66


def crossing_animation(crossing: Crossing) -> Any:
    """Plotly, with a Play button and a slider."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    chosen = _evenly(crossing)
    students = [_drawn(crossing.networks[i]) for i in chosen]
    reach = 1.15 * max(float(np.max(np.abs(vectors), initial=0.0)) for vectors, _ in students) or 1.0
    figure = make_subplots(cols=2, column_widths=[0.45, 0.55], horizontal_spacing=0.14)
    for trace in _student(students[0]):
        figure.add_trace(trace, row=1, col=1)
    figure.add_scatter(
        x=crossing.lengths, y=crossing.losses, mode="lines", name="loss", line={"color": BLUE}, row=1, col=2
    )
    figure.add_trace(_here(crossing, chosen[0]), row=1, col=2)
    moving = [*range(len(_student(students[0]))), len(figure.data) - 1]
    figure.frames = [
        go.Frame(data=[*_student(student), _here(crossing, i)], traces=moving, name=str(k))
        for k, (i, student) in enumerate(zip(chosen, students, strict=True))
    ]
    _axes(figure, reach, crossing.networks[0])
    return _controls(styled(figure, legend=False), crossing, chosen)


def _evenly(crossing: Crossing) -> list[int]:
    """Places at even distances along the way, the join among them."""
    wanted = np.linspace(0.0, float(crossing.lengths[-1]), PICTURES)
    places = {int(np.argmin(np.abs(crossing.lengths - length))) for length in wanted}
    return sorted(places | {0, crossing.top, len(crossing.networks) - 1})


def _drawn(net: Network) -> tuple[Array, Array]:
    """|a|^(1/d)·w and the signs of a; the bias comes first where there is one."""
    a = np.ravel(net.a)
    degree = int(getattr(net.activation, "degree", 1))
    return net.neurons * np.abs(a[:, None]) ** (1 / degree), np.sign(a)


def _student(student: tuple[Array, Array]) -> list[Any]:
    """One trace a neuron."""
    import plotly.graph_objects as go

    vectors, signs = student
    traces: list[Any] = []
    for number, (vector, sign) in enumerate(zip(vectors, signs, strict=True)):
        colour, name = (BLUE if sign >= 0 else VERMILLION), f"neuron {number + 1}"
        if len(vector) == 2:
            traces.append(
                go.Scatter(
                    x=[0.0, vector[0]],
                    y=[0.0, vector[1]],
                    mode="lines+markers",
                    name=name,
                    line={"color": colour, "width": 4},
                    marker={"size": [1, 12], "color": colour},
                )
            )
        else:
            traces.append(go.Bar(x=list(range(len(vector))), y=vector, name=name, marker={"color": colour}))
    return traces


def _here(crossing: Crossing, place: int) -> Any:
    """Where on the way the student is."""
    import plotly.graph_objects as go

    at_join = place == crossing.top
    marker = {"size": 13, "color": KIND_COLOURS["saddle"] if at_join else GREY}
    return go.Scatter(
        x=[crossing.lengths[place]], y=[crossing.losses[place]], mode="markers", name="student",
        marker={**marker, "symbol": KIND_SYMBOLS["saddle"] if at_join else "circle"},
        hovertemplate="loss %{y:.6g}<extra></extra>",
    )  # fmt: skip


def _axes(figure: Any, reach: float, net: Network) -> None:
    letters = [] if net.bias is None else ["b"]
    names = [*letters, *(f"w{i + 1}" for i in range(net.n))]
    if len(names) == 2:
        figure.update_xaxes(title=names[0], range=[-reach, reach], row=1, col=1)
        figure.update_yaxes(title=names[1], range=[-reach, reach], scaleanchor="x", row=1, col=1)
    else:
        figure.update_xaxes(tickvals=list(range(len(names))), ticktext=names, row=1, col=1)
        figure.update_yaxes(title="|a|^(1/d) w", range=[-reach, reach], row=1, col=1)
    figure.update_xaxes(title="distance in function space", row=1, col=2)
    figure.update_yaxes(title="loss E(f − y)²", row=1, col=2)


def _controls(figure: Any, crossing: Crossing, chosen: list[int]) -> Any:
    """A Play button and a slider."""
    still = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    play = {**still, "frame": {"duration": PACE, "redraw": True}, "fromcurrent": True}
    buttons = [
        {"label": "Play", "method": "animate", "args": [None, play]},
        {"label": "Pause", "method": "animate", "args": [[None], still]},
    ]
    steps = [
        {"label": f"{crossing.losses[i]:.4g}", "method": "animate", "args": [[str(k)], still]}
        for k, i in enumerate(chosen)
    ]
    slider = {"steps": steps, "currentvalue": {"prefix": "loss "}, "pad": {"t": 44}, "x": 0.14, "len": 0.86}
    menu = {
        "type": "buttons", "direction": "left", "buttons": buttons, "showactive": False,
        "x": 0.0, "y": -0.2, "xanchor": "left", "yanchor": "top", "pad": {"t": 24},
    }  # fmt: skip
    return figure.update_layout(updatemenus=[menu], sliders=[slider], margin={"b": 120}, height=500)
