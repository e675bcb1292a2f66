"""Losses and functions of JAX, against the library's derivatives and JAX's own."""

import numpy as np
import pytest

import shallows as sh

jax = pytest.importorskip("jax", reason="needs the extra jax: make test-frameworks installs it")
import jax.numpy as jnp  # noqa: E402

PROBLEM = sh.Problem(sh.Network(np.eye(3), activation=sh.ReLU()), sh.Gaussian(3), width=2)
RNG = np.random.default_rng(3)
W, a = RNG.standard_normal((2, 3)), RNG.standard_normal(2)
NET = sh.Network(W, a, sh.ReLU())


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def of_theta(theta):
    return PROBLEM.jax_loss(theta[:6].reshape(2, 3), theta[6:])


THETA = np.concatenate([W.ravel(), a])


def test_values_and_gradients_are_the_library_s():
    assert float(PROBLEM.jax_loss(W, a)) == PROBLEM.loss(NET)
    assert float(jax.jit(PROBLEM.jax_loss)(W, a)) == PROBLEM.loss(NET)
    slopes = jax.jit(jax.grad(of_theta))(jnp.asarray(THETA))
    np.testing.assert_allclose(slopes, PROBLEM.gradient(NET), atol=1e-14)


@pytest.mark.parametrize(
    "of", [jax.hessian, lambda f: jax.jacrev(jax.grad(f)), lambda f: jax.jit(jax.hessian(f))]
)
def test_hessians_are_the_library_s(of):
    np.testing.assert_allclose(of(of_theta)(jnp.asarray(THETA)), PROBLEM.hessian(NET), atol=1e-13)


def test_derivatives_agree_with_differences():
    from jax.test_util import check_grads

    check_grads(of_theta, (jnp.asarray(THETA),), order=2)


def test_batches():
    Ws, outer = RNG.standard_normal((5, 2, 3)), RNG.standard_normal((5, 2))
    whole = PROBLEM.jax_loss(Ws, outer)
    assert whole.shape == (5,)
    np.testing.assert_array_equal(jax.vmap(PROBLEM.jax_loss)(Ws, outer), whole)
    assert jax.jit(jax.vmap(jax.grad(PROBLEM.jax_loss), in_axes=(0, None)))(Ws, outer[0]).shape == Ws.shape
    points = RNG.standard_normal((4, 8))
    assert jax.vmap(jax.hessian(of_theta))(jnp.asarray(points)).shape == (4, 8, 8)


OTHERS = {
    "bias": sh.Problem(
        sh.Network(np.eye(2), activation=sh.Smooth("tanh")), sh.Gaussian(2), width=2, bias=True
    ),
    "norm, outputs": sh.Problem(
        sh.Network(np.eye(2), a=np.ones((3, 2))), sh.IID.uniform(2), 2, norm_neuron=True
    ),
    "penalty": sh.Problem(np.diag([2.0, 1.0]), sh.Frobenius(2), width=2, outer="ones", orthogonality=0.1),
    "samples": sh.Problem(None, sh.Samples(RNG.standard_normal((9, 2)), RNG.standard_normal(9)), width=2),
}


@pytest.mark.parametrize("name", OTHERS)
def test_every_part_of_the_parameters(name):
    problem = OTHERS[name]
    theta = np.random.default_rng(4).standard_normal(problem.size)
    net = problem.unpack(theta)
    given = {"W": net.W, "bias": net.bias, "a": net.a, "norm": net.norm}
    trained = {"W": True, "bias": problem.bias, "a": problem.outer is None, "norm": problem.norm_neuron}
    parts = {key: jnp.asarray(value) for key, value in given.items() if trained[key]}

    def loss(values):
        return problem.jax_loss(**values)

    assert float(jax.jit(loss)(parts)) == pytest.approx(problem.loss(net), rel=1e-14)
    slopes = jax.jit(jax.grad(loss))(parts)
    flat = np.concatenate([np.ravel(slopes[key]) for key in parts])
    np.testing.assert_allclose(flat, problem.gradient(net), atol=1e-12)
    hessian = jax.jit(jax.hessian(loss))(parts)["W"]["W"].reshape(net.W.size, net.W.size)
    own = problem.hessian(net)[: net.W.size, : net.W.size]
    np.testing.assert_allclose(hessian, own, atol=1e-11)


@pytest.mark.parametrize("of", [jax.jit, jax.grad, jax.vmap])
def test_inside_a_transformation_the_way_out_is_named(of):
    with pytest.raises(sh.InvalidProblem, match=r"problem\.jax_loss"):
        of(lambda w: PROBLEM.loss(sh.Network(w, a, sh.ReLU())))(jnp.asarray(W))
    assert np.array_equal(sh.Network(jnp.asarray(W)).W, W)


def test_single_precision_is_refused():
    with jax.enable_x64(False), pytest.raises(sh.InvalidProblem, match="jax_enable_x64"):
        PROBLEM.jax_loss(W, a)


@pytest.mark.parametrize(("function", "name"), [(jnp.tanh, "tanh"), (jax.nn.silu, "silu")])
@pytest.mark.parametrize("wide", [True, False])
def test_functions_of_jax_are_activations_in_double_precision(function, name, wide):
    z = np.linspace(-3, 3, 31)
    with jax.enable_x64(wide):
        own, known = sh.Smooth(function), sh.Smooth(name)
        for order in range(3):
            np.testing.assert_allclose(own.derivative(z, order), known.derivative(z, order), atol=1e-14)
