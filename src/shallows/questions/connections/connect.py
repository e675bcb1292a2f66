"""`connect`: a merge tree of given minima, from saddles that are looked for between them. Sampled, and said so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from shallows.model.network import Network
from shallows.model.problem import Problem, as_problem
from shallows.questions.charts.points.rows import ChartRow, points_in_order
from shallows.questions.charts.result import Chart
from shallows.questions.charts.sampled import ZERO_LOSS
from shallows.questions.connections.deep_layers import DeepLayers
from shallows.questions.connections.merging import Meeting, merged
from shallows.questions.connections.saddle_search import Stationary, stationary
from shallows.questions.connections.searched import Searched
from shallows.questions.connections.strings import relaxed, ridges
from shallows.questions.connections.tree import Edge, Leaf, MergeTree
from shallows.questions.connections.two_layers import TwoLayers
from shallows.questions.learn.deep.network import DeepNetwork
from shallows.questions.learn.deep.problem import DeepProblem
from shallows.support.checks import counted, describe
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Progress

#: How far off a saddle paths down begin, in sizes of its parameters: far above its error, far below its distance to
#: anything else in the landscapes of paper 003 (0.1 and more).
OFF = 1e-3
#: A given network must be within this share of its size of the minimum that Newton's method takes it to.
NEARLY = 1e-2


def connect(
    problem: Problem | DeepProblem,
    networks: Sequence[Network] | Sequence[DeepNetwork],
    *,
    up_to_symmetry: bool = True,
    progress: bool = False,
) -> MergeTree:
    """How given minima connect, for problems without a complete list of critical points: ReLU, smooth, deep.

    Between each pair a string is relaxed (with the second's neurons in the order closest to the first's), its ridges
    are refined to saddles of index one, and paths down from these tell what they join: minima that were not given are
    leaves too. Points are proved wherever `sh.certify_minimum` has balls, and those of deep quadratic networks
    (Krawczyk, `edge.point.certificate`); the tree's notes say which points are not, and why. Minima that differ by a
    symmetry of the problem are one leaf unless `up_to_symmetry` is False. The result is "sampled": a barrier is an
    upper bound, because a lower way may have been missed.

    >>> problem = sh.relu_problem(6)
    >>> minima = [problem.target, sh.symmetric_minimum(6, [1, 5]).network()]
    >>> tree = sh.connect(problem, minima)
    >>> [f"{leaf.loss:.6f}" for leaf in tree.leaves], f"{tree.barrier(0, 1):.6f}", tree.known
    (['0.000000', '0.050161'], '0.050185', 'sampled')
    >>> tree.edges[0].point.certificate
    Certificate(radius ..., signature certified, rank certified; Krawczyk and interval Hessian, ReLU closed form, ...)

    Deep networks: `sh.learn.train_deep` has the problem and the minima that its runs found.

    >>> x = np.random.default_rng(0).standard_normal((60, 2))
    >>> runs = sh.learn.train_deep(x, x[:, 0] ** 4 + x[:, 1] ** 4, hidden=(1,), penalty=1.0, progress=False)
    >>> tree = sh.connect(runs.problem, runs.networks)
    >>> [f"{leaf.loss:.4f}" for leaf in tree.leaves], [f"{edge.loss:.4f}" for edge in tree.edges]
    (['3.3695', '9.4031', '12.2850'], ['13.1792', '21.2875'])
    >>> all(edge.point.certificate.signature_certified for edge in tree.edges)
    True
    """
    loss: Searched = (
        DeepLayers(problem) if isinstance(problem, DeepProblem) else TwoLayers(as_problem(problem))
    )
    search = Search(loss, up_to_symmetry)
    given = [search.minimum(_theta(loss, net, i), i) for i, net in enumerate(_listed(networks))]
    pairs = list(combinations(dict.fromkeys(given), 2))
    with Progress(len(pairs), "relaxing strings", progress, "pairs of minima") as bar:
        for i, j in pairs:
            search.between(i, j)
            bar.advance()
    return search.tree()


@dataclass(eq=False)
class Search:
    """The minima and saddles found so far; each saddle with the minima that paths down from it reach."""

    loss: Searched
    up_to_symmetry: bool
    minima: list[Stationary] = field(default_factory=list)
    saddles: list[tuple[Stationary, tuple[int, ...]]] = field(default_factory=list)
    given: int = 0

    def minimum(self, theta: Any, place: int) -> int:
        """The number of a given minimum; a network that is none is refused."""
        found = stationary(self.loss, theta, 0)
        size = float(np.linalg.norm(theta))
        if found is None or float(np.linalg.norm(found.theta - theta)) > NEARLY * max(size, 1.0):
            slope = float(np.linalg.norm(self.loss.value_and_gradient(theta)[1]))
            raise InvalidProblem(
                f"networks[{place}] is no minimum: its gradient has norm {slope:.3g}, and Newton's method goes to no "
                f"minimum nearby. Fix: {self.loss.fix}"
            )
        number = self._number(found)
        self.given = len(self.minima)
        return number

    def _number(self, found: Stationary) -> int:
        """The minimum that this is, a symmetric image counting as the same; a new one if there is none."""
        for i, known in enumerate(self.minima):
            if self._same(known, found):
                return i
        self.minima.append(found)
        return len(self.minima) - 1

    def _same(self, first: Stationary, second: Stationary) -> bool:
        if not self.up_to_symmetry:
            gap = float(np.linalg.norm(first.theta - second.theta))
            return gap <= OFF * max(float(np.linalg.norm(first.theta)), 1.0)
        thetas, losses = np.array([first.theta, second.theta]), np.array([first.loss, second.loss])
        return self.loss.same(thetas, losses)

    def between(self, i: int, j: int) -> None:
        """Saddles on the ridges of a string from one minimum to the other."""
        first, second = self.minima[i].theta, self.minima[j].theta
        for end in self.loss.aligned(first, second) if self.up_to_symmetry else [second]:
            images, losses = relaxed(self.loss, first, end)
            for place in ridges(losses):
                found = stationary(self.loss, images[place], 1)
                if found is not None:
                    self._add(found)

    def _add(self, saddle: Stationary) -> None:
        """The saddle with what lies on its two sides, unless it is known."""
        if any(self._same(known, saddle) for known, _ in self.saddles):
            return
        size = max(float(np.linalg.norm(saddle.theta)), 1.0)
        reached = []
        for sign in (1.0, -1.0):
            low = self.loss.fall(saddle.theta + sign * OFF * size * saddle.lowest)
            end = stationary(self.loss, low, 0)
            if end is not None and end.loss < saddle.loss:
                reached.append(self._number(end))
        if reached:
            self.saddles.append((saddle, tuple(reached)))

    def tree(self) -> MergeTree:
        """The tree of all that was found."""
        order = sorted(range(len(self.minima)), key=lambda i: self.minima[i].loss)
        number = {old: new for new, old in enumerate(order)}
        items = [self.minima[i] for i in order] + [saddle for saddle, _ in self.saddles]
        rows = np.argsort([item.loss for item in items], kind="stable").tolist()
        place = {item: row for row, item in enumerate(rows)}
        chart = _chart(self.loss, [items[i] for i in rows])
        meetings = [
            Meeting(saddle.loss, place[len(order) + i], tuple(number[leaf] for leaf in reached))
            for i, (saddle, reached) in enumerate(self.saddles)
        ]
        merges, valleys = merged(range(len(order)), meetings)
        leaves = [
            Leaf(i, self.minima[old].loss, place[i], chart.critical[place[i]]) for i, old in enumerate(order)
        ]
        edges: list[Any] = []
        for merge in merges:
            row, reached = merge.meeting.row, tuple(dict.fromkeys(merge.meeting.leaves))
            edges.append(Edge(merge.meeting.loss, row, chart.critical[row], reached, merge.sides))  # type: ignore[arg-type]
        notes = self._unproved(items)
        if len(self.minima) > self.given:
            notes.append(f"found beside those given: {counted(len(self.minima) - self.given, 'minimum')}")
        if len(valleys.together) > 1:
            notes.append(f"no saddle was found that joins {len(valleys.together)} valleys")
        return MergeTree(chart, tuple(leaves), tuple(edges), "parameters", "sampled", tuple(notes))

    def _unproved(self, items: list[Stationary]) -> list[str]:
        """What is said of points without certificate."""
        bare = [item for item in items if item.certificate is None]
        if not bare:
            return []
        return [f"{len(bare)} of {counted(len(items), 'critical point')} not certified: {self.loss.unproved}"]


def _chart(loss: Searched, items: list[Stationary]) -> Chart:
    """What was found as a sampled chart, by ascending loss."""
    bottom = loss.floor + ZERO_LOSS * loss.energy
    rows = [
        ChartRow(
            loss.unpack(item.theta),
            item.loss,
            loss.width,
            item.signature,
            "saddle" if item.signature[2] else "global minimum" if item.loss <= bottom else "local minimum",
            item.certificate,
            tensor=loss.tensor(item.theta),
        )
        for item in items
    ]
    return Chart(
        critical=points_in_order(loss.problem, rows),
        completeness="sampled",
        method="connect",
        complex_count={},
        real_count={loss.width: len(items)},
        expected_count={loss.width: None},
        expected_source={loss.width: ""},
        notes=("signatures are in parameter space",),
        title=loss.title,
        problem=loss.problem,
    )


def _listed(networks: Any) -> list[Network]:
    found = list(networks) if isinstance(networks, Sequence) else []
    if not found:
        raise InvalidProblem(
            f"networks is {describe(networks)}; expected a list of trained networks, minima."
        )
    return found


def _theta(loss: Searched, net: Any, place: int) -> Any:
    try:
        return loss.pack(net)
    except InvalidProblem as error:
        raise InvalidProblem(f"networks[{place}] {str(error).removeprefix('network ')}") from None
