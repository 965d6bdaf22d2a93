"""The recommendation with the numbers it rests on, and the sortable table of all candidates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import PurePath

import numpy as np

from rankwise.report import charts
from rankwise.report import elements as html
from rankwise.report import format as fmt
from rankwise.report.comparison import markup
from rankwise.report.comparison.curves import Floats
from rankwise.report.comparison.run import Candidate, Estimate, Run, number
from rankwise.report.comparison.sections.scores import meet, values_by_group
from rankwise.report.elements import Child, Markup, element, fill
from rankwise.report.html import Headline, Section, Table
from rankwise.report.verdict import counted, may_be_chance

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


def title_of(run: Run) -> str:
    """Return the title of the report: the metric and the data."""
    path = run.data.get("path") or run.config.get("data") or run.folder.name
    name = PurePath(str(path)).name or "these data"
    return f"{fmt.capitalized(fmt.full_name(run.metric))} on {name}"


def headline(run: Run) -> Headline:
    """Return what the recommended candidate achieves, the reason, and the numbers behind it."""
    words = [text for text in (run.why, run.verdict) if text]
    return Headline(sentence(run), words, _tiles(run), "Recommended")


def sentence(run: Run) -> str:
    """Return what the recommended candidate finds, and how much more than the next to compare.

    That is the baseline, or where the baseline is recommended the best other on validation.
    """
    others = [each for each in run.drawn if each is not run.recommended]
    best = max(others, key=_validated, default=None)
    rival = run.rival if run.rival in others else best
    given, both = run.predictions, [run.recommended, *([rival] if rival else [])]
    if given.group is not None:
        return _lists_won(run, both)
    positive = given.target == 1
    k = _round_number(int(positive.sum()), len(positive) // 2)
    found = [_in_top(given.scores[each.number], k)[positive] for each in both]
    target = run.config.get("target")
    words = (
        f"{both[0].title}, finds {{count}} of the {{total}} positives"
        f"{f' of “{target}”' if isinstance(target, str) else ''} in its first {fmt.count(k)} rows"
    )
    if rival is None:
        total = fmt.count(len(found[0]))
        return f"{words.format(count=fmt.count(round(found[0].sum())), total=total)}."
    return counted(words, found[1], found[0], _against(*both))


def _against(chosen: Candidate, rival: Candidate) -> str:
    model, _, objective = rival.title.partition(", ")
    same = objective and chosen.title.startswith(f"{model}, ")
    return f"the same model {objective}" if same else fmt.in_sentence(rival.title)


def _validated(each: Candidate) -> float:
    return -math.inf if math.isnan(each.validation.value) else each.validation.value


def _lists_won(run: Run, both: Sequence[Candidate]) -> str:
    values = [values_by_group(run.metric, run.predictions, each.number) for each in both]
    if len(both) == 1:
        name, mean = fmt.full_name(run.metric), float(np.nanmean(values[0]))
        return f"{both[0].title}, ranks with a mean {name} of {fmt.decimal(mean)} over the lists."
    better, equal, worse = meet(*values)
    change = np.repeat([1.0, 0.0, -1.0], [better, equal, worse])
    return (
        f"{both[0].title}, ranks {better:,} of {len(change):,} lists better than "
        f"{_against(*both)} and {worse:,} worse"
        f"{may_be_chance(change) if better != worse else ''}."
    )


def _round_number(least: int, most: int) -> int:
    """Return the first of 1, 2, 5, 10, 20, … from ``least`` on, or the last up to ``most``."""
    rounds = [digit * 10**power for power in range(10) for digit in (1, 2, 5)]
    above = next(each for each in rounds if each >= least)
    return above if above <= most else max(each for each in rounds if each <= max(1, most))


def _in_top(scores: Floats, k: int) -> Floats:
    """Return how likely each row is among the first k; tied rows share the places left."""
    last = np.partition(scores, -k)[-k]
    above, tied = scores > last, scores == last
    return np.where(above, 1.0, np.where(tied, (k - above.sum()) / tied.sum(), 0.0))


def _tiles(run: Run) -> dict[str, tuple[str, str, str]]:
    best, given = run.recommended, run.predictions
    name = fmt.full_name(run.metric)
    tiles = {name: (fmt.decimal(best.test.value), fmt.between(best.test), fmt.meaning(run.metric))}
    if (gain := best.difference) is not None:
        p = fmt.p_value(gain.p) if gain.p < 0.001 else f"=\u00a0{fmt.p_value(gain.p)}"
        known = (fmt.between(gain, fmt.signed), "" if math.isnan(gain.p) else f"p\u00a0{p}")
        against = run.baseline.title if run.baseline else "the baseline"
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
    return tiles


def results(run: Run) -> Section:
    """Return the table of candidates, the remarks and the other metrics."""
    ordered = sorted(run.candidates, key=lambda c: (math.isnan(c.test.value), -c.test.value))
    scale = charts.known_values(each.test for each in run.candidates)
    against = "the log-loss baseline" if run.baseline is None else run.baseline.title
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
