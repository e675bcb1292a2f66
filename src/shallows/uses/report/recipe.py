"""How to get the same problem again: as a problem file, as Python, and with which versions.

Numbers are written with all their digits, so that the problem comes back bit for bit (the degrees of freedom of
Student's t have six).
"""

from __future__ import annotations

import json
import platform
import re
from importlib import metadata

import numpy as np

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Activation, Polynomial, Power, ReLU
from shallows.model.data.base import InnerProduct
from shallows.model.data.gaussian import Gaussian
from shallows.model.data.iid import IID
from shallows.model.data.metric import Frobenius, Metric
from shallows.model.data.mixture import Mixture
from shallows.model.data.radial import Radial, Sphere
from shallows.model.data.samples import Samples
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.support.checks import Array

#: Samples with more numbers than this are not written out: a report is no data file.
LARGEST_SAMPLES = 2_000
PACKAGES = ("shallows", "numpy", "scipy", "numba", "python-flint", "plotly")


class NoRecipe(Exception):
    """A part of the problem that a file cannot hold; the message says which."""


def toml_of(problem: Problem, title: str = "") -> str:
    """The problem as the text of a problem file; `NoRecipe` when it has a part that a file cannot hold."""
    lines = [f"title = {json.dumps(title, ensure_ascii=False)}"] if title else []
    lines.append(f"width = {problem.width}")
    if problem.outer is not None:
        fixed = '"ones"' if np.all(problem.outer == 1) else _numbers(_single(problem.outer))
        lines.append(f"outer = {fixed}")
    if problem.norm_neuron:
        lines.append("norm_neuron = true")
    if problem.orthogonality:
        lines.append(f"orthogonality = {problem.orthogonality!r}")
    if problem.target is None or problem.activation != _implied(problem.target):
        lines.append(f"activation = {_activation(problem.activation)}")
    if problem.target is not None:
        lines += ["", "[target]", *_target(problem.target)]
    lines += ["", "[data]", *(f"{key} = {value}" for key, value in _data(problem.data).items())]
    return "\n".join(lines) + "\n"


def _single(rows: Array) -> Array:
    return np.asarray(rows[0] if len(rows) == 1 else rows)


def _implied(target: Network | SymmetricTensor) -> Activation:
    return target.activation if isinstance(target, Network) else Power(target.degree)


def _numbers(values: Array) -> str:
    """An array as nested TOML (and JSON, and Python) lists."""
    return json.dumps(np.asarray(values, dtype=np.float64).tolist())


def _activation(activation: Activation) -> str:
    if isinstance(activation, Power):
        return f"{{ power = {activation.degree} }}"
    if isinstance(activation, Polynomial):
        return f"{{ polynomial = {_numbers(np.array(activation.values))} }}"
    if isinstance(activation, ReLU):
        return "{ relu = true }"
    raise NoRecipe(f"the activation {activation!r} is a Python function")


def _target(target: Network | SymmetricTensor) -> list[str]:
    if isinstance(target, Network):
        lines = [f"activation = {_activation(target.activation)}", f"neurons = {_numbers(target.W)}"]
        lines.append(f"outer = {_numbers(target.a)}")
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
    """The keys of the data's table, each value as TOML."""
    if isinstance(data, Samples):
        return _samples(data)
    if isinstance(data, Mixture):
        parts = ["{ " + ", ".join(f"{k} = {v}" for k, v in _data(part).items()) + " }" for part in data.parts]
        return {
            "law": '"mixture"',
            "weights": _numbers(data.weights),
            "parts": "[\n  " + ",\n  ".join(parts) + ",\n]",
        }
    size = {"n": str(data.n)}
    if isinstance(data, Gaussian):
        return {"law": '"gaussian"', **size, **_gaussian(data)}
    if isinstance(data, IID):
        return {"law": '"iid"', **size, **_iid(data)}
    if isinstance(data, Sphere):
        return {"law": '"sphere"', **size}
    if isinstance(data, Radial):
        return {"law": '"radial"', **size, "radial_moments": _numbers(np.array(data._radial))}
    if isinstance(data, Frobenius):
        return {"law": '"frobenius"', **size}
    if isinstance(data, Metric):
        return {
            "law": '"metric"',
            **size,
            "degree": str(data.degree),
            "gram": _numbers(data.gram(data.degree)),
        }
    raise NoRecipe(f"{data!r} has no place in a problem file")


