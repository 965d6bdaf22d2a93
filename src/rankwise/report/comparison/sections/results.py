"""What to use, and why, before anything else."""

from __future__ import annotations

import math
from pathlib import PurePath

from rankwise.report.comparison.format import (
    NOTHING,
    capitalized,
    count,
    counted,
    decimal,
    duration,
    full_name,
    meaning,
    p_value,
    percent,
    signed,
)
from rankwise.report.comparison.markup import (
    Child,
    Markup,
    Part,
    color_class,
    element,
    note,
    scroll,
    swatch,
    table,
)
from rankwise.report.comparison.run import Candidate, Estimate, Run, number


def title_of(run: Run) -> str:
    """What the page is about: the metric and the data."""
    path = run.data.get("path") or run.config.get("data") or run.folder.name
    name = PurePath(str(path)).name or "these data"
    return f"{capitalized(full_name(run.metric))} on {name}"


def headline(run: Run) -> Markup:
    """The recommendation with its reason, and the numbers it rests on."""
    best = run.recommended
    return element(
        "div",
        element("p", "Recommended", class_="eyebrow"),
        element("p", best.name, class_="choice"),
        element("p", run.why, class_="why") if run.why else None,
        element("p", run.verdict, class_="verdict") if run.verdict else None,
        element("dl", _tiles(run), class_="tiles"),
        class_="hero",
    )


def _tiles(run: Run) -> list[Markup]:
    best, gain = run.recommended, run.recommended.difference
    test = best.test
    tiles = [
        _tile(
            full_name(run.metric),
            decimal(test.value),
            _between(test),
            meaning(run.metric),
        ),
    ]
    if gain is not None:
        known = [words for words in (_between(gain, plus=True), _p(gain.p)) if words]
        name = run.baseline.name if run.baseline else "the baseline"
        tiles.append(_tile("against the baseline", signed(gain.value), ", ".join(known), name))
    truth, weight = run.predictions.target, run.predictions.weight
    rows = len(truth)
    if run.grouped:
        groups = 0 if run.predictions.group is None else int(run.predictions.group.max()) + 1
        tiles.append(_tile("test rows", count(rows), f"in {counted(groups, 'list')}"))
    else:
        share = float(weight[truth == 1].sum() / weight.sum())
        positives = f"{count(int((truth == 1).sum()))} positive, {percent(share)}"
        tiles.append(_tile("test rows", count(rows), positives, _all_rows(run)))
    tiles.append(_tile("training time", duration(best.seconds), _trials(best.trials)))
    return tiles


def _tile(name: str, value: str, more: str = "", fine: str = "") -> Markup:
    return element(
        "div",
        element("dt", name),
        element("dd", value, class_="number"),
        element("dd", more, class_="more") if more else None,
        element("dd", fine, class_="fine") if fine else None,
    )


def _between(known: Estimate, *, plus: bool = False) -> str:
    written = signed if plus else decimal
    return f"{written(known.low)} to {written(known.high)}" if known.has_interval else ""


def _p(p: float) -> str:
    if math.isnan(p):
        return ""
    shown = p_value(p)
    return f"p\u00a0{shown}" if shown.startswith("<") else f"p\u00a0=\u00a0{shown}"


def _all_rows(run: Run) -> str:
    rows = number(run.data.get("rows"))
    return f"of {count(rows)} in all" if not math.isnan(rows) else ""


def _trials(trials: int | None) -> str:
    return "" if trials is None else counted(trials, "trial")


# Name, and which way a first click sorts.
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


def results(run: Run) -> Part:
    """The table, and under it the other metrics."""
    heads = [_head(name, first, name == "Test") for name, first in _COLUMNS]
    ordered = sorted(run.candidates, key=lambda c: -_or_low(c.test.value))
    low, high = _span(run)
    rows = [_row(run, each, low, high) for each in ordered]
    against = "the log-loss baseline" if run.baseline is None else run.baseline.name
    caption = (
        f"{capitalized(full_name(run.metric))} on {run.evaluation}, looked at after the choice. "
        f"{f'The choice was made by {run.choice}. ' if run.choice else ''}"
        f"Difference and paired p-value against {against}. Click a heading to sort."
    )
    made = element(
        "table",
        element("thead", element("tr", heads)),
        element("tbody", rows),
        class_="results",
        id="result-table",
        aria_describedby="result-note",
    )
    told = element("p", caption, class_="note", id="result-note")
    missing = [
        note(element("strong", name), " was left out: ", str(why))
        for name, why in run.left_out.items()
    ]
    told_already = [str(why) for why in run.left_out.values()]
    missing += [note(each) for each in run.notes if not any(why in each for why in told_already)]
    return Part("results", "Results", [told, scroll(made, "Result table"), missing, _others(run)])


