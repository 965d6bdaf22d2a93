from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from math import log, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_curve, roc_auc_score, roc_curve
from tests.report.comparison.sections.small import (
    SCORES,
    TARGET,
    candidate,
    pair,
    predictions,
    rows_of,
    small_run,
    text_of,
    tree_of,
)

from rankwise.report.charts import Frame, linear_axis
from rankwise.report.comparison.curves import DRAWS, Curve
from rankwise.report.comparison.run import Candidate, Estimate, Run
from rankwise.report.comparison.sections.curves import (
    chart_data,
    curves,
    lift,
    series_of,
    time,
)


def part_of(run):
    return curves(run)


def heights(run, chart, number):
    """Places and heights that a script reads off."""
    data = part_of(run).charts[chart]
    (series,) = (each for each in data["series"] if each["number"] == number)
    return np.array(data["x"]), np.array(series["y"])


def curve(*y):
    places = np.linspace(0, 1, len(y))
    return Curve(places, np.array(y), np.array(y) - 0.25, np.array(y) + 0.25)


FRAME = Frame(linear_axis("x", 0, 1), linear_axis("y", 0, 1))


@pytest.mark.parametrize("number", [0, 1])
def test_precision_is_that_of_scikit_learn_where_a_positive_is_reached(number):
    x, y = heights(small_run(), "pr", number)
    precision, recall, _ = precision_recall_curve(TARGET, SCORES[number])
    for reached in (0.5, 1.0):
        wanted = precision[recall == reached].max()
        assert np.interp(reached, x, y) == pytest.approx(wanted, abs=0.005)


@pytest.mark.parametrize("number", [0, 1])
def test_the_roc_curve_is_that_of_scikit_learn(number):
    x, y = heights(small_run(), "roc", number)
    fpr, tpr, _ = roc_curve(TARGET, SCORES[number], drop_intermediate=False)
    between = (np.arange(8) + 0.5) / 8  # the curve jumps at the eight negatives
    assert np.interp(between, x, y) == pytest.approx(np.interp(between, fpr, tpr), abs=0.001)
    area = roc_auc_score(TARGET, SCORES[number])
    assert np.trapezoid(y, x) == pytest.approx(area, abs=0.01)


def test_scores_that_are_all_tied_are_chance():
    run = small_run(given=predictions(scores={0: SCORES[0], 1: [0.0] * 10}))
    x, y = heights(run, "roc", 1)
    assert y == pytest.approx(x, abs=0.001)
    _, y = heights(run, "pr", 1)
    assert set(y) == {2 / 10}


def test_chance_is_the_share_of_positives_and_the_diagonal():
    # 0.2 of the 254 between the top at 30 and the floor at 284.
    pr, roc = tree_of(part_of(small_run()).body).findall(".//path[@class='chance']")
    assert pr.attrib["d"] == f"M46 {284 - 0.2 * 254:g}L446 {284 - 0.2 * 254:g}"
    assert roc.attrib["d"] == "M46 284L446 30"


def test_chance_counts_weights():
    run = small_run(given=predictions(weight=[0.5 if each else 1 for each in TARGET]))
    captions = [text_of(each) for each in tree_of(part_of(run).body).findall(".//figcaption")]
    assert captions == [
        f"Precision–recall. Chance is a precision of {1 / 9:.3g}.",
        "ROC. The dotted diagonal is chance.",
    ]


def test_the_note_says_how_many_resamples_there_are():
    note = text_of(tree_of(part_of(small_run()).body).find("p"))
    assert f"95\u202f% of {DRAWS} bootstrap resamples" in note


def test_both_charts_have_a_label_and_a_name_that_scripts_know():
    pictures = tree_of(part_of(small_run()).body).findall(".//figure//svg")
    assert {each.attrib["data-chart"]: each.attrib["aria-label"] for each in pictures} == {
        "pr": "Precision against recall, one line for each of 2 candidates",
        "roc": "True positive rate against false positive rate, one line for each of 2 candidates",
    }
    charts = part_of(small_run()).charts
    assert {name: (each["title"], each["digits"]) for name, each in charts.items()} == {
        "pr": ("recall", 3),
        "roc": ("false positive rate", 3),
    }


