"""Paper 002, section 3 and appendix D: the norm neuron, the orthogonality penalty, and their remarks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

import shallows as sh
from shallows.questions.quadratic.certificates import inspect
from shallows.questions.quadratic.eigendecomposition import eigendecompose
from shallows.questions.quadratic.orthogonality import fit_orthogonal, rotated_identity
from shallows.questions.quadratic.training import identity_start, train
from shallows.questions.quadratic.variants import plain, with_norm, with_orthogonality
from shallows.support.checks import Array
from shallows.uses.papers.claim import Trial, claim
from shallows.uses.papers.kazemipour.instances import least_squares, samples
from shallows.uses.papers.mutations import DOUBLED, NEGATED, Mutation, of_field
from shallows.uses.papers.outcome import Outcome, at_least, equal, fact

#: An excess over the optimum below this share of E y² is none: descents leave 1e-10 or so.
EXCESS = 1e-6
#: Gradient norm, of E y², at which descents stop: that leaves far less than EXCESS.
STATIONARY = 1e-9
#: The largest entry of a gradient where Adam has come to rest: of 298 traps after 4,000 epochs all but two have at most
#: 0.01, and those two, on their way past a saddle, 6 and 19.
AT_REST = 0.1
NEVER_GLOBAL = Mutation("never global", lambda found: replace(found, definiteness="positive", above=1.0))
ALWAYS_GLOBAL = Mutation("always global", lambda found: replace(found, definiteness="zero"))
NO_ENDS = Mutation("no run ends", lambda runs: replace(runs, status=np.full_like(runs.status, 99)))


def doubled_outer(net: sh.Network) -> sh.Network:
    """The network with its outer weights doubled: a wrong answer."""
    return sh.Network(net.W, 2 * net.a)


def _end(problem: sh.Problem, theta: Array, what: str) -> Outcome:
    """An end point is global, by its excess over least squares and by `inspect`, or its direction lowers the loss."""
    best, scale = least_squares(problem)
    net = problem.unpack(theta)
    found, loss = inspect(problem, net, tolerance=1e-5), float(problem.value(theta))
    excess = (loss - best) / scale
    if excess < EXCESS:
        return fact(found.is_global, f"{what}: excess {excess:.1g}, {found.verdict}")
    if found.direction is None:
        return fact(False, f"{what}: {found!r}")
    lower = min(float(problem.value(theta + t * found.direction.direction)) for t in (-1e-2, 1e-2))
    return fact(lower < loss and not found.is_global, f"{what}: excess {excess:.2g}, {found.verdict}")


def _all_escape(trial: Trial, problem: sh.Problem, what: str) -> Iterator[Outcome]:
    """Every end point of descents from random starts is global, or has a direction of negative curvature."""
    runs = sh.ensemble(
        problem, runs=len(trial.times(12, 100)), method="lm", rng=int(trial.rng.integers(2**31))
    )
    ends = runs.thetas[runs.converged]
    yield fact(2 * len(ends) >= len(runs), f"{what}: {len(ends)} of {len(runs)} runs end")
    for theta in ends:
        yield _end(problem, theta, what)


@claim(
    "002",
    "Theorem D.1.1",
    "Norm neuron, γ = 0, k ≥ d: from almost every start descent ends at a global minimum or at a strict saddle "
    "(also Theorem 3.1).",
    control=("without the norm neuron", {"norm": False}),
    tests={"shallows.ensemble": (NO_ENDS,), "shallows.quadratic.inspect": (NEVER_GLOBAL,)},
)
def theorem_d_1_1(trial: Trial, norm: bool = True) -> Iterator[Outcome]:
    """Levenberg–Marquardt from random starts, k = d and d + 1, on independent labels and on a positive target,
    where the plain network has traps; ends judged by least squares and by moves along the directions that `inspect`
    gives."""
    for d, k in ((2, 2), (2, 3), (3, 3)):
        data = samples(trial.rng, d, 30)
        problem = with_norm(data, k) if norm else plain(data, k)
        yield from _all_escape(trial, problem, f"d={d}, k={k}, samples")
        target = sh.Problem(np.diag(np.arange(1.0, d + 1)), sh.Gaussian(d), k, norm_neuron=norm)
        yield from _all_escape(trial, target, f"d={d}, k={k}, positive target")


def _symmetric_targets() -> list[sh.Problem]:
    """Targets of norm one that commute with an exchange of coordinates: from (0, I) descent cannot leave that
    symmetry."""
    tables = ([[0.0, 1.0], [1.0, 0.0]], [[2.0, 1.0], [1.0, 2.0]])
    return [
        sh.Problem(np.array(A) / np.linalg.norm(A), sh.Frobenius(2), width=2, orthogonality=1.0)
        for A in tables
    ]


def _penalised_end(problem: sh.Problem, start: Array) -> tuple[float, float, float, sh.Network]:
    """Excess of the whole objective over least squares, over E y², the defect ‖QQᵀ − I‖, and where descent ended."""
    best, scale = least_squares(problem)
    run = sh.descend(problem, start, method="lbfgs", tolerance=STATIONARY * scale)
    W = run.network.W
    return (run.loss - best) / scale, float(np.linalg.norm(W.T @ W - np.eye(problem.n))), scale, run.network


@claim(
    "002",
    "Theorem D.1.2",
    "α = 0, γ ≥ E y², k = d: descent from (0, Q₀), Q₀ almost any orthogonal matrix, as near to I as you like, ends "
    "at a global minimum with QQᵀ = I. From (0, I) itself it may end at a strict saddle.",
    control=("γ = 0 from a start of the losing sign", {"penalty": False}),
    printed=("from (0, I) always: A = [[0, 1], [1, 0]] and [[2, 1], [1, 2]]", {"turned": False}),
    tests={
        "shallows.quadratic.fit_orthogonal": (
            Mutation("outer weights doubled", lambda fit: replace(fit, network=doubled_outer(fit.network))),
            of_field("defect", Mutation("one more", lambda defect: defect + 1)),
        ),
        "shallows.descend": (
            Mutation(
                "outer weights doubled",
                lambda run: replace(run, network=doubled_outer(run.network), loss=run.loss + 1),
            ),
        ),
    },
)
def theorem_d_1_2(trial: Trial, penalty: bool = True, turned: bool = True) -> Iterator[Outcome]:
    """End points from small random rotations of (0, I), on samples and on two matrices whose symmetry holds (0, I)
    fast; and those of `fit_orthogonal`. Excess over least squares, and the defect of QQᵀ."""
    if not penalty:
        problem = sh.Problem(np.eye(3), sh.Gaussian(3), 3)
        losing = sh.Network(0.1 * trial.rng.standard_normal((3, 3)), -np.ones(3))
        excess, *_ = _penalised_end(problem, problem.pack(losing))
        yield equal(excess, EXCESS, "no penalty, a < 0, target I")
        return
    problems = _symmetric_targets() + [
        with_orthogonality(samples(trial.rng, d, 40), d) for d in (2, 3, 5) for _ in trial.times(1, 6)
    ]
    for problem in problems:
        start = rotated_identity(problem, rng=trial.rng) if turned else identity_start(problem)
        excess, defect, scale, _ = _penalised_end(problem, start)
        yield equal(excess, EXCESS, f"d={problem.n}: excess {excess:.2g} of E y² = {scale:.3g}")
        yield equal(defect, 1e-3, f"d={problem.n}: ‖QQᵀ − I‖")
        found = fit_orthogonal(problem, rng=trial.rng)
        best, _ = least_squares(problem)
        yield equal((problem.loss(found.network) - best) / scale, EXCESS, f"d={problem.n}: {found!r}")
        yield equal(found.defect, 1e-3, f"d={problem.n}: its ‖QQᵀ − I‖")


#: γ is multiplied by 4 up to this many times: 4^9 = 262,144 times E y².
DOUBLINGS = 9


@claim(
    "002",
    "Theorem D.1.3",
    "α = 0, k = d: for every start (λ₀, Q₀) there is γ₀ such that for γ > γ₀ every stationary point that descent "
    "reaches is global or a strict saddle. γ₀ depends on the start: no γ serves all of them.",
    control=("one γ = 50 for all starts, λ₀ about −10", {"one_gamma": 50.0}),
    tests={
        "shallows.quadratic.inspect": (NEVER_GLOBAL,),
        "shallows.descend": (Mutation("not an end", lambda run: replace(run, theta=run.theta + 0.1)),),
    },
)
def theorem_d_1_3(trial: Trial, one_gamma: float | None = None) -> Iterator[Outcome]:
    """Starts with λ₀ about −10 and Q₀ random, on a positive target: γ is raised by factors of four until descent
    ends at no trap, which it must, and then for the next two values as well."""
    for d in (2, 3):
        bare = sh.Problem(np.diag(np.arange(1.0, d + 1)), sh.Gaussian(d), d)
        for _ in trial.times(6 if one_gamma else 1, 30):
            W, _ = np.linalg.qr(trial.rng.standard_normal((d, d)))
            start = bare.pack(
                sh.Network(W * trial.rng.uniform(0.7, 1.3, (d, 1)), trial.rng.normal(-10, 1, d))
            )
            what = f"d={d}, λ₀ = {start[d * d :].round(1).tolist()}"
            if one_gamma is not None:
                yield _penalised(bare, start, one_gamma, what)
                continue
            gammas = [50.0 * 4.0**j for j in range(DOUBLINGS)]
            ends = (_penalised(bare, start, gamma, what) for gamma in gammas)
            first = next((end for end in ends if end.holds), None)
            yield fact(first is not None, f"{what}: γ₀ below {gammas[-1]:g}")
            yield from islice(ends, 2)


def _penalised(bare: sh.Problem, start: Array, gamma: float, what: str) -> Outcome:
    problem = sh.Problem(bare.target, bare.data, bare.width, orthogonality=gamma)
    run = sh.descend(problem, start, method="lbfgs", tolerance=1e-8)
    return _end(problem, run.theta, f"{what}, γ={gamma:g}")


@claim(
    "002",
    "Corollary D.1",
    "Theorem D.1 for the population risk of any law with four moments: norm neuron from almost every start, penalty"
    " γ ≥ E y² from almost every (0, Q₀).",
    control=("without norm neuron and penalty", {"bare": True}),
    tests={
        "shallows.ensemble": (NO_ENDS,),
        "shallows.quadratic.inspect": (NEVER_GLOBAL,),
        "shallows.quadratic.fit_orthogonal": (
            Mutation("outer weights doubled", lambda fit: replace(fit, network=doubled_outer(fit.network))),
        ),
    },
)
def corollary_d_1(trial: Trial, bare: bool = False) -> Iterator[Outcome]:
    """Gaussian and heavy-tailed populations, positive targets: ends of random starts, and of `fit_orthogonal`."""
    for data in (sh.Gaussian(3), sh.IID.laplace(3)):
        target = sh.Network(np.eye(3) + 0.3 * trial.rng.standard_normal((3, 3)))
        problem = sh.Problem(target, data, 3, norm_neuron=not bare)
        yield from _all_escape(trial, problem, f"{data!r}, norm neuron")
        energy = float(sh.Problem(target, data, 3).value(np.zeros(12)))
        penalised = sh.Problem(target, data, 3, orthogonality=energy)
        found = fit_orthogonal(penalised, rng=trial.rng)
        yield equal(penalised.loss(found.network) / energy, EXCESS, f"{data!r}, penalty: {found!r}")


@claim(
    "002",
    "Remark D.1-1",
    "Bad stationary points of the plain network have a singular R ≠ 0, but for the zero function, whose R is any; "
    "ranks of R above 1 are common (d = 5).",
    control=("global minima", {"at_global": True}),
    printed=("almost all have rank ΣrX = 1", {"only_one": True}),
    tests={"shallows.quadratic.inspect": (ALWAYS_GLOBAL,), "shallows.quadratic.train": ()},
)
def remark_d_1_1(trial: Trial, at_global: bool = False, only_one: bool = False) -> Iterator[Outcome]:
    """Ranks of R = E[r xxᵀ], by its definition 2(T−A) + tr(T−A)I, over the traps in which Adam from random starts has
    come to rest."""
    d = 5
    target = np.diag(np.arange(1.0, d + 1))
    problem = sh.Problem(target, sh.Gaussian(d), d)
    runs = train(problem, len(trial.times(40, 400)), epochs=4000, step=3e-3, rng=trial.rng)
    ranks = []
    for theta in runs.thetas:
        net = problem.unpack(theta)
        if inspect(problem, net, tolerance=1e-4).is_global != at_global:
            continue
        if np.abs(problem.gradient(net)).max() > AT_REST:
            continue  # on its way past a saddle: no stationary point
        B = target - (net.W.T * net.a) @ net.W
        values = np.linalg.eigvalsh(2 * B + np.trace(B) * np.eye(d))
        ranks.append(int(np.sum(np.abs(values) > 1e-2 * d)))
        zero = np.abs(target - B).max() < 1e-9  # Rw = 0 for a neuron aw ≠ 0, which the zero function has not
        yield fact(1 <= ranks[-1] < d + zero, f"a bad stationary point with rank R = {ranks[-1]}")
    share = float(np.mean(np.array(ranks) == 1)) if ranks else 0.0
    yield fact(
        share > 0.95 if only_one else max(ranks, default=0) > 1,
        f"{len(ranks)} traps, ranks {sorted(set(ranks))}, {share:.0%} of rank one",
    )


@claim(
    "002",
    "Remark D.1-2",
    "Theorem D.1.2 does not depend on the step, as long as the objective falls.",
    control=("stopped after three steps", {"iterations": 3}),
    tests={
        "shallows.descend": (Mutation("not an end", lambda run: replace(run, theta=run.theta + 0.1)),),
        "shallows.quadratic.with_orthogonality": (),
    },
)
def remark_d_1_2(trial: Trial, iterations: int = 200_000) -> Iterator[Outcome]:
    """Gradient descent at fixed steps from a small rotation of (0, I): it falls, and ends at least squares."""
    problem = with_orthogonality(samples(trial.rng, 2, 40), 2)
    best, scale = least_squares(problem)
    start = rotated_identity(problem, 0.1, rng=trial.rng)
    for step in (0.05, 0.1):
        run = sh.descend(
            problem, start, method="gd", step=step, tolerance=1e-5, iterations=iterations, polish=False
        )
        end = float(problem.value(run.theta))
        excess, fell = (end - best) / scale, end < float(problem.value(start))
        yield fact(
            fell and excess < EXCESS, f"step {step:g}: excess {excess:.1g} after {run.iterations} steps"
        )


@claim(
    "002",
    "Remark D.1-3",
    "Theorem D.1.1 holds with any positive definite D in place of I in the norm neuron.",
    control=("no norm neuron", {"norm": False}),
    tests={"shallows.ensemble": (NO_ENDS,), "shallows.quadratic.inspect": (NEVER_GLOBAL,)},
)
def remark_d_1_3(trial: Trial, norm: bool = True) -> Iterator[Outcome]:
    """xᵀDx is ‖x‖² of inputs changed by D^{1/2}: the same check in those inputs, D random."""
    for d in (2, 3):
        A = trial.rng.standard_normal((d, d))
        root = np.linalg.cholesky(A @ A.T + np.eye(d))
        target = np.linalg.inv(root) @ np.diag(np.arange(1.0, d + 1)) @ np.linalg.inv(root).T
        problem = sh.Problem((target + target.T) / 2, sh.Gaussian(d, root.T @ root), d, norm_neuron=norm)
        yield from _all_escape(trial, problem, f"d={d}, a random D")


@claim(
    "002",
    "Remark D.1-4",
    "Near a rank-deficient Q the landscape of large γ is the penalty's: for Q with orthonormal columns but one zero"
    " the lowest curvature is −4γ + O(1) as γ → ∞.",
    control=("γ = 0", {"large": 0.0}),
    tests={"shallows.Problem.hessian": (DOUBLED, NEGATED)},
)
def remark_d_1_4(trial: Trial, large: float = 1e5) -> Iterator[Outcome]:
    """The lowest eigenvalue of the library's Hessian in Q at such points, over γ."""
    for d in (2, 3, 4):
        problem = sh.Problem(np.diag(np.arange(1.0, d + 1)), sh.Gaussian(d), d, orthogonality=large)
        Q, _ = np.linalg.qr(trial.rng.standard_normal((d, d)))
        net = sh.Network(np.vstack([Q[: d - 1], np.zeros((1, d))]), -np.ones(d))
        lowest = float(np.linalg.eigvalsh(problem.hessian(net)[: d * d, : d * d])[0])
        yield equal(
            abs(lowest + 4 * large) / max(large, 1.0),
            1e-2,
            f"d={d}, γ={large:g}: lowest curvature {lowest:.6g}",
        )
        yield at_least(-1.0, lowest, f"d={d}: negative curvature")


