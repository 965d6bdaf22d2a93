"""The first page is short, and what it shows is there and true."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from benchmarks import badges, figure
from tests.command_line import parse

from rankwise import objectives
from rankwise.cli import app
from rankwise.objectives.base import Objective

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text()
LINKS = sorted(set(re.findall(r"\]\((?!https://)([^)]+)\)", TEXT)))
COMMANDS = re.findall(r"^rankwise \w+ .*--.+$", TEXT, re.MULTILINE)
ORDER = ("license.svg", "speed.svg", "pip install .", "```python", "Which objective do I need?",
         "reports/retrieval.png", "## Command line", "make demo", "make test", "Where it helps",
         "CITATION.cff")  # fmt: skip


def anchors(page):
    """The anchors of headings, as GitHub and MkDocs make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    words = (re.sub(r"[^\w\s-]", "", heading.lower()) for heading in headings)
    return {re.sub(r"\s+", "-", word.strip()) for word in words}


def test_is_short_and_in_order():
    assert len(TEXT.split()) <= 700
    places = [TEXT.index(mark) for mark in ORDER]
    assert places == sorted(places)


@pytest.mark.parametrize("link", LINKS)
def test_every_link_leads_somewhere(link):
    path, _, anchor = link.partition("#")
    assert (ROOT / path).exists()
    assert not anchor or anchor in anchors(ROOT / path)


def test_images_have_alternative_text():
    images = re.findall(r"!\[(.*?)\]\((.*?)\)", TEXT)
    assert len(images) >= 5
    assert all(len(text) >= 5 for text, _ in images)


def test_the_loop_has_twelve_lines():
    (code,) = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert sum(bool(line.strip()) for line in code.splitlines()) == 12


def test_the_table_names_objectives_as_they_are_called():
    rows = re.findall(r"^\| .+? \| `(.+?)`", TEXT, re.MULTILINE)
    assert len(rows) == 6
    names = {name: getattr(objectives, name) for name in objectives.__all__}
    assert all(isinstance(eval(row, names), Objective) for row in rows)


def test_the_command_line_is_five_lines():
    assert len(COMMANDS) == 5


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_parse(line):
    assert parse(app, shlex.split(line, comments=True)[1:])


@pytest.mark.parametrize("name", badges.badges())
def test_badges_say_what_the_project_says(name):
    assert (badges.FOLDER / f"{name}.svg").read_text() == badges.badges()[name]
    assert f"docs/images/readme/{name}.svg" in TEXT


def test_the_figure_is_drawn_from_the_measurements():
    measured = json.loads(figure.MEASURED.read_text())
    assert {row["loss"] for row in measured["rows"]} == set(figure.LINES)
    assert figure.FIGURE.read_text() == figure.drawn(measured)


def test_the_table_of_the_figure_is_computed_from_the_measurements():
    table = figure.table(json.loads(figure.MEASURED.read_text()))
    assert len(table.splitlines()) > 8
    assert f"\n{table}\n<!-- end of growth -->" in (ROOT / "benchmarks/README.md").read_text()
