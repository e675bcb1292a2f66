"""`chart`: the strongest method that applies to a problem."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from shallows.mathematics.homotopy.batches import on_client
from shallows.model.activations import Polynomial, PolynomialActivation, Power, ReLU, Smooth, polynomial_of
from shallows.model.equivalent_power import has_equivalent_power
from shallows.model.problem import Problem, as_problem
from shallows.model.reduced_problem import needs_pairs, reduced, require_quadratic
from shallows.questions.charts.limits import require_begun
from shallows.questions.charts.outputs.parallel import one_output, with_outputs
from shallows.questions.charts.points.kinds import require_doubles
from shallows.questions.charts.result import Chart
from shallows.questions.charts.rounded import TEACHER, as_rounded, is_rounded
from shallows.questions.charts.visible import require_determined, require_invisible
from shallows.questions.charts.with_bias import with_bias
from shallows.questions.charts.with_reduction import with_reduction
from shallows.support.collector import no_collection
from shallows.support.errors import InvalidProblem
from shallows.support.seeds import generator

METHODS = ("auto", "closed-form", "homotopy", "exact", "exclusion", "descent")


def chart(
    problem: Problem,
    method: str = "auto",
    certify: bool = True,
    rng: int | np.random.Generator = 0,
    *,
    progress: bool = False,
    client: Any = None,
    keep: str | Path | None = None,
) -> Chart:
    """Every critical point of the loss in function space, for every rank up to the width.

    `method`: "closed-form" (Theorems 34 to 36), "homotopy" (any metric), "exact" (msolve), "exclusion" (by interval
    arithmetic: one neuron, ReLU, smooth or polynomial, or two ReLU neurons in the plane), "descent" (samples only what
    training finds); "auto" takes the strongest that applies. `certify` proves points, signatures and realness in ball
    arithmetic; `progress` shows on stderr what is being done. The result says what is proved: `chart.completeness`,
    `chart.scope`, `point.certificate`.

    With a Dask `client`, or a scheduler's address, paths are tracked on its workers, in batches that are kept in the
    folder `keep` (or the user's cache): a chart that was stopped goes on from there.

    >>> chart = sh.chart(sh.Problem(np.diag([3.0, 2.0, 1.0]), sh.Frobenius(3), width=1))
    >>> [float(loss) for loss in chart.losses]
    [5.0, 10.0, 13.0, 14.0]
    """
    if method not in METHODS:
        raise InvalidProblem(f"method is {method!r}; expected one of {', '.join(METHODS)}.")
    if client is not None:
        with on_client(client, keep):
            return chart(problem, method, certify, rng, progress=progress)
    problem = as_problem(problem)
    source = generator(rng)
    seed = int(source.integers(2**31)) if isinstance(rng, np.random.Generator) else int(rng)
    made = _made(problem, method, certify, seed, progress)
    return replace(made, title=f"{problem!r}", seed=seed)


def _made(problem: Problem, method: str, certify: bool, seed: int, progress: bool) -> Chart:
    if method == "descent":
        from shallows.questions.charts.sampled import descent_chart

        return descent_chart(problem, seed)
    if method == "exclusion" or (method == "auto" and isinstance(problem.activation, ReLU | Smooth)):
        return _by_exclusion(problem, certify, progress)
    if is_rounded(problem):
        return as_rounded(_of_polynomials(problem, method, certify, seed, progress), TEACHER)
    return _of_polynomials(problem, method, certify, seed, progress)


def _of_polynomials(problem: Problem, method: str, certify: bool, seed: int, progress: bool) -> Chart:
    """Students that are polynomials: by what they reduce to, or by their own equations."""
    alike = one_output(problem) if isinstance(problem.activation, PolynomialActivation) else None
    if alike is not None:
        return with_outputs(problem, alike, chart(alike.single, method, certify, seed, progress=progress))
    if isinstance(problem.activation, Polynomial):
        return _of_polynomial(problem, method, certify, seed, progress)
    extended = problem.norm_neuron or bool(problem.orthogonality)
    if problem.bias and problem.orthogonality and problem.outputs > 1 and problem.outer is None:
        return _joined(problem, method, certify, seed, progress)
    if problem.bias and not (extended and problem.outputs == 1):
        return with_bias(problem, chart(problem.homogeneous(), method, certify, seed, progress=progress))
    _require_polynomial(problem)
    if problem.outputs > 1 or problem.activation == Power(1):
        return _of_outputs(problem, method, certify, seed, progress)
    if needs_pairs(problem):
        from shallows.questions.charts.penalty.chart import penalised_chart

        inner = partial(chart, method=method, certify=certify, rng=seed, progress=progress)
        return penalised_chart(problem, inner, certify, seed, progress, method)
    if extended:
        return with_reduction(problem, chart(reduced(problem), method, certify, seed, progress=progress))
    if method != "exact":
        require_begun(problem)
    gram = problem.gram()
    require_invisible(problem, gram)
    require_doubles(problem, gram)
    result = None
    if method in ("auto", "closed-form"):
        result = _closed_form(problem, certify, progress)
        if result is None and method == "closed-form":
            raise InvalidProblem(
                f"{problem.data!r} at degree {problem.degree} and width {problem.width} has no closed form; there is "
                "one for Frobenius, rotation-invariant and Gaussian data at degree 2, and for i.i.d. data with a "
                'diagonal target at width 1. Use method="homotopy".'
            )
    if result is None and method in ("auto", "homotopy"):
        with no_collection():
            from shallows.questions.charts.algebraic import algebraic_chart

        result = algebraic_chart(problem, certify, seed, progress)
    if method == "exact":
        from shallows.questions.charts.exact.engine import exact_chart

        result = exact_chart(problem, seed)
    if result is None:
        raise InvalidProblem(f"method {method!r} is not available for {problem!r} in this version.")
    return result


def _of_polynomial(problem: Problem, method: str, certify: bool, seed: int, progress: bool) -> Chart:
    """Polynomial activations: as powers where they are powers in another form, else neuron by neuron."""
    from shallows.questions.charts.neurons.chart import neurons_chart
    from shallows.questions.charts.neurons.equivalent_power import equivalent_chart
    from shallows.questions.charts.neurons.pure_power import pure_power, pure_power_chart
    from shallows.questions.charts.quadratics.fixed_slope_chart import fixed_slope_chart, is_spread
    from shallows.questions.charts.quadratics.students import QuadraticStudents

    inner = partial(chart, method=method, certify=certify, rng=seed, progress=progress)
    power = pure_power(problem)
    if power is not None:
        return pure_power_chart(problem, power, inner)
    if polynomial_of(problem.activation).degree == 1 and method in ("auto", "closed-form"):
        from shallows.questions.charts.outputs.affine import affine_chart

        return affine_chart(problem, inner)
    require_determined(problem)
    if problem.outputs != 1:
        from shallows.questions.charts.outputs.neurons import neuron_outputs_chart

        return neuron_outputs_chart(problem, certify, seed, progress, method)
    if has_equivalent_power(problem):
        return equivalent_chart(problem, inner)
    students = QuadraticStudents.of(problem)
    if students is not None and method in ("auto", "homotopy", "exact"):
        from shallows.questions.charts.quadratics.chart import quadratics_chart

        return quadratics_chart(students, inner, certify, seed, progress, method)
    if method in ("auto", "homotopy") and is_spread(problem):
        return fixed_slope_chart(problem, inner, certify, seed, progress)
    if method in ("auto", "homotopy"):
        return neurons_chart(problem, certify, seed, progress, charted=inner)
    if method == "exact":
        return neurons_chart(problem, certify, seed, progress, method, inner)
    raise InvalidProblem(
        f'{problem.activation!r} has no chart with method={method!r}. Use method="homotopy", or "descent".'
    )


def _closed_form(problem: Problem, certify: bool, progress: bool) -> Chart | None:
    from shallows.questions.charts.closed_form import iid_diagonal
    from shallows.questions.charts.closed_form import rotation_invariant as spectral
    from shallows.questions.charts.closed_form.axial_chart import axial_chart
    from shallows.questions.charts.closed_form.spectrum import spectrum_of

    spectrum = spectrum_of(problem)
    if spectrum is not None:
        return spectral.spectral_chart(problem, spectrum, certify)
    law = iid_diagonal.law_of(problem)
    return (
        axial_chart(problem, certify, progress)
        if law is None
        else iid_diagonal.iid_diagonal_chart(problem, law, certify)
    )


def _by_exclusion(problem: Problem, certify: bool, progress: bool) -> Chart:
    from shallows.questions.charts.exclusion import relu_neuron, smooth_neuron, smooth_setting
    from shallows.questions.charts.exclusion.two_neurons import two_neurons_chart

    if not isinstance(problem.activation, ReLU):
        reason = smooth_setting.why_not(problem)
        if reason:
            raise InvalidProblem(
                "Exclusion is for one neuron against a network of the same activation under centred Gaussian data, or "
                f"two ReLU neurons in the plane; other smooth networks have no complete chart: {reason}. Use "
                'method="descent".'
            )
        return smooth_neuron.smooth_neuron_chart(problem, certify, progress)
    reason = relu_neuron.why_not(problem)
    if reason:
        raise InvalidProblem(
            "Exclusion is for one ReLU neuron, or two in the plane, against a ReLU network under centred Gaussian "
            f'data; other ReLU networks have no complete chart: {reason}. Use method="descent".'
        )
    made = two_neurons_chart if problem.width == 2 else relu_neuron.relu_neuron_chart
    return made(problem, certify, progress)


def _of_outputs(problem: Problem, method: str, certify: bool, seed: int, progress: bool) -> Chart:
    from shallows.questions.charts.outputs.chart import outputs_chart
    from shallows.questions.charts.outputs.linear import linear_chart

    if problem.orthogonality:
        require_quadratic(problem)
    if problem.orthogonality and problem.outer is None:
        return _joined(problem, method, certify, seed, progress)
    one_input = problem.n == 1 and problem.outer is None and not problem.norm_neuron
    if (problem.degree == 1 or one_input) and method in ("auto", "closed-form"):
        require_invisible(problem, problem.gram())
        return linear_chart(problem, certify)
    if problem.outer is not None and (problem.norm_neuron or problem.orthogonality):
        return _fixed_squares(problem, method, certify, seed, progress)
    if problem.outer is not None and problem.degree > 1:
        from shallows.questions.charts.outputs.neurons import neuron_outputs_chart

        require_invisible(problem, problem.gram())
        return neuron_outputs_chart(problem, certify, seed, progress, method)
    if problem.degree == 1 or method == "closed-form" or (method == "exact" and problem.width > 1):
        known = "linear networks have a closed form, " if problem.degree == 1 else ""
        raise InvalidProblem(
            f'method is {method!r}; {known}several outputs go by homotopy, and one neuron by "exact" too. Fix: '
            'method="auto".'
        )
    return outputs_chart(problem, certify, seed, progress, "exact" if method == "exact" else "homotopy")


def _fixed_squares(problem: Problem, method: str, certify: bool, seed: int, progress: bool) -> Chart:
    """Several outputs with fixed weights that are not all parallel, beside norm neurons or under a penalty."""
    from shallows.questions.charts.penalty.fixed_outputs_chart import fixed_outputs_chart

    if method not in ("auto", "homotopy"):
        raise InvalidProblem(
            "Several outputs with fixed outer weights that are not all parallel go by homotopy only; method is "
            f'{method!r}. Fix: method="auto".'
        )
    if problem.orthogonality and problem.constants:
        raise InvalidProblem(
            "Biases, a penalty and fixed outer weights of several outputs: loss and penalty see matrices on (1, x) and "
            "on x, and a neuron with w = 0 whose bias is free is seen by the loss alone: critical points of both kinds "
            'are not those of one family of equations. Fix: bias=False, orthogonality=0, outer="free" at width 1, or '
            'method="descent" (sampled).'
        )
    require_invisible(problem, problem.gram())
    return fixed_outputs_chart(problem, certify, seed, progress)


def _joined(problem: Problem, method: str, certify: bool, seed: int, progress: bool) -> Chart:
    """Several outputs with trained weights and a penalty."""
    from shallows.questions.charts.penalty.joined_chart import joined_chart

    if method not in ("auto", "homotopy"):
        raise InvalidProblem(
            "With an orthogonality penalty and trained outer weights of several outputs critical points are those of "
            f'outputs and WᵀW together, which go by homotopy only; method is {method!r}. Fix: method="auto".'
        )
    inner = partial(chart, certify=certify, rng=seed, progress=progress)
    if problem.bias:
        from shallows.questions.charts.penalty.joined_biased import joined_biased_chart

        return joined_biased_chart(problem, inner)
    require_invisible(problem, problem.gram())
    return joined_chart(problem, inner, certify, seed, progress)


def _require_polynomial(problem: Problem) -> None:
    if not isinstance(problem.activation, Power):
        raise InvalidProblem(
            f'{problem.activation!r} is no polynomial, so the critical points are not algebraic. Use method="descent".'
        )
