"""Every kind of report in a real browser: no errors, nothing too wide, nothing inaccessible.

Skipped only where there is no chromium, which `.ci/run` installs. The screenshots of the tests are
in their temporary folder.
"""

from __future__ import annotations

import re
import warnings

import pytest
from axe_playwright_python.sync_playwright import Axe
from tests.report.browser import CHROMIUM, Browser
from tests.report.kinds import KINDS

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
    pytest.mark.xdist_group("browser"),
]
SIZES = {390: 844, 1280: 900}
LOOKS = [
    (390, False),
    pytest.param(390, True, marks=pytest.mark.full),
    pytest.param(1280, False, marks=pytest.mark.full),
    (1280, True),
]


@pytest.fixture(scope="module")
def browser():
    with Browser() as started:
        yield started


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def report(kind, tmp_path_factory):
    with warnings.catch_warnings():  # of runs this small
        warnings.simplefilter("ignore")
        return KINDS[kind](tmp_path_factory.mktemp(kind) / "run")


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_it_shows_without_errors_and_nothing_is_too_wide(
    browser, kind, report, tmp_path, width, dark
):
    browser.fresh(phone=width == 390)  # under the policy of the page
    browser.look(width, SIZES[width], dark=dark, phone=width == 390)
    browser.open(report)
    browser.screenshot(tmp_path / f"{kind}-{width}-{'dark' if dark else 'light'}.png")
    assert browser.errors == []
    assert browser.too_wide() == []
    assert {url.partition(":")[0] for url in browser.requests} <= {"file", "data"}


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_axe_has_nothing_serious_to_say(browser, report, width, dark):
    phone = width == 390
    browser.fresh(phone=phone, bypass_csp=True)
    browser.look(width, SIZES[width], dark=dark, phone=phone)
    browser.open(report)
    browser.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert serious(browser) == []


def serious(browser):
    found = Axe().run(browser.page).response["violations"]
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:120]}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


def test_axe_finds_what_is_wrong(browser, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        '<html lang="en"><title>t</title><p style="color: #aaa">faint</p><img src="data:,"></html>'
    )
    browser.fresh()
    browser.open(page)
    assert [each.partition(":")[0] for each in serious(browser)] == ["color-contrast", "image-alt"]


def test_it_begins_with_one_sentence_and_ends_with_settings_that_are_folded(kind, report):
    html = report.read_text(encoding="utf-8")
    sentence = re.search(r'<p class="choice">(.*?)</p>', html)
    assert sentence is not None
    assert re.search(r"\d", sentence[1])  # made of the numbers of the run
    assert sentence[1].endswith(".")
    assert html.index('class="choice"') < html.index("<main>")
    assert "default-src 'none'" in html
    if kind != "study":
        last = html[html.rindex("<section") :]
        assert last.startswith(
            '<section id="settings" aria-labelledby="settings-heading"><details>'
        )


FIRST = {
    "recommend": "Example users",
    "rank": "Queries won and lost",
    "retrieval": "Queries and their nearest images",
    "classify": "The rarest classes",
    "detect": "Detections",
    "contrast": "Queries and their nearest images",
    "compare": "Results",
    "compare-classes": "Results",
    "study": "Results",
}


def test_the_figure_of_the_task_comes_first(kind, report):
    html = report.read_text(encoding="utf-8")
    assert re.search(r"<h2[^>]*>(.*?)</h2>", html)[1] == FIRST[kind]
