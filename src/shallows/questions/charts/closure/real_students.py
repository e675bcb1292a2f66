"""Critical students that are polynomials of their parameters: which solutions are real, and what is proved of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.model.exact_loss import ExactLoss
from shallows.questions.charts.closure.balls import TermSystem
from shallows.questions.charts.closure.term_map import TermMap
from shallows.questions.charts.continuation.detours import Regular
from shallows.questions.charts.continuation.metrics import Complex
from shallows.questions.charts.points.point import Certificate
from shallows.questions.charts.points.proved_signature import proved_signature, shown
from shallows.questions.charts.points.stratum import REAL
from shallows.support.checks import Array
from shallows.support.progress import Shown

#: What a certificate says of how it was made.
ON_LIMITS = "Krawczyk, on the limits of merged neurons"
#: An end in other parameters: their map, the end, and the way back.
Scaled = tuple[TermMap, Complex, Callable[[Complex], Complex]]


def real_ones(
    system: TermSystem, points: Complex, certify_points: bool, tell: Shown
) -> tuple[list[tuple[Array, CertifiedRoot | None]], list[CertifiedRoot | None]]:
    """Real solutions, each with its root where that is proved real, and the proofs of all."""
    roots: list[CertifiedRoot | None] = [None] * len(points)
    if certify_points:
        roots = list(certify(system, points, progress=tell).roots)
    found = []
    for x, root in zip(points, roots, strict=True):
        real = bool(np.max(np.abs(x.imag)) <= REAL * np.max(np.abs(x)))
        if root is not None and root.real is not None:
            real = root.real
        proof = shown(root) if real and root is not None and root.real else None
        if real:
            found.append((x.real if proof is None else proof.point.real, proof))
    return found, roots


def proved(
    system: TermSystem,
    root: CertifiedRoot,
    entries: Array,
    seen: tuple[int, int, int],
    method: str,
    rank: bool = False,
) -> tuple[tuple[int, int, int], Certificate]:
    """The signature over a real root's box, and what is proved of its student as these doubles."""
    proof = system.inertia(list(root.box))
    gaps = zip(system.tensor(root), entries.tolist(), strict=True)
    radius = max(float(abs(ball - entry).upper()) for ball, entry in gaps)
    return proved_signature(proof, seen), Certificate(radius, proof.certified, rank, method)


def proved_regular(loss: ExactLoss, scaled: Callable[[Complex], Scaled | None]) -> Regular:
    """Whether ends that look singular are regular: Krawczyk decides, in parameters that have a good scale there.

    `scaled` says which parameters these are; None for an end of no interest.
    """

    def regular(ends: Complex) -> tuple[Complex, NDArray[np.bool_]]:
        moved, proved = ends.copy(), np.zeros(len(ends), bool)
        for k, end in enumerate(ends):
            given = scaled(end)
            if given is None:
                continue
            map_, x, back = given
            root = certify(TermSystem(map_, loss), x[None]).roots[0]
            if root is not None:
                moved[k], proved[k] = back(root.point), True
        return moved, proved

    return regular
