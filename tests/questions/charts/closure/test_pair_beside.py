"""w^(d−1)v + a u^d against products of linear forms, also where a is large and where the neuron is at the pair."""

import numpy as np
import pytest

from shallows.mathematics.homotopy.families import check_homotopy
from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.closure.equations import MergedEquations
from shallows.questions.charts.closure.pair_beside import PairBeside
from shallows.questions.charts.closure.parameterization import Parameterization
from shallows.questions.charts.closure.real import is_proper
from shallows.questions.charts.continuation.equations import family

CASES = [(3, 2), (3, 3), (4, 3), (5, 2), (6, 2)]


def form(entries, n, d, z):
    """The value of a form at z, from its entries."""
    table = coordinates.indices(n, d)
    return np.sum(coordinates.multiplicities(n, d) * entries * np.prod(z[table], axis=1))


def random_limit(n, rng, a=None):
    w, v, u = rng.standard_normal((3, n)) + 1j * rng.standard_normal((3, n))
    return [[w, v], [np.array([rng.standard_normal() + 1j if a is None else a]), u]]


@pytest.mark.parametrize(("d", "n"), CASES)
def test_values_are_those_of_the_forms(d, n):
    rng = np.random.default_rng([d, n])
    for k, a in enumerate((None, -2.0, 1e-3, 1e4)):
        map_ = PairBeside(d, n, k % n)
        (w, v), (weight, u) = limit = random_limit(n, rng, a)
        x = map_.parameters(limit)
        assert x.shape == (map_.unknowns,)
        z = rng.standard_normal(n)
        expected = (w @ z) ** (d - 1) * (v @ z) + weight[0] * (u @ z) ** d
        size = abs(weight[0]) * np.linalg.norm(u) ** d + 1
        assert abs(form(map_.tensors(x[None])[0], n, d, z) - expected) < 1e-10 * size * np.linalg.norm(z) ** d
        again = map_.parameters(map_.vectors(x))
        np.testing.assert_allclose(map_.tensors(again[None])[0], map_.tensors(x[None])[0], atol=1e-9 * size)


def test_a_neuron_that_has_come_to_the_pair_is_three_merged_neurons():
    rng = np.random.default_rng(0)
    map_, three = PairBeside(4, 3), Parameterization(4, 3, (3,))
    x = rng.standard_normal(map_.unknowns)
    x[-1] = 0.0
    w, v, y = np.append(1.0, x[:2]), x[2:5], np.append(0.0, x[5:7])
    np.testing.assert_allclose(
        map_.tensors(x[None])[0], three.tensors(three.parameters([[w, y, v]])[None])[0], atol=1e-12
    )
    assert not is_proper(map_.vectors(x))
    x[-1] = 1e-8
    assert not is_proper(map_.vectors(x))
    x[-1] = 0.1
    assert is_proper(map_.vectors(x))


def test_signs_of_y_and_of_the_step_are_one_limit():
    equations = MergedEquations(3, 3, (2, 1))
    x = np.random.default_rng(1).standard_normal((8, 2)) @ [1, 1j]
    first, second = equations.orbit(x)
    np.testing.assert_allclose(equations.tensors(first[None]), equations.tensors(second[None]), atol=1e-12)
    assert np.abs(first - second).max() > 0.1


@pytest.mark.parametrize("blocks", [(2,), (2, 1), (3,)])
def test_turned_solutions_are_solutions_of_the_turned_equations(blocks):
    """The same path in other coordinates: residuals vanish there at both ends, under any metric, and back again."""
    rng = np.random.default_rng(2)
    equations = MergedEquations(3, 3, blocks)
    gram = rng.standard_normal((10, 10)) + 1j * rng.standard_normal((10, 10))
    gram = gram + gram.T
    x, g = equations.first(gram, rng)
    kind = family(equations)
    p = np.concatenate([gram[np.triu_indices(10)], g])
    for way in range(3):
        other = kind.elsewhere(way, p, p)
        moved = other.there(x[None])
        value, _ = other.segment.at_all(np.append(moved, [[0.3]], axis=1))
        assert np.abs(value).max() < 1e-8 * max(1, np.abs(moved).max()) ** 5
        np.testing.assert_allclose(
            equations.tensors(other.back(moved)), equations.tensors(x[None]), atol=1e-9
        )


def test_derivatives_are_those_of_the_values():
    rng = np.random.default_rng(3)
    equations = MergedEquations(4, 3, (2, 1))
    kind = family(equations)
    p, q = rng.standard_normal((2, kind.parameter_count))
    assert check_homotopy(kind.segment(p + 0j, q + 0j), rng.standard_normal(equations.unknowns) + 0j) < 1e-6
