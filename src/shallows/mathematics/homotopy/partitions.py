"""The variable groups with the smallest multihomogeneous number: all partitions of few variables, a search for more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shallows.mathematics.homotopy.systems import PolynomialSystem

Partition = tuple[tuple[int, ...], ...]
#: All partitions of so many variables are tried: 203 for six.
ALL = 6
#: So many partitions are tried in a search: milliseconds each.
MOST = 1_000
#: The search starts with every variable in a group of its own up to here; the count takes 2ⁿ sums then.
SINGLE = 10


def best_groups(system: PolynomialSystem) -> tuple[list[list[str]], int]:
    """The groups and their number of paths.

    All partitions of up to six variables. Beyond that single variables are moved between groups, or out of them, while
    that helps (C. Wampler, "Bezout number calculations for multi-homogeneous polynomial systems", 1992, compares all).

    >>> from shallows.mathematics.homotopy.partitions import best_groups
    >>> best_groups(sh.homotopy.PolynomialSystem.read(["2*x + y - s*x", "x + 3*y - s*y", "x + y - 1"]))
    ([['s'], ['x', 'y']], 2)
    """
    n = system.n
    counted: dict[Partition, int] = {}

    def count(partition: Partition) -> int:
        key = tuple(sorted(partition))
        if key not in counted:
            counted[key] = system.multihomogeneous_number(_names(system, key))
        return counted[key]

    if n <= ALL:
        best = min(set_partitions(tuple(range(n))), key=lambda partition: (count(partition), len(partition)))
        return _names(system, tuple(sorted(best))), count(best)
    starts: list[Partition] = [(tuple(range(n)),)]
    if n <= SINGLE:
        starts.append(tuple((k,) for k in range(n)))
    best = starts[0]
    for partition in starts:
        while len(counted) < MOST:
            better = min(_neighbours(partition, n), key=count)
            if count(better) >= count(partition):
                break
            partition = better
        best = min(best, partition, key=count)
    return _names(system, tuple(sorted(best))), count(best)


def _names(system: PolynomialSystem, partition: Partition) -> list[list[str]]:
    return [[system.variables[k] for k in group] for group in partition]


def set_partitions(items: Sequence[int]) -> Iterator[Partition]:
    """Every partition of the items."""
    if not items:
        yield ()
        return
    first, rest = items[0], items[1:]
    for partition in set_partitions(rest):
        yield ((first,), *partition)
        for k, group in enumerate(partition):
            yield (*partition[:k], (first, *group), *partition[k + 1 :])


def _neighbours(partition: Partition, n: int) -> Iterator[Partition]:
    """One variable in another group, or in one of its own."""
    for variable in range(n):
        rest = [tuple(k for k in group if k != variable) for group in partition]
        rest = [group for group in rest if group]
        for place in range(len(rest)):
            moved = tuple(sorted((*rest[place], variable)))
            yield (*rest[:place], moved, *rest[place + 1 :])
        yield (*rest, (variable,))
