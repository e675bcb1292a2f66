"""What counting critical points on a grid will cost, before it starts.

F has degree D. Where floats decide, a point costs the D² entries of its Bezoutian and their eigenvalues; where they do
not, which is along walls, it costs an exact isolation of zeros.
"""

from __future__ import annotations

from shallows.support.budget import require

#: Seconds a point of the grid, and for each of the D³ operations on its Bezoutian; measured for D from 2 to 13.
POINT_SECONDS, ENTRY_SECONDS = 4e-6, 6e-9
#: Seconds of an exact count for each of the D zeros; measured for D from 2 to 58.
ZERO_SECONDS = 3e-4
#: Points that need an exact count, for each row and column of the grid: walls are curves (measured: up to 1.4).
ON_WALLS = 1.5
#: Bytes a point, and for each entry of a Bezoutian: the matrix and the sizes of its terms; measured.
POINT_BYTES, ENTRY_BYTES = 64, 16
FIX = "Use a lower resolution."


def require_grid(degree: int, columns: int, rows: int) -> None:
    """Refuse a grid that takes too much."""
    points, walls = float(columns) * float(rows), ON_WALLS * (float(columns) + float(rows))
    require(
        f"Counting zeros of degree {degree} on {columns:,} × {rows:,} points",
        seconds=points * (POINT_SECONDS + ENTRY_SECONDS * degree**3) + walls * ZERO_SECONDS * degree,
        size=points * (POINT_BYTES + ENTRY_BYTES * degree**2),
        fix=FIX,
    )


def require_exact(degree: int, points: int) -> None:
    """Refuse more exact counts than there is time for."""
    require(
        f"Counting zeros of degree {degree} exactly at {points:,} points, where floats do not decide,",
        seconds=points * ZERO_SECONDS * degree,
        fix=FIX,
    )
