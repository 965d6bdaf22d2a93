from __future__ import annotations

from math import nan
from pathlib import Path

import pytest
from tests.report.comparison.sections.small import (
    candidate,
    pair,
    predictions,
    small_run,
    text_of,
    tree_of,
)

from rankwise.report.comparison.run import Estimate
from rankwise.report.comparison.sections.headline import headline, title_of

THIN, FIXED = "\u202f", "\u00a0"


def said(run, class_):
    """The paragraphs of a class, in their order."""
    return [text_of(each) for each in tree_of(headline(run)).findall(f".//p[@class='{class_}']")]


def tiles(run):
    """The texts below the name of every tile."""
    return {
        text_of(tile.find("dt")): [text_of(each) for each in tile.findall("dd")]
        for tile in tree_of(headline(run)).findall(".//dl/div")
    }


@pytest.mark.parametrize(
    ("known", "title"),
    [
        (
            {"data": {"path": "tables/fraud.csv"}, "config": {"data": "b.csv"}},
            "Average precision on fraud.csv",
        ),
        ({"config": {"data": "tables/b.csv"}}, "Average precision on b.csv"),
        ({}, "Average precision on a-run"),
        ({"folder": Path("/")}, "Average precision on these data"),
        ({"metric": "ndcg@10"}, "NDCG@10 on a-run"),
        ({"metric": "my metric", "data": {"path": ""}}, "My metric on a-run"),
    ],
)
def test_the_title_names_the_metric_and_the_data(known, title):
    assert title_of(small_run(**known)) == title


def test_the_choice_and_its_reason_come_first():
    run = small_run(why="It was best in all splits.")
    tree = tree_of(headline(run))
    assert [text_of(each) for each in tree.findall("./div/p")] == [
        "Recommended",
        "ap",
        "It was best in all splits.",
    ]


def test_no_reason_leaves_no_empty_line():
    assert said(small_run(), "why") == []


def test_the_verdict_of_the_run_is_shown_and_none_leaves_no_empty_line():
    assert said(small_run(verdict="Nothing can be decided."), "verdict") == [
        "Nothing can be decided."
    ]
    assert said(small_run(), "verdict") == []


def test_the_metric_is_shown_with_its_interval_and_what_it_means():
    found = tiles(small_run(pair(test=Estimate(0.83349, 0.7, 0.9))))
    assert found["average precision"] == [
        "0.833",
        "0.700 to 0.900",
        "the mean over the positives of the precision at their score",
    ]


def test_a_metric_of_which_nothing_is_known_is_a_dash():
    assert tiles(small_run(metric="my metric"))["my metric"] == ["–"]


@pytest.mark.parametrize(
    ("p", "shown"), [(0.04, f"p{FIXED}={FIXED}0.040"), (0.0001, f"p{FIXED}< 0.001")]
)
def test_the_difference_is_signed_and_has_its_p_value(p, shown):
    found = tiles(small_run(pair(difference=Estimate(-0.05, -0.125, 0.025, p))))
    assert found["against the baseline"] == ["−0.050", f"−0.125 to +0.025, {shown}", "log-loss"]


@pytest.mark.parametrize(
    ("low", "high", "p", "shown"),
    [
        (nan, nan, 0.04, [f"p{FIXED}={FIXED}0.040"]),
        (-0.125, 0.025, nan, ["−0.125 to +0.025"]),
        (-0.125, nan, nan, []),
        (nan, nan, nan, []),
    ],
)
def test_of_a_difference_only_what_is_known_is_told(low, high, p, shown):
    found = tiles(small_run(pair(difference=Estimate(-0.05, low, high, p))))
    assert found["against the baseline"] == ["−0.050", *shown, "log-loss"]


def test_a_difference_to_a_baseline_that_is_not_among_them():
    alone = (candidate(0, "a"), candidate(1, "b", difference=Estimate(0.1, 0.05, 0.2, 0.01)))
    assert tiles(small_run(alone))["against the baseline"][-1] == "the baseline"
    assert "against the baseline" not in tiles(small_run())


def test_rows_are_counted_with_their_positives():
    found = tiles(small_run(data={"rows": 12_345}))
    assert found["test rows"] == ["10", f"2 positive, 20.0{THIN}%", f"of 12{THIN}345 in all"]
    assert tiles(small_run(data={"rows": "many"}))["test rows"][2:] == []


def test_the_share_of_positives_is_weighted_and_their_number_is_not():
    given = predictions(weight=[2, 0.5, 2, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    assert tiles(small_run(given=given))["test rows"] == [
        "10",
        f"2 positive, {100 * 4 / 8:.1f}{THIN}%",
    ]


def test_rows_of_lists_are_counted_with_their_lists():
    given = predictions(group=[0, 0, 0, 1, 1, 1, 1, 2, 2, 2])
    assert tiles(small_run(given=given))["test rows"] == ["10", "in 3 lists"]
    alone = predictions(group=[0] * 10)
    assert tiles(small_run(given=alone))["test rows"] == ["10", "in 1 list"]


@pytest.mark.parametrize(
    ("seconds", "trials", "shown"),
    [
        (75, 24, [f"1{THIN}min 15{THIN}s", "24 trials"]),
        (75, 1, [f"1{THIN}min 15{THIN}s", "1 trial"]),
        (9.96, None, [f"10.0{THIN}s"]),
        (nan, None, ["–"]),
    ],
)
def test_the_time_is_that_of_the_recommended(seconds, trials, shown):
    run = small_run(pair(seconds=seconds, trials=trials))
    assert tiles(run)["training time"] == shown


def test_names_and_reasons_are_text_and_no_markup():
    names = (
        candidate(0, "<b>base", baseline=True),
        candidate(1, "<b>best", difference=Estimate(0.1, 0.05, 0.2, 0.01)),
    )
    run = small_run(names, why="<b>why", metric="<b>metric", verdict="<b>verdict")
    assert tree_of(headline(run)).find(".//b") is None
    assert said(run, "choice") == ["<b>best"]
    assert said(run, "why") == ["<b>why"]
    assert said(run, "verdict") == ["<b>verdict"]
    assert "<b>metric" in tiles(run)
