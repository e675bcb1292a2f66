"""What the views compute, against charts and published numbers; and that every sketch is a valid Plotly figure."""

import json
import os
import re
import struct
import zlib
from base64 import b64decode

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shallows as sh
from shallows.discriminants import landscape_at
from shallows.support.budget import OverBudget
from shallows.uses.explorer import answers
from shallows.uses.explorer.answers import report_html, scene_json, sentence
from shallows.uses.explorer.app import make_app
from shallows.uses.explorer.fields import defaults
from shallows.uses.explorer.views import NAMES, binary, cone, ellipse, flow, quadratic, relu, view_of


def state_of(module, **changes):
    return {**defaults(module.VIEW.fields), **changes}


def facts(scene):
    return {label: value for value, label in scene.facts}


@pytest.mark.parametrize("name", NAMES)
def test_sketches_are_valid_figures_and_code_compiles(name):
    view = view_of(name)
    scene = view.draw(defaults(view.fields))
    for sketch in scene.figures:
        go.Figure(sketch.to_plotly_json())  # raises on any property that Plotly does not know
    assert len(scene.figures) == len(view.captions)
    assert all(len(row) == len(scene.headings) for row in scene.rows)
    compile(scene.code, name, "exec")
    imports = [line for line in scene.code.splitlines() if line.startswith(("import ", "from "))]
    exec("\n".join(imports), {})  # what a visitor copies finds all its names


def test_a_sketch_that_is_no_figure_is_noticed():
    sketch = view_of("ellipse").draw(state_of(ellipse)).figures[0]
    sketch.add_scatter(colour="red")
    with pytest.raises(ValueError, match="colour"):
        go.Figure(sketch.to_plotly_json())


@pytest.mark.parametrize(("kurtosis", "count"), [(3.0, 3), (30.0, 13)])
def test_quadratic_counts(kurtosis, count):
    scene = quadratic.draw(state_of(quadratic, kurtosis=kurtosis))
    assert facts(scene)["critical points of rank one"] == str(count)
    assert facts(scene)["completeness"] == "proved"


def test_cone_and_binary_agree_with_the_chart():
    for module, changes in (
        (cone, {}),
        (cone, {"t11": -1.0, "kurtosis": 4.0}),
        (binary, {}),
        (binary, {"law": 2.0}),
    ):
        scene = module.draw(state_of(module, **changes))
        chart = sh.chart(scene.problem)
        known = sorted(
            float(loss) for loss, rank in zip(chart.losses, chart.points.table.rank, strict=True) if rank == 1
        )
        np.testing.assert_allclose([float(row[0]) for row in scene.rows], known, rtol=1e-5)


def test_ellipse_counts_inside_and_outside_the_astroid():
    # normals to x²/4 + y² = 1: four inside (2x)^(2/3) + y^(2/3) = 3^(2/3), two outside (paper 000, Figure 2)
    for x, y in ((0.45, 0.5), (1.9, 1.3), (0.1, 2.5), (-1.2, 0.2)):
        inside = np.cbrt(2 * x) ** 2 + np.cbrt(y) ** 2 < 3 ** (2 / 3)
        scene = ellipse.draw(state_of(ellipse, x=x, y=y))
        assert facts(scene)["real critical points"] == ("4" if inside else "2")


def image_codes(image):
    """The codes of a map, row 0 lowest, from the bytes of its PNG: width and height, and lines after a filter byte."""
    data = b64decode(image["source"].partition(",")[2])
    width, height = struct.unpack(">II", data[16:24])
    place = data.index(b"IDAT")
    (length,) = struct.unpack(">I", data[place - 4 : place])
    lines = np.frombuffer(zlib.decompress(data[place + 4 : place + 4 + length]), np.uint8)
    return lines.reshape(height, width + 1)[::-1, 1:]


