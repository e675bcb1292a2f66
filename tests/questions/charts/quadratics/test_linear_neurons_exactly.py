"""Linear neurons beside squares, critical or not: against eigenvalues with 60 digits, all sets of them, and fractions.

For z + z² without bias and N(0, I) the best squares beside ℓ are those of D + tI, t = c/(n + 2), for the target
c + ℓ·x + xᵀDx; Q keeps some eigenvectors, and with m = c + tr D the slope of the loss is (tr Q − m)I + 2(Q − D).
"""

from fractions import Fraction
from functools import partial
from itertools import combinations

import mpmath
import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.exact.real_roots import RealRoots, exact_sign
from shallows.questions.charts.closed_form.left_out import LeftOut
from shallows.questions.charts.matrices.balls import LowRankSystem
from shallows.questions.charts.matrices.equations import LowRankEquations
from shallows.questions.charts.matrices.rank_r import point_of_family
from shallows.questions.charts.quadratics.bends import Bend, Bends
from shallows.questions.charts.quadratics.linear_neurons import linear_rows
from shallows.questions.charts.quadratics.students import QuadraticStudents

SLOPE = sh.Polynomial([0.0, 1.0, 1.0])
#: Digits of the reference, and what is zero among them: data are doubles, whose exact sums need a hundred.
DIGITS, ZERO = 120, mpmath.mpf(10) ** -90
#: Losses agree to this share.
SAME = 1e-9


def problem_of(D, linear, constant=0.0, width=2):
    T = np.zeros((len(D) + 1, len(D) + 1))
    T[0, 0], T[1:, 1:] = constant, D
    T[0, 1:] = T[1:, 0] = np.array(linear) / 2
    return sh.Problem(T, sh.Gaussian(len(D)), width, SLOPE)


def bends(D, linear, constant, rank):
    """(loss, ℓᵀEℓ, |ℓ across Q|²) for each set of eigenvectors, of a matrix without repeated ones."""
    n = len(D)
    with mpmath.workdps(DIGITS):
        D, line = mpmath.matrix(D.tolist()), mpmath.matrix([float(x) for x in linear])
        m = constant + sum(D[i, i] for i in range(n))
        values, U = mpmath.eigsy(D + mpmath.eye(n) * (mpmath.mpf(constant) / (n + 2)))
        for kept in combinations(range(n), rank):
            left = [j for j in range(n) if j not in kept]
            c = sum((values[j] for j in left), mpmath.mpf(0)) / (rank + 2)
            Q, P = mpmath.zeros(n), mpmath.zeros(n)
            for i in kept:
                Q += (values[i] + c) * U[:, i] * U[:, i].T
                P += U[:, i] * U[:, i].T
            trace = sum(Q[i, i] for i in range(n))
            E = mpmath.eye(n) * (trace - m) + 2 * (Q - D)
            gap = Q - D
            loss = (trace - m) ** 2 + 2 * sum(x * x for x in gap)
            yield loss, (line.T * E * line)[0], (line.T * (line - P * line))[0]


def rows_of(problem, rank):
    students = QuadraticStudents.of(problem)
    rows, level, notes = linear_rows(students, [rank], partial(sh.chart, certify=False))
    return (
        sorted(students.space.excess(np.array([row.entries for row in rows]))) if rows else [],
        level,
        notes,
    )


def golden(line, keep):
    """Integers λ(D, c) with D = [[0, 1], [1, 1]] ⊕ x and ℓᵀEℓ = 0 at the square of one golden eigenvector, exactly.

    With σ the other one and w the share of ℓ in it, (σ + t + k)w + (x + t + k)ℓ₃² = 0, 3k = σ + x + 2t, is linear in
    (x, t) with coefficients a + b√5: two equations over Q.
    """
    half = Fraction(1, 2)
    sigma = (half, -half * keep)

    def times(p, q):
        return p[0] * q[0] + 5 * p[1] * q[1], p[0] * q[1] + p[1] * q[0]

    a, b, c = map(Fraction, line)
    # w = (a + bσ)²/(1 + σ²), and 1 + σ² = 2 + σ = (5 ∓ √5)/2, whose inverse is (5 ± √5)/10
    top = (a + b * sigma[0], b * sigma[1])
    w = times(times(top, top), (half, half * keep / 5))
    third = Fraction(1, 3)
    x = [w[i] * third + (c * c * 4 * third if i == 0 else 0) for i in (0, 1)]
    t = [w[i] * 5 * third + (c * c * 5 * third if i == 0 else 0) for i in (0, 1)]
    rest = [times(sigma, w)[i] * 4 * third + sigma[i] * c * c * third for i in (0, 1)]
    det = x[0] * t[1] - x[1] * t[0]
    solved = [(-rest[0] * t[1] + rest[1] * t[0]) / det, (-x[0] * rest[1] + x[1] * rest[0]) / det]
    scale = solved[0].denominator * solved[1].denominator
    D = np.zeros((3, 3))
    D[:2, :2] = [[0.0, scale], [scale, scale]]
    D[2, 2] = float(solved[0] * scale)
    return D, float(5 * solved[1] * scale)


