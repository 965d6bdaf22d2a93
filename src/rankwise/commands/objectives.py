"""``rankwise objectives``: the names there are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table
from rich.text import Text

from rankwise.commands.console import paper

if TYPE_CHECKING:
    from rankwise.naming.entry import MetricEntry, ObjectiveEntry
    from rankwise.naming.table import Alias


def objectives(
    metrics: Annotated[
        bool, typer.Option("--metrics", help="List the metrics instead of the objectives.")
    ] = False,
) -> None:
    """List the objectives by name: the metric of each, when to use it, what it needs and costs.

    Below them are the aliases, spellings of other libraries that are understood as well.
    """
    # Here, so that the other commands do not wait for torch.
    from rankwise.naming.rows import BASELINES, METRICS, OBJECTIVES  # noqa: PLC0415
    from rankwise.naming.table import ALIASES  # noqa: PLC0415

    console = paper()
    console.print(_metrics(METRICS) if metrics else _objectives(OBJECTIVES, BASELINES))
    shown = METRICS if metrics else OBJECTIVES
    first = {entry.names[0] for entry in shown}
    console.print(_aliases(alias for alias in ALIASES if alias.name in first))


def _objectives(*sections: Iterable[ObjectiveEntry]) -> Table:
    widths = {"index": 11, "cost": 9, "paper": 14}
    metric = Column("metric", max_width=11, overflow="fold")
    use = Column("when to use it", ratio=1, min_width=20)
    table = _table("objective", metric, use, *(Column(n, max_width=w) for n, w in widths.items()))
    for section in sections:
        for entry in section:
            cells = (entry.shown_metric, entry.use, entry.memory, entry.cost, entry.paper)
            table.add_row(_names(entry), *map(Text, cells))
        table.add_section()
    return table


def _metrics(entries: Iterable[MetricEntry]) -> Table:
    table = _table("metric", Column("what it is", ratio=1, min_width=20), "options")
    for entry in entries:
        table.add_row(_names(entry), Text(entry.what), Text(", ".join(entry.options) or "–"))
    return table


def _aliases(aliases: Iterable[Alias]) -> Table:
    name = Column("name", max_width=19, overflow="fold")
    table = _table("alias", name, Column("who spells it so", ratio=1))
    for alias in aliases:
        table.add_row(Text(alias.spelling), Text(alias.shown), Text(alias.source))
    return table


def _table(names: str, *columns: Column | str) -> Table:
    first = Column(names, no_wrap=True)  # a name broken in two could not be copied
    return Table(
        first, *columns, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, expand=True
    )


def _names(entry: ObjectiveEntry | MetricEntry) -> Text:
    from rankwise.naming.entry import shown_names  # noqa: PLC0415

    return Text("\n".join(shown_names(entry)))