@claim(
    "002",
    "Corollary D.2",
    "With the penalty, descent from almost every (0, Q₀) ends at an eigendecomposition QΛQᵀ of a least-squares "
    "optimum; where that is unique and has distinct eigenvalues, (λ, Q) is unique up to the order and the signs of "
    "the columns.",
    control=("without a penalty", {"penalty": False}),
    printed=("(λ, Q) is unique", {"literally": True}),
    tests={
        "shallows.quadratic.fit_orthogonal": (
            Mutation("outer weights doubled", lambda fit: replace(fit, network=doubled_outer(fit.network))),
        ),
        "shallows.descend": (),
    },
)
def corollary_d_2(trial: Trial, penalty: bool = True, literally: bool = False) -> Iterator[Outcome]:
    """λ and the neurons against eigenvalues and eigenvectors of A* (least squares by NumPy); and a second descent,
    from another orthogonal start, against the first: the same up to order and signs."""
    for d in (2, 3, 5):
        data = samples(trial.rng, d, 20 * d)
        problem = with_orthogonality(data, d)
        values, vectors = np.linalg.eigh(_optimal_matrix(data))
        first = fit_orthogonal(problem, rng=trial.rng).network
        second = _penalised_end(problem, rotated_identity(problem, 1.0, rng=trial.rng))[3]
        if not penalty:
            first = sh.descend(
                plain(data, d), sh.Network(np.eye(d), 0.1 * np.ones(d)), method="lbfgs"
            ).network
        size = np.abs(values).max()
        for net in (first, second):
            order = np.argsort(net.a)
            error = np.abs(net.a[order] - values).max() / size
            yield equal(float(error), 1e-3, f"d={d}: λ against the eigenvalues of A*")
            turned = np.abs(net.W[order] @ vectors) * np.minimum.outer(*_gaps(values))
            yield equal(
                float(np.abs(turned - np.diag(np.diag(turned))).max()), 1e-2, f"d={d}: Q diagonalises A*"
            )
        if literally:
            yield equal(float(np.abs(first.W - second.W).max()), 1e-2, f"d={d}: Q of two descents")


