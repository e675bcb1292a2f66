"""Serving the explorer: a threaded local server, bound to this machine unless told otherwise."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from shallows.support.collector import all_stays
from shallows.support.errors import InvalidProblem, ShallowsError
from shallows.uses.explorer.fields import Field, State, defaults
from shallows.uses.explorer.views import NAMES, view_of
from shallows.uses.explorer.workers import computed

#: The address that stands for all networks of this machine.
EVERYWHERE = "0.0.0.0"


@dataclass(frozen=True, eq=False)
class Server:
    """A server that listens already; `serve()` answers until Ctrl-C or `stop()`."""

    host: str
    port: int
    inner: Any

    @property
    def address(self) -> str:
        """The URL of the page, by a name that other machines can use when it listens to them."""
        return f"http://{socket.gethostname() if self.host == EVERYWHERE else self.host}:{self.port}"

    def serve(self) -> None:
        """Answer requests; views are computed once beforehand in the background, so that the first one is quick."""
        threading.Thread(target=warm, daemon=True).start()
        try:
            self.inner.serve_forever()
        except KeyboardInterrupt:
            self.inner.server_close()

    def stop(self) -> None:
        """End `serve()` from another thread, and give the port back."""
        self.inner.shutdown()
        self.inner.server_close()


def names_of(host: str) -> tuple[str, ...]:
    """The names under which a server that listens on `host` is asked; under any other name it does not answer."""
    names = {"127.0.0.1", "localhost", host}
    if host == EVERYWHERE:
        names |= {socket.gethostname(), socket.getfqdn()}
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(
                    ("192.0.2.1", 9)
                )  # sends nothing: it only chooses the address that faces outwards
                names.add(probe.getsockname()[0])
            except OSError:  # no network: only this machine can ask
                pass
    return tuple(sorted(names))


def warm() -> None:
    """Draw every view at its defaults, a step beside them (another method may serve there), and with every choice.

    Compiled loops load, and what views share is made; the collector of garbage leaves it alone from then on.
    """
    for name in NAMES:
        view = view_of(name)
        view.seconds(defaults(view.fields))
        for state in _first_states(view.fields):
            try:
                computed(view.draw, state)
            except ShallowsError:  # it will say so on its page
                continue
            except RuntimeError:  # the threads are closed: the server stopped while this was under way
                return
    all_stays()


def _first_states(fields: Sequence[Field]) -> Iterator[State]:
    start = defaults(fields)
    yield start
    yield {f.name: start[f.name] if f.choices else min(start[f.name] + f.step, f.high) for f in fields}
    for f in fields:
        yield from ({**start, f.name: float(i)} for i in range(len(f.choices)) if i != start[f.name])


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens; opened here because werkzeug prints and exits when a port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError:
        raise InvalidProblem(
            f"Cannot listen on {host}:{port}: it is in use or not allowed. Fix: --port 0 takes a free port."
        ) from None


def make_server(host: str = "127.0.0.1", port: int = 8050) -> Server:
    """Bind the explorer to an address; port 0 takes a free one."""
    import logging

    from shallows.uses.explorer.app import make_app

    app = make_app(
        names_of(host)
    )  # before werkzeug, which comes with Dash: without Dash this names the extra

    from werkzeug.serving import WSGIRequestHandler
    from werkzeug.serving import make_server as bind

    class Kept(WSGIRequestHandler):
        """A connection stays for the next request, and nothing waits for a full packet."""

        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # no line a request
    with _listening(host, port) as line:
        taken = int(line.getsockname()[1])
        inner = bind(host, taken, app.server, threaded=True, request_handler=Kept, fd=line.fileno())
    setattr(inner, "daemon_threads", True)  # noqa: B010  (the stubs know only the base class)
    return Server(host, taken, inner)
