"""Problem files: a `Problem` written down in TOML, checked before anything is built.

width = 1
seed = 5            # of charts and training; 0 if left out

[target]
diagonal = [2.0, 1.5, 1.0]

[data]
law = "iid"
n = 3
moments = [1, 0, 1, 0, 30]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import resources
from inspect import signature
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Activation, Power
from shallows.model.data.base import InnerProduct
from shallows.model.data.samples import Samples
from shallows.model.laws import activations, laws
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.support.arguments import typed
from shallows.support.checks import counted
from shallows.support.errors import InvalidProblem
from shallows.support.tables import Section, checked, require_one, tables_of, text_of

Vector = list[float]
Matrix = list[Vector]
#: How the content of a file that a problem names is read.
Read = Callable[[str], bytes]


def _checked_activation(table: dict[str, Any]) -> dict[str, Any]:
    """{ name = argument } or, for one without arguments, { name = true }, the name in small letters."""
    known = activations()
    if len(table) != 1 or next(iter(table)) not in known:
        raise ValueError(f"give exactly one of {', '.join(known)}; {', '.join(table) or 'none'} was given")
    (name, value) = next(iter(table.items()))
    if not signature(known[name]).parameters and value is not True:
        raise ValueError(f"{name} takes no argument: {name} = true")
    return table


def _activation(table: dict[str, Any]) -> Activation:
    ((name, value),) = table.items()
    kind: Callable[..., Activation] = activations()[name]
    return kind(value) if signature(kind).parameters else kind()


def _checked_law(table: dict[str, Any]) -> dict[str, Any]:
    """`law`, and the arguments of its constructor under their names; `name` is a class method, as in IID.laplace."""
    title, kind = f"law = {table.get('law')!r}", laws().get(str(table.get("law")))
    if kind is None:
        raise ValueError(f"{title}: expected one of {', '.join(laws())}")
    if kind is Samples and "file" in table:
        return table
    given = {key for key in table if key not in ("law", "name")}
    named = f"; or name = one of {', '.join(kind.constructors)}" if kind.constructors else ""
    if "name" in table and table["name"] not in kind.constructors:
        raise ValueError(f"{title}: name is {table['name']!r}{named}")
    arguments = signature(_constructor(table)).parameters
    missing = [key for key, p in arguments.items() if p.default is p.empty and key not in given]
    if missing:
        raise ValueError(f"{title} needs {' and '.join(missing)}{'' if 'name' in table else named}")
    unknown = sorted(given - set(arguments))
    if unknown:
        raise ValueError(f"{title}: unknown {', '.join(unknown)}; expected {', '.join(arguments)}")
    for part in table.get("parts", ()):
        _checked_law(part)
    return table


def _constructor(table: dict[str, Any]) -> Callable[..., InnerProduct]:
    kind = laws()[table["law"]]
    return getattr(kind, table["name"]) if "name" in table else kind


def _law(table: dict[str, Any], read: Read) -> InnerProduct:
    """The law of a checked table; samples may be in a CSV file beside the problem file."""
    if "file" in table:
        name = str(table["file"])
        return _read_csv(name, read(name), table.get("label"), table.get("weight"))
    arguments = {key: value for key, value in table.items() if key not in ("law", "name")}
    if "parts" in arguments:
        arguments["parts"] = [_law(part, read) for part in arguments["parts"]]
    return _constructor(table)(**arguments)


ActivationTable = Annotated[dict[str, Any], AfterValidator(_checked_activation)]
LawTable = Annotated[dict[str, Any], AfterValidator(_checked_law)]


class TargetSection(Section):
    """The teacher: a diagonal, a matrix, a tensor's entries, or a network's neurons."""

    diagonal: Vector | None = None
    matrix: Matrix | None = None
    entries: Vector | None = None
    degree: int | None = None
    neurons: Matrix | None = None
    outer: Vector | Matrix | None = None
    activation: ActivationTable | None = None
    norm: float = 0.0
    bias: Vector | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> TargetSection:
        require_one(self, "diagonal", "matrix", "entries", "neurons")
        if self.entries is not None and self.degree is None:
            raise ValueError("entries need degree = d beside them")
        extras = (self.outer, self.activation, self.norm or None, self.bias)
        if self.neurons is None and any(extra is not None for extra in extras):
            raise ValueError("outer, activation, norm and bias go with neurons")
        return self

    def build(self, n: int) -> Network | SymmetricTensor:
        """The teacher as an object, for n inputs; entries may be those of a tensor in n + 1, the constant first."""
        if self.diagonal is not None:
            return SymmetricTensor.from_matrix(np.diag(self.diagonal))
        if self.matrix is not None:
            return SymmetricTensor.from_matrix(self.matrix)
        if self.entries is not None:
            assert self.degree is not None
            lifted = len(self.entries) == coordinates.dimension(n + 1, self.degree)
            return SymmetricTensor(np.array(self.entries), n + lifted, self.degree)
        activation = Power(2) if self.activation is None else _activation(self.activation)
        return Network(np.array(self.neurons), self.outer, activation, self.norm, self.bias)


class ProblemSection(Section):
    """A problem."""

    title: str = ""
    width: int
    outer: Literal["free", "ones"] | Vector | Matrix = "free"
    norm_neuron: bool = False
    orthogonality: float = 0.0
    bias: bool = False
    activation: ActivationTable | None = None
    target: TargetSection | None = None
    data: LawTable

    def build(self, read: Read) -> Problem:
        """The problem; `read` gives the content of the files that it names."""
        data = _law(self.data, read)
        return Problem(
            None if self.target is None else self.target.build(data.n),
            data,
            self.width,
            activation=None if self.activation is None else _activation(self.activation),
            outer=self.outer,
            norm_neuron=self.norm_neuron,
            orthogonality=self.orthogonality,
            bias=self.bias,
        )


class FileSection(ProblemSection):
    """A whole problem file: a problem, and the seed of what is done with it."""

    seed: int = Field(0, ge=0)


@dataclass(frozen=True)
class WrittenProblem:
    """What a problem file says: `seed` is that of charts and training when no other is given."""

    title: str
    problem: Problem
    seed: int

    def with_seed(self, seed: int | None) -> WrittenProblem:
        """With this seed instead of the file's, if there is one."""
        return self if seed is None else replace(self, seed=seed)


