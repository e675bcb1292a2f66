"""`shallows fit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def fit(
    file: Annotated[Path, typer.Argument(help="A CSV file with a header line.")],
    target: Annotated[str, typer.Option(help="The column to predict; several separated by commas.")],
    width: Annotated[
        int | None, typer.Option(help="Neurons an output; all that are useful if omitted.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Ridge penalty.")] = 0.0,
    affine: Annotated[
        bool, typer.Option(help="Linear and constant terms through a homogenising coordinate.")
    ] = True,
    seed: Annotated[int, typer.Option(help="Seed of random starts (only below full width).")] = 0,
    report: Annotated[
        Path | None,
        typer.Option(help="The HTML report to write; FILE with .fit.html if omitted."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the fit as JSON instead of tables.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Fit a quadratic network to a table by global least squares: fit, certificate and filters, and a report.

    Examples:  shallows fit data.csv --target y   |   shallows fit data.csv --target y --width 2
    """
    import warnings

    from rich.console import Console

    from shallows.learn import QuadraticNetRegressor
    from shallows.learn.report import fit_json, load_table, show_fit, write_report

    X, y = load_table(file, target)
    model = QuadraticNetRegressor(width, alpha=alpha, affine=affine, random_state=seed)
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        model.fit(X, y)
    notes = [str(warning.message) for warning in noted]
    path = report if report is not None else file.with_suffix(".fit.html")
    write_report(path, model, X, y, notes)
    if json:
        typer.echo(fit_json(model, X, y, notes))
    elif not quiet:
        console = Console()
        show_fit(console, model, X, y, notes)
        console.print(f"Report: {path}", highlight=False)
