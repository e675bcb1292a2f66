"""How to get the same problem again: as a problem file, as Python, and with which versions.

Numbers are written with all their digits, so that the problem comes back bit for bit.
"""

from __future__ import annotations

import json
import platform
from importlib import metadata
from typing import Any

import numpy as np

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Activation, Power
from shallows.model.data.base import InnerProduct
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.support.checks import Array
from shallows.support.construction import Constructed

#: Data of more numbers than this are not written out: a report is no data file.
LARGEST_DATA = 2_000
PACKAGES = ("shallows", "numpy", "scipy", "numba", "python-flint", "plotly")


class NoRecipe(Exception):
    """A part of the problem that a file cannot hold; the message says which."""


def toml_of(problem: Problem, title: str = "") -> str:
    """The problem as the text of a problem file; `NoRecipe` when it has a part that a file cannot hold."""
    lines = [f"title = {json.dumps(title, ensure_ascii=False)}"] if title else []
    lines.append(f"width = {problem.width}")
    lines += [f"{name} = {text}" for name, text in _options(problem, "true").items()]
    if problem.target is None or problem.activation != _implied(problem.target):
        lines.append(f"activation = {_activation(problem.activation)}")
    if problem.target is not None:
        lines += ["", "[target]", *_target(problem.target)]
    lines += ["", "[data]", *(f"{key} = {value}" for key, value in _data(problem.data).items())]
    return "\n".join(lines) + "\n"


def _options(problem: Problem, true: str) -> dict[str, str]:
    """What differs from the defaults, by name, in the words of Python and, but for `true`, of TOML."""
    options = {}
    if problem.outer is not None:
        options["outer"] = '"ones"' if np.all(problem.outer == 1) else _numbers(_single(problem.outer))
    if problem.norm_neuron:
        options["norm_neuron"] = true
    if problem.orthogonality:
        options["orthogonality"] = repr(problem.orthogonality)
    if problem.bias:
        options["bias"] = true
    return options


def _single(rows: Array) -> Array:
    return np.asarray(rows[0] if len(rows) == 1 else rows)


def _implied(target: Network | SymmetricTensor) -> Activation:
    return target.activation if isinstance(target, Network) else Power(target.degree)


def _numbers(values: Array) -> str:
    """An array as nested TOML (and JSON, and Python) lists."""
    return json.dumps(np.asarray(values, dtype=np.float64).tolist())


def _activation(activation: Activation) -> str:
    """{ name = argument }, or { name = true } for one without."""
    made = activation.construction()
    if any(callable(value) for value in made.arguments.values()):
        raise NoRecipe(f"the activation {activation!r} is a Python function")
    (value,) = [_toml(value) for value in made.arguments.values()] or ["true"]
    return f"{{ {made.name.lower()} = {value} }}"


def _target(target: Network | SymmetricTensor) -> list[str]:
    if isinstance(target, Network):
        lines = [f"activation = {_activation(target.activation)}", f"neurons = {_numbers(target.W)}"]
        lines.append(f"outer = {_numbers(target.a)}")
        if target.bias is not None:
            lines.append(f"bias = {_numbers(target.bias)}")
        if isinstance(target.norm, float):
            return lines + ([f"norm = {target.norm!r}"] if target.norm else [])
        raise NoRecipe("the target has a norm neuron for each output")
    if target.degree != 2:
        return [f"degree = {target.degree}", f"entries = {_numbers(target.entries)}"]
    matrix = target.to_matrix()
    diagonal = np.diag(matrix)
    if np.array_equal(matrix, np.diag(diagonal)):
        return [f"diagonal = {_numbers(diagonal)}"]
    return [f"matrix = {_numbers(matrix)}"]


def _data(data: InnerProduct) -> dict[str, str]:
    """The keys of the data's table, each value as TOML: the constructor's arguments."""
    made = data.construction()
    if (
        sum(np.size(value) for value in made.arguments.values() if isinstance(value, np.ndarray))
        > LARGEST_DATA
    ):
        raise NoRecipe(f"{data!r} has too many numbers to write out")
    law, _, name = made.name.partition(".")
    head = {"law": law.lower()} | ({"name": name} if name else {})
    return {key: _toml(value) for key, value in (head | dict(made.arguments)).items()}


def _toml(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return _numbers(value)
    if isinstance(value, InnerProduct):
        return "{ " + ", ".join(f"{key} = {entry}" for key, entry in _data(value).items()) + " }"
    if isinstance(value, tuple):
        return "[\n  " + ",\n  ".join(_toml(part) for part in value) + ",\n]"
    return json.dumps(value)


def python_of(problem: Problem, call: str = "chart = sh.chart(problem)\nprint(chart)") -> str:
    """Python that builds the problem again and then does `call`."""
    names = ["import numpy as np"] if _needs_numpy(problem) else []
    arguments = [_python_target(problem.target), _python(problem.data), f"width={problem.width}"]
    if problem.target is None or problem.activation != _implied(problem.target):
        arguments.append(f"activation={_python(problem.activation)}")
    arguments += [f"{name}={text}" for name, text in _options(problem, "True").items()]
    listed = "".join(f"    {argument},\n" for argument in arguments)
    head = "\n".join([*names, "import shallows as sh"])
    return f"{head}\n\nproblem = sh.Problem(\n{listed})\n{call}\n"


def _diagonal(target: object) -> Array | None:
    if not isinstance(target, SymmetricTensor) or target.degree != 2:
        return None
    matrix = target.to_matrix()
    return np.diag(matrix) if np.array_equal(matrix, np.diag(np.diag(matrix))) else None


def _needs_numpy(problem: Problem) -> bool:
    target = problem.target
    eye = isinstance(target, Network) and np.array_equal(target.W, np.eye(target.n))
    return eye or _diagonal(target) is not None


def _python_target(target: Network | SymmetricTensor | None) -> str:
    if target is None:
        return "None"
    diagonal = _diagonal(target)
    if diagonal is not None:
        return f"np.diag({_numbers(diagonal)})"
    if isinstance(target, SymmetricTensor):
        return _numbers(target.to_matrix()) if target.degree == 2 else _python(target)
    weights = f"np.eye({target.n})" if np.array_equal(target.W, np.eye(target.n)) else _numbers(target.W)
    outer = "" if np.all(target.a == 1) and target.a.ndim == 1 else f"a={_numbers(target.a)}, "
    norm = f", norm={np.asarray(target.norm).tolist()!r}" if np.any(target.norm) else ""
    bias = "" if target.bias is None else f", bias={_numbers(target.bias)}"
    return f"sh.Network({weights}, {outer}activation={_python(target.activation)}{norm}{bias})"


def _python(value: Any) -> str:
    """The call that makes it: the first argument by place, the others by name."""
    if isinstance(value, np.ndarray):
        return _numbers(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(_python(part) for part in value) + "]"
    if not isinstance(value, Constructed):
        return repr(value)
    made = value.construction()
    if any(callable(part) and not isinstance(part, Constructed) for part in made.arguments.values()):
        raise NoRecipe(f"the activation {value!r} is a Python function")
    parts = [f"{key}={_python(part)}" for key, part in made.arguments.items()]
    first = [parts[0].partition("=")[2]] if parts else []
    return f"sh.{made.name}({', '.join(first + parts[1:])})"


def versions() -> dict[str, str]:
    """The versions that made a result: Python, the platform and the packages that compute."""
    found = {"Python": platform.python_version(), "platform": platform.platform()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # a source tree on the path, not installed
            found[name] = "not installed"
    return found
