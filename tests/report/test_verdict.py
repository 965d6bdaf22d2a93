"""A training that ends below where it started says so, with what to try."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rankwise.report import Headline
from rankwise.report.verdict import Validation, Verdict, counted, lower_rate, may_be_chance, verdict

ADVICE = ("a lower learning rate", "fewer steps")


def said(*, test=None, reach=math.nan, **validation) -> Verdict:
    seen = Validation(**validation) if validation else None
    return verdict("mAP", test=test, reach=reach, validation=seen, advice=ADVICE)


def test_a_test_value_below_the_start_is_worse_and_has_advice():
    found = said(test=(0.51, 0.45))
    assert found.text == "worse than before training: test mAP went from 0.5100 to 0.4500"
    assert found.lines() == [
        f"verdict: {found.text}",
        "  try: a lower learning rate",
        "  try: fewer steps",
    ]
    headline = found.headline()
    assert headline.text == f"W{found.text[1:]}."
    assert headline.paragraphs == ["What to try: a lower learning rate; fewer steps."]


def test_a_sentence_comes_before_the_numbers_of_the_field():
    found = replace(said(test=(0.51, 0.61)), sentence="It finds 3 more.")
    assert found.lines() == ["verdict: It finds 3 more.", found.text]
    assert found.headline() == Headline("It finds 3 more.", [f"B{found.text[1:]}."])


def test_it_is_worse_on_test_even_where_validation_rose():
    found = said(test=(0.51, 0.45), start=0.4, values=[0.45, 0.5], kept=2)
    assert found.text.startswith("worse than before training")
    assert found.advice == ADVICE


def test_where_the_start_was_best_it_says_that_the_start_is_saved():
    found = said(test=(0.5, 0.5), start=0.4, values=[0.3, 0.35, 0.2], kept=0)
    assert found.text == (
        "no better than before training: validation mAP was 0.4000 before training and at most "
        "0.3500 after it; the saved model is the untrained one"
    )
    assert found.advice == ADVICE


def test_an_end_below_the_start_is_said_though_a_better_state_was_kept():
    found = said(test=(0.4, 0.5), start=0.4, values=[0.45, 0.3], kept=100)
    assert found.text.startswith(
        "the training ends below its start: validation mAP was 0.4000 before training and 0.3000 "
        "at its end; the saved model is that of step 100, the best with 0.4500; test mAP went"
    )
    assert found.advice == ADVICE


@pytest.mark.parametrize("validation", [{}, {"start": 0.1, "values": [0.2, 0.3], "kept": 2}])
def test_a_better_result_needs_no_advice(validation):
    found = said(test=(0.116, 0.68), **validation)
    assert found == Verdict("better than before training: test mAP went from 0.1160 to 0.6800")


def test_a_difference_within_its_interval_is_called_chance():
    assert said(test=(0.5, 0.49), reach=0.02).text.endswith(
        "from 0.5000 to 0.4900 (difference -0.0100 ± 0.0200, no more than chance)"
    )
    assert said(test=(0.5, 0.4), reach=0.02).text.endswith("(difference -0.1000 ± 0.0200)")


def test_validation_alone_decides_where_the_test_part_was_not_measured_before():
    assert said(start=0.1, values=[0.05, 0.3], kept=2).text == (
        "better than before training: validation mAP went from 0.1000 to 0.3000"
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


def test_a_count_is_compared_case_by_case():
    before, after = np.array([1.0] * 3 + [0.0] * 17), np.array([0.0] + [1.0] * 19)
    words = "{count} of {total} users are served"
    assert (
        counted(words, before, after, "before") == "19 of 20 users are served, 16 more than before."
    )
    assert counted(words, after, before, "before").endswith(", 16 fewer than before.")
    assert counted(words, after, after, "before").endswith("served, as many as before.")
    few = counted(words, before[:4], after[:4], "before")
    assert few == "3 of 4 users are served, as many as before."
    some = counted(words, np.zeros(9), np.array([1.0] * 4 + [0.0] * 5), "before")
    assert some.endswith(", 4 more than before; the difference may be chance.")


@pytest.mark.parametrize(
    ("gained", "lost", "p"), [(5, 0, 0.0625), (6, 0, 0.03125), (15, 5, 0.041), (14, 6, 0.115)]
)
def test_chance_is_that_of_a_sign_test(gained, lost, p):
    """The exact p-values of the binomial test, on both sides of .05."""
    change = np.repeat([1.0, -1.0, 0.0], [gained, lost, 7])
    assert bool(may_be_chance(change)) is (p > 0.05)
