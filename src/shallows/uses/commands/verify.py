"""`shallows verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shallows.support.checks import counted
from shallows.support.errors import InvalidProblem
from shallows.uses.commands._common import ANSWER_IS_NO, DONE, MISSING, Json, Output, Quiet, Seed, table
from shallows.uses.commands.destinations import as_document, as_text, destinations

if TYPE_CHECKING:
    from shallows.uses.papers.claim import Claim
    from shallows.uses.papers.evidence import Effort, Evidence
    from shallows.uses.papers.many_seeds import ManySeeds
    from shallows.uses.papers.mutants import Mutant
    from shallows.uses.papers.verification import Verification

EXAMPLES = (
    "shallows verify --paper 000",
    "shallows verify --claim thm-35 --effort full",
    "shallows verify --paper 001 --mutations",
    "shallows verify --claim 000/prop-39 --seeds 300",
    "shallows verify --seeds 300 --resume seeds.jsonl",
    "shallows verify --findings",
    "shallows verify --out claims.html",
)
MARKS = {"holds": "✓", "sharpened": "✓", "fails": "✗", "not checked": "–"}
FILES = {".html": "claims.html", ".json": "claims.json"}


def verify(
    paper: Annotated[str | None, typer.Option(help="Only this paper: 000, 001, 002 or 003.")] = None,
    claim: Annotated[
        list[str] | None, typer.Option(help="Only this claim, such as thm-35, or finding; may be repeated.")
    ] = None,
    findings: Annotated[
        bool,
        typer.Option(
            "--findings", help="Our own findings, which are in none of the papers, instead of claims."
        ),
    ] = False,
    effort: Annotated[str, typer.Option(help="quick, or full: more and larger instances.")] = "quick",
    mutations: Annotated[
        bool,
        typer.Option(
            "--mutations",
            help="Replace the functions that a claim puts to the test by wrong ones: does its check notice?",
        ),
    ] = False,
    seeds: Annotated[
        int, typer.Option(min=1, help="So many seeds, from --seed on: a claim has to hold at each.")
    ] = 1,
    resume: Annotated[
        Path | None,
        typer.Option(help="With --seeds: keep what was found in this file, and go on where it ends."),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes; all cores by default.")] = None,
    seed: Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="X.html: write the evidence as a page; X.json: as data; a folder: both."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check the numbered statements of the four papers, or our own findings, on instances.

    Exit status 1: one fails; 3: none does, but some could not be checked, because something is not installed.
    """
    from shallows.uses.papers.claim import EFFORTS

    if effort not in EFFORTS:
        raise InvalidProblem(f"--effort is {effort!r}; expected {' or '.join(EFFORTS)}.")
    if out is not None and (mutations or seeds > 1):
        word = "--mutations" if mutations else "--seeds"
        raise InvalidProblem(
            f"--out writes the evidence of the claims at one seed; leave it out with {word}."
        )
    if mutations and seeds > 1:
        raise InvalidProblem("--mutations is of one seed; leave --seeds out, and give each one with --seed.")
    if resume is not None and seeds == 1:
        raise InvalidProblem("--resume is of many seeds; give --seeds as well, such as --seeds 300.")
    chosen = _chosen(paper, claim or [], findings)
    output = Output(json, quiet)
    if mutations:
        status = _show_mutants(chosen, seed, effort, jobs, output)
    elif seeds > 1:
        status = _show_seeds(chosen, range(seed, seed + seeds), effort, jobs, output, resume)
    else:
        status = _show_evidence(chosen, seed, effort, jobs, output, destinations(out, FILES))
    if status != DONE:
        raise typer.Exit(status)


def _chosen(paper: str | None, names: list[str], own: bool) -> list[Claim]:
    """The claims (of a paper, of these names) or our own findings (of these names)."""
    from shallows.uses.papers import library

    if own and paper is not None:
        raise InvalidProblem(f"--findings are in no paper; leave out --paper {paper}, or --findings.")
    if own:
        everything: list[Claim] = list(library.findings())
        return [f for name in names for f in library.find_findings(name)] or everything
    return [c for name in names for c in library.find_claims(name, paper)] or library.claims(paper)


def _show_evidence(
    chosen: list[Claim],
    seed: int,
    effort: Effort,
    jobs: int | None,
    output: Output,
    places: dict[str, Path],
) -> int:
    """A line a claim, and the files; the exit status."""
    from shallows.uses.papers.verification import verify as verify_claims

    done = 0

    def tell(finished: Claim, evidence: Evidence) -> None:
        nonlocal done
        done += 1
        output.show(_line(finished, evidence, done, len(chosen)))

    with output.working(counted(len(chosen), "claim")):
        result = verify_claims(chosen, seed, effort, jobs, tell)
    output.show("", result.summary())
    output.document(result.to_dict())
    _write(output, result, places)
    return ANSWER_IS_NO if not result.holds else DONE if result.complete else MISSING


def _line(claim: Claim, evidence: Evidence, position: int, total: int) -> str:
    mark = MARKS.get(evidence.status, "≠")
    head = f"{mark} {position:>3}/{total}  {claim.key:<16} {evidence.summary}\n      {claim.statement}"
    return head if evidence.holds else f"{head}\n      {evidence.detail}"


def _write(output: Output, result: Verification, places: dict[str, Path]) -> None:
    from shallows.uses.papers.page import verification_page

    page = as_text(lambda: verification_page(result))
    output.write(places, {".json": as_document(result.to_dict()), ".html": page})


def _show_seeds(
    chosen: list[Claim], seeds: range, effort: Effort, jobs: int | None, output: Output, resume: Path | None
) -> int:
    """A line a claim: at how many seeds it holds, and the first failure; the exit status."""
    from shallows.uses.papers.many_seeds import over_seeds

    def tell(finished: Claim, found: ManySeeds) -> None:
        mark = MARKS["not checked" if found.unchecked else "holds" if found.holds else "fails"]
        output.show(f"{mark} {found!r}")

    with output.working(f"{counted(len(chosen), 'claim')} at {len(seeds)} seeds"):
        result = over_seeds(chosen, seeds, effort, jobs, tell, resume)
    failing = sum(not found.holds for found in result)
    verb = "fails" if failing == 1 else "fail"
    output.show(f"{failing} of {counted(len(result), 'claim')} {verb} at one of {len(seeds)} seeds")
    output.document({"holds": not failing, "claims": [found.to_dict() for found in result]})
    if failing:
        return ANSWER_IS_NO
    return MISSING if any(found.unchecked for found in result) else DONE


def _show_mutants(chosen: list[Claim], seed: int, effort: Effort, jobs: int | None, output: Output) -> int:
    """A row a wrong version; the exit status: whether all were noticed."""
    from shallows.uses.papers.mutants import all_mutants

    with output.working(f"{counted(len(chosen), 'claim')} with wrong functions"):
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
    return ANSWER_IS_NO if survivors else DONE


def _noticed(mutant: Mutant) -> tuple[str, str]:
    return ("✓", mutant.how) if mutant.noticed else ("✗", "not noticed")
