"""The papers' figures on the site: all of them are drawn, kept rows are those of the code, phones can read them."""

from __future__ import annotations

import json
import math
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from shallows.uses.papers.experiments.experiment import Plan
from shallows.uses.papers.experiments.library import experiments

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAPERS = ("000", "001", "002", "003")
KEPT = sorted(path.stem for path in (DOCS / "papers" / "experiments").glob("*.json"))


@pytest.fixture(scope="module")
def text() -> Any:
    """docs/_ext/experiments_text.py."""
    sys.path.insert(0, str(DOCS / "_ext"))
    import experiments_text

    yield experiments_text
    sys.path.remove(str(DOCS / "_ext"))


def by_name() -> dict[str, Any]:
    return {experiment.name: experiment for experiment in experiments()}


@pytest.mark.parametrize("paper", PAPERS)
def test_every_experiment_is_drawn_on_its_paper_s_page(paper: str, text: Any) -> None:
    assert f"```{{experiments}} {paper}\n```" in (DOCS / "papers" / f"{paper}.md").read_text(encoding="utf-8")
    page = text.experiments_of(paper)
    sections = page.split("\n### ")[1:]
    assert [section.split("\n")[0] for section in sections] == [e.item for e in experiments(paper)]
    for experiment, section in zip(experiments(paper), sections, strict=True):
        assert "site-figure" in section or "| --- |" in section.split("{folded}")[0], experiment.name
        assert "{.caption}" in section and f"shallows reproduce {experiment.name}" in section


def test_kept_rows_belong_to_experiments() -> None:
    assert KEPT and set(KEPT) <= set(by_name())


@pytest.mark.parametrize("name", KEPT)
def test_kept_comparisons_follow_from_kept_rows(name: str, text: Any) -> None:
    stored = text.stored_result(by_name()[name])
    result = text.result_of(by_name()[name])
    assert result.to_dict()["comparisons"] == stored["comparisons"]
    assert not result.disagreements
    assert stored["cells"] == len(result.experiment.cells(result.plan))


def same(first: Any, second: Any) -> bool:
    """Equal, floats to nine digits."""
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)
    return bool(first == second)


def holds(rows: list[dict[str, Any]], row: dict[str, Any]) -> bool:
    return any(each.keys() == row.keys() and all(same(each[key], row[key]) for key in row) for each in rows)


def recomputed(name: str, text: Any, place: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The kept rows, and those of one cell computed again."""
    experiment, stored = by_name()[name], text.stored_result(by_name()[name])
    cell = experiment.cells(Plan(stored["scale"], stored["seed"]))[place]
    return stored["rows"], experiment.compute(cell)


def test_a_kept_cell_is_computed_again_the_same(text: Any) -> None:
    kept, rows = recomputed("002-figure-2", text, -1)
    assert rows and all(holds(kept, row) for row in rows)
    changed = {**rows[0], "nmse_mean": rows[0]["nmse_mean"] + 1e-6}
    assert not holds(kept, changed)


@pytest.mark.thorough
@pytest.mark.parametrize("name", KEPT)
def test_the_quickest_kept_cell_of_each_is_computed_again_the_same(name: str, text: Any) -> None:
    kept, rows = recomputed(name, text, -1)
    assert rows and all(holds(kept, row) for row in rows)


def test_experiments_with_the_same_cells_share_their_rows(text: Any) -> None:
    named = by_name()
    assert text.stored_result(named["002-figure-3"])["name"] == "002-figure-2"
    assert text.stored_result(named["000-figure-1"]) is None


def test_special_characters_and_options(text: Any) -> None:
    assert text.plain("n* = [1], --data FOLDER or `a_b`") == r"n\* = \[1\], `--data FOLDER` or `a_b`"
    assert text.plain("one ` only, w_1") == r"one ' only, w\_1"


def test_figures_have_the_digits_of_a_screen(text: Any) -> None:
    figure = {"data": [{"type": "scatter", "x": [1, 2], "y": [0.123456789, None]}], "layout": {"height": 300}}
    html = text.pictures.fragment(figure, 'a "name" <here>')
    assert '"y":[0.12345679,null]' in html and '"x":[1,2]' in html
    assert "a &quot;name&quot; &lt;here&gt;" in html and "min-height:300px" in html


def titles_on_a_page(browser: Any, page: Path, width: int) -> list[tuple[float, float]]:
    """Where Chromium puts the titles of the panels."""
    window = browser.new_page(viewport={"width": width, "height": 800})
    window.goto(page.as_uri())
    window.wait_for_selector("g.annotation text")
    boxes = [found.bounding_box() for found in window.query_selector_all("g.annotation text")]
    window.close()
    return [(box["x"], box["y"]) for box in boxes if box]


@pytest.fixture
def three_panels(tmp_path: Path, text: Any) -> Path:
    from plotly.subplots import make_subplots

    figure = make_subplots(
        cols=3, subplot_titles=["first", "second of a longer name", "third"], shared_yaxes=True
    )
    for column in (1, 2, 3):
        figure.add_scatter(x=[0, 1], y=[0, 1], row=1, col=column)
    text.pictures.copy_library(tmp_path)
    for name in ("panels.js", "figures.js"):
        shutil.copy(DOCS / "_static" / name, tmp_path)
    scripts = '<script defer src="panels.js"></script><script defer src="figures.js"></script>'
    body = f"<body>{text.pictures.fragment(figure.to_dict())}</body>"
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><meta charset=utf-8>{scripts}{body}", encoding="utf-8")
    return page


@pytest.mark.parametrize(("width", "rows"), [(1280, 1), (390, 3)])
def test_panels_stand_below_each_other_on_a_phone(
    width: int, rows: int, three_panels: Path, browser: Any
) -> None:
    places = titles_on_a_page(browser, three_panels, width)
    assert len(places) == 3
    assert len({round(y / 40) for _, y in places}) == rows


def test_the_paper_pages_name_the_figures_that_are_sketches() -> None:
    """Figures that are no computation are named and linked: 002 has 1(b), D.6 and G.7, 003 has 3."""
    for paper, sketches in (("002", ("1(b)", "D.6", "G.7")), ("003", ("Figure 3",))):
        page = (DOCS / "papers" / f"{paper}.md").read_text(encoding="utf-8")
        assert all(sketch in page for sketch in sketches), paper


def test_kept_documents_have_no_place_of_a_machine() -> None:
    for name in KEPT:
        stored = json.loads((DOCS / "papers" / "experiments" / f"{name}.json").read_text(encoding="utf-8"))
        assert not [path for path in stored["files"] if Path(path).is_absolute()], name
