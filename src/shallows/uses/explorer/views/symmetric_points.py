"""Critical points of k ReLU neurons, without their proofs, so that nothing is imported while a slider moves.

- `SYMMETRIC`: the complete list of αI + β11ᵀ, k = 2 … 20, four of each: what `sh.relu.symmetric_chart(k, [k])` finds.
- `ONE_APART`: with one neuron apart from the others, k = 3 … 20: what `sh.relu.symmetric_chart(k, [1, k - 1])` lists
  beside these and families of parallel rows.

Rows are (loss E(f − y)², kind), by loss; the tests make the tables again.
"""

from __future__ import annotations

import json
from pathlib import Path

Points = dict[int, tuple[tuple[float, str], ...]]
#: The angle of the tube around parallel rows that the search leaves out (of `chart.scope`; the tests compare).
TUBE = 0.01
#: Points αI + β11ᵀ with distinct rows, which are in the list too: the teacher, and the network turned around.
DISTINCT = 2


def _tables() -> tuple[Points, Points]:
    stored = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    first, second = (
        {int(k): tuple((loss, kind) for loss, kind in rows) for k, rows in stored[name].items()}
        for name in ("symmetric", "one apart")
    )
    return first, second


SYMMETRIC, ONE_APART = _tables()
