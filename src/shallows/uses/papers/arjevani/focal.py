"""Paper 000, sections 3.2 and 3.3: distance functions, focal points and discriminants."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

import shallows as sh
from shallows.questions.discriminants.counting import landscape_at
from shallows.questions.discriminants.curves import EllipseCurve
from shallows.questions.discriminants.known import ellipse, rank_one
from shallows.questions.discriminants.polynomial import generic
from shallows.questions.discriminants.students import critical_students
from shallows.questions.geometry.manifolds.focal_points import (
    index_by_eigenvalues,
    index_by_focal_points,
    ray_focal_points,
)
from shallows.questions.geometry.manifolds.local_geometry import LocalGeometry
from shallows.questions.geometry.manifolds.parametric import ParametricChart
from shallows.questions.geometry.manifolds.rank_manifolds import MatricesOfRank
from shallows.support.checks import Array
from shallows.uses.papers.arjevani.instances import random_metric, separated, symmetric
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.mutations import (
    DOUBLED,
    DROPPED,
    EMPTY,
    NEGATED,
    OFF_BY_ONE,
    Mutation,
    of_field,
)
from shallows.uses.papers.outcome import Outcome, equal, fact, proof

RAY = "shallows.questions.geometry.manifolds.focal_points.ray_focal_points"
LOCAL = "shallows.questions.geometry.manifolds.local_geometry.LocalGeometry"


def _ellipse(u: Array) -> Array:
    return np.array([2 * np.cos(u[0]), np.sin(u[0])])


def _paraboloid(u: Array) -> Array:
    return np.array([u[0], u[1], u[0] ** 2 + 2 * u[1] ** 2 + u[0] * u[1] ** 2])


def _geometries(trial: Trial) -> Iterator[tuple[LocalGeometry, str]]:
    """An ellipse and a surface with random metrics, and matrices of rank r with the metrics of data and random ones."""
    A = trial.rng.standard_normal((3, 3))
    yield (
        LocalGeometry(ParametricChart(_ellipse, trial.rng.uniform(0, 6)), np.array([[2.0, 0.5], [0.5, 1.0]])),
        "ellipse",
    )
    yield (
        LocalGeometry(ParametricChart(_paraboloid, trial.rng.uniform(-1, 1, 2)), A @ A.T + np.eye(3)),
        "surface",
    )
    for n, r in ((2, 1), (3, 1), (3, 2)):
        W = trial.rng.standard_normal((r, n))
        S = W.T @ np.diag(trial.rng.choice([-1.0, 1.0], r)) @ W
        chart = MatricesOfRank(S, r)
        for data in (sh.Gaussian(n), sh.IID.laplace(n), random_metric(trial.rng, n, 2)):
            yield LocalGeometry(chart, data.gram(2)), f"rank {r} of {n}×{n}, {data!r}"


def _normals(trial: Trial, here: LocalGeometry) -> Array:
    frame = here.normal_frame
    weights = trial.rng.standard_normal(
        frame.shape[1] if frame.shape[0] == len(here.point) else frame.shape[0]
    )
    return np.asarray(frame @ weights if frame.shape[0] == len(here.point) else weights @ frame)


@claim(
    "000",
    "Proposition 23",
    "For every manifold X, point s and metric Σ: t is a focal point of (X, s) of multiplicity m iff the "
    "differential of the endpoint map (s, v) ↦ s + v of the normal bundle has nullity m at (s, t − s).",
    control=("points short of the focal points", {"stretch": 0.9}),
    tests={
        RAY: (EMPTY, DROPPED, Mutation("twice as far", lambda found: [_further(point) for point in found])),
        f"{LOCAL}.endpoint_nullity": (OFF_BY_ONE, Mutation("always zero", lambda nullity: 0)),
    },
)
def proposition_23(trial: Trial, stretch: float = 1.0) -> Iterator[Outcome]:
    """An ellipse, a surface, and matrices of rank 1 and 2 under several metrics, random normal directions: focal points
    where a Hessian of the distance by central differences is singular; the nullity there, and beside it."""
    for _ in trial.times(1, 8):
        for here, what in _geometries(trial):
            v = _normals(trial, here)
            focal = ray_focal_points(here, v)
            found = np.array([f.position for f in focal for _ in range(f.multiplicity)])
            expected = _singular_positions(here, v)
            same = _same_near(found, expected)
            yield fact(
                same, f"{what}: focal points at {found.round(4)}, a singular Hessian at {expected.round(4)}"
            )
            for point in focal:
                nullity = here.endpoint_nullity(stretch * point.position * v, tolerance=1e-7)
                at = f"{what}: focal point at {point.position:.4g} of multiplicity {point.multiplicity}"
                yield fact(nullity == point.multiplicity, at)
                beside = here.endpoint_nullity(0.97 * point.position * v, tolerance=1e-7)
                yield fact(beside == 0, f"{what}: none beside it")


def _further(point: sh.FocalPoint) -> sh.FocalPoint:
    return sh.FocalPoint(2 * point.position, point.multiplicity)


def _singular_positions(here: LocalGeometry, v: Array) -> Array:
    """The γ > 0 at which the Hessian of ‖x(u) − (s + γv)‖², 2(G − γB), is singular; differences give it at γ = 0 and
    1."""
    G = _hessian_by_differences(here, here.point) / 2
    B = G - _hessian_by_differences(here, here.point + v) / 2
    root = np.linalg.inv(np.linalg.cholesky(G))
    curvatures = np.linalg.eigvalsh(root @ B @ root.T)
    return np.sort(1 / curvatures[curvatures > 1e-4])


def _same_near(found: Array, expected: Array) -> bool:
    """The same positions up to 100; further out differences see too little."""
    near, wanted = np.sort(found[found < 100]), expected[expected < 100]
    return len(near) == len(wanted) and np.allclose(near, wanted, rtol=1e-3)


@claim(
    "000",
    "Remark 24",
    "For every unit normal v at s and t = s + γv: the Hessian of the squared distance is 2(G − γ v·E) with "
    "G and E the first and second fundamental forms, and t is a focal point iff γ = 1/κ for a principal "
    "curvature κ in the direction v.",
    control=("the other normal direction", {"sign": -1.0}),
    tests={
        f"{LOCAL}.second_form": (DOUBLED, NEGATED),
        f"{LOCAL}.first_form": (DOUBLED,),
        f"{LOCAL}.principal_curvatures": (DOUBLED, NEGATED),
        RAY: (EMPTY,),
    },
)
def remark_24(trial: Trial, sign: float = 1.0) -> Iterator[Outcome]:
    """The manifolds and metrics of Prop. 23, random normal directions: the Hessian against central differences, focal
    points against curvatures."""
    for _ in trial.times(1, 8):
        for here, what in _geometries(trial):
            v = _normals(trial, here)
            formula = 2 * (here.first_form - sign * here.second_form(v))
            error = (
                np.abs(_hessian_by_differences(here, here.point + v) - formula).max() / np.abs(formula).max()
            )
            yield equal(float(error), 1e-6, f"{what}: differences of ‖x(u) − t‖²")
            curvatures = here.principal_curvatures(v)
            expected = np.sort(1 / (curvatures[curvatures > 1e-6] * here.length(v)))
            found = np.sort([f.position for f in ray_focal_points(here, v) for _ in range(f.multiplicity)])
            near = expected[expected < 1e3]
            same = len(found) >= len(near) and np.allclose(found[: len(near)], near, rtol=1e-6)
            same &= _same_near(expected, _singular_positions(here, v))
            yield fact(same, f"{what}: {len(expected)} focal points at 1/κ")


def _hessian_by_differences(here: LocalGeometry, target: Array, h: float = 1e-3) -> Array:
    """Central differences of u ↦ ‖x(u) − t‖²_Σ at steps h and 2h, extrapolated: the error is of order h⁴."""
    base, chart, metric = here.chart.base, here.chart, np.asarray(here.metric)

    def loss(u: Array) -> float:
        x = chart.value(u) - target
        return float(x @ metric @ x)

    def differences(steps: Array) -> Array:
        corners = [
            [loss(base + p + q) - loss(base + p - q) - loss(base - p + q) + loss(base - p - q) for q in steps]
            for p in steps
        ]
        return np.array(corners) / (4 * np.max(steps) ** 2)

    steps = h * np.eye(len(base))
    return np.asarray((4 * differences(steps) - differences(2 * steps)) / 3)


@claim(
    "000",
    "Theorem 25",
    "On a compact manifold, near every (t, Σ) off the focal locus: the critical points of the distance are "
    "finitely many smooth functions of (t, Σ), and their Hessians are non-degenerate, of constant signature.",
    control=("a teacher beside the discriminant, moved across it", {"across": True}),
    printed=("also on a cone without its vertex", {"cone": True}),
    tests={
        "shallows.questions.discriminants.students.critical_students": (
            DROPPED,
            Mutation("other points", lambda students: [_turned(s, k) for k, s in enumerate(students)]),
        ),
        "shallows.questions.discriminants.counting.landscape_at": (of_field("real_count", OFF_BY_ONE),),
    },
)
def theorem_25(trial: Trial, across: bool = False, cone: bool = False) -> Iterator[Outcome]:
    """The ellipse x²/4 + y² = 1, random rational teachers: kinds stay the same when teacher and metric move by 10⁻⁶,
    and the points move in proportion, to second order; the proved count is the number of points."""
    P = ellipse(4, 1)
    for _ in trial.times(6, 40):
        x, y = trial.rng.uniform(-1.2, 1.2, 2).round(3)
        x, y = (1.5 - 2e-7, 0.0) if across else (x, y + 1e-4 * (abs(y) < 1e-9))
        here = critical_students(P.specialize(m11=1, m12=0, m22=1), x=x, y=y)
        what = f"ellipse, teacher ({x}, {y})"
        proved = landscape_at(P.specialize(m11=1, m12=0, m22=1), x=x, y=y).real_count
        yield fact(proved == len(here) and _normal(here, x, y), f"{what}: {proved} critical points")
        for dx, dm in ((1e-6, 0.0), (-1e-6, 0.0), (0.0, 1e-6), (0.0, -1e-6)):
            near, nearer = (
                critical_students(P.specialize(m11=1 + share * dm, m12=0, m22=1), x=x + share * dx, y=y)
                for share in (1.0, 0.5)
            )
            kinds = [sorted(s.kind for s in students) for students in (here, near, nearer)]
            yield fact(kinds[0] == kinds[1] == kinds[2], f"{what}: {kinds[0]} | {kinds[1]}")
            yield equal(_curving(here, near, nearer), 1e-3, f"{what}: the points move in proportion")
    if cone:
        line = rank_one(2).specialize(data=sh.Frobenius(2), t00=1, t01=0)
        counts = [landscape_at(line, t11=t) for t in ("1/1000", 0, "-1/1000")]
        off = all(line.sign(t11=t) != 0 for t in ("1/1000", 0, "-1/1000"))
        same = len({(c.real_count, c.local_minima) for c in counts}) == 1
        yield proof(
            same or not off,
            f"rank-one matrices, T = diag(1, ε): {[(c.real_count, c.local_minima) for c in counts]}",
        )


def _turned(student: Any, number: int) -> Any:
    return SimpleNamespace(kind=student.kind, entries=student.entries + 0.1 * (number == 0))


def _normal(students: list[Any], x: float, y: float) -> bool:
    """Whether t − s is normal to the ellipse at every point, along (x/4, y)."""
    gaps = [(s.entries[0] - x) * s.entries[1] - (s.entries[1] - y) * s.entries[0] / 4 for s in students]
    return bool(np.abs(gaps).max() < 1e-9)


def _curving(here: list[Any], near: list[Any], nearer: list[Any]) -> float:
    """How far the middle point is from half-way, over the way; points are matched by distance."""
    worst = 0.0
    for s in here:
        ends = [
            min(found, key=lambda other: np.linalg.norm(other.entries - s.entries))
            for found in (near, nearer)
        ]
        way, half = (end.entries - s.entries for end in ends)
        worst = max(worst, float(np.linalg.norm(way - 2 * half)))
    return worst / 1e-6


@claim(
    "000",
    "Theorem 26",
    "For every manifold X, metric Σ, teacher t off the focal locus and critical point s: the index of the "
    "Hessian of the distance at s is the number of focal points of (X, s) on the segment from s to t, with "
    "multiplicity.",
    control=("focal points of the whole ray", {"whole_ray": True}),
    tests={
        "shallows.questions.geometry.manifolds.focal_points.index_by_focal_points": (OFF_BY_ONE, NEGATED),
        "shallows.questions.geometry.manifolds.focal_points.index_by_eigenvalues": (OFF_BY_ONE,),
        f"{LOCAL}.second_form": (NEGATED, DOUBLED),
    },
)
def theorem_26(trial: Trial, whole_ray: bool = False) -> Iterator[Outcome]:
    """Matrices of rank below n = 2, 3, random teachers, four metrics: focal points on the segments to all points of a
    chart, against the signs of a Hessian by central differences."""
    for n in (2, 3):
        for data in (sh.Frobenius(n), sh.Gaussian(n), sh.IID.laplace(n), random_metric(trial.rng, n, 2)):
            for _ in trial.times(1, 4):
                T = symmetric(trial.rng, separated(trial.rng, n))
                problem = sh.Problem(T, data, width=n - 1)
                for point in sh.chart(problem, certify=False).points:
                    if point.rank == 0:
                        continue
                    S = point.tensor.to_matrix()
                    here = LocalGeometry(MatricesOfRank(S, point.rank), data.gram(2))
                    v = problem.target_tensor().entries - here.point
                    index = index_by_focal_points(problem, S)
                    if whole_ray:
                        index = sum(f.multiplicity for f in ray_focal_points(here, v))
                    yield fact(
                        index == index_by_eigenvalues(problem, S) == point.index == _negative(here, v),
                        f"n={n}, {data!r}, rank {point.rank}: {index} focal points, index {point.index}",
                    )


def _negative(here: LocalGeometry, v: Array) -> int:
    """Negative eigenvalues of the Hessian by differences at the teacher s + v."""
    return int(np.sum(np.linalg.eigvalsh(_hessian_by_differences(here, here.point + v)) < 0))


@claim(
    "000",
    "Example 27",
    "The ellipse x²/4 + y² = 1: the teacher-metric discriminant has 152 terms and bidegree (6, 6); for the "
    "Euclidean metric every teacher inside the evolute (2x)^⅔ + y^⅔ = 3^⅔ has 4 critical points, every one outside 2.",
    control=("the ellipse x²/9 + y² = 1", {"p": 9}),
    tests={
        "shallows.discriminants.ellipse": (Mutation("another ellipse", lambda P: ellipse_of(9)),),
        "shallows.discriminants.landscape_at": (
            of_field("real_count", DOUBLED),
            of_field("real_count", Mutation("always two", lambda count: 2)),
            of_field("real_count", Mutation("always four", lambda count: 4)),
        ),
    },
)
def example_27(trial: Trial, p: int = 4) -> Iterator[Outcome]:
    """The polynomial itself; counts, by exact root isolation, at random rational teachers, their side decided
    exactly, and at one on each side."""
    P = ellipse(p, 1)
    yield proof(P.n_terms == 152, f"{P.n_terms} terms")
    yield proof(P.bidegree == (6, 6), f"bidegree {P.bidegree}")
    euclidean = P.specialize(m11=1, m12=0, m22=1)
    drawn = [tuple(int(k) for k in trial.rng.integers(-3000, 3001, 2)) for _ in trial.times(10, 200)]
    for k, j in [(100, 100), (2900, 2900), *drawn]:
        x, y = Fraction(k, 1000), Fraction(j, 1000)
        rest = 9 - 4 * x * x - y * y
        inside = (
            rest > 0 and rest**3 > 27 * 4 * x * x * y * y * 9
        )  # A^⅓ + B^⅓ < C^⅓ with A = 4x², B = y², C = 9
        count = landscape_at(euclidean, x=x, y=y).real_count
        where = "inside" if inside else "outside"
        yield proof(count == (4 if inside else 2), f"teacher ({x}, {y}), {where}: {count}")


def ellipse_of(p: int) -> Any:
    """The discriminant of x²/p + y² = 1, by way of its curve, whatever `ellipse` is replaced by."""
    return generic(EllipseCurve(Fraction(p), Fraction(1)))


@claim(
    "000",
    "Example 28",
    "2×2 matrices of rank one: the discriminant has 5938 terms and bidegree (6, 12), 2060 terms for moments "
    "of data, 68 for symmetric i.i.d. coordinates (m0011 = m0101 = μ₂², m0111 = 0); for Frobenius it is the "
    "cube of (t00 − t11)² + 4t01².",
    control=("Frobenius with m0101 = 1 instead of ½", {"frobenius": "1"}),
    tests={
        "shallows.discriminants.rank_one": (
            Mutation("a special metric", lambda P: P.specialize(m0101="m0011")),
        ),
        "shallows.questions.discriminants.polynomial.Discriminant.factor": (
            Mutation("no factor", lambda found: ()),
        ),
    },
    printed=("the i.i.d. case with m0111 = μ₂², in the text that was read", {"m0111": "mu2^2"}),
)
def example_28(trial: Trial, frobenius: str = "1/2", m0111: str | int = 0) -> Iterator[Outcome]:
    """Exact polynomials; the Frobenius specialisation against the discriminant of the characteristic polynomial."""
    P = rank_one(2)
    yield proof((P.n_terms, P.bidegree) == (5938, (6, 12)), f"{P.n_terms} terms, bidegree {P.bidegree}")
    data = P.specialize(m0101="m0011")
    yield proof(data.n_terms == 2060, f"m0011 = m0101: {data.n_terms} terms")
    iid = P.specialize(m0000="mu4", m1111="mu4", m0011="mu2^2", m0101="mu2^2", m0001=0, m0111=m0111)
    yield proof(iid.n_terms == 68, f"symmetric i.i.d.: {iid.n_terms} terms")
    yield proof(all(sum(e[:3]) == 6 for e in iid.terms), "every term has degree 6 in the teacher")
    plain = P.specialize(m0000=1, m1111=1, m0101=frobenius, m0001=0, m0011=0, m0111=0)
    factors = list(plain.factor())
    cube = len(factors) == 1 and str(factors[0]) == "(t00^2 - 2*t00*t11 + 4*t01^2 + t11^2)^3"
    yield proof(cube, f"Frobenius: {plain.factor()}")


@claim(
    "000",
    "Proposition 33",
    "Frobenius or Gaussian norm, S of rank r, a normal ray T_γ = S + γA with distinct eigenvalues "
    "somewhere: for γ > 0, T_γ is a focal point of the matrices of rank r at S iff it repeats an "
    "eigenvalue, of multiplicity #{j<k : σⱼ = σₖ}.",
    control=("the Laplace metric", {"law": sh.IID.laplace}),
    printed=("γ ≥ 0: at γ = 0 the eigenvalue 0 of S repeats, and S is not focal", {"from_zero": True}),
    tests={
        RAY: (EMPTY, DROPPED, Mutation("twice as far", lambda found: [_further(point) for point in found]))
    },
)
def proposition_33(trial: Trial, law: object = None, from_zero: bool = False) -> Iterator[Outcome]:
    """Eigenvalues at every focal point of random rays, and the number of meetings of the eigenvalue lines."""
    for n, r in ((3, 1), (4, 2), (4, 3), (5, 2)):
        for data in (law(n),) if callable(law) else (sh.Frobenius(n), sh.Gaussian(n)):
            for _ in trial.times(1, 10):
                S, A = _normal_ray(trial, data, n, r)
                here = LocalGeometry(MatricesOfRank(S, r), data.gram(2))
                v = sh.SymmetricTensor.from_matrix(A).entries
                focal = ray_focal_points(here, v)
                for f in focal:
                    pairs = _repeated_pairs(S + f.position * A)
                    yield fact(
                        pairs == f.multiplicity,
                        f"n={n}, r={r}, {data!r}: {pairs} equal pairs at γ={f.position:.4g}",
                    )
                meetings = _meetings(S, A, n) + (_repeated_pairs(S) if from_zero else 0)
                total = sum(f.multiplicity for f in focal)
                yield fact(
                    total == meetings, f"n={n}, r={r}, {data!r}: {total} focal points, {meetings} meetings"
                )


def _normal_ray(trial: Trial, data: sh.Gaussian | sh.Frobenius, n: int, r: int) -> tuple[Array, Array]:
    """S of rank r and a normal direction at it: S(2A + tr(A) I) = 0 (Gaussian), SA = 0 (Frobenius), or any other."""
    Q, _ = np.linalg.qr(trial.rng.standard_normal((n, n)))
    kept, left = separated(trial.rng, r), separated(trial.rng, n - r)
    S = (Q[:, :r] * kept) @ Q[:, :r].T
    metric = data.rotation_invariance(2)
    if metric is None:
        here = LocalGeometry(MatricesOfRank(S, r), data.gram(2))
        return S, sh.SymmetricTensor(_normals(trial, here), n, 2).to_matrix()
    c = left.sum() / (r + 2) if metric.family == "Gaussian" else 0.0
    A = (Q[:, r:] * left) @ Q[:, r:].T - c * Q[:, :r] @ Q[:, :r].T
    return S, A


def _repeated_pairs(M: Array) -> int:
    values = np.linalg.eigvalsh(M)
    gaps = np.abs(values[:, None] - values[None, :]) < 1e-7 * np.abs(values).max()
    return int((gaps.sum() - len(values)) // 2)


def _meetings(S: Array, A: Array, n: int) -> int:
    """Pairs of eigenvalue lines σᵢ(γ) of S + γA (they commute) that cross at some γ > 0."""
    _, Q = np.linalg.eigh(S + 0.6180339887 * A)
    s, a = np.diag(Q.T @ S @ Q), np.diag(Q.T @ A @ Q)
    count = 0
    for i in range(n):
        for j in range(i):
            slope, gap = a[i] - a[j], s[j] - s[i]
            count += abs(slope) > 1e-12 and gap / slope > 1e-9
    return count
