"""Templates of pages: one environment for all, with the blocks that pages share (`blocks.html`)."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import Any

from shallows.uses.report.recipe import versions


def rendered(package: str, name: str, *, style: str = "", script: str = "", **values: Any) -> str:
    """A template of a package with its values; `style` and `script` are put behind and before the common ones."""
    text: str = (
        _environment()
        .from_string(resource(package, name))
        .render(
            versions=versions(),
            style=resource("shallows.uses.report", "style.css") + style,
            script=script + resource("shallows.uses.report", "page.js"),
            **values,
        )
    )
    return text


def resource(package: str, name: str) -> str:
    """The text of a file in a package's templates."""
    return (resources.files(package) / "templates" / name).read_text(encoding="utf-8")


def figure_json(figure: Any) -> str:
    """The figure as JSON that is safe inside a <script>: no text in it can end the element."""
    text: str = figure.to_json()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@lru_cache(maxsize=1)
def _environment() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(lambda name: resource("shallows.uses.report", name)),
    )
    environment.globals["figure_json"] = figure_json
    return environment
