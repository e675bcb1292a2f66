"""Problem files whose teacher is drawn from a seed: a template with other numbers, and that seed for what follows.

The numbers are rounded before they are written, so that the file holds exactly the problem that was drawn.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from shallows.support.errors import InvalidProblem

#: Digits after the point of what is written.
DIGITS = 3
COMMENT = "# of charts and training, unless --seed gives another"


def with_seed(kind: str, text: str, seed: int) -> str:
    """The template of a kind with numbers drawn from the seed; the seed is in its title and stands in the file."""
    draw = DRAWN[kind]
    for pattern, replacement in draw(np.random.default_rng(seed)).items():
        text = _put(text, pattern, replacement)
    text = _put(text, r'^title = "(.*)"$', rf'title = "\1, drawn from seed {seed}"')
    return _put(text, r"^width = ", f"seed = {seed}  {COMMENT}\nwidth = ")


def _put(text: str, pattern: str, replacement: str) -> str:
    """The text with one place changed; a template in which it is not there, or twice, is a bug."""
    changed, count = re.subn(pattern, replacement, text, flags=re.MULTILINE)
    if count != 1:
        raise InvalidProblem(f"{pattern!r} is {count} times in the template; expected once.")
    return changed


def _list(values: np.ndarray) -> str:
    """Numbers as TOML, a row a line for a table."""
    rounded = np.round(np.asarray(values, dtype=np.float64), DIGITS) + 0.0
    if rounded.ndim == 1:
        return "[" + ", ".join(repr(float(value)) for value in rounded) + "]"
    return "[\n" + "".join(f"  {_list(row)},\n" for row in rounded) + "]"


def _quadratic(rng: np.random.Generator) -> dict[str, str]:
    """A diagonal teacher with eigenvalues between 1/2 and 3, largest first."""
    return {r"^diagonal = \[.*\]$": f"diagonal = {_list(np.sort(rng.uniform(0.5, 3.0, 3))[::-1])}"}


def _relu(rng: np.random.Generator) -> dict[str, str]:
    """Six random neurons of length one; they are not orthogonal."""
    neurons = rng.standard_normal((6, 6))
    neurons /= np.linalg.norm(neurons, axis=1, keepdims=True)
    return {
        r"^# A ReLU student against an orthonormal ReLU teacher \(.*\)\.$": "# A ReLU student against a ReLU teacher "
        "of random neurons, each of length one (to three digits).",
        r"^neurons = \[\n(?:  \[.*\],\n)*\]": f"neurons = {_list(neurons)}",
    }


def _samples(rng: np.random.Generator) -> dict[str, str]:
    """Twelve Gaussian points and a random quadratic form of them, with noise of size 0.1."""
    X = np.round(rng.standard_normal((12, 2)), DIGITS)
    half = rng.standard_normal((2, 2))
    y = np.einsum("ki,ij,kj->k", X, half + half.T, X) + 0.1 * rng.standard_normal(12)
    return {r"^X = \[\[.*\]\]$": f"X = {_list(X)}", r"^y = \[.*\]$": f"y = {_list(y)}"}


def _tensor(rng: np.random.Generator) -> dict[str, str]:
    """Gaussian entries of a binary cubic."""
    return {r"^entries = \[.*\]$": f"entries = {_list(rng.standard_normal(4))}"}


DRAWN: dict[str, Callable[[np.random.Generator], dict[str, str]]] = {
    "quadratic": _quadratic,
    "relu": _relu,
    "samples": _samples,
    "tensor": _tensor,
}
