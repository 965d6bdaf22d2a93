"""``python -m benchmarks.figure``: draw ``growth.json`` for the first page, write its table."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from benchmarks.page import write_between, write_safely
from matplotlib import rc_context
from matplotlib.axes import Axes

from reproductions.drawing import COLORS, canvas, plain

MEASURED = Path(__file__).parent / "growth.json"
FIGURE = Path(__file__).parent.parent / "docs" / "images" / "readme" / "speed.svg"
LINES = {
    "SOPRC": ("rankwise, SOPRC", COLORS[2], "o-"),
    "libauc": ("LibAUC 2.0.1, APLoss", COLORS[0], "s--"),
    "pml": ("pytorch-metric-learning 2.9, SmoothAPLoss", COLORS[3], "^--"),
}
TASKS = {
    "list": "One list of n scores, 5 % positive",
    "batch": "A batch of n embeddings, each ranks the others",
}


def _draw(axes: Axes, rows: list[dict[str, Any]], value: str, unit: float) -> None:
    for loss in dict.fromkeys(row["loss"] for row in rows):
        label, color, style = LINES[loss]
        # A peak too small to be seen has no place on a logarithmic axis.
        drawn = [(r["n"], r[value] / unit) for r in rows if r["loss"] == loss and r[value] > 0]
        axes.loglog(*zip(*drawn, strict=True), style, color=color, label=label, markersize=4)


def drawn(measured: dict[str, Any]) -> str:
    """Return the figure as SVG; the same measurements give the same text."""
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "rankwise"}):
        figure, grid = canvas(2, 2, width=9.6, height=2.5, sharex="col")
        for column, (task, title) in zip(grid.T, TASKS.items(), strict=True):
            rows = [row for row in measured["rows"] if row["task"] == task]
            _draw(column[0], rows, "seconds", 1e-3)
            _draw(column[1], rows, "peak", 2**20)
            plain(column[0], title=title, y="time of a step (ms)")
            plain(column[1], x="n", y="peak memory (MB)")
            column[0].legend(fontsize=8, frameon=False)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in buffer.getvalue().decode().splitlines()) + "\n"


def table(measured: dict[str, Any]) -> str:
    """Return the ratios of theirs to ours, for every n at which both were measured."""
    found = {(row["task"], row["loss"], row["n"]): row for row in measured["rows"]}
    lines = ["| data | against | × faster | × less memory |", "|---|---|---|---|"]
    for (task, loss, n), theirs in found.items():
        ours = found.get((task, "SOPRC", n))
        if ours is None or loss == "SOPRC":
            continue
        ratios = " | ".join(f"{theirs[name] / ours[name]:.3g}" for name in ("seconds", "peak"))
        what = f"one list of {n} scores" if task == "list" else f"a batch of {n} embeddings"
        lines.append(f"| {what} | {LINES[loss][0]} | {ratios} |")
    return "\n".join(lines)


def main() -> None:
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    measured = json.loads(MEASURED.read_text())
    write_safely(FIGURE, drawn(measured))
    write_between("growth", table(measured))
    print(FIGURE)


if __name__ == "__main__":
    main()