GOLDEN = golden([1, 0, 1], 1)
#: name: (D, ℓ, c, rank with ℓ)
CASES = {
    "nothing but ℓ, zero": (np.diag([1.0, -1.0]), [1.0, 1.0], 0.0, 1),
    "nothing but ℓ, 10⁻⁹": (np.diag([1.0 + 1e-9, -1.0]), [1.0, 1.0], 0.0, 1),
    "nothing but ℓ, one unit in the last place": (np.diag([1.0 + 2.0**-52, -1.0]), [1.0, 1.0], 0.0, 1),
    "zero by a constant": (np.diag([1.0, 3.0]), [1.0, 0.0], -6.0, 1),
    "zero by a constant, 10⁻¹⁰": (np.diag([1.0, 3.0]), [1.0, 1e-5], -6.0, 1),
    "golden": (GOLDEN[0], [1.0, 0.0, 1.0], GOLDEN[1], 2),
    "golden, huge": (GOLDEN[0] * 2.0**40, [1.0, 0.0, 1.0], GOLDEN[1] * 2.0**40, 2),
    "golden, tiny": (GOLDEN[0] * 2.0**-40, [2.0**-30, 0.0, 2.0**-30], GOLDEN[1] * 2.0**-40, 2),
    "golden, 10⁻⁹": (GOLDEN[0] + np.diag([0, 0, 1e-9 * GOLDEN[0][0, 1]]), [1.0, 0.0, 1.0], GOLDEN[1], 2),
    "in the range of one": (np.diag([1.0, 2.0, 4.0]), [0.0, 1.0, 0.0], 0.0, 2),
    "nearly in the range of one": (np.diag([1.0, 2.0, 4.0]), [1e-9, 1.0, 0.0], 0.0, 2),
    "tenths": (np.diag([0.1, -0.1]), [0.1, 0.1], 0.0, 1),
    "generic": (np.array([[1.0, 0.3, 0.1], [0.3, -0.7, 0.2], [0.1, 0.2, 0.45]]), [0.3, 1.0, -0.2], 0.7, 2),
}


@pytest.mark.parametrize("name", CASES)
def test_limits_are_those_whose_slope_is_zero(name):
    D, linear, constant, rank = CASES[name]
    wanted = []
    for loss, bend, across in bends(D, linear, constant, rank - 1):
        scale = mpmath.mpf(float(np.abs(D).max())) * mpmath.mpf(float(np.dot(linear, linear)))
        if abs(bend) < ZERO * scale and across > ZERO * float(np.dot(linear, linear)):
            wanted.append(float(loss))
    rows, level, notes = rows_of(problem_of(D, linear, constant, rank), rank)
    assert (level, notes) == ("proved", [])
    # z + z² has no constant: the excess is beside it, and losses are whole
    np.testing.assert_allclose(rows, [loss - _floor(D, constant) for loss in sorted(wanted)], rtol=SAME)
    assert bool(wanted) == (
        name.split(",")[-1].strip() in ("zero", "golden", "huge", "tiny") or name in ZEROS
    )


ZEROS = {"zero by a constant", "tenths"}


def _floor(D, constant):
    """The least loss of any quadric without constant: that of D + tI."""
    t = constant / (len(D) + 2)
    return (len(D) * t - constant) ** 2 + 2 * len(D) * t * t


