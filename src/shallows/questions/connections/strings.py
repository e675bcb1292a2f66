"""A string between two minima: images that fall together and are kept evenly apart, over the lowest ridge nearby.

The simplified string method (W. E, W. Ren, E. Vanden-Eijnden, J. Chem. Phys. 126, 2007): a step of gradient descent on
every image, then images are spread evenly along the polygon. Its highest images begin the search for saddles.
"""

from __future__ import annotations

import numpy as np

from shallows.model.activations import Power
from shallows.model.problem import Problem
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: Images of a string, its ends among them, and steps: ridges are found to a share of the distance between images.
IMAGES, STEPS = 21, 400
#: A step of descent in units of the stiffest curvature at the ends: 1 is Newton's there, 2 is unstable.
STEP = 0.5


def aligned(problem: Problem, first: Array, second: Array) -> Array:
    """The parameters of a network like the second, its neurons in the order closest to the first's.

    Even powers do not see the sign of a neuron: that is chosen too.
    """
    from scipy.optimize import linear_sum_assignment

    W, A, _ = problem.layout.split(first)
    V, B, norm = problem.layout.split(second)
    even = isinstance(problem.activation, Power) and problem.activation.degree % 2 == 0
    near = np.sum((W[:, None] - V[None]) ** 2, axis=2)
    far = np.sum((W[:, None] + V[None]) ** 2, axis=2)
    cost = np.minimum(near, far) if even else near
    if problem.outer is not None:  # neurons of different fixed weights do not change places
        fixed = np.atleast_2d(problem.outer)
        apart = np.any(fixed[:, :, None] != fixed[:, None, :], axis=0)
        cost = cost + np.where(apart, 1.0 + np.sum(cost), 0.0)
    order = linear_sum_assignment(cost)[1]
    rows = np.arange(len(W))
    turned = even & (far[rows, order] < near[rows, order])
    moved = np.where(np.reshape(turned, (-1, 1)), -V[order], V[order])
    return problem.layout.join(moved, A if B is None else B[..., order], norm)


def relaxed(problem: Problem, first: Array, second: Array) -> tuple[Array, Array]:
    """The images (m, p) of a string between two parameter vectors, and their losses."""
    t = np.linspace(0, 1, IMAGES)[:, None]
    images = (1 - t) * first + t * second
    stiff = max(
        float(np.abs(np.linalg.eigvalsh(problem.hessian(problem.unpack(x)))).max()) for x in (first, second)
    )
    for _ in range(STEPS):
        slopes = problem.value_and_gradient(images[1:-1])[1]
        images[1:-1] -= STEP / max(stiff, TINY) * slopes
        images = _evenly(images)
    return images, problem.value(images)


def _evenly(images: Array) -> Array:
    """As many images, at equal distances along the polygon."""
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(images, axis=0), axis=1))])
    wanted = np.linspace(0, lengths[-1], len(images))
    spread = np.array([np.interp(wanted, lengths, column) for column in images.T]).T
    spread[0], spread[-1] = images[0], images[-1]
    return spread


def ridges(losses: Array) -> list[int]:
    """The images that are higher than both neighbours."""
    inner = np.arange(1, len(losses) - 1)
    top = (losses[inner] >= losses[inner - 1]) & (losses[inner] > losses[inner + 1])
    return [int(i) for i in inner[top]]