def test_the_label_of_one_line_speaks_of_one():
    run = small_run((candidate(0, "only"),), predictions(scores={0: SCORES[0]}), recommended=0)
    picture = tree_of(part_of(run).body).find(".//svg[@data-chart='pr']")
    assert picture.attrib["aria-label"] == "Precision against recall, one line for 1 candidate"


def test_a_candidate_without_scores_is_not_drawn():
    run = small_run((*pair(), candidate(2, "without scores")))
    part = part_of(run)
    assert [each["number"] for each in part.charts["pr"]["series"]] == [0, 1]
    assert "without scores" not in text_of(tree_of(part.body))


def test_the_recommended_lies_on_top_and_the_baseline_below_it():
    candidates = (candidate(0, "best"), candidate(1, "base", baseline=True), candidate(2, "other"))
    given = predictions(scores=dict.fromkeys(range(3), SCORES[0]))
    run = small_run(candidates, given, recommended=0)
    drawn = tree_of(series_of(run, FRAME, {n: curve(0.5, 0.5) for n in range(3)}))
    assert [each.attrib["data-series"] for each in drawn] == ["2", "1", "0"]
    assert [each.attrib["class"] for each in drawn] == [
        "series c0",
        "series base shown-band",
        "series best shown-band",
    ]


def test_a_series_is_a_line_inside_its_band():
    run = small_run((candidate(0, "only"),), predictions(scores={0: SCORES[0]}), recommended=0)
    (series,) = tree_of(series_of(run, FRAME, {0: curve(0.25, 0.75)}))
    assert [each.attrib["class"] for each in series] == ["band", "line"]
    band, line = (each.attrib["d"] for each in series)
    # 0 is at 284, 1 is at 30: heights 0.25, 0.5, 0.75 are at 220.5, 157, 93.5.
    assert line == "M46 220.5L446 93.5"
    assert band == "M46 157L446 30L446 157L46 284Z"


def test_scripts_read_rounded_values_at_the_places_of_the_line():
    found = {0: curve(1 / 3, 0.5, 1.0), 1: curve(0.0, 2 / 3, 1.0)}
    assert chart_data(small_run(), FRAME, found, "share", 2) == {
        "title": "share",
        "digits": 2,
        "x": [0, 0.5, 1],
        "px": [46, 246, 446],
        "series": [
            {"number": 0, "y": [0.3333, 0.5, 1], "py": [199.3, 157, 30]},
            {"number": 1, "y": [0, 0.6667, 1], "py": [284, 114.7, 30]},
        ],
    }


def test_the_same_run_has_the_same_bands():
    assert part_of(small_run()).render() == part_of(small_run()).render()


def test_names_are_text_and_no_markup():
    run = small_run((candidate(0, "<b>0", baseline=True), candidate(1, "<b>1")))
    found = tree_of(part_of(run).body)
    assert found.find(".//b") is None
    assert "<b>0baseline" in text_of(found)
    assert "<b>1recommended" in text_of(found)


THIN = "\u202f"


def lift_part_of(run):
    return lift(run)


def tree(run):
    return tree_of(lift_part_of(run).body)


def header(run):
    return [text_of(each) for each in tree(run).findall(".//table/thead/tr/th")]


def test_the_first_k_by_hand():
    # Two positives among ten rows, first and third; those of the baseline second and fifth.
    run = small_run()
    assert header(run) == ["Top k", "Positives", "Precision", "Recall", "Lift", "Baseline’s"]
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
    (series,) = (each for each in lift_part_of(run).charts["lift"]["series"] if each["number"] == 1)
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
    assert header(run) == ["Top k", "Positives", "Precision", "Recall", "Lift"]
    assert {len(row) for row in rows_of(tree(run).find(".//table"))} == {5}


def test_the_curve_ends_at_one_and_starts_at_the_first_row():
    data = lift_part_of(small_run()).charts["lift"]
    assert (data["x"][0], data["x"][-1]) == (1 / 10, 1)
    assert (data["title"], data["digits"]) == ("share", 2)
    base, best = data["series"]
    assert (base["y"][0], base["y"][-1]) == (0, 1)
    assert best["y"][0] == pytest.approx(5)
    assert best["y"][-1] == 1


