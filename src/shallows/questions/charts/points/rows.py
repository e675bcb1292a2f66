"""Rows of a chart that were found one by one, as its points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.points.point import Certificate, Points, PointTable, Stored
from shallows.support.checks import Array

#: What a family is, in words, and some of its tensors.
About = tuple[str, tuple[SymmetricTensor, ...]]


@runtime_checkable
class Lifts(Protocol):
    """What makes a network when it is asked for one: a million weights for a handful of numbers."""

    def network(self) -> Network:
        """The network."""
        ...


def made(item: Any) -> Any:
    """The network, made if it was not."""
    return item.network() if isinstance(item, Lifts) else item


class _Networks(Sequence[Any]):
    """Networks, each made when it is looked at."""

    def __init__(self, given: Sequence[Any]) -> None:
        self.given = tuple(given)

    def __len__(self) -> int:
        return len(self.given)

    def __getitem__(self, i: Any) -> Any:
        return made(self.given[i])


@dataclass(frozen=True, eq=False)
class ChartRow:
    """A point, or a family of this dimension with what it is in words and some of its tensors."""

    network: Any
    loss: float
    rank: int
    signature: tuple[int, int, int]
    kind: str
    certificate: Certificate | None = None
    dimension: int = 0
    limit: bool = False
    tensor: SymmetricTensor | None = None
    escape: SymmetricTensor | None = None
    family: About | None = None


@dataclass(frozen=True, eq=False)
class FoundRow:
    """A critical network of some stratum, and the `entries` that the loss is a quadratic function of.

    `kind` is "" where it is still to be told; `family` are words and some tensors where there is one.
    """

    entries: Array
    network: Any
    rank: int
    signature: tuple[int, int, int]
    kind: str = ""
    certificate: Certificate | None = None
    dimension: int = 0
    family: About | None = None
    limit: bool = False
    escape: SymmetricTensor | None = None

    def __repr__(self) -> str:
        return f"FoundRow(rank {self.rank}, signature {self.signature}, dimension {self.dimension})"


def points_in_order(problem: Problem | None, rows: Sequence[ChartRow]) -> Points:
    """The points of a chart from its rows, as they are sorted; networks are made when they are looked at."""
    table = PointTable(
        np.array([row.loss for row in rows], dtype=np.float64),
        np.array([row.rank for row in rows], dtype=np.intp),
        np.array([row.signature for row in rows], dtype=np.intp).reshape(-1, 3),
        np.array([row.kind for row in rows], dtype="<U14"),
        np.array([row.dimension for row in rows], dtype=np.intp),
        np.array([row.limit for row in rows], dtype=bool),
    )
    maker = Stored(
        [row.tensor for row in rows],
        _Networks([row.network for row in rows]),
        [row.certificate for row in rows],
        [row.escape for row in rows],
        {place: row.family for place, row in enumerate(rows) if row.family is not None},
    )
    return Points(table, maker, problem)


def in_order(
    rows: Sequence[FoundRow],
    excess: Array,
    floor: float,
    kind: NDArray[np.str_],
    tensors: Sequence[SymmetricTensor | None],
) -> list[ChartRow]:
    """Rows of a chart, by loss, then by rank: the loss is the excess above the floor."""
    order: list[int] = np.lexsort((np.array([row.rank for row in rows]), excess)).tolist()
    return [
        ChartRow(
            rows[i].network,
            float(excess[i] + floor),
            rows[i].rank,
            rows[i].signature,
            str(kind[i]),
            rows[i].certificate,
            rows[i].dimension,
            rows[i].limit,
            tensors[i],
            rows[i].escape,
            rows[i].family,
        )
        for i in order
    ]


def attained(rows: Sequence[ChartRow], known: bool = True) -> bool | None:
    """Whether a network is among the global minima, and not limits alone; None without any, and where limits are the
    lowest of which it is not `known` that no network is as low."""
    least = [row.limit for row in rows if row.kind == "global minimum"]
    return True if not all(least) else False if least and known else None


def isolated(rows: Iterable[Any], ranks: Iterable[int]) -> dict[int, int]:
    """How many rows of each rank are points, and no families."""
    points = [row.rank for row in rows if not row.dimension]
    return {rank: points.count(rank) for rank in ranks}
