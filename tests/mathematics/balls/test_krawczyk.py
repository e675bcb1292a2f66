"""Certificates: what is proved, and negative controls that must never certify."""

import numpy as np
import pytest
from bench.literature import katsura, noon
from flint import arb, fmpq

import shallows as sh
from shallows.certify import Collector, certify
from shallows.homotopy import PolynomialSystem, random_rank_one, solve
from shallows.mathematics.balls.systems import precision


def test_all_roots_of_katsura_proved_complete():
    result = solve(katsura(5))
    certificate = result.certify()
    assert certificate.complete and certificate.count == 32 == certificate.bound
    assert certificate.real_count + certificate.nonreal_count == 32
    assert certificate.real_count == result.real.count
    assert "complete" in repr(certificate)
    assert all(root.digits > 10 for root in certificate.certified)


def test_rank_one_pairs_are_proved_complete():
    system = random_rank_one(4, np.random.default_rng(2))
    result = solve(system)
    certificate = result.certify()
    assert certificate.complete and certificate.count == 40 and certificate.sign_symmetric
    doubled = certify(system, np.vstack([result.finite.points, -result.finite.points]), bound=40)
    assert doubled.count == 40 and len(doubled.repeated) == 40, "−v is no new pair"
    zero = certify(system, np.zeros((1, 4)), bound=40)
    assert zero.count == 0, "v = 0 is a root, but no pair"


def test_coordinates_that_vanish_are_real_whatever_their_rounding():
    """Imaginary parts of 1e-30 in coordinates of 1e-31: a chart lost its global minimum over them (oracle, 913)."""
    system = sh.homotopy.RankOneSystem(
        {(0, 0, 0, 0): 1, (1, 1, 1, 1): 1, (2, 2, 2, 2): 1}, np.diag([2.0, -1.0, -3.0])
    )
    point = np.array([[2**0.5 - 4e-31j, -3e-31 - 1.8e-30j, 2e-31 + 1.2e-30j]])
    (root,) = certify(system, point).certified
    assert root.real is True


def test_boxes_contain_the_exact_root():
    system = PolynomialSystem.read(["x^2 - 2", "y - x/3"])
    certificate = certify(system, [[1.4142135623730951, 0.47140452079103173]])
    (root,) = certificate.certified
    assert root.real is True
    fine = root.refine(200)
    assert fine.digits >= 200
    with precision(800):
        exact = arb(2).sqrt()
        assert fine.box[0].overlaps(exact) and (fine.box[0] - exact).abs_upper() < arb(10) ** -199
        assert fine.box[1].overlaps(exact / 3)
    assert all(outer.contains(inner) for outer, inner in zip(root.domain, fine.box, strict=True))


@pytest.mark.parametrize("size", [1e-1, 1e-2, 1e-3])
def test_perturbed_roots_do_not_certify(size):
    points = solve(katsura(4)).finite.points
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(points.shape) + 1j * rng.standard_normal(points.shape)
    moved = points + size * noise * np.abs(points).max(axis=1, keepdims=True)
    assert certify(PolynomialSystem.read(katsura(4)), moved).count == 0


def test_random_points_do_not_certify(rng):
    for rows in (katsura(3), noon(3)):
        system = PolynomialSystem.read(rows)
        points = rng.standard_normal((200, system.n)) + 1j * rng.standard_normal((200, system.n))
        assert certify(system, points).count == 0
        assert certify(system, points.real).count == 0
    system = random_rank_one(4, rng)
    assert certify(system, rng.standard_normal((200, 4))).count == 0


def test_real_boxes_at_complex_roots_do_not_certify():
    system = PolynomialSystem.read(["x^2 + 1/10000", "y - 1"])
    certificate = certify(system, [[0.01j, 1], [-0.01j, 1]])
    assert certificate.count == 2 and certificate.real_count == 0 and certificate.nonreal_count == 2
    assert certify(system, [[0.0, 1.0], [0.01, 1.0], [1e-9j, 1.0]]).count == 0
    tiny = PolynomialSystem.read(["x^2 + 1e-40"])  # the roots are ±1e-20 i
    assert certify(tiny, [[0.0]]).count == 0
    result = solve(katsura(5))
    for solution in result.nonreal:
        assert certify(result.system, solution.point.real[None]).real_count == 0


def test_multiple_roots_do_not_certify():
    system = PolynomialSystem.read(["(x - 1)^2", "y - x"])
    for guess in (1.0, 1 + 1e-9, 1 + 1e-5, 1 + 1e-8j):
        assert certify(system, [[guess, guess]]).count == 0
    triple = PolynomialSystem.read(["x^3 - 3*x^2 + 3*x - 1"])
    assert certify(triple, [[1.0], [1.0000001]]).count == 0
    circle = PolynomialSystem.read(["x^2 + y^2 - 1", "2*x^2 + 2*y^2 - 2"])
    assert certify(circle, [[0.6, 0.8], [1.0, 0.0]]).count == 0


def test_points_that_are_not_numbers_do_not_certify():
    system = PolynomialSystem.read(["x^2 - 2"])
    assert certify(system, [[np.nan], [np.inf]]).count == 0


def test_the_proof_is_about_the_exact_coefficients():
    # 0.1 in text is one tenth; as a float it is another number, and the roots differ
    text, binary = PolynomialSystem.read(["x - 0.1"]), PolynomialSystem.read([{(1,): 1, (0,): -0.1}])
    fine = certify(text, [[0.1]]).certified[0].refine(60)
    other = certify(binary, [[0.1]]).certified[0].refine(60)
    assert fine.is_disjoint(other)
    with precision(400):
        assert fine.box[0].overlaps(arb(fmpq(1, 10))) and not other.box[0].overlaps(arb(fmpq(1, 10)))


def test_close_roots_are_told_apart():
    system = PolynomialSystem.read(["(x - 1)*(x - 1 - 1e-12)"])
    certificate = certify(system, [[1.0], [1 + 1e-12]])
    assert certificate.count == 2 and certificate.real_count == 2
    assert certify(system, [[1.0], [1.0]]).count == 1


def test_collectors_merge():
    result = solve(noon(3), rng=0)
    roots = [root for root in result.certify().roots if root is not None]
    first, second = Collector(roots[:15]), Collector(roots[9:])
    assert len(first) == 15 and len(second) == 12
    assert first.merge(second) == 6 and len(first) == 21
    assert first.merge(second) == 0
    again = [root for root in solve(noon(3), rng=5).certify().roots if root is not None]
    assert not any(first.add(root) for root in again), "another seed finds the same roots"
    assert all(root in first for root in again)


def test_the_collector_scales_to_many_roots():
    roots = [root for root in solve(noon(5), rng=0).certify(digits=5).roots if root is not None]
    collector = Collector(roots)
    assert len(collector) == 233
    assert not any(collector.add(root) for root in reversed(roots))