def test_the_map_of_the_cone_follows_its_curve_without_stairs():
    """A tenth of a unit beside the focal curve the colour is that of the exact count: a coarse map fails this."""
    background = cone._background(9.0, 0.2)
    codes, image = image_codes(background.image), background.image
    kinds = [None, *cone.FILLS]
    P = cone._discriminant(9.0)
    checked = 0
    for x in np.linspace(-2.9, 2.9, 24).round(4):
        for y in np.linspace(-2.9, 2.9, 24).round(4):
            near = {
                landscape_at(P, t00=x + a, t01="1/5", t11=y + b)
                for a, b in ((0, 0), (0.02, 0.02), (-0.02, -0.02))
            }
            if len(near) > 1:
                continue
            (count,) = near
            column = int((x - image["x"]) / image["sizex"] * codes.shape[1])
            row = int((y - (image["y"] - image["sizey"])) / image["sizey"] * codes.shape[0])
            assert kinds[codes[row, column]] == (count.real_count, count.local_minima), (x, y)
            checked += 1
    assert checked > 500
    assert image["sizex"] / codes.shape[1] < 0.04  # a cell: half the width of a drawn point


def test_the_cone_has_a_legend_of_regions_and_faces_to_look_through():
    scene = cone.draw(state_of(cone))
    slice_, space = scene.figures
    regions = [trace["name"] for trace in slice_.data if trace.get("legend") == "legend2"]
    assert regions == ["2 points, 1 minimum", "2 points, 2 minima", "4 points, 2 minima"]
    assert all(trace["opacity"] <= 0.4 for trace in space.data if trace["type"] == "mesh3d")
    texts = json.dumps([view_of(name).lead + str(view_of(name).fields) for name in NAMES], ensure_ascii=False)
    assert "₀" not in texts and "entry 0" not in texts  # entries are counted from 1 on every page


def test_the_count_changes_across_the_drawn_focal_surface():
    scene = cone.draw(state_of(cone))
    surface = next(trace for trace in scene.figures[1].data if trace.get("name") == "focal surface")
    x, y, z = (np.frombuffer(b64decode(surface[c]["bdata"]), "<f4").reshape(3, -1)[2] for c in "xyz")
    P, step = cone._discriminant(9.0), 0.02
    changes = 0
    for t in np.stack([x, y, z], axis=1)[5::12].astype(float):
        sides = [t + s * step * e for e in np.eye(3) for s in (1, -1)]
        counts = {landscape_at(P, t00=a, t01=b, t11=c).real_count for a, b, c in np.round(sides, 6)}
        changes += counts == {2, 4}
    assert changes >= 8  # all but rays along a cusp, where the surface is thinner than the step
    assert (
        landscape_at(P, t00=2.0, t01=0.0, t11=-2.0).real_count
        == landscape_at(P, t00=2.0, t01=0.1, t11=-2.0).real_count
    )


@pytest.mark.parametrize(
    "state", [{"law": 3.0}, {"law": 3.0, "m4": 1.6, "m6": 1.2, "degree": 1.0, "m8": 1.1}]
)
def test_own_moments_in_the_binary_view_agree_with_the_chart(state):
    scene = binary.draw(state_of(binary, **state))
    chart = sh.chart(scene.problem)
    rank = chart.points.table.rank
    known = sorted(float(loss) for loss, r in zip(chart.losses, rank, strict=True) if r == 1)
    np.testing.assert_allclose([float(row[0]) for row in scene.rows], known, rtol=1e-5)


@given(st.floats(1.05, 12), st.floats(1.02, 4), st.floats(1.02, 4))
def test_all_own_moments_are_those_of_a_law(fourth, sixth, eighth):
    moments = binary.moments_of(fourth, sixth, eighth)
    hankel = np.array([[moments[i + j] for j in range(5)] for i in range(5)])
    scale = 1 / np.sqrt(np.diag(hankel))
    assert np.linalg.eigvalsh(scale[:, None] * hankel * scale).min() > 0


def test_moments_of_known_laws():
    # Gauss 3, 15, 105; Laplace of variance one 6, 90, 2520
    np.testing.assert_allclose(binary.moments_of(3, 15 / 9, 105 / 81)[4::2], [3, 15, 105], rtol=1e-5)
    np.testing.assert_allclose(binary.moments_of(6, 90 / 36, 2520 / 1447.2)[4::2], [6, 90, 2520], rtol=1e-5)


