from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from scipy.stats import binomtest
from sklearn.metrics import f1_score, precision_score, recall_score
from tests.report.comparison.sections.small import (
    TARGET,
    candidate,
    predictions,
    small_run,
    text_of,
    tree_of,
)

from rankwise.report.comparison.curves import levels_of
from rankwise.report.comparison.run import Point
from rankwise.report.comparison.sections.threshold import explorer, thresholds_of, unit_range

PROBABILITY = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)


def run_of(probability=PROBABILITY, target=TARGET, weight=None):
    scores = {0: probability, 1: probability}
    return small_run(
        given=predictions(target, scores, probabilities={1: probability}, weight=weight)
    )


def tree(run):
    return tree_of(explorer(run).body)


def panel(run):
    """What is shown of the threshold that it starts at."""
    shown = tree(run).findall(".//dl/div")
    return {text_of(each.find("dt")): text_of(each.find("dd")) for each in shown}


def by_id(run, name):
    return tree(run).find(f".//*[@id='{name}']")


def test_it_starts_at_the_best_f1():
    # F1 of the first one, two, three, … rows: 2/3, 2/4, 4/5, 4/6, …
    assert panel(run_of()) == {
        "threshold": "0.7",
        "flagged": "3",
        "precision": f"{2 / 3:.3f}",
        "precision 95 %": "0.09–0.99",  # Clopper–Pearson of 2 in 3 and of 2 in 2
        "recall": "1.000",
        "recall 95 %": "0.16–1.00",
        "F1": f"{4 / 5:.3f}",
        "true positives": "2",
        "false positives": "1",
        "false negatives": "0",
    }


def test_the_numbers_are_those_of_scikit_learn():
    shown = panel(run_of())
    flagged = np.array(PROBABILITY) >= float(shown["threshold"])
    for name, measure in (
        ("precision", precision_score),
        ("recall", recall_score),
        ("F1", f1_score),
    ):
        assert shown[name] == f"{measure(TARGET, flagged):.3f}"


def test_weights_are_counted():
    # The negative between the two positives weighs 8: the first row alone is now the best.
    shown = panel(run_of(weight=[1, 8, 1, 1, 1, 1, 1, 1, 1, 0.5]))
    assert (shown["threshold"], shown["flagged"]) == ("0.9", "1")
    assert shown["F1"] == f"{2 * 1 / (1 + 2):.3f}"
    assert shown["false negatives"] == "1"


