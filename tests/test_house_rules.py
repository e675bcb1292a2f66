"""Rules of the house that a machine can read: named tolerances, short functions, one palette, explicit randomness."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "shallows"
FILES = {str(file.relative_to(SOURCE)): file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py")}
parse = functools.cache(ast.parse)
LONGEST_FUNCTION, LONGEST_FILE = 60, 450
#: Claims state the tolerance of a check beside it, as an argument of `equal`, `within`, …: part of the statement.
CHECKS = re.compile(r"^uses/papers/(arjevani|gamarnik|kazemipour|safran)/")


def is_small(node: ast.AST) -> bool:
    """A literal that only a tolerance or a limit looks like: 1e-9, 3e-14, 1e300; not 0.5 or 1e3."""
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, float) and value != 0 and not 1e-3 <= abs(value) <= 1e6


def bare_tolerances(text: str) -> Iterator[int]:
    """Lines with such a literal that is no named constant of a module or class, nor the default of a parameter."""
    tree = parse(text)
    nodes = list(ast.walk(tree))
    small = [node for node in nodes if is_small(node)]
    bodies = [tree.body, *(node.body for node in nodes if isinstance(node, ast.ClassDef))] if small else []
    homes: list[ast.AST] = [n for body in bodies for n in body if isinstance(n, ast.Assign | ast.AnnAssign)]
    homes += [default for node in nodes if isinstance(node, ast.arguments) for default in _defaults(node)]
    named = {id(inner) for node in homes for inner in ast.walk(node)}
    yield from (node.lineno for node in small if id(node) not in named)


def _defaults(node: ast.arguments) -> list[ast.expr]:
    return [default for default in (*node.defaults, *node.kw_defaults) if default is not None]


#: The unit of rounding, by its names; a multiple of it is a tolerance.
ROUNDING = ("EPSILON", "UNIT_ROUNDOFF", "SQRT_EPSILON", "UNIT")


def is_rounding(node: ast.AST) -> bool:
    """ε by one of its names, or NumPy's way to it."""
    return (isinstance(node, ast.Name) and node.id in ROUNDING) or (
        isinstance(node, ast.Attribute) and node.attr == "eps"
    )


def is_factor(node: ast.AST, least: float) -> bool:
    """A literal number of at least this size."""
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) >= least


