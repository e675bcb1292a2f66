"""Many paths at once: blocks of paths on threads, the compiled loop doing all the work.

Each path depends on its own start point only, so the result is the same whatever the number of threads.
"""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shallows.mathematics.homotopy._compiled.calls import TRACK, evaluate_points, track_block
from shallows.mathematics.homotopy._compiled.codes import AFFINE, PROJECTIVE, PathStatus
from shallows.mathematics.homotopy._compiled.records import room
from shallows.mathematics.homotopy.batches import COLUMNS, current
from shallows.support import cores
from shallows.support.arguments import typed
from shallows.support.progress import Progress, Shown
from shallows.support.ready_code import ReadyCode
from shallows.support.tolerances import EPSILON


@dataclass(frozen=True)
class Homotopy:
    """A compiled homotopy H(x, t), start at t = 1, target at t = 0: an evaluator and its constant data.

    `evaluate` is a `numba.cfunc` with the signature `Homotopy.signature()`, or anything with the `address` of such
    a function; `unknowns` counts the homogenising one in PROJECTIVE mode. `noise` is the size of a residual that is
    nothing but rounding, 0 when it is not known. Steps are measured in each coordinate relative to its own size, but to
    `floor` times that of the point at least: 1 is the maximum norm. Points with a coordinate larger than `sharp_beyond`
    have residuals of twice the precision. On a `loose` one points between start and end are held less closely to the
    path, as `LOOSE` says. Where it is `sign_symmetric`, x and −x are one solution: two paths that end
    there have met.

    A family makes one for every pair of its members:

    >>> family = sh.homotopy.PolynomialFamily.read(["x^2 - a*x + b"], ["x"], ["a", "b"])
    >>> homotopy = family.segment(start=np.array([3, 2]), target=np.array([5, 4]))
    >>> homotopy.unknowns, sh.homotopy.track(homotopy, np.array([[1.0], [2.0]])).ends.real.round(9).tolist()
    (1, [[1.0], [4.0]])
    """

    evaluate: Any
    complexes: NDArray[np.complex128]
    reals: NDArray[np.float64]
    program: NDArray[np.int64]
    work: int
    scratch: int
    unknowns: int
    mode: int = AFFINE
    noise: float = 0.0
    floor: float = 1.0
    sharp_beyond: float = float("inf")
    sign_symmetric: bool = False
    loose: bool = False

    @staticmethod
    def signature() -> Any:
        """The numba signature of evaluators: (point, complexes, reals, program, work, scratch, value, jacobian)."""
        from shallows.mathematics.homotopy._compiled.evaluators import SIGNATURE

        return SIGNATURE

    def at(
        self, point: NDArray[np.complex128], equations: int | None = None
    ) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        """The value and the extended Jacobian [∂H/∂x | ∂H/∂t] at (x, t); of so many equations, if it is not square."""
        values, jacobians = self.at_all(np.asarray(point)[None], equations)
        return values[0], jacobians[0]

    def at_all(
        self, points: NDArray[np.complex128], equations: int | None = None
    ) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        """The same at many (x, t), one a row: values (m, equations) and Jacobians (m, equations, unknowns + 1)."""
        if equations is None:
            equations = self.unknowns - 1 if self.mode == PROJECTIVE else self.unknowns
        places = np.ascontiguousarray(points, dtype=np.complex128)
        values = np.zeros((len(places), equations), np.complex128)
        jacobians = np.zeros((len(places), equations, self.unknowns + 1), np.complex128)
        system, work, scratch = self.system(), np.zeros(self.work, np.complex128), np.zeros(self.scratch)
        evaluate_points(system, work, scratch, places, values, jacobians)
        return values, jacobians

    def options(self, settings: TrackerSettings) -> list[float]:
        """What the compiled loop is told beside the settings: noise, floor, how far points may be from the path, and
        the residual of points that are rounded to doubles, which is the noise unless equations are sharper."""
        rounded = self.noise / EPSILON if self.sharp_beyond == 0.0 else self.noise
        return [self.noise, self.floor, LOOSE * settings.prediction if self.loose else SHARP, rounded]

    def system(self) -> tuple[Any, ...]:
        """The evaluator's address and its constant data, as compiled code takes them."""
        return self.evaluate.address, self.complexes, self.reals, self.program


#: How far from a path points on the way may be, relatively: so little that predictions do not notice, in shares of the
#: errors that these have (extrapolation multiplies errors by twenty or so); and where it is not `loose`.
LOOSE, SHARP = 1e-4, 1e-10
#: `prediction` and `contraction` where ends are counted afterwards: a third fewer steps, and in 80 runs of eco-10,
#: eco-12, cyclic-7 and noon-6 no two paths met (at twice the prediction in five of 80).
BOLD_PREDICTION, BOLD_CONTRACTION = 1e-2, 0.1
#: Paths that a thread takes at once: a millisecond or two of work, so that threads end together; and no fewer blocks
#: than these for each.
MOST_TOGETHER, BLOCKS_A_WORKER = 16, 8
#: The shortest step: what is left of the way times this is near the rounding of t and of the points.
SHORTEST = 1e-10
#: The norm at which an affine path counts as diverged: residuals of its terms, of degree two and more, have lost all
#: their digits there.
DIVERGENCE = 1e8


