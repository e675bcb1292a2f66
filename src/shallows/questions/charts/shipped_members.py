"""The members that come with the package: which shapes, and how their files are made.

    python -m shallows.questions.charts.shipped_members          (all; or names to make again)

solves them anew, without what is on disk, and writes them beside `continuation.kept_members`. Solving is deterministic
up to rounding, so a file that is made again holds the same solutions, perhaps in another order.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from shallows.model.activations import Polynomial
from shallows.model.data.gaussian import Gaussian
from shallows.model.network import Network
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.closure.equations import MergedEquations
from shallows.questions.charts.continuation import generic_members
from shallows.questions.charts.continuation.detours import Detours
from shallows.questions.charts.continuation.equations import CriticalEquations, SolvedMember
from shallows.questions.charts.continuation.kept_members import SHIPPED, name_of, write_member
from shallows.questions.charts.continuation.metrics import Kind, KindOfMetrics, SpecialMetrics
from shallows.questions.charts.matrices.equations import LowRankEquations
from shallows.questions.charts.neurons.balanced import BalancedNeurons
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.members import solve_invariant
from shallows.questions.charts.neurons.metrics import RotationInvariantMetrics
from shallows.questions.charts.outputs.equations import OutputEquations
from shallows.questions.charts.outputs.merged_equations import MergedOutputEquations
from shallows.questions.charts.outputs.metrics import InvariantMetrics, MovedMetrics
from shallows.questions.charts.outputs.special_map import SpecialEquations
from shallows.questions.charts.outputs.special_position import special_kinds
from shallows.questions.charts.powers.equations import PowerEquations

#: Degrees and inputs of sums of two powers, and of limits of two merged neurons, that are shipped for all metrics.
PAIRS = ((3, 2), (3, 3), (4, 2), (4, 3), (5, 2))
#: Degrees and inputs of sums of three powers, and of all limits of three neurons, that are shipped.
TRIPLES = ((5, 2), (6, 2), (3, 3))
#: Kinds of special metrics that are shipped beside all metrics, and for which of these.
KINDS: tuple[Kind, ...] = ("Gaussian", "Frobenius")
SPECIAL = ((3, 2), (3, 3), (4, 2))
#: Degrees, inputs and ranks of powers under a Gaussian moved along a line, as (1, x) is with a bias: long to solve.
MOVED = ((4, 3, 2),)
#: Degrees and inputs of two neurons with two outputs, and of their limits, under all metrics and under invariant ones;
#: squares of (1, x) in two inputs are shipped beside them.
OUTPUTS = ((2, 3), (3, 2))
#: Activations of one neuron with a bias in two inputs under Gaussian data that are typed first, 4 to 26 s to solve, and
#: which of them come with an outer weight fixed to one: of z² + z³ one of 64 points is lost.
BIASED = ((0.0, 1.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0), (0.0, 1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 1.0))
FIXED = tuple(c for c in BIASED if c[1])
#: Sizes and ranks of matrices.
MATRICES = ((3, 2), (4, 2), (4, 3))


def shapes() -> Iterator[tuple[Any, KindOfMetrics | None]]:
    """The equations and metrics of all members that are shipped."""
    two = [(place, 2, ((2,),)) for place in PAIRS]
    three = [(place, 3, ((2, 1), (3,))) for place in TRIPLES]
    for (degree, n), r, merged in (*two, *three):
        limits = [MergedEquations(degree, n, blocks) for blocks in merged]
        for equations in (PowerEquations(degree, n, r), *limits):
            yield equations, None
            for kind in KINDS if (degree, n) in SPECIAL else ():
                yield equations, SpecialMetrics(kind, degree, n)
    for degree, n, r in MOVED:
        yield PowerEquations(degree, n, r), SpecialMetrics("moved Gaussian", degree, n)
    for degree, n in OUTPUTS:
        for metrics in (None, InvariantMetrics(degree, n)):
            yield OutputEquations.of_powers(degree, n, 2, 2), metrics
            yield MergedOutputEquations(degree, n, 2, (2,)), metrics
    yield OutputEquations.of_powers(2, 3, 2, 2), MovedMetrics("moved Gaussian", 2, 3)
    for metrics in (None, InvariantMetrics(2, 3)):
        for place in special_kinds(3, 2):
            yield SpecialEquations(3, (2,), 2, place.groups), metrics
    for n, r in MATRICES:
        yield LowRankEquations(n, r), None
    for coefficients in BIASED:
        yield from _one_neuron(coefficients)


def _one_neuron(coefficients: tuple[float, ...]) -> Iterator[tuple[NeuronEquations, KindOfMetrics | None]]:
    """One neuron of two inputs with a bias, its outer weight trained or 1, under Gaussian data."""
    sigma = Polynomial(coefficients)
    teacher = Network([[1.0, 2.0]], [1.0], sigma, bias=[0.5])
    for outer in (None, ((1.0,),))[: 1 + (coefficients in FIXED)]:
        problem = Problem(teacher, Gaussian(2), width=1, outer="ones" if outer else "free", bias=True)
        even = BalancedNeurons.of(problem, PolynomialSpace.of(problem))
        yield NeuronEquations(even.neuron, 1, outer=outer), even.special


def solved(equations: CriticalEquations, special: KindOfMetrics | None) -> SolvedMember:
    """A member, solved now whatever is on disk."""
    if isinstance(equations, NeuronEquations) and isinstance(special, RotationInvariantMetrics):
        return solve_invariant(equations, special)
    if special is None:
        return generic_members.solve_generic(equations)
    return generic_members.solve_special(equations, special, Detours)


def main(names: Sequence[str]) -> None:
    """Make the files with these names, or all."""
    SHIPPED.mkdir(exist_ok=True)
    for equations, special in shapes():
        name = name_of(equations, special)
        if not names or name in names:
            member = solved(equations, special)
            size = sum(part.stat().st_size for part in SHIPPED.glob(f"{name}.*"))
            if member.completeness != "sampled":
                write_member(SHIPPED / name, member)
            print(
                f"{name}: {len(member.points)} points, {member.completeness}, {size:,} bytes before",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
