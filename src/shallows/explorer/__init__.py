"""The explorer: a local web page on which the teacher and the data move and the landscape follows."""

from shallows.explorer.server import Server, checked_view, make_server

__all__ = ["Server", "checked_view", "make_server"]
