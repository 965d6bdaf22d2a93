"""The study as a page: one table, rows objectives, columns metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import torch

from rankwise.naming import metric_of
from rankwise.report import Figure, Section, Table
from rankwise.studies.base import Outcome, Setting
from rankwise.studies.drawing import canvas, png
from rankwise.studies.fidelity.measure import (
    METRICS,
    OBJECTIVES,
    REFERENCE,
    SPREAD,
    Plan,
    Value,
    measure,
)
from rankwise.studies.fidelity.problem import ASIDE, HARD_NEGATIVES, HARD_POSITIVES, PRIOR
from rankwise.theory import Mean, mean_of

__all__ = ["best_rows", "constant_scorers", "family", "leads", "study"]

CONSTANT = 0.01  # of the spread that the scores had before

_WHY = (
    "A loss that stands for a metric should raise that metric where the model cannot have "
    "everything. A linear scorer on data that no line separates is the smallest such case: for "
    "most of the losses it is a convex problem, and what is looked at is the training value, so "
    "that neither overfitting nor the optimiser has a part in it. A metric has a few of the losses "
    "for its own (its family); the best of a column should be one of them.",
)

Means = dict[tuple[str, str], Mean]


def family(name: str) -> str:
    """The metric without its options: what an objective and a column have in common."""
    return name.partition("(")[0].partition("@")[0]


def study(setting: Setting) -> Outcome:
    """Measure and describe."""
    plan = Plan.of(setting)
    values = measure(plan, setting)
    means, gains = _means([value for value in values if value.metric != SPREAD])
    best = best_rows(gains)
    ahead = leads(values, gains)
    table, figure = _table(means, gains), _figure(gains)
    judged = _own_metric(gains)
    return Outcome(
        title="Does an objective raise the metric it stands for?",
        rows=[asdict(value) for value in values],
        summary={
            "study": "fidelity",
            "seed": setting.seed,
            "quick": setting.quick,
            "plan": asdict(plan),
            "best": best,
            "ahead_of_its_own_family": {
                judge: {"objective": own, **asdict(mean), "half_width": mean.half_width()}
                for judge, (own, mean) in ahead.items()
            },
            "constant_scorers": constant_scorers(values),
            "gains": [
                {"objective": o, "metric": m, **asdict(mean), "half_width": mean.half_width()}
                for (o, m), mean in gains.items()
            ],
        },
        sections=[
            Section("Why", _WHY),
            Section("What was done", [_method(plan, setting)]),
            Section(
                "What came out",
                _found(gains, best, ahead) + _shrunk(values, plan),
                [figure],
                [table, judged],
            ),
        ],
        figures={"figure": figure},
        table=_in_thousandths(table, means, gains),
    )


def _means(values: Sequence[Value]) -> tuple[Means, Means]:
    """The mean of every cell, and that of its paired difference from cross-entropy."""
    cells: dict[tuple[str, str], list[float]] = {}
    for value in values:
        cells.setdefault((value.objective, value.metric), []).append(value.value)
    means = {cell: mean_of(found) for cell, found in cells.items()}
    gains = {
        (name, judge): mean_of(
            torch.tensor(found, dtype=torch.float64)
            - torch.tensor(cells[REFERENCE, judge], dtype=torch.float64)
        )
        for (name, judge), found in cells.items()
        if name != REFERENCE
    }
    return means, gains


def best_rows(gains: Means) -> dict[str, str]:
    """The objective that raises each metric most."""
    return {judge: max(OBJECTIVES, key=lambda name: gains[name, judge].value) for judge in METRICS}


def leads(values: Sequence[Value], gains: Means) -> dict[str, tuple[str, Mean]]:
    """Where another family is first: the best of the metric's own, and how far ahead the first is.

    The mean is that of the difference on the same problems.
    """
    found = {}
    for judge, first in best_rows(gains).items():
        if _is_own(first, judge):
            continue
        own = max(
            (name for name in OBJECTIVES if _is_own(name, judge)),
            key=lambda name: gains[name, judge].value,
        )
        by_problem = {
            name: torch.tensor(
                [v.value for v in values if (v.objective, v.metric) == (name, judge)],
                dtype=torch.float64,
            )
            for name in (first, own)
        }
        found[judge] = own, mean_of(by_problem[first] - by_problem[own])
    return found


def constant_scorers(values: Sequence[Value]) -> dict[str, int]:
    """On how many problems an objective left hardly anything of the scores' spread."""
    found: dict[str, int] = {}
    for value in values:
        if value.metric == SPREAD and value.value < CONSTANT:
            found[value.objective] = found.get(value.objective, 0) + 1
    return found


def _shrunk(values: Sequence[Value], plan: Plan) -> list[str]:
    counts = constant_scorers(values)
    if not counts:
        return []
    said = "; ".join(f"{name} ({count} of {plan.repeats})" for name, count in counts.items())
    return [
        f"Shrunk until the scores had less than {CONSTANT:.0%} of their spread: {said}. Where no "
        "scorer of the model comes near the margins that such a loss asks for, equal scores have "
        "the least of it, and what is left of an order may be noise."
    ]


def _is_own(name: str, judge: str) -> bool:
    return family(metric_of(OBJECTIVES[name])) == family(METRICS[judge])


