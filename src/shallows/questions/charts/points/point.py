"""What a chart lists: critical points and families of them, each made when somebody looks at it, and what is proved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.network import Network
from shallows.questions.charts.points.parameter_space import ParameterSignature, parameter_signature
from shallows.support.checks import Array, counted
from shallows.support.errors import InvalidProblem, NotDifferentiable

if TYPE_CHECKING:
    from shallows.model.problem import Problem
    from shallows.questions.charts.critical_sets import CriticalSet


@dataclass(frozen=True)
class Certificate:
    """What is proved in ball or exact arithmetic about one critical point; its absence claims nothing.

    radius: a true critical point lies within this distance of each entry of `point.tensor`.

    >>> problem = sh.Problem(np.diag([3.0, 1.0]), sh.Gaussian(2), width=1)
    >>> sh.chart(problem).minimum.certificate
    Certificate(radius ..., signature certified, rank certified; eigenvalue enclosures (Theorems 34, 35))
    >>> sh.chart(problem, certify=False).minimum.certificate is None
    True
    """

    radius: float
    signature_certified: bool
    rank_certified: bool
    method: str

    def __repr__(self) -> str:
        signature, rank = (
            "certified" if proved else "not proved"
            for proved in (self.signature_certified, self.rank_certified)
        )
        return f"Certificate(radius {self.radius:.2g}, signature {signature}, rank {rank}; {self.method})"


#: Of points that are known exactly, such as the zero network.
EXACT = Certificate(0.0, True, True, "exact")


class Maker(Protocol):
    """Makes the parts of point i of a table when somebody looks at them."""

    def tensor(self, i: int) -> SymmetricTensor:
        """The point in Sym^d(R^n)."""
        ...

    def network(self, i: int) -> Network:
        """A network of the problem that realises it."""
        ...

    def certificate(self, i: int) -> Certificate | None:
        """What is proved about it."""
        ...

    def escape(self, i: int) -> SymmetricTensor | None:
        """A realisable first-order descent direction off the stratum, if there is one."""
        ...

    def family(self, i: int) -> tuple[str, tuple[SymmetricTensor, ...]]:
        """Where row i is a family: what it is, in words, and some of its tensors."""
        ...


@dataclass(frozen=True)
class Reread(ABC):
    """A maker of the points of another problem, whose tensors (`read`) and networks are read as those of this one."""

    inner: Maker

    def read(self, tensor: SymmetricTensor) -> SymmetricTensor:
        """The other problem's tensor in this one: the same, unless told."""
        return tensor

    def tensor(self, i: int) -> SymmetricTensor:
        """The point."""
        return self.read(self.inner.tensor(i))

    @abstractmethod
    def network(self, i: int) -> Network:
        """A network of this problem that realises it."""

    def certificate(self, i: int) -> Certificate | None:
        """What is proved about it."""
        return self.inner.certificate(i)

    def escape(self, i: int) -> SymmetricTensor | None:
        """A realisable first-order descent direction off the stratum, if there is one."""
        given = self.inner.escape(i)
        return None if given is None else self.read(given)

    def family(self, i: int) -> tuple[str, tuple[SymmetricTensor, ...]]:
        """Where row i is a family: what it is, in words, and some of its tensors."""
        text, samples = self.inner.family(i)
        return text, tuple(self.read(sample) for sample in samples)


@dataclass(frozen=True)
class Stored:
    """A maker of points that are all there already."""

    tensors: Sequence[SymmetricTensor | None]
    networks: Sequence[Any]
    certificates: Sequence[Certificate | None]
    escapes: Sequence[SymmetricTensor | None]
    families: Mapping[int, tuple[str, tuple[SymmetricTensor, ...]]] = field(default_factory=dict)

    def tensor(self, i: int) -> SymmetricTensor:
        """The point in Sym^d(R^n)."""
        tensor = self.tensors[i]
        if tensor is None:
            raise InvalidProblem(
                "The point is no tensor, or several, one an output: use point.tensors, or point.network."
            )
        return tensor

    def network(self, i: int) -> Any:
        """A network of the problem that realises it."""
        return self.networks[i]

    def certificate(self, i: int) -> Certificate | None:
        """What is proved about it."""
        return self.certificates[i]

    def escape(self, i: int) -> SymmetricTensor | None:
        """A realisable first-order descent direction off the stratum, if there is one."""
        return self.escapes[i]

    def family(self, i: int) -> tuple[str, tuple[SymmetricTensor, ...]]:
        """Where row i is a family: what it is, in words, and some of its tensors."""
        return self.families[i]