@pytest.mark.parametrize(
    ("x", "line", "bend"),
    [
        (-0.4, [1.0, 0.0, 1.0], Bend.PART),
        (-0.4, [1.0, 0.0, 0.2], Bend.PART),
        (-0.4, [1.0, 0.0, 4.0], Bend.POSITIVE),
        (-0.25, [0.0, 0.0, 1.0], Bend.ZERO),
        (-0.25 - 1e-9, [0.0, 0.0, 1.0], Bend.POSITIVE),
        (-0.25, [1.0, 0.0, 1.0], Bend.PART),
        (2.0, [1.0, 1.0, 0.0], Bend.NEGATIVE),
        (-0.25, [1.0, 1.0, 0.0], Bend.NEGATIVE),
    ],
)
def test_bends_along_a_circle_of_squares(x, line, bend):
    """diag(1, 1, x) has circles Q = (1 + c)vvᵀ, c = (1 + x)/3, and uᵀEu = −Σ (σ + c)(ℓ across)²: by 400 angles."""
    problem = problem_of(np.diag([1.0, 1.0, x]), line)
    beside = QuadraticStudents.of(problem).without_linear(1)
    (family,) = [f for f in sh.chart(beside.squares, certify=False).families if f.rank == 1]
    assert Bends.of(beside).at(family) is bend
    c, angles = (1 + Fraction(x)) / 3, np.arange(400) * np.pi / 400
    signs = set()
    for turn in np.tan(angles[angles < 1.5]).tolist():  # rational points: v = (1, s), across it (−s, 1)
        s = Fraction(turn).limit_denominator(1000)
        side = (Fraction(line[1]) - s * Fraction(line[0])) ** 2 / (1 + s * s)
        value = -((1 + c) * side + (Fraction(x) + c) * Fraction(line[2]) ** 2)
        signs.add((value > 0) - (value < 0))
    lone = {Bend.POSITIVE: 1, Bend.ZERO: 0, Bend.NEGATIVE: -1}
    if bend is Bend.NEGATIVE and not line[2]:
        signs.discard(0)  # ℓ along v: no part across
    assert signs == {lone[bend]} if bend in lone else len(signs) > 1 or bend is Bend.PART


def samples(rows, y):
    return sh.Problem(None, sh.Samples(np.array(rows, float), np.array(y, float)), 2, SLOPE)


def test_without_rotations_what_is_rational_is_exact():
    """One input: E[(ℓx − y)x²] with ℓ = E[xy]/E[x²], in fractions; and a last label moved by 10⁻⁹."""
    X, y = [-2, -1, 1, 3], [4, -3, 1, 0]
    base = [Fraction(v) for v in y]

    def bend(labels):
        line = sum(a * b for a, b in zip(X, labels, strict=True)) / Fraction(sum(a * a for a in X))
        return sum((line * a - b) * a * a for a, b in zip(X, labels, strict=True))

    # the label at 3 that makes it zero: bend is linear in it
    first, second = bend(base), bend([*base[:-1], Fraction(1)])
    zero = [*base[:-1], first / (first - second)]
    scale = zero[-1].denominator
    exact = [float(v * scale) for v in zero]
    assert bend([Fraction(v) for v in exact]) == 0
    for labels, count in ((exact, 1), ([*exact[:-1], exact[-1] + 1e-9], 0)):
        assert (bend([Fraction(v) for v in labels]) == 0) == bool(count)
        rows, level, notes = rows_of(samples(np.array(X)[:, None], labels), 1)
        assert (len(rows), level, notes) == (count, "proved", [])


GRID = [(a, b) for a in (-2, -1, 1, 3) for b in (-2, -1, 1, 2)]


@pytest.mark.parametrize(("extra", "count", "level"), [(0.0, 1, "proved"), (0.3, 0, "proved")])
def test_squares_by_homotopy(extra, count, level):
    """x₁² + x₂ is its own limit, with Q = diag(1, 0) exactly; beside x₁x₂ balls tell that nothing is one."""
    y = [a * a + b + extra * a * b for a, b in GRID]
    students = QuadraticStudents.of(samples(GRID, y))
    rows, found, _ = linear_rows(students, [2], sh.chart)
    assert len(rows) == count and found == level
    assert all(students.space.excess(row.entries[None])[0] < 1e-12 and row.rank == 2 for row in rows)


