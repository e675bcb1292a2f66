"""How the stored lists of block-symmetric critical points are made: seconds to minutes of processor time a list.

python -m shallows.questions.relu.make_symmetric_lists 3 4 5          (k of the blocks [1, k−1]; or 2+4 for [2, 4])
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from shallows.questions.relu.symmetric_chart import SymmetricChart, symmetric_chart
from shallows.questions.relu.symmetric_lists import StoredList, write_lists
from shallows.support.errors import NotConverged


def list_of(chart: SymmetricChart, sizes: Sequence[int], boxes: int) -> StoredList:
    """What is stored of a chart: isolated points, if none can be missing."""
    if "but for" in chart.scope or "not complete" in chart.scope:
        raise NotConverged(f"The search of {list(sizes)} left boxes open: {chart.scope}. Nothing is stored.")
    isolated = chart.critical.table.dimension == 0
    points = [p for p, alone in zip(chart.symmetric, isolated, strict=True) if alone]
    return StoredList(tuple(sizes), np.array([p.form.values for p in points]), boxes)


def main(names: Sequence[str]) -> None:
    """Search and store the lists of these blocks, one after the other."""
    for name in names:
        sizes = [int(part) for part in name.split("+")]
        sizes = sizes if len(sizes) > 1 else [1, sizes[0] - 1]
        chart = symmetric_chart(sum(sizes), sizes, search=True, progress=True)
        boxes = int(chart.notes[0].split()[0].replace(",", ""))
        write_lists([list_of(chart, sizes, boxes)])
        print(sizes, chart.kinds())


if __name__ == "__main__":
    main(sys.argv[1:])
