"""What only some readers want, folded away: the code of a figure, long tables."""

from __future__ import annotations

from html import escape

from docutils import nodes
from docutils.parsers.rst import Directive


class Folded(Directive):
    """A `<details>` element around what is inside; the argument is what one sees of it."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The opening tag, the content, the closing tag."""
        inside = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, inside)
        title = escape(self.arguments[0] if self.arguments else "The code of this figure")
        begin = f'<details class="figure-code"><summary>{title}</summary>'
        return [
            nodes.raw("", begin, format="html"),
            inside,
            nodes.raw("", "</details>", format="html"),
        ]
