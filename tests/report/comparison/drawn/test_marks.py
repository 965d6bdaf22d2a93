from __future__ import annotations

from rankwise.report.comparison.drawn import (
    Frame,
    area,
    bars,
    dot,
    line,
    linear_axis,
    steps,
    whisker,
)

# Ten pixels to the unit: 10 is at the right end and at the top.
FRAME = Frame(
    linear_axis("", 0, 10), linear_axis("", 0, 10), width=100, height=100,
    left=0, right=0, top=0, bottom=0,
)  # fmt: skip


def test_a_line_leaves_out_points_that_repeat():
    assert (
        line(FRAME, [0, 5, 5, 10], [0, 5, 5, 10])
        == '<path class="line" d="M0 100L50 50L100 0"></path>'
    )


def test_an_area_goes_there_above_and_back_below():
    assert 'd="M0 0L100 50L100 100L0 100Z"' in area(FRAME, [0, 10], [0, 0], [10, 5])


def test_steps_stay_until_the_next_point():
    drawn = steps(FRAME, [(1, 2), (3, 4)], 10)
    assert 'd="M10 80L30 80L30 60L100 60"' in drawn


def test_bars_of_no_height_are_not_drawn():
    drawn = bars(FRAME, [0, 1, 2], [0, 5], "bars")
    assert drawn.count("M") == 1
    assert "M10.4 100V50H19.6V100Z" in drawn


def test_points():
    assert dot(FRAME, 1, 1, 2.0, "a < b") == (
        '<circle class="dot" cx="10" cy="90" r="2"><title>a &lt; b</title></circle>'
    )
    assert 'x1="10" x2="10" y1="90" y2="70"' in whisker(FRAME, 1, 1, 3)
