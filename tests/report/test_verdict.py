"""A training that ends below where it started says so, with what to try."""

import math

import pytest

from rankwise.report.verdict import Validation, Verdict, lower_rate, verdict

ADVICE = ("a lower learning rate", "fewer steps")


def said(*, test=None, reach=math.nan, **validation) -> Verdict:
    seen = Validation(**validation) if validation else None
    return verdict("mAP", test=test, reach=reach, validation=seen, advice=ADVICE)


def test_a_test_value_below_the_start_is_worse_and_has_advice():
    found = said(test=(0.51, 0.45))
    assert found.text == "worse than the start: test mAP went from 0.5100 to 0.4500"
    assert found.lines() == [
        f"verdict: {found.text}",
        "  try: a lower learning rate",
        "  try: fewer steps",
    ]
    section = found.section()
    assert section.heading == "Verdict"
    assert section.paragraphs == [
        found.text,
        "What to try: a lower learning rate; fewer steps.",
    ]


def test_it_is_worse_on_test_even_where_validation_rose():
    found = said(test=(0.51, 0.45), start=0.4, values=[0.45, 0.5], kept=2)
    assert found.text.startswith("worse than the start")
    assert found.advice == ADVICE


def test_where_the_start_was_best_it_says_that_the_start_is_saved():
    found = said(test=(0.5, 0.5), start=0.4, values=[0.3, 0.35, 0.2], kept=0)
    assert found.text == (
        "no better than the start: validation mAP was 0.4000 before training and at most 0.3500 "
        "after it; what is saved is the start, before any training"
    )
    assert found.advice == ADVICE


def test_an_end_below_the_start_is_said_though_a_better_state_was_kept():
    found = said(test=(0.4, 0.5), start=0.4, values=[0.45, 0.3], kept=100)
    assert found.text.startswith(
        "the training ends below its start: validation mAP was 0.4000 before training and 0.3000 "
        "at its end; what is saved is step 100, the best with 0.4500; test mAP went"
    )
    assert found.advice == ADVICE


@pytest.mark.parametrize("validation", [{}, {"start": 0.1, "values": [0.2, 0.3], "kept": 2}])
def test_a_better_result_needs_no_advice(validation):
    found = said(test=(0.116, 0.68), **validation)
    assert found == Verdict("better than the start: test mAP went from 0.1160 to 0.6800")


def test_a_difference_within_its_interval_is_called_chance():
    assert said(test=(0.5, 0.49), reach=0.02).text.endswith(
        "from 0.5000 to 0.4900 (difference -0.0100 ± 0.0200, no more than chance)"
    )
    assert said(test=(0.5, 0.4), reach=0.02).text.endswith("(difference -0.1000 ± 0.0200)")


def test_validation_alone_decides_where_the_test_part_was_not_measured_before():
    assert said(start=0.1, values=[0.05, 0.3], kept=2).text == (
        "better than the start: validation mAP went from 0.1000 to 0.3000"
    )
    assert said(start=0.0, values=[0.0, 0.0], kept=1).advice == ADVICE
    for unknown in ({}, {"start": math.nan, "values": [0.2], "kept": 1}):
        assert said(**unknown).text.startswith("not known: mAP was not measured before")


def test_nothing_is_made_of_values_that_are_no_numbers():
    assert said(test=(math.nan, 0.4)).text.startswith("not known")


def test_a_tenth_of_the_rate():
    assert lower_rate("optimizer.learning_rate", 0.01) == (
        "a lower learning rate, optimizer.learning_rate=0.001 (it was 0.01)"
    )
