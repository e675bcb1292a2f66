"""Rows of a chart that were found one by one, as its points: by loss, then by rank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.problem import Problem
from shallows.questions.charts.points.point import Points, PointTable, Stored
from shallows.support.checks import Array


def points_of_rows(
    problem: Problem,
    rows: Sequence[Any],
    excess: Array,
    floor: float,
    kind: NDArray[np.str_],
    tensors: Sequence[SymmetricTensor | None],
    families: Mapping[int, tuple[str, tuple[SymmetricTensor, ...]]],
) -> Points:
    """The points of a chart; rows have network, rank, signature, dimension and certificate, families a row's number."""
    rank = np.array([row.rank for row in rows], dtype=np.intp)
    dimension = np.array([row.dimension for row in rows], dtype=np.intp)
    signature = np.array([row.signature for row in rows], dtype=np.intp).reshape(-1, 3)
    order = np.lexsort((rank, excess)).tolist()
    maker = Stored(
        [tensors[i] for i in order],
        [rows[i].network for i in order],
        [rows[i].certificate for i in order],
        [None] * len(rows),
        {place: families[i] for place, i in enumerate(order) if i in families},
    )
    table = PointTable((excess + floor)[order], rank[order], signature[order], kind[order], dimension[order])
    return Points(table, maker, problem)


def isolated(rows: Iterable[Any], ranks: Iterable[int]) -> dict[int, int]:
    """How many rows of each rank are points, and no families."""
    points = [row.rank for row in rows if not row.dimension]
    return {rank: points.count(rank) for rank in ranks}
