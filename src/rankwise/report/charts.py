"""Charts as SVG: axes with round ticks, the frame they span, and the marks inside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from rankwise.report.elements import Child, Markup, element
from rankwise.report.format import NOTHING, between, decimal

if TYPE_CHECKING:
    from rankwise.report.comparison.run import Estimate

Written = Callable[[float], str]
# A frame with a column to itself.
BROAD = {"width": 620, "height": 350, "end": 606, "top": 36, "floor": 294}


@dataclass(frozen=True)
class Axis:
    """A scale from values to positions between 0 and 1."""

    title: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = False

    def at(self, value: float) -> float:
        """Return the position of a value; values outside the range are at its end."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = map(math.log, (low, high, max(value, low)))
        return min(1.0, max(0.0, (value - low) / (high - low)))


def linear_axis(
    title: str, low: float, high: float, written: Written | None = None, *, max_ticks: int = 6
) -> Axis:
    """Return a linear axis over a range, with about ``max_ticks`` ticks at round values."""
    if not low < high:
        low, high = low - 0.5, low + 0.5
    step = 10 ** math.floor(math.log10(high - low)) / 10
    while (high - low) / step > max_ticks:
        step *= 2.5 if f"{step:e}".startswith("2") else 2
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    first = math.ceil(low / step - 1e-9)
    values = [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]
    show = written or (lambda value: f"{value + 0.0:.{digits}f}".replace("-", "−"))
    return Axis(title, low, high, tuple((value, show(value)) for value in values))


def log_axis(title: str, low: float, high: float, ticks: Sequence[float], written: Written) -> Axis:
    """Return a logarithmic axis over a range above zero, with ticks where there is room.

    Of ``ticks`` the highest come first, an eighth of the length apart.
    """
    if not high > low * 1.01:
        low, high = low / 2, high * 2
    room = (high / low) ** (1 / 8)
    inside: list[float] = []
    for value in sorted(ticks, reverse=True):
        if low * 0.999 <= value <= high * 1.001 and (not inside or value * room <= inside[0]):
            inside.insert(0, value)
    return Axis(title, low, high, tuple((value, written(value)) for value in inside), log=True)


@dataclass(frozen=True)
class Frame:
    """A drawing with a horizontal and a vertical axis; its unit is a pixel of a laptop."""

    x_axis: Axis
    y_axis: Axis
    width: int = 460
    height: int = 330
    left: int = 46  # the positions of the ends of both axes
    end: int = 446
    top: int = 30
    floor: int = 284

    def x(self, value: float) -> float:
        """Return the horizontal position of a value."""
        return round(self.left + self.x_axis.at(value) * (self.end - self.left), 1)

    def y(self, value: float) -> float:
        """Return the vertical position of a value, downwards."""
        return round(self.floor - self.y_axis.at(value) * (self.floor - self.top), 1)

    def render(self, *content: Child, label: str, chart: str | None = None) -> Markup:
        """Return the SVG; with a ``chart`` name its values can be read by mouse and keys."""
        left, end, floor = self.left, self.end, self.floor
        labels = [
            *(_text(tick, left - 7, self.y(v) + 4.0, "end") for v, tick in self.y_axis.ticks),
            *(_text(tick, self.x(v), floor + 18, "middle") for v, tick in self.x_axis.ticks),
            _text(self.y_axis.title, 4, 14, None, "title"),
            _text(self.x_axis.title, end, self.height - 7, "end", "title"),
        ]
        return element(
            "svg",
            [segment("grid", left, self.y(v), end, self.y(v)) for v, _ in self.y_axis.ticks],
            segment("axis", left, floor, end, floor),
            content,
            segment("cross", 0, self.top, 0, floor) if chart else None,
            labels,
            class_="chart broad" if self.width > 500 else "chart",
            viewBox=f"0 0 {self.width} {self.height}",
            role="img",
            aria_label=label,
            data_chart=chart,
            tabindex=0 if chart else None,
        )


def _text(words: str, x: float, y: float, anchor: str | None, class_: str | None = None) -> Markup:
    return element("text", words, class_=class_, x=x, y=y, text_anchor=anchor)


