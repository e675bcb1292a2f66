"""The setting of paper 003: ReLU student and teacher under N(0, I), outer weights one, an orthonormal teacher.

Each theorem asks for its hypotheses here before any work starts. The closed forms themselves (loss, gradient,
Hessian, certificates) need less, and say so.
"""

from __future__ import annotations

import numpy as np

from shallows.model.activations import ReLU
from shallows.model.data.gaussian import Gaussian
from shallows.model.kernels.relu import require_nonzero
from shallows.model.network import Network
from shallows.model.problem import Problem
from shallows.support.checks import Array, positive_integer
from shallows.support.errors import InvalidProblem

#: How far V Vᵀ may be from I: teachers given to ten digits pass, and the theorems' numbers change by no more.
ORTHONORMAL = 1e-9


def relu_problem(k: int, width: int | None = None, inputs: int | None = None) -> Problem:
    """The problem of paper 003, with the teacher Σᵢ ReLU(xᵢ) over k coordinates and N(0, I) in `inputs` (k) dimensions.

    The student has `width` (k) neurons with outer weights one. The loss of the zero function is E y² = k/2 + k(k−1)/2π.

    >>> problem = sh.relu_problem(3)
    >>> f"{problem.loss(sh.Network(np.zeros((3, 3)), activation=sh.ReLU())):.6f}", f"{3 / 2 + 3 / np.pi:.6f}"
    ('2.454930', '2.454930')
    """
    k = positive_integer("k", k)
    inputs = k if inputs is None else positive_integer("inputs", inputs, minimum=k)
    teacher = Network(np.eye(k, inputs), activation=ReLU())
    return Problem(teacher, Gaussian(inputs), k if width is None else width, outer="ones")


def teacher_of(problem: Problem) -> tuple[Array, Array]:
    """Neurons V and outer weights b of a ReLU problem with N(0, I) data, one output and fixed outer weights."""
    target, data = problem.target, problem.data.as_gaussian()
    if not (isinstance(problem.activation, ReLU) and isinstance(target, Network)):
        raise InvalidProblem(f"A ReLU student and a teacher network are needed; this is {problem!r}.")
    if not isinstance(target.activation, ReLU) or np.any(target.norm):
        raise InvalidProblem(f"The teacher must be a ReLU network; it is {target!r}.")
    if data is None or not (data.centred and data.white):
        raise InvalidProblem(f"The data must be N(0, I): Gaussian({problem.n}); it is {problem.data!r}.")
    if problem.outputs != 1 or problem.outer is None or problem.orthogonality:
        raise InvalidProblem(
            "One output with fixed outer weights is needed: trained ones leave a scaling of every neuron free, so that "
            'no minimum is isolated. Fix: outer="ones".'
        )
    return target.W, np.atleast_2d(target.a)[0]


def orthonormal_teacher(problem: Problem, theorem: str) -> Array:
    """V of the setting of paper 003, or an error that names the theorem and what does not hold."""
    V, b = teacher_of(problem)
    assert problem.outer is not None
    if not (np.all(b == 1) and np.all(problem.outer == 1)):
        raise InvalidProblem(f'{theorem} is about outer weights one, of teacher and student (outer="ones").')
    defect = float(np.abs(V @ V.T - np.eye(len(V))).max())
    if defect > ORTHONORMAL:
        raise InvalidProblem(
            f"{theorem} needs an orthonormal teacher; this one has V Vᵀ − I of size {defect:.3g}. Loss, gradient, "
            "Hessian and certify_minimum work for any teacher."
        )
    return V


def student_of(problem: Problem, net: Network, differentiable: bool = True) -> Array:
    """W of a student of this problem; a typed error for a zero neuron where a derivative is needed."""
    problem.pack(net)
    if differentiable:
        require_nonzero(np.linalg.norm(net.W, axis=1))
    return net.W
