"""`shallows warm`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from shallows.uses.commands._common import Json, Output, Quiet

if TYPE_CHECKING:
    from shallows.support.compiling import Unit

EXAMPLES = ("shallows warm", "shallows warm --quiet", "shallows warm --json")
#: What a module with compiled functions imports from.
MARK = "from shallows.support.compiling import"


def warm(json: Json = False, quiet: Quiet = False) -> None:
    """Compile everything now, so that no first chart or ensemble waits for it.

    What is compiled is kept in the user's cache directory, or in SHALLOWS_CACHE_DIR, and later processes load it.
    """
    from shallows.support import code_cache
    from shallows.support.progress import Progress

    output = Output(json, quiet)
    waiting = [unit for unit in all_units() if not unit.cache.holds()]
    with Progress(len(waiting), "compiling", output.progress) as progress:
        for unit in waiting:
            unit.load()
            progress.advance()
    count, size = code_cache.contents()
    kept = f"{count} functions, {size / 1e6:.1f} MB in {code_cache.root()}"
    output.document(
        {"compiled": len(waiting), "functions": count, "bytes": size, "folder": str(code_cache.root())}
    )
    output.say(f"{len(waiting)} compiled; {kept}")


def all_units() -> list[Unit]:
    """Every compiled function of the library."""
    import shallows
    from shallows.support.compiling import Unit

    above = Path(shallows.__file__).parent
    units: dict[str, Unit] = {}
    for file in sorted(above.rglob("*.py")):
        if MARK in file.read_text(encoding="utf-8") and file != Path(__file__):
            name = ".".join(("shallows", *file.relative_to(above).with_suffix("").parts))
            units |= {one.symbol: one for one in vars(import_module(name)).values() if isinstance(one, Unit)}
    return list(units.values())
