"""Probabilities from outputs: p_m ∝ exp(β f_m), one slope β > 0, so that the likeliest class is the one predicted.

The slope is fitted to samples that the outputs have not seen (temperature scaling; C. Guo, G. Pleiss, Y. Sun and
K. Weinberger, "On calibration of modern neural networks", ICML 2017).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from shallows.support.checks import Array

#: Slopes that are looked at, as logarithms: from probabilities that are all but equal to ones that are all but certain,
#: for outputs that are fitted to ±1.
SLOPES = (-4.0, 4.0)
#: Outputs beyond this (a sample alone in its direction, left out) say no more than this does.
FARTHEST = 3.0


@dataclass(frozen=True)
class Calibration:
    """β; the outputs of two classes are one column f, whose logits are (−βf, βf)."""

    slope: float

    @classmethod
    def fit(cls, outputs: Array, places: Array, weights: Array) -> Calibration:
        """From outputs (rows, columns) that left their own sample out, and the places of the true classes."""
        logits, share, rows = _logits(outputs), weights / weights.sum(), np.arange(len(outputs))

        def loss(exponent: float) -> float:
            return -float(share @ log_softmax(np.exp(exponent) * logits, axis=1)[rows, places])

        return cls(float(np.exp(minimize_scalar(loss, bounds=SLOPES, method="bounded").x)))

    def __call__(self, outputs: Array) -> Array:
        """Probabilities of the classes, rows that add up to one."""
        return np.asarray(softmax(self.slope * _logits(outputs), axis=1))


def _logits(outputs: Array) -> Array:
    inside = np.clip(outputs, -FARTHEST, FARTHEST)
    return np.column_stack([-inside, inside]) if inside.shape[1] == 1 else inside