def test_the_axes_reach_from_the_first_row_to_a_bit_above_the_highest():
    data = lift_part_of(small_run()).charts["lift"]
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


def test_names_are_text_and_no_markup_in_lift():
    run = small_run((candidate(0, "<b>0", baseline=True), candidate(1, "<b>1")))
    assert tree(run).find(".//b") is None
    assert text_of(tree(run).find(".//caption")) == "Of <b>1."
    assert "<b>0baseline" in text_of(tree(run))


LEFT, RIGHT, TOP, FLOOR = 46, 446, 30, 284
UNITS = {"s": 1, "min": 60, "h": 3600}

Points = tuple[tuple[float, float], ...]


def time_tree(run: Run) -> ET.Element:
    part = time(run)
    assert part is not None
    return tree_of(part.body)


def captions(run: Run) -> list[str]:
    return [text_of(each) for each in time_tree(run).findall(".//figcaption")]


def timed(*seconds: float) -> Run:
    """Candidates of which these times are known, and a value each."""
    known = Estimate(0.5, nan, nan)
    each = [candidate(i, f"c {i}", seconds=s, test=known) for i, s in enumerate(seconds)]
    return small_run(tuple(each), recommended=0)


def tuned(*curves: Points) -> Run:
    each = [candidate(i, f"c {i}", curve=curve) for i, curve in enumerate(curves)]
    return small_run(tuple(each), recommended=0)


def ticks(run: Run) -> dict[str, float]:
    """The marks of the axis of time, and their places."""
    found = time_tree(run).findall(".//svg[@role='img']/text[@text-anchor='middle']")
    return {text_of(each): float(each.attrib["x"]) for each in found}


def dots(run: Run) -> dict[str, tuple[float, float]]:
    """Places of the dots by the number of their candidate."""
    return {
        group.attrib["data-series"]: (float(dot.attrib["cx"]), float(dot.attrib["cy"]))
        for group in time_tree(run).findall(".//svg/g")
        for dot in group.findall("circle")
    }


def paths(run: Run) -> dict[str, str]:
    return {
        group.attrib["data-series"]: path.attrib["d"]
        for group in time_tree(run).findall(".//svg/g")
        for path in group.findall("path")
    }


def across(value: float, low: float, high: float) -> float:
    return LEFT + (RIGHT - LEFT) * log(value / low) / log(high / low)


def down(value: float, low: float, high: float) -> float:
    return FLOOR - (FLOOR - TOP) * (value - low) / (high - low)


def test_without_times_there_is_no_section() -> None:
    assert time(small_run()) is None


@pytest.mark.parametrize("seconds", [0.0, -1.0, nan])
def test_a_time_that_is_none_is_not_drawn(seconds: float) -> None:
    assert time(timed(seconds)) is None
    assert set(dots(timed(seconds, 5.0))) == {"1"}


def test_a_time_without_a_value_is_not_drawn() -> None:
    unknown = candidate(1, "b", seconds=1e9, test=Estimate(nan, 0.1, 0.9))
    known = candidate(0, "a", seconds=5.0, test=Estimate(0.5, nan, nan))
    assert dots(small_run((known, unknown))) == dots(timed(5.0))


def test_dots_and_intervals_by_hand() -> None:
    candidates = (
        candidate(0, "log-loss", baseline=True, seconds=10.0, test=Estimate(0.4, 0.3, 0.5)),
        candidate(1, "ap", seconds=1000.0, test=Estimate(0.7, 0.6, 0.8)),
    )
    run = small_run(candidates)
    x = (10 / 1.4, 1000 * 1.4)
    y = (0.3 - 0.06 * 0.5, 0.8 + 0.06 * 0.5)
    assert dots(run) == {
        "0": pytest.approx((across(10, *x), down(0.4, *y)), abs=0.06),
        "1": pytest.approx((across(1000, *x), down(0.7, *y)), abs=0.06),
    }
    for group, ends in zip(
        time_tree(run).findall(".//svg/g"), [(0.3, 0.5), (0.6, 0.8)], strict=True
    ):
        (line,) = group.findall("line[@class='whisker']")
        (dot,) = group.findall("circle")
        assert line.attrib["x1"] == line.attrib["x2"] == dot.attrib["cx"]
        found = float(line.attrib["y1"]), float(line.attrib["y2"])
        assert found == pytest.approx([down(end, *y) for end in ends], abs=0.06)