@dataclass(frozen=True)
class PointTable:
    """The numbers of all points and families, one row each, sorted by loss; `dimension` is 0 for a point.

    `limit` says which of them are limits that no network of the problem attains; none, if it is not given.
    """

    loss: Array
    rank: NDArray[np.intp]
    signature: NDArray[np.intp]
    kind: NDArray[np.str_]
    dimension: NDArray[np.intp]
    limit: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))

    def __post_init__(self) -> None:
        if len(self.limit) != len(self.loss):
            object.__setattr__(self, "limit", np.zeros(len(self.loss), bool))

    def rows(self, chosen: NDArray[np.intp]) -> PointTable:
        """Some of the rows."""
        return PointTable(
            self.loss[chosen],
            self.rank[chosen],
            self.signature[chosen],
            self.kind[chosen],
            self.dimension[chosen],
            self.limit[chosen],
        )

    def __len__(self) -> int:
        return len(self.loss)

    def __repr__(self) -> str:
        losses = f", losses {self.loss[0]:.8g} to {self.loss[-1]:.8g}" if len(self) else ""
        return f"PointTable({counted(len(self), 'point')}{losses})"


class CriticalPoint:
    """A critical point of the loss in function space, on the tensors of one rank (paper 000, equation 20).

    At degree 2 that is ∇ℓ(S)·S = 0 (Prop. 29); `network` realises it with ∇L = 0 (Corollary 31). `signature`
    (positive, zero, negative) and `index` are of the Hessian on the rank stratum; `kind` is judged in the problem's
    own function space: a point of lower rank can be a saddle by a direction off its stratum, which `escape` then
    gives. `limit`: no network of the problem has this tensor, only limits of networks whose outer weights grow while
    neurons merge; its stratum is that of such limits.

    >>> chart = sh.chart(sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Gaussian(3), width=2))
    >>> chart.points[1]                         # keeps 3 and 1 of the eigenvalues, plus 2/(r+2) (Theorem 35)
    CriticalPoint(saddle, loss=10, rank=2, signature=(4, 0, 1))
    >>> np.diag(chart.points[1].tensor.to_array())
    array([3.5, 0. , 1.5])
    >>> chart.points[2].escape is not None      # rank one: a saddle, although a minimum among its rank
    True
    """

    def __init__(
        self,
        loss: float,
        rank: int,
        signature: tuple[int, int, int],
        kind: str,
        dimension: int,
        made_by: tuple[Maker, int],
        problem: Problem | None,
        limit: bool = False,
    ) -> None:
        self.loss, self.rank, self.signature, self.kind = loss, rank, signature, kind
        self.dimension, self.limit = dimension, limit
        self._maker, self._place = made_by
        self._problem = problem

    @property
    def index(self) -> int:
        """The number of negative directions on the rank stratum."""
        return self.signature[2]

    @cached_property
    def tensor(self) -> SymmetricTensor:
        """The point in Sym^d(R^n)."""
        return self._maker.tensor(self._place)

    @cached_property
    def tensors(self) -> tuple[SymmetricTensor, ...]:
        """The point's tensors, one an output."""
        if self.network.outputs == 1:
            return (self.tensor,)
        return tuple(self.network.output(m).tensor() for m in range(self.network.outputs))

    @cached_property
    def network(self) -> Network:
        """A network of the problem that realises it, at which the parameter gradient vanishes (Cor. 31).

        For a limit, which none realises, a network near it, with large outer weights that nearly cancel.
        """
        return self._maker.network(self._place)

    @cached_property
    def certificate(self) -> Certificate | None:
        """What is proved about this point, or None."""
        return self._maker.certificate(self._place)

    @cached_property
    def escape(self) -> SymmetricTensor | None:
        """For a saddle of rank < width: a realisable direction in which the loss decreases to first order."""
        return self._maker.escape(self._place)

    @cached_property
    def parameter_signature(self) -> ParameterSignature | None:
        """The Hessian's signature at `network` in parameter space, with its flat directions explained.

        None where there is no Hessian (a ReLU neuron is zero), no network (a limit), or no problem (the file of a chart
        did not hold it).
        """
        if self._problem is None or self.limit:
            return None
        with suppress(NotDifferentiable):
            return parameter_signature(self._problem, self.network)
        return None

    def __repr__(self) -> str:
        limit = ", a limit" if self.limit else ""
        numbers = f"loss={self.loss:.8g}, rank={self.rank}, signature={self.signature}"
        return f"CriticalPoint({self.kind}{limit}, {numbers})"


