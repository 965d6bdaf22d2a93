from __future__ import annotations

import pytest
from typer.testing import CliRunner

from rankwise.cli import app
from rankwise.naming.entry import shown_names
from rankwise.naming.table import ALIASES, ENTRIES, METRICS


def lines(*arguments, columns=None):
    done = CliRunner().invoke(
        app, ["objectives", *arguments], env={"COLUMNS": columns and str(columns)}
    )
    assert done.exit_code == 0, done.output
    return done.output.splitlines()


@pytest.mark.parametrize(("flags", "entries"), [((), ENTRIES), (("--metrics",), METRICS)])
@pytest.mark.parametrize("columns", [None, 40, 80, 100, 200])
def test_every_name_is_there_in_one_piece(flags, entries, columns):
    found = lines(*flags, columns=columns)
    assert max(map(len, found)) <= (columns or 100)
    first = {line.split()[0] for line in found if line.strip()}
    assert {name for entry in entries for name in shown_names(entry)} <= first


@pytest.mark.parametrize("columns", [40, 100])
def test_every_alias_is_listed_with_its_name(columns):
    found = lines("--metrics", columns=columns)
    start = next(n for n, line in enumerate(found) if line.split()[:2] == ["alias", "name"])
    first = {line.split()[0]: line for line in found[start + 2 :] if line.strip()}
    for alias in ALIASES:
        assert alias.spelling in first
        assert alias.shown in first[alias.spelling] or columns == 40
    # Of a metric without an objective there is no alias among the objectives.
    objectives = {line.split()[0] for line in lines(columns=columns) if line.strip()}
    assert "roc_auc" in objectives
    assert "recip_rank" not in objectives


def test_the_table_in_a_hundred_columns():
    found = lines(columns=100)
    head = next(line for line in found if "objective" in line)
    assert " ".join(head.split()) == "objective metric when to use it memory cost paper"
    text = " ".join(" ".join(found).split())
    assert "soap" in text
    # Nothing is cut off: every cell is there, broken between words at most.
    assert "…" not in text
    words = {word for line in found for word in line.split()}
    for entry in ENTRIES:
        assert set(entry.use.split()) <= words
        assert set(entry.paper.split()) <= words
        assert set(entry.cost.split()) <= words
        assert entry.metric is None or entry.shown_metric in words


def test_brackets_are_no_markup(monkeypatch):
    from dataclasses import replace

    odd = replace(ENTRIES[0], names=("odd[red]",), use="Use [bold]this[/bold].")
    monkeypatch.setattr("rankwise.naming.rows.OBJECTIVES", (odd,))
    text = "\n".join(lines(columns=120))
    assert "odd[red]" in text
    assert "Use [bold]this[/bold]." in text


def test_wrong_usage():
    done = CliRunner().invoke(app, ["objectives", "--metric-s"])
    assert done.exit_code == 2
    assert done.stdout == ""
