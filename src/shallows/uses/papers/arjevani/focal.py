"""Paper 000, sections 3.2 and 3.3: distance functions, focal points and discriminants."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import shallows as sh
from shallows.questions.discriminants.counting import landscape_at
from shallows.questions.discriminants.known import ellipse, rank_one
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
from shallows.uses.papers.outcome import Outcome, equal, fact, proof


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
    "t is a focal point of multiplicity m iff the endpoint map (s, v) ↦ s + v has nullity m there.",
    control=("points short of the focal points", {"stretch": 0.9}),
)
def proposition_23(trial: Trial, stretch: float = 1.0) -> Iterator[Outcome]:
    """The nullity of the endpoint map at every focal point of a normal ray, and beside it."""
    for _ in trial.times(1, 8):
        for here, what in _geometries(trial):
            v = _normals(trial, here)
            for focal in ray_focal_points(here, v):
                shift = stretch * focal.position
                yield fact(
                    here.endpoint_nullity(shift * v, tolerance=1e-7) == focal.multiplicity,
                    f"{what}: focal point at {focal.position:.4g} of multiplicity {focal.multiplicity}",
                )
                yield fact(
                    here.endpoint_nullity(0.97 * focal.position * v, tolerance=1e-7) == 0,
                    f"{what}: none beside it",
                )


@claim(
    "000",
    "Remark 24",
    "At a critical point the Hessian of the distance is 2(G − γ v·E), and focal points are at γ = 1/κ.",
    control=("the other normal direction", {"sign": -1.0}),
)
def remark_24(trial: Trial, sign: float = 1.0) -> Iterator[Outcome]:
    """Finite differences of the squared distance in the chart; and curvatures against focal points."""
    for _ in trial.times(1, 8):
        for here, what in _geometries(trial):
            v = _normals(trial, here)
            formula = 2 * (here.first_form - sign * here.second_form(v))
            error = (
                np.abs(_hessian_by_differences(here, here.point + v) - formula).max() / np.abs(formula).max()
            )
            yield equal(float(error), 1e-5, f"{what}: differences of ‖x(u) − t‖²")
            curvatures = here.principal_curvatures(v)
            expected = np.sort(1 / (curvatures[curvatures > 1e-6] * here.length(v)))
            found = np.sort([f.position for f in ray_focal_points(here, v) for _ in range(f.multiplicity)])
            same = len(found) >= len(expected) and np.allclose(found[: len(expected)], expected, rtol=1e-6)
            yield fact(same, f"{what}: {len(expected)} focal points at 1/κ")


def _hessian_by_differences(here: LocalGeometry, target: Array, h: float = 1e-4) -> Array:
    """Central differences of u ↦ ‖x(u) − t‖²_Σ."""
    base, chart, metric = here.chart.base, here.chart, np.asarray(here.metric)

    def loss(u: Array) -> float:
        x = chart.value(u) - target
        return float(x @ metric @ x)

    steps = h * np.eye(len(base))
    return np.array(
        [
            [
                (loss(base + p + q) - loss(base + p - q) - loss(base - p + q) + loss(base - p - q))
                / (4 * h * h)
                for q in steps
            ]
            for p in steps
        ]
    )


@claim(
    "000",
    "Theorem 25",
    "On a compact manifold, off the discriminant, number and signatures of critical points are locally constant.",
    control=("a teacher on the discriminant", {"on_discriminant": True}),
    printed=("also on a cone without its vertex", {"cone": True}),
)
def theorem_25(trial: Trial, on_discriminant: bool = False, cone: bool = False) -> Iterator[Outcome]:
    """Ellipse: exact counts and kinds at rational teachers, moved a little together with the metric."""
    P = ellipse(4, 1)
    for _ in trial.times(6, 40):
        x, y = trial.rng.uniform(-1.2, 1.2, 2).round(3)
        if on_discriminant:
            x, y = 1.5, 0.0
        if abs(y) < 1e-9 and not on_discriminant:
            continue
        kinds = set()
        for dx, dm in ((0.0, 0.0), (1e-6, 0.0), (-1e-6, 0.0), (0.0, 1e-6), (0.0, -1e-6)):
            there = P.specialize(m11=1 + dm, m12=0, m22=1)
            kinds.add(tuple(sorted(s.kind for s in critical_students(there, x=x + dx, y=y))))
        yield fact(len(kinds) == 1, f"ellipse, teacher ({x}, {y}): {' | '.join(map(str, sorted(kinds)))}")
    if cone:
        line = rank_one(2).specialize(data=sh.Frobenius(2), t00=1, t01=0)
        counts = [landscape_at(line, t11=t) for t in ("1/1000", 0, "-1/1000")]
        off = all(line.sign(t11=t) != 0 for t in ("1/1000", 0, "-1/1000"))
        same = len({(c.real_count, c.local_minima) for c in counts}) == 1
        yield proof(
            same or not off,
            f"rank-one matrices, T = diag(1, ε): {[(c.real_count, c.local_minima) for c in counts]}",
        )


@claim(
    "000",
    "Theorem 26",
    "The index of a critical point is the number of focal points on the segment to the teacher, with multiplicity.",
    control=("focal points of the whole ray", {"whole_ray": True}),
)
def theorem_26(trial: Trial, whole_ray: bool = False) -> Iterator[Outcome]:
    """All critical points of random problems, in metrics of data and without structure."""
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
                        index == index_by_eigenvalues(problem, S) == point.index,
                        f"n={n}, {data!r}, rank {point.rank}: {index} focal points, index {point.index}",
                    )


@claim(
    "000",
    "Example 27",
    "The ellipse x²/4 + y² = 1: a discriminant of 152 terms and bidegree (6, 6); 4 critical points inside, 2 outside.",
    control=("the ellipse x²/9 + y² = 1", {"p": 9}),
)
def example_27(trial: Trial, p: int = 4) -> Iterator[Outcome]:
    """The polynomial itself, and counts of critical points on both sides of the evolute."""
    P = ellipse(p, 1)
    yield proof(P.n_terms == 152, f"{P.n_terms} terms")
    yield proof(P.bidegree == (6, 6), f"bidegree {P.bidegree}")
    euclidean = P.specialize(m11=1, m12=0, m22=1)
    for _ in trial.times(10, 200):
        x, y = trial.rng.uniform(-3, 3, 2).round(4)
        inside = abs(2 * x / 3) ** (2 / 3) + abs(y / 3) ** (2 / 3) < 1
        count = landscape_at(euclidean, x=x, y=y).real_count
        yield proof(
            count == (4 if inside else 2), f"teacher ({x}, {y}), {'inside' if inside else 'outside'}: {count}"
        )


@claim(
    "000",
    "Example 28",
    "2×2 of rank one: 5938 terms, bidegree (6, 12); 2060 for data, 68 for symmetric i.i.d.; Frobenius: a cube.",
    control=("Frobenius with m0101 = 1 instead of ½", {"frobenius": "1"}),
    printed=("the i.i.d. case as m0111 = μ₂²", {"m0111": "mu2^2"}),
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
    "Frobenius or Gaussian: on a normal ray, γ > 0 is focal iff T_γ repeats an eigenvalue, with as many pairs.",
    control=("the Laplace metric", {"law": sh.IID.laplace}),
    printed=("γ ≥ 0", {"from_zero": True}),
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
    """S of rank r and a normal direction at it: A with S(2A + tr(A) I) = 0 (Gaussian) or SA = 0 (Frobenius)."""
    Q, _ = np.linalg.qr(trial.rng.standard_normal((n, n)))
    kept, left = separated(trial.rng, r), separated(trial.rng, n - r)
    metric = data.rotation_invariance(2)
    c = left.sum() / (r + 2) if metric is not None and metric.family == "Gaussian" else 0.0
    S = (Q[:, :r] * kept) @ Q[:, :r].T
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
