"""From charts and ensembles to the page: `chart_report`, `charts_report`, `ensemble_report`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from shallows.model.problem import Problem
from shallows.model.problem_title import problem_title
from shallows.questions.charts.result import Chart
from shallows.questions.descent.results.ensemble import Ensemble
from shallows.support.checks import counted, noun_for, positive_integer
from shallows.support.errors import InvalidProblem
from shallows.uses.landscape.picture import landscape
from shallows.uses.report import drawings, figures, words
from shallows.uses.report.connections import connection_pictures
from shallows.uses.report.entries import Entry, chart_entries, listed_kind, minima_entries, shares_of
from shallows.uses.report.mathematics import problem_html
from shallows.uses.report.page import Cell, Picture, Section, render, write
from shallows.uses.report.recipe import NoRecipe, python_of, toml_of
from shallows.uses.report.training import Training, Way, same_problem, train_runs, with_ways

RUNS = 200
#: Training runs that roll over the landscape of a chart.
DRAWN_RUNS = 24
LARGEST_TABLE = 2_000
#: Where indices are counted. Runs of training have theirs in the parameters, and are drawn only among such.
ON_STRATUM, IN_PARAMETERS = "the rank stratum", "the parameters"
CHART_LEAD = (
    "Every critical point of a loss that the methods of this chart find: its loss, its curvature, what is proved about "
    "it, and where training ends up."
)
RUNS_LEAD = (
    "Where training ends from many starts: the distinct end points, how often, how deep and how curved."
)


def chart_report(
    chart: Chart, path: str | Path, *, runs: Ensemble | None = None, train: int = RUNS, title: str = ""
) -> Path:
    """Write the report of a chart to `path`; returns the path.

    `runs`: an ensemble of the same problem to show; without one, `train` runs of gradient descent are made (0: none),
    with the chart's seed.
    """
    return charts_report([(title, chart)], path, runs=[runs], train=train)


def charts_report(
    charts: Sequence[tuple[str, Chart]],
    path: str | Path,
    *,
    runs: Sequence[Ensemble | None] | None = None,
    train: int = RUNS,
) -> Path:
    """One report of several charts, one after the other."""
    return write(path, charts_html(charts, runs=runs, train=train))


def charts_html(
    charts: Sequence[tuple[str, Chart]],
    *,
    runs: Sequence[Ensemble | None] | None = None,
    train: int = RUNS,
) -> str:
    """The page of `charts_report` as text."""
    positive_integer("train", train, 0)
    given = list(runs) if runs is not None else [None] * len(charts)
    if not charts or len(given) != len(charts):
        raise InvalidProblem(
            f"{len(charts)} charts and {len(given)} ensembles; expected as many, and at least one."
        )
    for (_, chart), known in zip(charts, given, strict=True):
        _check(chart, known)
    sections = [
        _chart_section(name, chart, _training(chart, known, train))
        for (name, chart), known in zip(charts, given, strict=True)
    ]
    heading = sections[0].title if len(sections) == 1 else "Loss landscapes side by side"
    return render(heading, CHART_LEAD, sections)


def ensemble_report(runs: Ensemble, path: str | Path) -> Path:
    """Write the report of an ensemble to `path`; with `runs.chart`, it is that chart's report with these runs."""
    if not isinstance(runs, Ensemble):
        raise InvalidProblem(f"runs is {type(runs).__name__}; expected the result of ensemble(problem).")
    if runs.chart is not None:
        return chart_report(runs.chart, path, runs=runs)
    return write(path, ensemble_html(runs))


def ensemble_html(runs: Ensemble, *, title: str = "") -> str:
    """The page of an ensemble without a chart, as text."""
    runs_of = f"{counted(len(runs), 'training run')}: {_lowered(problem_title(runs.problem))}"
    section = _ensemble_section(title or runs_of, runs)
    return render(section.title, RUNS_LEAD, [section])


def _lowered(title: str) -> str:
    return title[:1].lower() + title[1:]


def _check(chart: Chart, runs: Ensemble | None) -> None:
    if not isinstance(chart, Chart):
        raise InvalidProblem(
            f"chart is {type(chart).__name__}; expected the result of shallows.chart(problem)."
        )
    if runs is not None and not same_problem(chart, runs):
        raise InvalidProblem(
            f"The runs are of {runs.problem!r}, the chart is of {chart.problem!r}. Fix: runs of the chart's problem."
        )


