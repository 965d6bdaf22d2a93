"""The tables of docs/naming.md; ``python -m tests.naming_page`` writes them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rankwise.naming.entry import MetricEntry, ObjectiveEntry, all_names, shown_names
from rankwise.naming.rows import BASELINES, METRICS, OBJECTIVES
from rankwise.naming.table import ALIASES, Alias

PAGE = Path(__file__).parents[1] / "docs" / "naming.md"


def updated(page: str) -> str:
    """Return the page with new tables, each between ``<!-- name -->`` and ``<!-- end -->``."""
    tables = {
        "objectives": _objectives(OBJECTIVES),
        "baselines": _objectives(BASELINES),
        "metrics": _metrics(METRICS),
        "aliases": _aliases(ALIASES),
    }
    for name, table in tables.items():
        start, mark, rest = page.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("<!-- end -->\n")
        if not (mark and end):
            raise ValueError(f"page must have a line <!-- {name} --> and a line <!-- end --> below")
        page = f"{start}{mark}\n{table}\n{end}{after}"
    return page


def _objectives(entries: Iterable[ObjectiveEntry]) -> str:
    header = ("name", "class", "metric", "when to use it", "data", "memory", "cost", "paper")
    rows = (
        (
            _names(entry),
            f"`{all_names(entry)[-1]}`",
            entry.shown_metric if entry.metric is None else f"`{entry.shown_metric}`",
            entry.use,
            ", ".join(f"`{fact}`" for fact in entry.facts) or "–",
            entry.memory,
            entry.cost,
            entry.paper,
        )
        for entry in entries
    )
    return _table(header, rows)


def _metrics(entries: Iterable[MetricEntry]) -> str:
    rows = (
        (
            _names(entry),
            f"`{all_names(entry)[-1]}`",
            entry.what,
            ", ".join(f"`{option}`" for option in entry.options) or "–",
        )
        for entry in entries
    )
    return _table(("name", "function", "what it is", "options"), rows)


def _aliases(aliases: Iterable[Alias]) -> str:
    rows = ((f"`{alias.spelling}`", f"`{alias.shown}`", alias.source) for alias in aliases)
    return _table(("alias", "name", "who spells it so"), rows)


def _names(entry: ObjectiveEntry | MetricEntry) -> str:
    return ", ".join(f"`{name}`" for name in shown_names(entry))


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