def hidden_tolerances(text: str) -> Iterator[int]:
    """Lines of functions with a tolerance that has no name: 8 * EPSILON, x < 0.7 * y, x < 10 * y, tries by the number.

    0, 1, 2, 4 and their halves are arithmetic. ε is written `EPSILON`, never np.finfo(float).eps.
    """
    tree = parse(text)
    homes = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    named = {id(inner) for node in homes for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "eps":
            yield node.lineno
        if id(node) in named:
            continue
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = (node.left, node.right), (node.right, node.left)
            if any(is_factor(a, 2) and is_rounding(b) for a, b in sides):
                yield node.lineno
        if isinstance(node, ast.Compare) and any(_is_share(inner) for inner in _without_exponents(node)):
            yield node.lineno
        if isinstance(node, ast.For) and ast.unparse(node.target) == "_" and isinstance(node.iter, ast.Call):
            yield from (node.lineno for given in node.iter.args if is_factor(given, 5))


def _without_exponents(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for inner in (
        [node.left]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)
        else ast.iter_child_nodes(node)
    ):
        yield from _without_exponents(inner)


def _is_share(node: ast.AST) -> bool:
    """A float that is no half or quarter of a small whole number, or a factor of five and more."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return is_factor(node.left, 5) or is_factor(node.right, 5)
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, float) and abs(value) not in (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)


def unreasoned(text: str) -> Iterator[str]:
    """Named tolerances, of modules and classes, without a comment above or beside them."""
    lines, tree = text.split("\n"), parse(text)
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    for node in (node for body in bodies for node in body):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        if any(is_small(inner) or is_rounding(inner) for inner in ast.walk(node.value)):
            above, beside = lines[node.lineno - 2], "\n".join(lines[node.lineno - 1 : node.end_lineno])
            if not above.lstrip().startswith("#") and "#" not in beside:
                yield ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)


def unnamed_defaults(text: str) -> Iterator[int]:
    """Parameters whose default is a tolerance without a name."""
    for node in ast.walk(parse(text)):
        for default in _defaults(node) if isinstance(node, ast.arguments) else []:
            if any(is_small(inner) for inner in ast.walk(default)):
                yield default.lineno


def functions(text: str) -> Iterator[tuple[str, int]]:
    """Every function with the lines of its body; signature and docstring do not count."""
    for node in ast.walk(parse(text)):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            yield node.name, (node.end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_every_tolerance_has_a_name() -> None:
    found = {name: list(bare_tolerances(text)) for name, text in FILES.items() if not CHECKS.match(name)}
    assert not {name: lines for name, lines in found.items() if lines}


def test_no_tolerance_hides() -> None:
    ours = {name: text for name, text in FILES.items() if not name.startswith("uses/papers/")}
    found = {name: [*hidden_tolerances(text), *unnamed_defaults(text)] for name, text in ours.items()}
    assert not {name: lines for name, lines in found.items() if lines}


def test_every_named_tolerance_has_a_reason() -> None:
    found = {name: list(unreasoned(text)) for name, text in FILES.items() if not CHECKS.match(name)}
    assert not {name: names for name, names in found.items() if names}


def test_functions_are_short() -> None:
    long = [(name, f, size) for name, text in FILES.items() for f, size in functions(text)]
    assert not [entry for entry in long if entry[2] > LONGEST_FUNCTION]


def test_files_hold_one_concept() -> None:
    assert not {name: n for name, text in FILES.items() if (n := text.count("\n")) > LONGEST_FILE}


def test_colours_come_from_the_theme() -> None:
    colours = re.compile(r"[\"'](#[0-9a-fA-F]{6}[\"']|rgba?\(\d)")
    assert {name for name, text in FILES.items() if colours.search(text)} == {"support/theme.py"}


@pytest.mark.parametrize(
    "pattern", [r"np\.random\.(seed|rand|randn|normal)\b", r"\bimport pickle\b", r"allow_pickle=True"]
)
def test_no_global_randomness_and_no_pickle(pattern: str) -> None:
    # numba serialises machine code by pickle; the cache is the user's own folder, like numba's, and nobody sends it
    allowed = {"support/code_cache.py"} if "import pickle" in pattern else set()
    assert {name for name, text in FILES.items() if re.search(pattern, text)} <= allowed


def test_the_rules_notice() -> None:
    assert list(bare_tolerances("def f(x):\n    return x < 1e-9")) == [2]
    assert list(bare_tolerances("SMALL = 1e-9\ndef f(x):\n    return x < SMALL")) == []
    assert list(bare_tolerances("def f(x, small=1e-9):\n    return x < small")) == []
    assert list(unreasoned("SMALL = 1e-9")) == ["SMALL"]
    assert list(unreasoned("SMALL = 4 * EPSILON")) == ["SMALL"]
    assert list(unreasoned("class C:\n    small: float = 1e-9")) == ["small"]
    assert list(unreasoned("class C:\n    #: rounding\n    small: float = 1e-9")) == []
    assert list(unnamed_defaults("def f(x, small=1e-9):\n    return x < small")) == [1]
    for line in ("x < 0.7 * y", "x < 10 * y", "x + 8 * EPSILON", "x + eps(8) * np.finfo(float).eps"):
        assert list(hidden_tolerances(f"def f(x, y):\n    return {line}")) == [2]
    for line in ("x < 0.5 * y", "x < NEAR * y", "x + SLACK", "x < 2 * y", "2.0 * x"):
        assert list(hidden_tolerances(f"def f(x, y):\n    return {line}")) == []
    assert list(hidden_tolerances("def f(x):\n    for _ in range(50):\n        x()")) == [2]
    assert list(hidden_tolerances("def f(x):\n    for _ in range(TRIES):\n        x()")) == []
    assert list(unreasoned("#: rounding\nSMALL = 1e-9")) == []
    assert dict(functions("def f(\n    x,\n):\n    'text'\n    y = x\n    return y\n")) == {"f": 2}


def test_the_plan_of_the_house_names_every_room():
    plan = (SOURCE.parent.parent / "docs" / "developers" / "house.md").read_text(encoding="utf-8")
    storeys = [SOURCE / name for name in ("mathematics", "model", "questions", "uses")]
    inside = (storey / name for storey in storeys for name in ("charts", "homotopy"))
    rooms = {file.parent.name for above in (*storeys, *inside) for file in above.glob("*/__init__.py")}
    assert len(rooms) > 25 and not {room for room in rooms if f"{room}/" not in plan}


def test_the_plan_of_the_house_names_no_room_that_is_gone():
    plan = (SOURCE.parent.parent / "docs" / "developers" / "house.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:mathematics|model|questions|uses|support)/[\w/.]+)`", plan)
    assert len(named) > 20 and not [name for name in named if not (SOURCE / name).exists()]


def test_no_test_measures_time() -> None:
    """Other machines are slower, and this one is at times: how long things take is for `bench/`, in ratios.

    `time.monotonic` is left for waiting: until something happens, or in vain.
    """
    clocks = re.compile(
        r"\b(process_time|thread_time|perf_counter)(_ns)?\(|\btimeit\b|\b(CLOCK_|ru_[us]time)"
    )
    tests = [file for file in Path(__file__).parent.rglob("test_*.py") if file != Path(__file__)]
    assert len(tests) > 100
    assert [file.name for file in tests if clocks.search(file.read_text(encoding="utf-8"))] == []


def returns(test: ast.FunctionDef) -> Iterator[int]:
    """Lines on which a test ends with nothing asserted above; functions inside it may return."""
    first = min((node.lineno for node in ast.walk(test) if isinstance(node, ast.Assert)), default=0)
    waiting: list[ast.AST] = [*test.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return) and not 0 < first < node.lineno:
            yield node.lineno
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)


def test_no_test_ends_early() -> None:
    """A case that returns before it checks anything passes whatever the library does."""
    early = []
    for file in Path(__file__).parent.rglob("test_*.py"):
        for node in parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                early += [f"{file.name}:{line}" for line in returns(node)]
    assert early == []
    sample = parse("def test_x():\n    f = lambda: 1\n    if f():\n        return\n    assert f()")
    assert list(returns(sample.body[0])) == [4]
