"""The documentation site: links, contents, public names, claims, figures, gallery; thorough: the whole build."""

from __future__ import annotations

import inspect
import json
import re
import runpy
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import shallows as sh

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if p.relative_to(DOCS).parts[0] not in ("_build", "gallery"))
SCRIPTS = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))
MODULES = ("certify", "discriminants", "geometry", "homotopy", "learn", "quadratic", "sweep", "training")
GENERATED = {"gallery/index.rst"}


@pytest.fixture(scope="module")
def site() -> Any:
    """The modules of docs/_ext, importable; figures are collected instead of shown."""
    sys.path.insert(0, str(DOCS / "_ext"))
    import pictures
    import plotly.io as pio
    import site_text

    before = pio.renderers.default
    pictures.activate()
    yield site_text
    pio.renderers.default = before
    sys.path.remove(str(DOCS / "_ext"))


def name_of(page: Path) -> str:
    return str(page.relative_to(DOCS).with_suffix(""))


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^(`{3,}).*?^\1", "", text, flags=re.M | re.S))


def anchors_of(page: Path) -> set[str]:
    """The anchors that MyST gives to headings: GitHub's."""
    headings = re.findall(
        r"^#+ (.*)$", re.sub(r"^(`{3,}).*?^\1", "", page.read_text(), flags=re.M | re.S), re.M
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path, text: str) -> list[str]:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
        if re.match(r"https?:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if DOCS in target.parents and str(target.relative_to(DOCS)) in GENERATED:
            continue
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors_of(target)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page, page.read_text(encoding="utf-8")) == []


def test_a_broken_link_is_noticed() -> None:
    page = DOCS / "start" / "choose.md"
    assert broken_links(page, "[a](nowhere.md) [b](words.md#nothing) [c](words.md)") == [
        "nowhere.md",
        "words.md#nothing",
    ]


def table_of_contents() -> list[str]:
    """The pages of the site in the order of the side bar, patterns resolved as Sphinx does."""
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", (DOCS / "index.md").read_text(), re.M | re.S)
    entries = [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]
    names = sorted({name_of(page) for page in PAGES} - {"index"})
    listed: list[str] = []
    for entry in entries:
        matches = [n for n in names if fnmatch(n, entry) and n.count("/") == entry.count("/")]
        listed += [n for n in matches if n not in listed] if "*" in entry else [entry]
    return listed


def test_every_page_is_in_the_table_of_contents_once() -> None:
    listed = table_of_contents()
    assert len(listed) == len(set(listed))
    assert set(listed) == {name_of(page) for page in PAGES} - {"index"} | {"gallery/index"}


def expanded(pattern: str) -> list[str]:
    module = pattern.removesuffix(".*")
    return [f"{module}.{name}" for name in import_module(module).__all__] if module != pattern else [pattern]


def documented_names() -> list[str]:
    blocks = [
        block
        for page in sorted((DOCS / "reference").glob("*.md"))
        for block in re.findall(r"^```\{names\}\n(.*?)^```", page.read_text(), re.M | re.S)
    ]
    return [name for block in blocks for pattern in block.split() for name in expanded(pattern)]


def documented_objects() -> dict[str, Any]:
    """What the names of the reference pages stand for."""
    return {
        name: getattr(import_module(name.rpartition(".")[0]), name.rpartition(".")[2])
        for name in documented_names()
    }


def test_every_public_name_is_on_one_reference_page() -> None:
    listed = documented_names()
    assert len(listed) == len(set(listed))
    objects = list(documented_objects().values())
    for name in sh.__all__:
        item = getattr(sh, name)
        places = [where for where, found in zip(listed, objects, strict=True) if found is item]
        expected = 0 if inspect.ismodule(item) else 1
        assert len(places) == expected, f"sh.{name} is documented at {places}"
    for module in MODULES:
        assert set(expanded(f"shallows.{module}.*")) <= set(listed), module


def internal_paths(text: str) -> list[str]:
    """Modules inside the storeys that a page names; tracebacks, which Python prints with them, do not count."""
    named = re.sub(r"^shallows\.support\.errors\.\w+:", "", text, flags=re.M)
    return re.findall(r"shallows\.(?:support|mathematics|model|questions)\b[\w.]*", named)


def test_pages_and_gallery_use_public_names_only() -> None:
    pages = [page for page in PAGES if "developers" not in page.parts]
    found = {page.name: internal_paths(page.read_text(encoding="utf-8")) for page in [*pages, *SCRIPTS]}
    assert not {name: paths for name, paths in found.items() if paths}
    assert internal_paths("from shallows.model.problem import Problem") == ["shallows.model.problem"]
    assert internal_paths("shallows.support.errors.InvalidProblem: no") == []


def undocumented(name: str, item: Any) -> list[str]:
    """`name` and its public methods and properties, those without a docstring of their own."""
    found = [] if (item.__doc__ or "").strip() else [name]
    for member, value in vars(item).items() if inspect.isclass(item) else ():
        call = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if (
            not member.startswith("_")
            and inspect.isfunction(call)
            and not inspect.getdoc(getattr(item, member))
        ):
            found.append(f"{name}.{member}")
    return found


def test_docstrings_cover_all_public_names() -> None:
    named = documented_objects()
    missing = [where for name, item in named.items() if callable(item) for where in undocumented(name, item)]
    assert not missing, missing


