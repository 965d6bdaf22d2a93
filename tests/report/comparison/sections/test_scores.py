"""The histogram of each class, and where the classes are in figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss
from tests.report.comparison.sections.small import (
    SCORES,
    TARGET,
    candidate,
    predictions,
    rows_of,
    small_run,
    text_of,
    tree_of,
)

from rankwise.report.comparison.run import Predictions, Run
from rankwise.report.comparison.sections.scores import (
    BARS,
    calibration,
    groups,
    histogram_of,
    scores,
    values_by_group,
)
from rankwise.report.verdict import Record

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


@settings(max_examples=30)
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


@settings(max_examples=30)
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


def test_the_section_has_a_image_with_a_label_and_a_key() -> None:
    part = scores(small_run())
    assert part.heading == "Scores"
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


# Two levels that are far apart: of those said to be 0.75 one of two is positive, of the others 1/8.
TWO = (0.75, 0.75, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125)


def calibration_run_of(weight=None, **probabilities):
    by_number = {int(name[1:]): each for name, each in probabilities.items()}
    return small_run(given=predictions(probabilities=by_number, weight=weight))


def tree(run):
    return tree_of(calibration(run).body)


def brier(run):
    return next(text_of(p) for p in tree(run).findall("p") if "Brier" in text_of(p))


def test_without_probabilities_there_is_nothing_to_compare_and_it_is_said():
    found = tree(small_run())
    assert text_of(found) == (
        "This run has no calibrated probabilities, so there is nothing to compare."
    )
    assert found.find(".//svg") is None


def test_probabilities_of_another_candidate_do_not_stand_in():
    assert "nothing to compare" in text_of(tree(calibration_run_of(_0=TWO)))


def test_bins_by_hand():
    heads = tree(calibration_run_of(_1=TWO)).findall(".//table/thead/tr/th")
    assert [text_of(each) for each in heads] == ["Predicted", "Observed", "Rows", "Positive"]
    assert rows_of(tree(calibration_run_of(_1=TWO)).find(".//table")) == [
        [f"12.5{THIN}%", f"12.5{THIN}%", "8", "1"],
        [f"75.0{THIN}%", f"50.0{THIN}%", "2", "1"],
    ]


def test_weights_are_counted_in_calibration():
    weight = [3, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    assert rows_of(tree(calibration_run_of(weight, _1=TWO)).find(".//table"))[1] == [
        f"75.0{THIN}%",
        f"{100 * 3 / 4:.1f}{THIN}%",
        "4",
        "3",
    ]


def test_a_bin_without_weight_is_in_the_table_with_a_dash_and_not_in_the_image():
    found = tree(calibration_run_of([0, 0, 1, 1, 1, 1, 1, 1, 1, 1], _1=TWO))
    assert rows_of(found.find(".//table")) == [
        [f"12.5{THIN}%", f"12.5{THIN}%", "8", "1"],
        [f"75.0{THIN}%", "–", "0", "0"],
    ]
    assert len(found.findall(".//circle")) == 1


def test_dots_are_where_predicted_and_observed_meet():
    # Of two rows one positive: the axes end a bit above Wilson's interval.
    found = tree(calibration_run_of(_1=TWO))
    z, n = 1.959964, 2
    center = (0.5 + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * (0.25 / n + z**2 / (4 * n**2)) ** 0.5
    top = min(1.0, 1.05 * (center + reach))
    last = found.findall(".//circle")[-1]
    assert float(last.attrib["cx"]) == pytest.approx(46 + 400 * 0.75 / top, abs=0.06)
    assert float(last.attrib["cy"]) == pytest.approx(284 - 254 * 0.5 / top, abs=0.06)
    whisker = found.findall(".//line[@class='whisker']")[-1].attrib
    assert float(whisker["y1"]) == pytest.approx(284 - 254 * (center - reach) / top, abs=0.06)
    assert float(whisker["y2"]) == pytest.approx(284 - 254 * (center + reach) / top, abs=0.06)
    assert text_of(last) == f"predicted 75.0{THIN}%, observed 50.0{THIN}%: 1 of 2"


def test_the_diagonal_is_drawn_from_corner_to_corner():
    path = tree(calibration_run_of(_1=TWO)).find(".//path[@class='chance']").attrib["d"]
    assert path == "M46 284L446 30"


def test_brier_scores_are_those_of_scikit_learn():
    other = tuple(each / 10 for each in SCORES[0])
    told = brier(calibration_run_of(_0=other, _1=TWO))
    assert told == (
        f"Brier score (lower is better): {brier_score_loss(TARGET, TWO):.4f} for ap; "
        f"{brier_score_loss(TARGET, other):.4f} for log-loss; "
        f"{0.2 * 0.8:.4f} for predicting 20.0{THIN}% for every row."
    )


def test_weighted_brier_scores_are_those_of_scikit_learn():
    weight = [1, 2, 3, 1, 1, 1, 1, 1, 1, 4]
    told = brier(calibration_run_of(weight, _1=TWO))
    prior = (1 + 3) / 16
    assert re.findall(r"\d\.\d{4}", told) == [
        f"{brier_score_loss(TARGET, TWO, sample_weight=weight):.4f}",
        f"{prior * (1 - prior):.4f}",
    ]


def test_a_baseline_that_won_is_told_once():
    given = predictions(probabilities={0: TWO})
    told = brier(small_run(given=given, recommended=0))
    assert told.count("log-loss") == 1


def test_candidates_of_one_name_are_both_told():
    other = tuple(each / 10 for each in SCORES[0])
    names = candidate(0, "linear", baseline=True), candidate(1, "linear")
    told = brier(small_run(names, predictions(probabilities={0: other, 1: TWO})))
    assert f"{brier_score_loss(TARGET, TWO):.4f} for linear; " in told
    assert f"{brier_score_loss(TARGET, other):.4f} for linear; " in told


def test_one_probability_for_all_is_one_bin():
    found = tree(calibration_run_of(_1=[0.2] * 10))
    assert rows_of(found.find(".//table")) == [[f"20.0{THIN}%", f"20.0{THIN}%", "10", "2"]]
    assert len(found.findall(".//circle")) == 1


@pytest.mark.parametrize("said", [0.0, 1.0])
def test_probabilities_at_the_ends_can_be_drawn(said):
    found = tree(calibration_run_of(_1=[said] * 10))
    shown = "0" if said == 0 else "100"
    assert rows_of(found.find(".//table"))[0][:2] == [f"{shown}{THIN}%", f"20.0{THIN}%"]


def test_names_are_text_and_no_markup_in_calibration():
    names = candidate(0, "<b>0", baseline=True), candidate(1, "<b>1")
    run = small_run(names, predictions(probabilities={0: TWO, 1: TWO}))
    assert tree(run).find(".//b") is None
    assert " for <b>1; " in brier(run)
    assert " for <b>0; " in brier(run)


# Three rows in each list. Average precision of the recommended: 1, 1/2, 1; of the baseline: 1/2,
# 1/2, 1/3 — and in a fourth list there is nothing to find.
LIST_TARGET = (1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0)
GROUP = (0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3)
LIST_SCORES = {0: (2, 3, 1, 3, 2, 1, 3, 2, 1, 3, 2, 1), 1: (3, 2, 1, 3, 2, 1, 1, 2, 3, 3, 2, 1)}


def groups_run_of(candidates=None, target=LIST_TARGET, scores=LIST_SCORES, group=GROUP, **known):
    return small_run(candidates, predictions(target, scores, group=group), **known)


def groups_tree(run):
    return tree_of(groups(run).body)


def told(run):
    return text_of(groups_tree(run).find("p"))


def captions(run):
    return [text_of(each) for each in groups_tree(run).findall(".//figcaption")]


def groups_bars(run):
    """The shape of the groups_bars of each picture."""
    return [each.attrib["d"] for each in groups_tree(run).findall(".//path[@class='bars']")]


def test_lists_are_compared_one_by_one():
    assert "Against log-loss, list by list: better in 2, equal in 1, worse in 0." in told(
        groups_run_of()
    )
    turned = groups_run_of(recommended=1, scores={0: LIST_SCORES[1], 1: LIST_SCORES[0]})
    assert "better in 0, equal in 1, worse in 2." in told(turned)


def test_lists_without_a_value_are_counted_and_left_out():
    assert told(groups_run_of()).startswith("The metric is a mean over 3 lists of the test part;")
    assert "Lists with nothing to rank, which have no value: 1. " in told(groups_run_of())


def test_where_every_list_has_a_value_none_is_said_to_be_left_out():
    three = {number: each[:9] for number, each in LIST_SCORES.items()}
    run = groups_run_of(target=LIST_TARGET[:9], scores=three, group=GROUP[:9])
    assert "a mean over 3 lists" in told(run)
    assert "nothing to rank" not in told(run)


def test_one_list_is_told_as_one():
    run = groups_run_of(target=[1, 0, 0], scores={0: [1, 2, 3], 1: [3, 2, 1]}, group=[0, 0, 0])
    assert told(run).startswith("The metric is a mean over 1 list of the test part;")


def test_medians_are_over_lists_with_a_value():
    assert captions(groups_run_of()) == ["ap: median 1.000.", "log-loss: median 0.500."]


def test_shares_are_drawn_over_twenty_bars():
    # Of the recommended two lists of three are in the last bar, from 0.95 to 1, and one in that
    # from 0.5 to 0.55; the tallest bar, 2/3 in both pictures, leaves a bit of room above it.
    best, base = groups_bars(groups_run_of())
    tall, short = 284 - 254 / 1.08, 284 - 254 / 1.08 / 2

    def bar(place, height):
        left, right = 46 + 400 * place / 20 + 0.4, 46 + 400 * (place + 1) / 20 - 0.4
        return f"M{left:.5g} 284V{height:.1f}H{right:.5g}V284Z"

    assert best == bar(10, short) + bar(19, tall)
    assert base == bar(6, short) + bar(10, tall)


def test_heights_are_shares_of_the_lists_with_a_value():
    # The axes end at 1.08 of the tallest bar, which is 2/3.
    shown = [text_of(each) for each in groups_tree(groups_run_of()).findall(".//svg/text")]
    shares = [each for each in shown if each.endswith(" %")]
    assert shares == ["0 %", "20 %", "40 %", "60 %"] * 2


def test_candidates_that_tie_everything_are_equal():
    # One positive tied with two negatives has the precision 1/3 at its score.
    run = groups_run_of(target=[1, 0, 0], scores={0: [1, 1, 1], 1: [2, 2, 2]}, group=[0, 0, 0])
    assert captions(run)[0] == f"ap: median {1 / 3:.3f}."
    assert "better in 0, equal in 1, worse in 0." in told(run)


def test_lists_of_one_class_only_have_no_histogram_and_no_median():
    run = groups_run_of(target=[0] * 12)
    assert "a mean over 0 lists" in told(run)
    assert "which have no value: 4." in told(run)
    assert "better in 0, equal in 0, worse in 0." in told(run)
    assert captions(run) == ["ap: median –.", "log-loss: median –."]
    assert groups_bars(run) == ["", ""]


def test_graded_lists_are_measured_by_their_metric():
    # The best order has gains 3, 1, 0; with the first two exchanged 1 + 3 / log2(3) is left.
    given = {0: [2, 3, 1], 1: [3, 2, 1]}
    run = groups_run_of(target=[2, 1, 0], scores=given, group=[0, 0, 0], metric="ndcg")
    ideal, turned = 3 + 1 / 1.5849625, 1 + 3 / 1.5849625
    assert captions(run) == ["ap: median 1.000.", f"log-loss: median {turned / ideal:.3f}."]
    labels = [each.attrib["aria-label"] for each in groups_tree(run).findall(".//svg")]
    assert labels == ["Histogram of NDCG over lists, ap", "Histogram of NDCG over lists, log-loss"]


@pytest.mark.parametrize(
    ("candidates", "recommended", "scores"),
    [
        ((candidate(0, "a", baseline=True), candidate(1, "b")), 0, LIST_SCORES),  # the baseline won
        ((candidate(0, "a"), candidate(1, "b")), 0, LIST_SCORES),  # there is none
        (
            (candidate(0, "a"), candidate(1, "b", baseline=True)),
            0,
            {0: LIST_SCORES[0]},
        ),  # no scores
    ],
)
def test_without_a_baseline_beside_it_there_is_one_image(candidates, recommended, scores):
    run = groups_run_of(candidates, scores=scores, recommended=recommended)
    assert captions(run) == ["a: median 0.500."]
    assert "Against" not in told(run)


def test_a_metric_that_is_not_known_is_named():
    with pytest.raises(ValueError, match="my metric"):
        groups(groups_run_of(metric="my metric"))


def test_names_are_text_and_no_markup_in_groups():
    run = groups_run_of((candidate(0, "<b>0", baseline=True), candidate(1, "<b>1")))
    assert groups_tree(run).find(".//b") is None
    assert captions(run)[0] == "<b>1: median 1.000."
    assert "Against <b>0, list by list" in told(run)
    assert [each.attrib["aria-label"][-4:] for each in groups_tree(run).findall(".//svg")] == [
        "<b>1",
        "<b>0",
    ]


def test_each_class_adds_up_to_one():
    rng = np.random.default_rng(0)
    target = (rng.random(900) < 0.1).astype(float)
    scores, weight = rng.standard_cauchy(900), rng.random(900)
    edges, positives, negatives = histogram_of(scores, target, weight)
    assert len(edges) == BARS + 1
    assert positives.sum() == pytest.approx(1)
    assert negatives.sum() == pytest.approx(1)


def test_bars_by_hand():
    target = np.repeat([0.0, 1.0], 100)
    scores = np.concatenate([np.zeros(100), np.repeat([0.0, 1.0], [25, 75])])
    _, positives, negatives = histogram_of(scores, target, np.ones(200))
    assert negatives[0] == 1
    assert positives[[0, -1]].tolist() == [0.25, 0.75]


@pytest.mark.parametrize("scores", [[1.0, 1.0, 1.0], [-np.inf, 0.0, np.inf], [np.inf] * 3])
def test_odd_scores_are_counted_all_the_same(scores):
    target = np.array([0.0, 1.0, 1.0])
    edges, positives, negatives = histogram_of(np.array(scores), target, np.ones(3))
    assert positives.sum() == pytest.approx(1)
    assert negatives.sum() == pytest.approx(1)
    assert np.isfinite(edges).all()


def arrays(scores, target, group, weight=None):
    weight = np.ones(len(target)) if weight is None else weight
    return Predictions(np.array(target), weight, np.array(group), {0: np.array(scores)}, {})


def test_one_value_per_list_and_none_for_one_class():
    given = arrays(
        [3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 0.0], [1.0, 0, 0, 0, 1.0, 0, 0], [0, 0, 0, 1, 1, 2, 2]
    )
    values = values_by_group("ap", given, 0)
    assert values[:2].tolist() == [1, 1 / 2]
    assert np.isnan(values[2])
    assert values_by_group("precision@1", given, 0)[:2].tolist() == [1, 0]


def test_weights_are_used():
    given = arrays([2.0, 1.0], [0.0, 1.0], [0, 0], np.array([3.0, 1.0]))
    assert values_by_group("ap", given, 0) == pytest.approx([1 / 4])


def test_lists_are_compared_where_both_have_a_value():
    found = Record.of(np.array([1.0, 0.5, np.nan, 0.2, 0.2]) - np.array([0.5, 0.5, 1, np.nan, 0.9]))
    assert found == (1, 1, 1)
