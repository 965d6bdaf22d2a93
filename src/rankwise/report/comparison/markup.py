"""Elements of HTML and SVG whose every text is escaped, because nothing else can be built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from rankwise.report.comparison.run import Candidate, Run


class Markup(str):
    """Text that is markup already; any other string is escaped where it enters an element."""

    __slots__ = ()


Child = str | int | Iterable["Child"] | None

# Elements without content, and so without an end.
_VOID = frozenset({"br", "hr", "input", "meta"})


def element(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """An element; ``class_`` stands for ``class``, other underscores for hyphens.

    An attribute that is None or False is left out, True stands without a value. Children are
    strings (escaped, unless they are :class:`Markup`), numbers, or any nesting of these.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Child) -> Markup:
    """Children as one piece of markup."""
    if children is None:
        return Markup()
    if isinstance(children, Markup):
        return children
    if isinstance(children, (str, int)):
        return Markup(escape(str(children)))
    return Markup("".join(map(join, children)))


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    return f' {name}="{escape(shown)}"'


@dataclass(frozen=True)
class Part:
    """A section under a short heading, which is its link in the page's head as well."""

    anchor: str
    heading: str
    body: Child
    charts: Mapping[str, object] = field(default_factory=dict)  # numbers of charts, by their names

    def drawn(self) -> Markup:
        """The section."""
        heading = element("h2", self.heading, id=f"{self.anchor}-heading")
        return element(
            "section",
            heading,
            self.body,
            id=self.anchor,
            aria_labeledby=f"{self.anchor}-heading",
        )


def note(*children: Child) -> Markup:
    """A paragraph that explains."""
    return element("p", children, class_="note")


def figure(picture: Markup, caption: Child) -> Markup:
    """A picture with a caption; what is read off it by mouse or keys is shown inside."""
    tip = element("div", class_="tip", hidden=True)
    return element("figure", element("div", picture, tip, class_="plot"), _caption(caption))


def table(caption: Child, header: Sequence[str], rows: Sequence[Sequence[Child]]) -> Markup:
    """A plain table: the first column names its rows."""
    head = [element("th", name, scope="col") for name in header]
    body = [
        element("tr", element("th", first, scope="row"), [element("td", cell) for cell in rest])
        for first, *rest in rows
    ]
    made = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", head)),
        element("tbody", body),
    )
    return scroll(made, "Table, scrolls sideways")


def scroll(content: Markup, label: str) -> Markup:
    """A box that scrolls sideways where the page is narrow, with the keyboard too."""
    return element("div", content, class_="scroll", role="group", aria_label=label, tabindex=0)


def _caption(caption: Child) -> Markup:
    return element("figcaption", caption)


_COLORS = 6  # beside those of the recommended and of the baseline; see report.css


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