def _training(chart: Chart, runs: Ensemble | None, count: int) -> Training:
    if runs is not None:
        return with_ways(runs)
    if not count:
        return Training(None)
    if chart.problem is None:
        return Training(
            None,
            (),
            "The chart is from an earlier version and has no problem: load_chart(path, problem=...).",
        )
    return train_runs(chart.problem, count, chart.seed)


def _chart_section(title: str, chart: Chart, training: Training) -> Section:
    shares, elsewhere = (None, 0.0) if training.runs is None else shares_of(chart, training.runs)
    entries = chart_entries(chart, shares)
    problem = chart.problem
    sentences = [] if problem is None else [words.regime_sentence(problem)]
    sentences += words.chart_sentences(chart, entries)
    if training.runs is not None:
        sentences += words.training_sentences(training.runs, entries, elsewhere)
    if training.failure:
        sentences.append(f"No training is shown. {training.failure}")
    return Section(
        title=title or _title(chart),
        tiles=_chart_tiles(chart, entries, training),
        mathematics="" if problem is None else problem_html(problem),
        sentences=sentences,
        notes=[
            *chart.notes,
            *(f"rank {r}: expected count from {s}" for r, s in chart.expected_source.items() if s),
        ],
        table=_table(entries),
        left_out=max(0, len(entries) - LARGEST_TABLE),
        table_caption="Index and signature (positive, zero, negative) are on the point’s rank stratum in function "
        "space; λ min is the smallest eigenvalue of the Hessian in the parameters. Click a heading to sort.",
        pictures=[
            *_pictures(entries, training, problem, ON_STRATUM),
            *connection_pictures(chart, shares),
        ],
        python=_recipe(problem, f"chart = sh.chart(problem, rng={chart.seed})\nprint(chart)", python_of),
        toml=_recipe(problem, title, toml_of),
        landscape=landscape(chart, DRAWN_RUNS if training.runs is not None else 0),
        provenance=[
            ("method", chart.method),
            ("completeness", chart.completeness),
            ("seed", str(chart.seed)),
        ],
    )


def _title(chart: Chart) -> str:
    """What a chart without a name is called: its problem in words, where its title is that problem as code."""
    own = chart.title if chart.problem is None or chart.title != repr(chart.problem) else ""
    return own or ("Chart" if chart.problem is None else problem_title(chart.problem))


def _ensemble_section(title: str, runs: Ensemble) -> Section:
    training = with_ways(runs)
    entries = minima_entries(runs.minima)
    call = f"runs = sh.ensemble(problem, runs={runs.requested}, method={runs.method!r}, rng={runs.seed})\nprint(runs)"
    return Section(
        title=title,
        tiles=_training_tiles(runs, entries),
        mathematics=problem_html(runs.problem),
        sentences=[words.regime_sentence(runs.problem), *words.training_sentences(runs, entries, 0.0)],
        notes=[runs.note] if runs.note else [],
        table=_table(entries),
        left_out=max(0, len(entries) - LARGEST_TABLE),
        table_caption="Distinct end points up to symmetry. Index and signature (positive, zero, negative) are of the "
        "Hessian in the parameters. Click a heading to sort.",
        pictures=_pictures(entries, training, runs.problem, IN_PARAMETERS),
        python=_recipe(runs.problem, call, python_of),
        toml=_recipe(runs.problem, title, toml_of),
        provenance=[
            ("method", runs.method),
            ("step", "line search" if runs.step is None else f"{runs.step:g}"),
            ("tolerance", f"{runs.tolerance:g}"),
            ("seed", runs.seed),
            ("seconds", f"{runs.seconds:.1f}"),
        ],
    )


def _recipe(problem: Problem | None, text: str, make: Callable[[Problem, str], str]) -> str:
    """Code or a problem file; a sentence in its place when the problem cannot be written down."""
    if problem is None:
        return "# The chart was loaded without its problem."
    try:
        return make(problem, text)
    except NoRecipe as reason:
        return f"# This problem cannot be written down: {reason}."


def _chart_tiles(chart: Chart, entries: Sequence[Entry], training: Training) -> list[tuple[str, str]]:
    minima = sum("minimum" in entry.kind for entry in entries)
    certified = sum(entry.proof == "point and signature" for entry in entries)
    tiles = [
        (
            str(len(entries)),
            "critical points and families"
            if chart.families
            else noun_for(len(entries), "real critical point"),
        ),
        (str(minima), noun_for(minima, "minimum")),
        (f"{certified}/{len(entries)}", "certified"),
        (chart.completeness, "completeness"),
    ]
    if training.runs is not None:
        reached = sum(entry.share or 0.0 for entry in entries if entry.kind == "global minimum")
        tiles.append((words.percent(reached), "of runs reach a global minimum"))
    return tiles


