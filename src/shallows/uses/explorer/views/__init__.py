"""The views of the explorer, one a file."""

from __future__ import annotations

from importlib import import_module

from shallows.support.errors import InvalidProblem
from shallows.uses.explorer.scene import View

#: Name -> module; the order is that of the page's menu.
NAMES = ("quadratic", "affine", "tree", "path", "slices", "relu", "cone", "ellipse", "binary", "flow")


def view_of(name: str) -> View:
    """The view of a name; its module is loaded when it is first shown."""
    if name not in NAMES:
        raise InvalidProblem(f"There is no view {name[:40]!r}; there are {', '.join(NAMES)}.")
    view: View = import_module(f"shallows.uses.explorer.views.{name}").VIEW
    return view
