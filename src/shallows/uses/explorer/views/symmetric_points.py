"""The complete list of critical points αI + β11ᵀ of k ReLU neurons, k = 2 … 20: four of each, proved.

What `sh.relu.symmetric_chart(k, [k])` finds, without its proofs, so that nothing is imported while a slider moves; the
tests make the table again. Rows are (loss E(f − y)², kind), by loss.
"""

from __future__ import annotations

SYMMETRIC: dict[int, tuple[tuple[float, str], ...]] = {
    2: (
        (0.0, "global minimum"),
        (0.0, "global minimum"),
        (0.1770238733, "saddle"),
        (1.313643646, "saddle"),
    ),
    3: (
        (0.0, "global minimum"),
        (0.04824732741, "saddle"),
        (0.4847100605, "saddle"),
        (2.422924363, "saddle"),
    ),
    4: (
        (0.0, "global minimum"),
        (0.0753055414, "saddle"),
        (0.9428329386, "saddle"),
        (3.814815187, "saddle"),
    ),
    5: (
        (0.0, "global minimum"),
        (0.09541675576, "saddle"),
        (1.560152995, "saddle"),
        (5.481169945, "saddle"),
    ),
    6: (
        (0.0, "global minimum"),
        (0.1113371626, "local minimum"),
        (2.342546296, "saddle"),
        (7.416282975, "saddle"),
    ),
    7: (
        (0.0, "global minimum"),
        (0.1244219615, "local minimum"),
        (3.294362513, "saddle"),
        (9.615871122, "saddle"),
    ),
    8: (
        (0.0, "global minimum"),
        (0.1354633827, "local minimum"),
        (4.4190016, "saddle"),
        (12.07656581, "saddle"),
    ),
    9: (
        (0.0, "global minimum"),
        (0.1449666146, "local minimum"),
        (5.719219744, "saddle"),
        (14.79562762, "saddle"),
    ),
    10: (
        (0.0, "global minimum"),
        (0.153273324, "local minimum"),
        (7.197311423, "saddle"),
        (17.77077183, "saddle"),
    ),
    11: (
        (0.0, "global minimum"),
        (0.1606250251, "local minimum"),
        (8.855226117, "saddle"),
        (21.00005504, "saddle"),
    ),
    12: (
        (0.0, "global minimum"),
        (0.1671984861, "local minimum"),
        (10.69464727, "saddle"),
        (24.48179778, "saddle"),
    ),
    13: (
        (0.0, "global minimum"),
        (0.173126795, "local minimum"),
        (12.71704797, "saddle"),
        (28.21452969, "saddle"),
    ),
    14: (
        (0.0, "global minimum"),
        (0.1785125267, "local minimum"),
        (14.92373148, "saddle"),
        (32.19694941, "saddle"),
    ),
    15: (
        (0.0, "global minimum"),
        (0.1834363155, "local minimum"),
        (17.31586165, "saddle"),
        (36.42789449, "saddle"),
    ),
    16: (
        (0.0, "global minimum"),
        (0.1879626261, "local minimum"),
        (19.89448614, "saddle"),
        (40.90631832, "saddle"),
    ),
    17: (
        (0.0, "global minimum"),
        (0.1921437542, "local minimum"),
        (22.66055456, "saddle"),
        (45.63127204, "saddle"),
    ),
    18: (
        (0.0, "global minimum"),
        (0.1960226677, "local minimum"),
        (25.61493295, "saddle"),
        (50.60189026, "saddle"),
    ),
    19: (
        (0.0, "global minimum"),
        (0.1996350697, "local minimum"),
        (28.75841529, "saddle"),
        (55.81737944, "saddle"),
    ),
    20: (
        (0.0, "global minimum"),
        (0.2030109249, "local minimum"),
        (32.09173305, "saddle"),
        (61.27700851, "saddle"),
    ),
}
