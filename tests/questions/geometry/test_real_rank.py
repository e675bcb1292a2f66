"""Real ranks against the literature, invariances, and slow references."""

from fractions import Fraction
from itertools import pairwise
from math import comb

import flint
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shallows import InvalidProblem, Network, Power, SymmetricTensor
from shallows.mathematics.exact import binary_forms
from shallows.mathematics.tensors.coordinates import dimension
from shallows.questions.geometry.ranks.branch_locus import real_decomposition
from shallows.questions.geometry.ranks.real_rank import real_rank
from shallows.questions.geometry.ranks.widths import filling_width

small = st.integers(-6, 6)


def form_text(coefficients):
    d = len(coefficients) - 1
    return " + ".join(f"({c})*x^{d - k}*y^{k}" for k, c in enumerate(coefficients))


def rank_of(coefficients):
    d = len(coefficients) - 1
    return real_rank({(d - k, k): Fraction(c) for k, c in enumerate(coefficients)})


def substitute(coefficients, matrix):
    """Coefficients of F(ax+by, cx+ey), exactly."""
    (a, b), (c, e) = matrix
    d = len(coefficients) - 1
    total = [Fraction(0)] * (d + 1)
    for k, value in enumerate(coefficients):
        left = [
            Fraction(comb(d - k, i)) * Fraction(a) ** (d - k - i) * Fraction(b) ** i for i in range(d - k + 1)
        ]
        right = [Fraction(comb(k, i)) * Fraction(c) ** (k - i) * Fraction(e) ** i for i in range(k + 1)]
        for i, x in enumerate(left):
            for j, y in enumerate(right):
                total[i + j] += value * x * y
    return total


def sturm_count(p):
    """Distinct real roots of a Fraction polynomial (rising powers) by Sturm's theorem: the slow reference."""

    def trim(q):
        while q and q[-1] == 0:
            q = q[:-1]
        return q

    def remainder(f, g):
        f = list(f)
        while len(f) >= len(g) and trim(f):
            factor = f[-1] / g[-1]
            for i, value in enumerate(g):
                f[len(f) - len(g) + i] -= factor * value
            f = trim(f[:-1])
        return trim(f)

    p = trim([Fraction(c) for c in p])
    chain = [p, trim([i * c for i, c in enumerate(p)][1:])]
    while chain[-1]:
        chain.append([-c for c in remainder(chain[-2], chain[-1])])
    chain = chain[:-1]

    def changes(sign):
        values = [q[-1] * sign ** (len(q) - 1) for q in chain]
        return sum((a > 0) != (b > 0) for a, b in pairwise(values))

    return changes(-1) - changes(1)


def separated_network(d, r, rng):
    """r unit neurons with angles at least 0.4π/r apart, so that rounding cannot hide one of them."""
    angles = (np.arange(r) + rng.uniform(0.2, 0.8, r)) * np.pi / r
    weights = rng.choice([-1.0, 1.0], r) * rng.uniform(0.5, 2.0, r)
    return Network(np.stack([np.cos(angles), np.sin(angles)], axis=1), weights, Power(d))


# -- published values ----------------------------------------------------------------------------------


