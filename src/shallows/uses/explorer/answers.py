"""What the server answers: the picture of a state as JSON, and its report. Whatever goes wrong is a sentence."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping
from hashlib import blake2b

from shallows.support.errors import InvalidProblem, ShallowsError
from shallows.uses.explorer.fields import State, query, read_state
from shallows.uses.explorer.reports import ReportLine, Wanted
from shallows.uses.explorer.scene import Scene, View, require_time
from shallows.uses.explorer.stills import still_html
from shallows.uses.explorer.views import view_of
from shallows.uses.explorer.workers import computed

Values = Mapping[str, object]


def scene_json(question: object) -> str:
    """The answer to a question {view, values, known}: what the page shows, or a message.

    A trace is sent as [name, trace], where the name is a digest of its content, and as [name, null] when the page
    said that it knows it: a slider usually moves a few of a figure's traces.
    """
    try:
        view, state, known = _read(question)
        seconds = view.seconds(state)
        require_time(seconds, view.advice)
        scene = computed(view.draw, state, seconds=seconds)
    except Exception as error:
        return json.dumps({"message": sentence(error)})
    return _encoded(view, state, scene, known)


def _read(question: object) -> tuple[View, State, Collection[str]]:
    """The parts of a question, checked."""
    if not isinstance(question, dict) or not isinstance(question.get("values"), dict):
        raise InvalidProblem("The question is not understood; expected JSON with view, values and known.")
    view = view_of(str(question.get("view")))
    known = question.get("known")
    names = {str(name) for name in known} if isinstance(known, list) else set()
    return view, read_state(view.fields, question["values"]), names


def _encoded(view: View, state: State, scene: Scene, known: Collection[str]) -> str:
    """The scene as JSON, put together from encoded traces, so that each is encoded once."""
    figures = []
    for figure in scene.figures:
        traces = []
        for trace in figure.data:
            text = json.dumps(trace)
            name = blake2b(text.encode(), digest_size=9).hexdigest()
            traces.append(f'["{name}",{"null" if name in known else text}]')
        figures.append(f'{{"data":[{",".join(traces)}],"layout":{json.dumps(figure.layout)}}}')
    rest = {
        "message": scene.remark,
        "facts": scene.facts,
        "headings": scene.headings,
        "rows": scene.rows,
        "code": scene.code,
        "query": query(view.name, view.fields, state),
        "landscape": scene.landscape,
    }
    return f'{json.dumps(rest)[:-1]},"figures":[{",".join(figures)}]}}'


def asked_report(question: object, line: ReportLine, wanted: Wanted) -> str:
    """The answer to a page: `report_json` in a process of its own, in its turn; a mistake is answered at once."""
    try:
        view, state, _ = _read(question)
        assert isinstance(question, dict)
        if view.report is not None:
            require_time(view.report.seconds(state), view.report.advice)
        return line.written({"view": view.name, "values": question["values"]}, wanted)
    except Exception as error:
        return json.dumps({"message": sentence(error)})


def report_json(question: object) -> str:
    """The answer to a question {view, values}: a report with the name of its file, or a message."""
    try:
        view, _, _ = _read(question)
        assert isinstance(question, dict)
        text = report_html(view.name, question["values"])
    except Exception as error:
        return json.dumps({"message": sentence(error)})
    return json.dumps({"message": "", "name": f"shallows-{view.name}.html", "text": text})


def report_html(name: str, values: Values) -> str:
    """The report of the problem that a state shows; the picture itself where there is no problem."""
    view = view_of(name)
    state = read_state(view.fields, values)
    if view.report is None:
        return still_html(view, state)
    require_time(view.report.seconds(state), view.report.advice)
    return view.report.write(state)


def sentence(error: Exception) -> str:
    """An error for the page: our own as they are, a bug as one, with its traceback in the terminal."""
    if isinstance(error, ShallowsError):
        return str(error)
    logging.getLogger("shallows.uses.explorer").error("a bug in the explorer", exc_info=error)
    return f"A bug: {type(error).__name__}: {error}. The terminal that runs the explorer shows where."
