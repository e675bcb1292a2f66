"""Critical points proved for every kind of activation, and points that must not be."""

import numpy as np
import pytest
from flint import arb

import shallows as sh
from shallows.mathematics.balls.across import critical_box
from shallows.mathematics.balls.systems import precision
from shallows.model.activations import Activation
from shallows.questions.certificates.features import FeatureBalls, Monomials, SampleValues
from shallows.questions.certificates.moves import moves
from shallows.questions.certificates.pairs import PairBalls
from shallows.questions.certificates.proof import critical_proof

TANH, CUBIC = sh.Smooth("tanh"), sh.Polynomial([0.5, 1.0, -1.0, 0.3])


def teacher(rng, activation, n=2, width=3, bias=False):
    b = rng.normal(size=width) if bias else None
    return sh.Network(0.5 * rng.normal(size=(width, n)), rng.normal(size=width), activation, bias=b)


def enclosed(balls, theta, radius=0.0):
    """Gradient, Hessian and loss over a box: midpoints and radii."""
    with precision(128):
        x = [arb(float(t), radius) for t in theta]
        gradient, hessian = balls(x)
        found = [*gradient.entries(), *hessian.entries(), balls.loss(x)]
        return np.array([float(e.mid()) for e in found]), np.array([float(e.rad()) for e in found])


def in_doubles(problem, theta):
    value, gradient = problem.value_and_gradient(theta)
    return np.concatenate([gradient, problem.hessian(problem.unpack(theta)).ravel(), [value]])


COLOURED = sh.Gaussian(2, [[1.0, 0.2], [0.2, 0.5]], [0.1, 0.4])
MIXED = sh.Mixture([0.25, 0.75], [sh.Gaussian(2), sh.Gaussian(2, mean=[1.0, 0.0])])
MATRIX = np.array([[1.0, 0.3], [0.3, -2.0]])
#: The student's activation, the teacher's (or what stands for it) and the data.
PROBLEMS = {
    "tanh": (TANH, TANH, sh.Gaussian(2)),
    "tanh of a matrix": (TANH, MATRIX, sh.Gaussian(2)),
    "gelu, moved": (sh.Smooth("gelu"), sh.Smooth("gelu"), COLOURED),
    "tanh of erf, mixture": (TANH, sh.Smooth("erf"), MIXED),
    "cubic, uniform": (CUBIC, CUBIC, sh.IID.uniform(2)),
    "square, samples": (sh.Power(2), sh.Power(2), "samples"),
    "silu, samples": (sh.Smooth("silu"), None, "samples"),
    "relu, samples": (sh.ReLU(), None, "samples"),
    "relu, moved": (sh.ReLU(), sh.ReLU(), COLOURED),
    "relu of one input": (sh.ReLU(), sh.ReLU(), sh.Gaussian(1)),
}


def problem_of(name, outer, bias, rng):
    activation, kind, data = PROBLEMS[name]
    if isinstance(data, str):
        X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
        data = sh.Samples(X, y, rng.uniform(0.5, 2.0, 20)) if kind is None else sh.Samples(X)
    bias = (bias or data.n == 1) and kind is not MATRIX
    target = teacher(rng, kind, data.n, bias=bias) if isinstance(kind, Activation) else kind
    return sh.Problem(target, data, 2, activation, outer=outer, bias=bias)


def balls_of(problem, theta):
    with precision(128):
        if problem.data.as_samples() is not None and not isinstance(problem.activation, sh.Power):
            return FeatureBalls(problem, SampleValues(problem))
        if isinstance(problem.activation, sh.Power | sh.Polynomial):
            return FeatureBalls(problem, Monomials(problem))
        return PairBalls(problem, theta, 128)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("outer", ["free", [1.0, -0.5]])
