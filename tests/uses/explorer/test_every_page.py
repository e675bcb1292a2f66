"""Every page that the library writes, in a real browser: nothing offers to send a figure anywhere or asks for anything
from elsewhere; on a phone nothing is wider than the screen, no toolbar covers a legend, and pictures have captions."""

import base64
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from shallows.uses.commands.cli import app
from shallows.uses.explorer.views import NAMES

DOCS = Path(__file__).resolve().parents[3] / "docs"
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
PROBLEM = (
    "width = 1\n[target]\nmatrix = [[2, 0, 0], [0, 1.5, 0], [0, 0, 1]]\n[data]\n"
    'law = "iid"\nn = 3\nmoments = [1, 0, 1, 0, 30]\n'
)

#: Buttons of all toolbars; what a figure would be sent to; legends that a visible toolbar touches.
TOOLS = """() => {
  const plots = [...document.querySelectorAll(".js-plotly-plot")];
  const bars = plots.map((plot) => plot.querySelector(".modebar")).filter((bar) => bar && bar.checkVisibility());
  const over = (a, b) => a.width * b.width > 0 && a.left < b.right && b.left < a.right
    && a.top < b.bottom && b.top < a.bottom;
  const covered = plots.filter((plot) => {
    const bar = plot.querySelector(".modebar"), legend = plot.querySelector(".legend");
    return bar && legend && bar.checkVisibility() && over(bar.getBoundingClientRect(), legend.getBoundingClientRect());
  });
  return { plots: plots.length, bars: bars.length, covered: covered.length,
    buttons: plots.flatMap((plot) => [...plot.querySelectorAll(".modebar-btn")].map((button) => button.dataset.title)),
    servers: plots.map((plot) => plot._context.plotlyServerURL), wide: document.documentElement.scrollWidth };
}"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page of every kind, by the command that writes it."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "p.toml").write_text(PROBLEM, encoding="utf-8")
    x = np.linspace(-1, 1, 30)
    rows = "\n".join(f"{a:.6f},{b:.6f},{a * b:.6f}" for a, b in zip(x, np.cos(3 * x), strict=True))
    (folder / "d.csv").write_text(f"a,b,y\n{rows}\n", encoding="utf-8")
    np.savez(folder / "w.npz", W=[[1.0, 0.2, 0.1]], a=[1.5])
    file, table = str(folder / "p.toml"), str(folder / "d.csv")
    commands = {
        "chart": ["chart", file, "--train", "12"],
        "ensemble": ["ensemble", file, "--runs", "12"],
        "connections": ["connections", file],
        "discriminant": [
            "discriminant",
            "rank-one",
            "--metric",
            "laplace",
            "--trials",
            "0",
            "--resolution",
            "61",
        ],
        "fit": ["fit", table, "--target", "y"],
        "verify": ["verify", "--claim", "000/eq-16", "--jobs", "1"],
        "explore": ["explore", "--view", "ellipse"],
        "diagnose": ["diagnose", file, str(folder / "w.npz")],
    }

    @cache
    def page_of(name):
        path = folder / f"{name}.html"
        result = CliRunner().invoke(app, [*commands[name], "--out", str(path), "--quiet"])
        assert result.exit_code == 0, (name, result.output, result.exception)
        return path

    return page_of


def tools(page, name, drawn=True):
    """What the page has, once its figures are drawn."""
    if drawn:
        page.wait_for_function(
            "() => { const all = document.querySelectorAll('.plot, .site-figure'); "
            "return all.length && [...all].every((plot) => plot._fullLayout); }"
        )
    found = page.evaluate(TOOLS)
    assert found["plots"] or name == "verify"
    assert not any(url for url in found["servers"]), found
    assert not [b for b in found["buttons"] if b and ("Share" in b or "loud" in b or "Edit" in b)], found
    return found


QUICK = ("chart",)
KINDS = ("discriminant", "ensemble", "connections", "fit", "verify", "explore", "diagnose")


@pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(name, marks=pytest.mark.thorough) for name in KINDS)]
)
def test_a_page_sends_nothing_and_fits_a_phone(name, pages, watched):
    text = pages(name).read_text(encoding="utf-8")
    assert pages(name).stat().st_size < 6_000_000
    assert 'name="viewport"' in text and "prefers-color-scheme: dark" in text
    with watched(pages(name).as_uri()) as page:
        page.locator("html[data-ready=true]").wait_for(state="attached")
        assert tools(page, name, name != "verify")["wide"] <= DESKTOP["width"]
        captions = page.locator("figcaption").all_inner_texts()
        assert len(captions) == page.locator("figure").count() and all(map(str.strip, captions))
        page.set_viewport_size(PHONE)
        try:
            if name != "verify":
                page.wait_for_function("document.querySelector('.js-plotly-plot').layout.font.size === 11")
            page.wait_for_function("document.documentElement.scrollWidth <= 390", timeout=300_000)
            found = tools(page, name, name != "verify")
            assert (found["bars"], found["covered"]) == (0, 0)
        finally:
            page.set_viewport_size(DESKTOP)


VIEWS = [name if name == NAMES[0] else pytest.param(name, marks=pytest.mark.thorough) for name in NAMES]


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_sends_nothing(name, shown):
    page = shown(name)
    assert tools(page, name)["bars"] > 0  # on a desktop there is a toolbar to look at
    page.set_viewport_size(PHONE)
    try:
        page.wait_for_function("document.querySelector('.js-plotly-plot').layout.font.size === 11")
        assert tools(page, name)["bars"] == 0
    finally:
        page.set_viewport_size(DESKTOP)


def page_of_the_site(folder):
    """A figure on a page with the site's own scripts and styles."""
    import shallows as sh

    sys.path.insert(0, str(DOCS / "_ext"))
    try:
        import pictures

        chart = sh.chart(sh.Problem(np.diag([2.0, 1.5, 1.0]), sh.IID(3, [1, 0, 1, 0, 30]), 1))
        fragment = pictures.fragment(chart.figure().to_plotly_json())
        pictures.copy_library(folder)
    finally:
        sys.path.remove(str(DOCS / "_ext"))
    for name in ("panels.js", "figures.js", "site.css"):
        (folder / name).write_bytes((DOCS / "_static" / name).read_bytes())
    scripts = "".join(f'<script defer src="{name}"></script>' for name in ("panels.js", "figures.js"))
    head = (
        '<!doctype html><meta charset=utf-8><link rel=icon href="data:,"><link rel=stylesheet href=site.css>'
    )
    page = folder / "index.html"
    view = "<meta name=viewport content='width=device-width'>"
    page.write_text(f"{head}{view}{scripts}<body>{fragment}</body>", encoding="utf-8")
    return page.as_uri()


