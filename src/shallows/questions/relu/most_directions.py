"""One-point strong convexity in most directions (paper 003, Theorem 6), and Conjecture 1 with its table.

n = mk, w̃_ij = vᵢ/m. With g_ij = w_ij − w̃_ij, gᵢ = Σⱼ g_ij and g = Σᵢ gᵢ, for ½E

    (w−w̃)ᵀ H(w) (w−w̃) ≥ ¼(‖g‖² + (1 − 2/π) Σᵢ‖gᵢ‖²) − O(ε^2.5)

in the ε-orthogonal neighbourhood. Conjecture 1 drops the last term and the word orthogonal, and is false: see
`rotated_pair`. Both sides here are for ½E, as in the paper's Table 1, whose columns are min (left − right)/σ² for
Gaussian g_ij of standard deviation σ = 1e-5 and min left/σ² when Σⱼ g_ij = 0 (d = k; the printed "variance 1e-5" does
not reproduce it).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shallows.model.activations import ReLU
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.relu.setting import orthonormal_teacher, relu_problem, student_of
from shallows.support.arguments import typed
from shallows.support.checks import Array, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

#: The standard deviation of the steps in the paper's Table 1.
SIGMA = 1e-5
#: The table: (k, m) to its two columns.
TABLE_1 = {
    (5, 2): (0.84, 2.27e-4), (5, 5): (2.43, 0.00754), (5, 10): (5.43, 0.0693),
    (10, 2): (12.7, 0.0037), (10, 5): (43.1, 0.088), (10, 10): (62.3, 0.733),
    (20, 2): (88.6, 0.0318), (20, 5): (231.0, 0.67), (20, 10): (412.0, 5.15),
}  # fmt: skip


@dataclass(frozen=True)
class DirectionalCurvature:
    """Both sides of paper 003, Theorem 6, at one point, for ½E.

    >>> from shallows.relu import directional_curvature
    >>> W = np.repeat(np.eye(2) / 2, 2, axis=0)
    >>> W[0, 1] += 0.01   # g₁ = g = (0, 0.01)
    >>> found = directional_curvature(sh.relu_problem(2, width=4), sh.Network(W, activation=sh.ReLU()))
    >>> f"{found.right:.3e}", f"{(2 - 2 / np.pi) * 0.01**2 / 4:.3e}", found.excess > 0
    ('3.408e-05', '3.408e-05', True)
    """

    left: float
    right: float

    @property
    def excess(self) -> float:
        """left − right: nonnegative by Conjecture 1, which is false (`rotated_pair`)."""
        return self.left - self.right


@dataclass(frozen=True)
class ConjectureRow:
    """One row of Table 1: the smallest excess and the smallest adversarial curvature over σ², with the printed ones.

    The excess is left − right of Theorem 6, positive in random directions; adversarial samples have Σⱼ g_ij = 0.

    >>> from shallows.relu import conjecture_table
    >>> row = conjecture_table(samples=20, sizes=((5, 10),), rng=0)[0]
    >>> row.smallest_excess > 0, row.smallest_adversarial > 0, row.published
    (True, True, (5.43, 0.0693))
    """

    k: int
    m: int
    samples: int
    smallest_excess: float
    smallest_adversarial: float
    published: tuple[float, float] | None

    def __repr__(self) -> str:
        printed = "" if self.published is None else f" (paper: {self.published[0]:g}, {self.published[1]:g})"
        return (
            f"ConjectureRow(k={self.k}, m={self.m}, {self.samples} samples: Gaussian {self.smallest_excess:.3g}, "
            f"adversarial {self.smallest_adversarial:.3g}{printed})"
        )


def even_global_minimum(problem: Problem) -> Network:
    """w̃_ij = vᵢ/m, neurons of one teacher neuron next to each other."""
    V = orthonormal_teacher(problem, "Theorem 6")
    if problem.width % len(V):
        raise InvalidProblem(f"Theorem 6 needs n = mk; the width is {problem.width} and k = {len(V)}.")
    m = problem.width // len(V)
    return Network(np.repeat(V / m, m, axis=0), activation=ReLU())


@typed
def directional_curvature(problem: Problem, net: Network) -> DirectionalCurvature:
    """Both sides of Theorem 6 at `net`, measured from the global minimum w̃ = vᵢ/m with neurons in that order.

    Left (w−w̃)ᵀH(w−w̃), right ¼(‖g‖² + (1 − 2/π) Σᵢ‖gᵢ‖²), for ½E; gᵢ is the sum of w−w̃ over the neurons of vᵢ, g that
    over all.

    >>> from shallows.relu import directional_curvature
    >>> W = np.repeat(np.eye(3) / 2, 2, axis=0) + 1e-3 * np.random.default_rng(0).standard_normal((6, 3))
    >>> found = directional_curvature(sh.relu_problem(3, width=6), sh.Network(W, activation=sh.ReLU()))
    >>> f"{found.left:.3e} ≥ {found.right:.3e}"
    '5.146e-06 ≥ 3.933e-06'
    """
    centre = even_global_minimum(problem)
    step = student_of(problem, net) - centre.W
    k = len(orthonormal_teacher(problem, "Theorem 6"))
    flat = step.ravel()
    sums = step.reshape(k, -1, step.shape[1]).sum(axis=1)
    total = sums.sum(axis=0)
    right = (float(total @ total) + (1 - 2 / np.pi) * float(np.sum(sums**2))) / 4
    return DirectionalCurvature(float(flat @ problem.hvp(net, flat)) / 2, right)


def conjecture_row(
    k: int, m: int, samples: int = 1000, rng: int | np.random.Generator = 0, sigma: float = SIGMA
) -> ConjectureRow:
    """One row of Table 1 from fresh samples."""
    k, m, samples = (
        positive_integer("k", k),
        positive_integer("m", m, minimum=2),
        positive_integer("samples", samples),
    )
    problem, source = relu_problem(k, width=m * k), generator(rng)
    centre = even_global_minimum(problem).W
    excess = adversarial = np.inf
    for _ in range(samples):
        noise = sigma * source.standard_normal((k, m, k))
        excess = min(excess, _at(problem, centre, noise).excess)
        noise[:, 0] = -noise[:, 1:].sum(axis=1)
        adversarial = min(adversarial, _at(problem, centre, noise).left)
    square = sigma**2
    return ConjectureRow(k, m, samples, excess / square, adversarial / square, TABLE_1.get((k, m)))


def conjecture_table(
    samples: int = 1000,
    rng: int = 0,
    sizes: tuple[tuple[int, int], ...] = tuple(TABLE_1),
    progress: Callable[[int, int], None] | None = None,
) -> list[ConjectureRow]:
    """Table 1 of paper 003 from fresh samples; `progress(done, total)` after each row.

    >>> from shallows.relu import conjecture_table
    >>> conjecture_table(samples=60, sizes=((5, 2),), rng=0)[0]   # the paper has 1,000 samples, so lower minima
    ConjectureRow(k=5, m=2, 60 samples: Gaussian 1.06, adversarial 0.000287 (paper: 0.84, 0.000227))
    """
    rows = []
    for number, (k, m) in enumerate(sizes):
        rows.append(conjecture_row(k, m, samples, np.random.default_rng([rng, k, m])))
        if progress is not None:
            progress(number + 1, len(sizes))
    return rows


def _at(problem: Problem, centre: Array, noise: Array) -> DirectionalCurvature:
    return directional_curvature(problem, Network(centre + noise.reshape(centre.shape), activation=ReLU()))
