"""The verdict on a comparison in one sentence, its reason, and the numbers it rests on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import PurePath

import numpy as np

from rankwise.report import format as fmt
from rankwise.report.comparison.run import Candidate, Run, number
from rankwise.report.comparison.sections.classes import among_first, in_top, rarest
from rankwise.report.comparison.sections.scores import values_by_group
from rankwise.report.html import Headline
from rankwise.report.verdict import Record, counted


def title_of(run: Run) -> str:
    """Return the title of the report: the metric and the data."""
    path = run.data.get("path") or run.config.get("data") or run.folder.name
    name = PurePath(str(path)).name or "these data"
    if run.classes:
        name = f"{len(run.classes)} classes of {name}"
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
    if run.classes:
        return _classes_found(run, both)
    positive = given.target == 1
    k = _round_number(int(positive.sum()), len(positive) // 2)
    found = [in_top(given.scores[each.number], k)[positive] for each in both]
    target = run.config.get("target")
    words = (
        f"{fmt.subject(both[0].title)} finds {{count}} of the {{total}} positives"
        f"{f' of “{target}”' if isinstance(target, str) else ''} in its first {fmt.count(k)} rows"
    )
    if rival is None:
        total = fmt.count(len(found[0]))
        return f"{words.format(count=fmt.count(round(found[0].sum())), total=total)}."
    said = counted(words, found[1], found[0], _against(*both))
    gain = both[0].difference if rival is run.baseline else None
    if gain is not None and gain.low > 0 and run.decided:  # of the metric, which sees all ranks
        sure = f"this number may be chance, the gain in {fmt.full_name(run.metric)} is not"
        return said.replace("the difference may be chance", sure)
    return said


def _against(chosen: Candidate, rival: Candidate) -> str:
    model, _, objective = rival.title.partition(", ")
    of_one = objective and not model.startswith("Mean of")
    same = of_one and chosen.title.startswith(f"{model}, ")
    return f"the same model {objective}" if same else fmt.in_sentence(rival.title)


def _validated(each: Candidate) -> float:
    return -math.inf if math.isnan(each.validation.value) else each.validation.value


def _lists_won(run: Run, both: Sequence[Candidate]) -> str:
    values = [values_by_group(run.metric, run.predictions, each.number) for each in both]
    if len(both) == 1:
        name, mean = fmt.full_name(run.metric), float(np.nanmean(values[0]))
        words = f"ranks with a mean {name} of {fmt.decimal(mean)} over the lists."
        return f"{fmt.subject(both[0].title)} {words}"
    record = Record.of(values[0] - values[1])
    return (
        f"{fmt.subject(both[0].title)} ranks {record.won:,} of {record.total:,} lists better than "
        f"{_against(*both)} and {record.lost:,} worse{record.chance}."
    )


def _classes_found(run: Run, both: Sequence[Candidate]) -> str:
    found = [among_first(run, each.number) for each in both]
    words = (
        f"{fmt.subject(both[0].title)} ranks {{count}} of the {{total}} test rows among the first "
        "of their own class"
    )
    if len(both) == 1:
        count, total = fmt.count(round(found[0].sum())), fmt.count(len(found[0]))
        return f"{words.format(count=count, total=total)}."
    return counted(words, found[1], found[0], _against(*both))


def _round_number(least: int, most: int) -> int:
    """Return the first of 1, 2, 5, 10, 20, … from ``least`` on, or the last up to ``most``."""
    rounds: list[int] = [digit * 10**power for power in range(10) for digit in (1, 2, 5)]
    above = next(each for each in rounds if each >= least)
    return above if above <= most else max(each for each in rounds if each <= max(1, most))


def _tiles(run: Run) -> dict[str, tuple[str, str, str]]:
    best, given = run.recommended, run.predictions
    name = fmt.full_name(run.metric)
    said = f"mean over {len(run.classes)} classes" if run.classes else fmt.meaning(run.metric)
    tiles = {name: (fmt.decimal(best.test.value), fmt.between(best.test), said)}
    if (gain := best.difference) is not None:
        p = fmt.p_value(gain.p) if gain.p < 0.001 else f"=\u00a0{fmt.p_value(gain.p)}"
        known = (fmt.between(gain, fmt.signed), "" if math.isnan(gain.p) else f"p\u00a0{p}")
        against = run.baseline.title if run.baseline else "the baseline"
        words = ", ".join(filter(None, known))
        tiles["against the baseline"] = (fmt.signed(gain.value), words, against)
    every, rows = number(run.data.get("rows")), fmt.count(len(given.target))
    if given.group is not None:
        tiles["test rows"] = (rows, f"in {fmt.counted(int(given.group.max()) + 1, 'list')}", "")
    elif run.classes:
        words = f"of {len(run.classes)} classes"
        least = rarest(run.by_class) if run.by_class else None
        fine = f"{fmt.count(least.rows)} of the rarest, {least.label}" if least else ""
        tiles["test rows"] = (rows, words, fine)
    else:
        positive = given.target == 1
        share = fmt.percent(float(given.weight[positive].sum() / given.weight.sum()))
        words = f"{fmt.count(int(positive.sum()))} positive, {share}"
        fine = "" if math.isnan(every) else f"of {fmt.count(every)} in all"
        tiles["test rows"] = (rows, words, fine)
    trials = "" if best.trials is None else fmt.counted(best.trials, "trial")
    tiles["training time"] = (fmt.duration(best.seconds), trials, "")
    return tiles