def test_flow_conserves_and_names_the_trap():
    scene = flow.draw(state_of(flow))
    assert float(facts(scene)["drift of δ"]) < 1e-4
    trap = state_of(flow, t1=-1.0, t2=-1.0, a1=1.0, a2=1.0, length1=0.5, length2=0.5)
    scene = flow.draw(trap)  # a > 0, δ > 0 and a negative definite teacher: Corollary 17
    assert facts(scene)["trapped"] == "yes"
    problem = sh.Problem(np.diag([-1.0, -1.0]), sh.Gaussian(2), 2)
    assert float(facts(scene)["loss at the end"]) == pytest.approx(
        problem.loss(sh.Network(np.zeros((2, 2)))), rel=1e-3
    )


def test_the_student_ends_at_the_teacher_and_stays_in_its_quadrant():
    def drawn(state):
        figure = flow.draw(state).figures[1]
        x, y = (np.ravel(figure.data[2][c]) for c in "xy")
        return float(x[0]), float(y[0]), figure.layout.get("shapes", [])

    x, y, shapes = drawn(state_of(flow))  # signs differ: it reaches diag(1.5, −1)
    assert (x, y) == (pytest.approx(1.5, abs=1e-2), pytest.approx(-1, abs=1e-2)) and not shapes
    trap = state_of(flow, t1=-1.0, t2=-1.0, a1=1.0, a2=1.0, length1=0.5, length2=0.5)
    x, y, (shape,) = drawn(trap)  # Corollary 17: the zero matrix is as near as it comes
    assert 0 <= x < 1e-2 and 0 <= y < 1e-2 and shape["x1"] > 0 < shape["y1"]
    mirrored = {**trap, "a1": -1.0, "a2": -1.0, "t1": -2.0, "t2": -0.5}
    x, y, (shape,) = drawn(mirrored)
    assert (x, y) == (pytest.approx(-2, abs=1e-2), pytest.approx(-0.5, abs=1e-2)) and shape["x1"] < 0


def test_relu_steps_do_not_depend_on_the_way_there():
    relu.MEMORY._known.clear()
    at_once = relu.descents(state_of(relu, k=4.0, runs=3.0, steps=60.0)).thetas
    relu.MEMORY._known.clear()
    for steps in (0.0, 20.0, 60.0):
        bit_by_bit = relu.descents(state_of(relu, k=4.0, runs=3.0, steps=steps)).thetas
    np.testing.assert_array_equal(at_once, bit_by_bit)
    problem = sh.relu_problem(4, 4)
    theta = sh.starts(problem, 3, "xavier", 0)[1]
    for _ in range(60):  # 5/k on ½E
        theta = theta - 2.5 / 4 * problem.value_and_gradient(theta)[1]
    np.testing.assert_allclose(bit_by_bit[1], theta, rtol=1e-9, atol=1e-12)


def test_a_run_in_pieces_looks_like_one_that_is_loaded():
    relu.MEMORY._known.clear()
    at_once = relu.descents(state_of(relu, k=5.0, runs=2.0, steps=1940.0, split=700.0))
    relu.MEMORY._known.clear()
    for steps in range(0, 1941, 20):  # as the button makes them
        split = {"split": 700.0} if steps >= 700 else {}
        in_pieces = relu.descents(state_of(relu, k=5.0, runs=2.0, steps=float(steps), **split))
    assert at_once.times == in_pieces.times and len(at_once.times) >= relu.MOST_POINTS // 2
    np.testing.assert_array_equal(at_once.losses, in_pieces.losses)
    gaps = np.diff(at_once.times)  # early points are as close as late ones
    assert at_once.times[0] == 0 and at_once.times[-1] == 1940 and gaps.max() <= 16


@pytest.mark.parametrize(("k", "width"), [(4, 4), (6, 7), (12, 12)])
def test_the_view_steps_as_the_library_does(k, width):
    """The curve is that of `sh.descend` from the same start; a loss belongs to the weights of its own step."""
    problem = sh.relu_problem(k, width)
    theta = sh.starts(problem, 1, "xavier", 0)[0]
    run = sh.descend(problem, theta, "gd", iterations=200, record=1, polish=False)
    known = dict(zip(run.trajectory.times.tolist(), run.trajectory.losses.tolist(), strict=True))
    begin = relu.Progress(0, theta[None], (0,), (problem.value(theta[None]),), width)
    drawn = relu._advanced(begin, k, 200)
    shown = {step: float(loss[0]) for step, loss in zip(drawn.times, drawn.losses, strict=True)}
    assert len(shown) == 201
    for step in (0, 1, 2, 50, 199):
        assert shown[step] == pytest.approx(known[step], rel=1e-9)
    assert shown[200] == pytest.approx(float(problem.value(drawn.thetas)[0]), rel=1e-12)


