"""Every real critical point of one trained neuron, by interval exclusion over all its places (`patches`).

Paths over C tell how many critical points there are, and lose some on their way to special targets, where complex ones
meet or run away. Over the reals nothing is lost: places without a critical point are excluded, and at all others one is
proved. What this does not decide, and says so: critical sets with a dimension, points that are not simple, and points
that are networks or limits, or have a weight a that is zero or not, by less than rounding.

Paths come first, for the number of complex points, but where these take minutes to count and exclusion takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.exact.binary_forms import affine, real_roots
from shallows.mathematics.exclusion.intervals import Intervals, of_arb
from shallows.mathematics.exclusion.result import Exclusion
from shallows.mathematics.exclusion.search import exclude
from shallows.mathematics.same_points import PointSet
from shallows.model.activations import polynomial_of
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.continuation.equations import Complex
from shallows.questions.charts.neuron_limits.ends import about, centred_activation
from shallows.questions.charts.neurons.balls import NeuronSystem
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.patches import Patch, Places
from shallows.questions.charts.neurons.real import sort_neurons
from shallows.questions.charts.neurons.stratum import NeuronStratum, neuron_stratum, own_neuron
from shallows.support.checks import Array, counted
from shallows.support.progress import Shown

#: Unknowns up to which places are searched: n, and one for the bias.
MOST_UNKNOWNS = 4
#: Boxes of one patch after which a search is given up: some ten seconds. Those measured took 4,000 to 3,000,000 in all,
#: 14,000,000 where there were five unknowns.
MOST_BOXES = 4_000_000
#: The same where paths have found what a trace test calls all: a second or two for the word "proved". z² + z³ with a
#: bias in two inputs takes 650,000 boxes near its simple zero.
FEW_BOXES = 1_000_000


@dataclass(frozen=True, eq=False)
class AllReal:
    """All real critical (a, w), one of each function, and in how many boxes they were looked for."""

    points: Complex
    boxes: int

    def note(self, rank: int, by_paths: bool = True) -> str:
        """What a chart says of them, and of complex ones."""
        places = "the neuron" if rank == 1 else "the neurons"
        others = "the complex count is that of paths" if by_paths else "complex ones were not counted"
        return (
            f"rank {rank}: {len(self.points)} real, and no others: interval exclusion over all places of {places}, "
            f"{counted(self.boxes, 'box')}; {others}"
        )


def is_excludable(problem: Problem, rank: int) -> bool:
    """Whether all places of the neurons have few enough unknowns: one trained neuron, and no power, which is as good at
    any length."""
    unknowns = problem.n + int(problem.bias)
    if rank > 1 or problem.outer is not None or not 1 < unknowns <= MOST_UNKNOWNS:
        return False
    return sum(map(bool, centred_activation(problem)[0])) > 1


def is_long_to_count(problem: Problem) -> bool:
    """Whether complex critical points of one neuron take minutes to count: intervals come first then.

    Three inputs and a bias, from degree three on, where no theorem gives their number.
    """
    return problem.bias and problem.n + 1 >= MOST_UNKNOWNS and polynomial_of(problem.activation).degree > 2


def one_neuron_stratum(
    problem: Problem, space: PolynomialSpace, seed: int, tell: Shown = False
) -> NeuronStratum:
    """The critical networks of one trained neuron: by paths, all real ones proved where intervals can."""
    own = NeuronEquations(own_neuron(problem), 1)
    by_paths = partial(neuron_stratum, problem, space, 1, None, True, seed, tell)
    return paths_and_boxes(
        by_paths,
        lambda system, most: all_real(problem, space, system, most, tell),
        1,
        NeuronSystem(own, space.exact) if is_long_to_count(problem) else None,
    )


def paths_and_boxes(
    by_paths: Callable[..., NeuronStratum],
    all_real: Callable[[NeuronSystem, int], AllReal | None],
    rank: int,
    first: NeuronSystem | None = None,
) -> NeuronStratum:
    """By paths; where these prove nothing by exclusion in so many boxes; where that fails, too, by patient paths.

    Where paths take minutes (`is_long_to_count`) they are followed only if intervals leave something open in the system
    that is given.
    """
    if first is not None:
        proof = all_real(first, MOST_BOXES)
        return by_paths() if proof is None else uncounted(first, proof, rank)
    stratum = by_paths(patient=False)
    if stratum.completeness == "proved":
        return stratum
    lost = stratum.completeness == "sampled"
    proof = all_real(stratum.system, MOST_BOXES if lost else FEW_BOXES)
    if proof is not None:
        return with_all_real(stratum, proof, rank)
    return by_paths() if lost else stratum


def uncounted(system: NeuronSystem, proof: AllReal, rank: int) -> NeuronStratum:
    """The stratum of points that were proved to be all real ones, where no path was followed."""
    found = sort_neurons(system, proof.points, True).found
    return NeuronStratum(system, found, None, None, [proof.note(rank, by_paths=False)], "proved")


def with_all_real(stratum: NeuronStratum, proof: AllReal, rank: int) -> NeuronStratum:
    """The stratum with the points that were proved to be all; "sampled" if a certified end of a path is another one."""
    equations = stratum.system.equations
    points = PointSet(proof.points, invariants=equations.tensors)
    ends = [
        equations.join(point.a[:, None].astype(np.complex128), point.W.astype(np.complex128))
        for point in stratum.found
        if point.certificate
    ]
    if points.add(np.array(ends, np.complex128).reshape(-1, proof.points.shape[1])):
        note = (
            f"rank {rank}: paths and interval exclusion found different points. Please report this problem."
        )
        return replace(stratum, completeness="sampled", notes=[*stratum.notes, note])
    return replace(
        stratum,
        found=sort_neurons(stratum.system, proof.points, True).found,
        notes=[proof.note(rank)],
        completeness="proved",
        singular=stratum.singular[:0],
        escaped=0,
    )


def all_real(
    problem: Problem,
    space: PolynomialSpace,
    system: NeuronSystem,
    most: int = MOST_BOXES,
    tell: Shown = False,
) -> AllReal | None:
    """All real critical points of one neuron with a ≠ 0; None where the search leaves something open."""
    places = Places(problem, space)
    neurons, boxes = [], 0
    for patch in places.patches():
        found = exclude(patch.system, patch.region, most=most, progress=tell)
        boxes += found.boxes
        decided = _networks(places, patch, found) if found.complete else None
        if decided is None:
            return None
        neurons.append(decided)
    return _once(system, space, np.concatenate(neurons), boxes)


def _networks(places: Places, patch: Patch, found: Exclusion) -> Array | None:
    """The neurons of a patch's zeros, without those of the zero function; None where that is not decided."""
    box = found.box
    if patch.face is not None and np.any((box.lo[:, 0] <= 0) & (box.hi[:, 0] >= 0)):
        return None  # a limit, or next to one
    unclear = np.asarray(patch.system.numerator(box).has_zero).reshape(len(box))
    resting = [k for k in np.flatnonzero(unclear) if _is_resting(places, patch, found.domain[int(k)])]
    if len(resting) < np.count_nonzero(unclear):
        return None
    return patch.neurons(box.mid[~unclear])


