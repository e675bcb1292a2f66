"""The printed polynomial of paper 000, Example 28, and its misprints.

`PRINTED` holds the 68 terms in the order of print as (coefficient, power of μ2, of μ4, of t_0, of t01, of t11); t_0
stands for t00.
"""

from collections import Counter

from shallows.discriminants import rank_one

# fmt: off
PRINTED = [
    (729, 24, 0, 3, 0, 3), (1458, 22, 1, 4, 0, 2), (1458, 22, 1, 2, 0, 4),
    (-2187, 20, 2, 4, 2, 0), (972, 20, 2, 5, 0, 1), (486, 20, 2, 2, 2, 2),
    (1458, 20, 2, 3, 0, 3), (-2187, 20, 2, 2, 0, 4), (972, 20, 2, 5, 0, 1),
    (216, 18, 3, 6, 0, 0), (-5184, 18, 3, 3, 2, 1), (-486, 18, 3, 4, 0, 2),
    (-5184, 18, 3, 2, 2, 3), (-486, 18, 3, 2, 0, 4), (216, 18, 3, 0, 0, 6),
    (3132, 16, 4, 4, 2, 0), (-864, 16, 4, 5, 0, 1), (6912, 16, 4, 4, 2, 1),
    (-11448, 16, 4, 2, 2, 2), (-1377, 16, 4, 3, 0, 3), (3132, 16, 4, 2, 0, 4),
    (-864, 16, 4, 5, 0, 1), (-216, 14, 5, 6, 0, 0), (4608, 14, 5, 2, 4, 0),
    (2880, 14, 5, 3, 2, 1), (-36, 14, 5, 4, 0, 2), (4608, 14, 5, 4, 0, 2),
    (2880, 14, 5, 2, 2, 3), (-36, 14, 5, 4, 0, 4), (-216, 14, 5, 0, 0, 6),
    (-2034, 12, 6, 4, 2, 0), (-4096, 12, 6, 0, 6, 0), (360, 12, 6, 5, 0, 1),
    (-1536, 12, 6, 4, 4, 1), (7620, 12, 6, 2, 2, 2), (604, 12, 6, 3, 0, 3),
    (-2034, 12, 6, 4, 0, 4), (360, 12, 6, 5, 0, 1), (72, 10, 7, 6, 0, 0),
    (-1536, 10, 7, 2, 4, 0), (-960, 10, 7, 3, 2, 1), (12, 10, 7, 4, 0, 2),
    (-1536, 10, 7, 4, 0, 2), (-960, 10, 7, 2, 2, 3), (12, 10, 7, 2, 0, 4),
    (72, 10, 7, 0, 0, 6), (348, 8, 8, 4, 2, 0), (-96, 8, 8, 5, 0, 1),
    (768, 8, 8, 4, 4, 1), (-1272, 8, 8, 2, 2, 2), (-153, 8, 8, 3, 0, 3),
    (348, 8, 8, 2, 0, 4), (-96, 8, 8, 5, 0, 1), (-8, 6, 9, 6, 0, 0),
    (192, 6, 9, 3, 2, 1), (18, 6, 9, 4, 0, 2), (192, 6, 9, 2, 2, 3),
    (18, 6, 9, 2, 0, 4), (-8, 6, 9, 0, 0, 6), (-27, 4, 10, 4, 2, 0),
    (12, 4, 10, 5, 0, 1), (6, 4, 10, 2, 2, 2), (18, 4, 10, 3, 0, 3),
    (-27, 4, 10, 2, 0, 4), (12, 4, 10, 5, 0, 1), (-6, 2, 11, 4, 0, 2),
    (-6, 2, 11, 2, 0, 4), (1, 0, 12, 3, 0, 3),
]
# fmt: on

#: (coefficient, μ2, μ4): printed powers of (t00, t01, t11), then the right ones.
MISPRINTS = {
    (972, 20, 2): ((5, 0, 1), (1, 0, 5)),
    (-2187, 20, 2): ((2, 0, 4), (0, 2, 4)),
    (-5184, 18, 3): ((2, 2, 3), (1, 2, 3)),
    (-864, 16, 4): ((5, 0, 1), (1, 0, 5)),
    (6912, 16, 4): ((4, 2, 1), (1, 4, 1)),
    (3132, 16, 4): ((2, 0, 4), (0, 2, 4)),
    (4608, 14, 5): ((4, 0, 2), (0, 4, 2)),
    (2880, 14, 5): ((2, 2, 3), (1, 2, 3)),
    (-36, 14, 5): ((4, 0, 4), (2, 0, 4)),
    (360, 12, 6): ((5, 0, 1), (1, 0, 5)),
    (-1536, 12, 6): ((4, 4, 1), (1, 4, 1)),
    (-2034, 12, 6): ((4, 0, 4), (0, 2, 4)),
    (-1536, 10, 7): ((4, 0, 2), (0, 4, 2)),
    (-960, 10, 7): ((2, 2, 3), (1, 2, 3)),
    (-96, 8, 8): ((5, 0, 1), (1, 0, 5)),
    (768, 8, 8): ((4, 4, 1), (1, 4, 1)),
    (348, 8, 8): ((2, 0, 4), (0, 2, 4)),
    (192, 6, 9): ((2, 2, 3), (1, 2, 3)),
    (12, 4, 10): ((5, 0, 1), (1, 0, 5)),
    (-27, 4, 10): ((2, 0, 4), (0, 2, 4)),
}


def computed():
    """Our terms in the paper's normalisation: it prints −P."""
    Q = rank_one(2).specialize(data="symmetric iid")
    order = [Q.variables.index(name) for name in ("mu2", "mu4", "t00", "t01", "t11")]
    return [(-value, *(powers[k] for k in order)) for powers, value in Q.terms.items()]


def test_all_68_coefficients_and_moment_exponents_are_right():
    assert len(PRINTED) == len(computed()) == 68
    assert Counter(term[:3] for term in PRINTED) == Counter(term[:3] for term in computed())


def test_twenty_teacher_monomials_are_misprinted_and_the_table_repairs_them():
    wrong = Counter(PRINTED) - Counter(computed())
    assert wrong == Counter((*key, *printed) for key, (printed, _) in MISPRINTS.items())
    assert sum(wrong.values()) == len(MISPRINTS) == 20
    right = Counter(computed()) - Counter(PRINTED)
    assert right == Counter((*key, *correct) for key, (_, correct) in MISPRINTS.items())


def test_every_right_monomial_has_degree_6_in_the_teacher_and_order_48_in_the_moments():
    for _, mu2, mu4, *teacher in computed():
        assert sum(teacher) == 6
        assert 2 * mu2 + 4 * mu4 == 48  # 12 moments of order 4, μ2² and μ4
    assert {sum(term[3:]) for term in PRINTED} == {6, 7, 8, 9}


def test_exchanging_the_inputs_shows_that_the_print_is_wrong_without_computing_anything():
    """i.i.d. data are symmetric under t00 <-> t11: the printed list is not, ours is."""

    def swapped(terms):
        return Counter((c, a, b, t11, t01, t00) for c, a, b, t00, t01, t11 in terms)

    assert swapped(computed()) == Counter(computed())
    assert swapped(PRINTED) != Counter(PRINTED)
