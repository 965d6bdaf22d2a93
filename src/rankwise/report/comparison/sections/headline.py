"""What to use, and why, before anything else."""

from __future__ import annotations

import math
from pathlib import PurePath

from rankwise.report.comparison.markup import Markup, element
from rankwise.report.comparison.reading import number
from rankwise.report.comparison.run import Estimate, Run
from rankwise.report.comparison.words import (
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

__all__ = ["headline", "title_of"]


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
