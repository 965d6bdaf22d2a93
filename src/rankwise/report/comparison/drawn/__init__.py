"""Charts as SVG, drawn here and colored by the page's style."""

from rankwise.report.comparison.drawn.axes import Axis, Frame, linear_axis, log_axis
from rankwise.report.comparison.drawn.marks import area, bars, dot, line, steps, whisker

__all__ = [
    "Axis",
    "Frame",
    "area",
    "bars",
    "dot",
    "line",
    "linear_axis",
    "log_axis",
    "steps",
    "whisker",
]
