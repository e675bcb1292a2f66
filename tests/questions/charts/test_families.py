"""Families are critical points too: identity teachers, shared symmetries, and all that lists what a chart has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import shallows as sh
from shallows.questions.charts.matrices import rank_one

GOLDEN = (1 + 5**0.5) / 2
ICOSAHEDRON = np.array([np.roll((0, a, b * GOLDEN), k) for a in (1, -1) for b in (1, -1) for k in range(3)])


def is_critical(problem: sh.Problem, net: sh.Network) -> bool:
    """The gradient in parameter space vanishes, against its size at a random network."""
    there = problem.gradient(sh.Network(np.ones_like(net.W), np.ones_like(net.a), net.activation))
    return bool(np.linalg.norm(problem.gradient(net)) <= 1e-9 * np.linalg.norm(there))


def check(problem: sh.Problem, chart: sh.Chart) -> None:
    for family in chart.families:
        assert family.signature[1] >= family.dimension > 0
        assert is_critical(problem, family.network)
        assert problem.loss(family.network) == pytest.approx(family.loss, rel=1e-9, abs=1e-12)
        for tensor in family.samples:
            gap = tensor.entries - problem.target_tensor().entries
            assert gap @ problem.gram() @ gap + problem.floor == pytest.approx(family.loss, rel=1e-7)


#: (target, data, width): the lowest loss, and (rank, dimension, loss, kind) of all families, by hand.
KNOWN = [
    (np.eye(2), sh.Gaussian(2), 1, 8 / 3, [(1, 1, 8 / 3, "global minimum")]),
    (np.eye(3), sh.Gaussian(3), 2, 2.5, [(2, 2, 2.5, "global minimum"), (1, 2, 20 / 3, "saddle")]),
    (np.diag([2.0, 2, 1]), sh.Frobenius(3), 1, 5.0, [(1, 1, 5.0, "global minimum")]),
    (np.diag([1.0, 2, 2]), sh.Gaussian(3, mean=[1, 0, 0]), 1, 74 / 3,
     [(1, 1, 74 / 3, "global minimum"), (1, 1, 80 / 3, "saddle")]),
    (np.diag([2.0, 2, 1]), sh.Metric(3, 2, sh.Gaussian(3).gram(2)), 1, 16.0, [(1, 1, 16.0, "global minimum")]),
    (np.eye(3), sh.Metric(3, 2, sh.Gaussian(3).gram(2)), 1, 20 / 3, [(1, 2, 20 / 3, "global minimum")]),
    (np.eye(2), sh.Metric(2, 2, np.diag([1.0, 2, 1])), 1, 1.0, [(1, 1, 1.0, "global minimum")]),
]  # fmt: skip


@pytest.mark.parametrize(("target", "data", "width", "lowest", "families"), KNOWN)
def test_known_families(target, data, width, lowest, families):
    problem = sh.Problem(target, data, width)
    chart = sh.chart(problem)
    assert [(f.rank, f.dimension, f.kind) for f in chart.families] == [(r, d, k) for r, d, _, k in families]
    assert [f.loss for f in chart.families] == pytest.approx([loss for _, _, loss, _ in families])
    assert chart.minimum.loss == pytest.approx(lowest) and chart.minimum.kind == "global minimum"
    check(problem, chart)
    for family in chart.families:  # all of these are exact
        proof = family.certificate
        assert (
            proof is not None and proof.signature_certified and proof.rank_certified and proof.radius < 1e-14
        )


def test_an_icosahedron_sees_a_sphere():
    problem = sh.Problem(np.eye(3), sh.Samples(ICOSAHEDRON), width=1)
    chart = sh.chart(problem)
    (family,) = chart.families
    assert family.dimension == 2 and family.kind == "global minimum" and chart.count(rank=1) == 1
    assert family.certificate is None and "to rounding" in family.description and "(numerical)" in repr(chart)
    check(problem, chart)


def test_points_of_rounded_data_on_a_sphere_are_the_sphere(monkeypatch):
    """Whether their signatures are proved is a matter of the last digit: none may stand beside the family."""
    found = rank_one._real_points
    monkeypatch.setattr(
        rank_one, "_real_points", lambda *given: [replace(p, signature=(3, 0, 0)) for p in found(*given)]
    )
    chart = sh.chart(sh.Problem(np.eye(3), sh.Samples(ICOSAHEDRON), width=1))
    assert len(chart.families) == chart.count(rank=1) == 1


def newton_to_the_family(problem: sh.Problem, net: sh.Network) -> tuple[np.ndarray, list[float]]:
    """vvᵀ at a true critical point, by least-norm Newton in 40 digits (one neuron of degree 2 and sign +).

    Also the eigenvalues of the Hessian there. Shares nothing with the proof.
    """
    import mpmath

    n = problem.n
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    G, t = problem.gram(), problem.target_tensor().entries
    with mpmath.workdps(40):
        v = [mpmath.mpf(float(x)) * mpmath.sqrt(mpmath.mpf(float(net.a[0]))) for x in net.W[0]]
        for _ in range(7):
            s = [v[i] * v[j] for i, j in pairs]
            e = [
                sum(mpmath.mpf(float(G[k, l])) * (s[l] - mpmath.mpf(float(t[l]))) for l in range(len(s)))
                for k in range(len(s))
            ]
            D = mpmath.matrix(len(s), n)
            M = mpmath.matrix(n, n)
            for k, (i, j) in enumerate(pairs):
                D[k, i] += v[j]
                D[k, j] += v[i]
                M[i, j] += e[k]
                M[j, i] += e[k]
            gram = mpmath.matrix([[mpmath.mpf(float(x)) for x in row] for row in G])
            H = D.T * gram * D + M
            values, vectors = mpmath.eigsy(H)
            g = vectors.T * (D.T * mpmath.matrix(e))
            largest = max(abs(x) for x in values)
            step = [
                -g[k] / values[k] if abs(values[k]) > largest * mpmath.mpf(10) ** -8 else 0 for k in range(n)
            ]
            move = vectors * mpmath.matrix(step)
            v = [a + b for a, b in zip(v, move, strict=True)]
        assert max(abs(x) for x in g) < mpmath.mpf(10) ** -30  # critical exactly, not to rounding
        return np.array([v[i] * v[j] for i, j in pairs]), [float(x) for x in values]


@pytest.mark.parametrize(("target", "data", "width", "lowest", "families"), [KNOWN[3], KNOWN[4], KNOWN[5]])
def test_proved_families_are_where_they_are_proved_to_be(target, data, width, lowest, families):
    problem = sh.Problem(target, data, width)
    for family in sh.chart(problem).families:
        entries, values = newton_to_the_family(problem, family.network)
        assert max(abs(entries - family.tensor.entries)) <= 2 * family.certificate.radius
        signs = (
            sum(x > 1e-9 for x in values),
            sum(abs(x) <= 1e-9 for x in values),
            sum(x < -1e-9 for x in values),
        )
        assert signs == family.signature


@pytest.mark.parametrize("shift", [0.0, 2.0**-52])
def test_a_symmetry_that_rounding_broke_is_not_proved(shift):
    """One unit in the last place of one entry of the metric, or of the target: to rounding still a family."""
    gram = sh.Gaussian(2).gram(2)
    gram[0, 0] += 4 * shift
    (family,) = sh.chart(sh.Problem(np.eye(2), sh.Metric(2, 2, gram), 1)).families
    assert (family.certificate is not None) == (shift == 0.0) == ("not exactly" not in family.description)
    closed = sh.chart(sh.Problem(np.diag([1.0, 1.0 + shift]), sh.Gaussian(2), 1))
    assert (closed.families[0].certificate is not None) == (shift == 0.0) == (closed.completeness == "proved")
    assert any("taken as the doubles that they are" in note for note in closed.notes) == (shift > 0)


def test_a_circle_of_cubes_is_proved():
    """x³ + 3xy² + 3xz² = x·‖(x, y√3, z√3)‖²… symmetric about x: neurons off the axis come in circles."""
    target = sh.SymmetricTensor.from_polynomial("x1^3 + 2*x1*x2^2 + 2*x1*x3^2")
    problem = sh.Problem(target, sh.Frobenius(3), 1)
    chart = sh.chart(problem)
    assert chart.families and all(f.certificate is not None for f in chart.families)
    check(problem, chart)


def test_a_zero_target_leaves_nothing_but_zero():
    """On a cone ‖s‖² = ⟨s, t⟩ at every critical s."""
    for degree, data, width in ((2, sh.IID.laplace(2), 2), (3, sh.Gaussian(2), 2), (4, sh.Frobenius(2), 1)):
        zero = sh.SymmetricTensor(np.zeros(degree + 1), 2, degree)
        chart = sh.chart(sh.Problem(zero, data, width))
        assert chart.completeness == "proved" and chart.kinds() == {"global minimum": 1}


@pytest.mark.parametrize(("target", "completeness"), [
    (np.diag([-1.0, 3.0]), "proved"),                     # −1 + 3/3 = 0 exactly
    (np.array([[1.0, 0.2], [0.2, -0.3]]), "proved"),      # nothing vanishes
    (np.array([[0.1, 0.3], [0.3, 0.9]]), "proved"),       # rank one to rounding, but nothing vanishes
])  # fmt: skip
def test_what_falls_to_lower_rank_is_proved_or_said(target, completeness):
    chart = sh.chart(sh.Problem(target, sh.Gaussian(2), width=1))
    assert chart.completeness == completeness
    third = np.array([[0.1, 0.3], [0.3, 0.9]])  # one eigenvalue is 0 to rounding, not exactly
    frobenius = sh.chart(sh.Problem(third, sh.Frobenius(2), width=2))
    assert frobenius.completeness == "count-matched" and any("no proof" in note for note in frobenius.notes)
    assert sh.chart(sh.Problem(np.ones((2, 2)), sh.Frobenius(2), width=2)).completeness == "proved"


@pytest.mark.parametrize("seed", range(3))
def test_a_teacher_that_is_symmetric_about_the_mean(seed):
    """αI + β mmᵀ under N(m, I): rotations about m, so a circle of neurons off the axis."""
    rng = np.random.default_rng(seed)
    mean = rng.standard_normal(3)
    target = 2.0 * np.eye(3) - 0.3 * np.outer(mean, mean)
    problem = sh.Problem(target, sh.Gaussian(3, mean=mean), width=1)
    chart = sh.chart(problem)
    assert any(family.dimension == 1 for family in chart.families)
    check(problem, chart)
    runs = sh.ensemble(problem, runs=40, method="lbfgs", chart=chart, rng=seed)
    assert not len(runs.match(strict=False).unmatched)


def test_everything_that_lists_a_chart_lists_its_families(tmp_path):
    problem = sh.Problem(np.eye(2), sh.Gaussian(2), width=1)
    chart = sh.chart(problem)
    assert chart.kinds() == {"global minimum": 1, "saddle": 1} and chart.count(rank=1) == 1
    assert chart.losses.tolist() == pytest.approx([8 / 3, 8.0]) and len(chart.critical) == 2
    assert chart.to_dataframe()["dimension"].tolist() == [1, 0]
    assert "family of dimension 1" in repr(chart)
    assert sum(len(trace.x) for trace in chart.figure().data) == 2
    loaded = sh.load_chart(chart.save(tmp_path / "circle"))
    assert repr(loaded) == repr(chart) and repr(loaded.minimum) == repr(chart.minimum)
    assert len(loaded.families[0].samples) == len(chart.families[0].samples)
    runs = sh.ensemble(problem, runs=50, chart=chart, rng=0)
    match = runs.match()
    assert not len(match.unmatched) and match.shares[0] == pytest.approx(runs.share_of_global)
    assert runs.share_of_global < 1.0  # some runs die at zero
    page = chart.report(tmp_path / "circle.html", train=0).read_text(encoding="utf-8")
    assert "a family of dimension 1" in page and "1 global minimum" in page


@pytest.mark.parametrize("unit", [1e-150, 1e-60, 1e-12, 1e-3, 1e12, 1e60, 1e150])
@pytest.mark.parametrize(
    "data", [sh.Gaussian(2), sh.IID(2, [1, 0, 1, 0, 5.0]), sh.Gaussian(2, mean=[0.5, 1.0])], ids=repr
)
def test_the_targets_unit_changes_nothing_but_the_unit(unit, data):
    target = np.array([[2.0, 0.3], [0.3, 1.0]])
    plain, scaled = (sh.chart(sh.Problem(u * target, data, width=1)) for u in (1.0, unit))
    assert scaled.kinds() == plain.kinds() and scaled.completeness == plain.completeness
    assert (scaled.losses / unit / unit).tolist() == pytest.approx(plain.losses.tolist(), rel=1e-9)


SCALED = {
    "families": (np.diag([1.0, 2, 2]), sh.Gaussian(3, mean=[1, 0, 0]), 1),
    "rank two": (np.array([[1, 0.5, 0], [0.5, 2, 0.25], [0, 0.25, -3]]), sh.IID(3, [1, 0, 1, 0, 5.0]), 2),
    "two cubic neurons": (sh.SymmetricTensor([1.0, -0.5, 0.25, 2.0], 2, 3), sh.Gaussian(2), 2),
    "a teacher": (sh.Network([[1.0, 2], [1, -1], [0, 1]], [1.0, -2, 1], sh.Power(4)), sh.Gaussian(2), 1),
    "a plane of points": (np.eye(2), sh.Metric(2, 2, sh.Gaussian(2).gram(2)), 1),
}


@pytest.mark.parametrize(
    "unit", [2.0**-480, 1e75, *(pytest.param(u, marks=pytest.mark.thorough) for u in (1e-75, 2.0**480))]
)
@pytest.mark.parametrize("kind", SCALED)
def test_families_limits_and_proofs_scale_with_the_target(kind, unit):
    target, data, width = SCALED[kind]
    scaled = target * unit if isinstance(target, np.ndarray) else None
    if isinstance(target, sh.Network):
        scaled = sh.Network(target.W, target.a * unit, target.activation)
    elif isinstance(target, sh.SymmetricTensor):
        scaled = sh.SymmetricTensor(target.entries * unit, target.n, target.degree)
    plain, other = (sh.chart(sh.Problem(t, data, width=width)) for t in (target, scaled))
    assert other.kinds() == plain.kinds() and other.completeness == plain.completeness
    assert [f.dimension for f in other.families] == [f.dimension for f in plain.families]
    np.testing.assert_allclose(
        other.losses / unit / unit, plain.losses, rtol=1e-9, atol=1e-12 * plain.losses[-1]
    )
    proofs = [p.certificate is not None for p in other.critical]
    assert proofs == [p.certificate is not None for p in plain.critical]


@pytest.mark.parametrize("unit", [1e-12, 1e75])
def test_polynomial_activations_scale_with_the_target(unit):
    plain, scaled = (
        sh.chart(
            sh.Problem(
                sh.Network([[1.0, 2], [1, -1]], np.array([1.0, -2]) * u, sh.Power(2)),
                sh.Gaussian(2),
                1,
                sh.Polynomial([1, 1, 1]),
            )
        )
        for u in (1.0, unit)
    )
    assert scaled.kinds() == plain.kinds() and scaled.completeness == plain.completeness
    assert (scaled.losses / unit / unit).tolist() == pytest.approx(plain.losses.tolist(), rel=1e-9)


@pytest.mark.parametrize("law", [sh.Gaussian, sh.Frobenius])
@pytest.mark.parametrize(
    ("diagonal", "width"),
    [
        ([1.0, 1, 1], 2),
        *(
            pytest.param(*given, marks=pytest.mark.thorough)
            for given in [([2.0, 2, 1], 2), ([2.0, 1, 1], 2), ([2.0, 2, 2, 1], 2), ([1.0, 1, 1, 1], 3)]
        ),
    ],
)
def test_a_copied_metric_has_the_families_of_the_law_at_every_rank(law, diagonal, width):
    """The closed forms (Theorems 34, 35) know the answer; the copy is charted by homotopy."""
    n = len(diagonal)
    known = sh.chart(sh.Problem(np.diag(diagonal), law(n), width=width))
    copied = sh.chart(sh.Problem(np.diag(diagonal), sh.Metric(n, 2, law(n).gram(2)), width=width))
    assert copied.method == "homotopy" and known.method == "closed-form"
    assert copied.kinds() == known.kinds() and copied.completeness != "sampled"
    assert copied.losses.tolist() == pytest.approx(known.losses.tolist(), rel=1e-9)
    assert [f.dimension for f in copied.families] == [f.dimension for f in known.families]
    assert all(f.certificate is not None for f in copied.families)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
@pytest.mark.parametrize("data", [sh.Frobenius(2), sh.Metric(2, 2, np.diag([1.0, 2, 3]))], ids=repr)
def test_what_a_double_does_not_hold_is_refused(unit, data):
    with pytest.raises(sh.InvalidProblem, match="other units"):
        sh.chart(sh.Problem(unit * np.diag([2.0, 1.0]), data, width=1))


def test_a_small_eigenvalue_is_no_zero():
    chart = sh.chart(sh.Problem(np.diag([1.0, 1e-9]), sh.Gaussian(2), width=2))
    assert chart.count("global minimum") == 1 and chart.minimum.loss == 0.0
    near = sh.chart(sh.Problem(np.diag([1.0, 1.00000000001]), sh.Frobenius(2), width=1))
    assert not near.families and near.real_count[1] == 2


def test_repeated_eigenvalues_never_have_an_infinite_radius():
    chart = sh.chart(sh.Problem(np.array([[3.0, 2, 0], [2, 3, 0], [0, 0, 1]]), sh.Gaussian(3), width=3))
    assert all(p.certificate is None or np.isfinite(p.certificate.radius) for p in chart.critical)


@pytest.mark.parametrize(
    ("target", "count"), [(np.zeros((2, 2)), 0), (np.array([[1.0, 0, 0], [0, 0, -2], [0, -2, -3]]), 1)]
)
def test_no_family_of_networks_that_are_zero_or_of_lower_rank(target, count):
    chart = sh.chart(sh.Problem(target, sh.Gaussian(len(target)), width=len(target)))
    assert len(chart.families) == count
    for family in chart.families:
        assert np.linalg.matrix_rank(family.tensor.to_matrix(), tol=1e-9) == family.rank


@pytest.mark.parametrize(
    ("neurons", "outer", "degree", "data"),
    [
        ([[1.0, 0, 0]], [1.0], 3, sh.Gaussian(3)),
        ([[1.0, 1, 1]], [-1.0], 3, sh.Gaussian(3)),
        ([[1.0, 0, 0], [0, 1, 0]], [1.0, 1.0], 3, sh.Gaussian(3)),
        ([[1.0, 0]], [-1.0], 5, sh.Frobenius(2)),
    ],
)
def test_teachers_of_few_neurons_are_charted(neurons, outer, degree, data):
    """Ends at zero and on complex orbits are no refusal; a teacher of width one is the minimum, at loss zero."""
    teacher = sh.Network(neurons, outer, sh.Power(degree))
    problem = sh.Problem(teacher, data, width=1)
    chart = sh.chart(problem)
    check(problem, chart)
    energy = problem.loss(sh.Network(np.zeros((1, data.n)), [0.0], sh.Power(degree)))
    if len(neurons) == 1:
        assert chart.minimum.loss <= 1e-18 * energy and chart.minimum.kind == "global minimum"
    for family in chart.families:
        assert np.abs(family.tensor.entries).max() > 1e-3
