"""The global minima of an orthonormal ReLU teacher (paper 003, Theorem 1), and the Hessian there (Theorem 2).

Every neuron is a nonnegative multiple of a teacher neuron, and the multiples of each teacher neuron add up to one.
For n = k these are the k! permutations; for n > k they are a connected set of positive dimension.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shallows.model.activations import ReLU
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.relu.setting import orthonormal_teacher, student_of
from shallows.support.arguments import typed
from shallows.support.checks import Array, finite_number, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

#: Theorem 2: the smallest Hessian eigenvalue at a global minimum with n = k is attained, 2(¼ − 1/2π) for E(f−y)².
SMALLEST_EIGENVALUE = 0.5 - 1 / np.pi
#: How far from the form of Theorem 1 a network may be by default: the loss is a quadratic function of that distance, so
#: that √ε is where rounding hides it.
AT_A_MINIMUM = 1e-8


@dataclass(frozen=True, eq=False)
class GlobalMinimum:
    """A global minimum in the form of Theorem 1: wⱼ = weights[j] · v_owners[j]; owners is −1 for a zero neuron.

    `deviation` is the largest departure from that form.

    >>> from shallows.relu import sample_global_minima
    >>> found = sample_global_minima(sh.relu_problem(3, width=5), rng=0)[0]
    >>> [f"{found.weights[found.owners == i].sum():.6f}" for i in range(3)]
    ['1.000000', '1.000000', '1.000000']
    >>> found.dimension   # n − k
    2
    """

    network: Network
    owners: np.ndarray
    weights: Array
    deviation: float

    @property
    def is_differentiable(self) -> bool:
        """Whether no neuron is zero (Lemma 1)."""
        return bool(np.all(self.owners >= 0))

    @property
    def dimension(self) -> int:
        """The dimension of the set of global minima around a differentiable one: n − k."""
        return len(self.owners) - len(set(self.owners[self.owners >= 0].tolist()))

    def __repr__(self) -> str:
        groups = [np.flatnonzero(self.owners == i).tolist() for i in range(int(self.owners.max()) + 1)]
        return f"GlobalMinimum(neurons by teacher neuron: {groups}, deviation {self.deviation:.1g})"


@typed
def global_minimum(problem: Problem, net: Network, tolerance: float = AT_A_MINIMUM) -> GlobalMinimum | None:
    """The form of paper 003, Theorem 1, when `net` has it to the tolerance, else None.

    At a global minimum wⱼ = αⱼv_i with αⱼ ≥ 0, and the αⱼ of each teacher neuron v_i add up to one.

    >>> from shallows.relu import global_minimum
    >>> problem = sh.relu_problem(2, width=3)
    >>> global_minimum(problem, sh.Network([[0.3, 0.0], [0.0, 1.0], [0.7, 0.0]], activation=sh.ReLU()))
    GlobalMinimum(neurons by teacher neuron: [[0, 2], [1]], deviation 0)
    >>> global_minimum(problem, sh.Network([[0.4, 0.0], [0.0, 1.0], [0.7, 0.0]], activation=sh.ReLU())) is None
    True
    """
    V = orthonormal_teacher(problem, "Theorem 1")
    W = student_of(problem, net, differentiable=False)
    finite_number("tolerance", tolerance, minimum=0.0)
    products = W @ V.T
    owners = np.argmax(products, axis=1)
    weights = products[np.arange(len(W)), owners]
    zero = np.linalg.norm(W, axis=1) <= tolerance
    owners[zero], weights[zero] = -1, 0.0
    sums = np.array([weights[owners == i].sum() for i in range(len(V))])
    residual = W - weights[:, None] * V[owners]
    deviation = float(max(np.abs(residual).max(), np.abs(sums - 1).max(), -weights.min(), 0.0))
    return GlobalMinimum(net, owners, weights, deviation) if deviation <= tolerance else None


@typed
def sample_global_minima(
    problem: Problem, count: int = 1, rng: int | np.random.Generator = 0
) -> list[GlobalMinimum]:
    """Random differentiable global minima (paper 003, Theorem 1): a random surjection of neurons onto teacher neurons.

    The weights of the neurons of one teacher neuron are uniform on the simplex.

    >>> from shallows.relu import sample_global_minima
    >>> problem = sh.relu_problem(3)
    >>> net = sample_global_minima(problem, rng=0)[0].network
    >>> f"{np.linalg.eigvalsh(problem.hessian(net))[0]:.6f}", f"{1 / 2 - 1 / np.pi:.6f}"   # Theorem 2, for E(f−y)²
    ('0.181690', '0.181690')
    >>> wide = sh.relu_problem(3, width=5)
    >>> [f"{wide.loss(found.network):.10f}" for found in sample_global_minima(wide, count=3, rng=0)]
    ['0.0000000000', '0.0000000000', '0.0000000000']
    """
    V = orthonormal_teacher(problem, "Theorem 1")
    count = positive_integer("count", count)
    n, k = problem.width, len(V)
    if n < k:
        raise InvalidProblem(
            f"A student of {n} neurons cannot realise a teacher of {k}; global minima need width ≥ {k}."
        )
    source = generator(rng)
    found = []
    for _ in range(count):
        owners = source.permutation(np.concatenate([np.arange(k), source.integers(k, size=n - k)]))
        raw = source.exponential(size=n)
        totals = np.bincount(owners, weights=raw, minlength=k)
        weights = raw / totals[owners]
        net = Network(weights[:, None] * V[owners], activation=ReLU())
        found.append(GlobalMinimum(net, owners, weights, 0.0))
    return found


def shared_pair(problem: Problem, net: Network, theorem: str) -> tuple[int, int, float, float, Array, int]:
    """Two neurons α₁v, α₂v of a differentiable global minimum with n > k: (i, j, α₁, α₂, V, index of v).

    Of all such pairs the one whose smaller weight is largest.
    """
    V = orthonormal_teacher(problem, theorem)
    if problem.n < 2:
        raise InvalidProblem(f"{theorem} needs at least two inputs.")
    form = global_minimum(problem, net)
    if form is None:
        raise InvalidProblem(f"{theorem} starts from a global minimum (Theorem 1); this network is none.")
    student_of(problem, net)
    best: tuple[float, int, int, int] | None = None
    for owner in range(len(V)):
        mine = np.flatnonzero(form.owners == owner)
        if len(mine) > 1:
            i, j = mine[np.argsort(-form.weights[mine])[:2]]
            if best is None or form.weights[j] > best[0]:
                best = (float(form.weights[j]), int(i), int(j), owner)
    if best is None:
        raise InvalidProblem(
            f"{theorem} needs more student than teacher neurons; here n = k = {len(V)}, where the loss is strongly "
            "convex around every global minimum (Theorem 2)."
        )
    _, i, j, owner = best
    return i, j, float(form.weights[i]), float(form.weights[j]), V, owner


def off_direction(V: Array, owner: int) -> Array:
    """A unit vector orthogonal to v_owner: another teacher neuron, or any direction when there is none."""
    if len(V) > 1:
        return np.asarray(V[(owner + 1) % len(V)])
    axis = np.eye(V.shape[1])[int(np.argmin(np.abs(V[owner])))]
    rest = axis - (axis @ V[owner]) * V[owner]
    return np.asarray(rest / np.linalg.norm(rest))
