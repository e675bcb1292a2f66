"""`decompose`: the irreducible components of any polynomial system's solution set, numerically."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shallows.mathematics.homotopy.paths import TrackerSettings
from shallows.mathematics.homotopy.sets.breakup import Part, break_up
from shallows.mathematics.homotopy.sets.components import Component
from shallows.mathematics.homotopy.sets.intersection import Stage
from shallows.mathematics.homotopy.sets.local_systems import LINEAR, LocalSystems
from shallows.mathematics.homotopy.sets.membership import WitnessSet
from shallows.mathematics.homotopy.sets.multiplicity import component_multiplicity
from shallows.mathematics.homotopy.sets.numeric import NumericSystem, degree
from shallows.mathematics.homotopy.sets.slicing import linear_system, random_slice
from shallows.mathematics.homotopy.systems import PolynomialSystem
from shallows.support.arguments import typed
from shallows.support.checks import counted
from shallows.support.errors import InvalidProblem
from shallows.support.files import Format
from shallows.support.progress import Shown
from shallows.support.seeds import SEEDS, seed_of

FORMAT = Format("shallows-decomposition", 1)
#: So many times everything is done with other slices while something is lost or not confirmed.
ATTEMPTS = 3


@dataclass(frozen=True)
class Decomposition:
    """The irreducible components of a solution set, those of the highest dimension first.

    complete: no path was lost, every end was resolved, and the trace test confirms every component. All of it is
    numerical: right with probability one, up to rounding; nothing here is a proof.

    >>> parts = sh.homotopy.decompose(["x*z", "y*z"])                   # the plane z = 0 and the z-axis
    >>> parts
    Decomposition of 2 equations in x, y, z: 2 components, complete (numerically)
      dimension 2   degree 1   multiplicity 1   trace test passed
      dimension 1   degree 1   multiplicity 1   trace test passed
      ... paths tracked, seed 0, ... s
    >>> parts.dimension, parts.degrees
    (2, {2: [1], 1: [1]})
    """

    system: PolynomialSystem
    components: tuple[Component, ...]
    seed: int
    paths: int
    lost: int
    unresolved: int
    seconds: float = field(default=0.0, compare=False)

    @property
    def dimension(self) -> int:
        """The highest dimension of a component; −1 of an empty set."""
        return max((component.dimension for component in self.components), default=-1)

    @property
    def degrees(self) -> dict[int, list[int]]:
        """The degrees of the components of each dimension."""
        found: dict[int, list[int]] = {}
        for component in self.components:
            found.setdefault(component.dimension, []).append(component.degree)
        return found

    @property
    def complete(self) -> bool:
        """Whether nothing was lost and every component is confirmed; numerically."""
        return not self.lost and not self.unresolved and all(c.confirmed for c in self.components)

    def of_dimension(self, dimension: int) -> tuple[Component, ...]:
        """The components of this dimension."""
        return tuple(component for component in self.components if component.dimension == dimension)

    def containing(self, point: ArrayLike, rng: int | np.random.Generator = 0) -> tuple[Component, ...]:
        """The components that a point lies on: none, one, or several where they meet."""
        return tuple(component for component in self.components if component.contains(point, rng))

    def save(self, path: str | Path) -> Path:
        """Write it to name.json and name.npz; `load_decomposition` reads it back."""
        entries = [
            {
                "dimension": c.dimension,
                "ranks": list(c.witness.ranks),
                "multiplicity": c.multiplicity,
                "confirmed": c.confirmed,
                "trace_defect": c.trace_defect if np.isfinite(c.trace_defect) else None,
            }
            for c in self.components
        ]
        document = {
            "variables": list(self.system.variables),
            "equations": str(self.system).split("\n"),
            "components": entries,
            "local_seed": self.components[0].systems.seed if self.components else 0,
            **{key: getattr(self, key) for key in ("seed", "paths", "lost", "unresolved", "seconds")},
        }
        arrays = {f"places_{k}": c.witness.places for k, c in enumerate(self.components)}
        arrays |= {f"slice_{k}": c.slice for k, c in enumerate(self.components)}
        for k, c in enumerate(self.components):
            if c.witness.ranks[:1] == (LINEAR,):
                arrays[f"linear_{k}"] = c.systems.of(c.witness.ranks).jacobian(
                    np.zeros(self.system.n, complex)
                )
        return FORMAT.save(path, document, arrays)

    def __repr__(self) -> str:
        names = ", ".join(self.system.variables[:8]) + (", …" if self.system.n > 8 else "")
        state = "complete (numerically)" if self.complete else "NOT known to be complete"
        count = counted(len(self.components), "component") if self.components else "no solutions"
        lines = [
            f"Decomposition of {counted(len(self.system.equations), 'equation')} in {names}: {count}, {state}"
        ]
        lines += [f"  {text}" for text in _listed(self.components)]
        lines.append(f"  {self.paths:,} paths tracked, seed {self.seed}, {self.seconds:.2f} s")
        if self.lost:
            lines.append(
                f"  note: {counted(self.lost, 'path')} lost: components, or points of some, may be missing"
            )
        if self.unresolved:
            lines.append(
                f"  note: {counted(self.unresolved, 'end')} not resolved: too singular for what is tried here"
            )
        return "\n".join(lines)


def _listed(components: Sequence[Component]) -> list[str]:
    """A line for each kind of component; with how many there are of it."""
    lines = []
    for text, same in groupby(components, key=_line):
        many = len(list(same))
        lines.append(text if many == 1 else f"{text}   × {many}")
    return lines


def _line(component: Component) -> str:
    known = "?" if component.multiplicity is None else component.multiplicity
    if component.dimension == 0:
        return f"dimension 0   a point    multiplicity {known}"
    verdict = "passed" if component.confirmed else f"FAILED (defect {component.trace_defect:.1e})"
    return f"dimension {component.dimension}   degree {component.degree}   multiplicity {known}   trace test {verdict}"


def decompose(
    polynomials: Any,
    rng: int | np.random.Generator = 0,
    *,
    variables: Sequence[str] | None = None,
    max_paths: int = 100_000,
    threads: int | None = None,
    progress: Shown = False,
    settings: TrackerSettings | None = None,
) -> Decomposition:
    """The solution set of any number of equations: its irreducible components, by dimension and degree.

    A numerical irreducible decomposition (A. Sommese, J. Verschelde, C. Wampler, SIAM J. Numer. Anal. 38, 2001). Each
    component is represented by its points on a random linear space. The equations are added one by one, the lowest
    degree first (T. Duff, A. Leykin, J. Rodriguez, "u-generation", Numer. Algorithms 95, 2024); multiple components are
    made regular by deflation; loops of linear spaces tell which points belong together and the trace test confirms the
    degrees. The result says what is confirmed; it is numerical and proves nothing.

    Parameters
    ----------
    polynomials:
        Strings or {exponents: coefficient} dictionaries; more or fewer than variables, as you like.
    variables:
        The order of the variables; name those that occur in no equation too.
    max_paths:
        More paths for one equation than this are refused when they are needed.

    >>> parts = sh.homotopy.decompose(["(x^2 + y^2 - 1)*(x - 2)", "(x^2 + y^2 - 1)*y"])
    >>> parts.degrees                                                   # a circle, and the point (2, 0)
    {1: [2], 0: [1]}
    >>> [len(parts.containing(point)) for point in ([0.6, 0.8], [2, 0], [3, 0])]
    [1, 1, 0]
    """
    started = time.perf_counter()
    seed = seed_of(rng)
    system = PolynomialSystem.read(polynomials, variables, square=False)
    if system.parameters:
        raise InvalidProblem(f"the system has parameters {system.parameters}. Fix: use specialize")
    settings = settings or TrackerSettings()
    best: tuple[Stage, list[Part]] | None = None
    paths = 0
    for attempt in range(ATTEMPTS):
        random = np.random.default_rng([seed, attempt])
        stage = _witness_sets(NumericSystem.of(system), random, settings, threads, progress, max_paths)
        parts = [
            part
            for witness in stage.sets
            for part in break_up(witness, stage.systems, random, settings, threads)
        ]
        paths += stage.tally.paths
        if best is None or _doubts(stage, parts) < _doubts(*best):
            best = stage, parts
        if not _doubts(*best):
            break
    assert best is not None
    stage, parts = best
    components = [_component(part, system, stage.systems) for part in parts]
    components.sort(key=lambda c: (-c.dimension, -c.degree, c.multiplicity or 0))
    tally = stage.tally
    seconds = time.perf_counter() - started
    return Decomposition(system, tuple(components), seed, paths, tally.lost, tally.unresolved, seconds)


def _witness_sets(
    system: NumericSystem,
    rng: np.random.Generator,
    settings: TrackerSettings,
    threads: int | None,
    progress: Shown,
    max_paths: int,
) -> Stage:
    """From the whole space, equation by equation, on a random flag of slices."""
    n = system.unknowns
    flag = random_slice(n, n, rng)
    begin = -np.linalg.solve(flag[:, :-1], flag[:, -1])
    whole = WitnessSet(n, (), begin[None].astype(np.complex128), flag)
    nothing = LocalSystems(NumericSystem(n, ()), int(rng.integers(SEEDS)))
    stage = Stage(nothing, flag, rng, settings, threads, progress, max_paths, [whole])
    rows = system.equations
    for k in sorted(range(len(rows)), key=lambda k: (degree(rows[k]), len(rows[k]))):
        stage = stage.cut(system.rows(slice(k, k + 1)))
    return stage


def _doubts(stage: Stage, parts: Sequence[Part]) -> int:
    """How much is lost, not resolved or not confirmed."""
    return stage.tally.lost + stage.tally.unresolved + sum(not part.whole for part in parts)


def _component(part: Part, system: PolynomialSystem, systems: LocalSystems) -> Component:
    witness = part.witness
    many = component_multiplicity(system, witness.points[0], witness.forms) if witness.ranks else 1
    return Component(witness.dimension, len(witness.places), many, part.whole, part.defect, witness, systems)


@typed
def load_decomposition(path: str | Path) -> Decomposition:
    """What `Decomposition.save` wrote; a damaged file raises `InvalidProblem`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = sh.homotopy.decompose(["x*y"]).save(f"{folder}/axes")
    ...     sh.homotopy.load_decomposition(file).degrees
    {1: [1, 1]}
    """
    contents = FORMAT.load(path)
    with contents.reading():
        document = contents.document
        system = PolynomialSystem.read(document["equations"], document["variables"], square=False)
        systems = LocalSystems(NumericSystem.of(system), int(document["local_seed"]))
        components = []
        for k, entry in enumerate(document["components"]):
            ranks = tuple(int(rank) for rank in entry["ranks"])
            places, forms = contents.arrays[f"places_{k}"], contents.arrays[f"slice_{k}"]
            dimension = int(entry["dimension"])
            if forms.shape != (dimension, system.n + 1) or places.shape[1] < system.n:
                raise ValueError(f"component {k}: shapes {forms.shape}, {places.shape}")
            defect = float("inf") if entry["trace_defect"] is None else float(entry["trace_defect"])
            if ranks[:1] == (LINEAR,):
                normals = contents.arrays[f"linear_{k}"]
                systems.made[ranks] = linear_system(np.hstack([normals, -normals @ places[:1].T]))
            witness = WitnessSet(dimension, ranks, places, forms)
            components.append(
                Component(
                    dimension,
                    len(places),
                    entry["multiplicity"],
                    bool(entry["confirmed"]),
                    defect,
                    witness,
                    systems,
                )
            )
        seed, paths, lost, left = (int(document[key]) for key in ("seed", "paths", "lost", "unresolved"))
        return Decomposition(system, tuple(components), seed, paths, lost, left, float(document["seconds"]))
