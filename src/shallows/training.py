"""Figures of recorded descents, beyond what `shallows` itself exports: loss curves, and trajectories over the loss."""

from shallows.questions.descent.results.figures import (
    Plane,
    loss_curves,
    principal_plane,
    slice_plane,
    trajectories,
)

__all__ = [
    "Plane",
    "loss_curves",
    "principal_plane",
    "slice_plane",
    "trajectories",
]
