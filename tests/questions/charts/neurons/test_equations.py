"""The critical equations of sums of neurons: against differences of the loss itself, and the numbers of the design."""

from fractions import Fraction

import numpy as np
import pytest

from shallows.questions.charts.continuation.generic_members import generic_member
from shallows.questions.charts.continuation.metrics import Pair
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.support.seeds import complex_normal

NEURONS = {
    "1+z+z²": lambda n: Neuron.of_degrees([0, 1, 2], n),
    "z+z²": lambda n: Neuron.of_degrees([1, 2], n),
    "1+z²": lambda n: Neuron.of_degrees([0, 2], n),
    "z+z³": lambda n: Neuron.of_degrees([1, 3], n),
    "z+z² with bias": lambda n: Neuron.affine([0.0, 1.0, 1.0], n),
}
#: Functions, not solutions: those of even p up to w ↔ −w and without w = 0, of odd p up to (a, w) ↔ (−a, −w).
COUNTS = {
    "1+z+z²": (4, 13, 40),
    "z+z²": (1, 10, 37),
    "1+z²": (1, 4, 13),
    "z+z³": (1, 14, 80),
    "z+z² with bias": (1, 10),
}


def loss(equations, gram, g, x):
    """Σ_m (s_mᵀ G s_m − 2 g_mᵀ s_m): a polynomial, so differences over C are differences of it."""
    s = equations.tensors(x[None])[0].reshape(equations.outputs, -1)
    return np.einsum("mi,ij,mj->", s, gram, s) - 2 * np.sum(g.reshape(s.shape) * s)


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("outer", [False, True])
def test_equations_are_the_gradient_of_the_loss_and_have_their_own_jacobian(outputs, outer):
    rng = np.random.default_rng(3)
    fixed = tuple(tuple(row) for row in rng.standard_normal((2, outputs))) if outer else None
    equations = NeuronEquations(Neuron.affine([0.5, 0.0, 1.0, -2.0], 2), 2, outputs, fixed)
    grams = [complex_normal(rng, equations.metric_size, equations.metric_size) for _ in range(2)]
    (start, g1), (end, g0) = ((gram + gram.T, complex_normal(rng, equations.entries)) for gram in grams)
    homotopy = equations.homotopy((Pair.of(start), g1), (Pair.of(end), g0))
    point = 0.4 * complex_normal(rng, equations.unknowns + 1)  # short neurons: no row is scaled
    value, jacobian = homotopy.at(point)
    x, t = point[:-1], point[-1]
    gram, g = end + t * (start - end), g0 + t * (g1 - g0)
    step = 1e-5
    slopes = [
        (loss(equations, gram, g, x + step * e) - loss(equations, gram, g, x - step * e)) / (4 * step)
        for e in np.eye(len(x))
    ]
    A, _ = equations.split(x)
    own = equations.lead + equations.neuron.n
    expected = value.reshape(2, own).copy()
    if outputs == 1:
        expected[:, equations.lead :] *= A  # one output has no factor a
    assert np.abs(np.array(slopes).reshape(2, own) - expected).max() < 1e-7 * np.abs(expected).max()
    ends = [(homotopy.at(point + step * e)[0], homotopy.at(point - step * e)[0]) for e in np.eye(len(point))]
    differences = np.array([(up - down) / (2 * step) for up, down in ends]).T
    assert np.abs(differences - jacobian).max() < 1e-7 * np.abs(jacobian).max()


class Cancelling(NeuronEquations):
    """The same equations, evaluated with 31 digits for long neurons."""

    cancels = True


def exactly(z):
    return Fraction(float(np.real(z))), Fraction(float(np.imag(z)))


def plus(a, b):
    return a[0] + b[0], a[1] + b[1]


