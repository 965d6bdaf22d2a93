"""What the figures of all studies share: size, colors, plain axes, PNG in memory."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["COLORS", "canvas", "logarithmic_x", "plain", "png"]

# Distinguishable with red-green color blindness.
COLORS = ("#c1440e", "#7d8790", "#00796b", "#5e3c99", "#e0a100")


def canvas(
    rows: int, columns: int, *, width: float = 11.0, height: float = 2.9, **options: Any
) -> tuple[Figure, Any]:
    """A figure and its axes, (rows, columns); ``height`` is that of one row, in inches.

    ``options`` go to matplotlib's ``Figure.subplots``.
    """
    figure = Figure(figsize=(width, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def plain(axes: Axes, *, title: str = "", x: str = "", y: str = "") -> None:
    """Names on the axes and nothing that carries no information."""
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(which="both", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)


def logarithmic_x(axes: Axes, places: Sequence[float]) -> None:
    """A logarithmic axis with its marks at the places measured, as plain numbers."""
    axes.set_xscale("log")
    axes.set_xticks(list(places), [f"{place:g}" for place in places])
    axes.set_xticks([], minor=True)


def png(figure: Figure) -> bytes:
    """The figure as the bytes of a PNG."""
    buffer = io.BytesIO()
    # Without the date and version the same data make the same file.
    figure.savefig(buffer, format="png", dpi=130, metadata={"Software": None})
    return buffer.getvalue()