@pytest.mark.parametrize("name", PROBLEMS)
def test_balls_contain_loss_gradient_and_hessian(name, outer, bias, rng):
    """At a point against the formulas in doubles, and over a box at points within."""
    problem = problem_of(name, outer, bias, rng)
    theta = 0.5 * rng.normal(size=problem.size)
    balls = balls_of(problem, theta)
    mid, rad = enclosed(balls, theta)
    value = in_doubles(problem, theta)
    scale = 1 + np.abs(value).max()
    assert np.abs(mid - value).max() <= 1e-10 * scale + rad.max() and rad.max() < 1e-6
    mid, rad = enclosed(balls, theta, 1e-6)
    for shift in rng.uniform(-1e-6, 1e-6, (3, len(theta))):
        assert np.all(np.abs(mid - in_doubles(problem, theta + shift)) <= rad + 1e-10 * scale)


def test_several_outputs(rng):
    net = sh.Network(0.5 * rng.normal(size=(3, 2)), rng.normal(size=(2, 3)), sh.Smooth("sigmoid"))
    problem = sh.Problem(net, sh.Gaussian(2), width=2)
    theta = rng.normal(size=problem.size)
    mid, rad = enclosed(PairBalls(problem, theta, 128), theta)
    assert np.abs(mid - in_doubles(problem, theta)).max() <= 1e-10 + rad.max()


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("activation", [sh.Power(2), CUBIC], ids=repr)
@pytest.mark.parametrize("data", [sh.Sphere(2), sh.IID.uniform(2), COLOURED, "samples"], ids=str)
def test_several_outputs_of_polynomials(data, activation, bias, rng):
    """Under every law with moments: against doubles, and the teacher itself is proved to be a minimum."""
    b = 0.3 * rng.normal(size=2) if bias else None
    net = sh.Network(rng.normal(size=(2, 2)), rng.normal(size=(3, 2)), activation, bias=b)
    samples = isinstance(data, str)
    X = rng.normal(size=(20, 2))
    law = sh.Samples(X, net(X)) if samples else data
    problem = sh.Problem(None if samples else net, law, width=2, activation=activation, bias=bias)
    theta = problem.pack(net) + 0.3 * rng.normal(size=problem.size)
    with precision(128):
        balls = FeatureBalls(problem, Monomials(problem))
    mid, rad = enclosed(balls, theta)
    value = in_doubles(problem, theta)
    assert np.abs(mid - value).max() <= 1e-10 * (1 + np.abs(value).max()) + rad.max() and rad.max() < 1e-6
    assert critical_proof(problem, net).how == "exact moments"


SQUARES = (
    sh.Power(2), sh.Power(3), sh.ReLU(), sh.Polynomial([0, 0, 3.0]), sh.Polynomial([0.2, 1.0, 1.0]),
    sh.Polynomial([1.0, 2.0, 1.0]), sh.Polynomial([1.0, 0.0, 1.0]), CUBIC, TANH,
)  # fmt: skip


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("outer", ["free", [1.0, 2.0, -1.5, 0.5]])
@pytest.mark.parametrize("activation", SQUARES, ids=repr)
def test_moves_are_all_that_leaves_the_function_alone(activation, outer, bias, rng):
    """By finite differences of the network's outputs: each direction changes none, and there are no more."""
    n, k = 5, 4
    problem = sh.Problem(teacher(rng, activation, n, bias=bias), sh.Gaussian(n), k, outer=outer, bias=bias)
    theta, X, step = rng.normal(size=problem.size), rng.normal(size=(60, n)), 1e-6

    def along(direction):
        ends = [problem.unpack(theta + sign * step * direction)(X) for sign in (1, -1)]
        return (ends[0] - ends[1]) / (2 * step)

    table = np.array([along(e) for e in np.eye(problem.size)])
    sizes = np.linalg.svd(table, compute_uv=False)
    flat = problem.size - int(np.sum(sizes > 1e-7 * sizes[0]))
    directions = moves(problem)
    if directions is None:
        assert flat == 0
        return
    columns = np.array(
        [[float(x.mid()) for x in row] for row in directions([arb(float(t)) for t in theta]).tolist()]
    )
    assert columns.shape[1] == np.linalg.matrix_rank(columns) == flat
    assert max(np.abs(along(column)).max() for column in columns.T) < 1e-5


