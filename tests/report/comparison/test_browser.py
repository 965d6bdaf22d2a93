"""The page in a real browser; skipped only where there is no chromium, which `.ci/run` installs."""

from __future__ import annotations

import pytest
from tests.report.browser import CHROMIUM, Browser
from tests.report.comparison.sample import BASELINE, RECOMMENDED, grouped

from rankwise.report.comparison.report import write_report

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture(scope="module")
def started():
    with Browser() as browser:
        yield browser


@pytest.fixture
def browser(started, page):
    """The sample's page, freshly loaded in light colors on a desk."""
    started.fresh()
    started.open(page)
    yield started
    assert started.errors == []


def values(browser, column):
    script = (
        f"[...document.querySelectorAll('#result-table tbody tr')]"
        f".map((row) => row.cells[{column}].dataset.value)"
    )
    return browser.run(script)


def test_loads_from_disk_without_errors_and_fetches_nothing(browser):
    assert browser.run("document.title") == "Average precision on transactions.csv"
    assert {url.partition(":")[0] for url in browser.requests} == {"file"}
    assert all(url.endswith("/index.html") for url in browser.requests)


def test_a_click_on_a_heading_sorts_by_numbers_and_another_turns_it_round(browser):
    head = "#result-table thead th:nth-child(7) button"
    browser.click(head)
    seconds = [float(each) for each in values(browser, 6)]
    assert seconds == sorted(seconds)
    assert seconds[0] == 3.1
    state = "[...document.querySelectorAll('#result-table th[aria-sort]')].map((th) => th.ariaSort)"
    assert browser.run(state) == ["none"] * 6 + ["ascending", "none"]
    browser.click(head)
    assert [float(each) for each in values(browser, 6)] == seconds[::-1]
    assert browser.run(state)[6] == "descending"


def test_names_sort_as_words_and_what_has_no_value_stays_last(browser):
    browser.click("#result-table thead th:nth-child(1) button")
    names = values(browser, 0)
    assert names == sorted(names)
    for _ in range(2):
        browser.click("#result-table thead th:nth-child(5) button")
        assert values(browser, 4)[-1] == ""
        assert values(browser, 0)[-1] == "Gradient boosting, trained on log-loss"


def test_a_heading_sorts_with_the_keyboard(browser):
    browser.run("document.querySelector('#result-table thead th:nth-child(8) button').focus()")
    browser.press("Enter")
    trials = [int(float(each)) for each in values(browser, 7)]
    assert trials == sorted(trials)


def shown(browser):
    keys = ("flagged", "tp", "fp", "fn", "precision", "recall", "f1", "threshold")
    return {key: browser.text(f"#at-{key}").replace("\u202f", "") for key in keys}


def test_the_slider_updates_the_numbers(browser, held):
    before = shown(browser)
    browser.run("document.getElementById('threshold-slider').focus()")
    browser.press("ArrowLeft", times=20)
    after = shown(browser)
    assert after != before
    assert int(after["flagged"]) > int(before["flagged"])
    # The numbers are those of the data at the threshold that is shown.
    flagged = held[f"probability_{RECOMMENDED}"] >= float(after["threshold"])
    true = int((flagged & (held["target"] == 1)).sum())
    assert int(after["tp"]) == true
    assert int(after["flagged"]) == int(flagged.sum())
    assert float(after["precision"]) == pytest.approx(true / flagged.sum(), abs=5e-4)
    assert float(after["recall"]) == pytest.approx(true / held["target"].sum(), abs=5e-4)
    assert int(after["fn"]) == held["target"].sum() - true


def test_at_the_end_none_is_flagged(browser):
    browser.run("document.getElementById('threshold-slider').focus()")
    browser.press("End")
    after = shown(browser)
    assert (after["flagged"], after["precision"], after["recall"]) == ("0", "–", "0.000")
    assert after["threshold"] == "none"


def test_costs_move_the_cheapest_threshold(browser, held):
    def type_cost(key, value):
        browser.run(
            f"(() => {{ const box = document.getElementById('cost-{key}'); box.value = '{value}'; "
            "box.dispatchEvent(new Event('input', {bubbles: true})); })()"
        )

    def total():
        return float(browser.text("#sum-total").replace("\u202f", ""))

    probability, target = held[f"probability_{RECOMMENDED}"], held["target"]
    for false_positive, false_negative in ((1, 10), (3, 250), (50, 1)):
        type_cost("fp", false_positive)
        type_cost("fn", false_negative)
        browser.click("#cheapest")
        every = [
            false_positive * ((probability >= t) & (target == 0)).sum()
            + false_negative * ((probability < t) & (target == 1)).sum()
            for t in (*set(probability.tolist()), 2.0)
        ]
        assert total() == min(every)
        assert (
            browser.text("#cheapest-summary")
            .replace("\u202f", "")
            .startswith(f"Cheapest: {min(every)} at ")
        )
    browser.click("#best-f1")
    assert total() > min(every)


def test_the_first_numbers_are_those_that_were_written(browser, page):
    """What a reader without scripts sees is what the script would show."""
    ids = [
        "cheapest-summary",
        "sum-total",
        "sum-fp",
        "sum-fn",
        "at-threshold",
        "at-flagged",
        "at-f1",
    ]
    html = page.read_text(encoding="utf-8")
    for each in ids:
        written = html.partition(f'id="{each}"')[2].partition(">")[2].partition("<")[0]
        assert browser.text(f"#{each}") == written


