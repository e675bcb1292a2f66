"""`shallows warm`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from shallows.uses.commands._common import Json, Output, Quiet

if TYPE_CHECKING:
    from shallows.model.problem import Problem
    from shallows.support.compiling import Unit

EXAMPLES = ("shallows warm", "shallows warm --quiet", "shallows warm --json")
#: What a module with compiled functions imports from.
MARK = "from shallows.support.compiling import"


def warm(json: Json = False, quiet: Quiet = False) -> None:
    """Compile everything now, so that no first chart or ensemble waits for it, and solve what common charts start from.

    It is kept in the user's cache directory, or in SHALLOWS_CACHE_DIR, and later processes load it.
    """
    from shallows.questions.charts.chart import chart
    from shallows.questions.charts.continuation import kept_members
    from shallows.support import code_cache
    from shallows.support.progress import Progress

    output = Output(json, quiet)
    waiting = [unit for unit in all_units() if not unit.cache.holds()]
    with Progress(len(waiting), "compiling", output.progress) as progress:
        for unit in waiting:
            unit.load()
            progress.advance()
    problems = common_problems()
    with Progress(len(problems), "solving", output.progress) as progress:
        for problem in problems:
            chart(problem, certify=False)
            progress.advance()
    count, size = code_cache.contents()
    members = kept_members.contents()[0]
    kept = f"{count} functions, {size / 1e6:.1f} MB, and {members} solved members in {code_cache.root()}"
    output.document(
        {
            "compiled": len(waiting),
            "functions": count,
            "bytes": size,
            "members": members,
            "folder": str(code_cache.root()),
        }
    )
    output.say(f"{len(waiting)} compiled; {kept}")


def common_problems() -> list[Problem]:
    """One problem of each kind whose family of equations is solved once a machine; others come with the package."""
    from shallows.model.activations import Polynomial, Power
    from shallows.model.data.gaussian import Gaussian
    from shallows.model.data.iid import IID
    from shallows.model.network import Network
    from shallows.model.problem import Problem

    def student(n: int, activation: Power | Polynomial, data: Gaussian | IID) -> Problem:
        teacher = [[1.0 / (1 + i + 2 * j) for i in range(n)] for j in range(n)]
        return Problem(Network(teacher, activation=activation), data, width=1)

    laws = (Gaussian, IID.uniform)
    powers = [student(n, Power(d), law(n)) for d, n in ((3, 2), (3, 3), (4, 2)) for law in laws]
    return powers + [student(2, Polynomial(c), Gaussian(2)) for c in ([0, 1, 1], [1, 1, 1], [0, 1, 0, 1])]


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