def mild(activation, bias=False, width=2):
    """Neurons that are close to each other: one student has a minimum next to them."""
    W, b = np.array([[1.0, 0.5], [0.8, 0.9], [1.1, 0.7]])[:width], np.array([0.2, -0.1, 0.1])[:width]
    return sh.Network(W, np.full(width, 0.6), activation, bias=b if bias else None)


def found(problem, start):
    return sh.nearest_critical(problem, start)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("outer", ["free", "ones"])
@pytest.mark.parametrize(
    "activation", [TANH, sh.Smooth("erf"), sh.Smooth("softplus"), CUBIC, sh.Power(3), sh.ReLU()], ids=repr
)
def test_minima_of_one_neuron_are_proved(activation, outer, bias):
    """The proof's numbers against doubles; the same point moved, and claimed twice, is refused."""
    problem = sh.Problem(mild(activation, bias), sh.Gaussian(2), 1, outer=outer, bias=bias)
    begin = sh.Network([[1.0, 0.7]], [1.0], activation, bias=[0.1] if bias else None)
    point = found(problem, begin)
    assert point.kind == "minimum" and point.certificate is not None and point.certificate.signature_certified
    proof = sh.certify_minimum(problem, point.network)
    assert proof.radius < 1e-6 and 0 < proof.eigenvalue_bound <= proof.smallest_eigenvalue * (1 + 1e-9)
    low, high = proof.loss_bounds
    assert low - 1e-10 <= point.loss <= high + 1e-10
    moved = sh.Network(point.network.W + 1e-3, point.network.a, activation, bias=point.network.bias)
    with pytest.raises(sh.NotConverged, match="No critical point is proved"):
        sh.certify_minimum(problem, moved)


@pytest.mark.parametrize("activation", [TANH, CUBIC], ids=repr)
def test_a_saddle_is_no_minimum(activation):
    """Two equal neurons of a wider teacher's best one: a saddle once they are split; with outer "ones" not flat."""
    target = mild(activation, width=3)
    one = sh.Problem(sh.Network(target.W, target.a / 2, activation), sh.Gaussian(2), 1, outer="ones")
    best = found(one, sh.Network([[1.0, 0.7]], [1.0], activation)).network
    two = sh.Problem(target, sh.Gaussian(2), 2, outer="ones")
    both = sh.Network(np.vstack([best.W, best.W]), [1.0, 1.0], activation)
    proof = critical_proof(two, both)
    values = np.linalg.eigvalsh(two.hessian(both))
    assert proof.critical.signs.certified and proof.critical.signs.negative == np.sum(values < 0)
    if values[0] < 0:
        with pytest.raises(sh.NotConverged, match="not that it is a minimum"):
            sh.certify_minimum(two, both)


@pytest.mark.parametrize("activation", [TANH, CUBIC, sh.Power(2), sh.ReLU()], ids=repr)
def test_repeated_neurons_with_trained_outer_weights_are_refused(activation):
    """Only a₁ + a₂ matters: a family, on which no point is isolated."""
    target = mild(activation, width=3)
    best = found(sh.Problem(target, sh.Gaussian(2), 1), sh.Network([[1.0, 0.7]], [1.8], activation)).network
    two = sh.Problem(target, sh.Gaussian(2), 2)
    with pytest.raises(sh.NotConverged):
        sh.certify_minimum(
            two, sh.Network(np.vstack([best.W, best.W]), np.array([0.25, 0.75]) * best.a, activation)
        )


@pytest.mark.parametrize("activation", [TANH, CUBIC, sh.ReLU()], ids=repr)
@pytest.mark.parametrize("bias", [False, True])
def test_the_teacher_itself_is_a_proved_minimum_of_loss_zero(activation, bias):
    rng = np.random.default_rng(8)
    target = teacher(rng, activation, 3, 2, bias)
    proof = sh.certify_minimum(sh.Problem(target, sh.Gaussian(3), 2, bias=bias), target)
    assert not proof.is_local and proof.loss_bounds[0] <= 0 <= proof.loss_bounds[1]


