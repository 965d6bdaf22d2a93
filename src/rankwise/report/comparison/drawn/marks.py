"""What is drawn inside a frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rankwise.report.comparison.drawn.axes import Frame
from rankwise.report.comparison.markup import Child, Markup, element

__all__ = ["area", "bars", "dot", "line", "steps", "whisker"]


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