@pytest.mark.parametrize("d", range(3, 9))
def test_tangent_forms_have_rank_d(d):
    """x₁^{d−1}x₂ (Example 19): border rank 2, real rank d."""
    assert real_rank(f"x^{d - 1}*y") == d


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (1, 5), (3, 5)])
def test_binary_monomials(a, b):
    """The real rank of x^a y^b is a+b (Boij–Carlini–Geramita 2011)."""
    assert real_rank(f"x^{a}*y^{b}") == a + b


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_powers_of_a_definite_quadratic_form(k):
    """(x²+y²)^k has real rank k+1 (Reznick)."""
    assert real_rank(f"(x^2 + y^2)^{k}") == k + 1


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        ("x^3", 1),
        ("(2*x - 3*y)^5", 1),
        ("x^3 + y^3", 2),
        ("x^3 - 3*x*y^2", 3),
        ("(x + y)^2*(x - y)", 3),
        ("x^4 + y^4", 2),
        ("x^4 - y^4", 2),
        ("x^4 - 6*x^2*y^2 + y^4", 4),
        ("x^4 + 6*x^2*y^2 + y^4", 2),
        ("3*x^5 - 20*x^3*y^2 + 10*x*y^4", 5),
        ("x^2*y*(x^2 + y^2)", 3),
        ("x^5*y - x*y^5", 4),
    ],
)
def test_named_forms(text, rank):
    """By hand: x⁴y + x²y³ has the apolar cubic X(X² − 2Y²), x⁵y − xy⁵ the pencil X⁴ + tX²Y² + Y⁴.

    3x⁵ − 20x³y² + 10xy⁴ has length 3 over Q(i) and 5 over every real field (Reznick 2013).
    """
    assert real_rank(text) == rank


@given(st.lists(small, min_size=4, max_size=4))
def test_cubics_by_their_discriminant(c):
    """F_2 of binary cubics (errata, Example 2): 0 and the forms with exactly one distinct real root."""
    assume(any(c))
    a, b, e, f = c
    disc = 18 * a * b * e * f - 4 * b**3 * f + b * b * e * e - 4 * a * e**3 - 27 * a * a * f * f
    triple = b * b == 3 * a * e and e * e == 3 * b * f and b * e == 9 * a * f
    assert (rank_of(c) <= 2) == (disc < 0 or triple)
    assert (rank_of(c) == 1) == triple


@pytest.mark.parametrize("d", [3, 4, 5, 6, 7, 9])
def test_all_roots_real_gives_rank_d(d):
    rng = np.random.default_rng(d)
    roots = rng.integers(-5, 6, size=d)
    roots[0], roots[1] = 2, 3
    text = "*".join(f"(x - ({r})*y)" for r in roots)
    assert real_rank(text) == d


@pytest.mark.parametrize(
    "text",
    ["x^2*(x^2 + y^2)", "x^2*(x^2 + y^2)*y", "x^4*(x^2 + y^2)", "x^2*y^2*(x^2 + y^2)", "(x^2 + y^2)^2*x^2"],
)
def test_repeated_roots_with_a_complex_pair_stay_below_d(text):
    """The converse of "all roots real": also when roots repeat."""
    form = SymmetricTensor.from_polynomial(text)
    assert real_rank(text) <= form.degree - 1


# -- invariance and references -------------------------------------------------------------------------


@given(st.lists(small, min_size=4, max_size=7), st.tuples(small, small, small, small))
def test_rank_is_invariant_under_change_of_variables(c, m):
    assume(any(c) and m[0] * m[3] != m[1] * m[2])
    moved = substitute([Fraction(x) for x in c], ((m[0], m[1]), (m[2], m[3])))
    assert rank_of(c) == rank_of(moved)


@given(st.integers(3, 9), st.integers(1, 4), st.integers(0, 2**31))
def test_networks_bound_the_rank(d, r, seed):
    rng = np.random.default_rng(seed)
    net = separated_network(d, r, rng)
    rank = real_rank(net.tensor())
    upper = rank if isinstance(rank, int) else rank[1]
    if 2 * r <= d:  # unique decomposition: the rank is known
        assert rank == r
    assert upper <= d
    assert (rank if isinstance(rank, int) else rank[0]) <= r


@given(st.lists(small, min_size=4, max_size=7))
def test_degree_up_to_six_is_always_decided(c):
    assume(any(c))
    rank = rank_of(c)
    assert isinstance(rank, int) and 1 <= rank <= len(c) - 1


