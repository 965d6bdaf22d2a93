"""Which candidate has which color, wherever it is drawn."""

from __future__ import annotations

from collections.abc import Iterable

from rankwise.report.comparison.markup import Markup, element
from rankwise.report.comparison.run import Candidate, Run

__all__ = ["color_class", "legend", "swatch"]

_COLORS = 6  # beside those of the recommended and of the baseline; see page.css


def color_class(run: Run, candidate: Candidate) -> str:
    """The class of its color: the recommended and the baseline have their own."""
    if candidate is run.recommended:
        return "best"
    if candidate is run.baseline:
        return "base"
    others = [c for c in run.candidates if c is not run.recommended and c is not run.baseline]
    place = others.index(candidate)
    return f"c{place % _COLORS}" + (" dashed" if place >= _COLORS else "")


def swatch(run: Run, candidate: Candidate) -> Markup:
    """A short piece of its line."""
    line = element("line", class_="line", x1=1, x2=21, y1=5, y2=5)
    classes = f"swatch {color_class(run, candidate)}"
    return element("svg", line, class_=classes, viewBox="0 0 22 10", aria_hidden="true")


def legend(run: Run, shown: Iterable[Candidate], *, bands: bool = False) -> Markup:
    """Buttons that show and hide candidates in every chart of the page."""

    def first(each: Candidate) -> tuple[bool, bool]:
        return each is not run.recommended, each is not run.baseline

    keys = [
        element(
            "button",
            swatch(run, each),
            element("span", each.name, class_="name"),
            element("span", "recommended", class_="role") if each is run.recommended else None,
            element("span", "baseline", class_="role") if each is run.baseline else None,
            type="button",
            class_="key",
            aria_pressed="true",
            data_toggle=each.number,
        )
        for each in sorted(shown, key=first)
    ]
    box = element("input", type="checkbox", data_bands=True)
    every = element("label", box, "bands of all", class_="bands") if bands else None
    return element(
        "div", keys, every, class_="legend", role="group", aria_label="Candidates that are shown"
    )
