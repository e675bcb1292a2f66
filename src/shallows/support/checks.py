"""Validation at the edge: every check names the argument, what was given, what is expected, how to fix it."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shallows.support.errors import InvalidProblem

Array = NDArray[np.float64]
#: Entries and their mirror images may differ by this share of the largest entry: by rounding, or because the matrix was
#: written with ten digits.
ASYMMETRY = 1e-10


def describe(value: Any) -> str:
    """A short account of a value for an error message."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    if is_tensor(value):
        return f"a {type(value).__name__} of shape {tuple(value.shape)}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    text = repr(value)
    return text if len(text) <= 60 else f"{type(value).__name__} {text[:57]}..."


def is_tensor(value: Any) -> bool:
    """Whether this is a tensor of PyTorch or its like, which NumPy cannot always read."""
    return hasattr(value, "detach") and hasattr(value, "shape")


#: How the last letters of a noun change; all others take an s.
_PLURALS = {"imum": "ima", "ily": "ilies", "try": "tries", "leaf": "leaves", "box": "boxes"}


def plural(noun: str) -> str:
    """ "runs", "local minima", "families", "leaves"; "degenerate" is short for a degenerate point."""
    if noun.endswith("degenerate"):
        return f"{noun} points"
    for ending, many in _PLURALS.items():
        if noun.endswith(ending):
            return noun.removesuffix(ending) + many
    return f"{noun}s"


def noun_for(count: int, noun: str) -> str:
    """The noun that goes with a number that stands elsewhere."""
    one = f"{noun} point" if noun.endswith("degenerate") else noun
    return one if count == 1 else plural(noun)


def counted(count: int, noun: str) -> str:
    """ "1 run", "2 runs", "3 local minima", "4 families"."""
    return f"{count} {noun_for(count, noun)}"


def positive_integer(name: str, value: Any, minimum: int = 1) -> int:
    """An integer of at least `minimum` (booleans are not integers here)."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < minimum:
        raise InvalidProblem(f"{name} is {describe(value)}; expected an integer of at least {minimum}.")
    return int(value)


def finite_number(name: str, value: Any, minimum: float | None = None) -> float:
    """A finite real number, at least `minimum` when one is given."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidProblem(f"{name} is {describe(value)}; expected a real number.") from None
    if not np.isfinite(number):
        raise InvalidProblem(f"{name} is {number}; expected a finite number.")
    if minimum is not None and number < minimum:
        raise InvalidProblem(f"{name} is {number}; expected at least {minimum}.")
    return number


def require_no_graph(name: str, value: Any) -> None:
    """Refuse what a framework differentiates or compiles: gradients would be cut off in silence."""
    if is_tensor(value) and getattr(value, "requires_grad", False):
        raise InvalidProblem(
            f"{name} is {describe(value)} that requires gradients, which would be cut off in silence. Fix: "
            f"{name}.detach(), or problem.torch_loss, which is differentiable."
        )
    if type(value).__module__.startswith("jax.") and type(value).__name__.endswith("Tracer"):
        raise InvalidProblem(
            f"{name} is a tracer of JAX: this is inside jit, grad or vmap, which see only JAX's own functions. Fix: "
            "problem.jax_loss, which they see through; or call this outside."
        )


def real_array(name: str, value: ArrayLike) -> Array:
    """A float64 copy; what is no array of real numbers is refused, with the way to make it one where there is one."""
    if type(value) is float or (type(value) is np.ndarray and value.dtype == np.float64):
        return np.array(value)  # what most give: paths and training make networks by the thousand
    if isinstance(value, np.ndarray | np.generic) and np.iscomplexobj(value):
        raise InvalidProblem(
            f"{name} is {describe(value)}; expected real numbers. Fix: {name}.real, if that is what you mean."
        )
    require_no_graph(name, value)
    try:
        readable = value.detach().cpu().numpy() if is_tensor(value) else value  # type: ignore[union-attr]
        return np.array(readable, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        fix = ""
        if is_tensor(value):
            fix = f" Fix: {name}.detach().numpy()"
        elif "inhomogeneous" in str(error):
            fix = " Fix: rows of the same length."
        raise InvalidProblem(
            f"{name} is {describe(value)}; expected an array of real numbers.{fix}"
        ) from None


def plain_array(name: str, value: Any) -> Array:
    """An array as it is; tensors and lists as arrays, and graphs are refused: for what is called in loops."""
    return value if isinstance(value, np.ndarray) else real_array(name, value)


def finite_array(name: str, value: ArrayLike, ndim: int | Sequence[int], meaning: str = "") -> Array:
    """A read-only float64 copy with one of the allowed numbers of axes and no NaN or infinite entry.

    `meaning` says what the axes are, for whoever gave others.
    """
    allowed = (ndim,) if isinstance(ndim, int) else tuple(ndim)
    array = real_array(name, value)
    if array.ndim not in allowed:
        axes = " or ".join(map(str, allowed)) + (" axis" if allowed == (1,) else " axes")
        raise InvalidProblem(
            f"{name} has shape {array.shape}; expected {axes}{': ' + meaning if meaning else ''}."
        )
    if not np.isfinite(array).all():
        bad = np.argwhere(~np.isfinite(array))
        where = tuple(int(i) for i in bad[0])
        raise InvalidProblem(
            f"{name} has {len(bad)} NaN or infinite entries, the first at {where}; remove or replace them."
        )
    array.setflags(write=False)
    return array


def symmetric_matrix(name: str, value: ArrayLike) -> Array:
    """A finite square symmetric matrix (to rounding), symmetrised."""
    matrix = finite_array(name, value, 2, "a square symmetric matrix")
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidProblem(f"{name} has shape {matrix.shape}; expected a square matrix.")
    asymmetry = float(np.max(np.abs(matrix - matrix.T), initial=0.0))
    if asymmetry > ASYMMETRY * max(1.0, float(np.max(np.abs(matrix), initial=0.0))):
        raise InvalidProblem(
            f"{name} is not symmetric: entries differ from their mirror image by up to {asymmetry:.3g}. "
            f"Use ({name} + {name}.T) / 2 if that is what you mean."
        )
    matrix = (matrix + matrix.T) / 2
    matrix.setflags(write=False)
    return matrix


def points(name: str, value: ArrayLike, n: int) -> Array:
    """Input points x with n coordinates on the last axis."""
    array = value if isinstance(value, np.ndarray) and value.dtype == np.float64 else real_array(name, value)
    if array.ndim == 0 or array.shape[-1] != n:
        fix = f" Fix: {name}.T" if array.ndim == 2 and len(array) == n else ""
        raise InvalidProblem(
            f"{name} has shape {array.shape}; its last axis must have {n} coordinates, one point a row.{fix}"
        )
    return array
