"""The recommendation with the numbers it rests on, and the sortable table of all candidates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import PurePath

from rankwise.report.comparison import charts
from rankwise.report.comparison import format as fmt
from rankwise.report.comparison import markup as html
from rankwise.report.comparison.run import Candidate, Estimate, Run, number
from rankwise.report.html import Child, Markup, element, fill

# By name, the direction of the first click's sort.
_COLUMNS = {
    "Candidate": "ascending",
    "Test": "descending",
    "95\u202f% interval": "descending",
    "Difference": "descending",
    "p": "ascending",
    "Validation": "descending",
    "Time": "ascending",
    "Trials": "ascending",
}
_TABLE = """<table class="results" id="result-table" aria-describedby="result-note">\
<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"""
_HEAD = """<th scope="col" aria-sort="{sort}" data-first="{first}">\
<button type="button">{name}<span class="arrow" aria-hidden="true"></span></button></th>"""
_LINES = ("number", "more", "fine")  # of a tile


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
    name = fmt.full_name(run.metric)
    tiles = {name: (fmt.decimal(best.test.value), fmt.between(best.test), fmt.meaning(run.metric))}
    if (gain := best.difference) is not None:
        p = fmt.p_value(gain.p) if gain.p < 0.001 else f"=\u00a0{fmt.p_value(gain.p)}"
        known = (fmt.between(gain, fmt.signed), "" if math.isnan(gain.p) else f"p\u00a0{p}")
        against = run.baseline.name if run.baseline else "the baseline"
        words = ", ".join(filter(None, known))
        tiles["against the baseline"] = (fmt.signed(gain.value), words, against)
    every, rows = number(run.data.get("rows")), fmt.count(len(given.target))
    if given.group is not None:
        tiles["test rows"] = (rows, f"in {fmt.counted(int(given.group.max()) + 1, 'list')}", "")
    else:
        positive = given.target == 1
        share = fmt.percent(float(given.weight[positive].sum() / given.weight.sum()))
        words = f"{fmt.count(int(positive.sum()))} positive, {share}"
        fine = "" if math.isnan(every) else f"of {fmt.count(every)} in all"
        tiles["test rows"] = (rows, words, fine)
    trials = "" if best.trials is None else fmt.counted(best.trials, "trial")
    tiles["training time"] = (fmt.duration(best.seconds), trials, "")
    return [
        element(
            "div",
            element("dt", name),
            [element("dd", text, class_=c) for c, text in zip(_LINES, texts, strict=True) if text],
        )
        for name, texts in tiles.items()
    ]


def results(run: Run) -> html.Section:
    """Return the table of candidates, the remarks and the other metrics."""
    ordered = sorted(run.candidates, key=lambda c: (math.isnan(c.test.value), -c.test.value))
    scale = charts.known_values(each.test for each in run.candidates)
    against = "the log-loss baseline" if run.baseline is None else run.baseline.name
    caption = (
        f"{fmt.capitalized(fmt.full_name(run.metric))} on {run.evaluation}, evaluated after the "
        f"choice. {f'The choice was made by {run.choice}. ' if run.choice else ''}"
        f"Difference and paired p-value against {against}. Click a heading to sort."
    )
    heads = [
        fill(_HEAD, name=name, first=first, sort="descending" if name == "Test" else "none")
        for name, first in _COLUMNS.items()
    ]
    rows = [_row(run, each, scale) for each in ordered]
    reasons = {name: str(why) for name, why in run.left_out.items()}
    body = [
        element("p", caption, class_="note", id="result-note"),
        html.scroll(fill(_TABLE, heads=heads, rows=rows), "Result table"),
        [html.note(element("strong", n), " was left out: ", why) for n, why in reasons.items()],
        [html.note(each) for each in run.remarks if not any(w in each for w in reasons.values())],
        _controls(run),
        _other_metrics(run),
    ]
    return html.Section("results", "Results", body)


def _row(run: Run, each: Candidate, scale: Sequence[float]) -> Markup:
    badges = [element("span", role, class_=f"badge {role}") for role in html.roles(run, each)]
    words = element("div", element("span", each.name, class_="name"), " ", badges)
    who = element("div", html.swatch(run, each), words, class_="who")
    gain, trials = each.difference or Estimate(), math.nan if each.trials is None else each.trials
    reference = math.nan if run.baseline is None else run.baseline.test.value
    cells: list[tuple[float, Child]] = [
        (each.test.value, element("strong", fmt.decimal(each.test.value))),
        (each.test.low, charts.interval(each.test, scale, reference, html.color_class(run, each))),
        (gain.value, [fmt.signed(gain.value), _sure(gain) if run.decided else None]),
        (gain.p, fmt.p_value(gain.p)),
        (each.validation.value, fmt.decimal(each.validation.value)),
        (each.seconds, fmt.duration(each.seconds)),
        (trials, fmt.count(trials)),
    ]
    return element(
        "tr",
        element("th", who, scope="row", data_value=each.name),
        [
            element("td", shown, data_value="" if math.isnan(value) else repr(float(value)))
            for value, shown in cells
        ],
        class_="chosen" if each is run.recommended else None,
    )


def _sure(gain: Estimate) -> Markup | None:
    """Return what the interval of a difference says of it, if there is one."""
    if not gain.has_interval:
        return None
    word, class_ = "within chance", "quiet"
    if gain.low > 0 or gain.high < 0:
        word, class_ = ("better", "good") if gain.low > 0 else ("worse", "bad")
    return element("span", word, class_=f"sure {class_}")


def _controls(run: Run) -> Markup | None:
    """Return the candidates on the metric against two log-loss models; None in an older run."""
    rows: list[list[Child]] = [
        [each.name, fmt.signed(gain.value), fmt.between(gain, fmt.signed), fmt.p_value(gain.p)]
        for each in run.candidates
        if (gain := each.against_control) is not None
    ]
    if not rows:
        return None
    return html.details(
        "The metric, or averaging?",
        html.note(
            "An average of two models often ranks better than one, whatever they are trained on. "
            "“Two log-losses” is the average of two log-loss fits. A candidate that is better than "
            "that has a gain by the metric itself."
        ),
        html.table(
            f"Against two log-losses of the same model, on {run.evaluation}.",
            ["Candidate", "Difference", "95\u202f% interval", "p"],
            rows,
        ),
    )


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
