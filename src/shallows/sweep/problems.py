"""The problem of a cell: the tables of a problem file, or `make = "…"`, a function that returns a problem.

`make` names one of the functions here or any importable one (`module:function`); the other keys of the table are its
arguments, and `rng` is a generator with the cell's seed, for problems with random data or a random teacher.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from shallows._checks import positive_integer
from shallows.activations import ReLU
from shallows.data import Gaussian, Samples
from shallows.errors import InvalidProblem
from shallows.network import Network
from shallows.problem import Problem
from shallows.problem_file import ProblemSection, _place
from shallows.sweep.functions import Function, asked_for, resolve

MAKERS = {
    "relu-orthonormal": "shallows.sweep.problems:orthonormal_relu",
    "quadratic-samples": "shallows.sweep.problems:quadratic_samples",
}
LABELS = ("planted", "independent")


def maker_of(document: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The function that makes the problem and its arguments; None for the tables of a problem file."""
    if "make" not in document:
        return None
    settings = {name: value for name, value in document.items() if name != "make"}
    return resolve(str(document["make"]), MAKERS, "problem"), settings


def build_problem(
    document: Mapping[str, Any], folder: str, seed: int, find: Callable[[str], Function]
) -> Problem:
    """The problem of a cell; what is random in it comes from `default_rng([seed, 1])`, apart from the quantities."""
    maker = maker_of(document)
    if maker is None:
        return _section(document).build(Path(folder))
    target, settings = maker
    function = find(target)
    offered = {"rng": np.random.default_rng([seed, 1]), "seed": seed}
    problem = function(**asked_for(function, offered), **settings)
    if not isinstance(problem, Problem):
        raise InvalidProblem(f"{target!r} returned {type(problem).__name__}; expected a shallows.Problem.")
    return problem


def _section(document: Mapping[str, Any]) -> ProblemSection:
    try:
        return ProblemSection.model_validate(document)
    except ValidationError as error:
        lines = [f"  problem.{_place(item)}: {item['msg']}" for item in error.errors()]
        raise InvalidProblem("[problem] is not a problem:\n" + "\n".join(lines)) from None


def orthonormal_relu(k: int, extra: int = 0) -> Problem:
    """k orthonormal ReLU teacher neurons in R^k, k + extra students with outer weights one (paper 003, section 4)."""
    k, extra = positive_integer("k", k), positive_integer("extra", extra, minimum=0)
    return Problem(Network(np.eye(k), activation=ReLU()), Gaussian(k), k + extra, outer="ones")


def quadratic_samples(
    d: int,
    samples: int,
    width: int,
    rng: np.random.Generator,
    labels: str = "independent",
    planted: int | None = None,
    norm_neuron: bool = False,
    orthogonality: float = 0.0,
) -> Problem:
    """Quadratic neurons on `samples` points of N(0, I/d), as in the experiments of paper 002, section 4.1.

    `labels`: "independent" (N(0, 1)), or "planted" by a network of `planted` neurons (d if omitted) with weights and
    outer weights N(0, 1). The three variants of the paper are plain, `norm_neuron=True`, and `orthogonality=γ`.
    """
    d, samples = positive_integer("d", d), positive_integer("samples", samples)
    if labels not in LABELS:
        raise InvalidProblem(f"labels is {labels!r}; expected one of {', '.join(LABELS)}.")
    X = rng.standard_normal((samples, d)) / np.sqrt(d)
    if labels == "independent":
        y = rng.standard_normal(samples)
    else:
        hidden = d if planted is None else positive_integer("planted", planted)
        y = Network(rng.standard_normal((hidden, d)), rng.standard_normal(hidden))(X)
    return Problem(None, Samples(X, y), width, norm_neuron=norm_neuron, orthogonality=orthogonality)
