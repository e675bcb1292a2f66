"""Critical networks, saddles too, by least squares on ∇L from random weights: it knows no strata and no families."""

import numpy as np
from scipy.optimize import least_squares

#: Where SciPy stops: at a few roundings.
STOP = 1e-15
#: Ends with a smaller gradient are critical; flat valleys to infinity end above it.
CRITICAL = 1e-9


def gradient_zeros(problem, starts, rng, sizes=(1.0,), far=50.0, evaluations=150):
    """Networks with ∇L = 0 and weights below `far`, from normal starts of these sizes."""
    for _ in range(starts):
        start = rng.standard_normal(problem.size)
        found = least_squares(
            lambda x: problem.value_and_gradient(x)[1],
            start * rng.choice(sizes) if len(sizes) > 1 else start,
            jac=lambda x: problem.hessian(problem.unpack(x)),
            xtol=STOP,
            ftol=STOP,
            gtol=STOP,
            max_nfev=evaluations,
        )
        if np.abs(found.fun).max() < CRITICAL and np.abs(found.x).max() < far:
            yield problem.unpack(found.x)
