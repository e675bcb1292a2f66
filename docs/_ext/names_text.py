"""Public names as Markdown: signature and docstring, which is written in Markdown too."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

#: What every dataclass has; nobody needs it explained.
ORDINARY = {"from_dict"}


def names(wanted: list[str]) -> str:
    """A table of `wanted` ("shallows.chart", or "shallows.learn.*" for all of a module), then an entry each."""
    entries = [(name, find(name)) for pattern in wanted for name in expand(pattern)]
    rows = [f"| [`{_short(name)}`](#{name}) | {_first_sentence(item)} |" for name, item in entries]
    table = ["| | |", "| --- | --- |", *rows, ""]
    return "\n".join([*table, *(entry(name, item) for name, item in entries)])


def expand(pattern: str) -> list[str]:
    """The public names of a module for "module.*"; any other name is itself."""
    module, _, last = pattern.rpartition(".")
    return [f"{module}.{name}" for name in import_module(module).__all__] if last == "*" else [pattern]


def find(name: str) -> Any:
    """The object with this dotted name."""
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)


def entry(name: str, item: Any) -> str:
    """One name: a function, a class with its public methods, or a constant."""
    if inspect.isclass(item):
        return _class(name, item)
    if callable(item):
        return _fenced(5, "py:function", name + signature(item), docstring(item))
    return _fenced(5, "py:data", name, docstring(type(item)))


class _Bare:
    """An annotation shown as it is written in the source, without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def signature(item: Any) -> str:
    """The signature as it is written in the source; () where Python knows none."""
    try:
        found = inspect.signature(item)
    except (TypeError, ValueError):
        return "()"
    parameters = [p.replace(annotation=_bare(p.annotation)) for p in found.parameters.values()]
    text = str(found.replace(parameters=parameters, return_annotation=_bare(found.return_annotation)))
    text = re.sub(r"<factory>|<object object at 0x[0-9a-f]+>", "...", text)
    return re.sub(r"<(?:function )?([\w.]+)[^>]*>", r"\1", text)


def _bare(annotation: Any) -> Any:
    return _Bare(annotation) if isinstance(annotation, str) else annotation


def docstring(item: Any) -> str:
    """The docstring as Markdown: examples become code blocks."""
    lines, inside, out = (inspect.getdoc(item) or "").split("\n"), False, []
    for line in lines:
        if line.startswith(">>>") and not inside:
            out += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            out.append("```")
            inside = False
        out.append(line)
    return "\n".join([*out, "```"] if inside else out)


def _class(name: str, item: type) -> str:
    parts = [docstring(item), ""]
    for member, value in vars(item).items():
        if member.startswith("_") or member in ORDINARY:
            continue
        part = _member(member, value)
        if part:
            parts.append(part)
    kind = "py:exception" if issubclass(item, Exception) else "py:class"
    shown = "" if issubclass(item, Exception) else _constructor(item)
    return _fenced(5, kind, name + shown, "\n".join(parts))


def _constructor(item: type) -> str:
    text = signature(item)
    return re.sub(r"\s*->\s*None$", "", text)


def _member(member: str, value: Any) -> str:
    if isinstance(value, property):
        return _fenced(4, "py:property", member, docstring(value))
    if isinstance(value, classmethod | staticmethod):
        kind = "classmethod" if isinstance(value, classmethod) else "staticmethod"
        call = value.__func__
        shown = signature(call) if kind == "staticmethod" else _without_first(signature(call))
        return _fenced(4, f"py:{kind}", member + shown, docstring(call))
    if inspect.isfunction(value):
        return _fenced(4, "py:method", member + _without_first(signature(value)), docstring(value))
    return ""


def _without_first(text: str) -> str:
    return re.sub(r"^\((?:self|cls)(?:: [^,)]*)?(?:, )?", "(", text)


def _fenced(colons: int, kind: str, head: str, body: str) -> str:
    fence = "`" * colons
    return f"{fence}{{{kind}}} {head}\n\n{body}\n{fence}\n"


def _short(name: str) -> str:
    return name.removeprefix("shallows.")


def _first_sentence(item: Any) -> str:
    text = (inspect.getdoc(item) or "").split("\n\n")[0].replace("\n", " ")
    return re.split(r"(?<=[.:])\s", text)[0].rstrip(":").replace("|", "\\|")
