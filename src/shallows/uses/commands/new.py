"""`shallows new`."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from shallows.support.errors import InvalidProblem
from shallows.uses.commands._common import Json, Output, Quiet
from shallows.uses.commands.destinations import destinations

EXAMPLES = ("shallows new my-problem.toml", "shallows new relu.toml --kind relu --seed 7")
FILES = {".toml": "problem.toml"}
KINDS = ("quadratic", "relu", "samples", "tensor")


def new(
    file: Annotated[Path, typer.Argument(help="Where to write the problem file.")] = Path("problem.toml"),
    out: Annotated[
        Path | None, typer.Option("--out", help="The same as FILE; in a folder it is called problem.toml.")
    ] = None,
    kind: Annotated[str, typer.Option(help=f"One of {', '.join(KINDS)}.")] = "quadratic",
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Draw the teacher (and samples) from this seed, which the file keeps for charts and training; "
            "without it, a fixed example.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a commented problem file to start from."""
    file = destinations(file if out is None else out, FILES)[".toml"]
    if kind not in KINDS:
        raise InvalidProblem(f"--kind is {kind!r}; expected one of {', '.join(KINDS)}.")
    if file.exists() and not force:
        raise InvalidProblem(f"{file} exists already. Fix: another name, or --force to overwrite it.")
    file.write_text(template(kind, seed), encoding="utf-8")
    output = Output(json, quiet)
    output.document({"file": str(file), "kind": kind, "seed": seed})
    output.wrote(file)
    output.say(f"next: {'shallows ensemble' if kind == 'relu' else 'shallows chart'} {file}")


def template(kind: str, seed: int | None = None) -> str:
    """The commented file of a kind, which is a valid problem as it stands; with a seed, its numbers drawn from it."""
    name = f"{kind}.toml"
    text = (resources.files("shallows.uses.commands") / "templates" / name).read_text(encoding="utf-8")
    if seed is None:
        return text
    from shallows.uses.commands.drawn import with_seed

    return with_seed(kind, text, seed)
