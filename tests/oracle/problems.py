"""Families of special problems: what nobody draws at random and everybody tries first, and some generic ones.

`FAMILIES` maps a name to a generator: rng → `Given`. `drawing` has what they draw, `near` those next to special ones,
`known` for single ones.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from tests.oracle.drawing import (
    Rng,
    copied,
    diagonal,
    floats,
    grid,
    law,
    nonzero,
    pick,
    rows,
    singular,
    symmetric,
)
from tests.oracle.exact import (
    FrobeniusLaw,
    GaussianLaw,
    Given,
    MetricLaw,
    MixtureLaw,
    NamedLaw,
    SamplesLaw,
    power_entries,
)
from tests.oracle.known import KNOWN
from tests.oracle.near import far_moved, near_discriminant, near_gaussian_moments, near_repeated


def identity(rng: Rng) -> Given:
    n = pick(rng, (2, 2, 3, 3, 4))
    kinds = ("gaussian", "frobenius", "sphere", "radial", "laplace", "iid", "covariance", "moved")
    data = law(rng, n, 2, *(kinds if n < 4 else kinds[:4]))
    scale = pick(rng, (1.0, 1.0, -2.0, 0.5))
    return Given(data, 2, int(rng.integers(1, min(n, 2) + 1)), matrix=rows(scale * np.eye(n)))


def repeated(rng: Rng) -> Given:
    """αI + β uuᵀ: an eigenvalue repeated n−1 times, in no coordinate direction."""
    n = pick(rng, (2, 3, 3, 4))
    u = nonzero(rng, n, 2)
    T = pick(rng, (1.0, 2.0, -1.0)) * np.eye(n) + pick(rng, (1.0, -1.0, 0.5)) * np.outer(u, u)
    data = law(rng, n, 2, "gaussian", "frobenius", "sphere", "radial")
    return Given(data, 2, int(rng.integers(1, n + 1)), matrix=rows(T))


def repeated_other_data(rng: Rng) -> Given:
    """Repeated eigenvalues under data of other kinds."""
    n = pick(rng, (2, 3))
    values = pick(rng, ((2.0, 1.0, 1.0), (1.0, 2.0, 2.0), (3.0, 3.0, -1.0), (1.0, 1.0, 0.0)))[:n]
    return Given(law(rng, n, 2, "moved", "laplace", "iid", "covariance"), 2, 1, matrix=diagonal(*values))


def zero_target(rng: Rng) -> Given:
    n, d = pick(rng, ((2, 2), (3, 2), (2, 3), (2, 4)))
    data = law(rng, n, d)
    size = comb(n + d - 1, d)
    return Given(data, d, 1 if d > 2 else int(rng.integers(1, n + 1)), entries=(0.0,) * size, may_refuse=True)


def low_rank(rng: Rng) -> Given:
    n = pick(rng, (2, 3, 3, 4))
    r = int(rng.integers(1, n))
    T = sum(pick(rng, (1.0, -1.0, 2.0)) * np.outer(u, u) for u in (nonzero(rng, n) for _ in range(r)))
    data = law(rng, n, 2, "gaussian", "frobenius", "covariance", "sphere")
    return Given(data, 2, int(rng.integers(1, n + 1)), matrix=rows(T))


def low_rank_other_data(rng: Rng) -> Given:
    n = pick(rng, (2, 3))
    u = nonzero(rng, n)
    data = law(rng, n, 2, "moved", "laplace", "iid", "metric")
    return Given(data, 2, int(rng.integers(1, 3)), matrix=rows(pick(rng, (1.0, -2.0)) * np.outer(u, u)))


def one_neuron_teacher(rng: Rng) -> Given:
    n, d = pick(rng, ((2, 3), (2, 4), (2, 5), (3, 3), (3, 3), (2, 2), (3, 2)))
    w = pick(rng, (np.eye(n)[0], np.ones(n), nonzero(rng, n, 2)))
    return Given(law(rng, n, d), d, 1, neurons=(rows([w]), (pick(rng, (1.0, -1.0, 2.0)),)))


def two_neuron_teacher(rng: Rng) -> Given:
    """Orthogonal or equal-angle neurons of equal weight: symmetric under their exchange."""
    n, d = pick(rng, ((2, 3), (2, 4), (3, 3), (2, 2), (3, 2)))
    W = pick(rng, (np.eye(n)[:2], np.array([[1.0] + [1.0] * (n - 1), [1.0] + [-1.0] * (n - 1)])))
    a = pick(rng, ((1.0, 1.0), (1.0, -1.0), (2.0, 1.0)))
    return Given(law(rng, n, d), d, 1, neurons=(rows(W), a))


def symmetric_form(rng: Rng) -> Given:
    """Forms with many symmetries: Fermat, (x²+y²)^(d/2), Re(x+iy)^d, xyz."""
    n, d = pick(rng, ((2, 3), (2, 4), (2, 4), (2, 5), (3, 3)))
    eye = np.eye(n)
    fermat = [
        sum(Fraction(x) for x in column)
        for column in zip(*(power_entries([Fraction(v) for v in e], d) for e in eye), strict=True)
    ]
    forms = [floats([float(x) for x in fermat])]
    if n == 2:  # entries of Re(x+iy)^d are Re(i^k)
        forms.append(floats([(1.0, 0.0, -1.0, 0.0)[k % 4] for k in range(d + 1)]))
        if d == 4:  # 3(x²+y²)²: entries 3, 0, 1, 0, 3
            forms += [(3.0, 0.0, 1.0, 0.0, 3.0)] * 2
    else:
        xyz = [0.0] * 10
        xyz[4] = 1.0
        forms.append(tuple(xyz))
    data = law(rng, n, d, "gaussian", "frobenius", "sphere", "laplace", "iid", "moved")
    return Given(data, d, 1, entries=pick(rng, forms))


def aligned(rng: Rng) -> Given:
    """A Gaussian moved along an axis and a teacher that turns with it."""
    n = pick(rng, (2, 3, 3, 3))
    mean = np.zeros(n)
    mean[0] = pick(rng, (1.0, 0.5, 2.0, -1.0))
    first, other = pick(rng, ((1.0, 2.0), (2.0, 1.0), (1.0, -1.0), (3.0, 0.0), (0.0, 1.0), (1.0, 1.0)))
    return Given(
        GaussianLaw(n, mean=floats(mean)),
        2,
        pick(rng, (1, 1, 2)),
        matrix=diagonal(first, *([other] * (n - 1))),
    )


def aligned_skew(rng: Rng) -> Given:
    """The same along another direction: αI + β mmᵀ under a mean m."""
    n = 3
    m = nonzero(rng, n, 1)
    T = pick(rng, (1.0, 2.0, -1.0)) * np.eye(n) + pick(rng, (1.0, -1.0, 0.5)) * np.outer(m, m)
    return Given(GaussianLaw(n, mean=floats(m)), 2, 1, matrix=rows(T))


def polytope(rng: Rng) -> Given:
    """Vertices of regular polytopes: their moments are rotation-invariant, exactly or to rounding."""
    golden = (1 + 5**0.5) / 2
    icosahedron = [
        p for a in (1.0, -1.0) for b in (golden, -golden) for p in ((0.0, a, b), (a, b, 0.0), (b, 0.0, a))
    ]
    cube = [(a, b, c) for a in (1.0, -1.0) for b in (1.0, -1.0) for c in (1.0, -1.0)]
    axes = [tuple(s * x for x in e) for e in np.eye(3).tolist() for s in (1.0, -1.0)]
    # with weights 1 : 1 the octahedron of radius 2^(3/4)·… is not exact; 8 cube vertices and 6 points 2e are
    mixed = cube + [tuple(2 * x for x in e) for e in axes]
    hexagon = [(float(np.cos(k * np.pi / 3)), float(np.sin(k * np.pi / 3))) for k in range(6)]
    square = [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, -1.0)]
    X = pick(rng, (icosahedron, icosahedron, mixed, hexagon, square))
    n = len(X[0])
    T = pick(
        rng,
        (np.eye(n), np.diag((2.0, 2.0, 1.0)[:n]), np.diag((1.0, 2.0, 3.0)[:n]), np.diag((2.0, 1.0, 1.0)[:n])),
    )
    return Given(SamplesLaw(n, tuple(tuple(row) for row in X)), 2, 1, matrix=rows(T))


def copied_metric(rng: Rng) -> Given:
    """A special inner product given by its Gram matrix alone."""
    n, d = pick(rng, ((2, 2), (3, 2), (3, 2), (2, 3), (2, 4)))
    data = copied(law(rng, n, d, "gaussian", "frobenius", "moved", "iid"), d)
    if d > 2:
        entries = pick(
            rng, (floats(grid(rng, d + 1)), floats([(1.0, 0.0, -1.0, 0.0)[k % 4] for k in range(d + 1)]))
        )
        return Given(data, d, 1, entries=entries)
    T = pick(rng, (np.eye(n), np.diag((2.0, 2.0, 1.0)[:n]), np.diag((3.0, 2.0, 1.0)[:n]), symmetric(rng, n)))
    return Given(data, 2, 1, matrix=rows(T))


def mixtures(rng: Rng) -> Given:
    n = pick(rng, (2, 3))
    m = nonzero(rng, n, 2)
    parts = pick(
        rng,
        (
            (GaussianLaw(n, mean=floats(m)), GaussianLaw(n, mean=floats(-m))),
            (GaussianLaw(n), GaussianLaw(n, covariance=rows(4.0 * np.eye(n)))),
            (GaussianLaw(n, mean=floats(m)), NamedLaw(n, "laplace")),
        ),
    )
    T = pick(rng, (np.eye(n), np.outer(m, m), symmetric(rng, n), np.diag((2.0, 2.0, 1.0)[:n])))
    return Given(MixtureLaw(n, (0.5, 0.5), parts), 2, 1, matrix=rows(T))


def whitened_repeat(rng: Rng) -> Given:
    """Covariance and teacher that are different in themselves and repeated together: Σ = diag(s²), T = diag(c/s²)."""
    n = pick(rng, (2, 3))
    s = np.array(pick(rng, ((2.0, 1.0, 1.0), (4.0, 2.0, 1.0), (1.0, 0.5, 2.0)))[:n])
    T = np.diag(pick(rng, (1.0, 3.0)) / s**2)
    return Given(GaussianLaw(n, covariance=rows(np.diag(s**2))), 2, int(rng.integers(1, n)), matrix=rows(T))


def units(rng: Rng) -> Given:
    """Ordinary problems in other units: of the target, or of the inputs."""
    n, d = pick(rng, ((2, 2), (3, 2), (2, 2), (2, 3), (2, 4)))
    power = int(pick(rng, (-150, -100, -50, -12, -9, 9, 12, 50, 100, 150, 200, -200)))
    size = comb(n + d - 1, d)
    entries = floats(grid(rng, size) * 10.0**power)
    return Given(
        law(rng, n, d), d, 1 if d > 2 else pick(rng, (1, 1, 2)), entries=entries, may_refuse=abs(power) > 140
    )


def input_units(rng: Rng) -> Given:
    """Inputs in other units, all alike or one of them: within what 70 digits can tell apart."""
    n, d = 2, pick(rng, (2, 2, 3))
    power = int(pick(rng, (-60, -20, -6, 6, 20, 60)))
    s = 10.0**power
    one = rows(np.diag([s if abs(power) < 60 else 10.0 ** (power // 6), 1.0]))
    covariance = pick(rng, (rows(s * np.eye(n)), one, rows(s * np.array([[2.0, 1.0], [1.0, 3.0]]))))
    data = GaussianLaw(n, covariance=covariance)
    entries = floats(grid(rng, d + 1))
    return Given(data, d, 1, entries=entries, may_refuse=d * abs(power) > 140)


def fixed_outer(rng: Rng) -> Given:
    n = pick(rng, (2, 3))
    width = int(rng.integers(1, 4))
    outer = floats([pick(rng, (1.0, 1.0, -1.0, 2.0)) for _ in range(width)])
    T = pick(rng, (symmetric(rng, n), np.eye(n), -np.eye(n), np.diag((2.0, 1.0, -1.0)[:n])))
    data = law(rng, n, 2, "gaussian", "frobenius", "covariance", "sphere", "laplace", "metric", "moved")
    return Given(data, 2, width, matrix=rows(T), outer=outer)


def fixed_outer_higher(rng: Rng) -> Given:
    """Degrees 3 to 6 in two variables, one or two neurons of fixed weight."""
    d, width = pick(rng, ((3, 1), (4, 1), (4, 2), (4, 2), (5, 2), (6, 1)))
    outer = floats([pick(rng, (1.0, 1.0, -1.0, 0.5)) for _ in range(width)])
    kinds = ("gaussian", "frobenius", "laplace", "metric")
    data = law(rng, 2, d, *(kinds if d * width < 10 else kinds[:1]))
    return Given(data, d, width, entries=floats(grid(rng, d + 1)), outer=outer)


def fixed_outer_split(rng: Rng) -> Given:
    """Width two, positive weights: at one neuron alone the loss falls only if it splits, into a narrow cone.

    With the neuron along x the slope ℓ′(u^⊗4) is k(y⁴ − ε x²y²): negative within √ε of it and nowhere else. The
    Frobenius metric turns with the inputs, so the neuron can be anywhere.
    """
    k, small, angle = 10 ** rng.uniform(-1, 2), 10 ** rng.uniform(-4, -1.5), rng.uniform(0, np.pi)
    entries = (1.0, 0.0, k * small / 12, 0.0, -k / 2)
    c, s = np.cos(angle), np.sin(angle)
    form = np.zeros(5)
    for j, entry in enumerate(entries):  # Σ C(4,j) T_j (cx + sy)^(4−j) (−sx + cy)^j
        term = np.array([comb(4, j) * entry])
        for factor in [(c, s)] * (4 - j) + [(-s, c)] * j:
            term = np.convolve(term, factor)
        form += term
    turned = floats([x / comb(4, j) for j, x in enumerate(form)])
    return Given(FrobeniusLaw(2), 4, 2, entries=turned, outer=(1.0, 1.0))


def wide(rng: Rng) -> Given:
    """As many neurons as inputs, or more."""
    n = pick(rng, (2, 3))
    data = law(rng, n, 2)
    T = pick(rng, (symmetric(rng, n), np.diag((1.0, -1.0, 0.0)[:n]), np.diag((2.0, 1.0, 0.0)[:n])))
    return Given(data, 2, n + int(rng.integers(0, 2)), matrix=rows(T))


def labelled(rng: Rng) -> Given:
    """Samples with labels, some of them twice."""
    n = pick(rng, (2, 3))
    count = int(rng.integers(n * (n + 1), 20))
    while True:
        X = grid(rng, (count, n), 8)
        X[-1] = X[0]
        data = SamplesLaw(n, rows(X), floats(grid(rng, count, 16)))
        if not singular(data, 2):
            return Given(data, 2, pick(rng, (1, 1, 2)))


def generic(rng: Rng) -> Given:
    n, width = pick(rng, ((2, 1), (3, 1), (3, 2), (2, 2), (4, 1), (4, 2)))
    kinds = ("metric", "gaussian", "covariance", "frobenius", "laplace", "moved", "radial")
    data = law(rng, n, 2, *(kinds if n < 4 else kinds[1:4]))
    return Given(data, 2, width, matrix=rows(symmetric(rng, n)))


def generic_floats(rng: Rng) -> Given:
    """All digits in use."""
    n = pick(rng, (2, 3))
    size = n * (n + 1) // 2
    A, T = rng.standard_normal((size, size)), rng.standard_normal((n, n))
    data = pick(
        rng,
        (
            MetricLaw(n, 2, rows(_even(A @ A.T) + np.eye(size))),
            GaussianLaw(n, mean=floats(rng.standard_normal(n))),
            GaussianLaw(n),
            SamplesLaw(n, rows(rng.standard_normal((12, n)))),
        ),
    )
    return Given(data, 2, pick(rng, (1, 2)), matrix=rows(_even(T)))


def _even(A: Any) -> Any:
    """Exactly symmetric."""
    return np.triu(A) + np.triu(A, 1).T


def generic_higher(rng: Rng) -> Given:
    n, d, width = pick(rng, ((2, 3, 1), (2, 4, 1), (2, 5, 1), (3, 3, 1), (2, 4, 2), (2, 4, 2), (2, 5, 2)))
    data = law(rng, n, d) if d * width < 10 else GaussianLaw(n)
    return Given(data, d, width, entries=floats(grid(rng, comb(n + d - 1, d))))


def known(rng: Rng) -> Given:
    return KNOWN[pick(rng, list(KNOWN))]


FAMILIES: dict[str, Callable[[Rng], Given]] = {
    f.__name__: f
    for f in (
        known, identity, repeated, repeated_other_data, zero_target, low_rank, low_rank_other_data, one_neuron_teacher,
        two_neuron_teacher, symmetric_form, aligned, aligned_skew, polytope, copied_metric, mixtures, whitened_repeat,
        near_gaussian_moments, near_discriminant, near_repeated, far_moved, units, input_units, fixed_outer,
        fixed_outer_higher, fixed_outer_split, wide, labelled, generic, generic_floats, generic_higher,
    )
}  # fmt: skip


def draw(k: int, seed: int = 0) -> tuple[str, Given]:
    """Problem number k: families in turn, each problem from a seed of its own."""
    names = list(FAMILIES)
    name = names[k % len(names)]
    return name, FAMILIES[name](np.random.default_rng([seed, k]))
