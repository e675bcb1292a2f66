"""Interval branch and prune: all zeros of a system in a region, by exclusion, contraction, proof and bisection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exclusion.intervals import Intervals
from shallows.mathematics.exclusion.newton import ROOMS, Round, examine, whole
from shallows.mathematics.exclusion.result import Exclusion, volumes
from shallows.mathematics.exclusion.system import Polynomials, System, check_enclosure
from shallows.support.arguments import typed
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem, NotConverged
from shallows.support.progress import Progress, Shown
from shallows.support.tolerances import TINY

#: Boxes that are worked on at once: some megabytes of arrays, and Python's own time is small beside NumPy's.
BATCH = 8192
#: Boxes narrower than this share of the region, in all unknowns, stay undecided: zeros that are not simple.
RESOLUTION = 1e-7
#: Open boxes up to which the widest come first, where that is asked for: 20 MB of them at six unknowns.
OPEN = 200_000
#: Boxes after which a search stops; the rest is pending.
MOST = 3_000_000
#: A contraction to less than this share of a box's volume is worth another one before the box is bisected.
WORTHWHILE = 0.5
#: Undecided boxes up to which their clusters are tried as a whole: more are a set of zeros, not a few.
CLUSTERED = 4096
#: Steps of the progress bar.
STEPS = 1000
#: How far the measure of a round's boxes may be from that of what they were cut into: rounding is below 1e-12 of it,
#: and a half that is lost of one of 8,192 boxes of a size is more.
LOST = 1e-9


@dataclass(eq=False)
class _State:
    """Stacks of boxes."""

    region: Intervals
    split: tuple[int, ...]
    pending: list[Intervals]
    found: list[tuple[Intervals, Intervals]] = field(default_factory=list)
    undecided: list[Intervals] = field(default_factory=list)
    excused: list[Intervals] = field(default_factory=list)
    boxes: int = 0
    widest: bool = False

    def pop(self) -> Intervals:
        """Up to a batch of the boxes that came last: depth first, so that few are open at once; or of the first."""
        taken: list[Intervals] = []
        first = self.widest and sum(map(len, self.pending)) < OPEN
        while self.pending and sum(map(len, taken)) < BATCH:
            taken.append(self.pending.pop(0 if first else -1))
        whole = _joined(taken, self.region)
        if len(whole) > BATCH:
            self.pending.insert(0 if first else len(self.pending), whole[BATCH:])
        return whole[:BATCH]

    def result(self) -> Exclusion:
        """What there is now."""
        box, domain = _distinct(self.found, self.region)
        undecided, excused, pending = (
            _joined(part, self.region) for part in (self.undecided, self.excused, self.pending)
        )
        return Exclusion(self.region, box, domain, undecided, excused, pending, self.boxes, self.split)


@typed
def exclude(
    system: System | Sequence[str],
    region: Intervals | tuple[Any, Any],
    *,
    resolution: float = RESOLUTION,
    most: int = MOST,
    workers: int = 1,
    progress: Shown = False,
    resume: Exclusion | None = None,
    widest: bool = False,
) -> Exclusion:
    """All zeros of the system in the region, a box (n,) or several (m, n): intervals, or a pair (lower, upper ends).

    An interrupt (Ctrl-C) ends the search: what is finished is kept, and `resume` takes up what was pending. `most` is
    the number of boxes after which it stops in the same way. Boxes narrower than the share `resolution` of the region
    stay undecided: zeros that are not simple. With `widest` the widest boxes come first: a search that will not end
    decides most of the region early, and keeps up to 200,000 boxes open. Before anything is excluded, `check_enclosure`
    tries the enclosures.

    >>> found = sh.exclusion.exclude(["x^2 + y^2 - 1", "x^2 - y"], ([-2.0, -2.0], [2.0, 2.0]))
    >>> found.complete, found.zeros.round(6).tolist()
    (True, [[-0.786151, 0.618034], [0.786151, 0.618034]])
    >>> begun = sh.exclusion.exclude(["x^2 + y^2 - 1", "x^2 - y"], ([-2.0, -2.0], [2.0, 2.0]), most=3)
    >>> begun.complete, sh.exclusion.exclude(["x^2 + y^2 - 1", "x^2 - y"], begun.region, resume=begun).complete
    (False, True)
    """
    system = _system(system)
    region = _region(region, system)
    boxes = region if region.lo.ndim == 2 else Intervals(region.lo[None], region.hi[None])
    around = Intervals(boxes.lo.min(axis=0), boxes.hi.max(axis=0))
    check_enclosure(system, around)
    state = _State(around, system.split, [boxes])
    if resume is not None:
        state = _resumed(resume)
    state.widest = widest
    total = max(float(volumes(_joined(state.pending, around), around, system.split).sum()), TINY)
    left = total
    with (
        Progress(STEPS, "excluding boxes", progress, "thousandths of the region") as bar,
        _pool(workers) as pool,
    ):
        while state.pending and state.boxes < most:
            count = sum(map(len, state.pending))
            batch = state.pop()
            if len(batch) + sum(map(len, state.pending)) != count:
                raise NotConverged("The search has lost open boxes: zeros in them would be missing.")
            try:
                rest = _advance(system, state, batch, resolution, pool, workers)
            except KeyboardInterrupt:
                state.pending.append(batch)
                break
            left += float(
                volumes(rest, around, system.split).sum() - volumes(batch, around, system.split).sum()
            )
            bar.update(int(STEPS * (1 - left / total)))
    _settle(system, state)
    return state.result()


def _settle(system: System, state: _State) -> None:
    """Prove clusters of undecided boxes as a whole, where their enclosures and not their zeros are at fault."""
    for room in ROOMS:
        if not 0 < sum(map(len, state.undecided)) <= CLUSTERED:
            return
        clusters = state.result().clusters
        hull = Intervals(np.array([c.lo for c in clusters]), np.array([c.hi for c in clusters]))
        outcome = whole(system, hull, np.zeros(system.n), room)
        boxes = _joined(state.undecided, state.region)
        left = np.ones(len(boxes), bool)
        for i in np.flatnonzero(outcome.proved | outcome.out):
            left &= ~np.all((boxes.lo >= hull.lo[i]) & (boxes.hi <= hull.hi[i]), axis=1)
            if outcome.proved[i]:
                state.found.append((outcome.zero[i], outcome.domain[i]))
        state.undecided = [boxes[np.flatnonzero(left)]]


def _system(given: System | Sequence[str]) -> System:
    """Polynomials from strings."""
    if isinstance(given, str):
        raise InvalidProblem(f"the system is the string {given!r}. Fix: a list of strings, an equation each.")
    return Polynomials.read(list(given)) if isinstance(given, Sequence) else given


def _region(given: Intervals | tuple[Any, Any], system: System) -> Intervals:
    """Checked: finite ends, the lower ones below, as many as there are unknowns."""
    unknowns = system.n
    region = given if isinstance(given, Intervals) else Intervals(*given)
    lo, hi = region.lo, region.hi
    shape = lo.shape == hi.shape and lo.ndim in (1, 2) and lo.shape[-1:] == (unknowns,)
    if not shape or not np.all(np.isfinite(lo) & np.isfinite(hi)) or not np.all(lo <= hi):
        raise InvalidProblem(
            f"the region goes from {lo!r} to {hi!r}; expected finite lower and upper ends for {unknowns} unknowns, "
            "lower ones first. Fix: ([-1.0, -1.0], [1.0, 1.0]), say."
        )
    if not np.all(np.ptp([lo, hi], axis=tuple(range(lo.ndim)))[list(system.split)] > 0):
        raise InvalidProblem(
            f"the region goes from {lo!r} to {hi!r}: an unknown has one value only. Expected all lower ends, then all "
            "upper ones, not a pair for each unknown. Fix: ([-1.0, -1.0], [1.0, 1.0]), say."
        )
    return region


class _pool:
    """Threads where more than one is asked for: NumPy holds no lock while it computes."""

    def __init__(self, workers: int) -> None:
        self.executor = ThreadPoolExecutor(workers) if workers > 1 else None

    def __enter__(self) -> ThreadPoolExecutor | None:
        return self.executor

    def __exit__(self, *_: object) -> None:
        if self.executor is not None:
            self.executor.shutdown()


def _advance(
    system: System,
    state: _State,
    batch: Intervals,
    resolution: float,
    pool: ThreadPoolExecutor | None,
    workers: int,
) -> Intervals:
    """One round on a batch; what is left of it goes back onto the stack, and is returned."""
    parts, scale = [batch], state.region.hi - state.region.lo
    if pool is not None:
        cuts = np.array_split(np.arange(len(batch)), workers)
        parts = [batch[cut] for cut in cuts if len(cut)]
    outcomes = (
        list(pool.map(lambda part: _outcome(system, part, scale), parts))
        if pool
        else [_outcome(system, batch, scale)]
    )
    left: list[Intervals] = []
    for part, (kept, excused, outcome) in zip(parts, outcomes, strict=True):
        state.boxes += len(part)
        if excused.lo.size:
            state.excused.append(excused)
        if outcome is None:
            continue
        for i in np.flatnonzero(outcome.proved):
            state.found.append((outcome.zero[i], outcome.domain[i]))
        chosen = np.flatnonzero(~outcome.out & ~outcome.proved)
        left.append(_followers(state, kept[chosen], outcome.box[chosen], resolution))
    rest = _joined(left, state.region)
    if len(rest):
        state.pending.append(rest)
    return rest


def _outcome(system: System, batch: Intervals, scale: Array) -> tuple[Intervals, Intervals, Round | None]:
    """Boxes that were examined, boxes that are excused, and what became of the first."""
    with np.errstate(all="ignore"):
        smaller = system.contract(batch)
        dead = np.any(smaller.lo > smaller.hi, axis=1)
        excused = system.excused(smaller) & ~dead
    kept = smaller[np.flatnonzero(~dead & ~excused)]
    return kept, smaller[np.flatnonzero(excused)], examine(system, kept, scale) if len(kept) else None


def _followers(state: _State, before: Intervals, after: Intervals, resolution: float) -> Intervals:
    """Contracted boxes as they are, the others in two halves; those below the resolution stay undecided."""
    if not len(before):
        return before
    chosen = list(state.split)
    size = (state.region.hi - state.region.lo)[chosen]
    relative = (after.hi - after.lo)[:, chosen] / size
    small = np.all((before.hi - before.lo)[:, chosen] / size < resolution, axis=1)
    if small.any():
        state.undecided.append(after[np.flatnonzero(small)])
    gained = volumes(after, state.region, state.split) < WORTHWHILE * volumes(
        before, state.region, state.split
    )
    again, cut = np.flatnonzero(gained & ~small), np.flatnonzero(~gained & ~small)
    rest = _joined(
        [after[again], *_halves(after[cut], np.array(chosen)[np.argmax(relative[cut], axis=1)])], state.region
    )
    whole = float(np.prod(relative[~small], axis=1).sum())
    if not abs(volumes(rest, state.region, state.split).sum() - whole) <= LOST * whole:
        raise NotConverged("Boxes were cut into less than they hold: zeros would be missing.")
    return rest


def _halves(boxes: Intervals, axis: NDArray[np.intp]) -> Iterator[Intervals]:
    """Each box cut in the middle of one of its unknowns."""
    rows = np.arange(len(boxes))
    middle = boxes.mid[rows, axis]
    low, high = boxes.hi.copy(), boxes.lo.copy()
    low[rows, axis] = middle
    high[rows, axis] = middle
    yield Intervals(boxes.lo, low)
    yield Intervals(high, boxes.hi)


def _joined(parts: list[Intervals], region: Intervals) -> Intervals:
    if not parts:
        return Intervals(np.zeros((0, len(region.lo))), np.zeros((0, len(region.lo))))
    return Intervals(np.concatenate([p.lo for p in parts]), np.concatenate([p.hi for p in parts]))


def _distinct(found: list[tuple[Intervals, Intervals]], region: Intervals) -> tuple[Intervals, Intervals]:
    """Each zero once: two boxes hold the same one where either lies in the domain of the other."""
    boxes: list[Intervals] = []
    domains: list[Intervals] = []
    for box, domain in found:
        new = True
        for other, others in zip(boxes, domains, strict=True):
            apart = np.any((box.lo > other.hi) | (box.hi < other.lo))
            if apart:
                continue
            if not (np.all(box.within(others)) or np.all(other.within(domain))):
                raise NotConverged(
                    f"Two boxes with one zero each overlap, and may hold the same: {box!r}, {other!r}."
                )
            new = False
        if new:
            boxes.append(box)
            domains.append(domain)
    stack = (
        [Intervals(b.lo[None], b.hi[None]) for b in boxes],
        [Intervals(d.lo[None], d.hi[None]) for d in domains],
    )
    return _joined(stack[0], region), _joined(stack[1], region)


def _resumed(result: Exclusion) -> _State:
    found = [(result.box[i], result.domain[i]) for i in range(len(result.box))]
    return _State(
        result.region,
        result.split,
        [result.pending],
        found,
        [result.undecided],
        [result.excused],
        result.boxes,
    )
