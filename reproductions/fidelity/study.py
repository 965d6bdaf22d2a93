"""The report: two problems, rows objectives, columns metrics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from rankwise.report import Section
from reproductions.fidelity.measure import (
    METRICS,
    PROBLEMS,
    Plan,
    Value,
    measure,
)
from reproductions.fidelity.problem import (
    ASIDE,
    HARD_NEGATIVES,
    HARD_POSITIVES,
    LISTS,
    PRIOR,
    SHARES,
)
from reproductions.fidelity.reading import (
    CONSTANT,
    Means,
    best_rows,
    constant_scorers,
    leads,
    low,
    means_and_gains,
    own_cells,
)
from reproductions.fidelity.tables import (
    figure_of,
    in_thousandths,
    leaders,
    own_metric,
    table_of,
)
from reproductions.frame import Report, Setting, Study
from reproductions.sentences import share

_WHY = (
    "A loss that stands for a metric should raise that metric where cross-entropy does not. What "
    "is looked at is the training value of a linear scorer, for which most of the losses are "
    "convex, so that neither overfitting nor the optimizer has a part in it.",
    "One list that no line orders: the model cannot have everything, and the metrics want "
    "different lines. A metric has a few of the losses for its own (its family); the best of a "
    "column should be one of them.",
    "Lists that a line orders, each at a level of its own: what ranking losses are for. "
    "Cross-entropy takes all items for one list. All metrics want the same line, so that the "
    "columns cannot tell the losses apart; this problem is for the comparison with cross-entropy.",
)


def report(plan: Plan, values: list[Value], setting: Setting) -> Report:
    """Make the tables, figures and words of the report."""
    parts = {name: [v for v in values if v.problem == name] for name in PROBLEMS}
    (means, gains), (list_means, list_gains) = (
        means_and_gains(parts[name]) for name in ("one list", "lists")
    )
    best, ahead = best_rows(gains), leads(parts["one list"], gains)
    figure = figure_of(gains)
    return Report(
        title="Does an objective raise the metric it stands for?",
        verdict=_verdict(best),
        rows=values,
        summary={
            "best": best,
            "ahead_of_the_other_kind": {
                criterion: {"objective": other, **asdict(mean), "half_width": mean.half_width()}
                for criterion, (other, mean) in ahead.items()
            },
            "constant_scorers": {name: constant_scorers(found) for name, found in parts.items()},
            "gains": [
                {
                    "problem": problem,
                    "objective": o,
                    "metric": m,
                    **asdict(mean),
                    "half_width": mean.half_width(),
                }
                for problem, found in (("one list", gains), ("lists", list_gains))
                for (o, m), mean in found.items()
            ],
        },
        sections=[
            Section("Why", _WHY),
            Section("Method", _method(plan, setting)),
            Section(
                "Results",
                [
                    _first(best),
                    *_not_above(gains, list_gains),
                    *_shrunk(parts["one list"], plan),
                ],
                [figure],
                [
                    leaders(best, ahead),
                    table_of(means, gains, "One list."),
                    own_metric(gains, list_gains),
                    table_of(list_means, list_gains, "Lists."),
                ],
            ),
        ],
        figures={"figure": figure},
        table=in_thousandths(means, gains, list_gains),
    )


def _method(plan: Plan, setting: Setting) -> list[str]:
    return [
        f"{setting} {plan.repeats} problems of each kind, of {plan.items:,} items with 3 features.",
        f"One list: {PRIOR:.0%} positive. {HARD_NEGATIVES:.0%} of "
        f"the negatives look like positives and {HARD_POSITIVES:.0%} of the positives are near the "
        f"negatives, {ASIDE} standard deviations aside on an axis of their own, where the others "
        "are on the other side.",
        f"Lists: {LISTS}, each ordered by the first feature without an error, at a level of its "
        f"own: the higher it is, the fewer positives, from {SHARES[1]:.0%} to {SHARES[0]:.0%}. The "
        "second feature tells the level, with noise. Metrics are means over the lists.",
        f"A linear scorer, {plan.steps} full-batch steps of Adam on "
        f"cross-entropy, and from there {plan.steps} on each objective, or on cross-entropy again, "
        "which is what all are compared with. The objectives are as their names make them, with "
        "the options named in the table.",
    ]


def _led(best: dict[str, str]) -> list[str]:
    own = set(own_cells())
    return [criterion for criterion in METRICS if (best[criterion], criterion) in own]


def _verdict(best: dict[str, str]) -> str:
    count = share(len(_led(best)), len(METRICS))
    return f"To raise a metric, training on a loss made for it works best for {count} metrics."


def _first(best: dict[str, str]) -> str:
    led = _led(best)
    others = [f"{criterion}: {best[criterion]}" for criterion in METRICS if criterion not in led]
    said = f"One list: in {len(led)} of {len(METRICS)} columns the best row is of the metric's own"
    return f"{said} family." + (f" The others: {_list_of(others)}." if others else "")


def _not_above(gains: Means, lists: Means) -> list[str]:
    """Who is not above cross-entropy on a metric of its own, by the interval."""
    neither = [c for c in own_cells() if low(gains[c]) <= 0 and low(lists[c]) <= 0]
    one, many = (
        [name for name, criterion in own_cells() if low(found[name, criterion]) <= 0]
        for found in (gains, lists)
    )
    return [
        "Not above cross-entropy on their own metric, by the 95 % interval: on one list "
        f"{_list_of(dict.fromkeys(one)) or 'none'}; on lists "
        f"{_list_of(dict.fromkeys(many)) or 'none'}; on both "
        f"{_list_of(dict.fromkeys(name for name, _ in neither)) or 'none'}."
    ]


def _shrunk(values: Sequence[Value], plan: Plan) -> list[str]:
    counts = constant_scorers(values)
    if not counts:
        return []
    said = "; ".join(f"{name} ({count} of {plan.repeats})" for name, count in counts.items())
    return [
        f"One list, shrunk until the scores had less than {CONSTANT:.0%} of their spread: {said}. "
        "Where no scorer of the model comes near the margins that such a loss asks for, equal "
        "scores have the least of it; what is left of an order may be noise."
    ]


def _list_of(names: Iterable[str]) -> str:
    return "; ".join(names)


study = Study(Plan, measure, report)
