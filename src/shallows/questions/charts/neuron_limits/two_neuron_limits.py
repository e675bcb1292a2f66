"""Limits of two trained neurons c₁z + c_k z^k, k odd, without bias: all of them, which are critical, which are minima.

`limit_map` has the strata. Coordinates (x, y) of neurons u, x u + y u^k, have xy of the sign σ of c₁c_k, and strata are
boundaries of one another; e is half the gradient of the loss, and slopes into the networks are

- N P (a neuron at infinity, y u^k): it may have x of the sign of σy, so σ sign(y) e(u);
- P P: the same for both;
- L P (ℓ beside y u^k): ℓ = U + s σ sign(y) u for any s ≥ 0, and a neuron at U, next to zero, has σU^k: the least of
  σ e((ℓ − sσ sign(y) u)^k), a polynomial in s;
- M: real only with x′y′ of the sign σ; as in `points.inward`, e(y C(k,2) w^(k−2)v² + y′ C(k,3)/k w^(k−3)v³);
- F: neurons w ± tv with y′/(2kt) and −y′/(2kt) have x's of opposite signs, so |x′| ≥ |x|t and x′ has the sign of σy′:
  σ sign(y′) e(v) decides, t² being smaller.

Linear forms alone, and powers alone, leave a neuron idle and are never lowest unless the loss is flat.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.polynomial import Polynomial as Series
from numpy.typing import NDArray

from shallows.mathematics.balls.certification import certify
from shallows.mathematics.balls.krawczyk import CertifiedRoot
from shallows.mathematics.same_points import PointSet
from shallows.mathematics.signature import signature
from shallows.mathematics.tensors.curves import curve_coefficients
from shallows.model.activations import PolynomialActivation
from shallows.model.network import Network
from shallows.model.polynomial_space import PolynomialSpace
from shallows.model.problem import Problem
from shallows.questions.charts.closure.balls import TermSystem
from shallows.questions.charts.closure.real_students import proved, real_ones
from shallows.questions.charts.completeness import weakest
from shallows.questions.charts.continuation.balanced_coordinates import power_action
from shallows.questions.charts.continuation.detours import Detours
from shallows.questions.charts.continuation.equations import Complex, Member
from shallows.questions.charts.continuation.generic_members import generic_member
from shallows.questions.charts.continuation.lost_paths import LOST, Settled, settle
from shallows.questions.charts.neuron_limits.limit_map import STRATA, Block, LimitEquations, LimitMap, Vector
from shallows.questions.charts.neuron_limits.one_neuron_limits import Limits
from shallows.questions.charts.neurons.kinds import Placed
from shallows.questions.charts.neurons.real import NeuronPoint
from shallows.questions.charts.points.stratum import POINT_ERROR, REAL
from shallows.support.checks import Array
from shallows.support.progress import Shown, status_line

#: How near to its limit a network is that stands for one.
NEARLY = 1e-3
#: Turns that are tried where a path has no regular end in one: u_c = 1 is a bad scale where u_c is small.
FRAMES = 6
#: A block with a weight of a smaller share of the largest is one of a lower stratum.
NO_WEIGHT = 1e-8
WORDS = {
    "NP": "a neuron beside one at infinity",
    "LP": "a linear form beside a neuron at infinity",
    "PP": "two neurons at infinity",
    "M": "two merged neurons",
    "F": "two neurons that merge at infinity",
}


def has_two_neuron_limits(problem: Problem) -> bool:
    """Whether all limits of a problem are charted here."""
    activation = problem.activation
    if not isinstance(activation, PolynomialActivation) or problem.outer is not None or problem.bias:
        return False
    support = np.flatnonzero(activation.coefficients).tolist()
    odd = len(support) == 2 and support[0] == 1 and support[1] % 2 == 1
    return bool(odd and problem.width == 2 and problem.n > 1 and problem.outputs == 1)


@dataclass(frozen=True, eq=False)
class _Setting:
    """A problem in white, turned coordinates: s = T s′ · unit, u = frame u′."""

    problem: Problem
    space: PolynomialSpace
    frame: Array
    shares: tuple[float, float]
    member: Member
    unit: float

    @classmethod
    def of(cls, problem: Problem, space: PolynomialSpace, seed: int, frame_number: int = 0) -> _Setting:
        n, degree = problem.n, space.degree
        key = [seed, 5, frame_number] if frame_number else [seed, 5]
        turn = np.linalg.qr(np.random.default_rng(key).standard_normal((n, n)))[0]
        frame = np.linalg.inv(np.linalg.cholesky(space.gram[:n, :n])).T @ turn
        T = np.zeros((len(space.right), len(space.right)))
        T[:n, :n], T[n:, n:] = frame, power_action(frame, degree)
        sizes = np.sqrt(np.diag(T.T @ space.gram @ T))
        shares = 1 / float(sizes[:n].mean()), 1 / float(sizes[n:].mean())
        T[:n, :n], T[n:, n:] = T[:n, :n] * shares[0], T[n:, n:] * shares[1]
        gram, g = T.T @ space.gram @ T, space.right @ T
        scale, size = float(np.abs(gram).max()), float(np.abs(g).max())
        member = Member.of((gram + gram.T) / 2 / scale, g / size)
        return cls(problem, space, frame, shares, member, size / scale)

    def restored(self, block: Block) -> Block:
        """A block in the problem's coordinates."""
        first, second = (share * self.unit for share in self.shares)
        if block.kind == "L":
            return replace(block, u=first * (self.frame @ block.u))
        return Block(
            block.kind,
            self.frame @ block.u,
            self.frame @ block.v,
            first * block.x,
            first * block.x1,
            second * block.y,
            second * block.y1,
        )

    @property
    def coefficients(self) -> tuple[float, float]:
        """c₁ and c_k."""
        assert isinstance(self.problem.activation, PolynomialActivation)
        c = self.problem.activation.coefficients
        return float(c[1]), float(c[-1])

    @property
    def sign(self) -> float:
        """σ."""
        c = self.coefficients
        return float(np.sign(c[0] * c[1]))


