"""A paper's numbered statements as Markdown: what is claimed, what its check found, how to run it.

The findings are those of the last `shallows verify --json`, stored in docs/papers/claims.json, so that building the
site does not verify everything again; statements come from `sh.claims()`, and one without a finding stops the build.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

from markdown_text import plain

STORED = Path(__file__).resolve().parent.parent / "papers"
#: Our own findings, in the place of a paper's number.
OWN = "findings"
#: Green is for what is proved, blue for what holds in floating point, amber for
#: these, where an instance contradicts the paper.
CORRECTED = ("holds with a correction", "false as printed")


def findings(paper: str) -> dict[str, dict[str, Any]]:
    """What the checks found, by the claim's key ("000/thm-35")."""
    name = "findings.json" if paper == OWN else "claims.json"
    rows = json.loads((STORED / name).read_text(encoding="utf-8"))["claims"]
    return {row["claim"]: row for row in rows}


def claims_of(paper: str) -> str:
    """The table of a paper's claims, then a section each."""
    import shallows as sh

    found = findings(paper)
    chosen = sh.findings() if paper == OWN else sh.claims(paper)
    missing = [claim.key for claim in chosen if claim.key not in found]
    if missing:
        raise ValueError(
            f"docs/papers lacks what was found for {', '.join(missing)}; run shallows verify --json again"
        )
    rows = [_row(claim, found[claim.key]) for claim in chosen]
    counts = _counts([found[claim.key] for claim in chosen])
    table = ["| | statement | status |", "| --- | --- | --- |", *rows, ""]
    sections = [_section(claim, found[claim.key]) for claim in chosen]
    return "\n".join([f"{len(chosen)} statements: {counts}.", "", *table, *sections])


def _counts(rows: list[dict[str, Any]]) -> str:
    counts = Counter(row["status"] for row in rows)
    proved = sum(row["proved"] for row in rows)
    parts = [f"{count} {status}" for status, count in counts.items()]
    return f"{', '.join(parts)}; {proved} proved at every instance"


def anchor(claim: Any) -> str:
    """The label of a claim; its place on the site is papers/000.html#thm-35."""
    return f"{claim.paper}-{claim.name}"


def badge(finding: dict[str, Any]) -> str:
    """The status with its colour."""
    status = finding["status"]
    colour = "proved" if finding["proved"] else "numerical"
    colour = "fails" if not finding["holds"] else "corrected" if status in CORRECTED else colour
    decided = "proved" if finding["proved"] else "numerically"
    return f"[{status} ({decided})]{{.badge .badge-{colour}}}"


def _row(claim: Any, finding: dict[str, Any]) -> str:
    statement = plain(claim.statement).replace("|", "\\|")
    return f"| [{claim.number}](#{anchor(claim)}) | {statement} | {badge(finding)} |"


def _section(claim: Any, finding: dict[str, Any]) -> str:
    lines = [
        f"({anchor(claim)})=",
        f"### {claim.number}",
        "",
        f"{plain(claim.statement)} {badge(finding)}",
        "",
        f"How it is checked: {plain(claim.instances)}",
        f"Found: {plain(finding['detail'])}.",
    ]
    if finding["printed"]:
        lines += ["", f"As printed: {plain(finding['printed'].removeprefix('printed: '))}."]
    lines += ["", f"The check must fail, and does, with {plain(claim.control.text)}.", ""]
    lines += [_put_to_the_test(claim), ""]
    used = library_names(claim.check)
    if used:
        lines += ["Library: " + ", ".join(f"{{py:obj}}`{name} <{name}>`" for name in used), ""]
    which = "--findings" if claim.paper == OWN else f"--paper {claim.paper}"
    lines += [f"```sh\nshallows verify {which} --claim {claim.name}\n```", ""]
    return "\n".join(lines)


def _put_to_the_test(claim: Any) -> str:
    """Which functions are replaced by wrong ones, and that the check notices."""
    if not claim.tests:
        return "It checks the paper's algebra only: no function of the library is put to the test."
    names = ", ".join(f"`{name}`" for name in claim.tests)
    return f"Put to the test: {names}; with one of them replaced by a wrong version the check fails."


def library_names(check: Any) -> list[str]:
    """The public names that a check and its helpers use, in that order: from Theorem 35 to code."""
    import shallows as sh

    public = {name for name in sh.__all__ if not inspect.ismodule(getattr(sh, name))}
    used: dict[str, None] = {}
    waiting, seen = [check], {check}
    while waiting:
        function = waiting.pop(0)
        names = function.__globals__
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sh":
                used |= {f"shallows.{node.attr}": None} if node.attr in public else {}
            elif isinstance(node, ast.Name) and _is_public(names.get(node.id), node.id, public):
                used[f"shallows.{node.id}"] = None
            elif isinstance(node, ast.Name) and _is_helper(names.get(node.id)) and names[node.id] not in seen:
                waiting.append(names[node.id])
                seen.add(names[node.id])
    return list(used)


def _is_helper(item: Any) -> bool:
    return (
        inspect.isfunction(item)
        and item.__module__.startswith("shallows.uses.papers.")
        and "outcome" not in item.__module__
    )


def _is_public(item: Any, name: str, public: set[str]) -> bool:
    module = getattr(item, "__module__", None) or ""
    return (
        name in public and module.startswith("shallows.") and not module.startswith("shallows.uses.papers.")
    )