def test_one_candidate_is_in_the_middle() -> None:
    assert dots(timed(42.0)) == {"0": ((LEFT + RIGHT) / 2, (TOP + FLOOR) / 2)}


def test_one_value_has_a_twentieth_of_room_on_either_side() -> None:
    marks = time_tree(timed(42.0)).findall(".//svg/text[@x='39']")
    assert [text_of(each) for each in marks] == ["0.46", "0.48", "0.50", "0.52", "0.54"]


def test_equal_times_and_values_lie_on_each_other() -> None:
    found = dots(timed(3.0, 3.0))
    assert found["0"] == found["1"] == ((LEFT + RIGHT) / 2, (TOP + FLOOR) / 2)


def test_half_an_interval_is_no_whisker_and_has_room_yet() -> None:
    half = candidate(0, "a", seconds=5.0, test=Estimate(0.5, nan, 0.9))
    run = small_run((half,), recommended=0)
    assert time_tree(run).findall(".//line[@class='whisker']") == []
    (place,) = dots(run).values()
    assert place[1] == pytest.approx(down(0.5, 0.5 - 0.024, 0.9 + 0.024), abs=0.06)


def test_a_dot_says_who_it_is_in_words() -> None:
    run = small_run(pair(seconds=1000.0, test=Estimate(0.71239, nan, nan)))
    assert text_of(time_tree(run).find(".//circle/title")) == f"ap: 0.712 in 16{THIN}min 40{THIN}s"
    assert captions(run) == [
        f"Test value with its 95{THIN}% interval against time. Up and to the left is better."
    ]
    picture = time_tree(run).find(".//figure//svg")
    assert picture is not None
    assert picture.attrib["aria-label"] == "Average precision against training time"


@pytest.mark.parametrize(
    ("seconds", "marks"),
    [
        ((10, 1000), ["10 s", "1 min", "10 min"]),
        ((600, 36000), ["10 min", "1 h", "10 h"]),
        ((10, 12), ["8 s", "10 s", "15 s"]),
        ((7200, 72000), ["2 h", "5 h", "10 h", "24 h"]),
        ((0.02, 0.2), ["0.02 s", "0.03 s", "0.05 s", "0.1 s", "0.2 s"]),
        ((25_300,), ["5.7 h", "7 h", "8.6 h"]),
        ((60,), ["49 s", "1 min", "1.2 min"]),
    ],
)
def test_marks_are_round_on_a_clock(seconds: tuple[float, ...], marks: list[str]) -> None:
    found = ticks(timed(*seconds))
    assert list(found) == marks
    assert list(found.values()) == sorted(found.values())


@settings(max_examples=30)
@given(st.floats(0.02, 4e4), st.floats(1, 1e4))
def test_marks_and_dots_are_on_one_scale(first: float, ratio: float) -> None:
    run = timed(first, first * ratio)
    low, high = first / 1.4, first * ratio * 1.4
    assert len(ticks(run)) >= 3
    for mark, place in ticks(run).items():
        number, unit = mark.split()
        assert place == pytest.approx(across(float(number) * UNITS[unit], low, high), abs=0.4)
        assert LEFT <= place <= RIGHT
    found = [x for x, _ in dots(run).values()]
    expected = [across(first, low, high), across(first * ratio, low, high)]
    assert found == pytest.approx(expected, abs=0.06)


def test_a_curve_goes_on_in_steps() -> None:
    found = paths(tuned(((1, 0.2), (10, 0.5), (100, 0.5))))
    low, high = 0.2 - 0.06 * 0.3, 0.5 + 0.06 * 0.3
    first, then = (round(down(value, low, high), 1) for value in (0.2, 0.5))
    assert found == {"0": f"M46 {first}L246 {first}L246 {then}L446 {then}"}


def test_curves_share_their_axes() -> None:
    found = paths(tuned(((1, 0.0), (10, 1.0)), ((10, 0.0), (100, 1.0))))
    low, high = (round(down(value, -0.06, 1.06), 1) for value in (0, 1))
    assert found == {
        "0": f"M46 {low}L246 {low}L246 {high}",
        "1": f"M246 {low}L446 {low}L446 {high}",
    }


