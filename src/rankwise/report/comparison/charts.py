"""Axes with round ticks, and the frame that two of them span."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rankwise.report.comparison.markup import Child, Markup, element


@dataclass(frozen=True)
class Axis:
    """From values to places between 0 and 1."""

    title: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = False

    def at(self, value: float) -> float:
        """Where a value is; what is outside is at the end."""
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            place = (math.log(max(value, self.low)) - low) / (high - low)
        else:
            place = (value - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, place))


def linear_axis(
    title: str,
    low: float,
    high: float,
    written: Callable[[float], str] | None = None,
    *,
    most: int = 6,
) -> Axis:
    """A linear axis over a range, with about so many ticks at round values inside it."""
    if not low < high:
        low, high = low - 0.5, low + 0.5
    step = 10 ** math.floor(math.log10(high - low)) / 10
    while (high - low) / step > most:
        step *= 2.5 if f"{step:e}".startswith("2") else 2
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    first = math.ceil(low / step - 1e-9)
    values = [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]
    show = written or (lambda value: f"{value + 0.0:.{digits}f}".replace("-", "−"))
    return Axis(title, low, high, tuple((value, show(value)) for value in values))


def log_axis(
    title: str, low: float, high: float, values: Sequence[float], written: Callable[[float], str]
) -> Axis:
    """A logarithmic axis over a range above zero, with ticks at those values that it has room for.

    Room is an eighth of its length. Ticks are taken from the highest down.
    """
    if not high > low * 1.01:
        low, high = low / 2, high * 2
    room = (high / low) ** (1 / 8)
    inside: list[float] = []
    for value in sorted(values, reverse=True):
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
    left: int = 46
    right: int = 14
    top: int = 30
    bottom: int = 46

    def x(self, value: float) -> float:
        """The horizontal place of a value."""
        return round(self.left + self.x_axis.at(value) * (self.width - self.left - self.right), 1)

    def y(self, value: float) -> float:
        """The vertical place of a value, downwards."""
        room = self.height - self.top - self.bottom
        return round(self.height - self.bottom - self.y_axis.at(value) * room, 1)

    def drawn(self, *content: Child, label: str, chart: str | None = None) -> Markup:
        """The picture; a ``chart`` name makes it one that can be read with mouse and keys."""
        end, floor = self.width - self.right, self.height - self.bottom
        grid = [
            element("line", class_="grid", x1=self.left, x2=end, y1=self.y(v), y2=self.y(v))
            for v, _ in self.y_axis.ticks
        ]
        marks = [
            element("text", text, x=self.left - 7, y=self.y(v) + 4.0, text_anchor="end")
            for v, text in self.y_axis.ticks
        ] + [
            element("text", text, x=self.x(v), y=floor + 18, text_anchor="middle")
            for v, text in self.x_axis.ticks
        ]
        titles = [
            element("text", self.y_axis.title, class_="title", x=4, y=14),
            element(
                "text",
                self.x_axis.title,
                class_="title",
                x=end,
                y=self.height - 7,
                text_anchor="end",
            ),
        ]
        base = element("line", class_="axis", x1=self.left, x2=end, y1=floor, y2=floor)
        cross = element("line", class_="cross", x1=0, x2=0, y1=self.top, y2=floor)
        return element(
            "svg",
            grid,
            base,
            content,
            cross if chart else None,
            marks,
            titles,
            class_="chart broad" if self.width > 500 else "chart",
            viewBox=f"0 0 {self.width} {self.height}",
            role="img",
            aria_label=label,
            data_chart=chart,
            tabindex=0 if chart else None,
        )


def line(frame: Frame, x: Iterable[float], y: Iterable[float], class_: str = "line") -> Markup:
    """A line through points."""
    points = [(frame.x(a), frame.y(b)) for a, b in zip(x, y, strict=True)]
    return element("path", class_=class_, d=_path(points))


def steps(frame: Frame, points: Sequence[tuple[float, float]], end: float) -> Markup:
    """A line that stays where it is until the next point, and so on to the end."""
    corners: list[tuple[float, float]] = []
    for x, y in points:
        if corners:
            corners.append((frame.x(x), corners[-1][1]))
        corners.append((frame.x(x), frame.y(y)))
    corners.append((frame.x(end), corners[-1][1]))
    return element("path", class_="line", d=_path(corners))


def area(frame: Frame, x: Sequence[float], low: Sequence[float], high: Sequence[float]) -> Markup:
    """What lies between two heights."""
    there = [(frame.x(a), frame.y(b)) for a, b in zip(x, high, strict=True)]
    back = [(frame.x(a), frame.y(b)) for a, b in zip(x, low, strict=True)]
    return element("path", class_="band", d=_path(there + back[::-1]) + "Z")


def dot(frame: Frame, x: float, y: float, radius: float = 5.0, *title: Child) -> Markup:
    """A point; its title is shown where the mouse rests."""
    told = element("title", title) if title else None
    return element("circle", told, class_="dot", cx=frame.x(x), cy=frame.y(y), r=radius)


def whisker(frame: Frame, x: float, low: float, high: float) -> Markup:
    """A vertical interval."""
    place = frame.x(x)
    return element("line", class_="whisker", x1=place, x2=place, y1=frame.y(low), y2=frame.y(high))


def bars(frame: Frame, edges: Sequence[float], heights: Sequence[float], class_: str) -> Markup:
    """Bars from zero, upwards or downwards, as one shape."""
    floor = frame.y(0)
    pieces = []
    for start, end, height in zip(edges, edges[1:], heights, strict=False):
        if frame.y(height) != floor:
            left, right = frame.x(start) + 0.4, frame.x(end) - 0.4
            pieces.append(f"M{left:.5g} {floor:.5g}V{frame.y(height):.5g}H{right:.5g}V{floor:.5g}Z")
    return element("path", class_=class_, d="".join(pieces))


def _path(points: Sequence[tuple[float, float]]) -> str:
    """A path through points; one that is in place already is not named again."""
    kept = [p for n, p in enumerate(points) if n == 0 or p != points[n - 1]]
    return "M" + "L".join(f"{x:.5g} {y:.5g}" for x, y in kept)
