"""`shallows fit`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from shallows.support.errors import InvalidProblem
from shallows.uses.commands._common import Json, Output, Quiet, Seed
from shallows.uses.commands.destinations import as_document, destinations

EXAMPLES = (
    "shallows fit data.csv --target y",
    "shallows fit data.csv --target y --width 2 --out fit.html",
    "shallows fit data.csv --target y --out results",
)
FILES = {".html": "report.html", ".json": "fit.json"}


def fit(
    file: Annotated[Path, typer.Argument(help="A CSV file with a header line.")],
    target: Annotated[str, typer.Option(help="The column to predict; several separated by commas.")],
    width: Annotated[
        str | None, typer.Option(help="Neurons an output, or auto; all that are useful if omitted.")
    ] = None,
    alpha: Annotated[
        str,
        typer.Option(
            help="Ridge penalty: a number, auto (generalised cross-validation) or loo (leave one out)."
        ),
    ] = "auto",
    affine: Annotated[
        bool, typer.Option(help="Linear and constant terms through a homogenising coordinate.")
    ] = True,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "--report",
            help="X.html: write the report; X.json: the fit; a folder: both. "
            "If omitted, the report goes to FILE with .fit.html.",
        ),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fit a quadratic network to a table by global least squares: fit, certificate and filters, and a report."""
    import warnings

    from rich.console import Console

    from shallows.questions.learn.estimators.quadratic_regressor import QuadraticNetRegressor
    from shallows.uses.report.fit import fit_document, load_table, show_fit, write_report

    output = Output(json, quiet)
    places = destinations(file.with_suffix(".fit.html") if out is None else out, FILES)
    X, y = load_table(file, target)
    neurons, penalty = (
        _setting("--width", width, ("auto",), int),
        _setting("--alpha", alpha, ("auto", "loo"), float),
    )
    model = QuadraticNetRegressor(neurons, alpha=penalty, affine=affine, random_state=seed)
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        with output.working(f"fitting {len(X):,} rows"):
            model.fit(X, y)
    notes = [str(warning.message) for warning in noted]
    document = fit_document(model, X, y, notes)
    output.document(document)
    if not (json or quiet):
        console = Console()
        show_fit(console, model, X, y, notes)
    page = partial(write_report, model=model, X=X, y=y, notes=notes)
    output.write(places, {".json": as_document(document), ".html": page})


def _setting(name: str, text: str | None, words: tuple[str, ...], kind: type[int] | type[float]) -> Any:
    """A number, or one of some words."""
    if text is None or text in words:
        return text
    try:
        return kind(text)
    except ValueError:
        raise InvalidProblem(f"{name} is {text!r}; expected a number or {' or '.join(words)}.") from None
