"""What training deep quadratic networks will cost, before it starts."""

from __future__ import annotations

from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.deep.layers import Shape
from shallows.questions.learn.deep.losses import LARGEST_FORM
from shallows.questions.learn.fitting.solve import WORK_SECONDS
from shallows.support.budget import require
from shallows.support.checks import counted

#: Seconds of an evaluation whatever its size; and of an entry of hhᵀ a sample, through which slopes go back; measured.
CALL_SECONDS, SLOPE_SECONDS = 1e-4, 5e-9
#: Operations a parameter and sample, there and back; a pair of features of degree four in function space.
ON_SAMPLES, ON_FORMS = 4.0, 8.0
#: Arrays of all parameters that descent holds: twenty for L-BFGS's memory, and where it is, was and may go.
ARRAYS = 32


def in_forms(shape: Shape, samples: int) -> bool:
    """Whether two layers are trained in function space: samples are at least half as many as the features."""
    features = coordinates.dimension(shape.sizes[0], shape.degree) if shape.depth == 2 else LARGEST_FORM + 1
    return features <= LARGEST_FORM and 2 * samples >= features


def require_training(shape: Shape, samples: int, runs: int, iterations: int) -> None:
    """Refuse a training that takes too much if it uses all of its iterations."""
    size = float(shape.size)
    if in_forms(shape, samples):
        work = ON_FORMS * float(coordinates.dimension(shape.sizes[0], shape.degree)) ** 2 + ON_SAMPLES * size
        back = 0.0
    else:
        work = ON_SAMPLES * samples * size
        back = SLOPE_SECONDS * samples * float(sum(h * h for h in shape.sizes[1:-1]))
    require(
        f"{counted(runs, 'run')} of {counted(shape.size, 'parameter')} on {counted(samples, 'sample')}, "
        f"{counted(iterations, 'iteration')} each,",
        seconds=float(runs) * float(iterations) * (CALL_SECONDS + WORK_SECONDS * work + back),
        size=8.0 * (ARRAYS * float(runs) * size + samples * float(coordinates.dimension(shape.sizes[0], 2))),
        fix="Use fewer runs, fewer iterations, or smaller layers.",
    )
