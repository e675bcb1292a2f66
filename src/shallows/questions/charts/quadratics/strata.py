"""Critical quadrics modulo constants, rank by rank: those of rank n are the target, the others go by homotopy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shallows.mathematics.balls.inertia import inertia
from shallows.mathematics.exact.rational_arrays import fractions, rational_matrix
from shallows.mathematics.one_neuron_degree import NEURON_SOURCE, one_neuron_degree
from shallows.mathematics.tensors import coordinates
from shallows.mathematics.tensors.symmetric_tensor import SymmetricTensor
from shallows.model.exact_loss import ExactLoss
from shallows.model.problem import Problem
from shallows.questions.charts.chart_of_points import chart_of_points
from shallows.questions.charts.closed_form.axial_chart import AxialSetting
from shallows.questions.charts.closed_form.axial_metric import fitted_metric
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.continuation.balanced_problem import BalancedProblem
from shallows.questions.charts.continuation.equations import Member
from shallows.questions.charts.exact.engine import rank_points
from shallows.questions.charts.limits import require_few
from shallows.questions.charts.matrices.isotropic_metrics import IsotropicMetrics
from shallows.questions.charts.matrices.modulo_square import ModuloSquareEquations
from shallows.questions.charts.matrices.rank_r import FoundStratum, stratum_by_frames
from shallows.questions.charts.neurons.balanced import is_invariant
from shallows.questions.charts.points.networks import spectral_terms
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.stratum import Counts, RealPoint, Stratum, origin
from shallows.questions.charts.quadratics.students import QuadraticStudents
from shallows.questions.charts.result import Chart
from shallows.support.progress import status_line

#: What a chart says of rank n where the exact target has it and no double tells it from less.
FAINT = "the target has full rank, but only by numbers below rounding: it is not told from a listed function"


def modulo_chart(
    students: QuadraticStudents, problem: Problem, certify: bool, seed: int, progress: bool, method: str
) -> tuple[Chart, list[int]]:
    """The chart of quadrics modulo constants, and the ranks some of whose paths ended at none of them."""
    inputs = problem.n - 1
    top = min(problem.width, inputs)
    for rank in range(1, top):
        require_few(ModuloSquareEquations(problem.n, rank).count, f"rank {rank} modulo constants")
    found, counts = [origin(problem)], {0: Counts(1, 1, "the zero function")}
    levels, notes, families, elsewhere, special = ["proved"], [], [], [], 0
    axial = _axial(students, problem, certify) if method == "auto" else None
    closed = axial is not None
    for rank in range(1, top + 1):
        with status_line(f"rank {rank} of {top}", progress) as tell:
            if rank == inputs:
                part = FoundStratum(_target(problem, certify), 0)
            elif method == "exact":
                part = _exact(problem, rank, seed)
            elif (formula := None if axial is None else axial.stratum(rank)) is not None:
                part = FoundStratum(formula, 0)
                special += 1
            else:
                closed = False
                equations = ModuloSquareEquations(problem.n, rank)
                known = _known(students, inputs) if rank == 1 else None
                even, among = _even(problem, students)
                part = stratum_by_frames(problem, equations, even, certify, seed, tell, known, among)
                special += among is not None
        stratum = part.stratum
        found += stratum.found
        families += stratum.families
        counts[rank] = stratum.counts
        levels.append(stratum.completeness)
        notes += stratum.notes
        elsewhere += [rank] if part.elsewhere or special or (rank == inputs and not stratum.found) else []
    chart = chart_of_points(
        problem,
        found,
        counts,
        completeness=weakest(levels),
        method="closed-form" if closed else "exact" if method == "exact" else "homotopy",
        families=families,
        notes=notes,
    )
    return chart, elsewhere


def _axial(students: QuadraticStudents, problem: Problem, certify: bool) -> AxialSetting | None:
    """What is known in closed form where rotations of the inputs leave the metric alone: the constant is its axis."""
    law = students.problem.data.rotation_invariance(2)
    if law is None:
        return None
    covariance = np.eye(problem.n - 1) if law.covariance is None else law.covariance
    metric = fitted_metric(ExactLoss.of(problem).gram, np.pad(covariance, (0, 1)), np.eye(problem.n)[-1])
    if metric is None or not metric.is_blind():
        return None
    return AxialSetting.of(problem, metric, certify, ModuloSquareEquations(problem.n, 1))


def _known(students: QuadraticStudents, n: int) -> Counts | None:
    """How many points rank one has under rotation-invariant data: those of a neuron with the powers 1 and 2."""
    data = students.problem.data
    if any(data.rotation_invariance(j) is None for j in (1, 2)):
        return None
    count = one_neuron_degree((1, 2), n, True)
    return None if count is None else Counts(count, count, NEURON_SOURCE, bound=count)


def _even(problem: Problem, students: QuadraticStudents) -> tuple[BalancedProblem, IsotropicMetrics | None]:
    """The problem's member on all entries but the last, in coordinates where its inputs count alike; and the kind of
    its metric, where rotations leave it alone."""
    pairs, frame = coordinates.indices(problem.n, 2)[:-1], students.frame()
    linear = pairs[:, 1] == problem.n - 1
    sizes = np.diag(BalancedProblem.in_frame(problem, frame).gram)[:-1]
    frame[:, -1] *= np.sqrt(sizes[~linear].mean() / sizes[linear].mean())
    even = BalancedProblem.in_frame(problem, frame)
    gram, g = even.gram[:-1, :-1], even.member.g[:-1]
    among = IsotropicMetrics(problem.n)
    u = among.weights(gram) if is_invariant(students.problem, 2) else None
    if u is None:
        return replace(even, member=Member.of(gram, g)), None
    return replace(even, member=Member(among, u, g)), among


def _target(problem: Problem, certify: bool) -> Stratum:
    """Rank n: all quadrics modulo constants, so that the target is the one critical point, if it has that rank."""
    n = problem.n - 1
    exact = coordinates.symmetric_matrices(ExactLoss.of(problem).target)
    T = SymmetricTensor(problem.target_tensor().entries, n + 1, 2).to_matrix()
    singular = rational_matrix(exact[:n, :n]).det() == 0
    faint = np.linalg.matrix_rank(T[:n, :n]) < n
    counts = Counts(int(not singular), int(not singular), "the target itself")
    if singular or faint:
        notes = [] if singular else [f"rank {n}: {FAINT}"]
        return Stratum([], counts, [], notes, "proved" if singular else "count-matched")
    T[n, n] = float(T[n, :n] @ np.linalg.solve(T[:n, :n], T[:n, n]))
    vectors, signs = spectral_terms(T, n)
    size = coordinates.dimension(n + 1, 2) - 1
    point = RealPoint(vectors, signs, (size, 0, 0))
    if not certify:
        return Stratum([point], counts, [], [], "proved")
    made = fractions(signs @ coordinates.monomials(vectors, 2))
    gap = np.abs(made - ExactLoss.of(problem).target)[:-1].max()
    definite = inertia(problem.gram()[:-1, :-1].tolist()).positive == size
    proof = Certificate(
        float(np.nextafter(float(gap), np.inf)), definite, True, "exact rank of the target, interval LDLᵀ"
    )
    return Stratum([replace(point, certificate=proof)], counts, [], [], "proved")


def _exact(problem: Problem, rank: int, seed: int) -> FoundStratum:
    """One rank by msolve."""
    stratum = rank_points(problem, ModuloSquareEquations(problem.n, rank), seed)
    return FoundStratum(stratum, int(stratum.completeness == "sampled"))