def test_two_layers_on_samples(rng):
    X = rng.normal(size=(30, 2))
    problem = sh.Problem(
        None, sh.Samples(X, np.tanh(X[:, 0]) + 0.1 * rng.normal(size=30)), 1, TANH, bias=True
    )
    point = found(problem, sh.Network([[1.0, 0.1]], [1.0], TANH, bias=[0.1]))
    proof = sh.certify_minimum(problem, point.network)
    assert proof.how == "sample by sample" and proof.is_local
    assert proof.eigenvalue_bound <= np.linalg.eigvalsh(problem.hessian(point.network))[0] * (1 + 1e-9)


def test_what_has_no_proof_is_refused_by_name():
    rng = np.random.default_rng(0)
    own, tanh_gelu = sh.Smooth(lambda z: np.tanh(z)), sh.Smooth("gelu_tanh")
    for activation, why in ((own, "double precision only"), (tanh_gelu, "poles next to the real line")):
        target = teacher(rng, activation, width=1)
        with pytest.raises(sh.InvalidProblem, match=why):
            sh.certify_minimum(sh.Problem(target, sh.Gaussian(2), 1), target)
    target = teacher(rng, sh.ReLU(), width=1)
    mixed = sh.Problem(target, sh.Gaussian(2), 1, activation=TANH)
    with pytest.raises(sh.InvalidProblem, match="another activation"):
        sh.certify_minimum(mixed, sh.Network([[1.0, 0.0]], activation=TANH))
    norm = sh.Problem(np.eye(2), sh.Gaussian(2), 1, norm_neuron=True)
    with pytest.raises(sh.InvalidProblem, match="norm neuron"):
        sh.certify_minimum(norm, sh.Network([[1.0, 0.0]], norm=1.0))
    many = sh.Network(np.eye(1, 30), activation=sh.Power(2))
    with pytest.raises(sh.InvalidProblem, match="496 coefficients"):
        sh.certify_minimum(sh.Problem(many, sh.Gaussian(30), 1), many)
    wide = sh.Problem(sh.Network(np.eye(2, 101), activation=TANH), sh.Gaussian(101), 2)
    with pytest.raises(sh.InvalidProblem, match="up to 200 parameters"):
        sh.certify_minimum(wide, sh.Network(np.eye(2, 101), activation=TANH))


def test_a_tampered_enclosure_proves_nothing():
    """Gradients moved by 1e-3, Hessians that are wider than they are large: Krawczyk's test fails."""
    problem = sh.Problem(sh.Network([[1.0, 0.5]], activation=TANH), sh.Gaussian(2), 1)
    theta = problem.pack(problem.target)
    balls = PairBalls(problem, theta, 128)
    assert critical_box(balls, theta, 128) is not None

    class Tampered:
        is_real, n = True, problem.size

        def __init__(self, shift, width):
            self.shift, self.width = shift, width

        def __call__(self, x):
            gradient, hessian = balls(x)
            return gradient + gradient * 0 + self._all(gradient, arb(self.shift)), hessian + self._all(
                hessian, arb(0, self.width)
            )

        def _all(self, like, value):
            return type(like)(like.nrows(), like.ncols(), [value] * (like.nrows() * like.ncols()))

    assert critical_box(Tampered(1e-3, 0.0), theta, 128) is None
    assert critical_box(Tampered(0.0, 1.0), theta, 128) is None


@pytest.mark.parametrize("activation", [TANH, CUBIC, sh.ReLU(), sh.Power(3)], ids=repr)
@pytest.mark.parametrize("outer", ["free", "ones"])
def test_coordinates_and_biases_that_vanish(activation, outer):
    """The identity with bias zero: boxes meet zero in most coordinates."""
    target = sh.Network(np.eye(2), activation=activation, bias=np.zeros(2))
    problem = sh.Problem(target, sh.Gaussian(2), 2, outer=outer, bias=True)
    proof = sh.certify_minimum(problem, target)
    values = np.linalg.eigvalsh(problem.hessian(target))
    steep = values[values > 1e-9 * values[-1]]
    assert proof.eigenvalue_bound > 0 and (outer == "free" or proof.eigenvalue_bound <= steep[0] * (1 + 1e-9))
