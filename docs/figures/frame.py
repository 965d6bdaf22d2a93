"""The frame of every figure: its name, its colors, and an SVG that is the same on every run.

Lines and areas have colors that are readable on white and on black. Text and axes are in one gray,
:data:`INK`; the site replaces it by the text color of the theme (docs/hooks/figures.py).
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

INK = "#7d8590"
TEAL, ORANGE, PURPLE, RED, BLUE = "#009688", "#e08600", "#9575cd", "#e05a5a", "#4a90d9"
COLORS = (TEAL, ORANGE, PURPLE, RED, BLUE)
SHADES = LinearSegmentedColormap.from_list("shades", [to_rgba(TEAL, 0.06), to_rgba(TEAL, 1.0)])
"""From nearly transparent to teal, for the cells of a matrix."""

FIGURES: dict[str, Callable[[], Figure]] = {}
"""Every figure by the name of its file, in the order of definition."""

_STYLE: Any = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.prop_cycle": cycler(color=COLORS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 9.5,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.alpha": 0.35,
    "grid.color": INK,
    "grid.linewidth": 0.4,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.8,
    "svg.fonttype": "none",
    "text.color": INK,
    "xtick.color": INK,
    "xtick.labelsize": 8.5,
    "ytick.color": INK,
    "ytick.labelsize": 8.5,
}
_FONTS = re.compile(r"'DejaVu Sans'[^;\"]*")
_ATTRIBUTE = re.compile(r'="[^"]*"')
_LONG = re.compile(r"-?\d+\.\d{3,}")


def figure(name: str) -> Callable[[Callable[[], Figure]], Callable[[], Figure]]:
    """Register a function that draws the figure ``docs/images/<name>.svg``."""

    def register(draw: Callable[[], Figure]) -> Callable[[], Figure]:
        FIGURES[name] = draw
        return draw

    return register


def panels(
    columns: int = 1, *, width: float = 7.2, height: float = 3.0, rows: int = 1, **options: Any
) -> tuple[Figure, Any]:
    """Return an empty figure in inches and its axes: one, or an array of them."""
    canvas = Figure(figsize=(width, height), layout="constrained")
    return canvas, canvas.subplots(rows, columns, **options)


def label(axes: Axes, x: str = "", y: str = "", title: str = "", *, grid: bool = True) -> None:
    """Set the labels of axes, and a light grid."""
    axes.set(xlabel=x, ylabel=y)
    axes.set_title(title, loc="left")
    axes.grid(visible=grid)
    axes.set_axisbelow(True)


def whole_numbers(*axes: Axes) -> None:
    """Put ticks of the x axis on whole numbers only."""
    for each in axes:
        each.xaxis.set_major_locator(MaxNLocator(integer=True))


def svg(name: str) -> str:
    """Draw a figure and return its SVG, without a background, a date or a version."""
    with mpl.rc_context({**_STYLE, "svg.hashsalt": name}):
        buffer = io.StringIO()
        FIGURES[name]().savefig(
            buffer,
            format="svg",
            transparent=True,
            metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")),
        )
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # On a page of the site a rule for every element would be one for the page.
    text = re.sub(r"\s*<defs>\s*<style.*?</style>\s*</defs>", "", text, flags=re.DOTALL)
    text = text.replace("<svg ", '<svg stroke-linejoin="round" ', 1)
    # Groups are named alike in every figure, and several figures may be on one page.
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    text = _FONTS.sub("'DejaVu Sans', Verdana, sans-serif", text)
    return _ATTRIBUTE.sub(lambda found: _LONG.sub(_two_digits, found[0]), text)


def _two_digits(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}"
