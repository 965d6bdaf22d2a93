"""Tables of benchmarks/results.json in place of marks such as ``<!-- results pairs.growth -->``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results.json"
_MARK = re.compile(r"<!-- results ([\w. ]+) -->")


def with_results(markdown: str) -> str:
    """Replace every mark in a page by the table of its groups."""
    return _MARK.sub(lambda mark: _table(mark[1].split()), markdown)


def _table(names: list[str]) -> str:
    groups: dict[str, list[dict[str, Any]]] = json.loads(RESULTS.read_text())["groups"]
    rows = [_row(result) for name in names for result in groups[name]]
    return "\n".join(["| measured | value | limit |", "|---|---:|---|", *rows])


def _row(result: dict[str, Any]) -> str:
    value, unit = result["value"], result["unit"]
    shown = f"{value:,.0f}".replace(",", " ") if value >= 100 else f"{value:.3g}"
    return f"| {result['name']} | {shown} {unit} | {result['limit'] or '–'} |"
