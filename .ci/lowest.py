"""The lowest versions that pyproject.toml allows, as constraints for pip: `numpy>=2.0` becomes `numpy==2.0`."""

import re
import sys
import tomllib
from pathlib import Path

EXTRAS = ("learn", "sweep", "explore")


def lowest(project: dict) -> list[str]:
    """A line a requirement of the core and of the extras that users install."""
    optional = project["optional-dependencies"]
    wanted = {*project["dependencies"], *(line for extra in EXTRAS for line in optional[extra])}
    lines = []
    for requirement in sorted(wanted):
        found = re.fullmatch(r"([A-Za-z0-9-]+)>=([0-9.]+)", requirement)
        if found is None:
            sys.exit(f"{requirement!r} has no lowest version; expected name>=version.")
        lines.append(f"{found[1]}=={found[2]}")
    return lines


if __name__ == "__main__":
    text = (Path(__file__).resolve().parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    print("\n".join(lowest(tomllib.loads(text)["project"])))
