"""Probabilities from outputs: p_m ∝ exp(β(f_m + c_m)), so that the likeliest class is the one predicted.

The slope β > 0 is fitted to samples that the outputs have not seen (temperature scaling; C. Guo, G. Pleiss, Y. Sun and
K. Weinberger, "On calibration of modern neural networks", ICML 2017). The levels c are 0 at full width, where the fit
has a constant of its own. A narrow form has none to spare: its levels are fitted too (J. Platt, 1999), and the classes
that are predicted are those of f + c.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, softmax

from shallows.support.checks import Array

#: Slopes that are looked at, as logarithms: from probabilities that are all but equal to ones that are all but certain,
#: for outputs that are fitted to ±1.
SLOPES = (-4.0, 4.0)
#: Outputs beyond this (a sample alone in its direction, left out) say no more than this does.
FARTHEST = 3.0
#: Until the last digits: equal data, written in another way, have equal probabilities.
PRECISELY = {"ftol": 0.0, "gtol": 1e-13, "maxiter": 1000}
#: Levels are between these: what is fitted to ±1 is off by no more.
LEVELS = (-2.0, 2.0)


@dataclass(frozen=True, eq=False)
class Calibration:
    """β and c; the outputs of two classes are one column f, whose logits are (−β(f + c), β(f + c))."""

    slope: float
    levels: Array

    @classmethod
    def fit(cls, outputs: Array, places: Array, weights: Array, levels: bool = False) -> Calibration:
        """From outputs (rows, columns) that left their own sample out, and the places of the true classes."""
        share, rows, columns = weights / weights.sum(), np.arange(len(outputs)), outputs.shape[1]
        none = np.zeros(columns)

        def loss(exponent: float) -> float:
            logits = np.exp(exponent) * _logits(outputs, none)
            return -float(share @ log_softmax(logits, axis=1)[rows, places])

        first = float(minimize_scalar(loss, bounds=SLOPES, method="bounded").x)
        if not levels:
            return cls(float(np.exp(first)), none)
        true = np.eye(max(columns, 2))[places]

        def slopes(x: Array) -> tuple[float, Array]:
            slope, inside = np.exp(x[0]), np.clip(outputs, -FARTHEST, FARTHEST) + x[1:]
            logits = slope * (np.column_stack([-inside, inside]) if columns == 1 else inside)
            gap = share[:, None] * (softmax(logits, axis=1) - true)
            pull = gap[:, 1:] - gap[:, :1] if columns == 1 else gap
            value = -float(share @ log_softmax(logits, axis=1)[rows, places])
            return value, slope * np.append(np.sum(pull * inside), np.sum(pull, axis=0))

        bounds = [SLOPES, *[LEVELS] * columns]
        found = minimize(
            slopes, [first, *none], jac=True, bounds=bounds, method="L-BFGS-B", options=PRECISELY
        )
        return cls(float(np.exp(found.x[0])), np.asarray(found.x[1:]))

    def __call__(self, outputs: Array) -> Array:
        """Probabilities of the classes, rows that add up to one."""
        return np.asarray(softmax(self.slope * _logits(outputs, self.levels), axis=1))

    def __repr__(self) -> str:
        return f"Calibration(slope={self.slope:.3g}, levels={np.round(self.levels, 3).tolist()})"


def _logits(outputs: Array, levels: Array) -> Array:
    inside = np.clip(outputs, -FARTHEST, FARTHEST) + levels
    return np.column_stack([-inside, inside]) if inside.shape[1] == 1 else inside
