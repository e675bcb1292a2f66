"""`shallows ensemble`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def ensemble(
    file: Annotated[Path, typer.Argument(help="A problem file (TOML).")],
    runs: Annotated[int, typer.Option(help="How many starts.")] = 500,
    method: Annotated[str, typer.Option(help="gd, perturbed, sgd, adam, flow, lbfgs, newton or lm.")] = "gd",
    init: Annotated[str, typer.Option(help="xavier, normal, large, orthogonal or barrier.")] = "xavier",
    step: Annotated[float | None, typer.Option(help="A fixed step; chosen automatically if omitted.")] = None,
    tolerance: Annotated[float | None, typer.Option(help="On the gradient norm; 1e-12 by default.")] = None,
    seed: Annotated[int, typer.Option(help="The seed of the starts.")] = 0,
    cores: Annotated[int | None, typer.Option(help="Threads; all cores if omitted.")] = None,
    chart: Annotated[bool, typer.Option(help="Chart the problem too and match the end points.")] = False,
    save: Annotated[Path | None, typer.Option(help="Write the runs to SAVE.npz and SAVE.json.")] = None,
) -> None:
    """Train a problem's network from many starts and show where the runs end.

    Ctrl-C stops early and shows (and saves) what has finished.

    Examples:  shallows ensemble examples/relu.toml --runs 1000   |   shallows ensemble examples/gaussian.toml --chart
    """
    from rich.console import Console

    from shallows.descent import ensemble as train
    from shallows.descent.live import LiveTable
    from shallows.problem_file import load_problem

    problem = load_problem(file)
    known = None
    if chart:
        from shallows.critical import chart as make_chart

        known = make_chart(problem)
    console = Console(width=None if sys.stdout.isatty() else 120)
    with LiveTable() as live:
        result = train(
            problem, runs, method, init, step, tolerance, seed, chart=known, cores=cores, watch=live.watch
        )
    console.print(result.table())
    ended = ", ".join(f"{count} {name}" for name, count in result.counts().items())
    console.print(f"{len(result)} of {result.requested} runs in {result.seconds:.1f} s: {ended}.")
    console.print(f"{result.share_of_global:.1%} at the lowest loss, {result.global_loss:.8g}.")
    if result.note:
        console.print(result.note)
    if save is not None:
        console.print(f"Saved {result.save(save)} and its .json.")
