"""The report: test mAP at equal time and memory, what a step costs, what was chosen."""

from __future__ import annotations

from dataclasses import asdict

from rankwise.report import Figure, Section, Table
from reproductions.frame import Report, Setting, Study
from reproductions.retrieval_cost.figures import batch_figure
from reproductions.retrieval_cost.measure import Measured, asked, collect
from reproductions.retrieval_cost.plan import Plan
from reproductions.retrieval_cost.tables import by_bench, chosen_table, cost_table, main_table
from reproductions.retrieval_cost.words import conclusion, duels, goals, in_short, method


def report(plan: Plan, measured: Measured, setting: Setting) -> Report:
    """Make the tables, figures and words of the report."""
    benches = by_bench(measured.cells)
    figures: dict[str, Figure] = {
        f"figure_{number}" if number > 1 else "figure": batch_figure(benches, name)
        for number, name in enumerate(benches, 1)
    }
    tables = [main_table(cells) for cells in benches.values()]
    costs, found = cost_table(measured.costs), duels(plan, measured)
    sections = [
        Section("Method", method(plan, setting)),
        Section("Who is first", conclusion(plan, measured)),
        Section("All losses", [], list(figures.values()), tables),
        Section("What a step costs", [], [], [costs]),
        Section("What validation has chosen", [], [], [chosen_table(measured)]),
    ]
    rows: list[object] = [{"part": "test", **asdict(cell)} for cell in measured.cells]
    rows += [{"part": "try", **each} for each in measured.tries]
    rows += [{"part": "cost", **asdict(each)} for each in measured.costs]
    return Report(
        title="Image retrieval at equal time and memory",
        verdict=in_short(plan, measured),
        rows=rows,
        sections=sections,
        figures=figures,
        table=_short(tables) if tables else costs,
        summary={
            "asked": asked(plan, setting),
            "differences": [
                {
                    "set": d.bench,
                    "ours": d.own,
                    "other": d.other,
                    "difference": d.gap.value,
                    "half_width": d.gap.half_width(),
                }
                for d in found
            ],
            "goals": goals(found),
            "stopped": measured.stopped,
        },
    )


def _short(tables: list[Table]) -> Table:
    """The tables of all sets below each other, for the terminal."""
    rows = [(table.caption.partition(":")[0], *row) for table in tables for row in table.rows]
    return Table(("set", *tables[0].header), rows, "Means over seeds ± half of the 95 % interval.")


study = Study(Plan, collect, report)
