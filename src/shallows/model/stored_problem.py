"""A problem as a document (what JSON holds) and arrays (what NPZ holds), and back, bit for bit.

Every part says how it is made (`construction`), so the document is a tree of constructors' names and arguments:

    {"make": "Problem", "width": 1, "data": {"make": "Gaussian", "n": 2, "mean": {"array": "data.mean"}}, …}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from shallows.model.laws import made
from shallows.model.problem import Problem
from shallows.support.checks import describe
from shallows.support.errors import InvalidProblem
from shallows.support.files import Arrays, Contents
from shallows.support.records import read, written

#: What stands before the names of a problem's arrays in a file that holds others too.
_PREFIX = "problem."


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
    return written(problem, "", arrays), arrays


def from_document(document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Problem:
    """The problem that `to_document` wrote: losses and gradients are the same to the last bit.

    Reading runs no code of the file's choosing: only classes of the library (and yours, once defined) are made, and
    functions are looked up in modules that are loaded already.
    """
    problem = read(document, arrays, make=made)
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
