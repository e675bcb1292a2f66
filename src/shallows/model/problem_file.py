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

import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Activation, Polynomial, Power, ReLU
from shallows.model.data.base import Distribution, InnerProduct
from shallows.model.data.gaussian import Gaussian
from shallows.model.data.iid import IID
from shallows.model.data.metric import Frobenius, Metric
from shallows.model.data.mixture import Mixture
from shallows.model.data.radial import Radial, Sphere
from shallows.model.data.samples import Samples
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.support.errors import InvalidProblem

Vector = list[float]
Matrix = list[Vector]


class Section(BaseModel):
    """A table of the file: unknown keys are errors, numbers are numbers."""

    model_config = ConfigDict(extra="forbid")


class ActivationSection(Section):
    """One of: power = d, polynomial = [c0, c1, …], relu = true."""

    power: int | None = None
    polynomial: Vector | None = None
    relu: Literal[True] | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> ActivationSection:
        _require_one(self, "power", "polynomial", "relu")
        return self

    def build(self) -> Activation:
        """The activation."""
        if self.power is not None:
            return Power(self.power)
        return ReLU() if self.polynomial is None else Polynomial(self.polynomial)


class TargetSection(Section):
    """The teacher: a diagonal, a matrix, a tensor's entries, or a network's neurons."""

    diagonal: Vector | None = None
    matrix: Matrix | None = None
    entries: Vector | None = None
    degree: int | None = None
    neurons: Matrix | None = None
    outer: Vector | Matrix | None = None
    activation: ActivationSection | None = None
    norm: float = 0.0

    @model_validator(mode="after")
    def _exactly_one(self) -> TargetSection:
        _require_one(self, "diagonal", "matrix", "entries", "neurons")
        if self.entries is not None and self.degree is None:
            raise ValueError("entries need degree = d beside them")
        if self.neurons is None and (self.outer is not None or self.activation is not None or self.norm):
            raise ValueError("outer, activation and norm go with neurons")
        return self

    def build(self, n: int) -> Network | SymmetricTensor:
        """The teacher as an object."""
        if self.diagonal is not None:
            return SymmetricTensor.from_matrix(np.diag(self.diagonal))
        if self.matrix is not None:
            return SymmetricTensor.from_matrix(self.matrix)
        if self.entries is not None:
            assert self.degree is not None
            return SymmetricTensor(np.array(self.entries), n, self.degree)
        activation = Power(2) if self.activation is None else self.activation.build()
        return Network(np.array(self.neurons), self.outer, activation, self.norm)


class GaussianSection(Section):
    """N(mean, covariance)."""

    law: Literal["gaussian"]
    n: int
    covariance: Matrix | None = None
    mean: Vector | None = None

    def build(self, folder: Path) -> Distribution:
        """The distribution."""
        return Gaussian(self.n, self.covariance, self.mean)


class IIDSection(Section):
    """Independent coordinates, by moments or by name."""

    law: Literal["iid"]
    n: int
    moments: Vector | None = None
    name: Literal["normal", "uniform", "laplace", "rademacher", "student"] | None = None
    df: float | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> IIDSection:
        _require_one(self, "moments", "name")
        if (self.name == "student") != (self.df is not None):
            raise ValueError('df goes with name = "student", and that law needs it')
        return self

    def build(self, folder: Path) -> Distribution:
        """The distribution."""
        if self.moments is not None:
            return IID(self.n, self.moments)
        if self.name == "student":
            assert self.df is not None
            return IID.student(self.n, self.df)
        return {
            "normal": IID.normal,
            "uniform": IID.uniform,
            "laplace": IID.laplace,
            "rademacher": IID.rademacher,
        }[str(self.name)](self.n)


class RadialSection(Section):
    """Rotation-invariant data; without moments, the unit sphere."""

    law: Literal["radial", "sphere"]
    n: int
    radial_moments: Vector | None = None

    def build(self, folder: Path) -> Distribution:
        """The distribution."""
        if self.law == "sphere":
            return Sphere(self.n)
        return Radial(self.n, self.radial_moments or [])


class MixtureSection(Section):
    """A mixture of other laws."""

    law: Literal["mixture"]
    weights: Vector
    parts: list[LawSection]

    def build(self, folder: Path) -> Distribution:
        """The distribution."""
        return Mixture(self.weights, [part.build(folder) for part in self.parts])


