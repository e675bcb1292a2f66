"""One neuron without bias in one input, exactly: a p(wx) is critical at the real roots of one polynomial in w.

a is the best one, (ψ·b)/(ψᵀGψ), and (ψ′·b)(ψᵀGψ) − (ψ·b)(ψ′ᵀGψ) = 0. Roots are isolated, multiple ones too, whatever
the target is: where paths are lost on their way to a special one the list is proved all the same. w = 0 is a neuron if
p has a constant; where it has no slope that is always critical, and listed with constants.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import fmpq_poly

from shallows.mathematics.exact.binary_forms import real_roots
from shallows.mathematics.exact.linear_algebra import to_flint
from shallows.mathematics.exact.rational_arrays import rational_matrix
from shallows.mathematics.same_points import PointSet
from shallows.model.activations import polynomial_of
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.best_on_line import along, critical_polynomial, paired
from shallows.questions.charts.neurons.real import sort_neurons
from shallows.questions.charts.neurons.stratum import NeuronStratum


def by_roots(
    problem: Problem, space: PolynomialSpace, rank: int, stratum: NeuronStratum, certify: bool
) -> NeuronStratum:
    """The stratum, or, of one neuron in one input whose paths are not all accounted for, that of the exact roots."""
    plain = problem.n == 1 and not problem.bias and problem.outer is None
    if stratum.completeness != "sampled" or rank > 1 or not plain:
        return stratum
    c = polynomial_of(problem.activation).coefficients[list(space.degrees)]
    u = [fmpq_poly([0] * j + [to_flint(Fraction(float(x)))]) for j, x in zip(space.degrees, c, strict=True)]
    b, gram = [to_flint(x) for x in space.exact.right], rational_matrix(space.exact.gram)
    whole = critical_polynomial(u, [row.derivative() for row in u], b, gram)
    if not whole:
        return stratum
    whole = whole // whole.gcd(whole.derivative())
    still = [fmpq_poly([0, 1])] if space.degrees[:2] != (0, 1) else []
    for trivial in (*still, along(u, b), paired(u, u, gram)):
        whole = whole // whole.gcd(trivial)
    places = np.array([float(ball.mid()) for ball, _ in real_roots(whole)])[:, None]
    values = stratum.system.equations.neuron.values(places)
    a = (values @ space.right) / np.einsum("ij,jk,ik->i", values, space.gram, values)
    points = np.column_stack([a, places[:, 0]]).astype(np.complex128)
    equations = stratum.system.equations
    once = PointSet(points, invariants=equations.tensors).points
    return replace(
        stratum,
        found=sort_neurons(stratum.system, once, certify).found,
        count=whole.degree() // len(equations.turns),
        notes=[f"rank 1: {len(once)} real, the roots of one polynomial"],
        completeness="proved",
        singular=stratum.singular[:0],
        escaped=0,
    )
