"""The histogram of each class, and where the classes are in figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.report.comparison.sections.small import (
    SCORES,
    candidate,
    predictions,
    rows_of,
    small_run,
    text_of,
    tree_of,
)

from rankwise.report.comparison.run import Run
from rankwise.report.comparison.sections.scores import scores

THIN = "\u202f"
SHARES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)  # of the rows of the table
ZERO, HALF = 165.0, 129.0  # where the bars start, and the room on either side: (350 − 36 − 56) / 2
BAR = re.compile(r"M([\d.]+) ([\d.]+)V([\d.]+)H([\d.]+)V\2Z")

Bars = list[tuple[float, float, float]]


def run_of(
    target: Sequence[float], chosen: Sequence[float], weight: Sequence[float] | None = None
) -> Run:
    """A run in which the recommended gives these scores, and the baseline others."""
    other = [-5.0 * i for i in range(len(target))]
    return small_run(given=predictions(target, {0: other, 1: chosen}, weight=weight))


def bars(run: Run) -> tuple[Bars, Bars]:
    """Left, right and length of the bars: positives upwards, negatives downwards."""
    found: dict[str, Bars] = {}
    for path in tree_of(scores(run).body).findall(".//svg/path"):
        read = [tuple(map(float, each)) for each in BAR.findall(path.attrib["d"])]
        assert {floor for _, floor, _, _ in read} == {ZERO}
        found[path.attrib["class"]] = [(left, right, ZERO - top) for left, _, top, right in read]
    return found["bars positive"], found["bars negative"]


def lengths(some: Bars) -> list[float]:
    return [length for _, _, length in some]


def table(run: Run) -> list[list[str]]:
    return rows_of(tree_of(scores(run).body).find(".//table"))


def test_every_score_has_its_bar_and_every_class_adds_up_to_one() -> None:
    # Two positives and eight negatives, all apart: bars of 1/2 and of 1/8.
    positives, negatives = bars(small_run())
    assert lengths(positives) == pytest.approx([HALF / 1.08] * 2, abs=0.06)
    assert lengths(negatives) == pytest.approx([-HALF / 1.08 / 4] * 8, abs=0.06)


def test_the_bars_of_two_scores_are_the_first_and_the_last_of_forty() -> None:
    positives, negatives = bars(run_of([1, 1, 0, 0, 0], [1, 1, 0, 0, 0]))
    wide = (606 - 50) / 40
    ((left, right, length),) = positives
    assert (left, right) == pytest.approx((606 - wide + 0.4, 606 - 0.4))
    assert length == pytest.approx(HALF / 1.08, abs=0.06)
    ((left, right, length),) = negatives
    assert (left, right) == pytest.approx((50 + 0.4, 50 + wide - 0.4))
    assert length == pytest.approx(-HALF / 1.08, abs=0.06)


def test_weights_are_counted() -> None:
    positives, negatives = bars(run_of([1, 1, 0, 0], [3, 1, 2, 0], weight=[3, 1, 5, 5]))
    assert lengths(positives) == pytest.approx([HALF / 1.08 / 3, HALF / 1.08], abs=0.06)
    assert lengths(negatives) == pytest.approx([-HALF / 1.08 * 2 / 3] * 2, abs=0.06)


def test_a_row_without_weight_has_no_bar() -> None:
    positives, _ = bars(run_of([1, 1, 0], [3, 2, 1], weight=[0, 1, 1]))
    assert len(positives) == 1


@pytest.mark.parametrize("value", [0.0, -7.0, 1e-9])
def test_scores_that_are_all_tied_are_one_bar_in_the_middle(value: float) -> None:
    positives, negatives = bars(run_of([1, 0, 0], [value] * 3))
    ((left, right, length),) = positives
    (other,) = negatives
    assert other == pytest.approx((left, right, -length))
    assert left - 14 < (50 + 606) / 2 < right + 14


def test_infinite_scores_are_in_the_outer_bars() -> None:
    run = run_of([1, 1, 0, 0], [inf, 2, 1, -inf])
    positives, negatives = bars(run)
    assert positives[-1][1] == 605.6
    assert negatives[0][0] == 50.4
    assert sum(lengths(positives)) == pytest.approx(-sum(lengths(negatives)), abs=0.3)
    assert [table(run)[i][1:] for i in (0, 6)] == [["2.00", "−inf"], ["inf", "1.00"]]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(-40, 40), min_size=1, max_size=25),
    st.lists(st.integers(-40, 40), min_size=1, max_size=25),
)
def test_both_classes_have_the_same_area(positive: list[int], negative: list[int]) -> None:
    target = [1] * len(positive) + [0] * len(negative)
    up, down = (lengths(each) for each in bars(run_of(target, [*positive, *negative])))
    assert min(up) > 0 > max(down)
    # A place is rounded to a tenth of a pixel.
    assert sum(up) == pytest.approx(-sum(down), abs=0.06 * (len(up) + len(down)))
    assert max(*up, *(-each for each in down)) == pytest.approx(HALF / 1.08, abs=0.06)


def test_the_marks_of_both_sides_are_shares_without_a_sign() -> None:
    picture = tree_of(scores(run_of([1, 0], [1, 0])).body).find(".//svg")
    assert picture is not None
    marks = [each for each in picture.findall("text") if each.attrib.get("x") == "43"]
    assert [text_of(each) for each in marks] == ["100 %", "50 %", "0 %", "50 %", "100 %"]
    middle = ZERO + 4
    assert [float(each.attrib["y"]) for each in marks] == pytest.approx(
        [middle + share * HALF / 1.08 for share in (1, 0.5, 0, -0.5, -1)], abs=0.06
    )


def test_the_line_between_the_classes_is_at_zero() -> None:
    picture = tree_of(scores(small_run()).body).find(".//svg")
    assert picture is not None
    lines = [each.attrib for each in picture.findall("line[@class='axis']")]
    assert {(each["x1"], each["x2"]) for each in lines} == {("50", "606")}
    assert [float(each["y1"]) for each in lines] == [294, ZERO]  # the floor, and zero


def test_the_table_by_hand() -> None:
    # 101 positives, 0 to 100, and 21 negatives, −20 to 0: every share is that of a row.
    positive, negative = range(100, -1, -1), range(-20, 1)
    run = run_of([1] * 101 + [0] * 21, [*positive, *negative])
    assert table(run) == [
        ["lowest", "0", "−20"],
        [f"5{THIN}%", "5", "−19"],
        [f"25{THIN}%", "25", "−15"],
        ["median", "50", "−10"],
        [f"75{THIN}%", "75", "−5"],
        [f"95{THIN}%", "95", "−1"],
        ["highest", "100", "0"],
        ["rows", "101", "21"],
    ]


def test_weights_are_counted_in_the_figures() -> None:
    run = run_of([1, 1, 1, 1, 0], [1, 2, 3, 4, 0], weight=[100, 1, 1, 0, 1])
    assert [row[1] for row in table(run)] == ["1.00"] * 6 + ["3.00", "4"]


def test_seven_of_140_rows_are_five_per_cent() -> None:
    assert table(run_of([1] * 140 + [0], range(141)))[1][1] == "6"


def test_one_row_of_a_class_is_all_its_shares() -> None:
    rows = table(run_of([1, 0, 0], [5, 3, 4]))
    assert [row[1] for row in rows] == ["5.00"] * 7 + ["1"]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(-40, 40), min_size=1, max_size=30),
    st.lists(st.integers(-40, 40), min_size=1, max_size=30),
)
def test_figures_are_scores_that_the_share_is_at_or_below(
    positive: list[int], negative: list[int]
) -> None:
    target = [1] * len(positive) + [0] * len(negative)
    rows = table(run_of(target, [*positive, *negative]))
    for column, values in ((1, positive), (2, negative)):
        found = [float(row[column].replace("−", "-")) for row in rows[:-1]]
        assert set(found) <= set(values)
        for score, share in zip(found, SHARES, strict=True):
            below = sum(each < score for each in values)
            through = sum(each <= score for each in values)
            assert below <= share * len(values) + 1e-9
            assert through >= share * len(values) - 1e-9
        assert rows[-1][column] == str(len(values))


@pytest.mark.parametrize(
    ("scale", "highest"),
    [(1000, "9000"), (10, "90.0"), (1, "9.00"), (1e-4, "0.000900"), (0, "0.000")],
)
def test_figures_have_the_digits_that_tell_the_scores_apart(scale: float, highest: str) -> None:
    run = small_run(given=predictions(scores={0: SCORES[0], 1: [scale * s for s in SCORES[1]]}))
    assert table(run)[-2][:2] == ["highest", highest]


def test_an_infinite_score_takes_no_digits_from_the_others() -> None:
    rows = table(run_of([1, 1, 0, 0], [inf, 0.25, 0.75, 0]))
    assert rows[0] == ["lowest", "0.250", "0.000"]


def test_many_rows_are_counted_in_thousands() -> None:
    assert table(run_of([1] + [0] * 1234, range(1235)))[-1] == ["rows", "1", f"1{THIN}234"]


def test_the_scores_are_those_of_the_recommended() -> None:
    given_ = predictions()
    assert table(small_run(given=given_, recommended=0))[0][1] == "5.00"
    assert table(small_run(given=given_, recommended=1))[0][1] == "7.00"


def test_the_section_has_a_picture_with_a_label_and_a_key() -> None:
    part = scores(small_run())
    assert (part.anchor, part.heading) == ("scores", "Scores")
    found = tree_of(part.body)
    picture = found.find(".//svg")
    assert picture is not None
    assert "positives above the line, negatives below it" in picture.attrib["aria-label"]
    chips = {
        each.attrib["class"]: text_of(each) for each in found.findall(".//figcaption/span/span")
    }
    assert chips == {
        "chip positive": "positives, upwards",
        "chip negative": "negatives, downwards",
    }


def test_names_are_text_and_no_markup() -> None:
    run = small_run((candidate(0, "a", baseline=True), candidate(1, "<b>1")))
    found = tree_of(scores(run).body)
    assert found.find(".//b") is None
    assert text_of(found.find("p")).startswith("Scores of <b>1 on the test part.")
