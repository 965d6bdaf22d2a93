from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise.report.charts import (
    Axis,
    Frame,
    area,
    bars,
    dot,
    line,
    linear_axis,
    log_axis,
    steps,
    whisker,
)

NUMBERS = st.floats(-1e6, 1e6)


def test_round_ticks():
    assert [text for _, text in linear_axis("", 0, 1).ticks] == [
        "0.0", "0.2", "0.4", "0.6", "0.8", "1.0",
    ]  # fmt: skip
    assert [text for _, text in linear_axis("", -3, 5).ticks] == ["−2", "0", "2", "4"]
    assert [text for _, text in linear_axis("", 0, 54).ticks] == ["0", "10", "20", "30", "40", "50"]


@given(NUMBERS, st.floats(1e-6, 1e6))
def test_ticks_are_few_and_inside(low, length):
    axis = linear_axis("", low, low + length)
    assert 2 <= len(axis.ticks) <= 7
    slack = 1e-6 * length + 1e-9
    assert all(axis.low - slack <= value <= axis.high + slack for value, _ in axis.ticks)


def test_an_empty_range_is_widened():
    axis = linear_axis("", 2, 2)
    assert axis.at(2) == 0.5
    assert log_axis("", 3, 3, (1, 3, 10), str).at(3) == pytest.approx(0.5)


def test_a_logarithmic_axis():
    axis = log_axis("", 1, 100, (1, 10, 100, 1000), lambda v: f"{v:g}")
    assert [axis.at(value) for value in (0, 1, 10, 100, 1e9)] == pytest.approx([0, 0, 0.5, 1, 1])
    assert [text for _, text in axis.ticks] == ["1", "10", "100"]
    crowded = log_axis("", 1, 1000, range(1, 1001), str)
    assert 3 <= len(crowded.ticks) <= 9


def test_a_frame_is_valid_svg_with_its_texts_escaped():
    frame = Frame(Axis("x < y", 0, 1, ((0.5, "<b>"),)), linear_axis("y & z", 0, 1))
    assert frame.x(0) == frame.left
    assert frame.x(1) == frame.end < frame.width
    assert frame.y(0) == frame.floor < frame.height
    assert frame.y(1) == frame.top
    root = ET.fromstring(frame.render(label='a "b"', chart="pr"))
    texts = [each.text for each in root.iter("text")]
    assert {"x < y", "y & z", "<b>"} <= set(texts)
    assert root.get("aria-label") == 'a "b"'
    assert root.get("tabindex") == "0"
    assert ET.fromstring(frame.render(label="")).get("data-chart") is None


# Ten pixels to the unit: 10 is at the right end and at the top.
FRAME = Frame(
    linear_axis("", 0, 10), linear_axis("", 0, 10), width=100, height=100,
    left=0, end=100, top=0, floor=100,
)  # fmt: skip


def test_a_line_leaves_out_points_that_repeat():
    assert (
        line(FRAME, [0, 5, 5, 10], [0, 5, 5, 10])
        == '<path class="line" d="M0 100L50 50L100 0"></path>'
    )


def test_an_area_goes_there_above_and_back_below():
    assert 'd="M0 0L100 50L100 100L0 100Z"' in area(FRAME, [0, 10], [0, 0], [10, 5])


def test_steps_stay_until_the_next_point():
    assert 'd="M10 80L30 80L30 60"' in steps(FRAME, [(1, 2), (3, 4)])


def test_bars_of_no_height_are_not_drawn():
    drawn = bars(FRAME, [0, 1, 2], [0, 5], "bars")
    assert drawn.count("M") == 1
    assert "M10.4 100V50H19.6V100Z" in drawn


def test_points():
    assert dot(FRAME, 1, 1, 2.0, "a < b") == (
        '<circle class="dot" cx="10" cy="90" r="2"><title>a &lt; b</title></circle>'
    )
    assert 'x1="10" x2="10" y1="90" y2="70"' in whisker(FRAME, 1, 1, 3)
