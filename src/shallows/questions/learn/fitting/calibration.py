"""Probabilities from outputs: p_m ∝ exp(β f_m + t_m), one slope and an offset a class, fitted to samples that the outputs
have not seen (J. Platt, "Probabilistic outputs for support vector machines", 1999; for more classes temperature scaling).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from shallows.support.checks import Array

#: Weight of a penalty β²/2 + Σ t²/2 against the mean log-loss: classes that are never confused would have no finite slope.
PRIOR = 1e-3

#: Outputs are fitted to ±1; what lies beyond this (a sample alone in its direction, left out) says no more than this does.
FARTHEST = 3.0


@dataclass(frozen=True, eq=False)
class Calibration:
    """β and t; the outputs of two classes are one column f, whose logits are (0, βf + t)."""

    slope: float
    offsets: Array

    @classmethod
    def fit(cls, outputs: Array, places: Array, weights: Array) -> Calibration:
        """From outputs (rows, columns) that left their own sample out, and the places of the true classes."""
        logits = _logits(outputs)
        share = weights / weights.sum()
        scale = float(np.sqrt(share @ np.mean(logits**2, axis=1))) or 1.0
        rows = np.arange(len(logits))

        def objective(theta: Array) -> tuple[float, Array]:
            values = theta[0] * logits / scale + theta[1:]
            wrong = softmax(values, axis=1)
            loss = -float(share @ log_softmax(values, axis=1)[rows, places]) + PRIOR / 2 * float(
                theta @ theta
            )
            wrong[rows, places] -= 1.0
            slope = np.append(np.sum(share[:, None] * wrong * logits) / scale, share @ wrong)
            return loss, slope + PRIOR * theta

        start = np.append(1.0, np.zeros(logits.shape[1]))
        theta = minimize(objective, start, jac=True, method="L-BFGS-B").x
        return cls(float(theta[0]) / scale, np.asarray(theta[1:]))

    def __call__(self, outputs: Array) -> Array:
        """Probabilities of the classes, rows that add up to one."""
        return np.asarray(softmax(self.slope * _logits(outputs) + self.offsets, axis=1))


def _logits(outputs: Array) -> Array:
    inside = np.clip(outputs, -FARTHEST, FARTHEST)
    return np.column_stack([np.zeros(len(inside)), inside]) if inside.shape[1] == 1 else inside
