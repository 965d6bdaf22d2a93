from __future__ import annotations

import shlex
from dataclasses import replace
from math import nan

from tests.report.comparison.sample import CONFIG
from tests.report.comparison.sections.small import rows_of, small_run, text_of, tree_of

from rankwise.report.comparison.run import Column, Estimate, Importance
from rankwise.report.comparison.sections.settings import columns, command_of, importance


def test_the_command_repeats_what_was_asked():
    words = shlex.split(command_of(CONFIG))
    assert words[:3] == ["rankwise", "compare", "data/transactions.csv"]
    pairs = list(zip(words[3::2], words[4::2], strict=True))
    assert ("--target", "fraud") in pairs
    assert ("--budget", "120s") in pairs
    assert ("--drop", "card") in pairs
    assert ("--drop", "customer name") in pairs
    assert ("--seeds", "5") in pairs
    assert not any(name == "--splits" for name, _ in pairs)


def test_what_a_shell_would_do_with_a_name_is_quoted_away():
    nasty = "a b; rm -rf $HOME'"
    command = command_of({"data": nasty, "target": "x|y", "group": None})
    assert shlex.split(command) == ["rankwise", "compare", nasty, "--target", "x|y"]


def test_without_data_there_is_no_command():
    assert command_of({"command": "rankwise compare"}) == ""


def found(columns, **known):
    given = {"of_columns": len(columns), "rows": 10.0, "of_rows": 10.0, "repeats": 3.0}
    shown = tuple(Column(e.value, e.low, e.high, name=name) for name, e in columns)
    return Importance(shown, **{**given, "part": "the test part", **known})


def tree(columns, **known):
    part = importance(small_run(importance=found(columns, **known)))
    return tree_of(part.body)


def test_a_run_without_it_has_no_section():
    assert importance(small_run()) is None


def test_every_column_is_shown_with_its_loss_and_interval():
    columns = [("amount", Estimate(0.25, 0.2, 0.3)), ("<b>age", Estimate(-0.01, -0.03, 0.01))]
    made = tree(columns)
    assert rows_of(made.find(".//table")) == [
        ["amount", "+0.250", "+0.200 – +0.300"],
        ["<b>age", "−0.010", "−0.030 – +0.010"],
    ]
    heads = [text_of(each) for each in made.findall(".//thead/tr/th")]
    assert heads == ["Column", "Loss", "95\u202f% interval"]
    said = text_of(made.find(".//p"))
    assert said == (
        "The loss in average precision of the model ap on the test part when the values of one "
        "column are shuffled: mean of 3 shuffles with its 95\u202f% interval. Columns with the "
        "same information stand in for each other: either alone may look unimportant."
    )


def test_the_intervals_share_a_scale_on_which_zero_is_marked():
    made = tree([("a", Estimate(0.2, 0.1, 0.3)), ("b", Estimate(0.0, -0.1, 0.1))])
    first, second = made.findall(".//svg")
    zeros = {line.get("x1") for svg in (first, second) for line in svg.findall("line[1]")}
    assert zeros == {"47"}  # a quarter of 172, and 4
    assert [line.get("x2") for line in first.findall("line")] == ["47", "176"]
    assert [line.get("x1") for line in second.findall("line")] == ["47", "4"]


def test_fewer_rows_and_columns_than_there_are_is_said():
    columns = [(f"c{n}", Estimate(0.1, 0.0, 0.2)) for n in range(20)]
    made = tree(columns, of_columns=32, rows=4.0)
    assert "on 4 of the 10 rows of the test part" in text_of(made.find(".//p"))
    assert text_of(made.find(".//summary")) == "5 more columns"
    assert len(rows_of(made.find(".//table"))) == 15
    assert "12 columns less related to the scores were not measured." in text_of(made)


def test_without_an_interval_there_is_a_dash():
    assert rows_of(tree([("a", Estimate(0.1, nan, nan))]).find(".//table")) == [
        ["a", "+0.100", "–"]
    ]


def column(name, **known):
    return {"name": name, "taken_for": "number", "levels": 1234, "missing": 5, **known}


def cells_of(run):
    tree = tree_of(columns(run).body)
    return [[text_of(cell) for cell in row] for row in tree.iter("tr")][1:]


def test_every_column_has_a_row_with_its_remark_or_the_reason_it_was_left_out():
    known = (
        column("a<b>"),
        column("price", remark="amounts in $"),
        column("id", taken_for="id", left_out="its name looks like an id; --use id keeps it"),
    )
    rows = cells_of(replace(small_run(), columns=known))
    assert [row[:2] for row in rows] == [["a<b>", "number"], ["price", "number"], ["id", "id"]]
    assert [row[4] for row in rows] == [
        "",
        "amounts in $",
        "left out: its name looks like an id; --use id keeps it",
    ]
    assert rows[0][3] == "5"


def test_a_long_table_is_folded_and_whole():
    run = replace(small_run(), columns=tuple(column(f"c{n}") for n in range(40)))
    assert len(cells_of(run)) == 40
    assert "<details>" in str(columns(run).body)


def test_a_run_of_svmlight_has_no_such_section():
    assert columns(small_run()) is None


def test_a_file_that_somebody_changed_does_not_stop_the_report():
    assert cells_of(replace(small_run(), columns=({}, {"name": 3, "levels": "many"})))