class SamplesSection(Section):
    """Samples in the file itself (X, y) or in a CSV file beside it, with the label's column name."""

    law: Literal["samples"]
    X: Matrix | None = None
    y: Vector | Matrix | None = None
    file: str | None = None
    label: str | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> SamplesSection:
        _require_one(self, "X", "file")
        return self

    def build(self, folder: Path) -> Distribution:
        """The empirical distribution."""
        if self.X is not None:
            return Samples(self.X, self.y)
        return _read_csv(folder / str(self.file), self.label)


class MetricSection(Section):
    """An inner product no data needs to induce: Frobenius, or any Gram matrix."""

    law: Literal["frobenius", "metric"]
    n: int
    degree: int | None = None
    gram: Matrix | None = None

    def build(self, folder: Path) -> InnerProduct:
        """The inner product."""
        if self.law == "frobenius":
            return Frobenius(self.n)
        if self.degree is None or self.gram is None:
            raise InvalidProblem('law = "metric" needs degree and gram.')
        return Metric(self.n, self.degree, self.gram)


LawSection = Annotated[
    GaussianSection | IIDSection | RadialSection | MixtureSection | SamplesSection, Field(discriminator="law")
]
DataSection = Annotated[
    GaussianSection | IIDSection | RadialSection | MixtureSection | SamplesSection | MetricSection,
    Field(discriminator="law"),
]
MixtureSection.model_rebuild()


class ProblemSection(Section):
    """A problem."""

    title: str = ""
    width: int
    outer: Literal["free", "ones"] | Vector | Matrix = "free"
    norm_neuron: bool = False
    orthogonality: float = 0.0
    activation: ActivationSection | None = None
    target: TargetSection | None = None
    data: DataSection

    def build(self, folder: Path) -> Problem:
        """The problem."""
        data = self.data.build(folder)
        return Problem(
            None if self.target is None else self.target.build(data.n),
            data,
            self.width,
            activation=None if self.activation is None else self.activation.build(),
            outer=self.outer,
            norm_neuron=self.norm_neuron,
            orthogonality=self.orthogonality,
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


def parse_problem(text: str, source: str = "problem file", folder: Path | None = None) -> tuple[str, Problem]:
    """The title and the problem of a TOML text; mistakes come out as one `InvalidProblem` with all of them."""
    written = parse_written(text, source, folder)
    return written.title, written.problem


def parse_written(text: str, source: str = "problem file", folder: Path | None = None) -> WrittenProblem:
    """Everything that a TOML text says."""
    try:
        section = FileSection.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InvalidProblem(f"{source} is not valid TOML: {error}") from None
    except ValidationError as error:
        lines = [f"  {_place(item)}: {item['msg']}" for item in error.errors()]
        raise InvalidProblem(f"{source} is not a problem:\n" + "\n".join(lines)) from None
    return WrittenProblem(section.title, section.build(folder or Path()), section.seed)


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


def load_written(path: str | Path) -> WrittenProblem:
    """Everything that a TOML file says."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidProblem(f"Cannot read {file}: {error.strerror or error}.") from None
    return parse_written(text, str(file), file.parent)


def embedded_problem(name: str) -> tuple[str, Problem]:
    """Title and problem of an example that ships with the package."""
    written = embedded_written(name)
    return written.title, written.problem


def embedded_written(name: str) -> WrittenProblem:
    """An example that ships with the package, as a file would have it."""
    file = resources.files("shallows.model") / "examples" / f"{name}.toml"
    return parse_written(file.read_text(encoding="utf-8"), f"{name}.toml")


def _require_one(section: Section, *names: str) -> None:
    given = [name for name in names if getattr(section, name) is not None]
    if len(given) != 1:
        raise ValueError(f"give exactly one of {', '.join(names)}; {', '.join(given) or 'none'} was given")


def _place(item: Any) -> str:
    return ".".join(str(part) for part in item["loc"]) or "file"


def _read_csv(file: Path, label: str | None) -> Samples:
    """Numbers with a header line; the label column is y, the others are X."""
    try:
        with file.open(encoding="utf-8") as stream:
            names = stream.readline().strip().split(",")
            values = np.loadtxt(stream, delimiter=",", ndmin=2)
    except (OSError, ValueError) as error:
        raise InvalidProblem(f"Cannot read numbers from {file}: {error}.") from None
    if label is None:
        return Samples(values)
    if label not in names:
        raise InvalidProblem(f"{file} has no column {label!r}; its columns are {', '.join(names)}.")
    column = names.index(label)
    return Samples(np.delete(values, column, axis=1), values[:, column])
