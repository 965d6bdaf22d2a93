from __future__ import annotations

import base64
import math
from html.parser import HTMLParser

import pytest

from rankwise.report import Figure, Mean, Section, Table
from rankwise.report.html import render_report

NASTY = "<script>alert(\"π & 'v'\")</script>"


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: dict[str, list[str]] = {}
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value)

    def handle_data(self, data):
        self.text += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    return reader


def test_every_text_is_escaped_and_comes_back():
    section = Section(
        NASTY,
        [NASTY],
        [Figure(b"picture", NASTY, NASTY)],
        [Table([NASTY], [[NASTY]], NASTY)],
    )
    reader = read(render_report(NASTY, [section]))
    assert "script" not in reader.tags
    assert reader.text.count(NASTY) == 8  # title, h1, h2, p, figcaption, caption, th, td
    assert reader.attributes["alt"] == [NASTY]


def test_nothing_is_fetched_from_elsewhere():
    reader = read(render_report("t", [Section("h", [], [Figure(b"\x89PNG", "d")])]))
    assert reader.attributes["src"] == [
        "data:image/png;base64," + base64.b64encode(b"\x89PNG").decode()
    ]
    assert "link" not in reader.tags
    assert "href" not in reader.attributes


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"^rows must have 2 cells"):
        Table(["a", "b"], [[1, 2], [3]])


def test_a_mean_is_shown_with_its_interval_if_it_has_one():
    assert str(Mean(0.5, 0.01, 100)) == "0.5000 ± 0.0196"
    assert str(Mean(0.5, math.nan, 1)) == "0.5000"