@dataclass(frozen=True)
class TrackerSettings:
    """Tolerances of the predictor-corrector and the endgame.

    prediction: relative size aimed at for the first Newton step after a prediction.
    contraction: ratio aimed at between the second and the first Newton step.
    longest, shortest: step lengths, as shares of the way and of what is left of it.
    steps: most steps a path. endgame: |t| at which a path that cannot finish goes to the endgame.
    divergence: norm at which an affine path counts as diverged. windings: largest winding number tried.

    >>> careful = sh.homotopy.TrackerSettings(longest=0.05).tighter()
    >>> f"{careful.longest} {careful.prediction:.1e} {careful.steps}"
    '0.025 6.7e-05 20000'
    >>> sh.homotopy.solve(["x^2 + y^2 - 5", "x*y - 2"], settings=careful).finite.count
    4
    """

    prediction: float = 2e-3
    contraction: float = 0.03
    longest: float = 0.2
    shortest: float = SHORTEST
    steps: int = 5_000
    endgame: float = 1e-2
    divergence: float = DIVERGENCE
    windings: int = 24

    def bolder(self) -> TrackerSettings:
        """Settings for paths whose ends are counted: one that jumped leaves two at one point."""
        return replace(self, prediction=BOLD_PREDICTION, contraction=BOLD_CONTRACTION)

    def tighter(self) -> TrackerSettings:
        """Settings for a path that was lost or is under suspicion."""
        return replace(
            self,
            prediction=self.prediction / 30,
            contraction=self.contraction / 6,
            longest=self.longest / 2,
            shortest=self.shortest / 100,
            endgame=self.endgame / 20,
            steps=self.steps * 4,
            windings=min(2 * self.windings, 36),
        )

    def array(self) -> NDArray[np.float64]:
        """In the order the compiled loop expects."""
        return np.array(
            [
                self.prediction,
                self.contraction,
                self.longest,
                self.shortest,
                float(self.steps),
                self.endgame,
                self.divergence,
            ]
        )


@dataclass(frozen=True)
class Paths:
    """End points of paths, one a row, and how each got there.

    status: 0 when the path arrived, else another `PathStatus`. winding: its winding number around t = 0. steps: how
    many it took. radius: |t| where it stopped. error: estimated error of the end point.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^2 - 2*x + a", "x + y - 3"], ["x", "y"], ["a"])
    >>> double = family.segment(np.array([0]), np.array([1]))           # (x − 1)² = t: 1 ± √t meet at t = 0
    >>> paths = sh.homotopy.track(double, np.array([[0.0, 3.0], [2.0, 1.0]]))
    >>> paths.ends.real.round(6).tolist(), paths.winding.tolist()
    ([[1.0, 2.0], [1.0, 2.0]], [2, 2])
    """

    ends: NDArray[np.complex128]
    status: NDArray[np.int64]
    winding: NDArray[np.int64]
    steps: NDArray[np.int64]
    radius: NDArray[np.float64]
    error: NDArray[np.float64]

    @classmethod
    def converged(cls, ends: NDArray[np.complex128], steps: NDArray[np.int64]) -> Paths:
        """Paths that came to these ends on some other way, each to one that Newton's method reaches."""
        count = len(ends)
        status, winding = np.full(count, int(PathStatus.CONVERGED)), np.ones(count, np.int64)
        return cls(ends, status, winding, steps, np.zeros(count), np.zeros(count))

    def __len__(self) -> int:
        return len(self.ends)

    def rows(self, chosen: NDArray[np.int64]) -> Paths:
        """Some of these paths."""
        return Paths(*(getattr(self, name)[chosen] for name in COLUMNS))

    def with_rows(self, rows: NDArray[np.int64], other: Paths) -> Paths:
        """These paths with the given rows taken from `other`."""
        fresh = {}
        for name in COLUMNS:
            values = getattr(self, name).copy()
            values[rows] = getattr(other, name)
            fresh[name] = values
        return Paths(**fresh)


