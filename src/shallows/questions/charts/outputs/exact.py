"""One neuron with several outputs by msolve: the equations of `system`, all real roots, each proved by Krawczyk.

Roots with a = 0 are no neurons and are left out. msolve does not prove its own answer: the list is count-matched.
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
from shallows.questions.charts.outputs.stratum import sorted_points
from shallows.questions.charts.outputs.system import OutputSystem
from shallows.questions.charts.points.stratum import Counts
from shallows.support.errors import InvalidProblem

#: Bits of a root from msolve: its outer weights are told from 0.
BITS = 256


def exact_stratum(problem: Problem, loss: OutputsLoss, seed: int) -> OutputStratum:
    """All real critical networks of one neuron."""
    equations = OutputEquations.of_powers(problem.degree, problem.n, 1, problem.outputs)
    system = OutputSystem(equations, loss, integer_frame(problem.n, seed))
    roots = real_roots(system.polynomials, bits=BITS, timeout=TIMEOUT)
    if roots.boxes is None:
        raise InvalidProblem(
            "The equations have infinitely many solutions (a = 0 among them where there are fewer outputs than inputs "
            'less one), so msolve cannot list them. Use method="homotopy".'
        )
    used = [box for box in roots.boxes if any(low > 0 or high < 0 for low, high in box[: problem.outputs])]
    middles = [[float((low + high) / 2) for low, high in box] for box in used]
    points = np.array(middles, np.complex128).reshape(-1, equations.unknowns)
    found, _, notes = sorted_points(system, points, True)
    whole = roots.distinct == roots.degree
    source = "real roots by msolve; the complex ones include those with a = 0"
    notes = [f"rank 1: {note}" for note in notes] + ([] if whole else [f"rank 1: {MET}"])
    return OutputStratum(found, Counts(None, None, source), notes, by_isolation(whole))
