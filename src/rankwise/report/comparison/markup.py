"""The candidates of a comparison in a report: their colors, roles and legend."""

from __future__ import annotations

from collections.abc import Iterable

from rankwise.report.comparison.run import Candidate, Run
from rankwise.report.elements import Child, Markup, element, fill

_COLORS = 6  # besides those of the recommended and of the baseline; see report.css
_SWATCH = """<svg class="swatch {color}" viewBox="0 0 22 10" aria-hidden="true">\
<line class="line" x1="1" x2="21" y1="5" y2="5"></line></svg>"""
_KEY = """<button type="button" class="key" aria-pressed="true" data-toggle="{number}">{swatch}\
<span class="name">{name}</span>{roles}</button>"""
_CLASS_LEGEND = """<details class="legend" open><summary>Classes shown</summary>\
<div class="keys" role="group" aria-label="Classes shown">{keys}</div></details>"""
_LEGEND = """<details class="legend" open><summary>Candidates shown</summary>\
<div class="keys" role="group" aria-label="Candidates shown">{keys}{bands}</div></details>"""


def color_class(run: Run, candidate: Candidate) -> str:
    """Return the CSS class of a candidate's color; recommended and baseline have their own."""
    if candidate is run.recommended:
        return "best"
    if candidate is run.baseline:
        return "base"
    others = [c for c in run.candidates if c is not run.recommended and c is not run.baseline]
    return color_of_place(others.index(candidate))


def color_of_place(place: int) -> str:
    """Return the CSS class of the color of a place in an order: dashed from the seventh on."""
    return f"c{place % _COLORS}" + (" dashed" if place >= _COLORS else "")


def series(run: Run, candidate: Candidate, *marks: Child, more: str = "") -> Markup:
    """Group the marks of a candidate in a chart, in its color and hidden by its legend key."""
    classes = f"series {color_class(run, candidate)}{more}"
    return element("g", marks, class_=classes, data_series=candidate.number)


def swatch(run: Run, candidate: Candidate) -> Markup:
    """Return a short piece of a candidate's line."""
    return fill(_SWATCH, color=color_class(run, candidate))


def roles(run: Run, candidate: Candidate) -> list[str]:
    """Return ``recommended`` and ``baseline``, where a candidate is that."""
    known = (("recommended", run.recommended), ("baseline", run.baseline))
    return [role for role, each in known if each is candidate]


def legend(run: Run, shown: Iterable[Candidate], *, bands: bool = False) -> Markup:
    """Return buttons that show and hide candidates in every chart of the report."""
    ordered = sorted(shown, key=lambda c: (c is not run.recommended, c is not run.baseline))
    keys = []
    for each in ordered:
        role = [element("span", role, class_="role") for role in roles(run, each)]
        keys.append(
            fill(_KEY, number=each.number, swatch=swatch(run, each), name=each.title, roles=role)
        )
    box = Markup('<label class="bands"><input type="checkbox" data-bands>show all bands</label>')
    return fill(_LEGEND, keys=keys, bands=box if bands else None)


def class_legend(keys: Iterable[tuple[str, str, str]]) -> Markup:
    """Return buttons that show and hide classes, of their key, color class and label."""
    made = [
        fill(_KEY, number=key, swatch=fill(_SWATCH, color=color), name=label, roles=None)
        for key, color, label in keys
    ]
    return fill(_CLASS_LEGEND, keys=made)
