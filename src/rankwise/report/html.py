"""HTML whose every text is escaped, and reports as single files with all that they show."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from rankwise.files import write_whole

_STYLE = """
:root { color-scheme: light; --ink: #1d2730; --quiet: #5b6770; --line: #d9dfe3; --accent: #00796b; }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: #fff;
  max-width: 68rem; margin: 2.5rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; color: var(--accent); }
p { max-width: 48rem; margin: .5rem 0; }
figure { margin: 1.25rem 0; }
figure img { max-width: 100%; height: auto; }
caption span { position: sticky; left: 0; display: inline-block; width: max-content;
  max-width: min(42rem, 88vw); }
figcaption, caption { color: var(--quiet); font-size: .9rem; text-align: left; padding: .25rem 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .92rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid var(--line); text-align: right; }
th { border-bottom: 2px solid var(--ink); vertical-align: bottom; }
th:first-child, td:first-child, td.words { text-align: left; }
td { white-space: nowrap; }
td.words { white-space: normal; }
@media (max-width: 30rem) { th, td { padding: .3rem .4rem; } table { font-size: .85rem; } }
"""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head>
<body><h1>{title}</h1>{body}</body></html>
"""


class Markup(str):
    """Text that is markup already; any other string is escaped where it enters an element."""

    __slots__ = ()


Child = str | int | Iterable["Child"] | None

_VOID = frozenset({"br", "hr", "img", "input", "meta"})  # elements without content and end tag


def element(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """Build an element; ``class_`` stands for ``class``, other underscores for hyphens.

    An attribute that is None or False is left out, True stands without a value. Children are
    strings (escaped, unless they are :class:`Markup`), numbers, or any nesting of these.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def fill(template: str, /, **children: Child) -> Markup:
    """Fill the ``{places}`` of an HTML template with children, which are escaped."""
    return Markup(template.format(**{name: join(each) for name, each in children.items()}))


def join(children: Child) -> Markup:
    """Join children into one piece of markup."""
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
class Mean:
    """A mean of ``n`` values with its standard error, which is shown as a 95 % interval."""

    value: float
    standard_error: float
    n: int

    def __str__(self) -> str:
        if math.isnan(self.standard_error):
            return f"{self.value:.4f}"
        return f"{self.value:.4f} ± {1.96 * self.standard_error:.4f}"


@dataclass(frozen=True)
class Table:
    """Rows under a header; cells are shown as they print."""

    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(
                    f"rows must have {len(self.header)} cells, one for each of the header, "
                    f"got {len(row)}: {list(row)!r}"
                )


@dataclass(frozen=True)
class Figure:
    """A PNG image with a description for screen readers."""

    png: bytes
    description: str
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """A heading with paragraphs, then figures, then tables."""

    heading: str
    paragraphs: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()


def settings_section(settings: Mapping[str, object]) -> Section:
    """Return the section that lists the settings of a run."""
    return Section("Settings", tables=[Table(("setting", "value"), list(settings.items()))])


def render_report(title: str, sections: Iterable[Section]) -> str:
    """Return the report as one string of HTML; every text in it is escaped."""
    return fill(_PAGE, title=title, style=Markup(_STYLE), body=map(_section, sections))


def write_html(path: Path, title: str, sections: Iterable[Section]) -> Path:
    """Write a report, whole or not at all, and return its path."""
    return write_whole(path, render_report(title, sections))


def _section(section: Section) -> Markup:
    return element(
        "section",
        element("h2", section.heading),
        [element("p", text) for text in section.paragraphs],
        map(_figure, section.figures),
        map(_table, section.tables),
    )


def _figure(figure: Figure) -> Markup:
    data = f"data:image/png;base64,{base64.b64encode(figure.png).decode()}"
    caption = element("figcaption", figure.caption) if figure.caption else None
    return element("figure", element("img", src=data, alt=figure.description), caption)


def _table(table: Table) -> Markup:
    caption = element("caption", element("span", table.caption)) if table.caption else None
    head = element("thead", element("tr", [element("th", n, scope="col") for n in table.header]))
    rows = [element("tr", map(_cell, row)) for row in table.rows]
    return element("div", element("table", caption, head, element("tbody", rows)), class_="scroll")


def _cell(value: object) -> Markup:
    text = str(value)
    return element("td", text, class_="words" if len(text) > 24 else None)
