"""The code of a figure, folded away below it."""

from __future__ import annotations

from docutils import nodes
from docutils.parsers.rst import Directive


class DropdownCode(Directive):
    """A `<details>` element around what is inside."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The opening tag, the content, the closing tag."""
        inside = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, inside)
        begin = '<details class="figure-code"><summary>The code of this figure</summary>'
        return [
            nodes.raw("", begin, format="html"),
            inside,
            nodes.raw("", "</details>", format="html"),
        ]