@given(st.lists(small, min_size=5, max_size=5))
def test_quartics_against_a_dense_scan_of_the_pencil(c):
    """Rank 3 is decided exactly between roots of a discriminant; a scan finds no more and, with margin, no fewer."""
    entries = [Fraction(x, comb(4, k)) for k, x in enumerate(c)]
    assume(binary_forms.hankel(entries, 2).rank() == 3)
    p, q = ([float(x.p) / float(x.q) for x in form] for form in binary_forms.apolar_forms(entries, 3))
    angles = np.linspace(0, np.pi, 2001)
    seen = False
    for t in angles:
        form = np.cos(t) * np.array(p) + np.sin(t) * np.array(q)
        a, b, e, f = form
        disc = 18 * a * b * e * f - 4 * b**3 * f + b * b * e * e - 4 * a * e**3 - 27 * a * a * f * f
        seen |= disc > 1e-9 * np.max(np.abs(form)) ** 4
    if seen:
        assert rank_of(c) == 3
    elif rank_of(c) == 3:
        found = binary_forms.real_rooted_in_pencil(*binary_forms.apolar_forms(entries, 3))
        assert sturm_count([Fraction(int(x.p), int(x.q)) for x in reversed(found)]) == 3 - (found[0] == 0)


@pytest.mark.parametrize("seed", range(12))
def test_sextics_against_a_dense_scan_of_the_pencil(seed):
    """Border rank 4: rank 4 when the scan meets four real roots, else 5, or 6 when all six roots are real."""
    c = np.random.default_rng(seed).integers(-9, 10, size=7).tolist()
    entries = [Fraction(x, comb(6, k)) for k, x in enumerate(c)]
    basis = binary_forms.apolar_forms(entries, 4)
    assert len(basis) == 2
    p, q = (np.array([float(x.p) / float(x.q) for x in form]) for form in basis)
    members = [np.cos(t) * p + np.sin(t) * q for t in np.linspace(0.001, np.pi, 1000)]
    four_real = any(np.all(np.abs(np.roots(form).imag) < 1e-9) for form in members)
    six_real = bool(np.all(np.abs(np.roots(c).imag) < 1e-9)) and c[0] != 0
    assert rank_of(c) == (4 if four_real else 6 if six_real else 5)


@given(st.lists(small, min_size=3, max_size=7))
def test_root_counts_agree_with_sturm(c):
    assume(any(c))
    p = flint.fmpq_poly(c)
    assume(p.degree() >= 1)
    assert len(binary_forms.real_roots(p)) == sturm_count(c)
    points = binary_forms.between_roots(p)
    assert len(points) == sturm_count(c) + 1
    assert all(p(t) != 0 for t in points)


