"""Components of a solution set seen through a polynomial map: dimension and degree of the closure of τ(Z).

Z is the component of F = 0 in Cᴺ through a given point x₀, where the Jacobian of F has rank N − K, K = dim Z. The image
has as many dimensions k as Dτ has on the kernel of that Jacobian. On k random forms in the entries of τ, and K − k
fixed ones in x, there are finitely many points of Z; as many different images as the degree of τ(Z). They are found
from x₀ by monodromy in the forms, since Z is irreducible, and the trace test tells when they are all: their sum is
affine in the constants of the forms (J. Hauenstein, A. Sommese, "Witness sets of projections", Appl. Math. Comput. 217,
2010, has such sets of points). It takes about ten paths for every point, whatever the Bézout number of F.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy._compiled.codes import PathStatus
from shallows.mathematics.homotopy.monodromy import monodromy
from shallows.mathematics.homotopy.paths import Homotopy, track
from shallows.mathematics.homotopy.sets.local_systems import ZERO
from shallows.mathematics.homotopy.sets.membership import HERE
from shallows.mathematics.homotopy.sets.numeric import NumericSystem, Row
from shallows.mathematics.homotopy.sparse import straight_line
from shallows.mathematics.homotopy.trace import TraceTest, linear_trace_test
from shallows.mathematics.newton import gauss_newton
from shallows.mathematics.numerical_rank import rank_of
from shallows.mathematics.same_points import PointSet, chordal_coordinates
from shallows.support.errors import InvalidProblem, NotConverged
from shallows.support.progress import Shown
from shallows.support.seeds import complex_normal, seed_of

Vector = NDArray[np.complex128]
#: Singular values of a Jacobian that count for its rank, as a share of the largest: after Newton's method those that
#: vanish are 10⁻¹² or so.
RANK = 1e-7
#: Newton steps from the given point, the last of them relatively, and how far the point may move: it is known to some
#: digits at least, or it is another one.
STEPS, SETTLED, NEAR = 8, 1e-9, 1e-2


@dataclass(frozen=True)
class ImageComponent:
    """The closure of τ(Z), irreducible: its dimension k, its degree, and whether the trace test confirms it.

    upstairs: K, the dimension of Z. points: those of Z on the slice, one for every image; images: τ of them. The slice
    is one of τ/scale.
    """

    dimension: int
    degree: int
    confirmed: bool
    upstairs: int
    points: Vector = field(repr=False, compare=False)
    images: Vector = field(repr=False, compare=False)
    scale: float = field(repr=False, compare=False)
    sliced: SlicedImage = field(repr=False, compare=False)

    def contains(self, image: Any) -> bool:
        """Whether a point is on the image, numerically to five digits: the slice moves until it passes through it."""
        place = np.asarray(image, np.complex128)
        if not self.dimension:
            ends = self.images
        else:
            forms = self.sliced.base.reshape(self.dimension, -1)[:, :-1]
            goal = self.sliced.shifted(-forms @ (place / self.scale))
            paths = track(self.sliced.segment(self.sliced.base, goal), self.points)
            ended = np.isin(paths.status, (PathStatus.ARRIVED, PathStatus.CONVERGED))
            ends = self.scale * self.sliced.images_of(paths.ends[ended])
        where = chordal_coordinates(np.vstack([place[None], ends]))
        return bool((np.linalg.norm(where[1:] - where[0], axis=1) < HERE).any())


@dataclass(frozen=True)
class SlicedImage:
    """F = 0 on a slice: as many combinations of F as its rank, fixed forms in x, and forms (a, a₀) in τ.

    A `Family` whose parameters are the coefficients of these; `base` are those of the point that it was made from.
    """

    fixed: tuple[Row, ...]
    tau: NumericSystem
    dimension: int
    base: Vector

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return self.tau.unknowns

    @property
    def parameter_count(self) -> int:
        """The number of coefficients of the forms."""
        return self.dimension * (len(self.tau.equations) + 1)

    @cached_property
    def _frame(self) -> Homotopy:
        many = self.parameter_count
        rows: list[Row] = [{(*key, *(0,) * many): value for key, value in row.items()} for row in self.fixed]
        constant: Row = {(0,) * self.n: 1.0 + 0j}
        for i in range(self.dimension):
            row: Row = {}
            for j, terms in enumerate((*self.tau.equations, constant)):
                place = i * (len(self.tau.equations) + 1) + j
                unit = tuple(int(k == place) for k in range(many))
                row |= {(*key, *unit): value for key, value in terms.items()}
            rows.append(row)
        nothing = np.zeros(many, np.complex128)
        return straight_line(rows, rows, self.n, projective=False, parameters=(nothing, nothing))

    def segment(self, start: Vector, target: Vector) -> Homotopy:
        """From some forms (t = 1) to others."""
        frame = self._frame
        rest = frame.complexes[2 * self.parameter_count :]
        return replace(frame, complexes=np.concatenate([target, start - target, rest]))

    def member(self, parameters: Any) -> None:
        """There are no certificates here."""

    def images_of(self, points: Vector) -> Vector:
        """τ, a row a point."""
        return np.array([self.tau.value(point) for point in points]).reshape(-1, len(self.tau.equations))

    def shifted(self, constants: Vector) -> Vector:
        """The forms of `base`, with other constants."""
        forms = self.base.reshape(self.dimension, -1).copy()
        forms[:, -1] = constants
        return forms.ravel()


@dataclass(frozen=True)
class _Parallel:
    """The slices parallel to that of `base`: a family with the constants as parameters."""

    sliced: SlicedImage

    @property
    def n(self) -> int:
        return self.sliced.n

    @property
    def parameter_count(self) -> int:
        return self.sliced.dimension

    @property
    def base(self) -> Vector:
        return self.sliced.base.reshape(self.parameter_count, -1)[:, -1]

    def segment(self, start: Vector, target: Vector) -> Homotopy:
        return self.sliced.segment(self.sliced.shifted(start), self.sliced.shifted(target))

    def member(self, parameters: Any) -> None:
        """There are no certificates here."""


def image_component(
    equations: NumericSystem,
    tau: NumericSystem,
    point: Vector,
    rng: int | np.random.Generator = 0,
    *,
    limit: int | None = None,
    progress: Shown = False,
) -> ImageComponent:
    """The closure of τ(Z), Z the component of the equations' solution set through a point: see above.

    `NotConverged` when the equations do not vanish on a set of the dimension that their Jacobian allows: Z is multiple,
    or the point is a degenerate one. `InvalidProblem` when the degree is above the limit.
    """
    seed = seed_of(rng)
    generator = np.random.default_rng(seed)
    place, kernel = _regular_point(equations, point)
    scale = max(float(np.abs(tau.value(place)).max(initial=0.0)), RANK)
    tau = NumericSystem(
        tau.unknowns, tuple({key: value / scale for key, value in row.items()} for row in tau.equations)
    )
    slopes = tau.jacobian(place)
    seen = np.linalg.svd(slopes @ kernel, compute_uv=False)
    dimension = int(np.count_nonzero(seen > RANK * max(float(np.abs(slopes).max(initial=0.0)), RANK)))
    sliced = _sliced(equations, tau, place, kernel.shape[1], dimension, generator)
    found, confirmed = place[None], True
    if dimension:
        parallel = _Parallel(sliced)

        def test(known: PointSet, random: np.random.Generator) -> TraceTest:
            return linear_trace_test(parallel, known.points, parallel.base, sliced.images_of, random)

        result = monodromy(
            sliced,
            place[None],
            sliced.base,
            generator,
            invariants=sliced.images_of,
            trace=test,
            limit=limit,
            progress=progress,
        )
        found, confirmed = result.points, result.completeness == "trace-tested"
    _check_elsewhere(equations, sliced, found, generator)
    images = scale * sliced.images_of(found)
    return ImageComponent(dimension, len(found), confirmed, kernel.shape[1], found, images, scale, sliced)


def _check_elsewhere(
    equations: NumericSystem, sliced: SlicedImage, points: Vector, rng: np.random.Generator
) -> None:
    """Whether all equations vanish where a parallel slice has the points, and not only at the point that was given."""
    if not sliced.dimension:
        return
    base = sliced.base.reshape(sliced.dimension, -1)[:, -1]
    goal = sliced.shifted(base + complex_normal(rng, sliced.dimension))
    paths = track(sliced.segment(sliced.base, goal), points, endgame=False)
    ends = paths.ends[paths.status == PathStatus.ARRIVED]
    off = sum(bool((equations.share(x) > ZERO).any()) for x in ends)
    if off or not len(ends):
        raise NotConverged(
            f"{off} of {len(ends)} points on a slice do not solve the equations: the solution set is multiple, or has "
            "fewer dimensions than the kernel of the Jacobian. Fix: decompose(equations), which deflates"
        )


def _regular_point(equations: NumericSystem, point: Vector) -> tuple[Vector, Vector]:
    """The point after Newton's method across the solution set, and the kernel of the Jacobian there."""

    def system(x: Vector) -> tuple[Vector, Vector]:
        return equations.value(x), equations.jacobian(x)

    x, step, size = np.asarray(point, np.complex128), np.inf, max(float(np.abs(point).max(initial=0.0)), RANK)
    for here in gauss_newton(system, x, STEPS, flat=RANK):
        x, step = here.next, float(np.abs(here.step).max(initial=0.0)) / size
        if step < SETTLED**2:
            break
    moved = float(np.abs(x - point).max(initial=0.0)) / size
    if step > SETTLED or moved > NEAR or (equations.share(x) > ZERO).any():
        raise InvalidProblem(
            f"Newton's method moves the point by {moved:.1e} of its size, with a last step of {step:.1e}: it is no "
            "regular point of the solution set. Fix: give more digits, or another point"
        )
    _, values, right = np.linalg.svd(equations.jacobian(x))
    rank = rank_of(values, RANK, least=RANK)
    return x, right[rank:].conj().T


def _sliced(
    equations: NumericSystem,
    tau: NumericSystem,
    x: Vector,
    upstairs: int,
    dimension: int,
    rng: np.random.Generator,
) -> SlicedImage:
    n = equations.unknowns
    forms = complex_normal(rng, dimension, len(tau.equations))
    base = np.hstack([forms, -(forms @ tau.value(x))[:, None]]).ravel()
    rows: list[Row] = []
    for own in complex_normal(rng, upstairs - dimension, n):
        unit = {tuple(int(i == j) for i in range(n)): complex(own[j]) for j in range(n)}
        rows.append({**unit, (0,) * n: -complex(own @ x)})
    rows += equations.squared(n - upstairs, rng).equations if upstairs < n else ()
    return SlicedImage(tuple(rows), tau, dimension, base)
