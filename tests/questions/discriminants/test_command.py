"""`shallows discriminant`: what it prints, what it writes, what it refuses."""

import pytest
import typer
from typer.testing import CliRunner

import shallows as sh
from shallows.discriminants import load
from shallows.uses.commands.discriminant import discriminant

app = typer.Typer()
app.command()(discriminant)


def run(*arguments):
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def unwrapped(text):
    """Lines break where the terminal ends."""
    return " ".join(text.split())


def test_the_generic_polynomials():
    assert "5938 terms, bidegree (6, 12)" in unwrapped(run("rank-one"))
    assert "152 terms, bidegree (6, 6)" in run("ellipse")
    assert "bidegree" not in run("rank-one", "--degree", "3")


def test_metrics():
    assert "(t00^2 - 2*t00*t11 + 4*t01^2 + t11^2)^3" in run("rank-one", "--metric", "frobenius")
    assert "68 terms" in run("rank-one", "--metric", "symmetric iid")
    assert "2060 terms" in run("rank-one", "--metric", "m0101=m0011")
    assert "10 terms" in run("ellipse", "--p", "9/5", "--metric", "m11=1, m12=0, m22=1")
    assert "variables t00, t01, t11)" in run("rank-one", "--metric", "student:9")


def test_slices_and_files(tmp_path):
    text = run(
        "rank-one", "--metric", "laplace", "--slice", "t00=-1:3, t01=-2:2, t11=1",
        "--resolution", "21", "--out", str(tmp_path / "slice.html"),
    )  # fmt: skip
    assert "4 real critical points, 2 local minima" in text
    assert "plotly" in (tmp_path / "slice.html").read_text(encoding="utf-8")
    run("ellipse", "--out", str(tmp_path / "P.json"))
    assert load(tmp_path / "P.json").n_terms == 152
    run("ellipse", "--metric", "m11=1,m12=0,m22=1", "--out", str(tmp_path / "P.tex"))
    assert (tmp_path / "P.tex").read_text().startswith("64 x^{6}")
    run("ellipse", "--out", str(tmp_path / "P.txt"))
    assert "m11^" in (tmp_path / "P.txt").read_text()


@pytest.mark.parametrize("arguments", [["ellipse", "--p", "9"], ["rank-one"], ["rank-one", "--degree", "3"]])
def test_a_picture_needs_no_slice(arguments, tmp_path):
    """The ellipse x²/9 + y² = 1 has the evolute's cusp (0, −8): the picture goes as far as that."""
    text = run(*arguments, "--trials", "1", "--resolution", "11", "--out", str(tmp_path / "x.html"))
    assert "--metric and --slice choose another" in unwrapped(text)
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "js-plotly-plot" in page and ("[-8,8]" in page.replace(".0", "")) == (arguments[0] == "ellipse")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["cube"], "no discriminant"),
        (["ellipse", "--p", "zero"], "expected a number"),
        (["ellipse", "--p", "0"], "no ellipse"),
        (["rank-one", "--metric", "cauchy"], "no metric"),
        (["rank-one", "--metric", "m99=1"], "unknown variable m99"),
        (["rank-one", "--metric", "m0000="], "no assignment"),
        (["rank-one", "--slice", "t00=0:1"], "1 ranges"),
        (["rank-one", "--out", "P.pdf"], "expected a name that ends in"),
        (["rank-one", "--metric", "moments", "--out", "P.html"], "give a number for each of the others"),
    ],
)
def test_bad_arguments(arguments, what):
    with pytest.raises(sh.InvalidProblem, match=what):
        run(*arguments)
