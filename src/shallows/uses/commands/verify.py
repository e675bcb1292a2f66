"""`shallows verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shallows.support.errors import InvalidProblem
from shallows.uses.commands._common import ANSWER_IS_NO, Json, Output, Quiet, Seed, ready, table

if TYPE_CHECKING:
    from shallows.uses.papers.claim import Claim
    from shallows.uses.papers.evidence import Effort, Evidence
    from shallows.uses.papers.mutants import Mutant
    from shallows.uses.papers.verification import Verification

EXAMPLES = (
    "shallows verify --paper 000",
    "shallows verify --claim thm-35 --effort full",
    "shallows verify --paper 001 --mutations",
    "shallows verify --out claims.html",
)
MARKS = {"holds": "✓", "sharpened": "✓", "fails": "✗"}


def verify(
    paper: Annotated[str | None, typer.Option(help="Only this paper: 000, 001, 002 or 003.")] = None,
    claim: Annotated[
        list[str] | None, typer.Option(help="Only this claim, such as thm-35; may be repeated.")
    ] = None,
    effort: Annotated[str, typer.Option(help="quick, or full: more and larger instances.")] = "quick",
    mutations: Annotated[
        bool,
        typer.Option(
            "--mutations",
            help="Replace the functions that a claim puts to the test by wrong ones: does its check notice?",
        ),
    ] = False,
    jobs: Annotated[int | None, typer.Option(help="Processes; all cores by default.")] = None,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Write the evidence as an HTML page (.html).")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check the numbered statements of the four papers on instances; exit status 1 if one fails."""
    from shallows.uses.papers.claim import EFFORTS
    from shallows.uses.papers.library import claims, find_claims

    if effort not in EFFORTS:
        raise InvalidProblem(f"--effort is {effort!r}; expected {' or '.join(EFFORTS)}.")
    if out is not None and out.suffix != ".html":
        raise InvalidProblem(f"--out is {out}; expected a file that ends in .html.")
    if out is not None and mutations:
        raise InvalidProblem("--out writes the evidence of the claims; leave it out with --mutations.")
    chosen = claims(paper) if not claim else [found for name in claim for found in find_claims(name, paper)]
    output = Output(json, quiet)
    if mutations:
        holds = _show_mutants(chosen, seed, effort, jobs, output)
    else:
        holds = _show_evidence(chosen, seed, effort, jobs, output, out)
    if not holds:
        raise typer.Exit(ANSWER_IS_NO)


def _show_evidence(
    chosen: list[Claim], seed: int, effort: Effort, jobs: int | None, output: Output, out: Path | None
) -> bool:
    from shallows.uses.papers.verification import verify as verify_claims

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
    return result.holds


def _line(claim: Claim, evidence: Evidence, position: int, total: int) -> str:
    mark = MARKS.get(evidence.status, "≠")
    head = f"{mark} {position:>3}/{total}  {claim.key:<16} {evidence.summary}\n      {claim.statement}"
    return head if evidence.holds else f"{head}\n      {evidence.detail}"


def _write_page(result: Verification, out: Path) -> None:
    from shallows.uses.papers.page import verification_page

    out.write_text(verification_page(result), encoding="utf-8")


def _show_mutants(chosen: list[Claim], seed: int, effort: Effort, jobs: int | None, output: Output) -> bool:
    """A row a wrong version; whether all were noticed."""
    from shallows.uses.papers.mutants import all_mutants

    with output.working(f"{len(chosen)} claims with wrong functions"):
        found = all_mutants(chosen, seed, effort, jobs)
    rows = table()
    for heading in ("claim", "function", "wrong version", "", "noticed by"):
        rows.add_column(heading)
    for mutant in found:
        rows.add_row(mutant.claim, mutant.function, mutant.mutation, *_noticed(mutant))
    survivors = sum(not mutant.noticed for mutant in found)
    algebra = [claim.key for claim in chosen if not claim.tests]
    output.show(rows, f"{len(found) - survivors} of {len(found)} wrong versions were noticed")
    if algebra:
        output.show(f"no function of the library is put to the test by {', '.join(algebra)}")
    output.document({"holds": not survivors, "mutants": [mutant.to_dict() for mutant in found]})
    return not survivors


def _noticed(mutant: Mutant) -> tuple[str, str]:
    return ("✓", mutant.how) if mutant.noticed else ("✗", "not noticed")
