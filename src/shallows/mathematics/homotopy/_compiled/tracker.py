"""The predictor-corrector: one compiled loop a segment of a path, for every kind of system.

A path x(t) of H(x, t) = 0 is followed along a straight segment t₀ → t₁ of the complex t-plane.

*Predictor*: Hermite extrapolation through the last three points and their tangents (order 6; lower while
the history is short). The tangent comes for nothing: it uses the factorisation of the last Newton step.
*Corrector*: Newton. With the first two relative steps δ₀, δ₁, the ratio δ₁/δ₀ measures how deep inside
the quadratic basin the prediction fell. A step is accepted when the ratio is small, and the next length
is chosen so that it stays near a target: the control that keeps a path from jumping to a neighbour.
(S. Telen, M. Van Barel, J. Verschelde, "A robust numerical path tracking algorithm", SIAM J. Sci.
Comput. 42, 2020; S. Timme, "Mixed precision path tracking", Adv. Comput. Math. 47, 2021.)

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

from shallows.mathematics.homotopy._compiled.codes import (
    ARRIVED,
    DIVERGED,
    GOING,
    HANDED_OVER,
    INFINITE,
    PROJECTIVE,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
)
from shallows.mathematics.homotopy._compiled.equations import (
    CONVERGED_STEP,
    ROUNDING_STEP,
    copy,
    largest,
    length,
    newton_step,
    only_rounding,
    relative,
)
from shallows.mathematics.homotopy._compiled.infinity import (
    exponent,
    from_infinity,
    mark,
    mark_decade,
    runs_away,
    set_marks,
)
from shallows.mathematics.homotopy._compiled.kinds import (
    BOOL,
    COMPLEX,
    COMPLEXES,
    EQUATIONS,
    FLOAT,
    HISTORY,
    INT,
    SETTINGS,
)
from shallows.mathematics.homotopy._compiled.predictor import begin, predict, recentre, remember
from shallows.mathematics.homotopy._compiled.records import REMEMBERED
from shallows.support.compiling import several, unit

#: Newton steps after a prediction. The worst that is admitted, δ₀ = 0.016 with δ₁/δ₀ = 0.12, has δ₃ = 6·10⁻⁹ and is
#: accepted then, since a quadratic sequence goes on with δ₄ = δ₃ (δ₃/δ₂)² ≪ 10⁻¹⁰.
CORRECTIONS = 4
#: A step is refused when δ₀ or δ₁/δ₀ is so many times larger than what the step control aims at.
WORST_PREDICTION, WORST_CONTRACTION = 8.0, 4.0
#: A point is on the path when Newton's next step would be below this, or below `settings.within` on the way, before
#: the endgame's part of it: `polish` sharpens those that are results.
NEXT_STEP = 1e-10
#: Relative steps below this are rounding: their ratio says nothing.
ROUNDED = 1e-12
#: Step lengths after an error e of order p: 0.85 e^(−1/p), at most 3 and at least 0.3 times the old one, the usual
#: factors (E. Hairer, S. Nørsett, G. Wanner, "Solving Ordinary Differential Equations I", 1993, section II.4).
SAFETY, LEAST_CHANGE, MOST_CHANGE = 0.85, 0.3, 3.0
#: Smaller errors are no reason for longer steps: MOST_CHANGE is reached long before, this keeps e^(−1/p) finite.
SMALLEST_ERROR = 1e-6
#: A refused step is halved; from the third refusal in a row on it is cut to a fifth.
HALVED, CUT, PATIENCE = 0.5, 0.2, 3
#: A step that covers this share of what is left goes to the end.
WHOLE = 0.999
#: The shortest step is a share of what is left of the way, and of this at least: t = end itself must be reachable.
LEAST_LEFT = 1e-6
#: The patch is moved when the squared length of the point has left [1/4, 4]: unit length within a factor of two.
SHORT, LONG = 0.25, 4.0
#: A path is handed over to the endgame when |t| is this share of where the endgame may start, and t = end still is out
#: of reach: branch points closer to the end than that are not told from a singular end.
HAND_OVER = 1e-9
#: Nearness |x₀|/‖x‖ and exponent (see `infinity`) of a path that is at infinity: anywhere on its way, by rounding; ...
AT_INFINITY, AT_INFINITY_EXPONENT = 1e-14, 0.25
#: ... when it would be handed over, at |t| = 10⁻¹¹ or so: x₀ ~ t^v with v > 0.45 is as near; ...
HAND_OVER_NEAR, HAND_OVER_EXPONENT = 1e-5, 0.1
#: ... and when its step has become too small, ill-conditioned because it is nearly there; at this |t| at most, since at
#: a larger one it has rather come upon solutions at infinity that it does not belong to.
STUCK_NEAR, STUCK_EXPONENT, STUCK_BELOW = 1e-6, 0.25, 0.1


@unit(several(BOOL, FLOAT, FLOAT)(EQUATIONS, SETTINGS, COMPLEXES, COMPLEX, FLOAT, FLOAT, BOOL))
def correct(
    equations: Any, settings: Any, trial: Any, t: complex, scale: float, within: float, premature: bool
) -> tuple[bool, float, float]:
    """Newton from a prediction of size `scale`: whether it is accepted, δ₀ and δ₁/δ₀.

    A residual that is nothing but rounding is enough, but not for a `premature` end: a last step that skips the
    endgame's part of the way. Where `settings.noise` does not say how large that is, it is found out when steps stop
    shrinking.
    """
    first, previous, ratio, delta = 0.0, 0.0, 0.0, 1.0
    value, size = equations.value, equations.size
    for iteration in range(CORRECTIONS):
        solved, residual = newton_step(equations, trial, t)
        if not solved:
            return False, first, ratio
        delta = relative(value, trial, size, scale, settings.floor)
        if not (delta < 1.0):
            return False, first, ratio
        for j in range(size):
            trial[j] -= value[j]
        if iteration == 0:
            first = delta
            if delta > WORST_PREDICTION * settings.prediction:
                return False, first, ratio
            if delta < CONVERGED_STEP:
                return True, first, ratio
        else:
            now = delta / previous
            if iteration == 1:
                ratio = now
            if residual < settings.noise and delta < ROUNDING_STEP and not premature:
                return True, first, 0.0 if iteration == 1 else ratio
            if now > WORST_CONTRACTION * settings.contraction and delta > ROUNDED:
                break
            if delta * now * now < within or delta < ROUNDED:  # the next step of a quadratic sequence
                return True, first, ratio
        previous = delta
    unknown = settings.noise == 0.0 and delta < ROUNDING_STEP and not premature
    if unknown and only_rounding(equations, trial, t):
        return True, first, min(ratio, settings.contraction)
    return False, first, ratio


@unit(FLOAT(SETTINGS, FLOAT, FLOAT, FLOAT, INT), rare=True)
def next_step(settings: Any, step: float, first: float, ratio: float, known: int) -> float:
    """The length of the next step, from how good a prediction of order 2·known was."""
    error = max(first / settings.prediction, ratio / settings.contraction, SMALLEST_ERROR)
    step *= min(max(SAFETY * error ** (-1.0 / (2.0 * known)), LEAST_CHANGE), MOST_CHANGE)
    return float(min(step, settings.longest))


@unit(INT(EQUATIONS, SETTINGS, HISTORY, FLOAT, FLOAT, BOOL, BOOL), rare=True)
def outlook(
    equations: Any, settings: Any, history: Any, radius: float, extent: float, still: bool, done: bool
) -> int:
    """What a new point at |t| = radius says about the path: GOING, or a status that ends it.

    The patch is moved and marks are set where that is due, and the first point within reach of the endgame is saved.
    """
    mode, size, saved = equations.mode, equations.size, history.saved
    ending = settings.endgame > 0.0
    if mode == PROJECTIVE and not still:
        square = length(history.trial, size)
        if square > LONG or square < SHORT:
            recentre(history, equations.chart, size)
        if ending:
            away = from_infinity(history.newest, size)
            mark(history.marks, radius, away)
            near = away < AT_INFINITY and not done
            if near and exponent(history.marks, radius, away) > AT_INFINITY_EXPONENT:
                return INFINITE
    elif mode != PROJECTIVE and extent > settings.divergence:
        return DIVERGED
    if not ending or done:
        return GOING
    if radius < settings.endgame and saved[size].real < 0.0:
        copy(history.newest, saved, size)
        saved[size] = complex(radius, 0.0)
    mark_decade(history.decades, radius, extent)
    if radius < HAND_OVER * settings.endgame:
        if runs_away(mode, size, history, radius, extent, HAND_OVER_NEAR, HAND_OVER_EXPONENT):
            return INFINITE
        return HANDED_OVER
    return GOING


@unit(INT(EQUATIONS, SETTINGS, HISTORY, FLOAT, INT), rare=True)
def stuck(equations: Any, settings: Any, history: Any, radius: float, otherwise: int) -> int:
    """A path that cannot go on, for the reason `otherwise`, may be at infinity as far as double precision can tell.

    A projective path near infinity has no reason to take many steps: one that does is not taken as infinite.
    """
    near = STUCK_NEAR if otherwise == STEP_TOO_SMALL and radius < STUCK_BELOW else 0.0
    mode, size = equations.mode, equations.size
    extent = largest(history.newest, size)
    if settings.endgame > 0.0 and runs_away(mode, size, history, radius, extent, near, STUCK_EXPONENT):
        return INFINITE
    return otherwise


@unit(several(INT, FLOAT, FLOAT, INT)(EQUATIONS, SETTINGS, COMPLEXES, COMPLEX, COMPLEX, BOOL, FLOAT, HISTORY))
def follow(
    equations: Any,
    settings: Any,
    x: Any,
    start: complex,
    end: complex,
    still: bool,
    step: float,
    history: Any,
) -> tuple[int, float, float, int]:
    """Follow the path through (x, start) to t = end, x changed in place; `step` is the first step tried.

    Returns the status, the share of the segment done, the last step length and the number of steps.
    `still` keeps the patch where it is. With settings.endgame = ε > 0 the first point with |t| < ε is saved for the
    endgame, and the path is handed over to it when |t| < ε·HAND_OVER and t = end is still out of reach.
    """
    direction, size = end - start, equations.size
    step = min(step, settings.longest)
    if not begin(equations, x, start, direction, history):
        return STEP_TOO_SMALL, 0.0, step, 0
    at, steps, known, failures = 0.0, 0, 1, 0
    history.saved[size] = -1.0 + 0.0j
    set_marks(history, abs(start), x, size)
    status = GOING
    while status == GOING:
        if steps >= settings.steps:
            status = TOO_MANY_STEPS
            break
        steps += 1
        remaining = 1.0 - at
        final = step >= WHOLE * remaining
        if final:
            step = remaining
        elif 2.0 * step > remaining:
            step = 0.5 * remaining  # two equal steps rather than a long and a tiny one
        goal = 1.0 if final else at + step
        t = start + goal * direction if not final else end
        predict(history, size, known, goal)
        extent = largest(history.trial, size)
        premature = final and settings.endgame > 0.0 and history.saved[size].real < 0.0
        within = NEXT_STEP if final or abs(t) <= settings.endgame else settings.within
        accepted, first, ratio = correct(equations, settings, history.trial, t, extent, within, premature)
        if accepted:
            failures = 0
            remember(equations, history, direction, goal)
            step = next_step(settings, step, first, ratio, known)
            known = min(known + 1, REMEMBERED)
            at = goal
            radius = abs(start + at * direction)
            status = outlook(equations, settings, history, radius, extent, still, at >= 1.0)
            if status == GOING and at >= 1.0:
                status = ARRIVED
        else:
            failures += 1
            step *= HALVED if failures < PATIENCE else CUT
            if step < settings.shortest * max(1.0 - at, LEAST_LEFT):
                status = STEP_TOO_SMALL
    if status in (TOO_MANY_STEPS, STEP_TOO_SMALL):
        status = stuck(equations, settings, history, abs(start + at * direction), status)
    copy(history.newest, x, size)
    return status, at, step, steps
