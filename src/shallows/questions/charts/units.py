"""Targets in their own units: of size about one, by an exact power of two.

Critical tensors scale with the target, s(λt) = λ s(t), and their neurons with its d-th root. With λ = 2^(dm) both are
exact in doubles, so strata are charted for t/λ, where no square over- or underflows, and what is found is scaled back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.questions.charts.closure.closure import Closure
from shallows.questions.charts.points.stratum import RealFamily, RealPoint, Stratum
from shallows.support.checks import Array

#: Targets between 2^−30 and 2^30, 10⁻⁹ and 10⁹, are charted as they are.
ORDINARY = 30

Part = TypeVar("Part", Stratum, Closure)


@dataclass(frozen=True)
class Units:
    """`problem` with the target divided by 2^(d·`exponent`)."""

    problem: Problem
    exponent: int

    @classmethod
    def of(cls, problem: Problem) -> Units:
        """The problem itself where its target is of ordinary size, or cannot be scaled exactly."""
        size = float(np.abs(problem.target_tensor().entries).max())
        power = round(float(np.log2(size)) / problem.degree) if 0.0 < size < np.inf else 0
        if type(problem) is not Problem or abs(power * problem.degree) < ORDINARY:
            return cls(problem, 0)
        exponent = -power * problem.degree
        target, data = (
            _scaled(problem.target, exponent),
            problem.data.with_right_times(Fraction(2) ** exponent),
        )
        other = problem.outputs != 1 or problem.affine or problem.norm_neuron or problem.orthogonality
        if target is None or data is None or other:
            return cls(problem, 0)
        outer = "free" if problem.outer is None else problem.outer
        return cls(Problem(target, data, problem.width, problem.activation, outer), power)

    def restored(self, point: RealPoint) -> RealPoint:
        """A point of `problem` in the units given."""
        if not self.exponent:
            return point
        proof, scale = point.certificate, self.exponent * self.problem.degree
        return replace(
            point,
            vectors=np.ldexp(point.vectors, self.exponent),
            merged=np.ldexp(point.merged, self.exponent),
            triples=np.ldexp(point.triples, self.exponent),
            jets=tuple(
                replace(jet, w=np.ldexp(jet.w, self.exponent), v=np.ldexp(jet.v, self.exponent))
                for jet in point.jets
            ),
            certificate=None
            if proof is None
            else replace(proof, radius=float(np.ldexp(proof.radius, scale))),
        )

    def restored_part(self, part: Part) -> Part:
        """A stratum of `problem`, or its limits, in the units given."""
        points = [self.restored(point) for point in part.found]
        return replace(
            part, found=points, families=[self.restored_family(family) for family in part.families]
        )

    def restored_family(self, family: RealFamily) -> RealFamily:
        """A family of `problem` in the units given."""
        if not self.exponent:
            return family
        scale = self.exponent * self.problem.degree
        samples = [SymmetricTensor(np.ldexp(s.entries, scale), s.n, s.degree) for s in family.samples]
        return replace(family, point=self.restored(family.point), samples=tuple(samples))


def _scaled(target: object, exponent: int) -> Network | SymmetricTensor | None:
    """The target times 2^exponent, or None where that is not exact."""
    if isinstance(target, SymmetricTensor):
        entries = _times(target.entries, exponent)
        return None if entries is None else SymmetricTensor(entries, target.n, target.degree)
    if (
        isinstance(target, Network)
        and isinstance(target.activation, Power)
        and target.bias is None
        and not target.norm
    ):
        a = _times(target.a, exponent)
        return None if a is None else Network(target.W, a, target.activation)
    return None


def _times(values: Array, exponent: int) -> Array | None:
    moved = np.ldexp(values, exponent)
    return np.asarray(moved) if np.array_equal(np.ldexp(moved, -exponent), values) else None
