"""A section of the page with what its scripts need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rankwise.report.comparison.markup import Child, Markup, element

__all__ = ["Part", "figure", "note", "scroll", "table"]


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