@typed
def track(
    homotopy: Homotopy,
    starts: NDArray[np.complex128],
    settings: TrackerSettings | None = None,
    *,
    threads: int | None = None,
    chart: NDArray[np.complex128] | None = None,
    endgame: bool = True,
    progress: Shown = False,
    start: complex = 1.0,
    end: complex = 0.0,
) -> Paths:
    """Follow the paths through the rows of `starts` from t = start to t = end.

    Hermite extrapolation predicts, Newton's method corrects, and the step is chosen so that the prediction stays
    deep in the basin of the path (S. Telen, M. Van Barel, J. Verschelde, SIAM J. Sci. Comput. 42, 2020); a path that
    cannot finish goes to the Cauchy endgame (A. Morgan, A. Sommese, C. Wampler, Numer. Math. 63, 1992), unless
    `endgame` is False. In PROJECTIVE mode a row is (x, 1) or any multiple; `chart` is used by PENCIL mode only.

    >>> family = sh.homotopy.PolynomialFamily.read(["x^2 - a*x + b"], ["x"], ["a", "b"])
    >>> homotopy = family.segment(np.array([3, 2]), np.array([5, 4]))   # from (x−1)(x−2) to (x−1)(x−4)
    >>> paths = sh.homotopy.track(homotopy, np.array([[1.0], [2.0]]))
    >>> paths.ends.real.round(9).tolist(), paths.status.tolist()
    ([[1.0], [4.0]], [0, 0])
    """
    settings = settings or TrackerSettings()
    batches = current()
    if batches is not None and len(starts) > batches.size:
        given = {"settings": asdict(settings), "chart": chart, "endgame": endgame, "start": start, "end": end}
        table = np.array(starts, np.complex128, ndmin=2)
        return Paths(*batches.track(track_batch, homotopy, table, given, progress))
    options = np.append(settings.array(), homotopy.options(settings))
    if not endgame:
        options[5] = 0.0
    ends = np.array(starts, dtype=np.complex128, order="C", ndmin=2)
    count, size = ends.shape
    TRACK.load()  # before the evaluator, so that the line about compiling speaks of most of it
    system = homotopy.system()
    if homotopy.mode == PROJECTIVE:
        ends /= np.linalg.norm(ends, axis=1, keepdims=True)
        charts = ends.conj()
    elif chart is not None:
        charts = np.array(chart, dtype=np.complex128, ndmin=2)
    else:
        charts = np.zeros((1, 1), np.complex128)
    codes, figures = np.zeros((count, 3), np.int64), np.zeros((count, 2))
    times = np.array([start, end], np.complex128)

    spaces = threading.local()

    def block(rows: slice) -> None:
        own = charts[rows] if homotopy.mode == PROJECTIVE else charts
        memory = getattr(spaces, "room", None)
        if memory is None:
            memory = room(system, homotopy.mode, size, charts.shape[1], homotopy.work, homotopy.scratch)
            spaces.room = memory
        track_block(memory, ends[rows], own, options, settings.windings, times, codes[rows], figures[rows])

    workers = cores.workers(threads)
    together = max(1, min(MOST_TOGETHER, count // (BLOCKS_A_WORKER * workers) + 1))
    blocks = [slice(k, k + together) for k in range(0, count, together)]
    with Progress(count, "tracking paths", progress, "paths") as shown:
        cores.each(block, blocks, workers, lambda done: shown.advance(done * together))
    return Paths(ends, codes[:, 0], codes[:, 1], codes[:, 2], figures[:, 0], figures[:, 1])


class Weighted:
    """Affine homotopies that differ by their reals alone, a row of `weights` each, in the same memory."""

    def __init__(self, homotopy: Homotopy, weights: NDArray[np.float64]) -> None:
        from shallows.mathematics.homotopy._compiled.blocks import track_weighted

        track_weighted.load()
        address, complexes, _, program = homotopy.system()
        self._block, self._homotopy, self._weights = track_weighted, homotopy, weights
        self._reals = np.zeros(weights.shape[1])
        system = address, complexes, self._reals, program
        self._memory = room(system, homotopy.mode, homotopy.unknowns, 1, homotopy.work, homotopy.scratch)

    def follow(
        self, owners: NDArray[np.int64], starts: NDArray[np.complex128], settings: TrackerSettings
    ) -> tuple[NDArray[np.complex128], NDArray[np.int64], NDArray[np.int64]]:
        """Ends, statuses and steps of paths from t = 1 to t = 0, without an endgame; owners: the number of the homotopy
        that each is on."""
        options = np.append(settings.array(), self._homotopy.options(settings))
        ends = np.array(starts, dtype=np.complex128, order="C", ndmin=2)
        codes = np.zeros((len(ends), 2), np.int64)
        places = self._memory.equations.address, self._memory.history.address
        self._block(*places, self._memory.spare, owners, self._weights, self._reals, ends, options, codes)
        return ends, codes[:, 0], codes[:, 1]


def track_batch(job: dict[str, Any]) -> dict[str, Any]:
    """Track a batch (`batches`) in this process, a worker's: the evaluator is found by its name."""
    module, name = job["evaluate"].rsplit(".", 1)
    homotopy = Homotopy(evaluate=ReadyCode(module, name), **job["homotopy"])
    settings = TrackerSettings(**job["settings"])
    options = {key: job[key] for key in ("chart", "endgame", "start", "end")}
    paths = track(homotopy, job["starts"], settings, threads=1, **options)
    return {column: getattr(paths, column) for column in COLUMNS}