def test_a_threshold_that_is_shown_flags_the_rows_that_are_counted():
    # To three digits all of these are 0.9, which would flag none of them.
    close = (0.89999, 0.89998, 0.89997, 0.89996, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
    run = run_of(close)
    assert panel(run)["threshold"] == "0.89997"
    assert panel(run)["flagged"] == "3"
    assert by_id(run, "threshold-slider").attrib["aria-valuetext"] == "0.89997"
    assert text_of(by_id(run, "cheapest-summary")) == "Cheapest: 1 at a threshold of 0.89997."
    data = explorer(run).charts["threshold"]
    flagged = [sum(each >= cut for each in close) for cut in data["threshold"][:-1]]
    assert flagged == [tp + fp for tp, fp in zip(data["tp"], data["fp"], strict=True)][:-1]


def test_every_threshold_has_what_is_flagged_at_or_above_it():
    data = explorer(run_of()).charts["threshold"]
    assert data["threshold"] == [*reversed(PROBABILITY), None]
    assert data["tp"] == [2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 0]
    assert data["fp"] == [8, 7, 6, 5, 4, 3, 2, 1, 1, 0, 0]
    assert data["positives"] == 2
    assert data["best"] == 7


def test_fractions_of_weight_are_kept_short():
    data = explorer(run_of(weight=[1, 1 / 3, 1, *[1] * 7])).charts["threshold"]
    assert data["fp"][-5:] == [1.333, 0.333, 0.333, 0, 0]
    assert all(type(each) is int for each in data["tp"])


def test_tied_rows_are_flagged_together():
    data = explorer(run_of([0.5, 0.5, 0.5, *[0.25] * 7])).charts["threshold"]
    assert data["threshold"] == [0.25, 0.5, None]
    assert (data["tp"], data["fp"]) == ([2, 2, 0], [8, 1, 0])


def test_one_level_can_be_drawn():
    run = run_of([0.5] * 10)
    assert panel(run)["flagged"] == "10"
    slider = by_id(run, "threshold-slider").attrib
    assert (slider["min"], slider["max"], slider["value"]) == ("0", "1", "0")


def test_the_slider_stands_at_the_best_row_and_says_its_threshold():
    slider = by_id(run_of(), "threshold-slider").attrib
    assert (slider["max"], slider["value"], slider["aria-valuetext"]) == ("10", "7", "0.7")
    label = tree(run_of()).find(".//label[@for='threshold-slider']")
    assert text_of(label) == "Threshold (probability)"


def test_the_marker_stands_where_the_slider_does():
    # Eleven places between 46 and 620 − 14.
    marker = by_id(run_of(), "threshold-marker").attrib
    assert marker["x1"] == marker["x2"]
    assert float(marker["x1"]) == pytest.approx(46 + 0.7 * (620 - 14 - 46), abs=0.06)
    assert (marker["y1"], marker["y2"]) == ("36", f"{350 - 56}")
    assert by_id(run_of(), "cheapest-marker").attrib["x1"] == "-9"


def test_the_lines_are_precision_recall_and_f1():
    # One positive of two among the first four, then the other among all ten.
    found = tree(run_of([*[0.5] * 4, *[0.25] * 6], target=[1, 0, 0, 0, 1, 0, 0, 0, 0, 0]))
    # Heights from 1 at 36 to 0 at 350 − 56; three places at 46, 326, 606, the last flags none.
    low, tall = 350 - 56, 350 - 56 - 36
    precision, recall, f1 = (
        found.find(f".//path[@class='line {name}']").attrib["d"]
        for name in ("precision", "recall", "f1")
    )
    assert precision == f"M46 {low - tall * 2 / 10:g}L326 {low - tall * 1 / 4:g}"
    assert recall == f"M46 36L326 {low - tall * 1 / 2:g}L606 {low}"
    assert f1 == f"M46 {low - tall * 4 / 12:g}L326 {low - tall * 2 / 6:g}L606 {low}"


def test_costs_of_what_is_flagged_to_begin_with():
    # Three rows flagged, one of them false, none missed; a miss costs ten times as much.
    run = run_of()
    assert by_id(run, "cost-fp").attrib["value"] == "1"
    assert by_id(run, "cost-fn").attrib["value"] == "10"
    assert [text_of(by_id(run, f"sum-{n}")) for n in ("fp", "fn", "total")] == ["1", "0", "1"]
    assert text_of(by_id(run, "cheapest-summary")) == "Cheapest: 1 at a threshold of 0.7."


def test_the_cheapest_may_be_elsewhere_than_the_best_f1():
    # The second positive is fifth, behind three negatives: F1 is 2/3 for one row and 4/7 for five.
    run = run_of(target=[1, 0, 0, 0, 1, 0, 0, 0, 0, 0])
    assert panel(run)["threshold"] == "0.9"
    assert [text_of(by_id(run, f"sum-{n}")) for n in ("fp", "fn", "total")] == ["0", "10", "10"]
    assert text_of(by_id(run, "cheapest-summary")) == "Cheapest: 3 at a threshold of 0.5."


def test_to_flag_nothing_may_be_the_cheapest():
    run = run_of([0.5] * 12, target=[1, *[0] * 11])
    assert text_of(by_id(run, "cheapest-summary")) == "Cheapest: 10 at no row flagged."
    assert text_of(by_id(run, "sum-total")) == "11"


def test_without_probabilities_scores_are_moved_and_it_is_said():
    found = tree(small_run())
    assert "no calibrated probabilities: the threshold is on scores" in text_of(found.find("p"))
    label = found.find(".//label[@for='threshold-slider']")
    assert text_of(label) == "Threshold (score scaled to 0–1)"
    data = explorer(small_run()).charts["threshold"]
    assert data["threshold"] == [
        0, 0.111, 0.222, 0.333, 0.444, 0.555, 0.666, 0.777, 0.888, 1, None,
    ]  # fmt: skip
    assert "no calibrated probabilities" not in text_of(tree(run_of()).find("p"))


def test_infinite_scores_stand_at_the_ends():
    run = small_run(given=predictions([1, 0, 1, 0], {0: [0] * 4, 1: [np.inf, 3, 2, -np.inf]}))
    assert explorer(run).charts["threshold"]["threshold"] == [0, 1, None]


def test_every_box_has_a_label():
    found = tree(run_of())
    boxes = {each.attrib["id"] for each in found.findall(".//input")}
    assert boxes == {each.attrib["for"] for each in found.findall(".//label")}


def test_names_are_text_and_no_markup():
    run = small_run((candidate(0, "a", baseline=True), candidate(1, "<b>1")))
    assert tree(run).find(".//b") is None
    assert "are flagged by <b>1. " in text_of(tree(run).find("p"))


def thresholds_data(seed, rows=3000):
    rng = np.random.default_rng(seed)
    target = (rng.random(rows) < 0.05).astype(float)
    target[:2] = [0, 1]
    return np.round(rng.normal(size=rows) + 2 * target, 3), target, rng.integers(1, 4, rows) * 1.0


@settings(max_examples=30)
@given(st.integers(0, 50), st.floats(0, 100), st.floats(0, 100))
def test_the_cheapest_row_is_the_cheapest_of_all_thresholds(seed, false_positive, false_negative):
    scores, target, weight = thresholds_data(seed, 300)
    levels = levels_of(scores, target, weight)
    rows = thresholds_of(levels)
    missed = levels.positives[-1] - np.append(levels.positives, 0)
    every = false_positive * np.append(levels.negatives, 0) + false_negative * missed
    at = rows.cheapest(false_positive, false_negative)
    cost = false_positive * rows.false_positives[at]
    cost += false_negative * (rows.positives - rows.true_positives[at])
    assert cost == pytest.approx(every.min(), rel=1e-12, abs=1e-9)


def test_rows_count_what_is_at_or_above_them():
    scores, target, weight = thresholds_data(1)
    rows = thresholds_of(levels_of(scores, target, weight))
    assert (np.diff(rows.threshold) > 0).all()
    assert scores.min() - 0.01 < rows.threshold[0] <= scores.min()
    assert np.isinf(rows.threshold[-1])
    assert len(rows.threshold) < 400
    for at in range(0, len(rows.threshold), 17):
        flagged = scores >= rows.threshold[at]
        assert rows.true_positives[at] == weight[flagged & (target == 1)].sum()
        assert rows.false_positives[at] == weight[flagged & (target == 0)].sum()


@pytest.mark.parametrize(
    ("scores", "thresholds"),
    [
        ([0.2, 0.7], [0.2, 0.7]),
        ([1 / 3, 2 / 3], [0.333, 0.666]),  # 0.667 would not flag the last row
        ([0.12341, 0.12349], [0.123, 0.12349]),  # 0.1234 would flag both
        ([0.1, 0.1 + 2**-56], [0.1, 0.1 + 2**-56]),  # nothing lies between the two
        ([-2 / 3, -1 / 3], [-0.667, -0.334]),
        ([2e-9, 123456.0], [2e-9, 123000.0]),
    ],
)
def test_thresholds_have_no_more_digits_than_they_need(scores, thresholds):
    rows = thresholds_of(levels_of(np.array(scores), np.array([0.0, 1.0]), np.ones(2)))
    assert rows.threshold.tolist() == [*thresholds, np.inf]


def test_the_level_below_a_threshold_may_be_one_that_is_not_kept():
    scores = 0.5 + np.arange(5000) / 1e8
    rows = thresholds_of(levels_of(scores, (np.arange(5000) > 2500) * 1.0, np.ones(5000)))
    assert len(rows.threshold) < 400
    for at in range(len(rows.threshold)):
        flagged = (scores >= rows.threshold[at]).sum()
        assert flagged == rows.true_positives[at] + rows.false_positives[at]


def test_the_best_f1_is_exact():
    scores, target, weight = thresholds_data(2)
    levels = levels_of(scores, target, weight)
    rows = thresholds_of(levels)
    every = 2 * levels.positives / (levels.flagged + levels.positives[-1])
    tp, fp = rows.true_positives[rows.best_f1], rows.false_positives[rows.best_f1]
    assert 2 * tp / (tp + fp + rows.positives) == every.max()


def test_one_level_only():
    rows = thresholds_of(levels_of(np.zeros(4), np.array([0.0, 1, 0, 0]), np.ones(4)))
    assert rows.threshold.tolist() == [0, np.inf]
    assert rows.cheapest(1, 10) == 0
    assert rows.cheapest(10, 1) == 1


def test_unit_range():
    assert unit_range(np.array([2.0, 4.0, 3.0])).tolist() == [0, 1, 0.5]
    assert unit_range(np.array([-np.inf, 0.0, 1.0, np.inf])).tolist() == [0, 0, 1, 1]
    assert unit_range(np.array([5.0, 5.0])).tolist() == [0.5, 0.5]
    assert unit_range(np.array([-1.7e308, 1.7e308])).tolist() == [0, 1]


def with_rule(threshold, rule="precision>=0.6@95%", **more):
    rates = {"precision": {"value": 2 / 3, "low": 0.1, "high": 0.99}}
    point = {"rule": rule, "threshold": threshold, "flagged": 3, "rates": rates, **more}
    run = run_of()
    return replace(run, operating_point=TypeAdapter(Point).validate_python(point))


def test_it_starts_at_the_threshold_of_the_rule():
    run = with_rule(0.55, meaning="It holds.")
    assert panel(run)["flagged"] == "4"
    assert panel(run)["threshold"] == "0.6"  # the lowest value above 0.55
    assert explorer(run).charts["threshold"]["rule"] == 6
    assert explorer(run).charts["threshold"]["best"] == 7
    assert text_of(by_id(run, "by-rule")) == "precision>=0.6@95%"
    words = text_of(tree(run))
    assert "precision>=0.6@95%: probability above 0.55: 3 rows flagged" in words
    assert "precision 0.667 (0.100 – 0.990). It holds." in words


def test_a_rule_that_flags_nothing_stands_at_the_end():
    run = with_rule(0.9)
    assert panel(run)["flagged"] == "0"
    assert panel(run)["precision"] == "–"
    assert panel(run)["precision 95 %"] == "0.00–1.00"


def test_without_a_rule_there_is_no_button():
    assert by_id(run_of(), "by-rule") is None
    assert explorer(run_of()).charts["threshold"]["rule"] is None


def test_the_ends_of_the_slider_are_exact_intervals():
    data = explorer(run_of()).charts["threshold"]
    for tp, fp, (low, high) in zip(data["tp"], data["fp"], data["precision_ends"], strict=True):
        if tp + fp:
            expected = binomtest(tp, tp + fp).proportion_ci(0.95, method="exact")
            assert (low, high) == pytest.approx((expected.low, expected.high), abs=6e-4)
