"""The kinds of segments that paths are made of, and what these hold: what a file of a path may contain."""

from __future__ import annotations

from shallows.questions.geometry.escape.dependent_neurons import Turn
from shallows.questions.geometry.escape.eigenpaths import EigenPath
from shallows.questions.geometry.escape.merging_descent import Merging, MergingLine
from shallows.questions.geometry.escape.pencils import Eigenpairs
from shallows.questions.geometry.fibers.motions import PlaneMotion, Rescale
from shallows.questions.geometry.paths import Backwards, Straight

SEGMENTS = (Straight, Backwards, Rescale, PlaneMotion, EigenPath, Eigenpairs, MergingLine, Merging, Turn)
