"""Critical points: one method a file, brought together by `chart`."""

from shallows.critical.dispatch import chart

__all__ = ["chart"]
