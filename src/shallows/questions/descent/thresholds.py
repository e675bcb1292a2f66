"""Numbers that the NumPy loops of `methods` share with their compiled twins, so that both decide alike."""

from __future__ import annotations

from shallows.questions.descent.results.run import Status

# The status of a run as plain integers, for compiled code.
GOING = int(Status.RUNNING)
CONVERGED, LIMIT, DIVERGED = int(Status.CONVERGED), int(Status.LIMIT), int(Status.DIVERGED)
STALLED, INTERRUPTED, GOAL = int(Status.STALLED), int(Status.INTERRUPTED), int(Status.GOAL)

#: A loss above this many times 1 + the first one has blown up: a stable step lowers the loss, so nothing that ends
#: comes near it, and gradients of such losses are still finite.
BLOW_UP = 1e8
#: A gradient norm below this share of E y² may be rounding: gradients were measured to carry 1e-15 to 1e-13 of it.
ROUNDING = 1e-12
#: The same for losses: a decrease below this share of L + E y² is hidden by rounding.
RESOLUTION = 1e-12
#: A run is stuck in rounding when its gradient norm has had no new low (by a hundredth) for so many iterations; it is
#: looked at once in 500.
PATIENCE, CHECK, NEW_LOW = 20_000, 500, 0.99

#: The line search: Armijo's share of the decrease (½: a quadratic function falls by s‖g‖²/2 exactly while s ≤ 1/λ), and
#: how a step taken grows and a step refused shrinks.
DECREASE, GROWTH, SHRINK = 0.5, 1.25, 0.5
#: The first step moves θ by a hundredth of its length, a length of at least 1e-3 being assumed (θ may start at 0).
FIRST_MOVE, SHORTEST_THETA = 0.01, 1e-3
#: A run whose step falls below this share of its first one has stalled: 2⁻⁴⁶ or so, too short to change θ.
SMALLEST_STEP = 1e-14

#: Newton-CG has left its basin when the point has moved by more than a quarter of its length, and fails when a step
#: does not halve the gradient norm (near a minimum it squares it).
FARTHEST, HALVING = 0.25, 0.5
#: Most Newton steps, CG steps in each, and Lanczos steps at the end.
NEWTON_STEPS, CG_STEPS, LANCZOS_STEPS = 25, 250, 30
#: CG solves to min(0.1, √(‖g‖/E y²)) of the gradient (Dembo and Steihaug 1983: superlinear convergence).
FORCING = 0.1
#: A curvature below FLAT of the largest one is not used, one below −SADDLE of it is a saddle's: Hessian products by
#: differences of gradients are exact to about 1e-9 of it.
FLAT, SADDLE = 1e-8, 1e-6
#: A Lanczos vector shorter than this share of 1 + its image is rounding: the space is exhausted.
EXHAUSTED = 1e-12
