"""Plots of a report, drawn by matplotlib the same way everywhere."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankwise.extras import require
from rankwise.report.html import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

COLORS = ("#9e9e9e", "#00796b", "#c62828", "#5e35b1")


def new_axes(x_label: str, y_label: str, height: float = 3.4) -> tuple[Canvas, Axes]:
    """Return an empty figure of 7 inches by ``height``, and its axes."""
    require("rankwise.report", "matplotlib")
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415  (an extra)

    canvas = Canvas(figsize=(7.0, height), layout="constrained")
    axes = canvas.subplots()
    axes.set_xlabel(x_label, fontsize=9)
    axes.set_ylabel(y_label, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines["top"].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    return canvas, axes


def history_axes(
    values: Sequence[float], y_label: str, kept: tuple[int, float]
) -> tuple[Canvas, Axes]:
    """Return a figure of one value per epoch, and its axes; ``kept`` is marked."""
    canvas, axes = new_axes("epoch", y_label, 3.2)
    axes.plot(range(1, len(values) + 1), values, ".-", color=COLORS[1], linewidth=1.1)
    axes.plot(*kept, "o", color=COLORS[2], markersize=6)
    return canvas, axes


def as_figure(canvas: Canvas, caption: str) -> Figure:
    """Return the figure of a report, with its caption as alternative text."""
    buffer = io.BytesIO()
    # Without the date and version the same data make the same file.
    canvas.savefig(buffer, format="png", dpi=130, metadata={"Software": None})
    return Figure(buffer.getvalue(), caption, caption)