@given(st.integers(3, 8), st.integers(0, 2**31))
def test_decompositions_reproduce_the_tensor(d, seed):
    """Sylvester's algorithm end to end: wherever rank r₁ is claimed, r₁ real neurons are found."""
    rng = np.random.default_rng(seed)
    r = int(rng.integers(1, d // 2 + 1))
    T = separated_network(d, r, rng).tensor()
    net = real_decomposition(T)
    assert net is not None
    assert net.width == r
    assert np.allclose(net.tensor().entries, T.entries, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_pencil_decompositions(seed):
    """Even degree, generic border rank: the member of the pencil gives a decomposition of that length."""
    T = SymmetricTensor(np.random.default_rng(seed).standard_normal(5), 2, 4)
    net = real_decomposition(T)
    assert (net is not None) == (real_rank(T) == 3)
    if net is not None:
        assert np.allclose(net.tensor().entries, T.entries, atol=1e-8)


@pytest.mark.thorough
@pytest.mark.parametrize("d", [5, 6])
def test_random_forms_of_degree_five_and_six_against_a_random_search(d):
    """A random search for real-rooted apolar forms never finds a rank below the claimed one, and mostly finds it."""
    rng = np.random.default_rng(d)
    hits = 0
    for _ in range(40):
        c = rng.integers(-9, 10, size=d + 1).tolist()
        claimed = rank_of(c)
        entries = [Fraction(x, comb(d, k)) for k, x in enumerate(c)]
        best = d
        for r in range(1, d):
            basis = np.array(
                [[float(x.p) / float(x.q) for x in f] for f in binary_forms.apolar_forms(entries, r)]
            )
            if len(basis) == 0:
                continue
            basis = np.linalg.qr(basis.T)[0].T
            for _ in range(3000):
                roots = np.roots(rng.standard_normal(len(basis)) @ basis)
                if np.max(np.abs(roots.imag)) < 1e-9 and len(np.unique(roots.real.round(6))) == r:
                    best = r
                    break
            if best < d:
                break
        assert claimed <= best
        hits += claimed == best
    assert hits >= 30


# -- floats, many variables, refusals --------------------------------------------------------------------


def test_matrices():
    assert real_rank(np.zeros((3, 3))) == 0
    assert real_rank(np.diag([1.0, -2.0, 0.0])) == 2
    assert real_rank(SymmetricTensor.from_matrix(np.ones((4, 4)) / 3)) == 1
    W = np.random.default_rng(0).standard_normal((3, 6))
    assert real_rank(W.T @ W) == 3


def test_floats_near_a_double_root_get_an_interval():
    """A rotated x⁴y: rounding hides whether the apolar form has a double root, so the answer says so."""
    c, s = np.cos(0.7), np.sin(0.7)
    u, v = np.array([c, s]), np.array([-s, c])
    h = 1e-3
    T = SymmetricTensor.from_powers([u + h * v, u - h * v], [1 / (10 * h), -1 / (10 * h)], 5)
    assert real_rank(T) == 2  # a network of width 2, well separated
    exact = SymmetricTensor.from_powers(
        np.array([u + k * v for k in (-2, -1, 1, 2)]), np.array([1, -8, 8, -1]) / 60.0, 5
    )
    tangent = exact - SymmetricTensor.from_polynomial({(0, 5): 0.0, (5, 0): 0.0})
    fifth = SymmetricTensor.from_powers([v], [1.0], 5)
    coefficient = float(tangent.contract(v, v, v, v, v))
    assert real_rank(tangent - coefficient * fifth) == (2, 5)


def test_essential_variables_are_found():
    assert (
        real_rank(
            "x^3 + (x + y + z)^3",
        )
        == 2
    )
    rng = np.random.default_rng(1)
    assert real_rank(Network(rng.standard_normal((2, 5)), [1.0, -2.0], Power(4)).tensor()) == 2
    assert real_rank("(x + 2*y - z)^4") == 1


def test_many_variables_get_honest_bounds():
    lower, upper = real_rank("x*y*z")
    assert lower <= 4 <= upper  # the real rank of xyz is 4
    assert upper == filling_width(3, 3)[1]
    assert real_rank(SymmetricTensor(np.zeros(dimension(3, 3)), 3, 3)) == 0


@pytest.mark.parametrize("d", [7, 8, 9])
def test_beyond_degree_six_bounds_are_ordered(d):
    rng = np.random.default_rng(d)
    for _ in range(3):
        rank = real_rank(SymmetricTensor(rng.standard_normal(d + 1), 2, d))
        low, high = (rank, rank) if isinstance(rank, int) else rank
        assert (d + 2) // 2 <= low <= high <= d


def test_the_search_only_tightens():
    """x⁷+y⁷+… of eight powers: whatever the seed, the intervals contain a common value."""
    T = SymmetricTensor(np.random.default_rng(4).standard_normal(8), 2, 7)
    answers = [real_rank(T, rng=seed) for seed in range(4)]
    spans = [(a, a) if isinstance(a, int) else a for a in answers]
    assert max(s[0] for s in spans) <= min(s[1] for s in spans)


@pytest.mark.parametrize("bad", [3.0, "x + y^2", np.zeros((2, 3)), {(1, 1): "a"}, None])
def test_bad_input_is_refused(bad):
    with pytest.raises(InvalidProblem):
        real_rank(bad)