def test_a_circle_and_a_bad_metric_have_a_picture():
    for values, said in (
        ({"p": 1.0, "q": 1.0, "x": 0.0, "y": 0.0}, "every point of it is critical"),
        ({"x": 1.5, "y": 0.0}, "on a wall"),  # the cusp (4 − 1)/2 of the evolute
        ({"m12": 1.5}, "not positive definite"),
        ({"p": 1.0, "q": 1.0}, ""),
    ):
        scene = ellipse.draw(state_of(ellipse, **values))
        assert said in scene.remark and bool(said) == bool(scene.remark)
        assert {trace.get("name") for trace in scene.figures[0].data} >= {"students", "teacher (drag it)"}
    names = [trace.get("name") for trace in scene.figures[0].data]
    assert "focal point" in names and "focal curve" not in names
    answer = asked("ellipse", p="1", q="1", x="0", y="0")
    assert "centre of the circle" in answer["message"] and answer["figures"]


def test_a_split_keeps_the_loss_and_adds_a_neuron():
    before = relu.descents(state_of(relu, k=6.0, runs=4.0, steps=50.0))
    after = relu.descents(state_of(relu, k=6.0, runs=4.0, steps=50.0, split=50.0, neuron=2.0))
    problem = sh.relu_problem(6, 7)
    assert after.width == 7
    np.testing.assert_allclose(
        problem.value(after.thetas), sh.relu_problem(6, 6).value(before.thetas), atol=0.1
    )


def asked(name, **values):
    """The answer to a question, as the page gets it."""
    return json.loads(scene_json({"view": name, "values": values, "known": []}))


@pytest.mark.parametrize("split", [0, 1])
def test_descents_that_take_too_long_are_refused_before_they_start(split, monkeypatch):
    monkeypatch.setattr(answers, "computed", lambda *_, **__: pytest.fail("it was started"))
    answer = asked("relu", k="20", runs="32", steps="200000", split=str(split))
    assert re.search(r"would take about .*; the limit is 5 s\. Fix: Use fewer", answer["message"])
    assert list(answer) == ["message"]


@pytest.mark.parametrize(
    ("name", "values"), [("relu", {"k": "20"}), ("binary", {"degree": "4", "law": "laplace"})]
)
def test_reports_that_take_too_long_are_refused_before_they_start(name, values):
    with pytest.raises(OverBudget, match=r"about [\d.]+ (s|minutes).*fewer descents in the report"):
        report_html(name, {**values, "train": "20000"})


@pytest.mark.parametrize("question", [None, [], "x", {}, {"view": "ellipse"}, {"view": 3, "values": {}},
                                      {"view": "ellipse", "values": {"x": {}}, "known": 7}])  # fmt: skip
def test_any_question_is_answered_by_a_sentence(question):
    assert json.loads(scene_json(question))["message"]


def test_memory_of_descents_is_bounded():
    for seed in range(relu.KEPT + 10):
        relu.descents(state_of(relu, k=2.0, runs=1.0, seed=float(seed), steps=1.0))
    assert len(relu.MEMORY._known) <= relu.KEPT


def test_the_report_of_a_view_without_a_problem_is_the_view_itself():
    text = report_html("ellipse", {"x": "0.45"})
    assert "real critical points" in text and "x=0.45" in text


@pytest.fixture(scope="module")
def client():
    return make_app().server.test_client()


def test_only_json_is_a_question(client):
    body = {"view": "ellipse", "values": {}}
    host = {"Host": "127.0.0.1"}
    assert client.post("/scene", json=body, headers=host).json["message"] == ""
    form = client.post("/scene", data=json.dumps(body), content_type="text/plain", headers=host)
    assert "not understood" in form.json["message"]  # what a form of another site can send
    assert client.post("/scene", json=body, headers={"Host": "evil.example"}).status_code == 400


