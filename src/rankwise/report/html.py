"""Reports as single HTML files: the verdict, then sections of figures, tables and text."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from rankwise.files import write_whole
from rankwise.report.elements import (
    Child,
    Markup,
    details,
    element,
    figure,
    fill,
    join,
    note,
    scroll,
)

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src {style_hash};
 script-src {script_hash}; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{title}</title><style>{style}</style></head>
<body><header><div class="bar"><p class="brand">{brand}</p>
<button type="button" id="theme" class="quiet-button">Dark</button></div>
<h1>{title}</h1>{headline}<nav aria-label="Sections">{links}</nav></header>
<main>{sections}</main>
<footer>Written by rankwise. Everything in this report is in this one file.</footer>
<script type="application/json" id="report-data">{data}</script>
<script>{script}</script></body></html>
"""
_LINES = ("number", "more", "fine")  # of a tile
_LONG = 24  # letters of a cell that breaks its lines
_WIDE = 900  # pixels of an image that is not made as small as a phone


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
    """Rows under a header; the first column names its rows, cells are shown as they print."""

    header: Sequence[str]
    rows: Sequence[Sequence[object]]  # markup, and lists of it, stand as they are
    caption: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(
                    f"rows must have {len(self.header)} cells, one for each of the header, "
                    f"got {len(row)}: {list(row)!r}"
                )

    def render(self) -> Markup:
        """Return the table in a box that scrolls sideways."""
        caption = element("caption", element("span", self.caption)) if self.caption else None
        prose = [any(map(_is_prose, column)) for column in zip(*self.rows, strict=True)]
        prose = prose or [False] * len(self.header)
        head = [
            element("th", name, class_="words" if long else None, scope="col")
            for name, long in zip(self.header, prose, strict=True)
        ]
        body = []
        for row in self.rows:
            first, *rest = zip(row, prose, strict=True)
            cells = [_cell("td", *each) for each in rest]
            body.append(element("tr", _cell("th", *first, scope="row"), cells))
        made = element(
            "table", caption, element("thead", element("tr", head)), element("tbody", body)
        )
        return scroll(made, "Table, scrolls sideways")


def _is_prose(value: object) -> bool:
    """Return whether a cell has a sentence rather than a word or a number."""
    return not isinstance(value, (Markup, list)) and len(str(value)) > _LONG


def _cell(name: str, value: object, long: bool, **attributes: str) -> Markup:
    shown = join(value) if isinstance(value, (Markup, list)) else str(value)
    return element(name, shown, class_="words" if long else None, **attributes)


@dataclass(frozen=True)
class Figure:
    """A PNG image with a description for screen readers."""

    png: bytes
    description: str
    caption: str = ""

    def render(self) -> Markup:
        """Return the image, which is part of the file, and its caption."""
        image = thumbnail(self.png, self.description)
        if int.from_bytes(self.png[16:20]) > _WIDE:  # where PNG has the width
            image = scroll(image, "Figure, scrolls sideways")
        return figure(image, self.caption)


def thumbnail(png: bytes, description: str, class_: str | None = None) -> Markup:
    """Return an image that is part of the file."""
    data = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    return element("img", src=data, alt=description, class_=class_)


@dataclass(frozen=True)
class Section:
    """A heading with paragraphs, then figures, tables and any other content.

    The heading is also the link at the top of the report. A section that is ``folded`` shows its
    heading only, until it is opened.
    """

    heading: str
    paragraphs: Sequence[Child] = ()
    figures: Sequence[Figure | Markup] = ()
    tables: Sequence[Table | Markup] = ()
    body: Child = None
    anchor: str = ""  # the heading's letters if empty
    charts: Mapping[str, object] = field(default_factory=dict)  # data of charts, by their names
    folded: bool = False

    def render(self, anchor: str = "") -> Markup:
        """Return the section as HTML."""
        anchor = anchor or self.anchor
        heading = element("h2", self.heading, id=f"{anchor}-heading")
        shown = [
            [each if isinstance(each, Markup) else note(each) for each in self.paragraphs],
            [e if isinstance(e, Markup) else e.render() for e in (*self.figures, *self.tables)],
            self.body,
        ]
        content = details(heading, shown) if self.folded else [heading, shown]
        return element("section", content, id=anchor, aria_labelledby=f"{anchor}-heading")


@dataclass(frozen=True)
class Headline:
    """The card at the top of a report: one sentence, what follows from it, and a few numbers.

    A tile has a name, a number, and up to two lines that explain it.
    """

    text: str
    paragraphs: Sequence[str] = ()
    tiles: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    label: str = "Verdict"

    def render(self) -> Markup:
        """Return the card as HTML."""
        words = [("eyebrow", self.label), ("choice", self.text)]
        words += [("why", text) for text in self.paragraphs]
        tiles = [
            element("div", element("dt", name), [
                element("dd", text, class_=c) for c, text in zip(_LINES, texts, strict=True) if text
            ])
            for name, texts in self.tiles.items()
        ]  # fmt: skip
        shown = element("dl", tiles, class_="tiles") if tiles else None
        lines = [element("p", text, class_=name) for name, text in words]
        return element("div", lines, shown, class_="hero")


def settings_section(settings: Mapping[str, object]) -> Section:
    """Return the section that lists the settings of a run, folded."""
    table = Table(("setting", "value"), list(settings.items()))
    return Section("Settings", tables=[table], folded=True)


def write_html(
    path: Path,
    title: str,
    sections: Sequence[Section],
    *,
    headline: Headline | None = None,
    command: str = "",
    data: Mapping[str, object] | None = None,
) -> Path:
    """Write a report, whole or not at all, and return its path; every text in it is escaped.

    Only its own style and script may run, and it fetches nothing. ``command`` is the one of
    rankwise that wrote it, ``data`` what the script knows of the series in its charts.
    """
    anchored = list(zip(_anchors(sections), sections, strict=True))
    style, script = _file("report.css"), _file("report.js")
    charts = {name: chart for section in sections for name, chart in section.charts.items()}
    page = fill(
        _PAGE,
        style_hash=_hash(style),
        script_hash=_hash(script),
        title=title,
        style=Markup(style),
        brand=f"rankwise {command}".strip(),
        headline=headline.render() if headline else None,
        links=[element("a", each.heading, href=f"#{anchor}") for anchor, each in anchored],
        sections=[each.render(anchor) for anchor, each in anchored],
        data=Markup(_embedded({**(data or {}), "charts": charts})),
        script=Markup(script),
    )
    return write_whole(path, page)


def _anchors(sections: Iterable[Section]) -> list[str]:
    """Return an id for each section, none of them twice."""
    seen: Counter[str] = Counter()
    found = []
    for each in sections:
        letters = re.sub(r"[^a-z0-9]+", "-", each.heading.lower()).strip("-")
        anchor = each.anchor or letters or "section"
        seen[anchor] += 1
        found.append(anchor if seen[anchor] == 1 else f"{anchor}-{seen[anchor]}")
    return found


def _hash(text: str) -> Markup:
    """Return the source of the only style or script that the policy allows."""
    return Markup(f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'")


def _embedded(data: object) -> str:
    """Return JSON that no name in it can end: browsers look for the end of a script first."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _file(name: str) -> str:
    return resources.files("rankwise.report").joinpath(name).read_text(encoding="utf-8")