def test_a_page_of_the_site_sends_nothing(tmp_path, watched):
    with watched(page_of_the_site(tmp_path)) as page:
        assert tools(page, "site")["bars"] > 0
        page.set_viewport_size(PHONE)
        try:
            page.wait_for_function("document.querySelector('.js-plotly-plot').layout.font.size === 11")
            page.wait_for_function("document.documentElement.scrollWidth <= 390", timeout=300_000)
            assert tools(page, "site")["bars"] == 0
        finally:
            page.set_viewport_size(DESKTOP)


#: How much of a picture's outer edge is not white, and how much of it is dark.
EDGES = """async (texts) => Promise.all(texts.map(async (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
  const brush = new OffscreenCanvas(image.width, image.height).getContext('2d');
  brush.drawImage(image, 0, 0);
  const { data, width, height } = brush.getImageData(0, 0, image.width, image.height);
  let edge = 0, dark = 0;
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
    const [r, g, b] = data.slice(4 * (y * width + x), 4 * (y * width + x) + 3);
    const white = Math.min(r, g, b) > 250;
    if (!white && (x < 6 || y < 6 || x >= width - 6 || y >= height - 6)) edge++;
    if (Math.min(r, g, b) < 140) dark++;
  }
  return [edge, dark / (width * height)];
}))"""


def test_thumbnails_are_whole_and_not_faint(watched):
    files = sorted((DOCS / "_static" / "thumbnails").glob("*.png"))
    texts = [base64.b64encode(file.read_bytes()).decode() for file in files]
    with watched("about:blank") as page:
        found = page.evaluate(EDGES, texts)
    for file, (edge, dark) in zip(files, found, strict=True):
        assert edge == 0, f"{file.name} is cropped"
        assert dark > 0.01, f"{file.name} is faint"


@pytest.mark.thorough
def test_the_check_sees_the_button_that_plotly_has(tmp_path, watched):
    """Plotly's own page, as `figure.write_html` makes it, has what no page of ours has (from plotly.js 4 on)."""
    import plotly.graph_objects as go
    from plotly.offline import get_plotlyjs

    if "sendChartToCloud" not in get_plotlyjs():
        pytest.skip("this plotly.js has no such button")
    path = tmp_path / "plain.html"
    go.Figure(go.Scatter(y=[1, 2])).write_html(path)
    with watched(path.as_uri()) as page:
        page.locator(".modebar-btn").first.wait_for(state="attached")
        assert any("Share" in (title or "") for title in page.evaluate(TOOLS)["buttons"])


def test_nobody_writes_a_page_past_the_house():
    """Plotly's own pages have its own toolbar; one module reads its script, and every page takes it from there."""
    source = DOCS.parent / "src" / "shallows"
    wrong = [
        f"{file.name}: {word}"
        for file in source.rglob("*.py")
        for word in ("write_html", "to_html", "get_plotlyjs", "plotly.min.js", "cdn.plot")
        if word in file.read_text(encoding="utf-8") and file.name != "plotly_script.py"
    ]
    assert not wrong


def test_a_slice_of_landscapes_has_its_words_and_its_command(pages):
    text = pages("discriminant").read_text(encoding="utf-8")
    assert "two critical points meet and vanish" in text
    assert "shallows discriminant rank-one --degree 2 --metric laplace --slice" in text
    assert "4 real critical points, 2 local minima" in text


def test_a_verification_says_how_many_and_is_made_again_as_it_was(pages):
    text = pages("verify").read_text(encoding="utf-8")
    assert "1 numbered statement on" in text and "--claim 000/eq-16 --effort" in text


def test_words_follow_their_number():
    from shallows.support.checks import counted, noun_for

    assert [counted(1, "local minimum"), counted(2, "local minimum"), counted(1, "degenerate")] == [
        "1 local minimum", "2 local minima", "1 degenerate point",
    ]  # fmt: skip
    assert [noun_for(2, noun) for noun in ("leaf", "box", "entry", "family", "run", "valley")] == [
        "leaves", "boxes", "entries", "families", "runs", "valleys",
    ]  # fmt: skip