def _gaps(values: Array) -> tuple[Array, Array]:
    """The distance of each eigenvalue from the others, over the largest: how well its eigenvector is known."""
    apart = np.abs(values[:, None] - values) + 1e9 * np.eye(len(values))
    gaps = np.minimum(apart.min(axis=1) / np.abs(values).max(), 1.0)
    return gaps, gaps


def _optimal_matrix(data: sh.Samples) -> Array:
    """A* by least squares on the features xᵢxⱼ."""
    d = data.X.shape[1]
    rows, columns = np.triu_indices(d)
    weights = np.where(rows == columns, 1.0, 2.0)
    solution, *_ = np.linalg.lstsq(
        data.X[:, rows] * data.X[:, columns] * weights, np.asarray(data.y), rcond=None
    )
    return sh.SymmetricTensor(solution, d, 2).to_matrix()


@claim(
    "002",
    "Corollary D.3",
    "A symmetric, γ = ‖A‖²: min ‖A − QΛQᵀ‖² + γ‖QQᵀ − I‖² by descent from (0, Q₀), Q₀ almost any orthogonal matrix,"
    " however near to I, gives an eigendecomposition of A. From (0, I) itself not always.",
    control=("against the eigenvalues of A + I/10", {"shift": 0.1}),
    printed=("from (0, I), for every A, as [[0, 1], [1, 0]] and [[2, 1], [1, 2]]", {"turned": False}),
    tests={
        "shallows.quadratic.eigendecompose": (
            of_field("values", DOUBLED),
            of_field("values", NEGATED),
            of_field("vectors", DOUBLED),
        ),
        "shallows.descend": (),
    },
)
def corollary_d_3(trial: Trial, turned: bool = True, shift: float = 0.0) -> Iterator[Outcome]:
    """Random symmetric matrices and two with a symmetry: the excess after descent from a small rotation of (0, I);
    and `eigendecompose`, its values and vectors against NumPy's."""
    matrices = [np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[2.0, 1.0], [1.0, 2.0]])]
    for d in (2, 3, 5):
        for _ in trial.times(1, 8):
            A = trial.rng.standard_normal((d, d))
            matrices.append((A + A.T) / 2)
    for A in matrices[2:] + matrices[:2]:
        unit = A / np.linalg.norm(A)
        problem = sh.Problem(unit, sh.Frobenius(len(A)), len(A), orthogonality=1.0)
        start = rotated_identity(problem, rng=trial.rng) if turned else identity_start(problem)
        excess, *_ = _penalised_end(problem, start)
        yield equal(
            excess, EXCESS, f"A = {A.round(2).tolist()}: ‖A − QΛQᵀ‖² + γ‖QQᵀ − I‖² = {excess:.2g} ‖A‖²"
        )
        found = eigendecompose(A, rng=trial.rng)
        values = np.linalg.eigvalsh(A) + shift
        yield equal(float(np.abs(found.values - values).max()), 1e-5, f"d={len(A)}: {found!r}")
        again = (found.vectors * found.values) @ found.vectors.T
        yield equal(float(np.abs(again - A).max()), 1e-5, f"d={len(A)}: QΛQᵀ = A")
