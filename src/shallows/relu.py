"""The landscape of shallow ReLU networks (paper 003): certificates, symmetric families, geometry, splitting."""

from shallows.questions.relu.block_form import BlockForm, recognise
from shallows.questions.relu.followed import Followed, follow
from shallows.questions.relu.global_minima import (
    SMALLEST_EIGENVALUE,
    GlobalMinimum,
    global_minimum,
    sample_global_minima,
)
from shallows.questions.relu.most_directions import (
    ConjectureRow,
    DirectionalCurvature,
    conjecture_table,
    directional_curvature,
)
from shallows.questions.relu.nonconvexity import NegativeCurvature, negative_curvature
from shallows.questions.relu.perturbed import PerturbedPlan, PerturbedRuns, perturbed_plan, perturbed_runs
from shallows.questions.relu.scaling import Ray, norm_sum, norm_sum_bound, ray
from shallows.questions.relu.setting import relu_problem as relu_problem
from shallows.questions.relu.splitting import Splits, descend_from_split, split_hessian, splits, wider
from shallows.questions.relu.symmetric_chart import SymmetricChart, symmetric_chart
from shallows.questions.relu.symmetric_point import SymmetricPoint
from shallows.questions.relu.witnesses import Witness, WitnessTable, witness, witness_orders
from shallows.uses.papers.experiments.published_minima import PublishedMinimum, published_minima
from shallows.uses.papers.experiments.relu_training import Agreement, Experiment, FoundMinimum, experiment

# `name as name`: a name of `shallows` itself; older scripts have it from here.
__all__ = [
    "SMALLEST_EIGENVALUE",
    "Agreement",
    "BlockForm",
    "ConjectureRow",
    "DirectionalCurvature",
    "Experiment",
    "Followed",
    "FoundMinimum",
    "GlobalMinimum",
    "NegativeCurvature",
    "PerturbedPlan",
    "PerturbedRuns",
    "PublishedMinimum",
    "Ray",
    "Splits",
    "SymmetricChart",
    "SymmetricPoint",
    "Witness",
    "WitnessTable",
    "conjecture_table",
    "descend_from_split",
    "directional_curvature",
    "experiment",
    "follow",
    "global_minimum",
    "negative_curvature",
    "norm_sum",
    "norm_sum_bound",
    "perturbed_plan",
    "perturbed_runs",
    "published_minima",
    "ray",
    "recognise",
    "sample_global_minima",
    "split_hessian",
    "splits",
    "symmetric_chart",
    "wider",
    "witness",
    "witness_orders",
]