def _samples(data: Samples) -> dict[str, str]:
    labels = 0 if data.y is None else data.y.size
    if data.X.size + labels > LARGEST_SAMPLES:
        raise NoRecipe(f"the {data.count:,} samples are too many to write out")
    found = {"law": '"samples"', "X": _numbers(data.X)}
    return found if data.y is None else {**found, "y": _numbers(data.y)}


def _gaussian(data: Gaussian) -> dict[str, str]:
    parts = {}
    if not np.array_equal(data.covariance, np.eye(data.n)):
        parts["covariance"] = _numbers(data.covariance)
    if data.mean.any():
        parts["mean"] = _numbers(data.mean)
    return parts


def _iid(data: IID) -> dict[str, str]:
    """A law that has a name is written by name, the others by the moments they were given."""
    named = re.fullmatch(r"IID\.(\w+)\(\d+(?:, df=(.+))?\)", repr(data))
    if named is None:
        assert data._given is not None
        return {"moments": _numbers(np.array(data._given))}
    name, df = named.groups()
    return {"name": f'"{name}"'} | ({} if df is None else {"df": repr(float(df))})


def python_of(problem: Problem, call: str = "chart = sh.chart(problem)\nprint(chart)") -> str:
    """Python that builds the problem again and then does `call`."""
    names = ["import numpy as np"] if _needs_numpy(problem) else []
    arguments = [_python_target(problem.target), _python_data(problem.data), f"width={problem.width}"]
    if problem.target is None or problem.activation != _implied(problem.target):
        arguments.append(f"activation={_python_activation(problem.activation)}")
    if problem.outer is not None:
        fixed = '"ones"' if np.all(problem.outer == 1) else _numbers(_single(problem.outer))
        arguments.append(f"outer={fixed}")
    if problem.norm_neuron:
        arguments.append("norm_neuron=True")
    if problem.orthogonality:
        arguments.append(f"orthogonality={problem.orthogonality!r}")
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
        if target.degree == 2:
            return _numbers(target.to_matrix())
        return f"sh.SymmetricTensor({_numbers(target.entries)}, n={target.n}, degree={target.degree})"
    weights = f"np.eye({target.n})" if np.array_equal(target.W, np.eye(target.n)) else _numbers(target.W)
    outer = "" if np.all(target.a == 1) and target.a.ndim == 1 else f"a={_numbers(target.a)}, "
    norm = f", norm={np.asarray(target.norm).tolist()!r}" if np.any(target.norm) else ""
    return f"sh.Network({weights}, {outer}activation={_python_activation(target.activation)}{norm})"


def _python_activation(activation: Activation) -> str:
    if isinstance(activation, Power):
        return f"sh.Power({activation.degree})"
    if isinstance(activation, Polynomial):
        return f"sh.Polynomial({_numbers(np.array(activation.values))})"
    if isinstance(activation, ReLU):
        return "sh.ReLU()"
    raise NoRecipe(f"the activation {activation!r} is a Python function")


def _python_data(data: InnerProduct) -> str:
    if isinstance(data, Samples):
        values = _samples(data)
        return f"sh.Samples({values['X']}" + (f", {values['y']})" if "y" in values else ")")
    if isinstance(data, Mixture):
        parts = ", ".join(_python_data(part) for part in data.parts)
        return f"sh.Mixture({_numbers(data.weights)}, [{parts}])"
    if isinstance(data, IID):
        parts_iid = _iid(data)
        if "moments" in parts_iid:
            return f"sh.IID({data.n}, {parts_iid['moments']})"
        df = f", df={parts_iid['df']}" if "df" in parts_iid else ""
        return f"sh.IID.{parts_iid['name'].strip(chr(34))}({data.n}{df})"
    if isinstance(data, Gaussian):
        extra = "".join(f", {key}={value}" for key, value in _gaussian(data).items())
        return f"sh.Gaussian({data.n}{extra})"
    if isinstance(data, Sphere):
        return f"sh.Sphere({data.n})"
    if isinstance(data, Radial):
        return f"sh.Radial({data.n}, {_numbers(np.array(data._radial))})"
    if isinstance(data, Frobenius):
        return f"sh.Frobenius({data.n})"
    if isinstance(data, Metric):
        return f"sh.Metric({data.n}, {data.degree}, {_numbers(data.gram(data.degree))})"
    raise NoRecipe(f"{data!r} has no place in a script")


def versions() -> dict[str, str]:
    """The versions that made a result: Python, the platform and the packages that compute."""
    found = {"Python": platform.python_version(), "platform": platform.platform()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # a source tree on the path, not installed
            found[name] = "not installed"
    return found
