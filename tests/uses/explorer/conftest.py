"""One explorer for all tests; pages are watched for errors and for requests that leave the machine."""

import threading
from contextlib import contextmanager

import pytest

SIZE = {"width": 1280, "height": 900}
LOCAL = ("file:", "data:", "blob:", "about:", "http://127.0.0.1:")


@pytest.fixture(scope="session")
def explorer():
    """The address of a running explorer whose views are compiled."""
    from shallows.uses.explorer.server import make_server, warm

    server = make_server(port=0)
    warm()
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    yield server.address
    server.stop()
    thread.join(timeout=10)


@pytest.fixture(scope="session")
def window(browser):
    """The window most tests share: scripts are loaded once."""
    context = browser.new_context(viewport=SIZE)
    yield context
    context.close()


def watching(page):
    """The list into which goes whatever the page writes as an error or asks for from elsewhere."""
    wrong = []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith(LOCAL) else wrong.append(f"left: {r.url}"))
    page.set_default_timeout(300_000)  # a guard against hanging, for slow machines too
    return wrong


@pytest.fixture
def watched(browser, window):
    """`with watched(url) as page`: fails when the page writes an error or asks for anything from elsewhere."""

    @contextmanager
    def visit(url, **options):
        context = browser.new_context(viewport=SIZE, **options) if options else window
        page = context.new_page()
        wrong = watching(page)
        page.goto(url)
        try:
            yield page
        finally:
            page.close()
            if options:
                context.close()
        assert not wrong, wrong

    return visit


@pytest.fixture(scope="session")
def kept(window):
    """`page, wrong = kept(url)`: a page that several tests share, opened once, with what was wrong on it."""
    opened = {}

    def page_of(url):
        if url not in opened:
            page = window.new_page()
            opened[url] = page, watching(page)
            page.goto(url)
        opened[url][0].bring_to_front()
        return opened[url]

    yield page_of
    for page, _ in opened.values():
        page.close()


@pytest.fixture
def shown(kept, explorer):
    """`shown("ellipse", x=0.1)`: the view's page at its defaults with these changes; fails on any error of the page."""
    from shallows.uses.explorer.fields import defaults, query, read_state
    from shallows.uses.explorer.views import view_of

    used = []

    def show(name, **changes):
        page, wrong = kept(f"{explorer}/?view={name}")
        used.append(wrong)
        page.locator(".facts > div").first.wait_for()
        fields = view_of(name).fields
        state = {**defaults(fields), **read_state(fields, changes)} if changes else defaults(fields)
        texts = {field.name: field.text(state[field.name]) for field in fields}
        page.evaluate("(texts) => shallows.move(texts)", texts)
        drawn = "document.documentElement.dataset.busy === 'false' && location.search === query"
        page.wait_for_function(f"(query) => {drawn}", arg=query(name, fields, state))
        return page

    yield show
    assert not any(used), used
