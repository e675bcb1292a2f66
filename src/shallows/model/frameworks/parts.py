"""The parts of θ by name, for losses that are given as functions of W, a, bias and norm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem

if TYPE_CHECKING:
    from shallows.model.problem import Problem


@dataclass(frozen=True)
class ParameterParts:
    """What was given, and how many last axes of each part are its own, in the order of θ; others are batches."""

    given: Mapping[str, Any]
    axes: Mapping[str, int]

    @classmethod
    def of(cls, problem: Problem, **given: Any) -> ParameterParts:
        """The parts that this problem trains, checked by shape."""
        layout = problem.layout
        outer = (layout.outputs, layout.width) if layout.outputs > 1 else (layout.width,)
        norm = (layout.outputs,) if layout.outputs > 1 else ()
        shapes: dict[str, tuple[int, ...]] = {"W": (layout.width, layout.n)}
        if layout.bias:
            shapes["bias"] = (layout.width,)
        if layout.free:
            shapes["a"] = outer
        if layout.norm:
            shapes["norm"] = norm
        for name, value in given.items():
            if (value is None) == (name in shapes):
                raise InvalidProblem(_mismatch(name, value, problem))
        lead = None
        for name, shape in shapes.items():
            found = tuple(np.shape(given[name]))
            own = found[len(found) - len(shape) :]
            batch = found[: len(found) - len(shape)]
            if own != shape or (lead is not None and batch != lead):
                before = "" if lead is None else f", after the axes {lead} of W,"
                raise InvalidProblem(
                    f"{name} has shape {found}; expected {shape}{before} for {problem!r}; axes before them are batches."
                )
            lead = batch
        return cls(
            {name: given[name] for name in shapes}, {name: len(shape) for name, shape in shapes.items()}
        )


def hessian_products(problem: Problem, theta: Array, direction: Array) -> Array:
    """∇²L(θ) u for θ and u of shape (…, p), one θ after the other."""
    points, vectors = theta.reshape(-1, problem.size), direction.reshape(-1, problem.size)
    rows = [problem.hessian_product(x, u) for x, u in zip(points, vectors, strict=True)]
    return np.asarray(rows, dtype=np.float64).reshape(theta.shape)


def hessians(problem: Problem, theta: Array) -> Array:
    """∇²L(θ) for θ of shape (…, p), shape (…, p, p)."""
    identity = np.eye(problem.size)
    rows = [problem.hessian_product(x, identity) for x in theta.reshape(-1, problem.size)]
    return np.asarray(rows, dtype=np.float64).reshape(*theta.shape, problem.size)


def _mismatch(name: str, value: Any, problem: Problem) -> str:
    if value is None:
        return f"{name} was not given, and {problem!r} trains it."
    reasons = {
        "a": "the outer weights are fixed in this problem. Fix: leave a out, or Problem(..., outer='free').",
        "bias": "students of this problem have none. Fix: Problem(..., bias=True).",
        "norm": "this problem has no norm neuron. Fix: Problem(..., norm_neuron=True).",
    }
    return f"{name} was given, and {reasons[name]}"
