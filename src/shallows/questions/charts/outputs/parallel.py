"""Several outputs that are one output, seen several times: parallel fixed outer weights, or parallel targets.

*Outer weights a_mi = p_m cᵢ are fixed.* A network is p f, f = Σ cᵢ σ(wᵢ·x + bᵢ), whatever σ is, and

    E‖p f − y‖² = ‖p‖² E(f − ŷ)² + E‖y‖² − ‖p‖² Eŷ²,      ŷ = Σ p_m y_m / ‖p‖²:

the loss of f against one label, in other units; an orthogonality penalty γ becomes γ/‖p‖². Critical networks, kinds,
signatures and limits are those of f, with infinitely many networks for one function or not. Norm neurons ν‖x‖² are one
beside f, p·ν/‖p‖², and across p the best ones of the labels there, whatever f is.

*Outer weights are trained, and students see of all targets multiples p_m y of one,* E[g y_m] = p_m E[g y] for every
neuron g. Let q be orthogonal to p, and S_q, T_q network and target in this direction, so that E[g T_q] = 0. Slopes in
the outer weights, E[fᵢ (S_q − T_q)] = E[fᵢ S_q], are zero for all neurons fᵢ of a critical network, and S_q is a
combination of them, so that E S_q² = 0. What is left is p f with f critical for one output: slopes in wᵢ are
Σ_m a_mi E[∂fᵢ (S_m − y_m)], to which directions across p add nothing, whatever weights they have (neurons that depend
on each other leave some). The loss of any network S, p f its part along p, is

    L(S) = ‖p‖² E(f − y)² + Σ_q E S_q² + what no network changes,

and f is a network, or a limit, of the same neurons. No S is lower than its p f, so that minima stay minima; what
descends does, as p f is one of the networks. Σ E S_q² is a positive form on weights across p: with r neurons in use
r(M − 1) more positive directions, for limits too, whose parts have weights of their own. (Forms of rank two and more
are sums of squares in many ways: the directions are those of the network that is listed.) Targets of which nothing is
seen are 0·y.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.exact.rational_arrays import fractions
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power, polynomial_of
from shallows.model.data.base import InnerProduct
from shallows.model.data.samples import Samples
from shallows.model.network import Network
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.model.single_outputs import single_outputs
from shallows.questions.charts.points.kinds import ROUNDINGS
from shallows.questions.charts.points.point import Certificate, Points, Reread
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem
from shallows.support.tolerances import EPSILON

#: What a chart says where ŷ is rounded: what is proved of it is not proved of the labels as they are stored.
ROUNDED = "labels of the outputs are added up in doubles: points are proved for what is rounded, and so not called so"

#: What it says where targets are multiples of one but for rounding, as products of doubles are.
DEPENDS = (
    "targets are multiples of one but for rounding, and are taken for that: points are not called proved"
)
#: Slopes that are parallel to this share of their size are looked at exactly: far above rounding.
NEARLY = 1e-8
#: Layers of random neurons whose slopes are compared; two would show that outputs differ.
DRAWS = 3


@dataclass(frozen=True)
class OneOutput:
    """p, the problem of `unit`·f, and what a chart says where its labels are rounded, "" where they are exact."""

    factors: Array
    single: Problem
    rounded: str = ""
    unit: float = 1.0

    @property
    def weight(self) -> float:
        """How many times the loss of the single output counts."""
        return float(self.factors @ self.factors) / self.unit**2


def one_output(problem: Problem) -> OneOutput | None:
    """The problem of one output that stands for several; None where neither outer weights nor targets are parallel."""
    if problem.outputs == 1:
        return None
    return _parallel_targets(problem) if problem.outer is None else _parallel_weights(problem, problem.outer)


def _parallel_weights(problem: Problem, outer: Array) -> OneOutput | None:
    """Fixed outer weights p cᵀ: ‖p‖² f against Σ p_m y_m, so that no label is divided."""
    if not outer.any():
        return None
    lead = int(np.argmax(np.abs(outer).max(axis=0)))
    p = outer[:, lead]
    place = int(np.argmax(np.abs(p)))
    c = outer[place] / p[place]
    if np.any(np.multiply.outer(fractions(p), fractions(c)) != fractions(outer)):
        return None
    square = float(p @ p)
    target, data, exact = labels_along(problem, p)
    single = Problem(
        target,
        data,
        problem.width,
        problem.activation,
        c * square,
        problem.norm_neuron,
        orthogonality=problem.orthogonality * square,
        bias=problem.bias,
    )
    exact = exact and float(sum(x * x for x in fractions(p))) == square
    return OneOutput(p, single, "" if exact else ROUNDED, square)


def _parallel_targets(problem: Problem) -> OneOutput | None:
    """Trained outer weights and targets p_m y: f against the largest of them as it is given, |p_m| ≤ 1.

    Left to others: a penalty (`penalty.one_direction`), linear networks, closed for all targets, and norm neurons on
    (1, x), which are decided on x.
    """
    one_input = problem.n == 1 and isinstance(problem.activation, Power)
    linear = polynomial_of(problem.activation).degree == 1 or (
        one_input and not (problem.bias or problem.norm_neuron)
    )
    norm_apart = bool(problem.norm_neuron and problem.constants)
    if linear or problem.orthogonality or norm_apart or not _look_parallel(problem):
        return None
    seen = _exact_rights(problem)
    lead, place = np.unravel_index(int(np.argmax(np.abs(seen))), seen.shape)
    pivot, rounded = seen[lead, place], ""
    p = np.eye(problem.outputs)[lead]
    if pivot:
        p = np.array([float(x / pivot) for x in seen[:, place]])
    if pivot and np.any(np.multiply.outer(seen[:, place], seen[lead]) != seen * pivot):
        from shallows.questions.charts.outputs.neuron_system import independent

        if independent(seen.astype(np.float64)).shape[1] > 1:
            return None
        rounded = DEPENDS
    one = single_outputs(problem)[lead]
    given = one.target, one.data, problem.width, problem.activation
    return OneOutput(p, Problem(*given, norm_neuron=problem.norm_neuron, bias=problem.bias), rounded)


def _look_parallel(problem: Problem) -> bool:
    """Whether slopes in the outer weights of random neurons, E[fᵢ y_m], are multiples p_m of one row: False is sure but
    for rounding, and needs no fractions."""
    rng, layout = np.random.default_rng(0), problem.layout
    norms = best_norms(problem) if problem.norm_neuron else np.zeros(problem.outputs)
    zero, rows = np.zeros((problem.outputs, problem.width)), []
    for _ in range(DRAWS):
        neurons = rng.standard_normal((problem.width, problem.n + problem.bias))
        slope = layout.split(problem.value_and_gradient(layout.join(neurons, zero, norms))[1])[1]
        assert slope is not None
        rows.append(slope)
    slopes = np.concatenate(rows, axis=1)
    if not np.isfinite(slopes).all():  # of targets that are refused
        return False
    values = np.linalg.svd(slopes, compute_uv=False)
    return bool(values[1] <= NEARLY * values[0])


def _exact_rights(problem: Problem) -> NDArray[Any]:
    """What students see of each output, a row each, exactly; norm neurons at their best."""
    if isinstance(problem.activation, Power):
        from shallows.questions.charts.outputs.exact_loss import OutputsLoss

        return OutputsLoss.of(problem.homogeneous()).right
    return np.array([PolynomialSpace.of(one).exact.right for one in single_outputs(problem)], dtype=object)


def labels_along(problem: Problem, p: Array) -> tuple[Network | None, InnerProduct, bool]:
    """Σ p_m y_m, as labels or as a teacher, and whether that is exact."""
    samples, target = problem.data.as_samples(), problem.target
    if samples is not None and target is None:
        assert samples.y is not None
        y = samples.y.reshape(samples.count, -1)
        return None, Samples(samples.X, y @ p, samples.given), _is_exact(y, p)
    assert isinstance(target, Network)
    norm = float(p @ (target.norm * np.ones(len(p))))
    made = Network(target.W, p @ target.a, target.activation, norm, target.bias)
    return made, problem.data, _is_exact(target.a.T, p) and not np.any(target.norm)


def _is_exact(rows: Array, p: Array) -> bool:
    """Whether the products and sums of rows @ p are without rounding."""
    exact = fractions(rows) @ fractions(p)
    return all(Fraction(float(x)) == y for x, y in zip((rows @ p).tolist(), exact.tolist(), strict=True))


@dataclass(frozen=True)
class Seen(Reread):
    """A maker of the points of f, whose networks have all outputs."""

    problem: Problem
    found: OneOutput
    across: Array

    def network(self, i: int) -> Network:
        """The same neurons with the problem's outer weights, p times those of f where they are trained."""
        net, p, unit = self.inner.network(i), self.found.factors, self.found.unit
        norm = p * net.norm / unit + self.across
        outer = np.outer(p, net.a) / unit if self.problem.outer is None else self.problem.outer
        return Network(net.W, outer, net.activation, norm, net.bias)

    def tensor(self, i: int) -> SymmetricTensor:
        """Several outputs have no one tensor."""
        raise InvalidProblem(
            f"This problem has {self.problem.outputs} outputs, and its points as many tensors: use point.tensors."
        )

    def certificate(self, i: int) -> Certificate | None:
        """That of `unit`·f, for entries p_m f, and what rounding of the weights p_m aᵢ adds."""
        proof = self.inner.certificate(i)
        if proof is None or self.found.rounded:
            return None
        share = float(np.abs(self.found.factors).max()) / self.found.unit
        rounding = ROUNDINGS * EPSILON * _size(self.inner.network(i))
        return replace(proof, radius=share * (proof.radius + rounding))

    def escape(self, i: int) -> SymmetricTensor | None:
        """Directions of several outputs are no one tensor."""
        return None

    def family(self, i: int) -> tuple[str, tuple[SymmetricTensor, ...]]:
        """What it is; there are no samples, which would be tensors."""
        return self.inner.family(i)[0], ()