@pytest.mark.parametrize(
    "more",
    [
        ((10.0, 0.5), (20.0, 0.5), (50.0, 0.5)),  # nothing new
        ((nan, 0.3), (5.0, nan), (10.0, 0.5), (nan, nan)),
    ],
)
def test_points_that_say_nothing_change_nothing(more: Points) -> None:
    ends: Points = ((1.0, 0.2), (10.0, 0.5), (100.0, 0.5))
    assert paths(tuned((ends[0], *more, ends[2]))) == paths(tuned(ends))


def test_a_curve_of_one_point_is_in_the_middle() -> None:
    assert paths(tuned(((5.0, 0.3),))) == {"0": "M246 157"}


@pytest.mark.parametrize(("points", "shown"), [(((5.0, 0.3),), 1), (((1.0, 0.2), (5.0, 0.3)), 0)])
def test_a_candidate_of_one_trial_is_a_dot(points: Points, shown: int) -> None:
    figure = time_tree(tuned(points)).findall("div[@class='pair']/figure")[-1]
    dots = figure.findall(".//circle[@class='dot']")
    assert len(dots) == shown
    assert all(text_of(dot).startswith("c 0: 0.3") for dot in dots)


def test_what_was_there_before_a_hundredth_of_a_second_starts_at_the_left() -> None:
    run = tuned(((0.0, 0.2), (1.0, 0.5)))
    assert paths(run)["0"].startswith("M46 ")
    assert ticks(run)["0.1 s"] == (LEFT + RIGHT) / 2  # of 0.01 to 1


@pytest.mark.parametrize("seconds", [0.0, 0.0025, 0.005])
def test_a_curve_that_ends_before_a_hundredth_of_a_second_is_drawn_yet(seconds: float) -> None:
    assert paths(tuned(((seconds, 0.3),))) == {"0": "M46 157"}


def test_a_long_curve_is_thinned_between_its_ends() -> None:
    points = tuple((1.0 + i, i / 1000) for i in range(1001))
    whole = re.findall(r"([\d.]+) ([\d.]+)", paths(tuned(points))["0"])
    assert 100 < len(whole) < 400
    low, high = -0.06, 1.06
    assert [float(each) for each in whole[0]] == pytest.approx([LEFT, down(0, low, high)], abs=0.06)
    assert [float(each) for each in whole[-1]] == pytest.approx(
        [RIGHT, down(1, low, high)], abs=0.06
    )
    heights = [float(y) for _, y in whole]
    assert heights == sorted(heights, reverse=True)  # downwards is less


def test_both_images_stand_side_by_side_in_the_order_of_reading() -> None:
    run = small_run(pair(seconds=5.0, test=Estimate(0.5, 0.4, 0.6), curve=((1.0, 0.5), (2.0, 0.6))))
    assert len(time_tree(run).findall("div[@class='pair']/figure")) == 2
    assert captions(run)[1] == "The best validation value so far while each candidate was tuned."
    groups = time_tree(run).findall(".//svg/g")
    assert [each.attrib for each in groups] == [{"class": "series best", "data-series": "1"}] * 2


@pytest.mark.parametrize("known", [pair(seconds=5.0, test=Estimate(0.5, nan, nan)), pair()])
def test_every_candidate_has_a_button(known: tuple[Candidate, Candidate]) -> None:
    run = small_run((*known, candidate(2, "tuned", curve=((1.0, 0.5), (2.0, 0.6)))))
    part = time(run)
    assert part is not None
    assert (part.heading, part.charts) == ("Time", {})
    names = [text_of(each) for each in time_tree(run).findall(".//button/span[@class='name']")]
    assert names == ["ap", "log-loss", "tuned"]


def test_names_are_text_and_no_markup_in_time() -> None:
    named = candidate(0, "<b>0", seconds=5.0, test=Estimate(0.5, nan, nan))
    found = time_tree(small_run((named,), recommended=0))
    assert found.find(".//b") is None
    assert text_of(found.find(".//circle/title")).startswith("<b>0: 0.500 in 5.0")
