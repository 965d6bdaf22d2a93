from __future__ import annotations

import pytest
from tests.report.comparison.sections.small import (
    candidate,
    predictions,
    small_run,
    text_of,
    tree_of,
)

from rankwise.report.comparison.sections.groups import groups

# Three rows in each list. Average precision of the recommended: 1, 1/2, 1; of the baseline: 1/2,
# 1/2, 1/3 — and in a fourth list there is nothing to find.
TARGET = (1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0)
GROUP = (0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3)
SCORES = {0: (2, 3, 1, 3, 2, 1, 3, 2, 1, 3, 2, 1), 1: (3, 2, 1, 3, 2, 1, 1, 2, 3, 3, 2, 1)}


def run_of(candidates=None, target=TARGET, scores=SCORES, group=GROUP, **known):
    return small_run(candidates, predictions(target, scores, group=group), **known)


def tree(run):
    return tree_of(groups(run).body)


def told(run):
    return text_of(tree(run).find("p"))


def captions(run):
    return [text_of(each) for each in tree(run).findall(".//figcaption")]


def bars(run):
    """The shape of the bars of each picture."""
    return [each.attrib["d"] for each in tree(run).findall(".//path[@class='bars']")]


def test_lists_are_compared_one_by_one():
    assert "Against log-loss, list by list: better in 2, equal in 1, worse in 0." in told(run_of())
    turned = run_of(recommended=1, scores={0: SCORES[1], 1: SCORES[0]})
    assert "better in 0, equal in 1, worse in 2." in told(turned)


def test_lists_without_a_value_are_counted_and_left_out():
    assert told(run_of()).startswith("The metric is a mean over 3 lists of the test part;")
    assert "Lists with nothing to rank, which have no value: 1. " in told(run_of())


def test_where_every_list_has_a_value_none_is_said_to_be_left_out():
    three = {number: each[:9] for number, each in SCORES.items()}
    run = run_of(target=TARGET[:9], scores=three, group=GROUP[:9])
    assert "a mean over 3 lists" in told(run)
    assert "nothing to rank" not in told(run)


def test_one_list_is_told_as_one():
    run = run_of(target=[1, 0, 0], scores={0: [1, 2, 3], 1: [3, 2, 1]}, group=[0, 0, 0])
    assert told(run).startswith("The metric is a mean over 1 list of the test part;")


def test_medians_are_over_lists_with_a_value():
    assert captions(run_of()) == ["ap: median 1.000.", "log-loss: median 0.500."]


def test_shares_are_drawn_over_twenty_bars():
    # Of the recommended two lists of three are in the last bar, from 0.95 to 1, and one in that
    # from 0.5 to 0.55; the tallest bar, 2/3 in both pictures, leaves a bit of room above it.
    best, base = bars(run_of())
    tall, short = 284 - 254 / 1.08, 284 - 254 / 1.08 / 2

    def bar(place, height):
        left, right = 46 + 400 * place / 20 + 0.4, 46 + 400 * (place + 1) / 20 - 0.4
        return f"M{left:.5g} 284V{height:.1f}H{right:.5g}V284Z"

    assert best == bar(10, short) + bar(19, tall)
    assert base == bar(6, short) + bar(10, tall)


def test_heights_are_shares_of_the_lists_with_a_value():
    # The axes end at 1.08 of the tallest bar, which is 2/3.
    shown = [text_of(each) for each in tree(run_of()).findall(".//svg/text")]
    shares = [each for each in shown if each.endswith(" %")]
    assert shares == ["0 %", "20 %", "40 %", "60 %"] * 2


def test_candidates_that_tie_everything_are_equal():
    # One positive tied with two negatives has the precision 1/3 at its score.
    run = run_of(target=[1, 0, 0], scores={0: [1, 1, 1], 1: [2, 2, 2]}, group=[0, 0, 0])
    assert captions(run)[0] == f"ap: median {1 / 3:.3f}."
    assert "better in 0, equal in 1, worse in 0." in told(run)


def test_lists_of_one_class_only_have_no_histogram_and_no_median():
    run = run_of(target=[0] * 12)
    assert "a mean over 0 lists" in told(run)
    assert "which have no value: 4." in told(run)
    assert "better in 0, equal in 0, worse in 0." in told(run)
    assert captions(run) == ["ap: median –.", "log-loss: median –."]
    assert bars(run) == ["", ""]


def test_graded_lists_are_measured_by_their_metric():
    # The best order has gains 3, 1, 0; with the first two exchanged 1 + 3 / log2(3) is left.
    given = {0: [2, 3, 1], 1: [3, 2, 1]}
    run = run_of(target=[2, 1, 0], scores=given, group=[0, 0, 0], metric="ndcg")
    ideal, turned = 3 + 1 / 1.5849625, 1 + 3 / 1.5849625
    assert captions(run) == ["ap: median 1.000.", f"log-loss: median {turned / ideal:.3f}."]
    labels = [each.attrib["aria-label"] for each in tree(run).findall(".//svg")]
    assert labels == ["Histogram of NDCG over lists, ap", "Histogram of NDCG over lists, log-loss"]


@pytest.mark.parametrize(
    ("candidates", "recommended", "scores"),
    [
        ((candidate(0, "a", baseline=True), candidate(1, "b")), 0, SCORES),  # the baseline won
        ((candidate(0, "a"), candidate(1, "b")), 0, SCORES),  # there is none
        ((candidate(0, "a"), candidate(1, "b", baseline=True)), 0, {0: SCORES[0]}),  # no scores
    ],
)
def test_without_a_baseline_beside_it_there_is_one_picture(candidates, recommended, scores):
    run = run_of(candidates, scores=scores, recommended=recommended)
    assert captions(run) == ["a: median 0.500."]
    assert "Against" not in told(run)


def test_a_metric_that_is_not_known_is_named():
    with pytest.raises(ValueError, match="my metric"):
        groups(run_of(metric="my metric"))


def test_names_are_text_and_no_markup():
    run = run_of((candidate(0, "<b>0", baseline=True), candidate(1, "<b>1")))
    assert tree(run).find(".//b") is None
    assert captions(run)[0] == "<b>1: median 1.000."
    assert "Against <b>0, list by list" in told(run)
    assert [each.attrib["aria-label"][-4:] for each in tree(run).findall(".//svg")] == [
        "<b>1",
        "<b>0",
    ]