def with_outputs(problem: Problem, found: OneOutput, chart: Chart) -> Chart:
    """The chart of a problem of parallel outputs from that of f."""
    across = _norms_across(problem, found)
    zero = problem.unpack(np.concatenate([np.zeros(problem.size - len(across)), across]))
    start = found.single.loss(found.single.unpack(np.zeros(found.single.size)))
    table = chart.critical.table
    most = problem.loss(zero)
    rest = most - found.weight * start
    rest = 0.0 if abs(rest) <= ROUNDINGS * EPSILON * most else rest
    maker = Seen(chart.critical.maker, problem, found, across if len(across) else np.zeros(problem.outputs))
    more = max(len(across) - 1, 0) + (problem.outputs - 1) * table.rank * (problem.outer is None)
    level = chart.completeness
    rounded = level == "proved" and bool(found.rounded)
    seen = replace(
        table,
        loss=np.asarray(rest + found.weight * table.loss),
        signature=table.signature + np.multiply.outer(more, [1, 0, 0]),
    )
    return replace(
        chart,
        critical=Points(seen, maker, problem, chart.critical.places),
        completeness="count-matched" if rounded else level,
        notes=(*chart.notes, found.rounded) if found.rounded else chart.notes,
        problem=problem,
    )


def _size(net: Network) -> float:
    """A bound of the entries of a network's terms, Σ |aᵢ| Σⱼ |cⱼ| (|bᵢ| + ‖wᵢ‖)ʲ."""
    lengths = np.linalg.norm(net.W, axis=1) + (0.0 if net.bias is None else np.abs(net.bias))
    terms = np.polynomial.polynomial.polyval(lengths, np.abs(polynomial_of(net.activation).coefficients))
    return float(np.abs(net.a) @ terms)


def _norms_across(problem: Problem, found: OneOutput) -> Array:
    """The best norm neurons beside p times that of f, which no f changes; none without norm neurons."""
    if not problem.norm_neuron:
        return np.zeros(0)
    return np.asarray(best_norms(problem) - found.factors * best_norms(found.single) / found.unit)


def best_norms(problem: Problem) -> Array:
    """The best norm neurons beside nothing: the loss is quadratic in each."""
    theta = np.zeros(problem.size)
    slope = problem.value_and_gradient(theta)[1][-problem.outputs :]
    theta[-problem.outputs :] = 1.0
    return np.asarray(-slope / (problem.value_and_gradient(theta)[1][-problem.outputs :] - slope))
