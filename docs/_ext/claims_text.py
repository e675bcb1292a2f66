"""A paper's numbered statements as Markdown: what is claimed, what its check found, how to run it.

The findings are those of the last `shallows verify --json`, stored in docs/papers/claims.json, so that building the
site does not verify everything again; statements come from `sh.claims()`, and one without a finding stops the build.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from pathlib import Path
from typing import Any

from markdown_text import plain

FINDINGS = Path(__file__).resolve().parent.parent / "papers" / "claims.json"
BADGES = {
    "holds (proved)": "proved",
    "holds (numerically)": "numerical",
    "misprint": "misprint",
    "fails": "fails",
}


def findings() -> dict[str, dict[str, Any]]:
    """What the checks found, by the claim's key ("000/thm-35")."""
    rows = json.loads(FINDINGS.read_text(encoding="utf-8"))["claims"]
    return {row["claim"]: row for row in rows}


def claims_of(paper: str) -> str:
    """The table of a paper's claims, then a section each."""
    import shallows as sh

    found = findings()
    chosen = sh.claims(paper)
    missing = [claim.key for claim in chosen if claim.key not in found]
    if missing:
        raise ValueError(
            f"docs/papers/claims.json lacks {', '.join(missing)}; run shallows verify --json again"
        )
    rows = [_row(claim, found[claim.key]) for claim in chosen]
    counts = _counts([found[claim.key]["status"] for claim in chosen])
    table = ["| | statement | status |", "| --- | --- | --- |", *rows, ""]
    sections = [_section(claim, found[claim.key]) for claim in chosen]
    return "\n".join([f"{len(chosen)} statements: {counts}.", "", *table, *sections])


def _counts(statuses: list[str]) -> str:
    words = {
        "holds (proved)": "proved at every instance",
        "holds (numerically)": "hold numerically",
        "misprint": "hold once a misprint is corrected",
        "fails": "fail",
    }
    return ", ".join(f"{statuses.count(name)} {words[name]}" for name in BADGES if name in statuses)


def anchor(claim: Any) -> str:
    """The label of a claim; its place on the site is papers/000.html#thm-35."""
    return f"{claim.paper}-{claim.name}"


def badge(status: str) -> str:
    """The status with its colour."""
    return f"[{status}]{{.badge .badge-{BADGES[status]}}}"


def _row(claim: Any, finding: dict[str, Any]) -> str:
    statement = plain(claim.statement).replace("|", "\\|")
    return f"| [{claim.number}](#{anchor(claim)}) | {statement} | {badge(finding['status'])} |"


def _section(claim: Any, finding: dict[str, Any]) -> str:
    lines = [
        f"({anchor(claim)})=",
        f"### {claim.number}",
        "",
        f"{plain(claim.statement)} {badge(finding['status'])}",
        "",
        f"How it is checked: {_sentence(claim)}",
        f"Found: {plain(finding['detail'])}.",
    ]
    if finding["printed"]:
        lines += ["", f"As printed: {plain(finding['printed'].removeprefix('printed: '))}."]
    lines += ["", f"The check must fail, and does, with {plain(claim.control.text)}.", ""]
    used = library_names(claim.check)
    if used:
        lines += ["Library: " + ", ".join(f"{{py:obj}}`{name} <{name}>`" for name in used), ""]
    lines += [f"```sh\nshallows verify --paper {claim.paper} --claim {claim.name}\n```", ""]
    return "\n".join(lines)


def _sentence(claim: Any) -> str:
    text = " ".join((inspect.getdoc(claim.check) or "").split())
    return plain(text)


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
