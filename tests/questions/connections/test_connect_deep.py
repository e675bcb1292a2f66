"""Deep quadratic networks: trees against flood fill, proofs across the scalings, families, files, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

import shallows as sh
from shallows.learn import DeepNetwork, train_deep
from shallows.questions.connections.deep_proof import deep_proof


def flood_of_forms(X, y, count=20_000):
    """Leaves and joins of min_m mean (m q(x)² − y)² over quadratic forms q, up to sign, by flood fill on a sphere.

    With the penalty (‖q‖² − 1)² lengths cost nothing at ‖q‖ = 1, m is eliminated, and two directions are left: the
    tree of the network 2-1-1. Knows nothing of the library.
    """
    i = np.arange(count) + 0.5
    z, turn = 1 - 2 * i / count, np.pi * (1 + np.sqrt(5)) * i
    q = np.c_[np.cos(turn) * np.sqrt(1 - z**2), np.sin(turn) * np.sqrt(1 - z**2), z]
    squares = (q @ np.c_[X[:, 0] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1], X[:, 1] ** 2].T) ** 2
    loss = np.mean(y**2) - (squares @ y / len(y)) ** 2 / np.mean(squares**2, axis=1)
    near = cKDTree(np.r_[q, -q]).query(q, 8)[1] % count
    beside = [set() for _ in range(count)]
    for a, row in enumerate(near):
        for b in row.tolist():
            beside[a].add(b)
            beside[b].add(a)
    home, pools = np.full(count, -1), []

    def root(a):
        while home[a] != a:
            home[a] = home[home[a]]
            a = home[a]
        return a

    for a in np.argsort(loss).tolist():
        met = sorted({root(b) for b in beside[a] if home[b] >= 0}, key=lambda r: loss[r])
        home[a] = met[0] if met else a
        for other in met[1:]:
            home[other] = met[0]
            pools.append((loss[other], loss[a]))
    return loss.min(), pools


def quartic(seed):
    rng = np.random.default_rng(seed)
    X, c = rng.standard_normal((40, 2)), rng.standard_normal(5)
    powers = np.array([X[:, 0] ** k * X[:, 1] ** (4 - k) for k in range(5)])
    return X, c @ powers + rng.standard_normal(40)


def pools_of(tree):
    """(floor, join) of every valley but the lowest, where it meets a lower one."""
    for edge in tree.edges:
        floors = sorted(min(tree.leaves[i].loss for i in side) for side in edge.sides)
        yield from ((floor, edge.loss) for floor in floors[1:])


def against_flood(seed):
    """Every leaf we have is one of the flood's, every barrier between two of them the flood's; but for shallow ones."""
    X, y = quartic(seed)
    runs = train_deep(X, y, (1,), 20, penalty=1.0, rng=seed, progress=False)
    good = [net for net, slope in zip(runs.networks, runs.gradient_norms, strict=True) if slope < 1e-6]
    tree = sh.connect(runs.problem, good)
    energy = np.mean(y**2)
    lowest, pools = flood_of_forms(X, y)
    deep = [(floor, join) for floor, join in pools if join - floor > 2e-3 * energy]
    assert abs(tree.leaves[0].loss - lowest) < 2e-3 * energy
    ours = sorted(join for floor, join in pools_of(tree) if join - floor > 2e-3 * energy)
    theirs = sorted(
        join for floor, join in deep if any(abs(floor - leaf.loss) < 2e-3 * energy for leaf in tree.leaves)
    )
    assert len(ours) == len(theirs) and np.allclose(ours, theirs, atol=2e-3 * energy)
    for (
        edge
    ) in tree.edges:  # where the outer weight changes its sign the network is zero: a family, not certified
        zero = abs(edge.loss - energy) < 1e-9 * energy
        proof = edge.point.certificate
        assert zero if proof is None else proof.signature_certified and edge.point.signature == (3, 0, 1)
        assert not zero or any("not certified" in note for note in tree.notes)
    return tree


@pytest.mark.parametrize("seed", [1, 6])
def test_flood_fill(seed):
    assert len(against_flood(seed).leaves) == 3


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(20, 60))
def test_flood_fill_on_many(seed):
    against_flood(seed)


def trained(n, hidden, penalty, seed=5, runs=6):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((60, n)), 3 * rng.standard_normal(60)
    return train_deep(X, y, hidden, runs, penalty=penalty, iterations=20000, progress=False)


@pytest.mark.parametrize(("hidden", "penalty", "flat"), [((2,), 1.0, 1), ((2,), 0.0, 4), ((1,), 0.0, 1)])
def test_proofs_across_the_scalings(hidden, penalty, flat):
    """O(2) has one dimension, GL(2) four, GL(1) one: as many zeros, and all other signs are proved."""
    runs = trained(3, hidden, penalty, runs=3)
    tree = sh.connect(runs.problem, runs.networks)
    size = runs.problem.size
    assert all(leaf.point.certificate.signature_certified for leaf in tree.leaves)
    assert all(leaf.point.signature == (size - flat, flat, 0) for leaf in tree.leaves)
    proved = [edge for edge in tree.edges if edge.point.certificate is not None]
    assert proved and all(edge.point.signature == (size - flat - 1, flat, 1) for edge in proved)
    for edge in proved:
        theta = runs.problem.pack(edge.point.network)
        values = np.linalg.eigvalsh(runs.problem.hessian_at(theta))
        assert np.sum(values < -1e-7 * values.max()) == 1
        assert np.linalg.norm(runs.problem.value_and_gradient(theta)[1]) < 1e-6


def test_nothing_is_proved_of_what_is_not_critical():
    runs = trained(2, (2,), 1.0, runs=1)
    theta = runs.problem.pack(runs.networks[0])
    tree = sh.connect(runs.problem, runs.networks)
    proof = deep_proof(runs.problem, runs.problem.pack(tree.leaves[0].point.network), 0)
    assert proof is not None and proof.certificate.signature_certified and proof.certificate.radius < 1e-8
    wrong = deep_proof(runs.problem, runs.problem.pack(tree.leaves[0].point.network), 1)
    assert wrong is not None and not wrong.certificate.signature_certified  # it is no saddle
    rng = np.random.default_rng(0)
    for size in (1.0, 1e-2):
        assert deep_proof(runs.problem, theta + size * rng.standard_normal(len(theta)), 0) is None
    assert deep_proof(runs.problem, np.zeros_like(theta), 0) is None  # the zero network: its orbit is a point


def test_more_flat_directions_than_scalings_are_said():
    """Four forms of two inputs, which have three: nothing is proved, and the tree says so."""
    runs = trained(2, (4,), 1.0, runs=2)
    tree = sh.connect(runs.problem, runs.networks)
    assert len(tree.leaves) == 1 and tree.leaves[0].point.certificate is None
    assert tree.leaves[0].point.kind == "global minimum"
    assert any("not certified" in note for note in tree.notes)


def test_symmetric_data_make_one_leaf():
    """Samples and labels that do not change when inputs are exchanged: the two minima are images of each other."""
    rng = np.random.default_rng(3)
    half = rng.standard_normal((40, 2))
    X = np.r_[half, half[:, ::-1]]
    y = X[:, 0] ** 4 + X[:, 1] ** 4 - 3 * X[:, 0] ** 2 * X[:, 1] ** 2
    runs = train_deep(X, y, (1,), 20, penalty=1.0, progress=False)
    net = runs.networks[runs.best]
    mirror = DeepNetwork(net.shape, net.theta[[2, 1, 0, 3]])
    assert np.isclose(runs.problem.loss(net), runs.problem.loss(mirror))
    opposite = DeepNetwork(net.shape, net.theta * [-1, -1, -1, 1])
    assert len(sh.connect(runs.problem, [net, mirror, opposite]).leaves) == 1
    apart = sh.connect(runs.problem, [net, opposite], up_to_symmetry=False)
    assert len(apart.leaves) >= 2


def test_one_input():
    """f = m(ax²)²: minima at ±a, a ridge of flat directions between them: the loss of the zero network and γ."""
    x = np.linspace(-1, 2, 30)[:, None]
    y = x[:, 0] ** 4
    runs = train_deep(x, y, (1,), 2, penalty=1.0, progress=False)
    net = runs.networks[0]
    tree = sh.connect(runs.problem, [net, DeepNetwork(net.shape, net.theta * [-1, 1])], up_to_symmetry=False)
    assert [round(leaf.loss, 9) for leaf in tree.leaves] == [0.0, 0.0]
    assert tree.barrier(0, 1) == pytest.approx(np.mean(y**2) + 1.0)
    assert tree.edges[0].point.certificate is None and tree.edges[0].point.signature == (0, 1, 1)


def test_files_and_pictures(tmp_path):
    x = np.random.default_rng(0).standard_normal((60, 2))
    runs = train_deep(x, x[:, 0] ** 4 + x[:, 1] ** 4, (1,), penalty=1.0, progress=False)
    tree = sh.connect(runs.problem, runs.networks)
    again = sh.load_connections(tree.save(tmp_path / "deep-1.5"))
    assert again == tree and "sampled" in repr(again)
    ours, theirs = tree.leaves[0].point, again.leaves[0].point
    assert np.array_equal(ours.network.theta, theirs.network.theta) and ours.certificate == theirs.certificate
    assert np.allclose(theirs.network(x), ours.network(x))
    texts = [text for trace in again.figure().data for text in (trace.text or ())]
    assert any("DeepNetwork(2-1-1" in text for text in texts)
    assert len(again.to_dataframe()) == len(tree.leaves) + len(tree.edges)


def test_what_is_refused():
    runs = trained(2, (1,), 1.0, runs=2)
    with pytest.raises(sh.InvalidProblem, match=r"networks\[0\].*DeepNetwork"):
        sh.connect(runs.problem, [sh.Network(np.eye(2))])
    with pytest.raises(sh.InvalidProblem, match=r"networks\[1\] is no minimum.*train_deep"):
        sh.connect(runs.problem, [runs.networks[0], DeepNetwork(runs.shape, runs.networks[0].theta + 1.0)])
    with pytest.raises(sh.InvalidProblem, match="list of trained networks"):
        sh.connect(runs.problem, [])
