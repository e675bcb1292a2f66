"""A problem as a document (what JSON holds) and arrays (what NPZ holds), and back, bit for bit.

Every part says how it is made (`construction`), so the document is a tree of constructors' names and arguments:

    {"make": "Problem", "width": 1, "data": {"make": "Gaussian", "n": 2, "mean": {"array": "data.mean"}}, …}
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.model.laws import made
from shallows.model.problem import Problem
from shallows.support.checks import describe
from shallows.support.construction import Constructed
from shallows.support.errors import InvalidProblem
from shallows.support.files import Arrays, Contents

#: What stands before the names of a problem's arrays in a file that holds others too.
_PREFIX = "problem."
#: Where ufuncs are looked for.
_UFUNCS = ("numpy", "scipy.special")


def to_document(problem: Problem) -> tuple[dict[str, Any], Arrays]:
    """The document and the arrays that it names; `InvalidProblem` when a part cannot be stored.

    A Smooth activation is stored by its name ("erf"), or by that of its functions, `module:function`: they need one.

    >>> document, arrays = to_document(sh.Problem(np.diag([2.0, 1.0]), sh.IID.laplace(2), width=1))
    >>> document["data"], document["target"]
    ({'make': 'IID.laplace', 'n': 2}, {'make': 'SymmetricTensor', 'entries': {'array': 'target.entries'}, ...})
    >>> arrays["target.entries"]
    array([2., 0., 1.])
    """
    arrays: Arrays = {}
    return _written(problem, "", arrays), arrays


def from_document(document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Problem:
    """The problem that `to_document` wrote: losses and gradients are the same to the last bit.

    Reading runs no code of the file's choosing: only classes of the library (and yours, once defined) are made, and
    functions are looked up in modules that are loaded already.
    """
    problem = _read(document, arrays)
    if not isinstance(problem, Problem):
        raise InvalidProblem(f"The document describes {describe(problem)}; expected a Problem.")
    return problem


def stored_with(problem: Problem | None) -> tuple[dict[str, Any], Arrays]:
    """What a file keeps of the problem it is about: `problem`, how it is made, and `about`, how it is shown.

    A problem that cannot be stored leaves a note, `unstored`, which says why.
    """
    if problem is None:
        return {"problem": None, "about": ""}, {}
    try:
        document, arrays = to_document(problem)
    except InvalidProblem as error:
        return {"problem": None, "about": repr(problem), "unstored": str(error)}, {}
    kept = {_PREFIX + name: array for name, array in arrays.items()}
    return {"problem": document, "about": repr(problem)}, kept


def problem_with(contents: Contents, given: Problem | None) -> Problem | None:
    """The problem that a file is about: the one given, or the one it keeps; None if it was written without."""
    if given is not None:
        return given
    if "unstored" in contents.document:
        raise InvalidProblem(
            f"{contents.path} is about {contents.document['about']}, which could not be stored with it: "
            f"{contents.document['unstored']} Fix: give it again, problem=…"
        )
    document = contents.document["problem"]
    if not isinstance(document, Mapping):  # None, or what the first version kept: a text
        return None
    return from_document(document, contents.arrays.under(_PREFIX))


def _written(value: Any, place: str, arrays: Arrays) -> Any:
    if isinstance(value, Constructed):
        construction = value.construction()
        inner = {
            key: _written(part, f"{place}.{key}" if place else key, arrays)
            for key, part in construction.arguments.items()
        }
        return {"make": construction.name, **inner}
    if isinstance(value, np.ndarray):
        arrays[place] = value
        return {"array": place}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Sequence):
        return [_written(part, f"{place}.{i}", arrays) for i, part in enumerate(value)]
    if callable(value):
        return {"function": _function_name(value)}
    raise InvalidProblem(f"{place} is {describe(value)}, which cannot be stored.")


def _read(value: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    if isinstance(value, list):
        return [_read(part, arrays) for part in value]
    if not isinstance(value, Mapping):
        return value
    if "make" in value:
        inner = {key: _read(part, arrays) for key, part in value.items() if key != "make"}
        try:
            return made(str(value["make"]), inner)
        except TypeError as error:
            raise InvalidProblem(f"The document's {value['make']!r} cannot be made: {error}.") from None
    if "function" in value:
        return _function(str(value["function"]))
    name = str(value.get("array"))
    if name not in arrays:
        raise InvalidProblem(f"The document names the array {name!r}, which is not there.")
    return arrays[name]


def _function_name(function: Callable[..., Any]) -> str:
    """`module:function`, when the function is found there again."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if isinstance(function, np.ufunc):  # SciPy's, and NumPy's before 2.2, do not know their place
        homes = [
            home for home in _UFUNCS if getattr(sys.modules.get(home), function.__name__, None) is function
        ]
        module, name = next(iter(homes), None), function.__name__
    if getattr(sys.modules.get(str(module)), str(name), None) is not function:
        raise InvalidProblem(
            f"{function!r} cannot be stored: it has no name in a module. Fix: define it in a module "
            "(no lambda, no inner function), or use one of NumPy's or of scipy.special."
        )
    return f"{module}:{name}"


def _function(name: str) -> Callable[..., Any]:
    module, _, inner = name.partition(":")
    found: Callable[..., Any] | None = getattr(sys.modules.get(module), inner, None)
    if found is None:
        raise InvalidProblem(
            f"The problem needs the function {name!r}. Fix: import {module} before loading it."
        )
    return found
