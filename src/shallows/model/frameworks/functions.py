"""Functions of PyTorch tensors and of JAX arrays as functions of NumPy arrays, with derivatives by differentiation.

A framework is looked for only where it is loaded already: whoever has one of its functions has loaded it. Everything is
computed in double precision; JAX would take single precision in silence.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from shallows.support.checks import Array

#: Where a function is tried.
PROBE = np.linspace(-1.0, 1.0, 7)


@dataclass(frozen=True)
class OfFramework:
    """σ^(order) of an elementwise function σ of a framework's arrays; it has σ's name."""

    function: Callable[..., Any]
    order: int = 0

    @property
    def __name__(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)


class OfTensors(OfFramework):
    """σ^(order) of an elementwise function σ of PyTorch tensors."""

    def __call__(self, z: Array) -> Array:
        """σ^(order)(z), by as many backward passes: σ acts on each entry alone, so a sum has the slopes as gradient."""
        import torch

        point = torch.tensor(np.asarray(z, np.float64), requires_grad=self.order > 0)
        value = self.function(point)
        for _ in range(self.order):
            if not value.requires_grad:  # locally constant
                return np.zeros(np.shape(z))
            found = torch.autograd.grad(value.sum(), point, create_graph=True, allow_unused=True)[0]
            value = torch.zeros_like(point) if found is None else found
        return np.asarray(value.detach().numpy(), dtype=np.float64)


class OfJax(OfFramework):
    """σ^(order) of an elementwise function σ of JAX arrays."""

    def __call__(self, z: Array) -> Array:
        """σ^(order)(z), in double precision whatever JAX is set to."""
        import jax

        derived = self.function
        for _ in range(self.order):
            derived = jax.grad(derived)
        with jax.enable_x64(True):
            flat = np.asarray(z, np.float64).ravel()
            values = np.asarray(jax.vmap(derived)(flat), dtype=np.float64)
        return values.reshape(np.shape(z))


def of_arrays(function: Any, first: Any, second: Any) -> tuple[Any, Any, Any]:
    """σ, σ′ and σ″ as functions of NumPy arrays; derivatives of a framework's function that are missing are derived."""
    wrapped = _wrapped(function)
    given = [None if value is None else _wrapped(value) or value for value in (first, second)]
    if wrapped is None:
        return function, given[0], given[1]
    derived = [type(wrapped)(wrapped.function, order) for order in (1, 2)]
    return wrapped, given[0] or derived[0], given[1] or derived[1]


def _wrapped(function: Any) -> OfTensors | OfJax | None:
    """The function as one of NumPy arrays when it is a framework's, else None."""
    if not callable(function) or isinstance(function, np.ufunc | OfFramework):
        return None
    answers = "jax" in sys.modules and _answers(function, PROBE, "jax")
    if answers:
        return OfJax(function)
    torch = sys.modules.get("torch")
    if torch is not None and _answers(function, torch.from_numpy(PROBE.copy()), "torch"):
        return None if _answers(function, PROBE, "numpy") else OfTensors(function)
    return None


def _answers(function: Callable[..., Any], probe: Any, framework: str) -> bool:
    """Whether the function takes this probe and answers with an array of that framework."""
    try:
        with np.errstate(all="ignore"):
            answer = function(probe)
    except Exception:  # any error of a stranger's function means that it does not take such arrays
        return False
    return type(answer).__module__.partition(".")[0].removesuffix("lib") == framework
