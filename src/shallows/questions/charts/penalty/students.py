"""Which pairs of matrices (s, P) = (Σ aᵢ wᵢwᵢᵀ, Σ wᵢwᵢᵀ) networks have, and in which unknowns.

Loss and orthogonality penalty together are one quadratic function of the pair. Networks with a pair are not isolated
where neurons have one and the same outer weight: rotations among them change neither matrix. So neurons are taken in
groups of equal weight, and in a group the k-th neuron lies in the span of the last n − k columns of a frame: every
group can be rotated there, in finitely many ways.

- *a fixed*: a stratum is how many neurons of each weight are in use. The others are zero.
- *a trained*: neurons in use may have different weights or equal ones; each way to divide them with some equal is a
  stratum, those of different weights are those without penalty (`trained`). A critical pair of a group is critical in
  each neuron's weight after a rotation: with E the slope in s, the diagonal of W E Wᵀ, whose sum vanishes, can be
  rotated to zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from shallows.mathematics.tensors import coordinates
from shallows.questions.charts.closure.closure import partitions
from shallows.questions.charts.continuation.equations import Complex
from shallows.questions.charts.neurons.equations import NeuronEquations
from shallows.questions.charts.neurons.neuron import Neuron
from shallows.support.checks import Array

#: Frames have so few binary digits that products of two entries, and sums of a few, are exact.
DIGITS = 2.0**8
#: w·w of a singular end, known to about the fourth root of rounding, as a share of ‖w‖²; and the length of a neuron
#: that is zero, where others are of size one.
ISOTROPIC = 1e-3
#: What a neuron of outer weight zero adds to s, where unknowns are of size one: ends on sets of solutions are known to
#: about the root of rounding, those with weight zero to 10⁻⁹ as seen. The weight alone does not tell: long neurons have
#: small ones, 5·10⁻⁴ at a length of 2,600.
NO_WEIGHT = 1e-6
#: Outer weights that agree to this share are one: points are known to 10⁻⁹ or so.
ONE_WEIGHT = 1e-7


@dataclass(frozen=True)
class Group:
    """Neurons with one outer weight, None where it is trained."""

    weight: float | None
    size: int


@dataclass(frozen=True)
class Place:
    """Where one neuron is among the unknowns: its `weight` (a number, or the place of one) and those of wᵢ."""

    weight: float
    trained: int | None
    unknowns: tuple[int, ...]
    first: int


def frame_of(n: int, groups: tuple[Group, ...]) -> Array:
    """A random frame, the identity where no group needs one."""
    if all(group.size == 1 for group in groups):
        return np.eye(n)
    return np.round(np.random.default_rng(n).standard_normal((n, n)) * DIGITS) / DIGITS


def places_of(n: int, groups: tuple[Group, ...]) -> list[Place]:
    """One a neuron, in the order of the groups."""
    places, count = [], 0
    for group in groups:
        trained = None
        if group.weight is None:
            trained, count = count, count + 1
        for k in range(group.size):
            own = tuple(range(count, count + n - k))
            places.append(Place(1.0 if group.weight is None else group.weight, trained, own, k))
            count += n - k
    return places


def neuron_of(n: int, groups: tuple[Group, ...], mirrored: bool = False, constants: int = 0) -> Neuron:
    """All neurons as one map from the unknowns to the entries of (s, P), outer weights in P where it is `mirrored`.

    P is of the inputs behind the first ones, if these are `constants`.

    >>> neuron_of(1, (Group(2.0, 1),)).values(np.array([3.0]))
    array([18.,  9.])
    """
    frame, places = frame_of(n, groups), places_of(n, groups)
    total = places[-1].unknowns[-1] + 1
    size, rest = coordinates.dimension(n, 2), coordinates.dimension(n - constants, 2)
    both = [(k, p, q, not mirrored) for k, (p, q) in enumerate(coordinates.indices(n, 2).tolist())]
    inner = coordinates.indices(n - constants, 2) + constants
    both += [(size + k, p, q, mirrored) for k, (p, q) in enumerate(inner.tolist())]
    products: list[tuple[int, float, tuple[int, ...]]] = []
    for place in places:
        columns = frame[:, place.first :]
        outer = () if place.trained is None else (place.trained,)
        for entry, p, q, weighted in both:
            for (i, x), (j, y) in product(enumerate(place.unknowns), repeat=2):
                factor = float(columns[p, i] * columns[q, j]) * (place.weight if weighted else 1.0)
                products.append((entry, factor, (x, y, *outer) if weighted else (x, y)))
    return Neuron.of_products(total, size + rest, products)


@dataclass(frozen=True, repr=False)
class PenalisedEquations(NeuronEquations):
    """The critical equations of one stratum, as those of one neuron with the pair (s, P) for its function."""

    inputs: int = 0
    groups: tuple[Group, ...] = ()
    constants: int = 0

    @classmethod
    def of(cls, n: int, groups: tuple[Group, ...], constants: int = 0) -> PenalisedEquations:
        """For networks in n inputs, the first of which may be a constant, that P does not see."""
        neuron = neuron_of(n, groups, constants=constants)
        return cls(neuron, 1, outer=((1.0,),), inputs=n, groups=groups, constants=constants)

    @property
    def cancels(self) -> bool:
        """Yes: near w·w = 0 the penalty hardly sees how long a neuron is."""
        return True

    @property
    def rounded(self) -> NeuronEquations:
        """The same in doubles: under any metric on P nothing cancels, and on ways to infinity digits do not help."""
        return NeuronEquations(self.neuron, 1, outer=self.outer)

    def orbit(self, x: Complex) -> Complex:
        """All changes of sign of single neurons; the order of groups is told apart by nobody who asks."""
        places = places_of(self.inputs, self.groups)
        images = []
        for signs in product((1.0, -1.0), repeat=len(places)):
            image = np.array(x)
            for sign, place in zip(signs, places, strict=True):
                image[list(place.unknowns)] *= sign
            images.append(image)
        return np.array(images)

    def network(self, x: Any) -> tuple[Any, Any]:
        """Outer weights and neurons."""
        frame = frame_of(self.inputs, self.groups)
        places = places_of(self.inputs, self.groups)
        a = np.array([p.weight if p.trained is None else x[p.trained] for p in places])
        W = np.array([frame[:, p.first :] @ x[list(p.unknowns)] for p in places])
        return a, W

    def unknowns_of(self, a: Array, W: Array) -> Array:
        """The unknowns of a network whose neurons are in the order of the groups, each group rotated into its frame."""
        frame, parts, start = frame_of(self.inputs, self.groups), list[Array](), 0
        for group in self.groups:
            inner = np.linalg.solve(frame, W[start : start + group.size].T).T
            turned = np.linalg.qr(inner)[1] if group.size > 1 else inner
            parts += [a[start : start + 1]] if group.weight is None else []
            parts += [row[k:] for k, row in enumerate(turned)]
            start += group.size
        return np.concatenate(parts)

    def real_starts(self, x: Complex) -> list[Array]:
        """Real networks near a complex one: neurons with the same inner products, as near as can be, or its real part.

        Turns of a network, complex ones too, leave inner products and outer weights what they are.
        """
        if self.constants:
            return [x.real]
        a, W = self.network(x)
        values, vectors = np.linalg.eigh((W @ W.T).real)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        left, _, right = np.linalg.svd(root.T @ W.real, full_matrices=False)
        return [self.unknowns_of(a.real, root @ left @ right), x.real]

    def has_zero_weight(self, x: Complex) -> bool:
        """Whether a trained outer weight is zero: such sets of solutions have a closed form (`zero_weights`)."""
        return any(
            abs(x[p.trained]) * float(np.abs(x[list(p.unknowns)]).max()) ** 2 <= NO_WEIGHT
            for p in places_of(self.inputs, self.groups)
            if p.trained is not None
        )

    def of_no_use(self, x: Complex) -> bool:
        """Whether a neuron is zero, or has w·w = 0 and is not real, to the accuracy of a singular end."""
        frame = frame_of(self.inputs, self.groups)
        for place in places_of(self.inputs, self.groups):
            v = frame[:, place.first :] @ x[list(place.unknowns)]
            w = v[self.constants :]
            size = float(np.sum(np.abs(w) ** 2))
            if np.sum(np.abs(v) ** 2) <= ISOTROPIC**2 or abs(np.sum(w**2)) <= ISOTROPIC * size:
                return True
        return False

    def __repr__(self) -> str:
        groups = ", ".join(f"{'free' if g.weight is None else repr(g.weight)} {g.size}" for g in self.groups)
        constants = f", constants={self.constants}" if self.constants else ""
        return f"PenalisedEquations(n={self.inputs}, groups={groups}{constants})"


def grouped(a: Array, W: Array) -> tuple[tuple[Group, ...], Array]:
    """Neurons with trained outer weights as a stratum, equal weights in one group, and its unknowns.

    >>> groups, x = grouped(np.array([2.0, 2.0, 0.0]), np.eye(3))
    >>> [group.size for group in groups], len(x)                # two weights, 3 + 2 entries of the pair, 3 of the other
    ([2, 1], 10)
    """
    order = np.argsort(-a, kind="stable")
    scale = max(float(np.abs(a).max(initial=0.0)), ISOTROPIC)
    cuts = np.flatnonzero(np.diff(a[order]) < -ONE_WEIGHT * scale) + 1
    members = [part for part in np.split(order, cuts) if len(part)]
    groups = tuple(Group(None, len(part)) for part in members)
    rows = np.concatenate(members)
    return groups, PenalisedEquations.of(W.shape[1], groups).unknowns_of(a[rows], W[rows])


def fixed_strata(n: int, weights: Array) -> Iterator[tuple[Group, ...]]:
    """How many neurons of each weight are in use, at least one of all."""
    counts = Counter(weights.tolist())
    for sizes in product(*(range(min(count, n) + 1) for count in counts.values())):
        if any(sizes):
            yield tuple(Group(w, p) for w, p in zip(counts, sizes, strict=True) if p)


def trained_strata(n: int, width: int) -> Iterator[tuple[Group, ...]]:
    """All ways to divide up to `width` independent neurons into groups, one of several at least, the larger first."""
    for used in range(2, min(width, n) + 1):
        for sizes in reversed(partitions(used, used)):
            if sizes[0] > 1:
                yield tuple(Group(None, p) for p in sizes)


def zero_diagonal(W: Array, E: Array) -> Array:
    """QW, Q orthogonal, with (QW) E (QW)ᵀ zero on its diagonal, for a trace of zero: two rows at a time.

    >>> zero_diagonal(np.eye(2), np.diag([1.0, -1.0])).round(6)
    array([[ 0.707107,  0.707107],
           [-0.707107,  0.707107]])
    """
    W = np.array(W)
    for i in range(len(W) - 1):
        B = W @ E @ W.T
        j = i + 1 + int(np.argmin(B.diagonal()[i + 1 :] * np.sign(B[i, i] or 1.0)))
        # tan t with cos²t B_ii + 2 sin t cos t B_ij + sin²t B_jj = 0
        roots = np.roots([B[j, j], 2 * B[i, j], B[i, i]]) if B[j, j] else np.zeros(1)
        angle = float(np.arctan(np.real(roots[np.argmin(np.abs(np.imag(roots)))]))) if len(roots) else 0.0
        cosine, sine = np.cos(angle), np.sin(angle)
        W[i], W[j] = cosine * W[i] + sine * W[j], cosine * W[j] - sine * W[i]
    return W