def two_neuron_limits(
    problem: Problem, space: PolynomialSpace, certify_points: bool, seed: int, progress: bool = False
) -> Limits:
    """All critical limits, marked, with their kinds."""
    placed: list[Placed] = []
    notes: list[str] = []
    levels, singular = ["proved"], 0
    for kinds in STRATA:
        equations = LimitEquations(space.degree, problem.n, kinds)
        with status_line(f"limits: {WORDS[kinds]}", progress) as tell:
            setting, run = _followed(problem, space, equations, seed, tell)
            points = PointSet(run.finite.points, invariants=equations.tensors).points
            found = [list(map(setting.restored, equations.map.blocks(x))) for x in points]
            whole = [blocks for blocks in found if all(map(_is_whole, blocks))]
            placed += _real(setting, kinds, whole, certify_points, tell)
        levels.append(run.completeness)
        singular += run.singular.count
        notes += _notes(kinds, run, len(whole))
    level = weakest(levels)
    return Limits(placed, level, notes, level != "sampled" and not singular)


def _regular(
    setting: _Setting, equations: LimitEquations, ends: Complex
) -> tuple[Complex, NDArray[np.bool_]]:
    """Ends that look singular for being far out, but are proved regular; a block of a lower stratum is none.

    Nor are neurons on different axes here: they have no coordinate c with u_c = 1 in common.
    """
    sure = []
    for x in ends:
        blocks = list(map(setting.restored, equations.map.blocks(x)))
        if not _have_common_coordinate(blocks):
            sure.append(False)
            continue
        map_ = LimitMap(equations.degree, equations.n, equations.kinds, _chart(blocks))
        system = TermSystem(map_, setting.space.exact)
        sure.append(certify(system, map_.parameters(blocks)[None]).roots[0] is not None)
    return ends, np.array(sure)


def _followed(
    problem: Problem, space: PolynomialSpace, equations: LimitEquations, seed: int, tell: Shown
) -> tuple[_Setting, Settled]:
    """The ends of all paths, in the first coordinates in which every one is regular, or the best of FRAMES."""
    start = generic_member(equations, tell)
    tried = []
    for number in range(FRAMES):
        setting = _Setting.of(problem, space, seed, number)
        regular = partial(_regular, setting, equations)
        ways = Detours(equations, start, setting.member, seed, tell, regular)
        run = settle(ways, patient=number + 1 == FRAMES)
        if not run.lost and not run.singular.count:
            return setting, replace(run, completeness=start.completeness)
        tried.append((setting, run))
    return max(tried, key=lambda item: item[1].finite.count)


