"""The numbers of the study as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from rankwise.report import Table
from rankwise.theory import Mean, mean_of
from reproductions.longtail.measure import Cell, Plan, Tuned
from reproductions.longtail.methods import OURS
from reproductions.longtail.published import PUBLISHED


def by_repeat(cells: Sequence[Cell], data_set: str, method: str, part: str = "ap") -> list[float]:
    """Of every repeat the mean over the problems of a data set."""
    own = [c for c in cells if (c.data_set, c.method) == (data_set, method)]
    found = []
    for repeat in sorted({c.repeat for c in own}):
        values = [getattr(c, part) for c in own if c.repeat == repeat]
        found.append(sum(values) / len(values))
    return found


def best_other(cells: Sequence[Cell], plan: Plan, data_set: str, part: str = "validation") -> str:
    """The method other than ours with the best validation AP, where the test images have no say."""
    names = [method.name for method in plan.methods if method.name not in OURS]
    return max(names, key=lambda n: mean_of(by_repeat(cells, data_set, n, part)).value)


def main_table(cells: Sequence[Cell], plan: Plan) -> Table:
    """Method by data set, the papers' numbers behind those of the same name."""
    sets = plan.data_sets
    header = ["method"]
    for data_set in sets:
        header += [data_set, "last step"]
    paper = [name for name in PUBLISHED if name in sets] or ["CIFAR-10-LT"]
    header += [f"paper, {name}" for name in paper]
    rows = []
    for method in plan.methods:
        row: list[object] = [method.name]
        for data_set in sets:
            row += [_deviation(by_repeat(cells, data_set, method.name, p)) for p in _BOTH]
        row += [_published(name, method.name) for name in paper]
        rows.append(row)
    caption = (
        f"Test AP in per cent, mean ± standard deviation of {plan.repeats} trainings, each the "
        "mean over the problems of the set: the network of the best validation, then that of the "
        "last step. The paper's columns are of whole data sets, ResNet-18 and other "
        "positive classes maybe: another scale, not to be compared cell by cell."
    )
    return Table(header, rows, caption)


def differences(cells: Sequence[Cell], plan: Plan) -> Table:
    """Ours less cross-entropy and less the best others, on the same seeds."""
    rows = []
    for data_set in plan.data_sets:
        other = best_other(cells, plan, data_set)
        highest = best_other(cells, plan, data_set, "ap")
        against = list(dict.fromkeys(["CE", other, highest]))
        for ours in OURS:
            for name in against:
                best = _paired(cells, data_set, ours, name, "ap")
                last = _paired(cells, data_set, ours, name, "last_ap")
                marks = "*" * (name == other) + "†" * (name == highest)
                rows.append((data_set, ours, name + marks, _interval(best), _interval(last)))
    caption = (
        "Points of test AP: the mean over the repeats of the difference on the same split, start "
        "and seed, ± half of the 95 % interval (Student), not corrected for their number. Every "
        "repeat has a split of its own. * the other method with the best validation AP; † that "
        "with the best test AP, which is chosen by the numbers shown and so looks better than it "
        "is."
    )
    return Table(("set", "ours", "less", "best of validation", "last step"), rows, caption)


def others(cells: Sequence[Cell], plan: Plan) -> Table:
    """AUROC and its part."""
    header = ["method"]
    for data_set in plan.data_sets:
        header += [f"{data_set}: AUROC", "partial"]
    rows = []
    for method in plan.methods:
        row: list[object] = [method.name]
        for data_set in plan.data_sets:
            row += [_deviation(by_repeat(cells, data_set, method.name, p)) for p in _AREAS]
        rows.append(row)
    return Table(header, rows, "In per cent; partial: up to a false positive rate of .05.")


def choices(tuned: Sequence[Tuned]) -> Table:
    """What validation chose."""
    rows = []
    for one in tuned:
        values = ", ".join(f"{100 * value:.1f}" for value in one.values.values())
        rows.append((one.data_set, one.method, one.choice.words, values))
    caption = (
        "Validation AP in per cent of the four settings, in the order in which they are tried."
    )
    return Table(("set", "method", "chosen", "validation AP of all"), rows, caption)


_BOTH, _AREAS = ("ap", "last_ap"), ("auroc", "partial_auroc")


def _paired(cells: Sequence[Cell], data_set: str, ours: str, other: str, part: str) -> Mean:
    one, two = (torch.tensor(by_repeat(cells, data_set, n, part)) for n in (ours, other))
    return mean_of(one - two)


def _deviation(values: list[float]) -> str:
    found = torch.tensor(values, dtype=torch.float64)
    spread = float(found.std()) if len(values) > 1 else math.nan
    return f"{100 * float(found.mean()):.1f} ± {100 * spread:.1f}"


def _interval(mean: Mean) -> str:
    return f"{100 * mean.value:+.1f} ± {100 * mean.half_width():.1f}".replace("-", "−")


def _published(data_set: str, method: str) -> str:
    found = PUBLISHED[data_set].get(method)
    return "–" if found is None else f"{found[0]:g} ± {found[1]:g}"
