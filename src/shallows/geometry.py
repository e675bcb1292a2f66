"""The geometry of function space, beyond what `shallows` itself exports (paper 000, sections 2 and 3)."""

from shallows.questions.charts.family_components import critical_set
from shallows.questions.geometry.escape.eigenpaths import eigen_path
from shallows.questions.geometry.manifolds.focal_points import (
    index_by_eigenvalues,
    index_by_focal_points,
    ray_focal_points,
    segment_focal_points,
)
from shallows.questions.geometry.manifolds.local_geometry import LocalGeometry
from shallows.questions.geometry.manifolds.parametric import ParametricChart
from shallows.questions.geometry.manifolds.spectral_map import spectral_differential, spectral_nullity
from shallows.questions.geometry.paths import energy
from shallows.questions.geometry.ranks.branch_locus import (
    branch_rank,
    critical_representative,
    in_branch_locus,
)
from shallows.questions.geometry.ranks.generic_rank import generic_rank, is_singular_at, singular_form
from shallows.questions.geometry.ranks.identifiability import identifiability
from shallows.questions.geometry.ranks.parameterization import differential

__all__ = [
    "LocalGeometry",
    "ParametricChart",
    "branch_rank",
    "critical_representative",
    "critical_set",
    "differential",
    "eigen_path",
    "energy",
    "generic_rank",
    "identifiability",
    "in_branch_locus",
    "index_by_eigenvalues",
    "index_by_focal_points",
    "is_singular_at",
    "ray_focal_points",
    "segment_focal_points",
    "singular_form",
    "spectral_differential",
    "spectral_nullity",
]
