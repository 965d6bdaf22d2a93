"""Means over the seeds, differences on the same seed, and the rest of the numbers as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, TypeVar

from rankwise.report import Table
from rankwise.theory import Mean, mean_of
from reproductions.retrieval.ablations import Effect
from reproductions.retrieval.cell import Cell
from reproductions.retrieval.timing import Time


class Tested(Protocol):
    """One training with its validation and test, of this study or another."""

    @property
    def method(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def validation(self) -> float: ...
    @property
    def map(self) -> float: ...


_Tested = TypeVar("_Tested", bound=Tested)


def of_method(cells: Sequence[_Tested], method: str) -> list[_Tested]:
    """Its cells by seed."""
    return sorted((c for c in cells if c.method == method), key=lambda c: c.seed)


def best_of(cells: Sequence[Tested], methods: Sequence[str]) -> str:
    """The best of some methods by the mean mAP of validation."""
    there = [m for m in methods if of_method(cells, m)]
    return max(there, key=lambda m: mean_of([c.validation for c in of_method(cells, m)]).value)


def paired(cells: Sequence[Tested], one: str, other: str) -> Mean:
    """Test mAP of one method less that of another, on the same seeds."""
    pairs = zip(of_method(cells, one), of_method(cells, other), strict=True)
    return mean_of([a.map - b.map for a, b in pairs])


def with_interval(mean: Mean, *, sign: bool = False) -> str:
    """A mean ± half of its 95 % interval, without one where there is one value."""
    half = mean.half_width()
    value = f"{mean.value:+.4f}" if sign else f"{mean.value:.4f}"
    return value if math.isnan(half) else f"{value} ± {half:.4f}"


def main_table(cells: Sequence[Cell], name: str) -> Table:
    """Every method of a bench, best test mAP first."""
    rows = []
    for method in dict.fromkeys(cell.method for cell in cells):
        own = of_method(cells, method)
        rows.append(
            (
                method,
                with_interval(mean_of([c.map for c in own])),
                with_interval(mean_of([c.hit for c in own])),
                with_interval(mean_of([c.r_precision for c in own])),
                f"{mean_of([c.validation for c in own]).value:.4f}",
            )
        )
    rows.sort(key=lambda row: row[1], reverse=True)
    seeds = len({cell.seed for cell in cells})
    caption = f"{name}: test, unseen classes; {seeds} seed{'s' * (seeds > 1)}"
    if seeds > 1:
        caption += ", mean ± half of the 95 % interval over them"
    header = ("method", "mAP", "R@1", "R-precision", "mAP of validation")
    return Table(header, rows, caption + ".")


def difference_table(benches: dict[tuple[str, str], list[Cell]], ours: Sequence[str]) -> Table:
    """The best of ours, by validation, less every other method on the same seeds."""
    best = {place: best_of(cells, ours) for place, cells in benches.items()}
    everyone = list(dict.fromkeys(c.method for cells in benches.values() for c in cells))
    rows: list[tuple[str, ...]] = [("best of ours", *best.values())]
    for method in everyone:
        found = []
        for place, cells in benches.items():
            there = of_method(cells, method) and method != best[place]
            mean = paired(cells, best[place], method) if there else None
            found.append("" if mean is None else with_interval(mean, sign=True))
        rows.append((f"− {method}", *found))
    header = ("test mAP", *(f"{problem}, {kind}" for problem, kind in benches))
    caption = (
        "Mean over the seeds of the difference on the same seed ± half of the 95 % interval "
        "(Student), not corrected for the number of comparisons; one seed has no interval."
    )
    return Table(header, rows, caption)


def chosen_table(cells: Sequence[Cell]) -> Table:
    """What validation has chosen."""
    rows = []
    for place in dict.fromkeys(cell.bench for cell in cells):
        own = [cell for cell in cells if cell.bench == place]
        for method in dict.fromkeys(cell.method for cell in own):
            first = of_method(own, method)[0]
            rows.append((", ".join(place), method, first.objective, f"{first.rate:g}"))
    return Table(("setting", "method", "objective, by its name", "rate"), rows)


def ablation_table(cells: Sequence[Cell]) -> Table:
    """A row for each line, a column for each data set."""
    problems = list(dict.fromkeys(cell.problem for cell in cells))
    rows = []
    for method in dict.fromkeys(cell.method for cell in cells):
        found = []
        for problem in problems:
            own = [c for c in of_method(cells, method) if c.problem == problem]
            found += [
                with_interval(mean_of([c.map for c in own])),
                f"{mean_of([c.hit for c in own]).value:.4f}",
            ]
        rows.append((method, *found))
    header = ("line", *(word for p in problems for word in (f"{p} mAP", "R@1")))
    seeds = len({cell.seed for cell in cells})
    return Table(header, rows, f"Test, pretrained; {seeds} seed{'s' * (seeds > 1)}.")


def effect_table(effects: Sequence[Effect]) -> Table:
    """Every point of the figure."""
    rows = []
    places = list(dict.fromkeys(effect.place for effect in effects))
    for effect in sorted(effects, key=lambda effect: places.index(effect.place)):
        first = effect.cells[0]
        changed = f"τ = {effect.value:g}"
        if effect.of == "batch":
            changed = f"{effect.value:g} images ({effect.named})"
        early = mean_of([cell.history[quarter(first)][1] for cell in effect.cells]).value
        best = mean_of([cell.validation for cell in effect.cells]).value
        mean = with_interval(mean_of([cell.map for cell in effect.cells]))
        rows.append((first.problem, first.method, changed, f"{early:.4f}", f"{best:.4f}", mean))
    some = effects[0].cells[0]
    step = some.history[quarter(some)][0]
    header = ("data", "method", "changed", f"validation at step {step}", "highest", "test mAP")
    seeds = len(effects[0].cells)
    return Table(header, rows, f"Pretrained; {seeds} seed{'s' * (seeds > 1)}.")


def quarter(cell: Cell) -> int:
    """The place in the history of the validation nearest to a quarter of the steps."""
    steps = [step for step, _ in cell.history]
    return min(range(len(steps)), key=lambda place: abs(steps[place] - steps[-1] / 4))


def time_table(times: Sequence[Time], name: str) -> Table:
    """Milliseconds of a step."""
    rows = [
        (t.method, f"{t.loss:.1f}", f"{t.step:.1f}", f"{t.loss / t.step:.0%}" if t.step else "–")
        for t in sorted(times, key=lambda t: t.loss)
    ]
    caption = f"Milliseconds of processor time, one thread, median of the steps; {name}."
    return Table(("method", "loss, both ways", "whole step", "share of the loss"), rows, caption)
