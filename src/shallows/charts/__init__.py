"""Charts: results, their text, their picture, their files; no algorithms."""

from shallows.charts.file import load_chart
from shallows.charts.result import (
    Certificate,
    Chart,
    CriticalFamily,
    CriticalPoint,
    Maker,
    ParameterSignature,
    Points,
    PointTable,
    Stored,
)

__all__ = [
    "Certificate",
    "Chart",
    "CriticalFamily",
    "CriticalPoint",
    "Maker",
    "ParameterSignature",
    "PointTable",
    "Points",
    "Stored",
    "load_chart",
]