def test_a_legend_hides_a_candidate_in_every_chart(browser):
    count = (
        f"[...document.querySelectorAll('[data-series=\"{BASELINE}\"]')]"
        ".filter((g) => getComputedStyle(g).display !== 'none').length"
    )
    assert browser.run(count) == 5  # both curves, both times, lift
    browser.click(f'#curves [data-toggle="{BASELINE}"]')
    assert browser.run(count) == 0
    pressed = f"document.querySelector('#lift [data-toggle=\"{BASELINE}\"]').ariaPressed"
    assert browser.run(pressed) == "false"
    browser.hover('svg[data-chart="pr"]', x=0.4)
    assert "Gradient boosting, trained on log-loss" not in browser.text("#curves .tip")
    browser.click(f'#lift [data-toggle="{BASELINE}"]')
    assert browser.run(count) == 5


def test_on_a_phone_legends_are_folded_and_wide_tables_say_that_they_scroll(browser, page):
    legends = "[...document.querySelectorAll('.legend')].map((each) => each.open)"
    hint = (
        "[...document.querySelectorAll('#results .scroll')]"
        ".map((box) => getComputedStyle(box, '::before').content)"
    )
    assert set(browser.run(legends)) == {True}
    assert browser.run(hint)[0] == "none"
    browser.look(390, 844, phone=True)
    browser.open(page)
    assert set(browser.run(legends)) == {False}
    assert browser.run(hint)[0] == '"Scroll sideways →"'
    browser.click(".legend summary")
    assert browser.run(legends)[0]


def test_folded_parts_are_open_in_print(browser):
    opened = "[...document.querySelectorAll('details')].every((each) => each.open)"
    assert not browser.run(opened)
    browser.page.pdf()
    browser.wait(opened)


def test_bands_of_all(browser):
    opacity = "getComputedStyle(document.querySelector('.c0 .band')).opacity"
    assert browser.run(opacity) == "0"
    browser.click("[data-bands]")
    browser.wait(f"Number({opacity}) > 0.1")


def test_values_are_read_off_a_chart_by_mouse_and_keys(browser):
    tip = "#curves .tip"
    assert browser.run(f"document.querySelector('{tip}').hidden")
    browser.hover('svg[data-chart="pr"]', x=0.5)
    first = browser.text(tip)
    assert first.startswith("recall 0.4")
    assert "Gradient boosting, trained on average precision" in first
    browser.run("document.querySelector('svg[data-chart=\"pr\"]').focus()")
    browser.press("ArrowRight", times=3)
    assert browser.text(tip) != first
    browser.press("Home")
    assert browser.text(tip).startswith("recall 0")
    browser.hover("h1")
    assert browser.run(f"document.querySelector('{tip}').hidden")


GROUND = (
    "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3)"
    ".reduce((sum, each) => sum + Number(each), 0)"
)


def ground(browser):
    return browser.run(GROUND)


def test_colors_follow_the_system_until_the_reader_chooses(browser, page):
    # A busy browser paints a while after it was told to: each step waits for what it is to see.
    light = ground(browser)
    assert light > 600
    browser.look(1280, 900, dark=True)
    browser.wait(f"{GROUND} < 150")
    dark = ground(browser)
    browser.click("#theme")
    browser.wait(f"{GROUND} === {light}")
    assert browser.run("localStorage.getItem('rankwise-theme')") == "light"
    assert browser.value_with_stored(page, "rankwise-theme", "light", GROUND) == light
    assert browser.value_with_stored(page, "rankwise-theme", "no color", GROUND) == dark
    browser.click("#theme")
    browser.wait(f"{GROUND} === {dark}")
    assert browser.text("#theme") == "Light"


@pytest.mark.parametrize("dark", [False, True])
def test_texts_stand_out_from_their_ground(browser, page, dark):
    """WCAG 2.1, 1.4.3: at least 4.5 to 1."""
    browser.look(1280, 900, dark=dark)
    worst = browser.run("""(() => {
      const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
      const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
        .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
      const ground = (e) => {
        for (let at = e; at; at = at.parentElement) {
          const found = numbers(getComputedStyle(at).backgroundColor);
          if (found.length < 4 || found[3] > 0) return found;
        }
        return [255, 255, 255];
      };
      const ratios = [];
      for (const e of document.querySelectorAll("body *")) {
        const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
        if (!own || !e.getClientRects().length || e.closest("script")) continue;
        const style = getComputedStyle(e);
        const color = numbers(e.closest("svg") ? style.fill : style.color);
        const [a, b] = [light(color), light(ground(e))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        ratios.push([ratio, e.className.baseVal ?? e.className, e.textContent]);
      }
      return ratios.sort((x, y) => x[0] - y[0])[0];
    })()""")
    assert worst[0] >= 4.5, worst


@pytest.mark.parametrize("width", [320, 390, 768, 1000])
def test_on_a_phone_only_tables_scroll_sideways(browser, page, width):
    browser.look(width, 800, phone=True)
    browser.open(page)
    assert browser.too_wide() == []
    small = browser.run("""Math.min(...[...document.querySelectorAll(".chart text")].map((t) => {
      const svg = t.closest("svg");
      return parseFloat(getComputedStyle(t).fontSize) * svg.clientWidth / svg.viewBox.baseVal.width;
    }))""")
    assert small > 8.5


def test_a_run_of_lists_works_too(started, tmp_path):
    started.fresh()
    started.open(write_report(grouped(tmp_path)))
    started.click("#result-table thead th:nth-child(2) button")
    assert [float(each) for each in values(started, 1)] == sorted(map(float, values(started, 1)))
    assert started.errors == []
