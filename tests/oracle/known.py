"""Problems that a chart once got wrong, or that anybody would try."""

from __future__ import annotations

from tests.oracle.drawing import copied, diagonal, rows
from tests.oracle.exact import FrobeniusLaw, GaussianLaw, Given, IIDLaw, SamplesLaw


def _icosahedron() -> tuple[tuple[float, ...], ...]:
    golden = (1 + 5**0.5) / 2
    return tuple(
        p for a in (1.0, -1.0) for b in (golden, -golden) for p in ((0.0, a, b), (a, b, 0.0), (b, 0.0, a))
    )


KNOWN: dict[str, Given] = {
    "the minimum is a circle": Given(GaussianLaw(2), 2, 1, matrix=diagonal(1.0, 1.0)),
    "a circle below the point": Given(GaussianLaw(3, mean=(1.0, 0.0, 0.0)), 2, 1, matrix=diagonal(1.0, 2.0, 2.0)),
    "a copied metric": Given(copied(GaussianLaw(3), 2), 2, 1, matrix=diagonal(2.0, 2.0, 1.0)),
    "a copied metric, identity": Given(copied(GaussianLaw(3), 2), 2, 1, matrix=diagonal(1.0, 1.0, 1.0)),
    "a copied metric, identity, two neurons": Given(copied(GaussianLaw(3), 2), 2, 2, matrix=diagonal(1.0, 1.0, 1.0)),
    "icosahedron": Given(SamplesLaw(3, _icosahedron()), 2, 1, matrix=diagonal(2.0, 2.0, 1.0)),
    "icosahedron, identity": Given(SamplesLaw(3, _icosahedron()), 2, 1, matrix=diagonal(1.0, 1.0, 1.0)),
    "nearly a circle": Given(GaussianLaw(3, mean=(0.0, 0.0, -1.0)), 2, 1, matrix=diagonal(1.0, 1.0 + 1e-9, 3.0)),
    "a second minimum 2e-9 above": Given(
        IIDLaw(3, (1.0, 0.0, 2.0, 0.0, 11.0)), 2, 2, matrix=diagonal(1.0, 1.0 + 1e-9, 3.0)
    ),
    "fourth moment 3 + 1e-7": Given(IIDLaw(2, (1.0, 0.0, 1.0, 0.0, 3.0000001)), 2, 1, matrix=diagonal(2.0, 1.5)),
    "fourth moment 3 + 2^-51": Given(IIDLaw(2, (1.0, 0.0, 1.0, 0.0, 3 + 2.0**-51)), 2, 1, matrix=diagonal(2.0, 1.5)),
    "far moved": Given(
        GaussianLaw(3, mean=(36.7, -12.3, 14.9)), 2, 1, matrix=rows([[1, 0.5, 0], [0.5, -2, 1], [0, 1, 3]])
    ),
    "a cubic teacher": Given(GaussianLaw(3), 3, 1, neurons=(((1.0, 0.0, 0.0),), (1.0,))),
    "a small target": Given(
        IIDLaw(2, (1.0, 0.0, 1.0, 0.0, 30.0)), 2, 1, matrix=rows([[2e-12, 2.5e-13], [2.5e-13, 1.5e-12]])
    ),
    "a small eigenvalue": Given(IIDLaw(2, (1.0, 0.0, 1.0, 0.0, 6.0)), 2, 2, matrix=diagonal(1.0, 1e-9)),
    "a large target": Given(GaussianLaw(2), 2, 1, matrix=diagonal(2e200, 1e200), may_refuse=True),
    "a minimum that splits": Given(
        FrobeniusLaw(2), 4, 2, outer=(1.0, 1.0),
        entries=(-17.210012833355865, -7.073624928918389, -2.739634511850276, -1.4651345685254074, 0.26104899432297796),
    ),
    "zero": Given(GaussianLaw(2), 2, 1, matrix=diagonal(0.0, 0.0), may_refuse=True),
    "a circle that falls to zero": Given(GaussianLaw(3), 2, 3, matrix=rows([[1, 0, 0], [0, 0, -2], [0, -2, -3]])),
    "an infinite radius": Given(GaussianLaw(3), 2, 3, matrix=rows([[3, 2, 0], [2, 3, 0], [0, 0, 1]])),
    "nearly repeated": Given(FrobeniusLaw(2), 2, 2, matrix=diagonal(1.0, 1.00000000001)),
}  # fmt: skip
