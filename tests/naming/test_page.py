from __future__ import annotations

import pytest
from tests.naming_page import PAGE, updated

from rankwise.naming.entry import shown_names
from rankwise.naming.table import ALIASES, ENTRIES, METRICS


def test_the_tables_of_the_page_are_those_of_the_code():
    page = PAGE.read_text(encoding="utf-8")
    assert updated(page) == page, "run: python -m tests.naming_page"


def test_every_name_is_on_the_page():
    page = PAGE.read_text(encoding="utf-8")
    for entry in (*ENTRIES, *METRICS):
        assert all(f"`{name}`" in page for name in shown_names(entry))
    for alias in ALIASES:
        assert f"| `{alias.spelling}` | `{alias.shown}` |" in page


def test_what_stands_between_the_marks_is_replaced():
    names = ("objectives", "baselines", "metrics", "aliases")
    blank = "".join(f"<!-- {name} -->\nstale\n<!-- end -->\nkept\n" for name in names)
    page = updated(blank)
    assert "stale" not in page
    assert page.count("kept") == 4
    assert "| `soap` | `SOAP` | `ap` |" in page


def test_a_page_without_marks():
    with pytest.raises(ValueError, match="page must have a line <!-- objectives -->"):
        updated("nothing\n")