def _notes(kinds: str, run: Settled, count: int) -> list[str]:
    head = f"limits, {WORDS[kinds]}"
    notes = [f"{head}: {count} complex critical points ({run.completeness})"]
    said = [
        (run.at_infinity, "paths run to infinity: these data or this target are not generic"),
        (sum(run.singular.multiplicities), "paths end at singular points, which are not listed"),
        (run.lost, LOST),
    ]
    return notes + [f"{head}: {many} {text}" for many, text in said if many]


def _is_whole(block: Block) -> bool:
    """Whether none of a block's weights vanishes: then it is no block of a lower stratum."""
    if block.kind == "L":
        return bool(np.abs(block.u).max() > 0)
    size, across = float(np.abs(block.u).max()), float(np.abs(block.v).max())
    power, linear = (
        [abs(block.y) * size, abs(block.y1) * across],
        [abs(block.x) * size, abs(block.x1) * across],
    )
    if block.kind in "NP":
        return power[0] > 0 and (block.kind == "P" or linear[0] > 0)
    return power[1] > NO_WEIGHT * power[0] and (block.kind == "F" or linear[1] > NO_WEIGHT * linear[0])


def _real(
    setting: _Setting, kinds: str, found: list[list[Block]], certify_points: bool, tell: Shown
) -> list[Placed]:
    """Those that are limits of real networks, with certificates and kinds."""
    by_map: dict[LimitMap, list[Complex]] = {}
    for blocks in found:
        map_ = LimitMap(setting.space.degree, setting.problem.n, kinds, _chart(blocks))
        by_map.setdefault(map_, []).append(map_.parameters(blocks))
    placed = []
    for map_, those in by_map.items():
        system, table = TermSystem(map_, setting.space.exact), np.array(those)
        real, _ = real_ones(system, table, certify_points, tell)
        items = [_placed(setting, system, x, root) for x, root in real]
        placed += [item for item in items if item is not None]
    return placed


def _have_common_coordinate(blocks: list[Block]) -> bool:
    """Whether some coordinate is zero in no u."""
    return bool(np.any(np.all([block.u != 0 for block in blocks if block.kind != "L"], axis=0)))


def _chart(blocks: list[Block]) -> tuple[int, int]:
    """The coordinates (c, e) whose shares in all u, and in all v with v_c = 0, are largest."""
    own = [block for block in blocks if block.kind != "L"]
    shares = np.min([np.abs(block.u) / np.abs(block.u).max() for block in own], axis=0)
    c = int(np.argmax(shares))
    across = [np.abs(b.v - b.v[c] / b.u[c] * b.u) for b in own if b.kind in "MF"]
    left = np.min([row / row.max() for row in across], axis=0) if across else np.ones(len(shares))
    left[c] = -1.0
    return c, int(np.argmax(left))


def _placed(setting: _Setting, system: TermSystem, x: Array, root: CertifiedRoot | None) -> Placed | None:
    """A real limit; None where signs say that it is none of real networks."""
    map_, space = system.map, setting.space
    assert isinstance(map_, LimitMap)
    blocks = map_.blocks(x)
    if not all(_is_allowed(block, setting.sign) for block in blocks):
        return None
    entries = np.real(map_.tensors(x[None])[0])
    e = space.gram @ entries - space.right
    D = np.real(map_.slopes(x))
    seen = signature(np.linalg.eigvalsh(D @ space.gram @ D.T + map_.curvature(x, e)), POINT_ERROR)
    certificate = None
    if root is not None:
        seen, certificate = proved(system, root, entries, seen, "Krawczyk, on the limits of two neurons")
    slopes = inward_slopes(blocks, e, setting.sign, space.degree)
    size = POINT_ERROR * float(np.abs(space.right).max())
    kind = "local minimum" if min(slopes) > size else "degenerate"
    kind = "degenerate" if seen[1] else kind
    kind = "saddle" if seen[2] or min(slopes) < -size else kind
    net = _near(setting, blocks)
    point = NeuronPoint(net.W, np.ravel(net.a), entries, seen, certificate, True)
    return Placed(point, net, kind=kind)