def without_example(names: dict[str, Any]) -> list[str]:
    """The names whose own docstring (not one inherited) has no example."""
    return [name for name, item in names.items() if ">>>" not in (item.__doc__ or "")]


def test_every_name_of_the_reference_has_an_example() -> None:
    named = documented_objects()
    assert len(named) > 200
    missing = without_example(named)
    assert not missing, missing


def test_a_missing_example_is_noticed() -> None:
    class Shown:
        """>>> 1 + 1"""

    class Heir(Shown):
        """Says what it is and shows nothing."""

    class Silent(Shown):
        pass

    assert without_example({"Shown": Shown, "Heir": Heir, "Silent": Silent}) == ["Heir", "Silent"]


def test_a_missing_docstring_is_noticed() -> None:
    class Bare:
        def method(self) -> None: ...

    assert undocumented("Bare", Bare) == ["Bare", "Bare.method"]


def stored_findings() -> dict[str, dict[str, Any]]:
    rows = json.loads((DOCS / "papers" / "claims.json").read_text(encoding="utf-8"))["claims"]
    return {row["claim"]: row for row in rows}


def test_the_stored_findings_are_those_of_the_claims() -> None:
    stored = stored_findings()
    assert {claim.key: claim.statement for claim in sh.claims()} == {
        key: row["statement"] for key, row in stored.items()
    }
    for claim in sh.claims():
        expected = "holds" if claim.printed is None else claim.printed.verdict
        assert stored[claim.key]["status"] == expected, claim.key


@pytest.mark.thorough
@pytest.mark.parametrize("claim", sh.claims()[::6], ids=lambda claim: claim.key)
def test_a_sample_of_the_stored_findings_is_found_again(claim: sh.Claim) -> None:
    row = stored_findings()[claim.key]
    again = claim.verify(rng=row["seed"], effort=row["effort"])
    assert (again.status, again.proved, again.instances) == (row["status"], row["proved"], row["instances"])


def test_a_theorem_leads_to_code(site: Any) -> None:
    import claims_text

    text = claims_text.claims_of("000")
    section = text[text.index("### Theorem 35") : text.index("### Theorem 36")]
    assert "shallows verify --paper 000 --claim thm-35" in section
    assert "shallows.chart" in section
    assert text.count("### ") == len(sh.claims("000"))


@pytest.mark.parametrize("page", [p for p in PAGES if "```{" in p.read_text()], ids=name_of)
def test_generated_blocks(page: Path, site: Any) -> None:
    source = [page.read_text(encoding="utf-8")]
    site.replace(None, name_of(page), source)
    assert not site.BLOCK.search(source[0])
    drawn = re.findall(r"^```\{draw\}", page.read_text(), re.M)
    assert source[0].count("site-figure") >= len(drawn)


def test_the_front_page_has_the_landscape_that_reports_and_the_explorer_have(site: Any) -> None:
    source = [(DOCS / "index.md").read_text(encoding="utf-8")]
    site.replace(None, "index", source)
    assert source[0].count('class="site-landscape"') == 2 and "const shallowsLandscape" in source[0]
    assert "http" not in source[0].partition("<script>{")[2].partition("</script>")[0]


def test_a_draw_block_without_a_figure_is_an_error(site: Any) -> None:
    with pytest.raises(ValueError, match="shows no figure"):
        site.replace(None, "page", ["```{draw} nothing\nx = 1\n```\n"])


def test_the_gallery_has_at_least_ten_scripts_with_thumbnails() -> None:
    assert len(SCRIPTS) >= 10
    for script in SCRIPTS:
        text = script.read_text(encoding="utf-8")
        assert f"sphinx_gallery_thumbnail_path = '_static/thumbnails/{script.stem}.png'" in text
        assert (DOCS / "_static" / "thumbnails" / f"{script.stem}.png").exists()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_gallery_scripts_run_and_show_a_figure(script: Path, site: Any, capsys: Any) -> None:
    site.pictures.COLLECTOR.take()
    runpy.run_path(str(script), run_name="__main__")
    assert site.pictures.COLLECTOR.take()
    assert capsys.readouterr().out.strip()


class Resources(HTMLParser):
    """What a page loads, where it links to, and which places it has."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.places |= {given["id"]} if "id" in given else set()
        if tag in ("script", "img", "iframe") and "src" in given:
            self.loads.append(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(given["href"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


def read(page: Path) -> Resources:
    resources = Resources()
    resources.feed(page.read_text(encoding="utf-8"))
    return resources


@pytest.mark.thorough
def test_the_site_builds_without_a_warning_and_needs_no_network(tmp_path: Path) -> None:
    source = tmp_path / "docs"
    shutil.copytree(DOCS, source, ignore=shutil.ignore_patterns("_build", "gallery"))
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    out = tmp_path / "html"
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", str(source), str(out)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-3000:]
    pages = {page: read(page) for page in out.rglob("*.html")}
    assert "thm-35" in pages[out / "papers" / "000.html"].places
    for page, found in pages.items():
        assert not [load for load in found.loads if re.match(r"(https?:)?//", load)], page
        for link in found.links:
            path, _, place = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not re.match(r"\w+:", link) and target.suffix == ".html":
                assert target.exists(), (page, link)
                assert not place or place in pages[target].places, (page, link)
