"""Quadratic networks (papers 001 and 002): barriers, sample thresholds, certificates, spurious minima.

| question | tool |
| --- | --- |
| how low can a rank-deficient network get? | `sh.energy_barrier` |
| do these samples determine the network? | `sh.spans_symmetric`, `sample_threshold`, `prime_points` |
| which networks fit the samples and are wrong? | `bad_interpolator`, `generalisation_jump` |
| does W₀ᵀW₀ = γI start below the barrier? | `start_probability` |
| what is the best quadratic function? | `convex_optimum` |
| is this point global, a trap, a strict saddle? | `inspect`, `equivalent_set` |
| how do the three variants of paper 002 train? | `plain`, `with_norm`, `with_orthogonality`, `train`, `success_rate` |
| and the theorems on the orthogonality penalty? | `fit_orthogonal`, `eigendecompose` |
| and with several outputs? | `basis_network`, `fit_blocks` |
"""

from shallows.questions.quadratic.barrier import energy_barrier as energy_barrier
from shallows.questions.quadratic.certificates import (
    Inspection,
    full_rank_optimality,
    inspect,
    residual_matrices,
)
from shallows.questions.quadratic.closed_form_barrier import Barrier as Barrier
from shallows.questions.quadratic.convex import ConvexOptimum, convex_optimum
from shallows.questions.quadratic.curvature import Descent
from shallows.questions.quadratic.eigendecomposition import Eigendecomposition, eigendecompose
from shallows.questions.quadratic.equivalent import EquivalentSet, equivalent_set
from shallows.questions.quadratic.initialisation import StartProbability, start_probability, sufficient_ratio
from shallows.questions.quadratic.interpolation import BadInterpolator, bad_interpolator
from shallows.questions.quadratic.orthogonality import OrthogonalFit, fit_orthogonal
from shallows.questions.quadratic.outputs import BlockFit, basis_network, fit_blocks, sufficient_width
from shallows.questions.quadratic.sample_span import Span as Span
from shallows.questions.quadratic.sample_span import prime_points, sample_threshold
from shallows.questions.quadratic.sample_span import spans_symmetric as spans_symmetric
from shallows.questions.quadratic.training import Training, identity_start, train, uniform_starts
from shallows.questions.quadratic.variants import plain, with_norm, with_orthogonality
from shallows.uses.papers.experiments.generalisation import Jump, generalisation_jump
from shallows.uses.papers.experiments.success_rates import SuccessRate, figure_2_data, success_rate

# `name as name`: a name of `shallows` itself; older scripts have it from here.
__all__ = [
    "BadInterpolator",
    "BlockFit",
    "ConvexOptimum",
    "Descent",
    "Eigendecomposition",
    "EquivalentSet",
    "Inspection",
    "Jump",
    "OrthogonalFit",
    "StartProbability",
    "SuccessRate",
    "Training",
    "bad_interpolator",
    "basis_network",
    "convex_optimum",
    "eigendecompose",
    "equivalent_set",
    "figure_2_data",
    "fit_blocks",
    "fit_orthogonal",
    "full_rank_optimality",
    "generalisation_jump",
    "identity_start",
    "inspect",
    "plain",
    "prime_points",
    "residual_matrices",
    "sample_threshold",
    "start_probability",
    "success_rate",
    "sufficient_ratio",
    "sufficient_width",
    "train",
    "uniform_starts",
    "with_norm",
    "with_orthogonality",
]
