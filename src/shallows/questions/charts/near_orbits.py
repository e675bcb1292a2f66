"""Where metric and target nearly share a symmetry: the isolated points that look like a family, told apart.

Under an exact symmetry X the solutions of the critical equations F(x) = 0 through x are its orbit, exp(θX) on every
neuron. When X is one to 10⁻⁹ only, that orbit is left with a few solutions, next to which doubles see a whole circle of
them. Across the orbit the equations are regular (Lyapunov and Schmidt): for every θ

    F(x) + λ t = 0,   tᵀ(x − exp(θX)x₀) = 0,   t = X exp(θX)x₀

has one solution (x, λ) nearby, found by Newton's method in multiple precision, and the solutions are where λ(θ) = 0. λ
is a function of ζ = e^{iθ}, to first order in what breaks the symmetry a Laurent polynomial of degree at most 2d: the
Fourier coefficients of λ at real θ give its zeros, the complex ones too. Newton's method on F from there ends at
solutions, which the caller proves; that all are found is what counting the proved ones shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from flint import acb, acb_mat
from numpy.typing import NDArray

from shallows.mathematics.balls.systems import ball_evaluator, precision
from shallows.mathematics.newton import refined
from shallows.mathematics.same_points import PointSet
from shallows.mathematics.tensors.symmetry import Symmetry, exponential
from shallows.support.checks import Array

Complex = NDArray[np.complex128]
#: Bits of the equations: λ is 10⁻⁹ and less, a symmetry to double precision breaks at 10⁻¹⁶, and squares of that.
BITS = 320
#: Angles at which λ is looked at: more than twice the degree of the Laurent polynomial, up to activations of degree 7.
ANGLES = 32
#: Coefficients below this share of the largest are of second order: what breaks the symmetry is below 10⁻⁹.
FIRST_ORDER = 1e-6
#: Newton steps in multiple precision, from starts that are known to 10⁻⁹: each doubles the digits.
STEPS = 12
#: A step this short, relatively, is the last: twice the digits of a double are known.
CONVERGED = 1e-32
#: A symmetry turns with one frequency when its eigenvalues are 0 and ±iω to this accuracy.
ONE_FREQUENCY = 1e-6
#: A solution smaller than this share of the largest end is zero, which is no student of this rank.
NO_STUDENT = 1e-20
#: Zeros whose ζ is further from the unit circle than this factor are at infinity, or coefficients that should be 0.
FARTHEST = 1e6


def near_solutions(
    system: Any, ends: Complex, symmetry: Symmetry, tensors: Callable[[Complex], Complex]
) -> Complex:
    """Solutions next to the orbits of these ends under what is nearly a symmetry, one a row.

    Each end has its neurons as rows. `system` has a `ball_evaluator`; `tensors` tells students apart. Nothing where the
    symmetry has no period, or is more than one.
    """
    turn = _unit_frequency(symmetry.basis)
    if turn is None or not len(ends):
        return np.zeros((0, ends[0].size if len(ends) else 0), np.complex128)
    evaluate = ball_evaluator(system, BITS)
    found = PointSet(np.zeros((0, ends[0].size), np.complex128), invariants=tensors)
    largest = max(float(np.abs(end).max()) for end in ends)
    with precision(BITS):
        for end in ends:
            start = symmetry.least(end).ravel()
            action: Array = np.asarray(np.kron(np.eye(len(end)), turn), np.float64)
            for zeta in _zeros(evaluate, start, action):
                x = _solution(evaluate, start, action, -1j * np.log(zeta))
                if x is not None and np.abs(x).max() > NO_STUDENT * largest:
                    found.add(x[None])
    return found.points


def _unit_frequency(basis: Array) -> Array | None:
    """X scaled to the eigenvalues 0 and ±i; None where there are several X, or several frequencies."""
    if len(basis) != 1:
        return None
    values = np.abs(np.linalg.eigvals(basis[0]))
    frequency = values.max()
    still = values <= ONE_FREQUENCY * frequency
    return basis[0] / frequency if np.all(still | (abs(values / frequency - 1) <= ONE_FREQUENCY)) else None


def _zeros(evaluate: Any, start: Complex, turn: Array) -> Complex:
    """ζ = e^{iθ} with λ(θ) = 0, to first order."""
    forces = []
    for k in range(ANGLES):
        solved = _bordered(evaluate, start, turn, 2 * np.pi * k / ANGLES)
        if solved is None:
            return np.zeros(0, np.complex128)
        forces.append(solved[1])
    largest = max(forces, key=lambda force: float(abs(force).mid()))
    if not float(abs(largest).mid()):
        return np.zeros(0, np.complex128)
    shares = np.fft.fft([complex(force / largest) for force in forces])
    order = np.fft.fftfreq(ANGLES, 1 / ANGLES).round().astype(int)
    kept = np.flatnonzero(np.abs(shares) > FIRST_ORDER * np.abs(shares).max())
    low, high = int(order[kept].min()), int(order[kept].max())
    coefficients = np.zeros(high - low + 1, np.complex128)
    coefficients[order[kept] - low] = shares[kept]
    zeros = np.roots(coefficients[::-1])
    return np.asarray(zeros[(np.abs(zeros) < FARTHEST) & (np.abs(zeros) > 1 / FARTHEST)], np.complex128)


def _bordered(evaluate: Any, start: Complex, turn: Array, angle: complex) -> tuple[list[Any], Any] | None:
    """(x, λ) with F(x) + λt = 0 across the orbit at exp(θX)x₀; None where Newton's method does not converge."""
    n = len(start)
    here: Complex = np.asarray(exponential(angle * turn) @ start, np.complex128)
    origin, tangent = _exactly(here), _exactly(turn @ here)

    def system(unknowns: Sequence[Any]) -> tuple[Any, Any]:
        x, force = unknowns[:n], unknowns[n]
        value, jacobian = evaluate(x)
        across = [a + force * t for a, t in zip(acb_mat(value).entries(), tangent, strict=True)]
        along = sum((t * (a - b) for t, a, b in zip(tangent, x, origin, strict=True)), acb(0))
        rows = [[*row, t] for row, t in zip(acb_mat(jacobian).table(), tangent, strict=True)]
        return acb_mat(n + 1, 1, [*across, along]), acb_mat([*rows, [*tangent, acb(0)]])

    size = float(np.abs(here).max())
    for unknowns, moved in refined(system, [*origin, acb(0)], STEPS):
        if moved <= CONVERGED * size:
            return list(unknowns[:n]), unknowns[n]
    return None


def _solution(evaluate: Any, start: Complex, turn: Array, angle: complex) -> Complex | None:
    """The solution of F(x) = 0 next to exp(θX)x₀."""
    solved = _bordered(evaluate, start, turn, angle)
    if solved is None:
        return None
    size = max(abs(complex(entry)) for entry in solved[0])
    for x, moved in refined(evaluate, solved[0], STEPS):
        if moved <= CONVERGED * size:
            return np.array([complex(entry) for entry in x])
    return None


def _exactly(x: Complex) -> list[Any]:
    return [acb(entry.real, entry.imag) for entry in x.tolist()]
