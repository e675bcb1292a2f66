"""Text that the build writes into pages: figures, public names, claims, the command line.

A fenced block of one of these kinds is replaced, before Sphinx reads the page, by Markdown or HTML:

    ```{draw}            Python; its figures (`figure.show()`) appear below the code
    ```{landscape}       Python that makes `charts`, titles and charts of one neuron: their landscapes appear
    ```{names}           public names, one a line: signature and docstring
    ```{claims} 000      the numbered statements of a paper and what their checks found
    ```{experiments} 000 the tables and figures of a paper, computed here or stored
    ```{help}            what `shallows COMMAND --help` says, for every command
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import claims_text
import experiments_text
import help_text
import names_text
import pictures

BLOCK = re.compile(
    r"^(?P<fence>`{3,})\{(?P<kind>draw|landscape|names|claims|experiments|help)\}[ ]*(?P<argument>[^\n]*)\n"
    r"(?P<body>.*?)^(?P=fence)[ ]*$",
    re.M | re.S,
)
#: doctest wants an empty line at the end of a block; readers do not.
LAST_LINE = re.compile(r"^(```(?:python|pycon)\n.*?)\n\n```$", re.M | re.S)


class PageText:
    """The blocks of one page, in their order; `draw` blocks share their names, as a reader would expect."""

    def __init__(self, page: str) -> None:
        self.page = page
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def draw(self, argument: str, body: str) -> str:
        """Run the code and show it with its figures; the argument is the caption."""
        pictures.COLLECTOR.take()
        exec(compile(body, f"{self.page} (draw)", "exec"), self.names)
        shown = pictures.COLLECTOR.take()
        if not shown:
            raise ValueError(f"{self.page}: a draw block shows no figure; end it with figure.show()")
        figures = "\n".join(f"```{{raw}} html\n{pictures.fragment(figure)}\n```\n" for figure in shown)
        caption = f"{{.caption}}\n{argument}\n" if argument else ""
        code = f":::{{folded}}\n```python\n{body}```\n:::\n"
        return f"{figures}\n{caption}\n{code}"

    def landscape(self, argument: str, body: str) -> str:
        """Run the code and show the landscapes of its `charts` beside each other; the argument is the caption."""
        exec(compile(body, f"{self.page} (landscape)", "exec"), self.names)
        caption = f"{{.caption}}\n{argument}\n" if argument else ""
        code = f":::{{folded}}\n```python\n{body}```\n:::\n"
        return f"```{{raw}} html\n{pictures.landscapes(self.names['charts'])}\n```\n\n{caption}\n{code}"

    def block(self, match: re.Match[str]) -> str:
        """What replaces one block."""
        argument, body = match["argument"].strip(), match["body"]
        kinds: dict[str, Callable[[], str]] = {
            "draw": lambda: self.draw(argument, body),
            "landscape": lambda: self.landscape(argument, body),
            "names": lambda: names_text.names(body.split()),
            "claims": lambda: claims_text.claims_of(argument),
            "experiments": lambda: experiments_text.experiments_of(argument),
            "help": help_text.commands,
        }
        return kinds[match["kind"]]()


def replace(app: Any, docname: str, source: list[str]) -> None:
    """Sphinx's event `source-read`."""
    if app is not None and BLOCK.search(source[0]):
        for path in origins():
            app.env.note_dependency(str(path))
    source[0] = LAST_LINE.sub(r"\1\n```", BLOCK.sub(PageText(docname).block, source[0]))


@cache
def origins() -> list[Path]:
    """What generated text is made from: when one of these files changes, pages with such text are read again."""
    import shallows as sh

    here, package = Path(__file__).resolve().parent, Path(sh.__file__).parent
    return [*here.glob("*.py"), *(here.parent / "papers").rglob("*.json"), *package.rglob("*.py")]


def finish(app: Any, error: Exception | None) -> None:
    """Sphinx's event `build-finished`: pages with figures need the library."""
    if error is None and app.builder.format == "html":
        pictures.copy_library(Path(app.outdir) / "_static")


def begin(app: Any) -> None:
    """Sphinx's event `builder-inited`."""
    pictures.activate()


def setup(app: Any) -> dict[str, bool]:
    """What Sphinx calls."""
    from folded import Folded

    app.add_directive("folded", Folded)
    app.connect("builder-inited", begin, priority=100)
    app.connect("source-read", replace)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
