"""The laws and activations of the library, one line a module: importing this makes them known by name."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import isabstract
from typing import Any

from shallows.model.activations import Activation
from shallows.model.data.base import InnerProduct
from shallows.model.data.gaussian import Gaussian as Gaussian
from shallows.model.data.iid import IID as IID
from shallows.model.data.metric import Metric as Metric
from shallows.model.data.mixture import Mixture as Mixture
from shallows.model.data.radial import Radial as Radial
from shallows.model.data.samples import Samples as Samples
from shallows.support.construction import Constructed, constructor


def made(name: str, arguments: Mapping[str, Any]) -> Any:
    """What the constructor of this public name makes; see `Construction`."""
    return constructor(name)(**arguments)


def laws() -> dict[str, type[InnerProduct]]:
    """Every law by its name in files, that of its class in small letters; yours too, once defined."""
    made = {k.__name__.lower(): k for k in _concrete() if issubclass(k, InnerProduct)}
    return {name: k for name, k in made.items() if k.construction is not Constructed.construction}


def activations() -> dict[str, type[Activation]]:
    """Every activation by its name in files."""
    return {k.__name__.lower(): k for k in _concrete() if issubclass(k, Activation)}


def _concrete() -> list[type[Constructed]]:
    return [kind for kind in Constructed.known.values() if not isabstract(kind)]