def parse_written(text: str, source: str = "problem file", folder: Path | None = None) -> WrittenProblem:
    """Everything that a TOML text says; mistakes come out as one `InvalidProblem` with all of them."""
    section = checked(FileSection, tables_of(text, source), f"{source} is not a problem")
    return WrittenProblem(section.title, section.build(_beside(folder or Path())), section.seed)


@typed
def load_problem(path: str | Path) -> Problem:
    """The problem written in a TOML file; `examples/` has one of each kind.

    >>> import pathlib, tempfile
    >>> text = '''
    ... width = 1
    ... target = { diagonal = [2.0, 1.5, 1.0] }
    ... data = { law = "iid", n = 3, moments = [1, 0, 1, 0, 30] }
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "heavy-tailed.toml"
    ...     _ = file.write_text(text)
    ...     sh.load_problem(file).data
    IID(3, moments=[1.0, 0.0, 1.0, 0.0, 30.0])
    """
    return load_written(path).problem


def load_written(path: str | Path, seed: int | None = None) -> WrittenProblem:
    """Everything that a TOML file says, or another seed."""
    return parse_written(text_of(path), str(path), Path(path).parent).with_seed(seed)


def embedded_written(name: str, seed: int | None = None) -> WrittenProblem:
    """An example that ships with the package, as a file would have it, or with another seed."""
    file = resources.files("shallows.model") / "examples" / f"{name}.toml"
    return parse_written(file.read_text(encoding="utf-8"), f"{name}.toml").with_seed(seed)


def _beside(folder: Path) -> Read:
    """Files in a folder."""

    def read(name: str) -> bytes:
        try:
            return (folder / name).read_bytes()
        except OSError as error:
            raise InvalidProblem(f"Cannot read {folder / name}: {error.strerror or error}.") from None

    return read


def _read_csv(name: str, content: bytes, label: str | list[str] | None, weight: str | None = None) -> Samples:
    """Numbers with a header line; the label columns are y, the weight column weights, the others are X."""
    try:
        header, _, body = content.decode("utf-8-sig").partition("\n")
        if not body.strip():
            raise ValueError("there are no rows under the header line")
        values = np.loadtxt(StringIO(body), delimiter=",", ndmin=2, comments=None)
    except ValueError as error:
        raise InvalidProblem(f"Cannot read numbers from {name}: {error}.") from None
    names = [column.strip() for column in header.strip().split(",")]
    if len(names) != values.shape[1]:
        raise InvalidProblem(
            f"{name} has {counted(len(names), 'name')} in its header and {values.shape[1]} in its rows: a column is "
            "missing, or has no name."
        )
    several = [] if label is None else [label] if isinstance(label, str) else label
    special = [*several, *([] if weight is None else [weight])]
    for wanted in special:
        if names.count(wanted) != 1:
            found = "no" if wanted not in names else "more than one"
            raise InvalidProblem(f"{name} has {found} column {wanted!r}; its columns are {', '.join(names)}.")
    columns = [names.index(wanted) for wanted in special]
    y = values[:, columns[: len(several)]] if several else None
    X = np.delete(values, columns, axis=1)
    weights = None if weight is None else values[:, names.index(weight)]
    return Samples(X, y[:, 0] if y is not None and len(several) == 1 else y, weights)