def _method(plan: Plan, setting: Setting) -> str:
    return (
        f"Seed {setting.seed}{', a quick run' if setting.quick else ''}. {plan.repeats} problems "
        f"of {plan.items:,} items with 3 features, {PRIOR:.0%} positive. {HARD_NEGATIVES:.0%} of "
        f"the negatives look like positives and {HARD_POSITIVES:.0%} of the positives are near the "
        f"negatives, {ASIDE} standard deviations aside on an axis of their own, where the others "
        f"are on the other side. A linear scorer, {plan.steps} full-batch steps of Adam on "
        f"cross-entropy, and from there {plan.steps} on each objective, or on cross-entropy again, "
        "which is what all are compared with. The objectives are as their names make them: no "
        "option was tuned, but the one surrogate that is named."
    )


def _found(gains: Means, best: dict[str, str], ahead: dict[str, tuple[str, Mean]]) -> list[str]:
    own = [judge for judge in METRICS if judge not in ahead]
    others = [
        f"{judge} (best: {best[judge]}, ahead of {name} by {mean.value:.3f} ± "
        f"{mean.half_width():.3f} on the same problems)"
        for judge, (name, mean) in ahead.items()
    ]
    worse = [
        name
        for name in OBJECTIVES
        for judge in METRICS
        if _is_own(name, judge) and _low(gains[name, judge]) <= 0
    ]
    lines = [f"In {len(own)} of {len(METRICS)} columns the best row is of the metric's own family."]
    if others:
        lines.append(f"The others: {'; '.join(others)}.")
    if worse:
        lines.append(
            "Not above cross-entropy on their own metric, by the 95 % interval: "
            f"{'; '.join(dict.fromkeys(worse))}."
        )
    return lines


def _low(mean: Mean) -> float:
    return mean.value - mean.half_width()


def _table(means: Means, gains: Means) -> Table:
    first = [REFERENCE, *(f"{means[REFERENCE, judge].value:.3f}" for judge in METRICS)]
    rows = [first]
    for name in OBJECTIVES:
        cells = []
        for judge in METRICS:
            gain = gains[name, judge]
            top = gain.value == max(gains[other, judge].value for other in OBJECTIVES)
            mark = ("▸" if _is_own(name, judge) else "") + ("★" if top else "")
            cells.append(f"{mark}{gain.value:+.3f} ± {gain.half_width():.3f}")
        rows.append([name, *cells])
    caption = (
        "First row: the metric after cross-entropy. Others: what the objective adds to it, mean "
        "and half of the 95 % interval of the paired difference. ▸ the own family, ★ the best of "
        "the column."
    )
    return Table(["objective", *METRICS], rows, caption)


def _in_thousandths(table: Table, means: Means, gains: Means) -> Table:
    """The same for the width of a terminal."""
    rows: list[list[str]] = [
        [REFERENCE, *(f"{1e3 * means[REFERENCE, judge].value:.0f}" for judge in METRICS)]
    ]
    for name, *shown in list(table.rows)[1:]:
        cells = []
        for judge, cell in zip(METRICS, shown, strict=True):
            gain, mark = gains[str(name), judge], "★" if "★" in str(cell) else ""
            cells.append(f"{mark}{1e3 * gain.value:+.0f}±{1e3 * gain.half_width():.0f}")
        rows.append([str(name), *cells])
    caption = f"In thousandths. {table.caption.replace('▸ the own family, ', '')}"
    return Table(table.header, rows, caption)


def _own_metric(gains: Means) -> Table:
    rows = []
    for name in OBJECTIVES:
        for judge in METRICS:
            if _is_own(name, judge):
                gain = gains[name, judge]
                sure = "yes" if _low(gain) > 0 else "no"
                rows.append(
                    [
                        OBJECTIVES[name],
                        METRICS[judge],
                        f"{gain.value:+.3f} ± {gain.half_width():.3f}",
                        sure,
                    ]
                )
    header = ["objective", "own metric", "above cross-entropy by", "interval above 0"]
    return Table(header, rows, "Every objective on the metrics of its own family.")


def _figure(gains: Means) -> Figure:
    figure, axes = canvas(1, 1, width=9.0, height=0.27 * len(OBJECTIVES) + 1.6)
    place = axes[0, 0]
    values = torch.tensor([[gains[name, judge].value for judge in METRICS] for name in OBJECTIVES])
    # Each column in units of its largest change, so that all metrics can be read beside each other.
    shares = values / values.abs().amax(0).clamp_min(1e-12)
    place.imshow(shares, cmap="PuOr_r", vmin=-1, vmax=1, aspect="auto")
    place.set_xticks(range(len(METRICS)), METRICS.values(), rotation=25, ha="right", fontsize=8)
    place.set_yticks(range(len(OBJECTIVES)), OBJECTIVES.values(), fontsize=8)
    for row, name in enumerate(OBJECTIVES):
        for column, judge in enumerate(METRICS):
            dark = abs(float(shares[row, column])) > 0.6
            weight = "bold" if _is_own(name, judge) else "normal"
            text = f"{float(values[row, column]):+.3f}"
            colour = "white" if dark else "#1d2730"
            place.text(
                column, row, text, ha="center", va="center", fontsize=7, color=colour, weight=weight
            )
    described = "What every objective adds to every metric over cross-entropy, as a coloured table."
    caption = "Change against cross-entropy; bold: the metric's own family."
    return Figure(png(figure), described, caption)
