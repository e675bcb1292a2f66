"""`shallows discriminant`."""

from __future__ import annotations

from dataclasses import asdict
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shallows.support.errors import InvalidProblem
from shallows.uses.commands._common import ANSWER_IS_NO, Json, Output, Quiet
from shallows.uses.commands.destinations import destinations

if TYPE_CHECKING:
    from shallows.questions.discriminants.polynomial import Discriminant
    from shallows.questions.discriminants.regions import LandscapeRegions
    from shallows.uses.commands.trials import Trials

EXAMPLES = (
    "shallows discriminant ellipse --out ellipse.html",
    'shallows discriminant ellipse --metric "m11=1, m12=0, m22=1"',
    'shallows discriminant rank-one --metric laplace --slice "t00=-1:3, t01=-2:2, t11=1" --out slice.html',
    "shallows discriminant rank-one --trials 100 --seed 7 --out P.txt",
)
KINDS = ("rank-one", "ellipse")
LAWS = ("frobenius", "gaussian", "normal", "uniform", "laplace", "student:DF")
FILES = {
    ".html": "slice.html",
    ".json": "discriminant.json",
    ".txt": "discriminant.txt",
    ".tex": "discriminant.tex",
}
#: A picture without --slice is of this law, and of teachers between ± this (of an ellipse: as far as its evolute goes).
LAW, RANGE = "gaussian", 3