def _training_tiles(runs: Ensemble, entries: Sequence[Entry]) -> list[tuple[str, str]]:
    return [
        (f"{len(runs):,}", noun_for(len(runs), "run")),
        (str(len(entries)), noun_for(len(entries), "distinct end point")),
        (words.percent(runs.share_of_global), "of runs reach the lowest loss"),
        (f"{runs.global_loss:.5g}", "lowest loss"),
    ]


def _table(entries: Sequence[Entry]) -> tuple[list[str], list[list[Cell]]]:
    """Headings and rows; a column that no entry fills is left out."""
    shown = entries[:LARGEST_TABLE]
    columns: list[tuple[str, list[Cell]]] = [
        ("#", [Cell(str(e.number), e.number) for e in shown]),
        ("loss", [Cell(f"{e.loss:.8g}", e.loss) for e in shown]),
        ("rank", [_number(e.rank) for e in shown]),
        ("index", [_number(e.index) for e in shown]),
        ("signature", [_signature(e) for e in shown]),
        ("kind", [Cell(listed_kind(e), e.kind, numeric=False) for e in shown]),
        ("proved", [Cell(e.proof, e.proof, numeric=False) for e in shown]),
        ("λ min", [_number(None if e.eigenvalues is None else float(e.eigenvalues[0])) for e in shown]),
        ("runs", [Cell("" if not e.share else words.percent(e.share), e.share or 0.0) for e in shown]),
    ]
    kept = [(heading, cells) for heading, cells in columns if any(cell.text for cell in cells)]
    return [heading for heading, _ in kept], [list(row) for row in zip(*(c for _, c in kept), strict=True)]


def _number(value: float | None) -> Cell:
    return Cell("", float("-inf")) if value is None else Cell(f"{value:.4g}", value)


def _signature(entry: Entry) -> Cell:
    if entry.signature is None:
        return Cell("", "", numeric=False)
    return Cell("({}, {}, {})".format(*entry.signature), entry.signature[2])


def _pictures(
    entries: Sequence[Entry], training: Training, problem: Problem | None, place: str
) -> list[Picture]:
    ways = training.ways if place == IN_PARAMETERS else ()
    scale = 0.0 if training.runs is None else training.runs.scale
    pictures = [
        Picture(
            "The landscape",
            figures.landscape(entries, ways, place, scale),
            _landscape_caption(entries, ways, training.runs is not None),
        )
    ]
    if training.runs is not None:
        if training.ways:
            pictures.append(
                Picture(
                    "The way of training",
                    figures.ways_figure(training.ways, entries),
                    f"The loss along {counted(len(training.ways), 'run')} of gradient descent. Dotted lines are the "
                    "losses of critical points: a plateau on one is a run that lingers near a saddle.",
                )
            )
        if any(entry.share for entry in entries):
            pictures.append(
                Picture(
                    "Where runs end",
                    figures.shares_figure(entries, len(training.runs)),
                    f"The share of {counted(len(training.runs), 'run')} at each end point, with binomial standard "
                    "errors; the colour is the kind of the point.",
                )
            )
    if any(entry.eigenvalues is not None for entry in entries):
        pictures.append(
            Picture(
                "Curvature",
                figures.eigenvalues_figure(entries),
                "The smallest eigenvalues of the Hessian in the parameters, a column a point. A negative one is a way "
                "down; flat directions are symmetries that leave the function as it is, or idle neurons.",
            )
        )
    drawn = None if problem is None else drawings.drawing(problem, entries)
    if drawn is not None:
        pictures.append(Picture("Teacher and students", *drawn))
    return pictures


def _landscape_caption(entries: Sequence[Entry], ways: Sequence[Way], trained: bool) -> str:
    text = "Every point by its index and loss; minima are at index 0, and the higher the index, the more ways down."
    if any(entry.lower for entry in entries):
        text += (
            " Hollow diamonds have a lower rank than the width: their index counts only directions that keep the rank, "
            "and a further neuron leads down from each, also at index 0."
        )
    if any(len(way.indices) for way in ways):
        text += (
            " Grey lines are training runs: their loss against the number of negative Hessian eigenvalues in the "
            "parameters on the way."
        )
    return f"{text} Rings mark where runs end, with their share." if trained else text
