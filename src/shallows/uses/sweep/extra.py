"""The optional dependencies of sweeps, asked for by name before any work starts."""

from __future__ import annotations

from importlib.util import find_spec

from shallows.support.errors import MissingExtra

EXTRA = "sweep"


def need(*packages: str) -> None:
    """Refuse with the extra that brings them when one of the packages is not installed."""
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtra(package, EXTRA)