def test_other_names_are_refused(client):
    assert client.get("/", headers={"Host": "127.0.0.1:1"}).status_code == 200
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 400


@pytest.mark.parametrize(
    "path", ["/assets/", "/assets/../cli.py", "/../../etc/passwd", "/src", "/assets/app.py"]
)
def test_no_directory_is_served(client, path):
    answer = client.get(path, headers={"Host": "127.0.0.1"})
    # Dash answers unknown paths with its one page; nothing else comes
    assert answer.status_code == 404 or b"_dash-config" in answer.data


def test_a_report_is_answered_with_its_name_or_a_sentence(client):
    def asked(**body):
        return client.post("/report", json=body, headers={"Host": "127.0.0.1"}).json

    report = asked(view="cone", values={"train": "0"})
    assert report["message"] == "" and report["name"] == "shallows-cone.html"
    assert report["text"].startswith("<!doctype html>") or report["text"].startswith("<!DOCTYPE html>")
    assert asked(view="ellipse", values={})["name"] == "shallows-ellipse.html"
    assert "from -3 to 3" in asked(view="cone", values={"t11": "99"})["message"]
    form = client.post("/report", data="{}", content_type="text/plain", headers={"Host": "127.0.0.1"})
    assert "not understood" in form.json["message"]


def test_plotly_comes_from_this_server_and_is_kept(client):
    page = client.get("/", headers={"Host": "127.0.0.1"}).get_data(as_text=True)
    address = re.search(r'src="(/plotly-[\d.]+\.js)"', page).group(1)
    answer = client.get(address, headers={"Host": "127.0.0.1"}, buffered=True)
    assert answer.status_code == 200 and "max-age" in answer.headers["Cache-Control"]
    assert len(answer.data) > 1_000_000 and answer.mimetype == "text/javascript"


@pytest.mark.parametrize("path", ["/_dash-update-component", "/scene", "/report"])
def test_large_requests_are_refused(client, path):
    answer = client.post(path, data=b"0" * 400_000, headers={"Host": "127.0.0.1"},
                         content_type="application/json")  # fmt: skip
    assert answer.status_code == 413


def test_pages_may_load_nothing_from_elsewhere(client):
    policy = client.get("/", headers={"Host": "127.0.0.1"}).headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy and "http" not in policy


def test_a_bug_is_called_one_and_logged(caplog):
    assert sentence(sh.InvalidProblem("plain words")) == "plain words"
    assert sentence(ZeroDivisionError("1/0")).startswith("A bug: ZeroDivisionError: 1/0.")
    assert "a bug in the explorer" in caplog.text


def test_a_server_for_other_machines_answers_to_this_machines_names():
    import socket

    from shallows.uses.explorer.server import EVERYWHERE, Server, names_of

    assert names_of("127.0.0.1") == ("127.0.0.1", "localhost")
    assert socket.gethostname() in names_of(EVERYWHERE) and "evil.example" not in names_of(EVERYWHERE)
    assert Server(EVERYWHERE, 80, None).address == f"http://{socket.gethostname()}:80"
    client = make_app(names_of(EVERYWHERE)).server.test_client()
    assert client.get("/", headers={"Host": f"{socket.gethostname()}:80"}).status_code == 200
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 400


def test_a_taken_port_is_a_sentence(capfd):
    from shallows.uses.explorer.server import make_server

    first = make_server(port=0)
    try:
        with pytest.raises(sh.InvalidProblem, match="--port 0"):
            make_server(port=first.port)
        assert capfd.readouterr() == ("", "")  # the sentence is all
    finally:
        first.inner.server_close()


def test_computations_stay_in_a_few_threads():
    import threading

    from shallows.uses.explorer.workers import computed

    seen = set()
    threads = [threading.Thread(target=lambda: seen.add(computed(threading.get_ident))) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= len(seen) <= (os.cpu_count() or 1)
    with pytest.raises(sh.InvalidProblem, match="no view"):
        computed(view_of, "torus")
