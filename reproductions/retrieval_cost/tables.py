"""Tables: mAP with its interval, what it cost, what was chosen."""

from __future__ import annotations

from collections.abc import Sequence

from rankwise.report import Table
from rankwise.theory import mean_of
from reproductions.retrieval.tables import of_method, with_interval
from reproductions.retrieval_cost.measure import Cell, Cost, Measured


def by_bench(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """The cells of every bench."""
    return {n: [c for c in cells if c.bench == n] for n in dict.fromkeys(c.bench for c in cells)}


def complete(cells: Sequence[Cell]) -> list[Cell]:
    """The cells of the seeds that every method has: differences are taken on the same seeds."""
    methods = {cell.method for cell in cells}
    seeds = [
        seed
        for seed in {cell.seed for cell in cells}
        if {cell.method for cell in cells if cell.seed == seed} == methods
    ]
    return [cell for cell in cells if cell.seed in seeds]


def main_table(cells: Sequence[Cell]) -> Table:
    """Every method of a bench, highest test mAP first."""
    rows = []
    for method in dict.fromkeys(cell.method for cell in cells):
        own = of_method(cells, method)
        means = [mean_of([getattr(c, name) for c in own]) for name in ("map", "hit", "validation")]
        steps = mean_of([c.steps for c in own]).value
        seconds = mean_of([c.seconds for c in own]).value
        first = own[0]
        rows.append(
            (
                method,
                *(with_interval(mean) for mean in means),
                first.batch,
                f"{steps:.0f}",
                f"{seconds:.1f}",
                f"{first.megabytes:.0f}",
                len(own),
            )
        )
    rows.sort(key=lambda row: str(row[1]), reverse=True)
    header = ("loss", "test mAP", "R@1", "validation mAP", "batch", "steps", "seconds", "MB",
              "seeds")  # fmt: skip
    name = cells[0].bench if cells else ""
    return Table(header, rows, f"{name}: means over seeds ± half of the 95 % interval.")


def cost_table(costs: Sequence[Cost]) -> Table:
    """Milliseconds and megabytes of a step by batch."""
    rows = []
    for bench, method in dict.fromkeys((c.bench, c.method) for c in costs):
        own = [c for c in costs if (c.bench, c.method) == (bench, method)]
        said = [
            f"{c.images}: {1000 * c.seconds:.0f} ms, {c.megabytes:.0f} MB"
            f"{'' if c.fits else ' (too much)'}"
            for c in own
        ]
        rows.append((bench, method, "; ".join(said)))
    return Table(
        ("set", "loss", "images: processor time and peak memory of a step"),
        rows,
        "The whole step, with the network and the optimizer. Batches beyond one that is too much "
        "are not measured.",
    )


def chosen_table(measured: Measured) -> Table:
    """Settings that validation chose, of all that were tried."""
    rows = []
    for (bench, method), trial in measured.chosen.items():
        own = [t for t in measured.tries if (t["bench"], t["method"]) == (bench, method)]
        tried = [t["validation"] for t in own]
        span = f"{min(tried):.4f} to {max(tried):.4f}"
        rows.append((bench, method, trial.objective, f"{trial.rate:g}", span, len(own)))
    header = ("set", "loss", "objective", "rate", "validation mAP of the tries", "tries")
    return Table(header, rows, "Chosen with the first seed, before any test class was read.")