def test_what_only_doubles_tell_is_not_proved():
    """0.1x₁² + 0.3x₁x₂ + …: Q is of no simple fractions, and uᵀEu is 10⁻¹⁷ of rounding in balls."""
    y = [(0.7 * a + 0.3 * b) ** 2 + b for a, b in GRID]
    students = QuadraticStudents.of(samples(GRID, y))
    rows, level, notes = linear_rows(students, [2], sh.chart)
    assert level == "count-matched" and any("no proof" in note for note in notes)
    assert len(rows) == 1 and rows[0].kind != "local minimum"


def test_a_matrix_of_lower_rank_has_no_known_signature():
    """Tangent vectors UδAUᵀ, U A δUᵀ + … vanish with A: no factor of theirs can be solved with."""
    problem = sh.Problem(np.diag([3.0, 1.0]), sh.Gaussian(2), 1)
    system = LowRankSystem.of(problem, LowRankEquations(2, 1), np.eye(2))
    for size in (0.0, 1e-200, 5e-324):
        assert point_of_family(system, np.diag([size, 0.0])).signature == (0, 2, 0)
    assert point_of_family(system, np.diag([3.0 + 1 / 3, 0.0])).signature == (2, 0, 0)


@pytest.mark.thorough
def test_a_slope_alone_has_a_chart_by_homotopy():
    """All of it is a limit: paths end where A = 0, and tangent vectors of neurons vanish."""
    T = np.zeros((3, 3))
    T[0, 2] = T[2, 0] = 1.0
    for certify in (False, True):
        chart = sh.chart(sh.Problem(T, sh.Gaussian(2), 1, SLOPE), method="homotopy", certify=certify)
        assert chart.completeness != "proved" and chart.attained is False
        assert chart.losses == pytest.approx([0.0, 4.0], abs=SAME)


@pytest.mark.parametrize(
    ("T", "width", "level"),
    [
        (np.diag([-0.8, 1.2, 1.2]), 1, "count-matched"),  # as doubles σ + c is not zero, but below rounding
        (np.diag([-4.0, 6.0, 6.0]), 1, "proved"),
        (np.diag([3.0, 1.0, -4.0]), 2, "proved"),
        (np.diag([3.0, 1.0 + 2.0**-52, -4.0]), 2, "count-matched"),
        (np.array([[4.0, 2, 0], [2, 8, 0], [0, 0, -4]]) - 0.0, 1, "proved"),
    ],
)
def test_squares_that_fall(T, width, level):
    """Against σ_i + Σ σ_j/(r + 2) with 120 digits, in all sets."""
    with mpmath.workdps(DIGITS):
        sigma, fallen, near = list(mpmath.eigsy(mpmath.matrix(T.tolist()))[0]), 0, 0
        for rank in range(1, width + 1):
            for kept in combinations(range(3), rank):
                c = sum((x for j, x in enumerate(sigma) if j not in kept), mpmath.mpf(0)) / (rank + 2)
                least = min(abs(sigma[i] + c) for i in kept)
                fallen, near = fallen + (least < ZERO), near + (ZERO < least < 1e-13)
    chart = sh.chart(sh.Problem(T, sh.Gaussian(3), width))
    assert chart.completeness == level and (near > 0) == (level != "proved")
    assert sum("becomes 0," in note for note in chart.notes) == fallen


def test_a_linear_part_beside_opposite_signs_is_proved():
    T = np.diag([1.0, -1.0, 1.0, 1.0])
    T[0, 3] = T[3, 0] = 1.0
    assert sh.chart(sh.Problem(T, sh.Gaussian(3), 2, SLOPE), certify=False).completeness == "proved"


