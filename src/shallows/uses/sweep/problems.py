"""The problem of a cell: the tables of a problem file, or `make = "…"`, a function that returns a problem.

`make` names one of the functions here or any importable one (`module:function`); the other keys of the table are its
arguments, and `rng` is a generator with the cell's seed, for problems with random data or a random teacher.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from shallows.model.problem import Problem
from shallows.model.problem_file import ProblemSection, Read
from shallows.questions.relu.setting import relu_problem
from shallows.support.checks import describe, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.tables import checked
from shallows.uses.sweep.functions import Function, asked_for, resolve

MAKERS = {
    "relu-orthonormal": "shallows.uses.sweep.problems:orthonormal_relu",
}


def maker_of(document: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The function that makes the problem and its arguments; None for the tables of a problem file."""
    if not isinstance(document, Mapping):
        raise InvalidProblem(
            f"problem is {describe(document)}; expected a table. Fix: an axis at problem.NAME, for one of its entries."
        )
    if "make" not in document:
        return None
    settings = {name: value for name, value in document.items() if name != "make"}
    return resolve(str(document["make"]), MAKERS, "problem"), settings


def build_problem(
    document: Mapping[str, Any], read: Read, seed: int, find: Callable[[str], Function]
) -> Problem:
    """The problem of a cell; what is random in it comes from `default_rng([seed, 1])`, apart from the quantities."""
    maker = maker_of(document)
    if maker is None:
        section = checked(ProblemSection, document, "[problem] is not a problem", "problem.")
        return section.build(read)
    target, settings = maker
    function = find(target)
    offered = {"rng": np.random.default_rng([seed, 1]), "seed": seed}
    problem = function(**asked_for(function, offered), **settings)
    if not isinstance(problem, Problem):
        raise InvalidProblem(f"{target!r} returned {type(problem).__name__}; expected a shallows.Problem.")
    return problem


def orthonormal_relu(k: int, extra: int = 0) -> Problem:
    """k orthonormal ReLU teacher neurons in R^k, k + extra students with outer weights one (paper 003, section 4)."""
    k, extra = positive_integer("k", k), positive_integer("extra", extra, minimum=0)
    return relu_problem(k, width=k + extra)
