"""`shallows verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shallows.support.errors import InvalidProblem
from shallows.uses.commands._common import ANSWER_IS_NO, Json, Output, Quiet, Seed, ready

if TYPE_CHECKING:
    from shallows.uses.papers.claim import Claim, Evidence
    from shallows.uses.papers.verification import Verification

EXAMPLES = (
    "shallows verify --paper 000",
    "shallows verify --claim thm-35 --effort full",
    "shallows verify --out claims.html",
)


def verify(
    paper: Annotated[str | None, typer.Option(help="Only this paper: 000, 001, 002 or 003.")] = None,
    claim: Annotated[
        list[str] | None, typer.Option(help="Only this claim, such as thm-35; may be repeated.")
    ] = None,
    effort: Annotated[str, typer.Option(help="quick, or full: more and larger instances.")] = "quick",
    jobs: Annotated[int | None, typer.Option(help="Processes; all cores by default.")] = None,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Write the evidence as an HTML page (.html).")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check the numbered statements of the four papers on instances; exit status 1 if one fails."""
    from shallows.uses.papers.claim import EFFORTS
    from shallows.uses.papers.library import claims, find_claims
    from shallows.uses.papers.verification import verify as verify_claims

    if effort not in EFFORTS:
        raise InvalidProblem(f"--effort is {effort!r}; expected {' or '.join(EFFORTS)}.")
    if out is not None and out.suffix != ".html":
        raise InvalidProblem(f"--out is {out}; expected a file that ends in .html.")
    chosen = claims(paper) if not claim else [found for name in claim for found in find_claims(name, paper)]
    output = Output(json, quiet)
    ready(out)
    done = 0

    def tell(finished: Claim, evidence: Evidence) -> None:
        nonlocal done
        done += 1
        output.show(_line(finished, evidence, done, len(chosen)))

    with output.working(f"{len(chosen)} claims"):
        result = verify_claims(chosen, seed, effort, jobs, tell)
    output.show("", result.summary())
    output.document(result.to_dict())
    if out is not None:
        _write_page(result, out)
        output.wrote(out)
    if not result.holds:
        raise typer.Exit(ANSWER_IS_NO)


def _line(claim: Claim, evidence: Evidence, position: int, total: int) -> str:
    mark = "✗" if not evidence.holds else "≠" if evidence.status == "misprint" else "✓"
    head = f"{mark} {position:>3}/{total}  {claim.key:<16} {evidence.status:<19} {claim.statement}"
    return head if evidence.holds else f"{head}\n      {evidence.detail}"


def _write_page(result: Verification, out: Path) -> None:
    from shallows.uses.papers.page import verification_page

    out.write_text(verification_page(result), encoding="utf-8")
