"""Two critical neurons without bias in one input whose slope is not zero, p of four powers: exactly.

q(w) = E[p(wx) r] = Σ eⱼcⱼwʲ has double roots u and ρu. With q(w) = λ Σ êⱼ(w/u)ʲ that is four equations for ê alone,
which have a solution where det(1, j, ρʲ, jρʲ) = 0: finitely many ρ. The network is s = t + λG⁻¹e with e·s = 0, and
h·s = 0 for another polynomial h of these powers with roots u and ρu: one polynomial equation for 1/u,

    (h·t)(eᵀG⁻¹e) − (e·t)(hᵀG⁻¹e) = 0.

Pairs of such a network and its target are a component apart from those with s = t, which two neurons fill as well:
paths from generic neurons lead to these alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import acb, acb_poly, arb, arb_mat, fmpq_mat, fmpq_poly

from shallows.mathematics.balls.systems import precision
from shallows.mathematics.exact.binary_forms import real_roots
from shallows.mathematics.exact.rational_arrays import rational_matrix
from shallows.mathematics.same_points import PointSet
from shallows.model.activations import PolynomialActivation, polynomial_of
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.best_on_line import critical_polynomial
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.real import NeuronPoint, sort_neurons
from shallows.questions.charts.neurons.stratum import own_neuron
from shallows.questions.charts.neurons.wide_line import PAIRED, is_mirrored, most_neurons
from shallows.support.checks import Array

#: What is left out where more neurons than two would have to be looked for in this way.
WITHOUT_SLOPES = (
    "networks with fewer neurons in use, and the target: others whose slope is not zero are not charted"
)
#: Bits in which ρ is known when 1/u is solved for: cancellation of some dozen digits leaves more than doubles have.
BITS = 256
#: Neurons and slopes below this share of the target are none: s is the target, or has one neuron.
NONE = 1e-10


def has_double_roots(problem: Problem) -> bool:
    """Whether a problem has such pairs."""
    activation = problem.activation
    if not isinstance(activation, PolynomialActivation) or problem.outer is not None or problem.bias:
        return False
    one = problem.n == problem.outputs == 1
    return bool(one and problem.width > 1 and np.count_nonzero(activation.coefficients) == PAIRED)


def leaves_slopes_out(problem: Problem) -> bool:
    """Whether neurons in one input fill their functions, and may be critical with a slope all the same: signs allow as
    many, and p has not four powers."""
    activation = problem.activation
    if not isinstance(activation, PolynomialActivation) or problem.outer is not None or problem.bias:
        return False
    powers = np.flatnonzero(activation.coefficients).tolist()
    whole = problem.n == problem.outputs == 1 and 2 * problem.width >= len(powers) and problem.width > 1
    return whole and len(powers) != PAIRED and most_neurons(powers) > (len(powers) - 1) // 2


def double_root_networks(problem: Problem, space: PolynomialSpace, certify: bool) -> list[NeuronPoint]:
    """All of them."""
    system = NeuronSystem(NeuronEquations(own_neuron(problem), 2), space.exact)
    with precision(BITS):
        found = [x for rho in _ratios(space.degrees) for x in _networks(problem, space, rho)]
    points = np.array(found, np.complex128).reshape(-1, PAIRED)
    return sort_neurons(system, PointSet(points, invariants=system.equations.tensors).points, certify).found


def _ratios(powers: tuple[int, ...]) -> list[arb]:
    """The ρ with 0 < |ρ| < 1, or −1 if that is another neuron: of ρ and 1/ρ one will do."""
    x = fmpq_poly([0, 1])
    rows = [[x**j for j in powers], [x**j * j for j in powers]]
    nodes = range(4 * powers[-1] + 1)
    values = [
        fmpq_mat([[1] * PAIRED, list(powers), *([p(k) for p in row] for row in rows)]).det() for k in nodes
    ]
    table = fmpq_mat([[k**i for i in nodes] for k in nodes])
    solved = table.solve(fmpq_mat([[value] for value in values]))
    whole = fmpq_poly([solved[i, 0] for i in nodes])
    for trivial in (fmpq_poly([0, 1]), fmpq_poly([-1, 1]), *([fmpq_poly([1, 1])] * is_mirrored(powers))):
        while whole.degree() > 0 and not whole % trivial:
            whole = whole // trivial
    roots = [arb(ball) for ball, _ in real_roots(whole)]
    kept = [rho for rho in roots if abs(rho) < 1 or (rho + 1).contains(0)]
    return [rho for rho in kept if rho > 0] if is_mirrored(powers) else kept


def _networks(problem: Problem, space: PolynomialSpace, rho: arb) -> list[Array]:
    """(a, u, a′, ρu) for every real u."""
    powers = space.degrees
    c = [arb(float(polynomial_of(problem.activation).coefficients[j])) for j in powers]
    first, second = _polynomials(powers, rho)
    e, h = (
        [acb_poly([0] * j + [acb(v / x)]) for j, v, x in zip(powers, row, c, strict=True)]
        for row in (first, second)
    )
    inverse = arb_mat(rational_matrix(space.exact.gram).inv())
    target = [arb(x) for x in rational_matrix(space.exact.target[:, None]).entries()]

    whole = critical_polynomial(e, h, target, inverse)
    found = []
    for root in _nonzero_roots(whole):
        if root.imag.contains(0) and not root.real.contains(0):
            x = _network(problem, space, 1 / float(root.real.mid()), float(rho.mid()))
            found += [] if x is None else [x]
    return found


def _nonzero_roots(p: Any) -> list[Any]:
    """The roots of a polynomial but 0, which is a root where its lowest coefficients are none."""
    coefficients = p.coeffs()
    while coefficients and coefficients[0].contains(0):
        coefficients = coefficients[1:]
    while coefficients and coefficients[-1].contains(0):
        coefficients = coefficients[:-1]
    return list(acb_poly(coefficients).roots()) if len(coefficients) > 1 else []


def _polynomials(powers: tuple[int, ...], rho: arb) -> tuple[list[arb], list[arb]]:
    """The polynomial of these powers with double roots 1 and ρ, its last coefficient 1, and another with these roots
    whose last coefficient is 0: there is none with three powers and two double roots."""
    rows = [[arb(1)] * PAIRED, [rho**j for j in powers], [arb(j) for j in powers]]
    left = arb_mat([row[:3] for row in rows]).solve(arb_mat([[-row[3]] for row in rows]))
    (a, b, c), (x, y, z) = rows[0][:3], rows[1][:3]
    return [*left.entries(), arb(1)], [b * z - c * y, c * x - a * z, a * y - b * x, arb(0)]


def _network(problem: Problem, space: PolynomialSpace, u: float, rho: float) -> Array | None:
    """The best outer weights of these neurons; None where one of them is zero, or the network is the target."""
    neuron = own_neuron(problem)
    values = neuron.values(np.array([[u], [rho * u]]))
    a = np.linalg.solve(values @ space.gram @ values.T, values @ space.right)
    size = float(np.abs(space.target).max())
    terms = np.abs(a[:, None] * values).max(axis=1)
    gap = float(np.abs(a @ values - space.target).max())
    if min(float(terms.min()), gap) <= NONE * size:
        return None
    return np.array([a[0], u, a[1], rho * u])
