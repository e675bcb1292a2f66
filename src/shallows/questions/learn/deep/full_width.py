"""Every form of degree 2^L as a deep quadratic network of full width: Theorem F.1's equivalence, written down.

Layer l < L computes all features of degree 2^l of the inputs (h_l = dim Sym^{2^l}, which is what symmetric
A_i can give; the d^{2^l} of the theorem counts permuted copies), and the last layer is a quadratic form of the last
features.
"""

from __future__ import annotations

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.questions.learn.deep.layers import Shape
from shallows.questions.learn.deep.losses import collector
from shallows.questions.learn.fitting.frame import from_matrix
from shallows.support.checks import Array


def full_width(entries: Array, n: int, depth: int) -> tuple[Shape, Array]:
    """The network of `depth` layers with f(z) = s·ψ_{2^L}(z) for each row s of `entries` (outputs, F)."""
    hidden = [coordinates.dimension(n, 2**l) for l in range(1, depth)]
    shape = Shape.of(n, hidden, len(entries))
    layers = []
    for l in range(1, depth + 1):
        rows = np.eye(hidden[l - 1]) if l < depth else entries
        forms = (collector(n, 2 ** (l - 1)).T @ rows.T).T
        side = shape.sizes[l - 1]
        layers.append(from_matrix(np.asarray(forms).reshape(len(rows), side, side)))
    return shape, shape.join(layers)
