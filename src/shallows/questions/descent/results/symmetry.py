"""When two end points are the same: up to neuron permutations, signs, the fiber, and the teacher's own symmetries.

- Power(d) networks are compared in function space: s = Σ aᵢ wᵢ^⊗d does not see the order of the neurons, their signs
  (d even), scalings between the layers, nor, for d = 2, where on the fiber a network lies. What is left are the
  coordinate symmetries of target and data, whose orbits are searched.
- Other networks are compared neuron by neuron: rows are neurons, columns the teacher's neurons (or inputs), and two
  matrices are the same when some permutation of rows, and of columns that the teacher cannot tell apart, carries one to
  the other (paper 003, section 4.2); scalings (cw, a/c) and parallel neurons of ReLU are divided out first. Smooth
  invariants find candidates, an explicit matching decides. Not divided out: relu(z) = relu(−z) + z, so ReLU networks
  are one function when their lines ±w carry the same Σ a‖w‖ each and Σ a w is the same. Other neurons with that
  property there are only where the lines are linearly dependent (three neurons at 120° and the opposite three); such
  end points count as different, with equal losses, unless they realise the target.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from shallows.mathematics.same_points import nearest
from shallows.mathematics.tensors import coordinates
from shallows.model.activations import Power, ReLU
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.descent.results.coordinate_symmetries import coordinate_group
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: Points of one class agree to this share of their size: a run that ended at ‖g‖ ≤ 1e-12 is within 1e-12/λ of its
#: point, so this serves curvatures λ down to 1e-7, below which `minima` counts them as zero.
POINT_TOLERANCE = 1e-5
#: Their losses agree to this share of E y²: a run leaves ‖g‖²/λ, and losses carry rounding of 1e-13 at most (measured).
LOSS_TOLERANCE = 1e-8
#: A loss within this share of that window above the lower bound realises the target.
REALISED = 1e-2
#: Sorted invariants of points that close differ by less: they are means of cosines of at most four times an entry.
KEY_TOLERANCE = 1e-4
#: Neurons whose outer weights differ by more are never matched: their cost is raised beyond all others.
LABEL_TOLERANCE, APART = 1e-3, 1e6
#: Gram matrices of exchanged teacher neurons agree to rounding: entries are of size 1 or so.
EXCHANGE_TOLERANCE = 1e-10
#: Most rounds of matching rows and columns in turn; one that does not lower the distance is the last.
ROUNDS = 6
LARGEST_TENSOR = 3_000
#: Unit vectors closer than this are one direction: no other comparison here (KEY_TOLERANCE) tells more apart.
PARALLEL = 1e-4


class View(Protocol):
    """End points in a form in which symmetric ones can be compared."""

    def same(self, i: int, j: int) -> bool:
        """Whether end point i is a symmetric image of end point j."""
        ...


class TensorView:
    """End points as their tensors, up to the coordinate symmetries of the problem."""

    def __init__(self, problem: Problem, thetas: Array) -> None:
        self.tensors = tensors_of(problem, thetas)
        targets, _ = problem._optimum
        self.group = coordinate_group(targets, problem.gram(), problem.n, problem.degree)
        self.scale = float(np.abs(targets).max()) or 1.0

    def same(self, i: int, j: int) -> bool:
        """The closest point of the orbit of j is within 1e-5 of i."""
        images = self.group.orbit(self.tensors[j])
        _, gap = nearest(self.tensors[i].reshape(1, -1), images.reshape(len(images), -1))
        return bool(gap[0] <= POINT_TOLERANCE * (self.scale + np.abs(self.tensors[i]).max()))


def tensors_of(problem: Problem, thetas: Array) -> Array:
    """s = Σ aᵢ wᵢ^⊗d (plus the norm neuron) for each θ, shape (batch, M, N)."""
    W, A, norm = problem._students(thetas)
    U, outer = problem._expand(W, A, norm)
    return np.asarray(outer @ coordinates.monomials(U[..., problem._padding :], problem.degree))


class NeuronView:
    """End points as matrices of neurons against teacher neurons, up to permutations of both."""

    def __init__(self, problem: Problem, thetas: Array) -> None:
        W, A, norm = problem._students(thetas)
        rows, self.labels = _normal_form(problem, W, A)
        self.columns, self.classes = _teacher_columns(problem)
        self.matrices = rows @ self.columns
        self.norm = np.zeros((len(thetas), 1)) if norm is None else norm
        self.row_keys, self.column_keys = _refined_keys(self.matrices, self.labels, self.classes)
        ordered = [np.sort(self.row_keys, axis=1), np.sort(self.column_keys, axis=1)]
        self.invariants = np.concatenate(ordered, axis=1)
        self.scale = float(np.abs(self.matrices).max(initial=0.0)) or 1.0

    def same(self, i: int, j: int) -> bool:
        """Equal invariants, and a matching of neurons and coordinates that carries j to i."""
        gap = np.abs(self.invariants[i] - self.invariants[j]).max()
        if gap > KEY_TOLERANCE or np.abs(self.norm[i] - self.norm[j]).max() > POINT_TOLERANCE * self.scale:
            return False
        return bool(self.distance(i, j) <= POINT_TOLERANCE * self.scale * np.sqrt(self.matrices[i].size))

    def distance(self, i: int, j: int) -> float:
        """‖Mᵢ − P Mⱼ Q‖_F for the best permutations found: columns by keys, then rows and columns by assignment."""
        left = self.matrices[i][:, np.lexsort((self.column_keys[i], self.classes))]
        right = self.matrices[j][:, np.lexsort((self.column_keys[j], self.classes))]
        classes = np.sort(self.classes)
        best = np.inf
        for _ in range(ROUNDS):
            order = _assign(left, right, self.labels[i], self.labels[j])
            right = right[order]
            labels = np.abs(self.labels[i] - self.labels[j][order]).max(initial=0.0)
            penalty = labels if labels > LABEL_TOLERANCE else 0.0
            distance = float(np.linalg.norm(left - right)) + penalty
            if distance >= best:
                break
            best = distance
            right = right[:, _assign(left.T, right.T, classes[:, None], classes[:, None])]
            best = min(best, float(np.linalg.norm(left - right)) + penalty)
            if best < POINT_TOLERANCE * self.scale:
                break
        return best


def _assign(left: Array, right: Array, left_labels: Array, right_labels: Array) -> np.ndarray:
    """The permutation of the rows of `right` closest to `left`; rows with different labels are kept apart."""
    from scipy.optimize import linear_sum_assignment

    squares = np.sum((left[:, None] - right[None]) ** 2, axis=2)
    apart = np.abs(left_labels[:, None] - right_labels[None]).max(axis=2, initial=0.0)
    return np.asarray(
        linear_sum_assignment(squares + np.where(apart > LABEL_TOLERANCE, APART * (1 + squares.max()), 0.0))[
            1
        ]
    )


def _normal_form(problem: Problem, W: Array, A: Array) -> tuple[Array, Array]:
    """Neurons (batch, k, n) and their labels (batch, k, M).

    ReLU networks are scaled to ‖a‖ = 1 (positive homogeneity), and with trained outer weights parallel neurons, which
    are one function, are joined; even activations have their sign fixed.
    """
    labels = A.swapaxes(-1, -2)
    if isinstance(problem.activation, ReLU) and problem.outer is None:
        joined = [
            _joined(w, a)
            for w, a in zip(W, np.broadcast_to(labels, (*W.shape[:2], A.shape[-2])), strict=True)
        ]
        return np.array([w for w, _ in joined]), np.array([a for _, a in joined])
    if isinstance(problem.activation, ReLU) and problem.outputs == 1:
        return W * np.abs(labels), np.sign(labels)
    return W, labels


def _joined(W: Array, labels: Array) -> tuple[Array, Array]:
    """Σ aᵢ relu(wᵢ·x) with neurons ‖b‖u and labels b/‖b‖: b = Σ aᵢ‖wᵢ‖ over those that point along u, zero if idle."""
    lengths = np.linalg.norm(W, axis=1, keepdims=True)
    U, B = W / np.maximum(lengths, TINY), labels * lengths
    sizes = np.linalg.norm(B, axis=1)
    order = np.argsort(-sizes, kind="stable")
    for place, i in enumerate(order):
        for j in order[place + 1 :]:
            if np.any(B[i]) and np.linalg.norm(U[i] - U[j]) <= PARALLEL:
                B[i], B[j] = B[i] + B[j], 0.0
    lengths = np.linalg.norm(B, axis=1, keepdims=True)
    idle = lengths <= POINT_TOLERANCE * sizes.max(initial=0.0)
    lengths = np.where(idle, 0.0, lengths)
    return U * lengths, np.where(idle, 0.0, B / np.maximum(lengths, TINY))


def _teacher_columns(problem: Problem) -> tuple[Array, np.ndarray]:
    """The matrix C with M = W C, and the class of each column; columns of one class may be exchanged.

    With a teacher network whose neurons span the inputs, under N(0, Σ), the columns are Σvⱼ: then M decides W, and
    permuting columns is a symmetry when the Gram matrix VΣVᵀ and the outer weights allow it.
    """
    target, data = problem.target, problem.data.as_gaussian()
    if not isinstance(target, Network) or data is None or not data.centred or problem.affine:
        return np.eye(problem.n), np.arange(problem.n)
    if np.linalg.matrix_rank(target.W) < problem.n or target.width != problem.n or np.any(target.norm):
        return np.eye(problem.n), np.arange(problem.n)
    columns = data.covariance @ target.W.T
    gram = target.W @ columns
    outer = np.atleast_2d(target.a)
    classes = np.arange(target.width)
    for j in range(target.width):
        for i in range(j):
            swap = np.arange(target.width)
            swap[i], swap[j] = j, i
            if np.allclose(gram[np.ix_(swap, swap)], gram, atol=EXCHANGE_TOLERANCE) and np.allclose(
                outer[:, swap], outer
            ):
                classes[j] = classes[i]
                break
    return columns, classes


def _refined_keys(M: Array, labels: Array, classes: np.ndarray, rounds: int = 3) -> tuple[Array, Array]:
    """Smooth invariants of rows and columns: sums of cosines of an entry and of the other side's key, refined in turn.

    A permutation of rows and columns permutes the keys, and a small change of M changes them little, so that sorted
    keys can be compared with a tolerance; this is colour refinement for matrices of real numbers.
    """
    own = np.cos(1.0 + classes)[None, :] + np.zeros((len(M), 1))
    tag = np.sum(np.cos(labels * (1.3 + np.arange(labels.shape[-1]))), axis=-1)
    rows, columns = tag, own
    for r in range(rounds):
        rows = tag + np.mean(np.cos((1.7 + r) * M + 2.1 * columns[:, None, :] + 0.4), axis=2)
        columns = own + np.mean(np.cos((1.1 + r) * M + 1.9 * rows[:, :, None] + 0.9), axis=1)
    return rows, columns


def view(problem: Problem, thetas: Array) -> View:
    """Function space for Power activations of storable size, neurons otherwise."""
    power = isinstance(problem.activation, Power) and not problem.affine and _has_gram(problem)
    if power and coordinates.dimension(problem.n, problem.degree) <= LARGEST_TENSOR:
        return TensorView(problem, thetas)
    return NeuronView(problem, thetas)


def _has_gram(problem: Problem) -> bool:
    target = problem.target
    if isinstance(target, Network):
        return target.activation == problem.activation
    return target is None or target.degree == problem.degree


def group(problem: Problem, thetas: Array, losses: Array, scale: float) -> list[np.ndarray]:
    """Indices of end points, one array a class, sorted by loss; two points of one class have equal losses.

    Points at the lower bound of the loss are one class: they all realise the target. Biases are weights of a constant.
    """
    if not len(thetas):
        return []
    if problem.bias:
        problem, thetas = problem.homogeneous(), problem.lift(thetas)
    lens = view(problem, thetas)
    groups: list[list[int]] = []
    order = np.argsort(losses, kind="stable")
    window = LOSS_TOLERANCE * scale
    bottom = lower_bound(problem)
    for index in order:
        i = int(index)
        home = None
        for candidate in reversed(groups):
            first = candidate[0]
            if losses[i] - losses[candidate[-1]] > window and losses[i] - losses[first] > window:
                break
            realised = (
                isinstance(lens, NeuronView) and max(losses[i], losses[first]) <= bottom + window * REALISED
            )
            if realised or lens.same(i, first):
                home = candidate
                break
        if home is None:
            groups.append([i])
        else:
            home.append(i)
    return [np.array(members) for members in groups]


def lower_bound(problem: Problem) -> float:
    """What no student can beat: the least-squares floor for Power activations on samples, else zero."""
    if isinstance(problem.activation, Power) and problem.target is None and not problem.orthogonality:
        return float(problem.floor)
    return 0.0
