"""The table of columns on the report."""

from __future__ import annotations

from dataclasses import replace

from tests.report.comparison.sections.small import small_run, text_of, tree_of

from rankwise.report.comparison.sections.columns import columns


def column(name, **known):
    return {"name": name, "taken_for": "number", "levels": 1234, "missing": 5, **known}


def rows_of(run):
    tree = tree_of(columns(run).body)
    return [[text_of(cell) for cell in row] for row in tree.iter("tr")][1:]


def test_every_column_has_a_row_with_its_remark_or_the_reason_it_was_left_out():
    known = (
        column("a<b>"),
        column("price", remark="amounts in $"),
        column("id", taken_for="id", left_out="its name is that of an id; --use id takes it"),
    )
    rows = rows_of(replace(small_run(), columns=known))
    assert [row[:2] for row in rows] == [["a<b>", "number"], ["price", "number"], ["id", "id"]]
    assert [row[4] for row in rows] == [
        "",
        "amounts in $",
        "left out: its name is that of an id; --use id takes it",
    ]
    assert rows[0][3] == "5"


def test_a_long_table_is_folded_and_whole():
    run = replace(small_run(), columns=tuple(column(f"c{n}") for n in range(40)))
    assert len(rows_of(run)) == 40
    assert "<details>" in str(columns(run).body)


def test_a_run_of_svmlight_has_no_such_section():
    assert columns(small_run()) is None


def test_a_file_that_somebody_changed_does_not_stop_the_report():
    assert rows_of(replace(small_run(), columns=({}, {"name": 3, "levels": "many"})))
