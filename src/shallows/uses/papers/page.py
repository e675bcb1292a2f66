"""What `shallows verify` found, as one self-contained HTML page."""

from __future__ import annotations

from typing import Any

from shallows.support.checks import counted
from shallows.uses.papers.claim import Claim
from shallows.uses.papers.library import OWN, PAPERS, claims, findings
from shallows.uses.papers.verification import Verification
from shallows.uses.report.templating import rendered


def verification_page(result: Verification) -> str:
    """The page as text: a table a paper, sortable, without a network."""
    first = result.evidence[0]
    failing = sum(found.status == "fails" for found in result.evidence)
    open_ones = sum(found.status == "not checked" for found in result.evidence)
    return rendered(
        "shallows.uses.papers",
        "claims.html",
        papers=_papers(result),
        total=counted(len(result.claims), "numbered statement"),
        command=_command(result),
        verdict=("all hold" if not failing else f"{failing} fail")
        + (f", {open_ones} could not be checked" if open_ones else ""),
        seed=first.seed,
        effort=first.effort,
    )


def _command(result: Verification) -> str:
    """What makes the page again: everything, a paper, our own findings, or the claims that were named."""
    chosen, first = [claim.key for claim in result.claims], result.evidence[0]
    own_ones: list[Claim] = list(findings())
    whole = {"": claims(), "--findings": own_ones} | {f"--paper {p.number}": claims(p.number) for p in PAPERS}
    own = "--findings " if result.claims[0].paper == OWN.number else ""
    named = own + " ".join(f"--claim {key}" for key in chosen)
    which = next((flag for flag, known in whole.items() if [claim.key for claim in known] == chosen), named)
    words = ["shallows verify", which, f"--effort {first.effort} --seed {first.seed} --out claims.html"]
    return " ".join(word for word in words if word)


def _papers(result: Verification) -> list[dict[str, Any]]:
    counts = result.by_paper()
    rows = list(zip(result.claims, result.evidence, strict=True))
    return [
        {
            "number": paper.number,
            "title": paper.title,
            "authors": paper.authors,
            "year": paper.year,
            "counts": ", ".join(
                f"{count} {status}" for status, count in sorted(counts[paper.number].items())
            ),
            "rows": [row for row in rows if row[0].paper == paper.number],
        }
        for paper in (*PAPERS, OWN)
        if paper.number in counts
    ]