def segment(class_: str, x1: float, y1: float, x2: float, y2: float, **more: str) -> Markup:
    """Return a straight line between two positions."""
    return element("line", class_=class_, **more, x1=x1, x2=x2, y1=y1, y2=y2)


def line(frame: Frame, x: Iterable[float], y: Iterable[float], class_: str = "line") -> Markup:
    """Return a line through points."""
    return element("path", class_=class_, d=_path(frame, x, y))


def steps(frame: Frame, points: Sequence[tuple[float, float]]) -> Markup:
    """Return a line that keeps its height until the next point."""
    x, y = np.repeat(points, 2, axis=0).T.tolist()
    return line(frame, x[1:], y[:-1])


def area(frame: Frame, x: Sequence[float], low: Sequence[float], high: Sequence[float]) -> Markup:
    """Return the area between two heights."""
    outline = _path(frame, [*x, *x[::-1]], [*high, *low[::-1]])
    return element("path", class_="band", d=f"{outline}Z")


def dot(frame: Frame, x: float, y: float, radius: float, title: str) -> Markup:
    """Return a point; its title is shown where the mouse rests."""
    shown = element("title", title)
    return element("circle", shown, class_="dot", cx=frame.x(x), cy=frame.y(y), r=radius)


def whisker(frame: Frame, x: float, low: float, high: float) -> Markup:
    """Return a vertical interval."""
    return segment("whisker", frame.x(x), frame.y(low), frame.x(x), frame.y(high))


def bars(frame: Frame, edges: Sequence[float], heights: Sequence[float], class_: str) -> Markup:
    """Return bars from zero, upwards or downwards, as one shape."""
    floor = frame.y(0)
    pieces = []
    for start, end, height in zip(edges, edges[1:], heights, strict=False):
        if frame.y(height) != floor:
            left, right = frame.x(start) + 0.4, frame.x(end) - 0.4
            pieces.append(f"M{left:.5g} {floor:.5g}V{frame.y(height):.5g}H{right:.5g}V{floor:.5g}Z")
    return element("path", class_=class_, d="".join(pieces))


def interval(
    known: Estimate,
    scale: Sequence[float],
    reference: float,
    class_: str,
    *,
    written: Written = decimal,
    wide: bool = False,
) -> Child:
    """Return an interval in words, after an image on a scale that is the same for all of a table.

    The image spans the values of ``scale``, with a line at ``reference`` unless that is NaN.
    """
    if not known.has_interval:
        return NOTHING
    more, width = (" wide", 180) if wide else ("", 140)
    words = element("span", between(known, written, " – "), class_=f"range{more}")
    if min(scale) == max(scale):
        return words
    across = Axis("", min(scale), max(scale), ())
    at, marks = Frame(across, across, left=4, end=width - 4).x, []
    if not math.isnan(reference):
        marks.append(segment("reference", at(reference), 0, at(reference), 18))
    marks.append(segment("whisker", at(known.low), 9, at(known.high), 9))
    if not math.isnan(known.value):
        marks.append(element("circle", class_="dot", cx=at(known.value), cy=9, r=4))
    view, classes = f"0 0 {width} 18", f"forest{more} {class_}"
    return [element("svg", marks, class_=classes, viewBox=view, aria_hidden="true"), words]


def padded(values: Sequence[float]) -> tuple[float, float]:
    """Return the range of values with some room at both ends."""
    low, high = min(values), max(values)
    room = 0.06 * (high - low) or 0.05
    return low - room, high + room


def known_values(estimates: Iterable[Estimate]) -> list[float]:
    """Return the values and interval ends that are known."""
    return [v for e in estimates for v in (e.low, e.value, e.high) if not math.isnan(v)]


def _path(frame: Frame, x: Iterable[float], y: Iterable[float]) -> str:
    """Return a path through points; repeated points are left out."""
    points = ((frame.x(a), frame.y(b)) for a, b in zip(x, y, strict=True))
    return "M" + "L".join(f"{x:.5g} {y:.5g}" for (x, y), _ in groupby(points))