def _is_resting(places: Places, patch: Patch, domain: Intervals) -> bool:
    """Whether the zero in a domain is that at w = 0, p′(b) = 0, for a target with E y = 0: C = p(b) E y is 0 there.

    b is counted from the centre of p.
    """
    at = np.flatnonzero(places.space.at == 0)
    if patch.face is not None or (len(at) and places.space.exact.right[at[0]]):
        return False
    flat = [j * c for j, c in enumerate(about(places.c, places.middle))][1:]
    if not places.bias:
        return flat[0] == 0 and bool(domain.has_zero.all())
    zeros = [of_arb([zero])[0] for zero, _ in real_roots(affine(flat))]
    inside = any(zero.lo >= domain.lo[0] and zero.hi <= domain.hi[0] for zero in zeros)
    return inside and bool(domain[1:].has_zero.all())


def _once(system: NeuronSystem, space: PolynomialSpace, neurons: Array, boxes: int) -> AllReal | None:
    """One network a function, with the best a; None where two zeros are not proved to be different or the same."""
    values = system.equations.neuron.values(neurons)
    best = (values @ space.right) / np.einsum("ij,jk,ik->i", values, space.gram, values)
    return told_apart(system, np.column_stack([best, neurons]).astype(np.complex128), boxes)


def told_apart(system: NeuronSystem, points: Complex, boxes: int) -> AllReal | None:
    """One point a function; None where two are not proved to be different or the same."""
    proof = certify(system, points)
    if len(proof.distinct) + len(proof.repeated) < len(points):
        return None
    roots = np.array([root.point for root in proof.certified], np.complex128).reshape(-1, points.shape[1])
    return AllReal(PointSet(roots, invariants=system.equations.tensors).points, boxes)
