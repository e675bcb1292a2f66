"""A string between two minima: images that fall together and are kept evenly apart, over the lowest ridge nearby.

The simplified string method (W. E, W. Ren, E. Vanden-Eijnden, J. Chem. Phys. 126, 2007): a step of gradient descent on
every image, then images are spread evenly along the polygon. Its highest images begin the search for saddles.
"""

from __future__ import annotations

import numpy as np

from shallows.questions.connections.searched import Searched
from shallows.support.checks import Array
from shallows.support.tolerances import TINY

#: Images of a string, its ends among them, and steps: ridges are found to a share of the distance between images.
IMAGES, STEPS = 21, 400
#: A step of descent in units of the stiffest curvature at the ends: 1 is Newton's there, 2 is unstable.
STEP = 0.5


def relaxed(loss: Searched, first: Array, second: Array) -> tuple[Array, Array]:
    """The images (m, p) of a string between two parameter vectors, and their losses."""
    t = np.linspace(0, 1, IMAGES)[:, None]
    images = (1 - t) * first + t * second
    stiff = max(float(np.abs(np.linalg.eigvalsh(loss.hessian(x))).max()) for x in (first, second))
    for _ in range(STEPS):
        slopes = loss.value_and_gradient(images[1:-1])[1]
        images[1:-1] -= STEP / max(stiff, TINY) * slopes
        images = _evenly(images)
    return images, loss.value(images)


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
