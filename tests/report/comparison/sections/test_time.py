"""The metric against time: where candidates end, and how tuning goes on."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from math import log, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.report.comparison.sections.small import candidate, pair, small_run, text_of, tree_of

from rankwise.report.comparison.run import Candidate, Estimate, Run
from rankwise.report.comparison.sections.time import time

THIN = "\u202f"
LEFT, RIGHT, TOP, FLOOR = 46, 446, 30, 284
UNITS = {"s": 1, "min": 60, "h": 3600}

Curve = tuple[tuple[float, float], ...]


def tree(run: Run) -> ET.Element:
    part = time(run)
    assert part is not None
    return tree_of(part.body)


def captions(run: Run) -> list[str]:
    return [text_of(each) for each in tree(run).findall(".//figcaption")]


def timed(*seconds: float) -> Run:
    """Candidates of which these times are known, and a value each."""
    known = Estimate(0.5, nan, nan)
    each = [candidate(i, f"c {i}", seconds=s, test=known) for i, s in enumerate(seconds)]
    return small_run(tuple(each), recommended=0)


def tuned(*curves: Curve) -> Run:
    each = [candidate(i, f"c {i}", curve=curve) for i, curve in enumerate(curves)]
    return small_run(tuple(each), recommended=0)


def ticks(run: Run) -> dict[str, float]:
    """The marks of the axis of time, and their places."""
    found = tree(run).findall(".//svg[@role='img']/text[@text-anchor='middle']")
    return {text_of(each): float(each.attrib["x"]) for each in found}


def dots(run: Run) -> dict[str, tuple[float, float]]:
    """Places of the dots by the number of their candidate."""
    return {
        group.attrib["data-series"]: (float(dot.attrib["cx"]), float(dot.attrib["cy"]))
        for group in tree(run).findall(".//svg/g")
        for dot in group.findall("circle")
    }


def paths(run: Run) -> dict[str, str]:
    return {
        group.attrib["data-series"]: path.attrib["d"]
        for group in tree(run).findall(".//svg/g")
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
    for group, ends in zip(tree(run).findall(".//svg/g"), [(0.3, 0.5), (0.6, 0.8)], strict=True):
        (line,) = group.findall("line[@class='whisker']")
        (dot,) = group.findall("circle")
        assert line.attrib["x1"] == line.attrib["x2"] == dot.attrib["cx"]
        found = float(line.attrib["y1"]), float(line.attrib["y2"])
        assert found == pytest.approx([down(end, *y) for end in ends], abs=0.06)


def test_one_candidate_is_in_the_middle() -> None:
    assert dots(timed(42.0)) == {"0": ((LEFT + RIGHT) / 2, (TOP + FLOOR) / 2)}


def test_one_value_has_a_twentieth_of_room_on_either_side() -> None:
    marks = tree(timed(42.0)).findall(".//svg/text[@x='39']")
    assert [text_of(each) for each in marks] == ["0.46", "0.48", "0.50", "0.52", "0.54"]


def test_equal_times_and_values_lie_on_each_other() -> None:
    found = dots(timed(3.0, 3.0))
    assert found["0"] == found["1"] == ((LEFT + RIGHT) / 2, (TOP + FLOOR) / 2)


def test_half_an_interval_is_no_whisker_and_has_room_yet() -> None:
    half = candidate(0, "a", seconds=5.0, test=Estimate(0.5, nan, 0.9))
    run = small_run((half,), recommended=0)
    assert tree(run).findall(".//line[@class='whisker']") == []
    (place,) = dots(run).values()
    assert place[1] == pytest.approx(down(0.5, 0.5 - 0.024, 0.9 + 0.024), abs=0.06)


def test_a_dot_says_who_it_is_in_words() -> None:
    run = small_run(pair(seconds=1000.0, test=Estimate(0.71239, nan, nan)))
    assert text_of(tree(run).find(".//circle/title")) == f"ap: 0.712 in 16{THIN}min 40{THIN}s"
    assert captions(run) == [
        f"Test value with its 95{THIN}% interval against time. Up and to the left is better."
    ]
    picture = tree(run).find(".//figure//svg")
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


@settings(max_examples=30, deadline=None)
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
def test_points_that_say_nothing_change_nothing(more: Curve) -> None:
    ends: Curve = ((1.0, 0.2), (10.0, 0.5), (100.0, 0.5))
    assert paths(tuned((ends[0], *more, ends[2]))) == paths(tuned(ends))


def test_a_curve_of_one_point_is_in_the_middle() -> None:
    assert paths(tuned(((5.0, 0.3),))) == {"0": "M246 157"}


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
    assert len(tree(run).findall("div[@class='pair']/figure")) == 2
    assert captions(run)[1] == "The best validation value so far while each candidate was tuned."
    groups = tree(run).findall(".//svg/g")
    assert [each.attrib for each in groups] == [{"class": "series best", "data-series": "1"}] * 2


@pytest.mark.parametrize("known", [pair(seconds=5.0, test=Estimate(0.5, nan, nan)), pair()])
def test_every_candidate_has_a_button(known: tuple[Candidate, Candidate]) -> None:
    run = small_run((*known, candidate(2, "tuned", curve=((1.0, 0.5), (2.0, 0.6)))))
    part = time(run)
    assert part is not None
    assert (part.anchor, part.heading, part.charts) == ("time", "Time", {})
    names = [text_of(each) for each in tree(run).findall(".//button/span[@class='name']")]
    assert names == ["ap", "log-loss", "tuned"]


def test_names_are_text_and_no_markup() -> None:
    named = candidate(0, "<b>0", seconds=5.0, test=Estimate(0.5, nan, nan))
    found = tree(small_run((named,), recommended=0))
    assert found.find(".//b") is None
    assert text_of(found.find(".//circle/title")).startswith("<b>0: 0.500 in 5.0")
