"""Several outputs whose fixed outer weights are all multiples of one vector: one output, seen several times.

Let a_mi = p_m cᵢ. A network is p f, f = Σ cᵢ σ(wᵢ·x + bᵢ), whatever σ is, and

    E‖p f − y‖² = ‖p‖² E(f − ŷ)² + E‖y‖² − ‖p‖² Eŷ²,      ŷ = Σ p_m y_m / ‖p‖²:

the loss of f against one label, in other units; an orthogonality penalty γ becomes γ/‖p‖². Critical networks, kinds,
signatures and limits are those of f, with infinitely many networks for one function or not. Norm neurons ν‖x‖² are one
beside f, p·ν/‖p‖², and across p the best ones of the labels there, whatever f is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from shallows.mathematics.exact.rational_arrays import fractions
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.data.base import InnerProduct
from shallows.model.data.samples import Samples
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.points.point import Certificate, Points, Reread
from shallows.questions.charts.result import Chart
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem

#: What a chart says where ŷ is rounded: what is proved of it is not proved of the labels as they are stored.
ROUNDED = "labels of the outputs are added up in doubles: points are proved for what is rounded, and so not called so"


@dataclass(frozen=True)
class OneOutput:
    """p, the problem of f, and whether its labels are exact."""

    factors: Array
    single: Problem
    exact: bool


def one_output(problem: Problem) -> OneOutput | None:
    """The problem of one output that stands for several; None where outer weights are not all parallel, or trained."""
    outer = problem.outer
    if problem.outputs == 1 or outer is None or not outer.any():
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
    return OneOutput(p, single, exact and float(sum(x * x for x in fractions(p))) == square)


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

    @property
    def square(self) -> float:
        """‖p‖²."""
        return float(self.found.factors @ self.found.factors)

    def network(self, i: int) -> Network:
        """The same neurons with the problem's outer weights, p times those of f where they are trained."""
        net, p = self.inner.network(i), self.found.factors
        norm = p * net.norm / self.square + self.across
        outer = np.outer(p, net.a) / self.square if self.problem.outer is None else self.problem.outer
        return Network(net.W, outer, net.activation, norm, net.bias)

    def tensor(self, i: int) -> SymmetricTensor:
        """Several outputs have no one tensor."""
        raise InvalidProblem(
            f"This problem has {self.problem.outputs} outputs, and its points as many tensors: use point.tensors."
        )

    def certificate(self, i: int) -> Certificate | None:
        """That of ‖p‖² f, whose entries are at least as large as those of the outputs where ‖p‖ ≥ 1."""
        proof = self.inner.certificate(i)
        if proof is None or not self.found.exact:
            return None
        return replace(proof, radius=proof.radius * max(1.0, 1 / self.square))

    def escape(self, i: int) -> SymmetricTensor | None:
        """Directions of several outputs are no one tensor."""
        return None

    def family(self, i: int) -> tuple[str, tuple[SymmetricTensor, ...]]:
        """What it is; there are no samples, which would be tensors."""
        return self.inner.family(i)[0], ()


def with_outputs(problem: Problem, found: OneOutput, chart: Chart) -> Chart:
    """The chart of a problem with parallel outer weights from that of f."""
    square = float(found.factors @ found.factors)
    across = _norms_across(problem, found.factors)
    zero = problem.unpack(np.concatenate([np.zeros(problem.size - len(across)), across]))
    start = found.single.loss(found.single.unpack(np.zeros(found.single.size)))
    table = chart.critical.table
    loss = problem.loss(zero) + (table.loss - start) / square
    maker = Seen(chart.critical.maker, problem, found, across if len(across) else np.zeros(problem.outputs))
    signature = table.signature + np.array([max(len(across) - 1, 0), 0, 0])
    level = chart.completeness
    rounded = level == "proved" and not found.exact
    return replace(
        chart,
        critical=Points(
            replace(table, loss=np.asarray(loss), signature=signature), maker, problem, chart.critical.places
        ),
        completeness="count-matched" if rounded else level,
        notes=(*chart.notes, ROUNDED) if not found.exact else chart.notes,
        problem=problem,
        title=f"{problem!r}",
    )


def _norms_across(problem: Problem, p: Array) -> Array:
    """The best norm neurons across p, which no f changes; none without norm neurons."""
    if not problem.norm_neuron:
        return np.zeros(0)
    best = best_norms(problem)
    return np.asarray(best - p * (p @ best) / (p @ p))


def best_norms(problem: Problem) -> Array:
    """The best norm neurons beside nothing: the loss is quadratic in each."""
    theta = np.zeros(problem.size)
    slope = problem.gradient(problem.unpack(theta))[-problem.outputs :]
    theta[-problem.outputs :] = 1.0
    return np.asarray(-slope / (problem.gradient(problem.unpack(theta))[-problem.outputs :] - slope))
