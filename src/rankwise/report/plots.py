"""Plots that several tasks have: lines over time or recall, and bars in the cells of a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rankwise.report.charts import BROAD, Frame, dot, line, linear_axis, padded
from rankwise.report.elements import Child, Markup, chips, element, figure
from rankwise.report.format import NOTHING, decimal


def line_chart(
    x: str,
    y: str,
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    caption: str,
    *,
    kept: tuple[float, float] | None = None,
    small: bool = False,
    baseline: bool = True,
) -> Markup:
    """Return a figure of lines by name, the last in the color of what the report is about.

    Args:
        x, y: Titles of the axes.
        lines: Positions and heights; what is NaN is left out.
        caption: What the figure shows, in words.
        kept: A point to mark.
        small: Whether it stands next to another one.
        baseline: Whether the first of several lines is a baseline, which is dashed and gray. The
            others have the same colors in a figure with a baseline and in one without.
    """
    known = {
        name: [(a, b) for a, b in zip(*each, strict=True) if not math.isnan(b)]
        for name, each in lines.items()
    }
    marked = [] if kept is None or math.isnan(kept[1]) else [kept]
    points = [*marked, *(point for path in known.values() for point in path)] or [(0.0, 0.0)]
    xs, ys = zip(*points, strict=True)
    wide = {} if small else BROAD
    span = max(xs) - min(xs)
    few = max(1, int(span)) if all(float(each).is_integer() for each in xs) else 6
    across = linear_axis(x, min(xs), max(xs), max_ticks=min(6, few))
    frame = Frame(across, linear_axis(y, *padded(ys)), **wide)
    several = len(known) > 1
    first = ["base"] if several and baseline else []
    colors = [*first, *(f"c{n % 6}" for n in range(len(known) - len(first) - 1)), "best"]
    marks: list[Child] = []
    for color, (name, path) in zip(colors, known.items(), strict=True):
        drawn: list[Child] = []
        if len(path) > 1:
            drawn.append(line(frame, [a for a, _ in path], [b for _, b in path]))
        elif path not in ([], marked):  # a line through one point would not be seen
            drawn.append(dot(frame, *path[0], 4.0, f"{name}: {path[0][1]:.4f}"))
        if color == "best":
            drawn += [dot(frame, *point, 6.0, f"{name}: {point[1]:.4f}") for point in marked]
        marks.append(element("g", drawn, class_=color))
    names = chips(dict(zip(colors, known, strict=True))) if several else None
    return figure(frame.render(marks, label=caption), [names, caption])


def bar(share: float, class_: str = "best") -> Child:
    """Return a bar from 0 to 1 for a cell of a table, and its value."""
    if math.isnan(share):
        return NOTHING
    shape = element("rect", class_="bars", x=0, y=3, height=12, width=round(120 * share, 1))
    ground = element("rect", class_="ground", x=0, y=3, height=12, width=120)
    classes = f"meter {class_}"
    image = element("svg", ground, shape, class_=classes, viewBox="0 0 120 18", aria_hidden="true")
    return [image, decimal(share)]
