"""The site in a real browser: contrast, overflow, errors, requests, and its search."""

from __future__ import annotations

import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

playwright = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")
CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
    pytest.mark.xdist_group("site"),
]
PAGES = ("", "reference/pairs/", "guides/fraud/", "which_objective/")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address(site_folder):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site_folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        started = driver.chromium.launch(executable_path=CHROMIUM, args=flags, timeout=60_000)
        yield started
        started.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_pages_are_readable(browser, address, scheme, width):
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    context.set_default_timeout(60_000)
    page, problems = context.new_page(), []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.append(request.url) if away(request.url) else None)

    def away(url):
        return not url.startswith((address, "data:", "blob:"))

    for path in PAGES:
        page.goto(address + path)
        page.wait_for_load_state("networkidle")
        if page.evaluate("document.documentElement.scrollWidth") > width:
            problems.append(f"{path} is wider than the screen")
        found = axe.Axe().run(page).response["violations"]
        problems += [
            f"{path}: {each['id']}: {each['nodes'][0]['html'][:200]}"
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
    context.close()
    assert problems == []


def test_the_keyboard_scrolls_a_wide_table(browser, address):
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.set_default_timeout(60_000)
    page.goto(address + "which_objective/")
    wide = page.locator(".md-typeset__scrollwrap[tabindex='0']").first
    wide.wait_for()
    assert wide.get_attribute("aria-label") == "Table: In short"
    wide.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "document.querySelector('.md-typeset__scrollwrap[tabindex]').scrollLeft > 0"
    )
    page.set_viewport_size({"width": 3_000, "height": 900})  # nothing to scroll: no stop for Tab
    page.wait_for_function(
        "!document.querySelector('.md-typeset__scrollwrap').hasAttribute('tabindex')"
    )
    page.close()


def test_the_search_finds_names(browser, address):
    page = browser.new_page()
    page.set_default_timeout(60_000)
    page.goto(address)
    page.click("[data-md-component=search-query]")
    for name in ("pair_sum", "SOPRC", "partial_auroc", "BalancedBatches", "Mean", "Stage"):
        page.keyboard.press("Control+A")
        page.keyboard.type(name)
        # Of the first page in the results, which shows its best entries.
        first = page.locator(".md-search-result__item").first
        first.locator(f".md-search-result__link[href$='.{name}']").first.wait_for()
    page.close()
