"""The population loss as a differentiable function of JAX arrays, under jit, vmap, grad and hessian.

L and ∇L are calls back into the library with derivative rules of their own: dL = ∇L·dθ, d∇L = ∇²L dθ. JAX transposes
and batches the last as it needs, so ∇²L is computed whole, all its p products at once: `jax.hessian` costs no more than
the Hessian, one product as much as p. The library computes in double precision: JAX must too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from shallows.model.frameworks.parts import ParameterParts, hessians
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem

if TYPE_CHECKING:
    from shallows.model.problem import Problem


def jax_loss(problem: Problem, W: Any, a: Any = None, bias: Any = None, norm: Any = None) -> jax.Array:
    """L at the network with these parts; `Problem.jax_loss`."""
    if not jax.config.read("jax_enable_x64"):
        raise InvalidProblem(
            "JAX computes in single precision, which would round the loss to seven digits in silence. Fix: "
            'jax.config.update("jax_enable_x64", True) before the first array is made.'
        )
    parts = ParameterParts.of(problem, W=W, a=a, bias=bias, norm=norm)
    flat = []
    for name, axes in parts.axes.items():
        value = jnp.asarray(parts.given[name], dtype=jnp.float64)
        flat.append(value.reshape(*value.shape[: value.ndim - axes], -1))
    return _loss_of(problem)(jnp.concatenate(flat, axis=-1))


def _loss_of(problem: Problem) -> Any:
    """θ ↦ L(θ) with its derivative rule."""

    @jax.custom_jvp
    def loss(theta: jax.Array) -> jax.Array:
        return _called(lambda x: problem.value(x), theta.shape[:-1], theta)

    @jax.custom_jvp
    def gradient(theta: jax.Array) -> jax.Array:
        return _called(lambda x: problem.value_and_gradient(x)[1], theta.shape, theta)

    def hessian(theta: jax.Array) -> jax.Array:
        return _called(lambda x: hessians(problem, x), (*theta.shape, problem.size), theta)

    @loss.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        (theta,), (change,) = primals, tangents
        return loss(theta), jnp.sum(gradient(theta) * change, axis=-1)

    @gradient.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        (theta,), (change,) = primals, tangents
        return gradient(theta), jnp.einsum("...ij,...j->...i", hessian(theta), change)

    return loss


def _called(function: Any, shape: tuple[int, ...], *arguments: jax.Array) -> jax.Array:
    """A call back into NumPy; batches are made in one call, with their axes in front."""

    def on_arrays(*values: Any) -> Array:
        return np.asarray(
            function(*(np.asarray(v, np.float64) for v in np.broadcast_arrays(*values))), np.float64
        )

    answer = jax.ShapeDtypeStruct(shape, jnp.float64)
    return jax.pure_callback(on_arrays, answer, *arguments, vmap_method="broadcast_all")