class CriticalFamily(CriticalPoint):
    """A positive-dimensional set of critical points: all it says of a point it says of each of them.

    `dimension` is that of the set, and as many of the zeros in `signature` are its own directions; `tensor` and
    `network` are one of its points, `samples` are a few. Where eigenvalues of the teacher coincide, Theorems 34 and 35
    of paper 000 leave a choice of eigenvectors:

    >>> chart = sh.chart(sh.Problem(np.eye(3), sh.Frobenius(3), width=1))       # every uuᵀ, ‖u‖ = 1, is critical
    >>> chart.minimum
    CriticalFamily(global minimum, loss=2, rank=1, signature=(1, 2, 0), dimension=2: eigenvalues 1 kept, of which some
    are repeated: a product of Grassmannians)
    """

    @cached_property
    def _about(self) -> tuple[str, tuple[SymmetricTensor, ...]]:
        return self._maker.family(self._place)

    @property
    def description(self) -> str:
        """What the set is, in words."""
        return self._about[0]

    @property
    def samples(self) -> tuple[SymmetricTensor, ...]:
        """Some of its tensors."""
        return self._about[1]

    @cached_property
    def components(self) -> tuple[CriticalSet, ...]:
        """The irreducible sets over the complex numbers whose real points it is made of, with dimension and degree.

        For powers of any degree, several outputs, norm neuron, penalty and bias: by monodromy from its network,
        confirmed by trace tests, numerical (`sh.geometry.critical_set` says more). Other activations raise
        `InvalidProblem`, and so do limits, which no network attains: these have a dimension, and no degree.

        >>> sh.chart(sh.Problem(np.eye(3), sh.Frobenius(3), width=1)).minimum.components
        (CriticalSet(rank 1, loss 2, dimension 2, degree 4),)
        """
        from shallows.questions.charts.family_components import sets_of_family

        if self._problem is None:
            raise InvalidProblem("the chart has no problem. Fix: load_chart(path, problem)")
        if self.limit:
            raise InvalidProblem(
                "the family consists of limits that no network attains, and its components are not computed. Fix: "
                "family.dimension and family.samples"
            )
        samples = self.samples if self.network.outputs == 1 else ()
        return sets_of_family(self._problem, self.network, self.dimension, samples)

    def __repr__(self) -> str:
        kind = f"{self.kind}, limits" if self.limit else self.kind
        return (
            f"CriticalFamily({kind}, loss={self.loss:.8g}, rank={self.rank}, signature={self.signature}, "
            f"dimension={self.dimension}: {self.description})"
        )


class Points(Sequence[CriticalPoint]):
    """Critical points and families sorted by loss; each is made when it is asked for.

    `places` says which rows of the maker these are; all of them when it is not given.
    """

    def __init__(
        self,
        table: PointTable,
        maker: Maker,
        problem: Problem | None,
        places: NDArray[np.intp] | None = None,
    ) -> None:
        self.table, self.maker, self._problem = table, maker, problem
        self.places = np.arange(len(table)) if places is None else places
        self._known: dict[int, CriticalPoint] = {}

    def where(self, chosen: NDArray[np.bool_]) -> Points:
        """Those rows that are chosen."""
        rows = np.flatnonzero(chosen)
        return Points(self.table.rows(rows), self.maker, self._problem, self.places[rows])

    def __len__(self) -> int:
        return len(self.table)

    @overload
    def __getitem__(self, key: int) -> CriticalPoint: ...
    @overload
    def __getitem__(self, key: slice) -> list[CriticalPoint]: ...
    def __getitem__(self, key: int | slice) -> CriticalPoint | list[CriticalPoint]:
        if isinstance(key, slice):
            return [self[i] for i in range(*key.indices(len(self)))]
        place = range(len(self))[key]
        if place not in self._known:
            row = self.table
            positive, zero, negative = (int(x) for x in row.signature[place])
            made = CriticalFamily if row.dimension[place] else CriticalPoint
            self._known[place] = made(
                float(row.loss[place]),
                int(row.rank[place]),
                (positive, zero, negative),
                str(row.kind[place]),
                int(row.dimension[place]),
                (self.maker, int(self.places[place])),
                self._problem,
                bool(row.limit[place]),
            )
        return self._known[place]

    def __iter__(self) -> Iterator[CriticalPoint]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'critical point')}>"
