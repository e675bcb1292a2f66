"""A problem in words and numbers, for the terminal."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table

from shallows._checks import Array
from shallows.activations import Power
from shallows.geometry.widths import regime
from shallows.problem import Problem
from shallows.problem_file import embedded_problem


def describe_problem(title: str, problem: Problem) -> None:
    """Print a problem's function space and the losses of its simplest students."""
    console = Console()
    console.print(f"[bold]{title}[/bold]")
    console.print(f"  {problem!r}", highlight=False)
    _print_regime(console, problem)
    console.print(_loss_table({title: problem}))


def describe_embedded() -> None:
    """The embedded example: one student and teacher under two distributions, side by side."""
    problems = dict(embedded_problem(name) for name in ("gaussian", "heavy-tailed"))
    console = Console()
    for title, problem in problems.items():
        console.print(f"[bold]{title}[/bold]")
        console.print(f"  {problem!r}", highlight=False)
    _print_regime(console, next(iter(problems.values())))
    console.print(_loss_table(problems))


def _print_regime(console: Console, problem: Problem) -> None:
    if not isinstance(problem.activation, Power):
        console.print(f"  function space: infinite-dimensional ({problem.activation!r})")
        return
    place = regime(problem.degree, problem.n, problem.width)
    low, high = place.filling
    filling = str(low) if low == high else f"between {low} and {high}"
    console.print(
        f"  function space: width {problem.width} is {place.name}; dimension {place.dimension} of {place.ambient} "
        f"(thick from width {place.thick}, filling from {filling})",
        highlight=False,
    )


def _loss_table(problems: dict[str, Problem]) -> Table:
    """The loss E(f − y)² of students with one neuron along a coordinate axis and the best outer weight there."""
    table = Table(title="Exact losses E(f − y)²", title_justify="left")
    table.add_column("student")
    for title in problems:
        table.add_column(title, justify="right")
    n = min(problem.n for problem in problems.values())
    rows = [("zero network", [_loss_along(problem, np.zeros(problem.n)) for problem in problems.values()])]
    for i in range(min(n, 8)):
        values = [_loss_along(problem, np.eye(problem.n)[i]) for problem in problems.values()]
        rows.append((f"best multiple of σ(x{i + 1})", values))
    for name, values in rows:
        table.add_row(name, *(f"{value:.6g}" for value in values))
    return table


def _loss_along(problem: Problem, direction: Array) -> float:
    """min over a of L at one neuron along `direction`: L is a parabola in a, so three values determine it."""
    U = direction[None, :]

    def loss(a: float) -> float:
        return float(problem.objective.value(U, np.full((problem.outputs, 1), a)))

    low, middle, high = loss(-1.0), loss(0.0), loss(1.0)
    curvature, slope = (low + high) / 2 - middle, (high - low) / 2
    return middle - slope**2 / (4 * curvature) if curvature > 0 else middle
