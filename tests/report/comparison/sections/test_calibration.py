from __future__ import annotations

import re

import pytest
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

from rankwise.report.comparison.sections.calibration import calibration

THIN = "\u202f"

# Two levels that are far apart: of those said to be 0.75 one of two is positive, of the others 1/8.
TWO = (0.75, 0.75, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125)


def run_of(weight=None, **probabilities):
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
    assert "nothing to compare" in text_of(tree(run_of(_0=TWO)))


def test_bins_by_hand():
    heads = tree(run_of(_1=TWO)).findall(".//table/thead/tr/th")
    assert [text_of(each) for each in heads] == ["Predicted", "Observed", "Rows", "Positive"]
    assert rows_of(tree(run_of(_1=TWO)).find(".//table")) == [
        [f"12.5{THIN}%", f"12.5{THIN}%", "8", "1"],
        [f"75.0{THIN}%", f"50.0{THIN}%", "2", "1"],
    ]


def test_weights_are_counted():
    weight = [3, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    assert rows_of(tree(run_of(weight, _1=TWO)).find(".//table"))[1] == [
        f"75.0{THIN}%",
        f"{100 * 3 / 4:.1f}{THIN}%",
        "4",
        "3",
    ]


def test_a_bin_without_weight_is_in_the_table_with_a_dash_and_not_in_the_picture():
    found = tree(run_of([0, 0, 1, 1, 1, 1, 1, 1, 1, 1], _1=TWO))
    assert rows_of(found.find(".//table")) == [
        [f"12.5{THIN}%", f"12.5{THIN}%", "8", "1"],
        [f"75.0{THIN}%", "–", "0", "0"],
    ]
    assert len(found.findall(".//circle")) == 1


def test_dots_are_where_predicted_and_observed_meet():
    # Of two rows one positive: the axes end a bit above Wilson's interval.
    found = tree(run_of(_1=TWO))
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
    path = tree(run_of(_1=TWO)).find(".//path[@class='chance']").attrib["d"]
    assert path == "M46 284L446 30"


def test_brier_scores_are_those_of_scikit_learn():
    other = tuple(each / 10 for each in SCORES[0])
    told = brier(run_of(_0=other, _1=TWO))
    assert told == (
        f"Brier score (lower is better): {brier_score_loss(TARGET, TWO):.4f} for ap; "
        f"{brier_score_loss(TARGET, other):.4f} for log-loss; "
        f"{0.2 * 0.8:.4f} for saying 20.0{THIN}% of every row."
    )


def test_weighted_brier_scores_are_those_of_scikit_learn():
    weight = [1, 2, 3, 1, 1, 1, 1, 1, 1, 4]
    told = brier(run_of(weight, _1=TWO))
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
    found = tree(run_of(_1=[0.2] * 10))
    assert rows_of(found.find(".//table")) == [[f"20.0{THIN}%", f"20.0{THIN}%", "10", "2"]]
    assert len(found.findall(".//circle")) == 1


@pytest.mark.parametrize("said", [0.0, 1.0])
def test_probabilities_at_the_ends_can_be_drawn(said):
    found = tree(run_of(_1=[said] * 10))
    shown = "0" if said == 0 else "100"
    assert rows_of(found.find(".//table"))[0][:2] == [f"{shown}{THIN}%", f"20.0{THIN}%"]


def test_names_are_text_and_no_markup():
    names = candidate(0, "<b>0", baseline=True), candidate(1, "<b>1")
    run = small_run(names, predictions(probabilities={0: TWO, 1: TWO}))
    assert tree(run).find(".//b") is None
    assert " for <b>1; " in brier(run)
    assert " for <b>0; " in brier(run)
