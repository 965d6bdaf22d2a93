"""``rankwise objectives``: the names there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Column, Table
from rich.text import Text

from rankwise.commands.console import paper


def objectives(metrics: bool = False) -> None:
    """List the objectives by name: the metric of each, when to use it, what it needs and costs.

    Objectives of installed packages follow, then aliases: the names that other libraries use.

    Args:
        metrics: List the metrics instead of the objectives.
    """
    # Here, so that the other commands do not wait for torch.
    from rankwise.naming.entry import shown_names  # noqa: PLC0415
    from rankwise.naming.registry import REGISTRY  # noqa: PLC0415
    from rankwise.naming.rows import BASELINES, METRICS, OBJECTIVES  # noqa: PLC0415
    from rankwise.naming.table import ALIASES  # noqa: PLC0415

    if metrics:
        columns = [Column("what it is", ratio=1, min_width=20), Column("options")]
        rows = [("\n".join(shown_names(e)), e.what, ", ".join(e.options) or "–") for e in METRICS]
        _print("metric", columns, rows)
    else:
        widths = {"memory": 11, "cost": 9, "paper": 14}
        metric = Column("metric", max_width=11, overflow="fold")
        use = Column("when to use it", ratio=1, min_width=20)
        columns = [metric, use, *(Column(name, max_width=most) for name, most in widths.items())]
        sections = [
            [
                ("\n".join(shown_names(e)), e.shown_metric, e.use, e.memory, e.cost, e.paper)
                for e in section
            ]
            for section in (OBJECTIVES, BASELINES, REGISTRY.all())
        ]
        _print("objective", columns, *sections)
    first = {entry.names[0] for entry in (METRICS if metrics else OBJECTIVES)}
    columns = [Column("name", max_width=19, overflow="fold"), Column("used by", ratio=1)]
    aliases = [(each.spelling, each.shown, each.source) for each in ALIASES if each.name in first]
    _print("alias", columns, aliases)


def _print(names: str, columns: Iterable[Column], *sections: Iterable[Sequence[str]]) -> None:
    first = Column(names, no_wrap=True)  # a name broken in two could not be copied
    table = Table(
        first, *columns, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, expand=True
    )
    for rows in sections:
        for row in rows:
            table.add_row(*map(Text, row))
        table.add_section()
    paper().print(table)