def discriminant(
    kind: Annotated[str, typer.Argument(help="rank-one or ellipse.")],
    degree: Annotated[int, typer.Option(help="Degree of the rank-one tensors.")] = 2,
    p: Annotated[str, typer.Option(help="p of the ellipse x²/p + y²/q = 1, a number or a fraction.")] = "4",
    q: Annotated[str, typer.Option(help="q of the ellipse.")] = "1",
    metric: Annotated[
        str | None,
        typer.Option(
            help='A law (frobenius, gaussian, uniform, laplace, student:9), "moments", "symmetric iid", '
            'or values such as "m0000=3, m1111=3, m0101=m0011".'
        ),
    ] = None,
    slice_: Annotated[
        str | None,
        typer.Option(
            "--slice",
            help='Two ranges and numbers for the rest, such as "t00=-1:3, t01=-2:2, t11=1"; --out X.html chooses them '
            "if omitted.",
        ),
    ] = None,
    resolution: Annotated[int, typer.Option(help="Grid points a side of a slice.")] = 201,
    trials: Annotated[
        int, typer.Option(min=0, help="Landscapes at random that are counted again by homotopy; 0: none.")
    ] = 10,
    out: Annotated[
        Path | None,
        typer.Option(
            help="X.html: write the picture of a slice; X.json: the polynomial, to load again; X.txt, X.tex: as text, "
            "in LaTeX; a folder: all."
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(min=0, help="Seed of the teachers and metrics of --trials, and of their homotopies."),
    ] = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """The polynomial that says where a landscape changes, and the landscapes on a slice of teachers.

    What it says is tried at random teachers: homotopy counts their critical points without it. Exit status 1: a trial
    disagrees.
    """
    output = Output(json, quiet)
    places = destinations(out, FILES)
    P = _specialized(_generic(kind, degree, p, q), metric)
    regions = None if slice_ is None else _regions(P, slice_, resolution)
    tried = _try(output, regions or P, trials, seed)
    if regions is None:
        output.document(_document(P) | _trial_document(tried))
        output.show(_summary(P))
    else:
        found = {"regions": [asdict(region) for region in regions.regions]}
        output.document(_document(regions.discriminant) | found | _trial_document(tried))
        output.show(repr(regions))
    _write(P if regions is None else regions.discriminant, places, output)
    if ".html" in places:
        law = metric if regions else metric or LAW
        specialized = P if law == metric else _specialized(P, law)
        chosen = slice_ or _whole_slice(specialized)
        drawn = regions or _regions(specialized, chosen, resolution)
        _draw(drawn, places[".html"], output, _command(kind, degree, p, q, law, chosen, resolution))
    if tried is not None:
        output.show(str(tried))
        if not tried.passed:
            raise typer.Exit(ANSWER_IS_NO)


def _regions(P: Discriminant, chosen: str, resolution: int) -> LandscapeRegions:
    from shallows.questions.discriminants.regions import landscape_regions

    ranges, numbers = _read_slice(chosen)
    return landscape_regions(P, *ranges, resolution=resolution, **numbers)


def _try(output: Output, subject: Discriminant | LandscapeRegions, count: int, seed: int) -> Trials | None:
    """The subject tried at random; None when nobody asks for it."""
    if not count:
        return None
    from shallows.questions.discriminants.polynomial import Discriminant
    from shallows.uses.commands.trials import try_polynomial, try_slice

    with output.working(f"counting {count} landscapes by homotopy"):
        if isinstance(subject, Discriminant):
            return try_polynomial(subject, count, seed)
        return try_slice(subject, count, seed)


def _trial_document(tried: Trials | None) -> dict[str, Any]:
    return {"trials": None if tried is None else asdict(tried)}


def _document(P: Discriminant) -> dict[str, Any]:
    """The discriminant as JSON; a polynomial that was not expanded has no terms to write."""
    found: dict[str, Any] = {"title": P.curve.title, "variables": list(P.variables), "expanded": P.expanded}
    if P.expanded:
        found |= {"terms": P.n_terms, "polynomial": P.text()}
    return found


def _generic(kind: str, degree: int, p: str, q: str) -> Discriminant:
    from shallows.questions.discriminants.known import ellipse, rank_one

    if kind == "rank-one":
        return rank_one(degree)
    if kind == "ellipse":
        return ellipse(_number("p", p), _number("q", q))
    raise InvalidProblem(f"{kind!r} is no discriminant; expected {' or '.join(KINDS)}.")


def _number(name: str, text: str) -> Any:
    from fractions import Fraction

    try:
        return Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        raise InvalidProblem(f"{name} is {text!r}; expected a number or a fraction such as 9/5.") from None


def _specialized(P: Discriminant, metric: str | None) -> Discriminant:
    if metric is None:
        return P
    if "=" in metric:
        return P.specialize(**_assignments(metric))
    if metric in ("moments", "symmetric iid"):
        return P.specialize(data=metric)
    return P.specialize(data=_law(metric))


def _assignments(text: str) -> dict[str, Any]:
    values = {}
    for part in text.split(","):
        name, found, value = part.partition("=")
        if not found or not name.strip() or not value.strip():
            raise InvalidProblem(
                f"{part.strip()!r} is no assignment; expected name=value, separated by commas."
            )
        values[name.strip()] = value.strip()
    return values


def _law(name: str) -> Any:
    from shallows.model.data.gaussian import Gaussian
    from shallows.model.data.iid import IID
    from shallows.model.data.metric import Frobenius

    plain = {"frobenius": Frobenius, "gaussian": Gaussian}
    if name in plain:
        return plain[name](2)
    if name in ("normal", "uniform", "laplace", "rademacher"):
        return getattr(IID, name)(2)
    if name.startswith("student:"):
        return IID.student(2, float(_number("df", name.partition(":")[2])))
    raise InvalidProblem(
        f'{name!r} is no metric; expected one of {", ".join(LAWS)}, "moments", "symmetric iid", or values name=value.'
    )


def _read_slice(text: str) -> tuple[list[tuple[str, float, float]], dict[str, Any]]:
    ranges, numbers = [], {}
    for name, value in _assignments(text).items():
        low, found, high = value.partition(":")
        if found:
            ranges.append((name, float(_number(name, low)), float(_number(name, high))))
        else:
            numbers[name] = value
    if len(ranges) != 2:
        raise InvalidProblem(
            f"The slice {text!r} has {len(ranges)} ranges; expected two of the form name=low:high."
        )
    return ranges, numbers


def _summary(P: Discriminant) -> str:
    lines = [repr(P)]
    if P.expanded and P.n_terms <= 100:
        lines.append(f"P = {P.text()}")
        lines.append(f"  = {P.factor()!r}")
    return "\n".join(lines)


def _whole_slice(P: Discriminant) -> str:
    """The slice of a picture that nobody described: the first two entries of the teacher vary, the others are 1.

    The critical points of the ellipse x²/p + y²/q = 1 change on its evolute, which reaches ((p − q)/√p, 0) and
    (0, (q − p)/√q).
    """
    from shallows.questions.discriminants.curves import EllipseCurve

    reach = RANGE
    if isinstance(P.curve, EllipseCurve):
        half_axes, gap = P.curve.roots, float(abs(P.curve.p - P.curve.q))
        reach = ceil(max(max(axis, gap / axis) for axis in half_axes))
    first, second, *others = P.teacher
    return ", ".join(
        [*(f"{name}={-reach}:{reach}" for name in (first, second)), *(f"{name}=1" for name in others)]
    )


def _command(kind: str, degree: int, p: str, q: str, metric: str | None, chosen: str, resolution: int) -> str:
    """The command that draws a slice again, with what was chosen for it."""
    from shlex import join

    curve = ["--p", p, "--q", q] if kind == "ellipse" else ["--degree", str(degree)]
    law = [] if metric is None else ["--metric", metric]
    picture = ["--slice", chosen, "--resolution", str(resolution), "--out", "slice.html"]
    return join(["shallows", "discriminant", kind, *curve, *law, *picture])


def _draw(regions: LandscapeRegions, path: Path, output: Output, command: str) -> None:
    """The page of a slice: its picture, its regions, and how to make it again."""
    from shallows.uses.report.slices import slice_html

    path.write_text(slice_html(regions, command), encoding="utf-8")
    output.show(
        f"the picture: {regions.horizontal} and {regions.vertical} vary; --metric and --slice choose another"
    )
    output.wrote(path)


def _write(P: Discriminant, places: dict[str, Path], output: Output) -> None:
    """The polynomial in the forms that were asked for; into a folder, as text only when it was expanded."""
    wanted = [ending for ending in places if ending != ".html" and (P.expanded or len(places) == 1)]
    for ending in wanted:
        if ending == ".json":
            P.save(places[ending])
        else:
            text = P.text() if ending == ".txt" else P.latex()
            places[ending].write_text(text + "\n", encoding="utf-8")
        output.wrote(places[ending])
