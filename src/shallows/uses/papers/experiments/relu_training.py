"""The experiment of paper 003, section 4.2: where gradient descent ends for n = k, and what each minimum is like.

500 Xavier starts with step 5/k on ½E and 100 of large norm (Σ‖wᵢ‖ = 2k²), end points grouped up to permutations of
neurons and coordinates. From the large starts a step of 5/k diverges: neurons that point the same way have a Hessian
eigenvalue of k/2 (½E), which allows less than 4/k; 3/k is taken there (the paper does not say).

For every group: the norm sum (Theorem 8 assumes at most k), the smallest Hessian eigenvalue, and the largest over the
neurons of the smallest eigenvalue of H′ᵢᵢ: negative means that every split of every neuron is a saddle (Theorem 9).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shallows.model.problem import Problem
from shallows.questions.certificates.minimum import CertifiedMinimum, certify_minimum
from shallows.questions.descent.ensemble import ensemble
from shallows.questions.descent.results.ensemble import Ensemble
from shallows.questions.descent.results.minima import Minimum
from shallows.questions.descent.results.symmetry import group
from shallows.questions.relu.block_form import BlockForm, recognise
from shallows.questions.relu.scaling import norm_sum
from shallows.questions.relu.setting import relu_problem
from shallows.questions.relu.splitting import splits
from shallows.support.checks import positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.progress import Progress
from shallows.uses.papers.experiments.published_minima import PublishedMinimum, published_minima

SMALLEST_EXPECTED = 5.0
#: Two minima with the same blocks are one when their norm sums agree so far: published ones have 16 digits, ours 12.
SAME_NORM_SUM = 1e-6
#: Losses of ½E below this are zero: global end points have up to 7e-15, others 0.008 at least (k ≤ 30, kept rows).
ZERO_LOSS = 1e-10
LARGE_STEP = 1.5  # on E(f−y)²: 3/k on ½E


@dataclass(frozen=True, eq=False)
class FoundMinimum:
    """A group of end points: counts by start, numbers for ½E (as in the paper), and what is published or proved.

    >>> from shallows.relu import experiment
    >>> group = experiment(8, runs=40, large=0, rng=0).minima[-1]
    >>> group.blocks, f"{group.half_loss:.8f}", f"{group.norm_sum:.8f}", f"{group.published.norm_sum:.8f}"
    ('1+7', '0.02150804', '7.98561296', '7.98561296')
    """

    minimum: Minimum
    xavier: int
    large: int
    form: BlockForm | None
    norm_sum: float
    half_loss: float
    half_smallest_eigenvalue: float
    half_split_eigenvalue: float
    published: PublishedMinimum | None
    certificate: CertifiedMinimum | None = None

    @property
    def is_global(self) -> bool:
        """Whether the loss is zero."""
        return self.half_loss < ZERO_LOSS

    @property
    def blocks(self) -> str:
        """The block sizes as text, "?" when the point has no block form."""
        return "?" if self.form is None else "+".join(map(str, self.form.sizes))

    def __repr__(self) -> str:
        return (
            f"FoundMinimum({self.blocks}: {self.xavier} Xavier, {self.large} large, ½E={self.half_loss:.9g}, "
            f"norm sum {self.norm_sum:.8g}, λ={self.half_smallest_eigenvalue:.6g}, H′ {self.half_split_eigenvalue:.4g})"
        )


@dataclass(frozen=True, eq=False)
class Agreement:
    """Pearson's χ² test that fresh and published counts come from one distribution.

    Minima whose expected count is below five in either sample are one class (`pooled` of them).

    >>> from shallows.relu import experiment
    >>> experiment(8, runs=40, large=0, rng=0).agreement()
    Agreement(χ² = 0.57, 1 degree of freedom, p = 0.45)
    """

    statistic: float
    freedom: int
    p_value: float
    pooled: int

    def __repr__(self) -> str:
        degrees = "1 degree" if self.freedom == 1 else f"{self.freedom} degrees"
        return f"Agreement(χ² = {self.statistic:.2f}, {degrees} of freedom, p = {self.p_value:.3g})"


@dataclass(frozen=True, eq=False, repr=False)
class Experiment:
    """All minima found for one k, sorted by loss.

    >>> from shallows.relu import experiment
    >>> found = experiment(8, runs=40, large=0, rng=0)
    >>> found.share_of_global, found.every_split_is_a_saddle, found.new
    (0.925, True, ())
    >>> f"{found.largest_norm_sum:.8f}"   # Theorem 8 assumes at most k
    '8.00000000'
    """

    k: int
    runs: int
    large_runs: int
    seed: int
    minima: tuple[FoundMinimum, ...]
    unfinished: int

    @property
    def share_of_global(self) -> float:
        """The share of the Xavier runs at the global minimum."""
        return sum(found.xavier for found in self.minima if found.is_global) / self.runs

    @property
    def largest_norm_sum(self) -> float:
        """Theorem 8 assumes at most k; Proposition 1 proves at most k²."""
        return max(found.norm_sum for found in self.minima)

    @property
    def every_split_is_a_saddle(self) -> bool:
        """Whether H′ᵢᵢ has a negative eigenvalue for every neuron of every non-global minimum (Theorem 9)."""
        return all(found.half_split_eigenvalue < 0 for found in self.minima if not found.is_global)

    @property
    def new(self) -> tuple[FoundMinimum, ...]:
        """Minima that are not among the published ones."""
        return tuple(found for found in self.minima if found.published is None)

    def agreement(self, smallest_expected: float = SMALLEST_EXPECTED) -> Agreement:
        """χ² against the published counts of 500 runs; minima not published are one more class."""
        rows = published_minima(self.k)
        fresh = {row.blocks: 0 for row in rows}
        other = self.unfinished
        for found in self.minima:
            if found.published is None:
                other += found.xavier
            else:
                fresh[found.published.blocks] += found.xavier
        counts = [(fresh[row.blocks], row.count) for row in rows] + [(other, 0)]
        return homogeneity(np.array(counts), smallest_expected)

    def certified(self, only_new: bool = True) -> Experiment:
        """The same with proofs: for the minima that are not published, or for all of them."""
        problem = relu_problem(self.k)
        chosen = [found for found in self.minima if found.published is None or not only_new]
        with Progress(len(chosen), "proofs") as progress:
            proofs = {}
            for number, found in enumerate(chosen):
                proofs[id(found)] = certify_minimum(problem, found.minimum)
                progress.update(number + 1)
        minima = tuple(replace(found, certificate=proofs.get(id(found))) for found in self.minima)
        return replace(self, minima=minima)

    def table(self) -> Any:
        """A rich table of the minima."""
        from rich.table import Table

        table = Table(title=f"n = k = {self.k}: {self.runs} Xavier and {self.large_runs} large starts, ½E")
        for heading in (
            "blocks",
            "Xavier",
            "published",
            "large",
            "½E",
            "norm sum",
            "λ min",
            "max λ min H′",
            "proof",
        ):
            table.add_column(heading, justify="right")
        for found in self.minima:
            count = "new" if found.published is None else str(found.published.count)
            table.add_row(
                found.blocks, str(found.xavier), count, str(found.large), f"{found.half_loss:.9f}",
                f"{found.norm_sum:.7f}", f"{found.half_smallest_eigenvalue:.6f}",
                f"{found.half_split_eigenvalue:.5f}", "" if found.certificate is None else "✓",
            )  # fmt: skip
        return table

    def __repr__(self) -> str:
        lines = [
            f"Experiment(k={self.k}, seed {self.seed}: {len(self.minima)} minima from {self.runs} Xavier and "
            f"{self.large_runs} large starts, {self.unfinished} unfinished, {self.share_of_global:.1%} global)"
        ]
        lines += [f"  {found!r}" for found in self.minima]
        return "\n".join(lines)


def experiment(
    k: int, runs: int = 500, large: int = 100, rng: int = 0, cores: int | None = None
) -> Experiment:
    """The experiment of paper 003, section 4.2, for one k = n.

    `runs` Xavier starts and `large` ones of norm sum Σ‖wᵢ‖ = 2k² (0 for none), seeded by `rng`.

    >>> from shallows.relu import experiment
    >>> found = experiment(8, runs=40, large=0, rng=0)
    >>> [(group.blocks, group.xavier, group.published.count) for group in found.minima]   # published: of 500
    [('8', 37, 443), ('1+7', 3, 57)]
    """
    k = positive_integer("k", k, minimum=2)
    runs, large = positive_integer("runs", runs), positive_integer("large", large, minimum=0)
    seed = positive_integer("rng", rng, minimum=0)
    problem = relu_problem(k)
    parts = [ensemble(problem, runs, rng=seed, cores=cores)]
    if large:
        parts.append(ensemble(problem, large, init="large", step=LARGE_STEP / k, rng=seed, cores=cores))
    minima = tuple(_found(problem, k, minimum, counts) for minimum, counts in _joined(problem, parts))
    unfinished = int(np.sum(~parts[0].ended))
    return Experiment(k, runs, large, seed, minima, unfinished)


def _joined(problem: Problem, parts: Sequence[Ensemble]) -> list[tuple[Minimum, list[int]]]:
    """The distinct minima of several ensembles, with their counts in each."""
    entries = [(number, minimum) for number, part in enumerate(parts) for minimum in part.minima]
    thetas = np.array([minimum.theta for _, minimum in entries])
    losses = np.array([minimum.loss for _, minimum in entries])
    joined = []
    for members in group(problem, thetas, losses, parts[0].scale):
        counts = [0] * len(parts)
        for index in members:
            number, minimum = entries[index]
            counts[number] += minimum.count
        joined.append((entries[members[0]][1], counts))
    return joined


def _found(problem: Problem, k: int, minimum: Minimum, counts: list[int]) -> FoundMinimum:
    total, form = norm_sum(minimum.network), recognise(minimum.network.W)
    return FoundMinimum(
        minimum,
        counts[0],
        sum(counts[1:]),
        form,
        total,
        minimum.loss / 2,
        float(minimum.eigenvalues[0]) / 2,
        float(splits(problem, minimum.network).half_eigenvalues[:, 0].max()),
        _published(k, form, total),
    )


def _published(k: int, form: BlockForm | None, total: float) -> PublishedMinimum | None:
    if form is None or not 6 <= k <= 20:
        return None
    for row in published_minima(k):
        if row.blocks == form.sizes and abs(row.norm_sum - total) < SAME_NORM_SUM:
            return row
    return None


def homogeneity(counts: np.ndarray, smallest_expected: float = SMALLEST_EXPECTED) -> Agreement:
    """Pearson's χ² for two samples: one row a class, one column a sample; rare classes are pooled."""
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != 2 or np.any(table < 0) or np.any(table.sum(axis=0) == 0):
        raise InvalidProblem(
            f"counts has shape {table.shape}; expected nonnegative counts of two samples, one a column."
        )
    from scipy.stats import chi2

    table = table[table.sum(axis=1) > 0]
    shares = table.sum(axis=0) / table.sum()
    expected = np.outer(table.sum(axis=1), shares)
    rare = expected.min(axis=1) < smallest_expected
    pooled = int(rare.sum())
    if pooled:
        table = np.vstack([table[~rare], table[rare].sum(axis=0)])
        expected = np.outer(table.sum(axis=1), shares)
    freedom = len(table) - 1
    statistic = float(np.sum((table - expected) ** 2 / expected))
    return Agreement(statistic, freedom, float(chi2.sf(statistic, freedom)) if freedom else 1.0, pooled)