def _is_allowed(block: Block, sign: float) -> bool:
    """Whether weights have the signs of real networks."""
    first, second = (block.x, block.y) if block.kind == "N" else (block.x1, block.y1)
    return block.kind not in "NM" or bool(np.real(first * second) * sign > 0)


def inward_slopes(blocks: list[Block], e: Array, sign: float, degree: int) -> list[float]:
    """The slopes of half the loss into the networks, directions of length about one."""
    n = len(blocks[0].u)
    linear, power = e[:n], e[n:]

    def along(vector: Vector, weight: complex) -> float:
        unit = np.real(vector) / np.linalg.norm(vector)
        return sign * float(np.sign(weight.real)) * float(linear @ unit)

    slopes = [along(block.u, block.y) for block in blocks if block.kind == "P" and blocks[0].kind != "L"]
    if blocks[0].kind == "L":
        slopes.append(_least_beside_linear(np.real(blocks[0].u), blocks[1], power, sign, degree))
    for block in blocks:
        if block.kind == "F":
            slopes.append(along(_across(block), block.y1))
        if block.kind == "M":
            f = curve_coefficients(np.real(block.u), np.real(block.v), 0 * block.v, degree)
            direction = block.y * f[2] + block.y1 / degree * f[3]
            slopes.append(float(power @ np.real(direction) / np.abs(direction).max()))
    return slopes


def _across(block: Block) -> Array:
    u, v = np.real(block.u), np.real(block.v)
    return np.asarray(v - float(u @ v) / float(u @ u) * u)


def _least_beside_linear(ell: Array, block: Block, power: Array, sign: float, degree: int) -> float:
    """The least of σ e((ℓ − sσ sign(y) u)^k) over s ≥ 0, vectors and directions of length one."""
    ell = ell / np.linalg.norm(ell)
    u = -sign * float(np.sign(block.y.real)) * np.real(block.u) / float(np.linalg.norm(block.u))
    f = curve_coefficients(ell, u, 0 * u, degree)
    series = Series(sign * (f @ power)[: degree - 1])  # e(u^(k−1)b) = 0 at a critical point
    turns = [complex(z) for z in series.deriv().roots().tolist()] if degree > 3 else []
    places = [0.0, *(float(z.real) for z in turns if abs(z.imag) <= REAL * abs(z) and z.real > 0)]
    values = [float(series(s)) / (1 + s) ** degree for s in places]
    return min([*values, float(series.coef[-1])])


def _near(setting: _Setting, blocks: list[Block]) -> Network:
    """A network near a limit."""
    first, last = setting.coefficients
    k, sign = setting.space.degree, setting.sign
    pairs: list[tuple[Array, float, float]] = []
    for block in blocks:
        u, v = np.real(block.u), np.real(block.v)
        x, x1, y, y1 = (float(np.real(number)) for number in (block.x, block.x1, block.y, block.y1))
        if block.kind == "N":
            pairs.append((u, x, y))
        elif block.kind in "MF":
            t = NEARLY * float(np.linalg.norm(u) / np.linalg.norm(v))
            bent = x1 / (2 * t) if block.kind == "M" else sign * np.sign(y1) * (abs(x) / 2 + NEARLY)
            pairs += [(u + s * t * v, x / 2 + s * bent, y / 2 + s * y1 / (2 * k * t)) for s in (1.0, -1.0)]
        elif block.kind == "P" and blocks[0].kind != "L":
            pairs.append((u, sign * np.sign(y) * abs(y) * NEARLY ** (k - 1), y))
    if blocks[0].kind == "L":
        ell, u, y = np.real(blocks[0].u), np.real(blocks[1].u), float(np.real(blocks[1].y))
        x = sign * np.sign(y) * float(np.linalg.norm(ell) / np.linalg.norm(u))
        rest = ell - x * u
        size = float(np.linalg.norm(rest))
        pairs += [(u, x, y), (rest / size, size, sign * size * NEARLY ** (k - 1))]
    W, a = [], []
    for u, x, y in pairs:
        rho = abs((y / last) / (x / first)) ** (1 / (k - 1))
        W.append(rho * u)
        a.append(x / (first * rho))
    return Network(np.array(W), np.array(a), setting.problem.activation)
