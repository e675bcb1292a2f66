"""One neuron with several outputs by msolve: the equations of `system`, all real roots, each proved by Krawczyk.

A frame w = R(1, z) has no neuron whose first coordinate is 0, so the equations are solved in n frames, with the columns
of R in another order: some coordinate is not 0. Roots with a = 0 are no neurons and are left out. msolve does not prove
its own answer: the list is count-matched.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.exact.msolve import real_roots
from shallows.model.problem import Problem
from shallows.questions.charts.completeness import by_isolation
from shallows.questions.charts.exact.engine import MET, TIMEOUT
from shallows.questions.charts.exact.matrices import integer_frame
from shallows.questions.charts.outputs.equations import OutputEquations
from shallows.questions.charts.outputs.exact_loss import OutputsLoss
from shallows.questions.charts.outputs.point import OutputStratum
from shallows.questions.charts.outputs.stratum import clear_frame, different, sorted_points
from shallows.questions.charts.outputs.system import OutputSystem
from shallows.questions.charts.points.stratum import Counts
from shallows.support.errors import InvalidProblem

#: Bits of a root from msolve: its outer weights are told from 0.
BITS = 256


def exact_stratum(problem: Problem, loss: OutputsLoss, seed: int) -> OutputStratum:
    """All real critical networks of one neuron, from n frames: no neuron is at infinity in all of them."""
    equations = OutputEquations.of_powers(problem.degree, problem.n, 1, problem.outputs)
    frame, whole = integer_frame(problem.n, seed), True
    outer, neurons = [], []
    for k in range(problem.n):
        system = OutputSystem(equations, loss, np.roll(frame, k, axis=1))
        roots = real_roots(system.system.polynomials(), bits=BITS, timeout=TIMEOUT)
        if roots.boxes is None:
            raise InvalidProblem(
                "The equations have infinitely many solutions (a = 0 among them where there are fewer outputs than "
                'inputs less one), so msolve cannot list them. Use method="homotopy".'
            )
        whole = whole and roots.distinct == roots.degree
        for box in roots.boxes:
            if any(low > 0 or high < 0 for low, high in box[: problem.outputs]):
                a, w = system.network(np.array([float((low + high) / 2) for low, high in box]))
                outer.append(a.T)
                neurons.append(w)
    A = np.array(outer, np.complex128).reshape(-1, 1, problem.outputs)
    W = np.array(neurons, np.complex128).reshape(-1, 1, problem.n)
    system = OutputSystem(equations, loss, clear_frame(W, seed))
    points = system.unknowns(A, W).reshape(-1, equations.unknowns)
    found, _, notes = sorted_points(system, different(system, points), True)
    source = "real roots by msolve; the complex ones include those with a = 0"
    notes = [f"rank 1: {note}" for note in notes] + ([] if whole else [f"rank 1: {MET}"])
    return OutputStratum(found, Counts(None, None, source), notes, by_isolation(whole))
