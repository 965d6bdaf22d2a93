from __future__ import annotations

import pytest
from tests.report.comparison.sections.small import (
    SCORES,
    TARGET,
    candidate,
    levels_by_number,
    pair,
    predictions,
    rows_of,
    small_run,
    text_of,
    tree_of,
)

from rankwise.report.comparison.sections.lift import lift

THIN = "\u202f"


def part_of(run):
    return lift(run, levels_by_number(run))


def tree(run):
    return tree_of(part_of(run).body)


def header(run):
    return [text_of(each) for each in tree(run).findall(".//table/thead/tr/th")]


def test_the_first_k_by_hand():
    # Two positives among ten rows, first and third; those of the baseline second and fifth.
    run = small_run()
    assert header(run) == ["First k", "Found", "Precision", "Recall", "Lift", "Baseline’s"]
    assert rows_of(tree(run).find(".//table")) == [
        [f"1 (10.0{THIN}%)", "1", f"100{THIN}%", f"50.0{THIN}%", f"{1 / 0.2:.1f}", "0.0"],
        [f"2 (20.0{THIN}%)", "1", f"50.0{THIN}%", f"50.0{THIN}%", f"{0.5 / 0.2:.1f}", "2.5"],
        [f"5 (50.0{THIN}%)", "2", f"40.0{THIN}%", f"100{THIN}%", f"{0.4 / 0.2:.1f}", "2.0"],
    ]


def test_tied_scores_count_by_their_mean_over_orders():
    # All ten are tied: among the first k there are 0.2 k positives, which is chance.
    run = small_run(given=predictions(scores={0: SCORES[0], 1: [3.0] * 10}))
    rows = rows_of(tree(run).find(".//table"))
    assert [row[1] for row in rows] == ["0.2", "0.4", "1"]
    assert [row[4] for row in rows] == ["1.0", "1.0", "1.0"]
    (series,) = (each for each in part_of(run).charts["lift"]["series"] if each["number"] == 1)
    assert series["y"] == pytest.approx([1.0] * len(series["y"]))


def test_weights_are_counted():
    # The first row weighs ten times as much: it is half of the mass, and all but one of the found.
    run = small_run(given=predictions(weight=[10, *[1] * 8, 2]))
    rows = rows_of(tree(run).find(".//table"))
    assert [row[0].split()[0] for row in rows] == ["1", "2", "4", "10"]
    prior = (10 + 1) / 20
    assert rows[-1][1:5] == ["10", f"100{THIN}%", f"{1000 / 11:.1f}{THIN}%", f"{1 / prior:.1f}"]


@pytest.mark.parametrize(
    ("candidates", "recommended", "scores"),
    [
        (pair(), 0, SCORES),  # the baseline won
        ((candidate(0, "a"), candidate(1, "b")), 1, SCORES),  # there is none
        (pair(), 1, {1: SCORES[1]}),  # it has no scores
    ],
)
def test_without_a_baseline_beside_it_there_is_no_column_for_it(candidates, recommended, scores):
    run = small_run(candidates, predictions(scores=scores), recommended=recommended)
    assert header(run) == ["First k", "Found", "Precision", "Recall", "Lift"]
    assert {len(row) for row in rows_of(tree(run).find(".//table"))} == {5}


def test_the_curve_ends_at_one_and_starts_at_the_first_row():
    data = part_of(small_run()).charts["lift"]
    assert (data["x"][0], data["x"][-1]) == (1 / 10, 1)
    assert (data["title"], data["digits"]) == ("share", 2)
    base, best = data["series"]
    assert (base["y"][0], base["y"][-1]) == (0, 1)
    assert best["y"][0] == pytest.approx(5)
    assert best["y"][-1] == 1


def test_the_axes_reach_from_the_first_row_to_a_bit_above_the_highest():
    data = part_of(small_run()).charts["lift"]
    assert (data["px"][0], data["px"][-1]) == (46, 446)
    best = data["series"][1]
    assert best["py"][0] == pytest.approx(284 - 254 / 1.08, abs=0.06)
    chance = tree(small_run()).find(".//path[@class='chance']").attrib["d"]
    one = f"{round(284 - 254 / (1.08 * 5), 1):g}"
    assert chance == f"M46 {one}L446 {one}"


def test_shares_are_written_with_the_digits_they_need():
    rows = 10_000
    scores = list(range(rows, 0, -1))
    run = small_run(given=predictions([1, *[0] * (rows - 1)], {0: scores, 1: scores}))
    picture = tree(run).find(".//svg[@data-chart='lift']")
    ticks = [text_of(each) for each in picture.findall("text[@text-anchor='middle']")]
    assert ticks == ["0.01 %", "0.1 %", "1 %", "10 %", "100 %"]


def test_the_table_is_of_the_recommended():
    assert text_of(tree(small_run()).find(".//caption")) == "Of ap."


def test_two_rows_are_enough():
    run = small_run(given=predictions([1, 0], {0: [1, 2], 1: [2, 1]}))
    assert rows_of(tree(run).find(".//table")) == [
        [f"1 (50.0{THIN}%)", "1", f"100{THIN}%", f"100{THIN}%", "2.0", "0.0"]
    ]


def test_where_all_rows_weigh_less_than_one_there_is_a_curve_and_no_table():
    found = tree(small_run(given=predictions(weight=[0.05] * 10)))
    assert found.find(".//svg[@data-chart='lift']") is not None
    assert found.find(".//table") is None


def test_lift_is_precision_over_the_share_of_positives():
    rows = rows_of(tree(small_run()).find(".//table"))
    share = sum(TARGET) / len(TARGET)
    for row in rows:
        precision = float(row[2].removesuffix(f"{THIN}%")) / 100
        assert float(row[4]) == pytest.approx(precision / share, abs=0.05)


def test_names_are_text_and_no_markup():
    run = small_run((candidate(0, "<b>0", baseline=True), candidate(1, "<b>1")))
    assert tree(run).find(".//b") is None
    assert text_of(tree(run).find(".//caption")) == "Of <b>1."
    assert "<b>0baseline" in text_of(tree(run))