def _head(name: str, first: str, chosen: bool) -> Markup:
    button = element(
        "button", name, element("span", class_="arrow", aria_hidden="true"), type="button"
    )
    sort = "descending" if chosen else "none"
    return element("th", button, scope="col", aria_sort=sort, data_first=first)


def _row(run: Run, each: Candidate, low: float, high: float) -> Markup:
    role = (
        "recommended" if each is run.recommended else "baseline" if each is run.baseline else None
    )
    also = "baseline" if each is run.recommended and each is run.baseline else None
    badges = [element("span", word, class_=f"badge {word}") for word in (role, also) if word]
    words = element("div", element("span", each.name, class_="name"), " ", badges)
    name = element("div", swatch(run, each), words, class_="who")
    gain = each.difference
    return element(
        "tr",
        element("th", name, scope="row", data_value=each.name),
        _cell(each.test.value, element("strong", decimal(each.test.value))),
        _cell(each.test.low, _interval(run, each, low, high)),
        _difference(gain, decided=run.decided),
        _cell(math.nan if gain is None else gain.p, NOTHING if gain is None else p_value(gain.p)),
        _cell(each.validation.value, decimal(each.validation.value)),
        _cell(each.seconds, duration(each.seconds)),
        _cell(
            math.nan if each.trials is None else each.trials,
            NOTHING if each.trials is None else count(each.trials),
        ),
        class_="chosen" if each is run.recommended else None,
    )


def _cell(value: float, shown: Child) -> Markup:
    return element("td", shown, data_value="" if math.isnan(value) else repr(float(value)))


def _difference(gain: Estimate | None, *, decided: bool) -> Markup:
    if gain is None:
        return _cell(math.nan, NOTHING)
    if not gain.has_interval or not decided:
        return _cell(gain.value, signed(gain.value))
    word, class_ = (
        ("better", "good")
        if gain.low > 0
        else ("worse", "bad")
        if gain.high < 0
        else ("within chance", "quiet")
    )
    shown = [signed(gain.value), element("span", word, class_=f"sure {class_}")]
    return _cell(gain.value, shown)


def _interval(run: Run, each: Candidate, low: float, high: float) -> Child:
    """The interval in figures, and drawn on a scale that all rows share."""
    test = each.test
    if not test.has_interval:
        return NOTHING
    figures = element("span", f"{decimal(test.low)} – {decimal(test.high)}", class_="range")
    if low == high:
        return figures

    def at(value: float) -> float:
        return round(4 + 132 * (value - low) / (high - low), 1)

    marks: list[Markup] = []
    if run.baseline is not None and not math.isnan(run.baseline.test.value):
        place = at(run.baseline.test.value)
        marks.append(element("line", class_="reference", x1=place, x2=place, y1=0, y2=18))
    marks.append(element("line", class_="whisker", x1=at(test.low), x2=at(test.high), y1=9, y2=9))
    if not math.isnan(test.value):
        marks.append(element("circle", class_="dot", cx=at(test.value), cy=9, r=4))
    classes = f"forest {color_class(run, each)}"
    picture = element("svg", marks, class_=classes, viewBox="0 0 140 18", aria_hidden="true")
    return [picture, figures]


def _span(run: Run) -> tuple[float, float]:
    tests = [each.test for each in run.candidates]
    known = [v for t in tests for v in (t.low, t.value, t.high) if not math.isnan(v)]
    return (min(known), max(known)) if known else (0.0, 0.0)


def _others(run: Run) -> Markup | None:
    if not run.other_metrics:
        return None
    names = list(run.other_metrics)
    rows = [
        [each.name, *(decimal(number(run.other_metrics[m][each.number])) for m in names)]
        for each in run.candidates
    ]
    return element(
        "details",
        element("summary", "Other metrics"),
        note("These were measured, not optimized or chosen by."),
        table(f"Other metrics on {run.evaluation}.", ["Candidate", *names], rows),
    )


def _or_low(value: float) -> float:
    return -math.inf if math.isnan(value) else value
