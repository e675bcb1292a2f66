"""Merge trees: one neuron with four inputs against topsearch, which samples the same loss."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import tempfile
import time
from typing import Any

import numpy as np

import shallows as sh
from bench.report import Row, show_time
from shallows.support.checks import Array

#: Basin hopping steps, and cycles of connecting the closest minima, that the peer gets: enough to find all 16 minima.
HOPS, CYCLES = 200, 4
#: Losses that agree to this share are of one critical point.
SAME = 1e-4
PROMISED = 50.0


def run() -> list[Row]:
    """Processor time of both, and whether the peer found a minimum or a barrier that we do not have."""
    if importlib.util.find_spec("topsearch") is None:
        return [Row("merge tree, n = 4", "", "", None, PROMISED, "topsearch is not installed")]
    problem = sh.Problem(np.diag([2.0, 1.7, 1.3, 1.0]), sh.IID(4, [1, 0, 1, 0, 30]), width=1, outer="ones")
    sh.chart(problem).connections(space="parameters")  # compiles
    begin = time.process_time()
    tree = sh.chart(problem).connections(space="parameters")
    ours = time.process_time() - begin
    begin = time.process_time()
    minima, saddles = sampled(problem)
    peer = time.process_time() - begin
    known = np.array([leaf.loss for leaf in tree.leaves])
    listed = sh.chart(problem).losses
    extra = sum(np.min(np.abs(loss - known)) > SAME * loss for loss in minima)
    extra += sum(np.min(np.abs(loss - listed)) > SAME * loss for loss in saddles)
    note = (
        f"ours: {len(tree.leaves)} leaves, {len(tree.edges)} joins, {tree.known}; topsearch: {len(minima)} minima, "
        f"{len(saddles)} transition states, {extra} of them unknown to us; processor time"
    )
    ratio = peer / ours
    return [Row("merge tree of one neuron, n = 4", show_time(ours), show_time(peer), ratio, PROMISED, note)]


def sampled(problem: sh.Problem) -> tuple[list[float], list[float]]:
    """Losses of minima and transition states by basin hopping, nudged bands and eigenvector following."""
    from topsearch.data.coordinates import StandardCoordinates
    from topsearch.data.kinetic_transition_network import KineticTransitionNetwork
    from topsearch.global_optimisation.basin_hopping import BasinHopping
    from topsearch.global_optimisation.perturbations import StandardPerturbation
    from topsearch.potentials.potential import Potential
    from topsearch.sampling.exploration import NetworkSampling
    from topsearch.similarity.similarity import StandardSimilarity
    from topsearch.transition_states.hybrid_eigenvector_following import HybridEigenvectorFollowing
    from topsearch.transition_states.nudged_elastic_band import NudgedElasticBand

    class Loss(Potential):  # type: ignore[misc]
        """The loss with its exact derivatives."""

        def function(self, position: Array) -> float:
            return float(problem.value(position))

        def gradient(self, position: Array, displacement: float = 0.0) -> Array:
            return problem.value_and_gradient(position)[1]

        def function_gradient(self, position: Array) -> tuple[float, Array]:
            value, slope = problem.value_and_gradient(position)
            return float(value), slope

        def hessian(self, position: Array, displacement: float = 0.0) -> Array:
            return problem.hessian(problem.unpack(position))

    loss: Any = Loss()
    network = KineticTransitionNetwork()
    coordinates = StandardCoordinates(ndim=problem.size, bounds=[(-3.0, 3.0)] * problem.size)
    similarity = StandardSimilarity(distance_criterion=0.05, energy_criterion=1e-2)
    hopping = BasinHopping(network, loss, similarity, StandardPerturbation(max_displacement=2.0))
    following = HybridEigenvectorFollowing(loss, ts_conv_crit=1e-5, ts_steps=75, pushoff=5e-3)
    band = NudgedElasticBand(loss, force_constant=50.0, image_density=10.0, max_images=20, neb_conv_crit=1e-2)
    search = NetworkSampling(network, coordinates, hopping, following, band, similarity)
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # it writes a log file
        search.get_minima(coordinates, HOPS, 1e-6, 100.0, test_valid=True)
        search.get_transition_states("ClosestEnumeration", CYCLES, remove_bounds_minima=True)
    assert os.getcwd() == here
    found = [float(network.get_minimum_energy(i)) for i in range(network.n_minima)]
    pairs = [(u, v) for u, v, *_ in network.G.edges]
    return found, [float(network.get_ts_energy(u, v)) for u, v in pairs]
