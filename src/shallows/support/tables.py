"""Files that people write, in TOML: read and checked, all mistakes of their form in one sentence."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from shallows.support.budget import OverBudget
from shallows.support.errors import InvalidProblem


class Section(BaseModel):
    """A table of the file: unknown keys are errors, numbers are numbers."""

    model_config = ConfigDict(extra="forbid")


S = TypeVar("S", bound=Section)


def require_one(section: Section, *names: str) -> None:
    """For validators of a section: exactly one of these keys is given."""
    given = [name for name in names if getattr(section, name) is not None]
    if len(given) != 1:
        raise ValueError(f"give exactly one of {', '.join(names)}; {', '.join(given) or 'none'} was given")


def text_of(path: str | Path) -> str:
    """The text of a file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidProblem(f"Cannot read {path}: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise InvalidProblem(f"Cannot read {path}: it is not in UTF-8 ({error}).") from None


def tables_of(text: str, source: str) -> dict[str, Any]:
    """The tables of a TOML text; `source` is what it is called in errors."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidProblem(f"{source} is not valid TOML: {error}") from None
    except RecursionError:
        raise InvalidProblem(
            f"{source} is not valid TOML: its tables and lists are nested too deep."
        ) from None


def checked(kind: type[S], tables: Any, complaint: str, prefix: str = "") -> S:
    """The tables as a section; `complaint` opens the error, "problem.toml is not a problem"."""
    try:
        return kind.model_validate(tables)
    except ValidationError as error:
        for entry in error.errors():
            if isinstance(refused := entry.get("ctx", {}).get("error"), OverBudget):
                raise refused from None
        lines = [f"  {prefix}{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors()]
        raise InvalidProblem("\n".join([f"{complaint}:", *lines])) from None
