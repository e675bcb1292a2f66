"""A fit for the terminal, as JSON, and as one self-contained HTML page."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shallows.support.checks import Array, counted
from shallows.support.errors import InvalidProblem
from shallows.support.extras import needed
from shallows.support.theme import CYCLE, INK, styled

if TYPE_CHECKING:
    from rich.console import Console

    from shallows.questions.learn.estimators.quadratic_regressor import QuadraticNetRegressor

SHOWN_NEURONS, SHOWN_COLUMNS = 12, 4
#: One row determines nothing, and leaves no variance for R².
LEAST_ROWS = 2


def load_table(path: Path, target: str) -> tuple[Any, Any]:
    """The inputs and targets of a CSV file with a header, as data frames; every column but the targets is an input."""
    with needed("pandas", "learn"):
        import pandas
    try:
        table = pandas.read_csv(path)
        with path.open(encoding="utf-8-sig", newline="") as stream:
            header = next(csv.reader(stream))
    except (OSError, ValueError) as error:
        raise InvalidProblem(f"Cannot read {path} as CSV: {error}") from None
    if len(set(header)) < len(header) or not isinstance(table.index, pandas.RangeIndex):
        raise InvalidProblem(
            f"{path}: its header has {counted(len(header), 'name')}, {', '.join(header)}; expected a different one for "
            "each of its columns."
        )
    _require_numbers(path, table)
    names = [name.strip() for name in target.split(",")]
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise InvalidProblem(
            f"{path} has no column {', '.join(missing)}; its columns are {', '.join(map(str, table.columns))}."
        )
    if len(names) == len(table.columns):
        raise InvalidProblem(f"{path} has no input columns beside the target {', '.join(names)}.")
    chosen = table[names[0]] if len(names) == 1 else table[names]
    return table.drop(columns=names), chosen


def _require_numbers(path: Path, table: Any) -> None:
    """Refuse a table that nothing can be fitted to, with the line and the column of what is wrong."""
    if len(table) < LEAST_ROWS:
        raise InvalidProblem(
            f"{path} has {counted(len(table), 'row')} of data; expected at least {LEAST_ROWS}."
        )
    for name in table.columns:
        column = table[name]
        if column.dtype.kind not in "biuf":
            raise InvalidProblem(
                f"{path}: the column {name} holds {column.dtype}; expected numbers in every row."
            )
        bad = np.flatnonzero(~np.isfinite(column.to_numpy(dtype=np.float64)))
        if len(bad):
            raise InvalidProblem(
                f"{path}: line {bad[0] + 2} has no finite number in the column {name} ({len(bad)} such lines). Fix: "
                "remove or fill them."
            )


def summary(model: QuadraticNetRegressor, X: Any, y: Any) -> dict[str, Any]:
    """What was fitted and how well, as plain numbers."""
    certificate = model.certificate_
    return {
        "samples": len(X),
        "columns": model.n_features_in_,
        "width": model.width_,
        "r2": float(model.score(X, y)),
        "loss": certificate.loss,
        "lower_bound": certificate.lower_bound,
        "optimality_gap": None if math.isnan(certificate.gap) else certificate.gap,
        "proved": certificate.proved,
        "reason": certificate.reason,
        "undetermined_directions": 0 if model.undetermined_ is None else model.undetermined_.dimension,
        "method": model.method_,
    }


def neuron_rows(model: QuadraticNetRegressor) -> list[dict[str, Any]]:
    """One entry a neuron: output, eigenvalue, offset and its direction in the named columns."""
    names = model._column_names()
    outputs = model.eigenvalues_.ndim == 2
    values = np.atleast_2d(model.eigenvalues_)
    filters = model.filters_ if outputs else model.filters_[None]
    offsets = np.atleast_2d(model.offsets_)
    return [
        {
            "output": m + 1,
            "eigenvalue": float(values[m, i]),
            "offset": float(offsets[m, i]),
            "filter": dict(zip(names, filters[m, i].tolist(), strict=True)),
        }
        for m in range(len(values))
        for i in range(values.shape[1])
    ]


def fit_document(model: QuadraticNetRegressor, X: Any, y: Any, notes: list[str]) -> dict[str, Any]:
    """Summary, neurons and notes as one document."""
    return {**summary(model, X, y), "neurons": neuron_rows(model), "notes": notes}


def show_fit(console: Console, model: QuadraticNetRegressor, X: Any, y: Any, notes: list[str]) -> None:
    """Fit, certificate and filters in the terminal."""
    from rich.table import Table

    for heading, rows in (("Fit", _fit_rows(model, X, y)), ("Certificate", _certificate_rows(model))):
        table = Table(title=heading, title_justify="left", show_header=False)
        for row in rows:
            table.add_row(*row)
        console.print(table)
    table = Table(title="Filters", title_justify="left")
    table.add_column("output", justify="right")
    table.add_column("eigenvalue", justify="right")
    table.add_column("direction (largest columns)")
    table.add_column("constant", justify="right")
    neurons = _neuron_cells(model)
    for cells in neurons[:SHOWN_NEURONS]:
        table.add_row(*cells)
    if len(neurons) > SHOWN_NEURONS:
        table.caption = f"and {len(neurons) - SHOWN_NEURONS} more; the report has them all"
    console.print(table)
    for note in notes:
        console.print(f"Note: {note}", highlight=False)


def _fit_rows(model: QuadraticNetRegressor, X: Any, y: Any) -> list[tuple[str, str]]:
    facts = summary(model, X, y)
    return [
        ("samples × columns", f"{facts['samples']:,} × {facts['columns']}"),
        ("neurons an output", str(facts["width"])),
        ("R² on this data", f"{facts['r2']:.6f}"),
        ("mean square error", f"{facts['loss']:.8g}"),
        ("solved by", str(facts["method"])),
        ("undetermined directions", str(facts["undetermined_directions"])),
    ]


def _certificate_rows(model: QuadraticNetRegressor) -> list[tuple[str, str]]:
    certificate = model.certificate_
    estimated = "" if certificate.proved or not certificate.lower_bound else " (an estimate)"
    return [
        ("no network of this width is below", f"{certificate.lower_bound:.8g}{estimated}"),
        ("gap", "not known" if math.isnan(certificate.gap) else f"{certificate.gap:.3g}{estimated}"),
        ("proved", "yes" if certificate.proved else "no"),
        ("how", certificate.reason),
    ]


def _neuron_cells(model: QuadraticNetRegressor) -> list[tuple[str, ...]]:
    return [
        (str(row["output"]), f"{row['eigenvalue']:.6g}", _direction(row["filter"]), f"{row['offset']:.3g}")
        for row in neuron_rows(model)
    ]


def _direction(filters: dict[str, float]) -> str:
    largest = sorted(filters.items(), key=lambda item: -abs(item[1]))[:SHOWN_COLUMNS]
    return "  ".join(f"{value:+.3f} {name}" for name, value in largest)


def write_report(path: Path, model: QuadraticNetRegressor, X: Any, y: Any, notes: list[str]) -> None:
    """One HTML page with the tables and two pictures: eigenvalues, and predictions against targets."""
    from shallows.uses.report.page import Cell, Picture, Section, render

    def cell(text: str, numeric: bool) -> Cell:
        return Cell(text, float(text) if numeric else text, numeric)

    numeric = (True, True, False, True)
    section = Section(
        title=TITLE,
        tiles=[(value, label) for label, value in _fit_rows(model, X, y)],
        sentences=[f"{label[0].upper()}{label[1:]}: {value}." for label, value in _certificate_rows(model)],
        notes=notes,
        pictures=[
            Picture("Eigenvalues", _eigenvalue_figure(model), EIGENVALUES),
            Picture("Prediction against target", _prediction_figure(model, X, y), PREDICTIONS),
        ],
        table=(
            ("output", "eigenvalue", "direction (largest columns)", "constant"),
            [[cell(*each) for each in zip(row, numeric, strict=True)] for row in _neuron_cells(model)],
        ),
        table_caption="Filters: a neuron a row. Click a heading to sort.",
    )
    path.write_text(render(TITLE, LEAD, [section]), encoding="utf-8")


TITLE = "Quadratic network fit"
LEAD = "A network with quadratic neurons, fitted to a table by global least squares, with what is proved about the fit."
EIGENVALUES = "How strongly each neuron counts, and with which sign."
PREDICTIONS = "A dot a row of the table; on the line a prediction is its target."


def _eigenvalue_figure(model: QuadraticNetRegressor) -> Any:
    import plotly.graph_objects as go

    figure = go.Figure()
    outputs = np.atleast_2d(model.eigenvalues_)
    for m, values in enumerate(outputs):
        colour = CYCLE[m % len(CYCLE)]
        figure.add_bar(
            x=np.arange(1, len(values) + 1), y=values, name=f"output {m + 1}", marker={"color": colour}
        )
    styled(figure, legend=len(outputs) > 1)
    figure.update_xaxes(title_text="neuron")
    figure.update_yaxes(title_text="eigenvalue", zeroline=True)
    return figure


def _prediction_figure(model: QuadraticNetRegressor, X: Any, y: Any, most: int = 2000) -> Any:
    import plotly.graph_objects as go

    rows: Any = np.linspace(0, len(X) - 1, min(len(X), most)).astype(int)
    predicted = _columns(model.predict(X))[rows]
    targets = _columns(y)[rows]
    figure = go.Figure()
    ends = [float(targets.min()), float(targets.max())]
    figure.add_scatter(
        x=ends, y=ends, mode="lines", line={"width": 1}, meta=INK, showlegend=False, hoverinfo="skip"
    )
    for m in range(targets.shape[1]):
        figure.add_scatter(
            x=targets[:, m], y=predicted[:, m], mode="markers", name=f"output {m + 1}",
            marker={"size": 5, "color": CYCLE[m % len(CYCLE)], "opacity": 0.6},
        )  # fmt: skip
    styled(figure, legend=targets.shape[1] > 1)
    figure.update_xaxes(title_text="target")
    figure.update_yaxes(title_text="prediction")
    return figure


def _columns(values: Any) -> Array:
    array = np.asarray(values, dtype=np.float64)
    return array[:, None] if array.ndim == 1 else array
