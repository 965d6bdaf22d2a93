"""Reports as single HTML files: styles, tables and figures are embedded."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

__all__ = ["Figure", "Section", "Table", "render_report"]

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
"""


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
    figures: Sequence[Figure] = field(default=())
    tables: Sequence[Table] = field(default=())


def render_report(title: str, sections: Iterable[Section]) -> str:
    """Return the report as one string of HTML; every text in it is escaped."""
    body = "\n".join(_section(section) for section in sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def _section(section: Section) -> str:
    parts = [f"<section>\n<h2>{escape(section.heading)}</h2>"]
    parts += [f"<p>{escape(text)}</p>" for text in section.paragraphs]
    parts += [_figure(figure) for figure in section.figures]
    parts += [_table(table) for table in section.tables]
    return "\n".join([*parts, "</section>"])


def _figure(figure: Figure) -> str:
    data = base64.b64encode(figure.png).decode()
    caption = f"<figcaption>{escape(figure.caption)}</figcaption>" if figure.caption else ""
    image = f'<img src="data:image/png;base64,{data}" alt="{escape(figure.description)}">'
    return f"<figure>{image}{caption}</figure>"


def _table(table: Table) -> str:
    caption = f"<caption><span>{escape(table.caption)}</span></caption>" if table.caption else ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.header)
    rows = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in table.rows)
    return (
        f'<div class="scroll"><table>{caption}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


def _cell(value: object) -> str:
    text = str(value)
    wordy = ' class="words"' if len(text) > 24 else ""
    return f"<td{wordy}>{escape(text)}</td>"