@pytest.mark.parametrize("seed", range(12))
def test_signs_of_sums_are_those_of_many_digits(seed):
    """Matrices with equal, rational and irrational eigenvalues, small and large ones; c with which σ + c is zero."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 4, (4, 4)).astype(float)
    A = (A + A.T) * 10.0 ** rng.integers(-6, 6) if seed % 3 else np.diag(rng.integers(-2, 3, 4).astype(float))
    table = np.vectorize(Fraction, otypes=[object])(A)
    line = np.array([Fraction(int(x)) for x in rng.integers(-2, 3, 4)], dtype=object)
    exact = LeftOut.of(table, line, line)
    with mpmath.workdps(DIGITS):
        values, U = mpmath.eigsy(mpmath.matrix(A.tolist()))
        order = sorted(range(4), key=lambda i: values[i])
        share = [(U[:, i].T * mpmath.matrix([int(x) for x in line]))[0] ** 2 for i in order]
        values = [values[i] for i in order]
        groups, size = exact.roots.groups, max(map(abs, values)) + mpmath.mpf(10) ** -30
        for rank in range(4):
            for kept in combinations(range(4), rank):
                left = [
                    sum(groups[j] == g and j not in kept for j in range(4)) for g in range(max(groups) + 1)
                ]
                for divisor in (None, Fraction(rank + 2), Fraction(-(4 - rank)), Fraction(7, 3)):
                    out = sum((values[j] for j in range(4) if j not in kept), mpmath.mpf(0))
                    c = 0 if divisor is None else out * divisor.denominator / divisor.numerator
                    for g in range(len(left)):
                        own = values[groups.index(g)] + c
                        expected = 0 if abs(own) < ZERO * size else int(mpmath.sign(own))
                        assert exact.shift_sign(g, left, divisor) == expected
                    whole = sum(
                        ((values[j] + c) * share[j] for j in range(4) if groups[j] % 2), mpmath.mpf(0)
                    )
                    expected = 0 if abs(whole) < ZERO * size else int(mpmath.sign(whole))
                    odd = [g for g in range(len(left)) if g % 2]
                    assert exact.slope_sign(odd, left, divisor) == expected


def test_what_takes_too_many_bits_is_left_open():
    roots = RealRoots.of(np.array([[0, 1], [1, 1]], dtype=object))
    assert exact_sign(lambda bits: sum(roots.at(bits)) - 1, 4, 1) == 0
    assert exact_sign(lambda bits: sum(roots.at(bits)) - 1, 4, 10**6) is None


#: D, ℓ, and how many linear functions are networks: E_Q ℓ = 0 for the third alone, where ℓᵀE_Qℓ is zero for all.
SPARE = [
    (np.diag([1.0, -1.0]), [1.0, 1.0], 0),
    (np.diag([1.0, -1.0, 2.0]), [1.0, 1.0, 0.0], 0),
    (np.diag([3.0, 0.0]), [0.0, 1.0], 1),
]


@pytest.mark.parametrize(("D", "linear", "networks"), SPARE)
def test_linear_functions_beside_a_spare_neuron_are_networks_where_those_are_critical(D, linear, networks):
    """A spare neuron makes ℓ a network, σ(w) − σ(−w); its gradient is E_Q ℓ, of which ℓᵀE_Qℓ is one entry."""
    constant = -float(np.trace(D))  # E_Q = (tr Q − m)I + 2(Q − D) with Q = 0 and m = 0
    chart = sh.chart(problem_of(D, linear, constant, 2))
    tensors = [(point, point.tensor.to_matrix()) for point in chart.critical]
    lines = [point for point, T in tensors if not T[1:, 1:].any() and T[0].any()]
    assert [point.kind for point in lines] == ["saddle"]
    assert sum(not point.limit for point in lines) == networks


@pytest.mark.parametrize("seed", range(12))
def test_listed_networks_of_special_targets_are_critical(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    D, linear = np.diag(rng.integers(-2, 3, n) * 1.0), rng.integers(-1, 2, n) * 1.0
    constant = float(rng.choice([0.0, -np.trace(D), 1.0]))
    width = int(rng.integers(2, n + 1))
    law = sh.Gaussian(n) if seed % 2 else sh.Gaussian(n, mean=rng.integers(-1, 2, n) * 1.0)
    T = np.zeros((n + 1, n + 1))
    T[0, 0], T[1:, 1:] = constant, D
    T[0, 1:] = T[1:, 0] = linear / 2
    chart = sh.chart(sh.Problem(T, law, width, SLOPE))
    for point in chart.critical:
        if not point.limit:
            slope = np.abs(np.ravel(chart.problem.gradient(point.network))).max()
            size = np.abs(point.network.W).max() ** 2 * np.abs(point.network.a).max(initial=1.0)
            assert slope < 1e-7 * (1 + size), point
