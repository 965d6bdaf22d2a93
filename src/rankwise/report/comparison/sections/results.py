"""The sortable table of all candidates, the remarks, and the other metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankwise.report import charts
from rankwise.report import elements as html
from rankwise.report import format as fmt
from rankwise.report.comparison import markup
from rankwise.report.comparison.run import Candidate, Estimate, Run
from rankwise.report.elements import Child, Markup, element, fill
from rankwise.report.html import Section, Table

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


def results(run: Run) -> Section:
    """Return the table of candidates, the remarks and the other metrics."""
    ordered = sorted(run.candidates, key=lambda c: (math.isnan(c.test.value), -c.test.value))
    scale = charts.known_values(each.test for each in run.candidates)
    known = run.baseline
    against = "the log-loss baseline" if known is None else fmt.in_sentence(known.title)
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
    left_out = {fmt.candidate_title(n): why.removeprefix(f"{n}: ") for n, why in reasons.items()}
    body = [
        element("p", caption, class_="note", id="result-note"),
        element("p", run.not_best) if run.not_best else None,
        html.scroll(fill(_TABLE, heads=heads, rows=rows), "Result table"),
        [html.note(element("strong", n), " was left out: ", w) for n, w in left_out.items()],
        [html.note(each) for each in run.remarks if not any(w in each for w in reasons.values())],
        _controls(run),
        _other_metrics(run),
    ]
    return Section("Results", body=body)


def _row(run: Run, each: Candidate, scale: Sequence[float]) -> Markup:
    badges = [element("span", role, class_=f"badge {role}") for role in markup.roles(run, each)]
    words = element("div", element("span", each.title, class_="name"), " ", badges)
    who = element("div", markup.swatch(run, each), words, class_="who")
    gain, trials = each.difference or Estimate(), math.nan if each.trials is None else each.trials
    reference = math.nan if run.baseline is None else run.baseline.test.value
    cells: list[tuple[float, Child]] = [
        (each.test.value, element("strong", fmt.decimal(each.test.value))),
        (
            each.test.low,
            charts.interval(each.test, scale, reference, markup.color_class(run, each)),
        ),
        (gain.value, [fmt.signed(gain.value), _sure(gain) if run.decided else None]),
        (gain.p, fmt.p_value(gain.p)),
        (each.validation.value, fmt.decimal(each.validation.value)),
        (each.seconds, fmt.duration(each.seconds)),
        (trials, fmt.count(trials)),
    ]
    return element(
        "tr",
        element("th", who, scope="row", data_value=each.title),
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
        [each.title, fmt.signed(gain.value), fmt.between(gain, fmt.signed), fmt.p_value(gain.p)]
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
        Table(
            ["Candidate", "Difference", "95\u202f% interval", "p"],
            rows,
            f"Against two log-losses of the same model, on {run.evaluation}.",
        ).render(),
    )


def _other_metrics(run: Run) -> Markup | None:
    if not run.other_metrics:
        return None
    rows = [
        [each.title, *(fmt.decimal(values[each.number]) for values in run.other_metrics.values())]
        for each in run.candidates
    ]
    return html.details(
        "Other metrics",
        html.note("These were measured, but not optimized or used for the choice."),
        Table(
            ["Candidate", *run.other_metrics], rows, f"Other metrics on {run.evaluation}."
        ).render(),
    )
