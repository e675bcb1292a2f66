"""`shallows diagnose`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shallows.uses.commands._common import FileSeed, Json, ProblemFile, Quiet, begun

EXAMPLES = (
    "shallows diagnose examples/relu.toml weights.npz",
    "shallows diagnose problem.toml weights.pt --out page.html",
    "shallows diagnose problem.toml weights.npz --no-chart --json",
)
FILES = {".html": "diagnosis.html", ".json": "diagnosis.json"}


def diagnose(
    file: ProblemFile,
    weights: Annotated[
        Path,
        typer.Argument(
            help="Trained weights: .npz with W (and a, bias, norm), or .pt, a state_dict, read as tensors and nothing "
            "else."
        ),
    ],
    chart: Annotated[
        bool | None,
        typer.Option(
            help="Chart the problem too, in SHALLOWS_SECONDS (an hour), or do not; by default in ten seconds."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="X.html: write the page; X.json: the numbers; a folder: both.")
    ] = None,
    seed: FileSeed = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """One page for trained weights: exact loss, nearest critical point, kind, proof, spectrum, valley, a way out."""
    from shallows.model.weights_file import load_weights
    from shallows.questions.diagnosis.diagnose import diagnose as make_diagnosis

    output, places, written = begun(file, seed, (out, FILES), json, quiet)
    net = load_weights(weights, written.problem)
    found = make_diagnosis(
        written.problem,
        net,
        chart=chart,
        rng=written.seed,
        progress=output.progress,
    )
    output.document(found.to_dict())
    output.show(f"{found!r}")
    output.write(places, {".json": found.save, ".html": found.report})