def times(a, b):
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def exact_value(equations, gram, g, point):
    """ψᵢ·e for trained weights and ∂ψᵢ·e, e = Gs − g, term by term in rational numbers."""
    neuron, r, lead = equations.neuron, equations.r, equations.lead
    x = [exactly(z) for z in point]
    own = lead + neuron.n

    def terms(i, along):
        found = [(Fraction(0), Fraction(0))] * neuron.size
        for entry, coefficient, row in neuron.terms:
            left, factor = list(row), Fraction(coefficient)
            if along is not None:
                factor *= left[along]
                left[along] -= 1
            if factor:
                value = (factor, Fraction(0))
                for k, power in enumerate(left):
                    for _ in range(power):
                        value = times(value, x[i * own + lead + k])
                found[entry] = plus(found[entry], value)
        return found

    weights = [x[i * own] if lead else exactly(equations.outer[i][0]) for i in range(r)]
    s = [(Fraction(0), Fraction(0))] * neuron.size
    for i in range(r):
        s = [plus(old, times(weights[i], new)) for old, new in zip(s, terms(i, None), strict=True)]
    e = []
    for k in range(neuron.size):
        total = times((Fraction(-1), Fraction(0)), exactly(g[k]))
        for j in range(neuron.size):
            total = plus(total, times(exactly(gram[k, j]), s[j]))
        e.append(total)
    values = []
    for i in range(r):
        for row in ([None] if lead else []) + list(range(neuron.n)):
            total = (Fraction(0), Fraction(0))
            for slope, gap in zip(terms(i, row), e, strict=True):
                total = plus(total, times(slope, gap))
            values.append(complex(float(total[0]), float(total[1])))
    return np.array(values)


@pytest.mark.parametrize("outer", [None, ((1.0,), (-0.75,))])
def test_long_neurons_are_evaluated_to_all_digits(outer):
    """Next to null directions of the metric doubles lose digits of the value: held to rational numbers."""
    rng = np.random.default_rng(8)
    sharp = Cancelling(Neuron.of_degrees([2], 3), 2, outer=outer)
    plain = NeuronEquations(sharp.neuron, 2, outer=outer)
    gram = np.diag([1.0, 2.0, 2.0, 1.0, 2.0, 1.0]).astype(complex)  # Frobenius': w·w = 0 is null
    g = complex_normal(rng, 6)
    unlike = complex_normal(rng, 6, 6)
    ends = (Pair.of(unlike + unlike.T), complex_normal(rng, 6)), (Pair.of(gram), g)
    for size in (3.0, 300.0, 3e4):
        long = [size * np.array([1.0, 1j, 0.0]) + complex_normal(rng, 3) for _ in range(2)]
        parts = long if outer else [np.concatenate([complex_normal(rng, 1), w]) for w in long]
        point = np.append(np.concatenate(parts), 0.0)
        exact = exact_value(sharp, gram, g, point)
        found = sharp.homotopy(*ends).at(point)[0]
        in_doubles = plain.homotopy(*ends).at(point)[0]
        rows = np.repeat([(2.0 / np.abs(w).max()) ** 2 if size > 2 else 1.0 for w in long], len(exact) // 2)
        assert np.abs(found - exact * rows).max() <= 1e-14 * np.abs(exact * rows).max()
        if size > 1e4:
            assert np.abs(in_doubles - exact * rows).max() > 1e-13 * np.abs(exact * rows).max()


@pytest.mark.parametrize("name", COUNTS)
def test_generic_metrics_have_the_numbers_of_the_design(name):
    for n, count in enumerate(COUNTS[name], start=1):
        member = generic_member(NeuronEquations(NEURONS[name](n), 1))
        assert len(member.points) == count
        assert member.completeness in (
            "count-matched",
            "trace-tested",
        )  # kept ones keep the word of their day


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_fixed_outer_weight_gives_as_many_as_bezout_allows(n):
    member = generic_member(NeuronEquations(Neuron.of_degrees([0, 1, 2], n), 1, outer=((1.0,),)))
    assert len(member.points) == 3**n


def test_two_outputs_have_the_numbers_of_the_design():
    """z² and z³ with two outputs under I ⊗ G, w = (1, z): 6 and 10 at n = 2, 23 at n = 3."""
    for degree, n, count in ((2, 2, 6), (3, 2, 10), (2, 3, 23)):
        equations = NeuronEquations(Neuron.of_degrees(range(degree + 1), n - 1), 1, outputs=2)
        assert len(generic_member(equations).points) == count


def test_students_with_infinitely_many_networks_are_told():
    quadratic, cubic = Neuron.of_degrees([0, 1, 2], 3), Neuron.of_degrees([1, 3], 3)
    assert not NeuronEquations(quadratic, 2).is_isolated()
    assert NeuronEquations(quadratic, 2, outer=((1.0,), (1.0,))).is_isolated()
    assert NeuronEquations(cubic, 2).is_isolated()
