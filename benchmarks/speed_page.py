"""The tables of docs/benchmarks/speed.md, from ``results.json`` and ``growth.json``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.page import write_between

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "docs" / "benchmarks" / "speed.md"
SIZES = ("512", "4096", "16384")
SEEN = 2**16  # bytes; a smaller peak is lost in what the process holds anyway
OTHERS = {
    "The engine": ("pairs.",),
    "Metrics": ("metrics.",),
    "Objectives alone": ("objectives.steps", "objectives.memory"),
    "Applications": ("retrieval.", "top.", "papk.", "recommendation.", "detection.", "imports."),
}
_TWIN = re.compile(r"(.+), (\d+) items, against LibAUC's (.+): (time|memory)")

Rows = Sequence[dict[str, Any]]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _number(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}".replace(",", " ")


def _growth(rows: Rows) -> str:
    """Ratios where both sides were measured."""
    found = {(row["task"], row["loss"], row["n"]): row for row in rows}
    lines = []
    for (task, loss, n), theirs in found.items():
        ours = found.get((task, "SOPRC", n))
        if ours is None or loss == "SOPRC":
            continue
        peer = {"libauc": "LibAUC's APLoss", "pml": "pytorch-metric-learning's SmoothAPLoss"}[loss]
        ratios = [_number(theirs[name] / max(1e-9, ours[name])) for name in ("seconds", "peak")]
        what = f"one list of {n} scores" if task == "list" else f"a batch of {n}, each a query"
        lines.append([what, peer, *(f"{ratio} ×" for ratio in ratios)])
    return _table(["data", "against", "faster", "less memory"], lines)


def _twins(rows: Rows) -> str:
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        name, size, peer, kind = _match(row["name"].replace("as theirs likes it", "in columns"))
        unseen = kind == "memory" and min(row["detail"].values()) < SEEN
        held = cells.setdefault((name, peer), {})
        held[size if kind == "time" else kind] = "–" if unseen else _number(row["value"])
    lines = [
        [name, peer, *(held.get(column, "–") for column in (*SIZES, "memory"))]
        for (name, peer), held in cells.items()
    ]
    heads = ["rankwise", "LibAUC 2.0.1", *(f"× faster, {size} items" for size in SIZES)]
    return _table([*heads, "× less memory, 4096 items"], lines)


def _match(name: str) -> tuple[str, str, str, str]:
    found = _TWIN.fullmatch(name)
    if found is None:
        raise ValueError(f"name must read as a comparison with LibAUC, got {name!r}")
    first, size, peer, kind = found.groups()
    return first, size, peer, kind


def text() -> str:
    """Return all tables."""
    results = json.loads((FOLDER / "results.json").read_text())
    growth = json.loads((FOLDER / "growth.json").read_text())
    groups: dict[str, Rows] = results["groups"]
    parts = ["## As the list grows", "", _growth(growth["rows"]), ""]
    parts += ["## Objective by objective", "", _twins(groups["twins.libauc"]), ""]
    for title, names in OTHERS.items():
        rows = [row for group, held in groups.items() if group.startswith(names) for row in held]
        lines = [[row["name"], f"{_number(row['value'])} {row['unit']}".strip()] for row in rows]
        parts += [f"## {title}", "", _table(["what", "measured"], lines), ""]
    machine = results["machine"]
    parts.append(
        f"{machine['cores']} cores ({machine['processor']}), Python {machine['python']}, torch "
        f"{machine['torch']}, numpy {machine['numpy']}; {machine['date']}."
    )
    return "\n".join(parts)


def main() -> None:
    write_between("tables", text(), PAGE)
