"""The population loss as a differentiable function of PyTorch tensors: L, ∇L and ∇²L·v are the library's own.

Three functions of the flat parameters θ of shape (…, p), each the derivative of the one before it, in double precision:

    L(θ),   ∂L = g·∇L(θ),   ∂(∇L)·u = ∇²L(θ) u.

The last is not differentiated again. All take batches, so `torch.func.vmap` is one call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from shallows.model.frameworks.parts import ParameterParts, hessian_products
from shallows.support.checks import Array
from shallows.support.errors import InvalidProblem

if TYPE_CHECKING:
    from shallows.model.problem import Problem


def torch_loss(problem: Problem, W: Any, a: Any = None, bias: Any = None, norm: Any = None) -> torch.Tensor:
    """L at the network with these parts; `Problem.torch_loss`."""
    parts = ParameterParts.of(problem, W=W, a=a, bias=bias, norm=norm)
    theta = torch.cat([_flat(name, parts.given[name], kept) for name, kept in parts.axes.items()], dim=-1)
    value: torch.Tensor = _Loss.apply(theta, problem)
    return value


def _flat(name: str, value: Any, axes: int) -> torch.Tensor:
    """The last axes as one, in double precision on the processor; gradients pass."""
    if not isinstance(value, torch.Tensor):
        value = torch.as_tensor(np.asarray(value))
    if value.is_complex():
        raise InvalidProblem(f"{name} is a complex tensor; expected real numbers.")
    return value.to("cpu", torch.float64).reshape(*value.shape[: value.ndim - axes], -1)


def _array(tensor: torch.Tensor) -> Array:
    return np.asarray(tensor.detach().numpy(), dtype=np.float64)


class _OfTheta(torch.autograd.Function):
    """A function of (θ, problem)."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])
        ctx.problem = inputs[1]

    @classmethod
    def vmap(cls, info: Any, axes: tuple[Any, ...], theta: torch.Tensor, problem: Problem) -> tuple[Any, int]:
        return cls.apply(theta.movedim(axes[0], 0), problem), 0


class _Loss(_OfTheta):
    """L(θ)."""

    @staticmethod
    def forward(theta: torch.Tensor, problem: Problem) -> torch.Tensor:
        return torch.as_tensor(np.asarray(problem.value(_array(theta))))

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> Any:
        (theta,) = ctx.saved_tensors
        return slope[..., None] * _Gradient.apply(theta, ctx.problem), None

    @staticmethod
    def jvp(ctx: Any, change: torch.Tensor, _: Any) -> Any:
        (theta,) = ctx.saved_tensors
        return (change * _Gradient.apply(theta, ctx.problem)).sum(-1)


class _Gradient(_OfTheta):
    """∇L(θ)."""

    @staticmethod
    def forward(theta: torch.Tensor, problem: Problem) -> torch.Tensor:
        return torch.as_tensor(np.asarray(problem.value_and_gradient(_array(theta))[1]))

    @staticmethod
    def backward(ctx: Any, direction: torch.Tensor) -> Any:
        (theta,) = ctx.saved_tensors
        return _Product.apply(theta, direction, ctx.problem), None

    @staticmethod
    def jvp(ctx: Any, change: torch.Tensor, _: Any) -> Any:
        (theta,) = ctx.saved_tensors
        return _Product.apply(theta, change, ctx.problem)


class _Product(torch.autograd.Function):
    """∇²L(θ) u."""

    @staticmethod
    def forward(theta: torch.Tensor, direction: torch.Tensor, problem: Problem) -> torch.Tensor:
        return torch.as_tensor(hessian_products(problem, _array(theta), _array(direction)))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.problem = inputs[2]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: torch.Tensor) -> Any:
        raise InvalidProblem(
            "Third derivatives of a loss are not to be had: losses are differentiated twice."
        )

    @staticmethod
    def vmap(
        info: Any, axes: tuple[Any, ...], theta: torch.Tensor, direction: torch.Tensor, problem: Problem
    ) -> tuple[Any, int]:
        moved = [
            x.unsqueeze(0) if axis is None else x.movedim(axis, 0)
            for x, axis in zip((theta, direction), axes[:2], strict=True)
        ]
        return _Product.apply(*torch.broadcast_tensors(*moved), problem), 0
