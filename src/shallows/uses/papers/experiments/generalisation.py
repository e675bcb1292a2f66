"""The jump of the generalisation error at n* = d(d+1)/2 samples, as an experiment (paper 001, Theorem 2.9).

For each number of samples a student is trained on them to zero empirical risk and its population loss under N(0, I) is
taken; beside it stands the constructed interpolator of Theorem 2.9(b).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shallows.model.data.gaussian import Gaussian
from shallows.model.data.samples import Samples
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.descent.ensemble import ensemble
from shallows.questions.quadratic.interpolation import bad_interpolator
from shallows.questions.quadratic.sample_span import sample_threshold, spans_symmetric
from shallows.support.checks import Array, finite_number, positive_integer
from shallows.support.progress import Progress
from shallows.support.seeds import generator, seed_text

#: Errors below this, of E y², are zero: students of n* samples have at most 6e-16, the worst of fewer at least 0.006
#: (d = 3 to 8, measured).
GENERALISES = 1e-6
#: Empirical risk is minimised to gradients of this size: a risk of zero is then below 1e-20 of E y².
SETTLED = 1e-12


@dataclass(frozen=True, eq=False)
class Jump:
    """Generalisation errors by the number of samples, in units of E y² (paper 001, Theorem 2.9).

    `trained` (counts × runs) are those of trained students, `constructed` those of Theorem 2.9(b) (zero from n* on,
    where there is none), `risks` the largest empirical risk left by training, `bound` is 2σ_min⁴; all relative.

    >>> jump = sh.quadratic.generalisation_jump(2, counts=[2, 3, 4], runs=2, rng=0)   # n* = 3
    >>> [bool(errors.max() < 1e-6) for errors in jump.trained]
    [False, True, True]
    >>> f"{jump.constructed[0]:.4f} ≥ {jump.bound:.4f}"
    '0.0176 ≥ 0.0132'
    """

    d: int
    counts: np.ndarray
    trained: Array
    constructed: Array
    risks: Array
    bound: float
    seed: str

    @property
    def threshold(self) -> int:
        """n* = d(d+1)/2."""
        return sample_threshold(self.d)

    @property
    def jumps_at(self) -> int | None:
        """The first number of samples from which on all trained students generalise (error below 1e-6)."""
        good = np.all(self.trained < GENERALISES, axis=1)
        late = [i for i in range(len(good)) if np.all(good[i:])]
        return int(self.counts[late[0]]) if late else None

    def __repr__(self) -> str:
        lines = [
            f"Jump(d = {self.d}, n* = {self.threshold}, seed {self.seed}; errors relative to E y²)",
            "      n    empirical risk       trained: median, smallest    constructed",
        ]
        for i, count in enumerate(self.counts):
            errors = self.trained[i]
            lines.append(
                f"  {count:5d}    {self.risks[i]:14.2g}    {np.median(errors):12.4g} {errors.min():12.4g}    "
                f"{self.constructed[i]:11.4g}"
            )
        return "\n".join(lines)


def generalisation_jump(
    d: int,
    counts: Sequence[int] | None = None,
    *,
    runs: int = 5,
    width: int | None = None,
    tolerance: float = SETTLED,
    rng: int | np.random.Generator = 0,
) -> Jump:
    """Train students of width d (or `width`) with outer weights 1 on n Gaussian samples of a random teacher.

    From n* = d(d+1)/2 samples on almost surely every student with zero empirical risk generalises (paper 001, Theorem
    2.9). `counts` are n*−4, …, n*+2 by default. The teacher is WᵀW with W Gaussian of 2d rows, so that it has rank d.

    >>> jump = sh.quadratic.generalisation_jump(3, counts=[4, 5, 6, 7], runs=2, rng=0)
    >>> jump.threshold, jump.jumps_at
    (6, 6)
    """
    d, runs = positive_integer("d", d, 2), positive_integer("runs", runs)
    finite_number("tolerance", tolerance, minimum=0.0)
    width = d if width is None else positive_integer("width", width, d)
    n_star = sample_threshold(d)
    given = list(range(max(1, n_star - 4), n_star + 3)) if counts is None else list(counts)
    sizes = np.array([positive_integer("counts", n) for n in given])
    source = generator(rng)
    teacher = Network(source.standard_normal((2 * d, d)))
    X = source.standard_normal((int(sizes.max()), d))
    population = Problem(teacher, Gaussian(d), width, outer="ones")
    energy = float(population.value(np.zeros(population.size)))
    trained, built, risks = np.empty((len(sizes), runs)), np.zeros(len(sizes)), np.empty(len(sizes))
    with Progress(len(sizes), "sample counts") as progress:
        for i, n in enumerate(sizes):
            problem = Problem(teacher, Samples(X[:n]), width, outer="ones")
            found = ensemble(problem, runs, method="lm", tolerance=tolerance * energy, rng=source)
            trained[i] = population.value(found.thetas) / energy
            risks[i] = max(problem.value(found.thetas).max(), 0.0) / energy
            if not spans_symmetric(X[:n]):
                built[i] = bad_interpolator(teacher, X[:n]).population_loss / energy
            progress.update(i + 1)
    bound = 2 * float(np.linalg.svd(teacher.W, compute_uv=False)[-1]) ** 4 / energy
    seed = seed_text(rng)
    return Jump(d, sizes, trained, built, risks, bound, seed)
