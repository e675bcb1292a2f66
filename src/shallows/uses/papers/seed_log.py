"""What many seeds found, a line each in a file: a long run can be stopped at any time, and taken up again.

    {"claim": "000/thm-9", "seed": 17, "effort": "quick", "holds": true, …}

A line is written when its check is done, by whichever process did it; the last one may be torn when the run was killed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shallows.support.errors import InvalidProblem
from shallows.uses.papers.evidence import Effort, Evidence


@dataclass(frozen=True)
class SeedLog:
    """The file: `held` is what was found to hold, `add` writes one more."""

    path: Path

    def held(self, effort: Effort) -> dict[str, set[int]]:
        """The seeds at which each claim held; those at which it failed are to be checked again."""
        if not self.path.exists():
            return {}
        lines = self.path.read_text(encoding="utf-8").split("\n")
        seeds: dict[str, set[int]] = {}
        for number, line in enumerate(lines, 1):
            row = self._row(line, number, last=number == len(lines))
            if row is not None and row["holds"] and row["effort"] == effort:
                seeds.setdefault(row["claim"], set()).add(row["seed"])
        return seeds

    def _row(self, line: str, number: int, last: bool) -> dict[str, Any] | None:
        """What a line says; None for the last one, empty or torn."""
        try:
            row = json.loads(line)
            return {key: row[key] for key in ("claim", "seed", "effort", "holds")}
        except (ValueError, KeyError, TypeError) as error:
            if last:
                return None
            raise InvalidProblem(
                f"Line {number} of {self.path} is {line[:60]!r}; expected what verify --seeds wrote there: JSON with "
                "claim, seed, effort and holds. Fix: give another file, or delete this one to begin again."
            ) from error

    def begin(self) -> None:
        """Make the file ready to be written to: a torn last line is cut off."""
        if self.path.exists():
            text = self.path.read_text(encoding="utf-8")
            whole = text[: text.rfind("\n") + 1]
            if whole != text:
                self.path.write_text(whole, encoding="utf-8")
            return
        try:
            self.path.touch()
        except OSError as error:
            raise InvalidProblem(
                f"{self.path} cannot be written ({error}); expected a file in an existing folder."
            ) from error

    def add(self, found: Evidence) -> None:
        """One line more, at once: several processes may do so."""
        line = json.dumps(found.to_dict(), ensure_ascii=False) + "\n"
        with self.path.open("ab") as file:
            file.write(line.encode())
