"""Rows of a chart that were found one by one, as its points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.problem import Problem
from shallows.questions.charts.points.point import Certificate, Points, PointTable, Stored
from shallows.support.checks import Array


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
    family: tuple[str, tuple[SymmetricTensor, ...]] | None = None


def points_in_order(
    problem: Problem | None,
    rows: Sequence[ChartRow],
    networks: Callable[[list[Any]], Sequence[Any]] = list,
) -> Points:
    """The points of a chart from its rows, as they are sorted; `networks` makes those that were not made yet."""
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
        networks([row.network for row in rows]),
        [row.certificate for row in rows],
        [row.escape for row in rows],
        {place: row.family for place, row in enumerate(rows) if row.family is not None},
    )
    return Points(table, maker, problem)


def points_of_rows(
    problem: Problem,
    rows: Sequence[Any],
    excess: Array,
    floor: float,
    kind: NDArray[np.str_],
    tensors: Sequence[SymmetricTensor | None],
    families: Mapping[int, tuple[str, tuple[SymmetricTensor, ...]]],
) -> Points:
    """The points of a chart, by loss, then by rank.

    Rows have network, rank, signature, dimension and certificate; `families` are by a row's number.
    """
    order = np.lexsort(([row.rank for row in rows], excess)).tolist()
    return points_in_order(
        problem,
        [
            ChartRow(
                rows[i].network,
                float(excess[i] + floor),
                rows[i].rank,
                rows[i].signature,
                str(kind[i]),
                rows[i].certificate,
                rows[i].dimension,
                tensor=tensors[i],
                family=families.get(i),
            )
            for i in order
        ],
    )


def isolated(rows: Iterable[Any], ranks: Iterable[int]) -> dict[int, int]:
    """How many rows of each rank are points, and no families."""
    points = [row.rank for row in rows if not row.dimension]
    return {rank: points.count(rank) for rank in ranks}
