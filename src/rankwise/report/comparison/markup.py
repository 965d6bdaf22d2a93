"""The pieces of HTML that all sections share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rankwise.report.comparison.run import Candidate, Run
from rankwise.report.html import Child, Markup, element, fill

_COLORS = 6  # besides those of the recommended and of the baseline; see report.css
_FIGURE = """<figure><div class="plot">{image}<div class="tip" hidden></div></div>\
<figcaption>{caption}</figcaption></figure>"""
_SWATCH = """<svg class="swatch {color}" viewBox="0 0 22 10" aria-hidden="true">\
<line class="line" x1="1" x2="21" y1="5" y2="5"></line></svg>"""
_KEY = """<button type="button" class="key" aria-pressed="true" data-toggle="{number}">{swatch}\
<span class="name">{name}</span>{roles}</button>"""
_LEGEND = """<div class="legend" role="group" aria-label="Candidates shown">{keys}{bands}</div>"""


@dataclass(frozen=True)
class Section:
    """A section under a short heading, which is also its link at the top of the report."""

    anchor: str
    heading: str
    body: Child
    charts: Mapping[str, object] = field(default_factory=dict)  # data of charts, by their names

    def render(self) -> Markup:
        """Return the section as HTML."""
        title = f"{self.anchor}-heading"
        heading = element("h2", self.heading, id=title)
        return element("section", heading, self.body, id=self.anchor, aria_labelledby=title)


def note(*children: Child) -> Markup:
    """Return a paragraph that explains."""
    return element("p", children, class_="note")


def pair(*children: Child) -> Markup:
    """Return children side by side, below each other where the screen is narrow."""
    return element("div", children, class_="pair")


def figure(image: Markup, caption: Child) -> Markup:
    """Return a chart with a caption; values read by mouse or keys are shown inside it."""
    return fill(_FIGURE, image=image, caption=caption)


def chips(names: Mapping[str, str]) -> Markup:
    """Return a caption that names the colors of a chart, by their CSS classes."""
    shown = [element("span", name, class_=f"chip {class_}") for class_, name in names.items()]
    return element("span", shown, class_="chips")


def table(caption: Child, header: Sequence[str], rows: Sequence[Sequence[Child]]) -> Markup:
    """Return a plain table; the first column names its rows."""
    head = [element("th", name, scope="col") for name in header]
    body = [
        element("tr", element("th", first, scope="row"), [element("td", cell) for cell in rest])
        for first, *rest in rows
    ]
    parts = (("caption", caption), ("thead", element("tr", head)), ("tbody", body))
    made = element("table", [element(name, content) for name, content in parts])
    return scroll(made, "Table, scrolls sideways")


def details(summary: Child, *content: Child) -> Markup:
    """Return content that is folded under a summary."""
    return element("details", element("summary", summary), content)


def scroll(content: Markup, label: str) -> Markup:
    """Return a box that scrolls sideways where the report is narrow, with the keyboard too."""
    return element("div", content, class_="scroll", role="group", aria_label=label, tabindex=0)


def color_class(run: Run, candidate: Candidate) -> str:
    """Return the CSS class of a candidate's color; recommended and baseline have their own."""
    if candidate is run.recommended:
        return "best"
    if candidate is run.baseline:
        return "base"
    others = [c for c in run.candidates if c is not run.recommended and c is not run.baseline]
    place = others.index(candidate)
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
            fill(_KEY, number=each.number, swatch=swatch(run, each), name=each.name, roles=role)
        )
    box = Markup('<label class="bands"><input type="checkbox" data-bands>show all bands</label>')
    return fill(_LEGEND, keys=keys, bands=box if bands else None)
