"""The predictor-corrector: one compiled loop a segment of a path, for every kind of system.

A path x(t) of H(x, t) = 0 is followed along a straight segment t₀ → t₁ of the complex t-plane.

*Predictor*: Hermite extrapolation through the last three points and their tangents (order 6; lower while
the history is short). The tangent comes for nothing: it uses the factorisation of the last Newton step.
*Corrector*: Newton. With the first two relative steps δ₀, δ₁, the ratio δ₁/δ₀ measures how deep inside
the quadratic basin the prediction fell. A step is accepted when the ratio is small, and the next length
is chosen so that it stays near a target: the control that keeps a path from jumping to a neighbour.
(S. Telen, M. Van Barel, J. Verschelde, "A robust numerical path tracking algorithm", SIAM J. Sci.
Comput. 42, 2020; S. Timme, "Mixed precision path tracking", Adv. Comput. Math. 47, 2021.)

Modes: AFFINE, as many equations as unknowns; PROJECTIVE, one homogeneous unknown more and the equation
⟨patch, z⟩ = 1, the patch following the point; PENCIL, where t itself is an unknown and the extra equation
(t − c)(ℓ·x + ℓ₀) = s moves (the trace test).

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from shallows.mathematics.homotopy._compiled.linear import factor, solve

AFFINE, PROJECTIVE, PENCIL = 0, 1, 2
ARRIVED, STEP_TOO_SMALL, TOO_MANY_STEPS, HANDED_OVER, DIVERGED, INFINITE = 0, 1, 2, 3, 4, 7
# positions in the array of settings
PREDICTION, CONTRACTION, LONGEST, SHORTEST, STEPS, ENDGAME_START, DIVERGENCE, NOISE = 0, 1, 2, 3, 4, 5, 6, 7


@njit(nogil=True, error_model="numpy")
def assemble(
    evaluate: Any,
    constants: Any,
    mode: int,
    x: Any,
    t: complex,
    chart: Any,
    room: Any,
    matrix: Any,
    value: Any,
    drift: Any,
) -> None:
    """Value, Jacobian and t-derivative of the square system of this mode at (x, t)."""
    complexes, reals, program = constants
    point, buffer, work, scratch = room
    size = x.shape[0]
    for j in range(size):
        point[j] = x[j]
    unknowns = size
    if mode == PENCIL:
        unknowns = size - 1
    else:
        point[unknowns] = t
    evaluate(
        point.ctypes,
        complexes.ctypes,
        reals.ctypes,
        program.ctypes,
        work.ctypes,
        scratch.ctypes,
        value.ctypes,
        buffer.ctypes,
    )
    equations = size if mode == AFFINE else size - 1
    width = unknowns + 1
    for i in range(equations):
        for j in range(size):
            matrix[i, j] = buffer[i * width + j]
        drift[i] = buffer[i * width + unknowns] if mode != PENCIL else 0.0
    last = size - 1
    if mode == PROJECTIVE:
        total = -1.0 + 0.0j
        for j in range(size):
            matrix[last, j] = chart[j]
            total += chart[j] * x[j]
        value[last] = total
        drift[last] = 0.0
    elif mode == PENCIL:
        # chart: ℓ, ℓ₀, s at parameter 0, then their slopes, then c
        form, slope = chart[unknowns] + t * chart[2 * unknowns + 2], chart[2 * unknowns + 2]
        offset = x[last] - chart[2 * (unknowns + 2)]
        for j in range(unknowns):
            entry = chart[j] + t * chart[unknowns + 2 + j]
            form += entry * x[j]
            slope += chart[unknowns + 2 + j] * x[j]
            matrix[last, j] = offset * entry
        matrix[last, last] = form
        value[last] = offset * form - (chart[unknowns + 1] + t * chart[2 * unknowns + 3])
        drift[last] = offset * slope - chart[2 * unknowns + 3]


@njit(nogil=True, error_model="numpy")
def largest(vector: Any) -> float:
    """The maximum norm."""
    best = 0.0
    for j in range(vector.shape[0]):
        square = vector[j].real * vector[j].real + vector[j].imag * vector[j].imag
        if not (square <= best):  # also true for NaN
            best = square
    return np.sqrt(best)


@njit(nogil=True, error_model="numpy")
def copy(source: Any, out: Any) -> None:
    """out[j] = source[j] for every j of `source`: slices cost the compiler seconds, this does not."""
    for j in range(source.shape[0]):
        out[j] = source[j]


@njit(nogil=True, error_model="numpy")
def predict(points: Any, tangents: Any, nodes: Any, known: int, at: float, out: Any) -> None:
    """Hermite extrapolation through the newest `known` ≤ 3 points and tangents, evaluated at `at`."""
    size = out.shape[0]
    for k in range(size):
        out[k] = 0.0
    for i in range(3 - known, 3):
        basis, slope = 1.0, 0.0
        for j in range(3 - known, 3):
            if j != i:
                basis *= (at - nodes[j]) / (nodes[i] - nodes[j])
                slope += 1.0 / (nodes[i] - nodes[j])
        square = basis * basis
        by_point = (1.0 - 2.0 * slope * (at - nodes[i])) * square
        by_tangent = (at - nodes[i]) * square
        for k in range(size):
            out[k] += by_point * points[i, k] + by_tangent * tangents[i, k]


@njit(nogil=True, error_model="numpy")
def recentre(points: Any, tangents: Any, patch: Any) -> None:
    """Put the patch at the newest point (unit length there) and carry the history over to it."""
    size = patch.shape[0]
    norm = 0.0
    for j in range(size):
        norm += points[2, j].real ** 2 + points[2, j].imag ** 2
    norm = np.sqrt(norm)
    for j in range(size):
        patch[j] = np.conj(points[2, j]) / norm
    for i in range(3):
        along, drift = 0.0 + 0.0j, 0.0 + 0.0j
        for j in range(size):
            along += patch[j] * points[i, j]
            drift += patch[j] * tangents[i, j]
        if along == 0.0:
            continue
        for j in range(size):
            points[i, j] = points[i, j] / along
            tangents[i, j] = (tangents[i, j] - points[i, j] * drift) / along


@njit(nogil=True, error_model="numpy")
def from_infinity(point: Any) -> float:
    """How far a projective point is from infinity: |x₀|/‖x‖, x₀ the last, homogenising coordinate."""
    length = 0.0
    for j in range(point.shape[0]):
        length += point[j].real ** 2 + point[j].imag ** 2
    return abs(point[point.shape[0] - 1]) / np.sqrt(length)


@njit(nogil=True, error_model="numpy")
def approach(marks: Any, distance: float, away: float) -> float:
    """The exponent v in x₀ ~ t^v, from the last mark that lies well before: 0 when there is none.

    Differences along the way and not the tangent: near a singular point at infinity the tangent is noise.
    """
    if not (marks[0] > 1.2 * distance and away > 0.0):
        return 1.0 if away == 0.0 and marks[0] > 0.0 else 0.0
    return np.log(marks[1] / away) / np.log(marks[0] / distance)


@njit(nogil=True, error_model="numpy")
def steady(decades: Any, distance: float, size: float) -> bool:
    """Whether ‖x‖ ~ t^(−v) with one v > 0 over the last two stretches of t, each a factor of 100 or more.

    `decades` holds (|t|, ‖x‖) at three marks of an affine path. A path that is large and still grows as a power of t
    at |t| < 10⁻⁶ runs to infinity, as far as double precision can tell.
    """
    if not (distance < 1e-6 and size > 30.0 * decades[1] and decades[0] > 90.0 * decades[2]):
        return False
    before = np.log(decades[3] / decades[1]) / np.log(decades[0] / decades[2])
    now = np.log(size / decades[3]) / np.log(decades[2] / distance)
    return now > 0.08 and abs(now - before) < 0.1 * now


@njit(nogil=True, error_model="numpy")
def polish(
    evaluate: Any,
    constants: Any,
    mode: int,
    x: Any,
    t: complex,
    chart: Any,
    noise: float,
    room: Any,
    algebra: Any,
    most: int,
) -> float:
    """Newton at fixed t until the steps stop shrinking; the last relative step, or −1 when it diverges."""
    matrix, value, drift, pivots = algebra
    before = 1e300
    for _ in range(most):
        assemble(evaluate, constants, mode, x, t, chart, room, matrix, value, drift)
        if not factor(matrix, pivots):
            return -1.0
        residual = largest(value)
        solve(matrix, pivots, value)
        step = largest(value) / largest(x)
        if not (step < 1e300):
            return -1.0
        if step > 0.3 * before:  # Newton halves the distance to a double root: that is no convergence
            if step < 1e-11 or (residual < noise and step < 1e-5):
                return step
            return -1.0
        for j in range(x.shape[0]):
            x[j] -= value[j]
        before = step
        if step < 1e-15:
            break
    return before


@njit(nogil=True, error_model="numpy")
def follow(
    evaluate: Any,
    constants: Any,
    mode: int,
    x: Any,
    start: complex,
    end: complex,
    chart: Any,
    still: bool,
    settings: Any,
    first_step: float,
    room: Any,
    algebra: Any,
    history: Any,
) -> tuple[int, float, float, int]:
    """Follow the path through (x, start) to t = end, x changed in place.

    Returns the status, the share of the segment done, the last step length and the number of steps.
    `still` keeps the patch where it is. With settings[ENDGAME_START] = ε > 0 the first point with |t| < ε is
    saved for the endgame, and the path is handed over to it when |t| < ε·10⁻⁹ and t = end is still out of
    reach: branch points closer to the end than that are not told from a singular end.
    """
    matrix, value, drift, pivots = algebra
    points, tangents, nodes, trial, saved = history
    size = x.shape[0]
    direction = end - start
    tolerance, ratio_goal = settings[PREDICTION], settings[CONTRACTION]
    at, step, steps = 0.0, min(first_step, settings[LONGEST]), 0

    assemble(evaluate, constants, mode, x, start, chart, room, matrix, value, drift)
    if not factor(matrix, pivots):
        return STEP_TOO_SMALL, 0.0, step, 0
    solve(matrix, pivots, drift)
    for j in range(size):
        points[2, j] = x[j]
        tangents[2, j] = -direction * drift[j]
    nodes[2] = 0.0
    known = 1
    budget = int(settings[STEPS])
    failures = 0
    saved[size] = -1.0
    marks = np.empty(4)
    marks[0], marks[1], marks[2], marks[3] = 0.0, 0.0, abs(start), from_infinity(x)
    decades = np.empty(6)
    for j in range(3):
        decades[2 * j], decades[2 * j + 1] = abs(start), largest(x)
    while at < 1.0:
        if steps >= budget:
            copy(points[2], x)
            slow = settings[ENDGAME_START] > 0.0 and mode == AFFINE
            if slow and steady(decades, abs(start + at * direction), largest(x)):
                return INFINITE, at, step, steps
            return TOO_MANY_STEPS, at, step, steps
        steps += 1
        remaining = 1.0 - at
        final = step >= 0.999 * remaining
        if final:
            step = remaining
        elif 2.0 * step > remaining:
            step = 0.5 * remaining  # two equal steps rather than a long and a tiny one
        goal = 1.0 if final else at + step
        predict(points, tangents, nodes, known, goal, trial)
        t = start + goal * direction if not final else end
        accepted = False
        first, previous, ratio = 0.0, 0.0, 0.0
        scale = largest(trial)
        for iteration in range(4):
            assemble(evaluate, constants, mode, trial, t, chart, room, matrix, value, drift)
            if not factor(matrix, pivots):
                break
            residual = largest(value)
            solve(matrix, pivots, value)
            delta = largest(value) / scale
            if not (delta < 1.0):
                break
            for j in range(size):
                trial[j] -= value[j]
            if iteration == 0:
                first = delta
                if delta > 8.0 * tolerance:
                    break
                if delta < 1e-11:
                    accepted = True
                    break
            else:
                now = delta / previous
                if iteration == 1:
                    ratio = now
                early = final and settings[ENDGAME_START] > 0.0 and saved[size].real < 0.0
                if residual < settings[NOISE] and delta < 1e-5 and not early:  # as far as rounding goes
                    ratio = 0.0 if iteration == 1 else ratio
                    accepted = True
                    break
                if now > 4.0 * ratio_goal and delta > 1e-12:
                    break
                if delta * now * now < 1e-10 or delta < 1e-12:  # the next step of a quadratic sequence
                    accepted = True
                    break
            previous = delta
        order = 2.0 * known
        if accepted:
            failures = 0
            solve(matrix, pivots, drift)
            for i in range(2):
                nodes[i] = nodes[i + 1]
                for j in range(size):
                    points[i, j] = points[i + 1, j]
                    tangents[i, j] = tangents[i + 1, j]
            nodes[2] = goal
            for j in range(size):
                points[2, j] = trial[j]
                tangents[2, j] = -direction * drift[j]
            known = min(known + 1, 3)
            at = goal
            error = max(first / tolerance, ratio / ratio_goal, 1e-6)
            step *= min(max(0.85 * error ** (-1.0 / order), 0.3), 3.0)
            step = min(step, settings[LONGEST])
            if mode == PROJECTIVE and not still:
                length = 0.0
                for j in range(size):
                    length += trial[j].real ** 2 + trial[j].imag ** 2
                if length > 4.0 or length < 0.25:
                    recentre(points, tangents, chart)
                if settings[ENDGAME_START] > 0.0:
                    distance, away = abs(start + at * direction), from_infinity(points[2])
                    if distance < 0.7 * marks[2]:  # keep two marks, the older one (0, 1) well behind
                        marks[0], marks[1], marks[2], marks[3] = marks[2], marks[3], distance, away
                    if away < 1e-14 and at < 1.0 and approach(marks, distance, away) > 0.25:
                        copy(points[2], x)
                        return INFINITE, at, step, steps
            elif mode != PROJECTIVE and scale > settings[DIVERGENCE]:
                copy(points[2], x)
                return DIVERGED, at, step, steps
            if settings[ENDGAME_START] > 0.0 and at < 1.0:
                distance = abs(start + at * direction)
                if distance < settings[ENDGAME_START] and saved[size].real < 0.0:
                    copy(points[2], saved)
                    saved[size] = distance
                if mode == AFFINE and distance < 0.01 * decades[4]:
                    for j in range(4):
                        decades[j] = decades[j + 2]
                    decades[4], decades[5] = distance, scale
                if distance < 1e-9 * settings[ENDGAME_START]:
                    if mode == AFFINE and steady(decades, distance, scale):
                        copy(points[2], x)
                        return INFINITE, at, step, steps
                    if mode == PROJECTIVE:
                        away = from_infinity(points[2])
                        if away < 1e-5 and approach(marks, distance, away) > 0.1:
                            copy(points[2], x)
                            return INFINITE, at, step, steps
                    return HANDED_OVER, at, step, steps
        else:
            failures += 1
            step *= 0.5 if failures < 3 else 0.2
            if step < settings[SHORTEST] * max(1.0 - at, 1e-6):
                copy(points[2], x)
                if settings[ENDGAME_START] > 0.0 and mode == PROJECTIVE:
                    # ill-conditioned because it is nearly at infinity, and still on its way there
                    distance, away = abs(start + at * direction), from_infinity(points[2])
                    if away < 1e-6 and approach(marks, distance, away) > 0.25:
                        return INFINITE, at, step, steps
                ending = settings[ENDGAME_START] > 0.0 and mode == AFFINE
                if ending and steady(decades, abs(start + at * direction), largest(x)):
                    return INFINITE, at, step, steps
                return STEP_TOO_SMALL, at, step, steps
    copy(points[2], x)
    return ARRIVED, 1.0, step, steps
