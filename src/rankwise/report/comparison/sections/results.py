"""The recommendation with the numbers it rests on, and the sortable table of all candidates."""

from __future__ import annotations

import math
from pathlib import PurePath

from rankwise.report.comparison import charts
from rankwise.report.comparison import format as fmt
from rankwise.report.comparison import markup as html
from rankwise.report.comparison.run import Candidate, Estimate, Run, number
from rankwise.report.html import Child, Markup, element

# Name, and the direction of the first click's sort.
_COLUMNS = (
    ("Candidate", "ascending"),
    ("Test", "descending"),
    ("95\u202f% interval", "descending"),
    ("Difference", "descending"),
    ("p", "ascending"),
    ("Validation", "descending"),
    ("Time", "ascending"),
    ("Trials", "ascending"),
)


def title_of(run: Run) -> str:
    """Return the title of the report: the metric and the data."""
    path = run.data.get("path") or run.config.get("data") or run.folder.name
    name = PurePath(str(path)).name or "these data"
    return f"{fmt.capitalized(fmt.full_name(run.metric))} on {name}"


def headline(run: Run) -> Markup:
    """Return the recommendation with its reason, and the numbers it rests on."""
    words = [("eyebrow", "Recommended"), ("choice", run.recommended.name)]
    words += [(name, text) for name, text in (("why", run.why), ("verdict", run.verdict)) if text]
    lines = [element("p", text, class_=name) for name, text in words]
    return element("div", lines, element("dl", _tiles(run), class_="tiles"), class_="hero")


def _tiles(run: Run) -> list[Markup]:
    best, given = run.recommended, run.predictions
    known = fmt.between(best.test)
    tiles = [
        _tile(
            fmt.full_name(run.metric), fmt.decimal(best.test.value), known, fmt.meaning(run.metric)
        )
    ]
    if (gain := best.difference) is not None:
        p = fmt.p_value(gain.p) if gain.p < 0.001 else f"=\u00a0{fmt.p_value(gain.p)}"
        known = ", ".join(
            filter(
                None, (fmt.between(gain, fmt.signed), "" if math.isnan(gain.p) else f"p\u00a0{p}")
            )
        )
        name = run.baseline.name if run.baseline else "the baseline"
        tiles.append(_tile("against the baseline", fmt.signed(gain.value), known, name))
    every, rows = number(run.data.get("rows")), fmt.count(len(given.target))
    if given.group is not None:
        lists = fmt.counted(int(given.group.max()) + 1, "list")
        tiles.append(_tile("test rows", rows, f"in {lists}"))
    else:
        positive = given.target == 1
        share = fmt.percent(float(given.weight[positive].sum() / given.weight.sum()))
        fine = "" if math.isnan(every) else f"of {fmt.count(every)} in all"
        known = f"{fmt.count(int(positive.sum()))} positive, {share}"
        tiles.append(_tile("test rows", rows, known, fine))
    trials = "" if best.trials is None else fmt.counted(best.trials, "trial")
    return [*tiles, _tile("training time", fmt.duration(best.seconds), trials)]


def _tile(name: str, value: str, more: str = "", fine: str = "") -> Markup:
    cells = (("number", value), ("more", more), ("fine", fine))
    shown = [element("dd", text, class_=class_) for class_, text in cells if text]
    return element("div", element("dt", name), shown)


def results(run: Run) -> html.Section:
    """Return the table of candidates, the remarks and the other metrics."""
    ordered = sorted(run.candidates, key=lambda c: (math.isnan(c.test.value), -c.test.value))
    known = charts.known_values(each.test for each in run.candidates) or [0.0]
    rows = [_row(run, each, min(known), max(known)) for each in ordered]
    against = "the log-loss baseline" if run.baseline is None else run.baseline.name
    caption = (
        f"{fmt.capitalized(fmt.full_name(run.metric))} on {run.evaluation}, evaluated after the "
        f"choice. {f'The choice was made by {run.choice}. ' if run.choice else ''}"
        f"Difference and paired p-value against {against}. Click a heading to sort."
    )
    made = element(
        "table",
        element("thead", element("tr", [_head(name, first) for name, first in _COLUMNS])),
        element("tbody", rows),
        class_="results",
        id="result-table",
        aria_describedby="result-note",
    )
    reasons = {name: str(why) for name, why in run.left_out.items()}
    remarks = [
        html.note(element("strong", name), " was left out: ", why) for name, why in reasons.items()
    ]
    remarks += [
        html.note(each) for each in run.remarks if not any(why in each for why in reasons.values())
    ]
    first = element("p", caption, class_="note", id="result-note")
    body = [first, html.scroll(made, "Result table"), remarks, _other_metrics(run)]
    return html.Section("results", "Results", body)


def _head(name: str, first: str) -> Markup:
    arrow = element("span", class_="arrow", aria_hidden="true")
    sort = "descending" if name == "Test" else "none"
    button = element("button", name, arrow, type="button")
    return element("th", button, scope="col", aria_sort=sort, data_first=first)


def _row(run: Run, each: Candidate, low: float, high: float) -> Markup:
    badges = [element("span", role, class_=f"badge {role}") for role in html.roles(run, each)]
    words = element("div", element("span", each.name, class_="name"), " ", badges)
    gain, trials = each.difference, math.nan if each.trials is None else each.trials
    interval: Child = fmt.NOTHING
    if each.test.has_interval:
        interval = element("span", fmt.between(each.test, dash=" – "), class_="range")
        if low < high:
            reference = math.nan if run.baseline is None else run.baseline.test.value
            color = html.color_class(run, each)
            drawn = charts.forest(each.test, low, high, reference=reference, class_=color)
            interval = [drawn, interval]
    return element(
        "tr",
        element(
            "th",
            element("div", html.swatch(run, each), words, class_="who"),
            scope="row",
            data_value=each.name,
        ),
        _cell(each.test.value, element("strong", fmt.decimal(each.test.value))),
        _cell(each.test.low, interval),
        _difference(gain or Estimate(), decided=run.decided),
        _cell(
            math.nan if gain is None else gain.p,
            fmt.NOTHING if gain is None else fmt.p_value(gain.p),
        ),
        _cell(each.validation.value, fmt.decimal(each.validation.value)),
        _cell(each.seconds, fmt.duration(each.seconds)),
        _cell(trials, fmt.count(trials)),
        class_="chosen" if each is run.recommended else None,
    )


def _cell(value: float, shown: Child) -> Markup:
    return element("td", shown, data_value="" if math.isnan(value) else repr(float(value)))


def _difference(gain: Estimate, *, decided: bool) -> Markup:
    shown: list[Child] = [fmt.signed(gain.value)]
    if gain.has_interval and decided:
        word, class_ = "within chance", "quiet"
        if gain.low > 0 or gain.high < 0:
            word, class_ = ("better", "good") if gain.low > 0 else ("worse", "bad")
        shown.append(element("span", word, class_=f"sure {class_}"))
    return _cell(gain.value, shown)


def _other_metrics(run: Run) -> Markup | None:
    if not run.other_metrics:
        return None
    rows = [
        [each.name, *(fmt.decimal(values[each.number]) for values in run.other_metrics.values())]
        for each in run.candidates
    ]
    return html.details(
        "Other metrics",
        html.note("These were measured, but not optimized or used for the choice."),
        html.table(f"Other metrics on {run.evaluation}.", ["Candidate", *run.other_metrics], rows),
    )
