"""`diagnose`: everything that is known about trained weights, on one page."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from shallows.model.activations import Power
from shallows.model.network import Network
from shallows.model.problem import Problem, as_problem
from shallows.questions.certificates.minimum import CertifiedMinimum, certify_minimum
from shallows.questions.charts.chart import chart as make_chart
from shallows.questions.charts.lowest import lowest_loss
from shallows.questions.charts.points.point import CriticalPoint
from shallows.questions.charts.result import Chart
from shallows.questions.connections.connections import connections
from shallows.questions.connections.tree import MergeTree
from shallows.questions.connections.valley import Valley
from shallows.questions.descent.nearest_critical import FLAT, LARGEST, NearestCritical, nearest_critical
from shallows.questions.descent.traps import is_trapped
from shallows.questions.diagnosis.curvature_step import curvature_step
from shallows.questions.diagnosis.diagnosis import Diagnosis, at_the_point
from shallows.questions.diagnosis.flat_directions import are_explained
from shallows.questions.diagnosis.nearest_point import nearest_point
from shallows.questions.diagnosis.spectrum import Spectrum, spectrum_at
from shallows.questions.geometry.escape.escape import Escape, explain_escape
from shallows.support.budget import OutOfTime, allowed_seconds, budget, duration, stopped_after
from shallows.support.checks import describe
from shallows.support.errors import InvalidProblem, NotDifferentiable, ShallowsError
from shallows.support.progress import Progress
from shallows.support.tolerances import SAME_LOSS

#: Seconds of processor time that a chart may take when nobody asked for one, and the tree of it.
CHARTING = 10.0
#: The largest chart whose tree is made: a path down takes milliseconds.
LARGEST_TREE = 300
#: A critical network is a point of the chart when their functions differ by no more than this share of ‖y‖: Newton's
#: method knows the former to ten digits, roots of small neurons to half of them.
SAME_PLACE = 1e-5
COMPLETE = ("proved", "count-matched", "trace-tested")


def diagnose(
    problem: Problem,
    net: Network,
    *,
    chart: Chart | bool | None = None,
    rng: int | np.random.Generator = 0,
    progress: bool = False,
) -> Diagnosis:
    """One page for trained weights: loss, nearest critical point, kind, proof, spectrum, valley and a way out.

    `chart`: the problem's chart, if it is there already; False makes none, True one in as many seconds as `sh.budget`
    allows (an hour), and by default one is made where it takes ten at most: then it is stopped, and the page is of the
    weights alone. Seconds are of processor time. Only a complete chart (not "sampled") tells the valley and the
    nearest critical point; nothing is sampled here in its place, and `notes` say what is not known for want of it.

    >>> minimum = sh.symmetric_minimum(6, [1, 5]).network()
    >>> trained = sh.Network(minimum.W + 1e-4 * np.cos(np.arange(36.0)).reshape(6, 6), activation=sh.ReLU())
    >>> sh.diagnose(sh.relu_problem(6), trained)
    Diagnosis: Problem(Network(width=6, n=6, activation=ReLU()), Gaussian(6), width=6, activation=ReLU(), outer fixed)
      loss            0.05016141..., 0.00645 of that of f = 0
      gradient        0.00128
      critical point  0.00043 away, loss 0.0501611620..., 36 positive, 0 flat, 0 negative curvatures
      kind            local minimum; the lowest loss of this width is 0
      certificate     ...a strict local minimum within ... of the network, loss in [0.05016116..., 0.05016116...],
                      Hessian eigenvalues > 0.0094..., 128 bits
      spectrum        36 positive, 0 undecided, 0 negative, from 0.00929... to ..., each to ..., proved
      chart           none
      valley          not known
      escape          none: ...
      not proved, or only sampled:
    ...
    """
    problem = as_problem(problem)
    problem.pack(net)  # refuses what is no student of this problem
    if not (chart is None or isinstance(chart, bool | Chart)):
        raise InvalidProblem(
            f"chart is {describe(chart)}; expected a Chart of this problem, True, False or None."
        )
    work = _Work(problem, net)
    with Progress(6, "diagnosing", progress, "questions") as bar:
        made = work.charted(chart, rng, progress)
        bar.advance()
        gradient, spectrum = work.derivatives()
        bar.advance()
        critical = work.critical()
        lowest = work.lowest(made)
        kind = work.kind(critical, lowest, gradient)
        bar.advance()
        minimum = work.proof(critical, kind)
        bar.advance()
        point, gap = nearest_point(problem, made, net)
        listed = work.listed(made, critical, kind)
        tree, valley = work.valley(made)
        bar.advance()
        escape = work.escape(critical, kind, minimum)
        bar.advance()
    if critical is not None:
        work.remark_proofs(critical, kind, minimum, listed)
    work.remark(made)
    return Diagnosis(
        problem=problem,
        network=net,
        loss=problem.loss(net),
        loss_error=problem.truncation_error(net),
        zero_loss=work.zero_loss,
        gradient_norm=gradient,
        spectrum=spectrum,
        critical=critical,
        kind=kind,
        lowest=lowest,
        minimum=minimum,
        chart=made,
        tree=tree,
        point=point,
        gap=gap,
        listed=listed,
        valley=valley,
        escape=escape,
        notes=tuple(work.notes),
    )


@dataclass
class _Work:
    """The questions one by one; each leaves a note where it has no answer."""

    problem: Problem
    net: Network
    notes: list[str] = field(default_factory=list)
    seconds: float = CHARTING

    @property
    def zero_loss(self) -> float:
        """E y², the loss of f = 0."""
        return float(self.problem.objective.value(*_silent(self.problem)))

    def charted(
        self, given: Chart | bool | None, rng: int | np.random.Generator, progress: bool
    ) -> Chart | None:
        """A complete chart, or None and the reason."""
        if isinstance(given, Chart):
            made = given
        elif given is False:
            self.notes.append("No chart was asked for: other critical points, and the valley, are not known.")
            return None
        else:
            self.seconds = allowed_seconds() if given else min(CHARTING, allowed_seconds())
            try:
                with budget(seconds=self.seconds), stopped_after(self.seconds):
                    made = make_chart(self.problem, rng=rng, progress=progress)
            except OutOfTime:
                self.notes.append(
                    f"The chart was stopped after {duration(self.seconds)} of processor time: other critical points, "
                    f"and the valley, are not known; nothing was sampled in their place. {self._more_time()}"
                )
                return None
            except ShallowsError as error:
                if given:
                    raise
                self.notes.append(f"There is no complete list of critical points, and so no valley. {error}")
                return None
        if made.completeness not in COMPLETE:
            self.notes.append("The chart is only sampled: it is not used here, and the valley is not known.")
            return None
        return made

    def _more_time(self) -> str:
        most = duration(allowed_seconds())
        return f"Fix: chart=True, and inside sh.budget(seconds=…) if that takes more than {most}."

    def derivatives(self) -> tuple[float | None, Spectrum | None]:
        """The gradient's norm and the Hessian's eigenvalues."""
        try:
            gradient = float(np.linalg.norm(self.problem.gradient(self.net)))
        except NotDifferentiable as error:
            self.notes.append(f"There are no derivatives here. {error}")
            return None, None
        if self.problem.size > LARGEST:
            self.notes.append(
                f"No spectrum: {self.problem.size:,} parameters, more than the {LARGEST:,} of a dense Hessian."
            )
            return gradient, None
        return gradient, spectrum_at(self.problem, self.net)

    def critical(self) -> NearestCritical | None:
        """Where Newton's method arrives."""
        try:
            return nearest_critical(self.problem, self.net)
        except ShallowsError as error:
            self.notes.append(f"No critical point was reached. {error}")
            return None

    def lowest(self, chart: Chart | None) -> float | None:
        """The lowest loss of this width: by theory, or by a complete chart of all networks."""
        known = lowest_loss(self.problem)
        if known is None and chart is not None and not chart.scope:
            return chart.infimum
        return known

    def kind(self, critical: NearestCritical | None, lowest: float | None, gradient: float | None) -> str:
        """What the weights are at, in parameter space."""
        if gradient is None:
            return "not differentiable"
        if critical is None or not at_the_point(self.problem, self.net, critical):
            return "not critical"
        if critical.loss <= (0.0 if lowest is None else lowest) + SAME_LOSS * self.zero_loss:
            return "global minimum"
        positive, flat, negative = critical.signature
        if negative:
            return "saddle" if positive or flat else "local maximum"
        if flat and not self._explained(critical):
            self.notes.append(
                f"{flat} flat directions are no symmetry of the network: curvatures do not decide what it is."
            )
            return "degenerate"
        return "local minimum"

    def _explained(self, critical: NearestCritical) -> bool:
        values, vectors = np.linalg.eigh(self.problem.hessian(critical.network))
        flat = vectors[:, np.abs(values) <= FLAT * float(np.abs(values).max(initial=0.0))]
        return bool(flat.shape[1]) and are_explained(self.problem, critical.network, flat)

    def proof(self, critical: NearestCritical | None, kind: str) -> CertifiedMinimum | None:
        """A proof that it is a strict minimum."""
        if critical is None or kind not in ("global minimum", "local minimum"):
            return None
        try:
            return certify_minimum(self.problem, critical.network)
        except ShallowsError:
            return None

    def listed(
        self, chart: Chart | None, critical: NearestCritical | None, kind: str
    ) -> CriticalPoint | None:
        """The chart's point that the weights are at."""
        if critical is None or kind == "not critical":
            return None
        point, gap = nearest_point(self.problem, chart, critical.network)
        return point if gap is not None and gap <= SAME_PLACE * np.sqrt(self.zero_loss) else None

    def valley(self, chart: Chart | None) -> tuple[MergeTree | None, Valley | None]:
        """The merge tree, and the leaf below the weights."""
        if chart is None:
            return None, None
        if not isinstance(self.problem.activation, Power):
            self.notes.append("Merge trees are of powers: the valley is not known.")
            return None, None
        if len(chart.critical) > LARGEST_TREE:
            self.notes.append(
                f"No merge tree is made of more than {LARGEST_TREE} critical points: chart.connections()."
            )
            return None, None
        tree = None
        try:
            with stopped_after(self.seconds):
                tree = connections(chart)
                found = tree.valley(self.net)
        except OutOfTime:
            self.notes.append(
                f"The merge tree was stopped after {duration(self.seconds)} of processor time: the valley is not "
                f"known. {self._more_time()}"
            )
            return tree, None
        except ShallowsError as error:
            self.notes.append(f"The valley is not known. {error}")
            return tree, None
        if tree.known != "proved":
            self.notes.append(f"The merge tree is {tree.known}: {'; '.join(tree.notes)}.")
        return tree, found

    def escape(self, critical: NearestCritical | None, kind: str, minimum: CertifiedMinimum | None) -> Escape:
        """A way down from the critical point; from the weights, where they are not at one."""
        if kind == "global minimum":
            return Escape(None, "", "The loss is the lowest there is.")
        if minimum is not None:
            return Escape(
                None, "", "It is a proved strict minimum: the loss rises first on every way out of it."
            )
        there = self.net if critical is None or kind == "not critical" else critical.network
        twin = self.problem
        if self.problem.bias:
            twin, there = self.problem.homogeneous(), there.homogeneous()
        found = explain_escape(twin, there)
        if found:
            return found
        if kind == "saddle" and not twin.norm_neuron:
            step = curvature_step(twin, there)
            if step is not None:
                self.notes.append("That the loss falls along the escape path is looked at, not proved.")
                return step
        if kind == "not critical":
            return Escape(
                None, "", f"None is needed: the weights are not critical, −∇L leads down. ({found.reason})"
            )
        return found

    def remark_proofs(
        self,
        critical: NearestCritical,
        kind: str,
        minimum: CertifiedMinimum | None,
        listed: CriticalPoint | None,
    ) -> None:
        """What is only numerical about the critical point."""
        self.notes.append(
            "The critical point is the one that Newton's method reaches: another may be nearer in parameters."
        )
        proof = critical.certificate
        if minimum is None and (proof is None or not proof.signature_certified):
            where = "in parameter space " if listed is not None and listed.certificate is not None else ""
            self.notes.append(f"Its kind {where}is read off curvatures in floating point.")
        if kind == "global minimum":
            self.notes.append("That the loss is the lowest there is holds to nine digits of that of f = 0.")

    def remark(self, chart: Chart | None) -> None:
        """What is not said."""
        if chart is not None and chart.families:
            self.notes.append(
                "The nearest point of the chart is one of the isolated ones; distances to its families are not known."
            )
        if self.problem.data.as_samples() is None:
            tensors = isinstance(self.problem.activation, Power) and not self.problem.affine
            if tensors and is_trapped(self.problem, self.net):
                self.notes.append(
                    "Gradient flow from these weights never gets below the loss of f = 0 (paper 000, Corollary 17)."
                )
        else:
            self.notes.append(
                "The loss is the mean over the samples: what holds for new data is not said here."
            )


def _silent(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """A student whose outer weights are zero, as the objective takes it."""
    inputs = problem.n + int(problem.affine)
    return np.ones((problem.width, inputs)), np.zeros((problem.outputs, problem.width))
