from __future__ import annotations

import pytest

from rankwise.data import DataError
from rankwise.tasks.compare.candidates import candidates, objective_for


def names(metric, words):
    return [each.name for each in candidates(metric, words)]


def test_three_of_each_kind():
    found = candidates("ap", "linear,boosted")
    assert [each.name for each in found] == [
        "linear, log-loss",
        "linear, ap",
        "linear, log-loss + ap",
        "boosted, log-loss",
        "boosted, ap",
        "boosted, log-loss + ap",
    ]
    assert [each.is_log_loss for each in found[:3]] == [True, False, False]
    assert found[2].parts == ("linear, log-loss", "linear, ap")
    assert len({each.key for each in found}) == 6


def test_one_alone_and_none_twice():
    assert names("ap", "linear:log_loss, boosted:soprc") == ["linear, log-loss", "boosted, soprc"]
    assert names("ap", "neural:both,neural") == names("ap", "neural")
    assert names("auc", "linear:log-loss,linear:opauc(max_fpr=.1, form=kl)") == [
        "linear, log-loss",
        "linear, opauc(max_fpr=.1, form=kl)",
    ]


def test_keys_are_good_names_of_folders():
    (_, metrical, both) = candidates("opauc(max_fpr=0.05)", "boosted")
    assert metrical.key == "boosted-opauc-max-fpr=0.05"
    assert both.key == "boosted-log-loss-opauc-max-fpr=0.05"


@pytest.mark.parametrize(
    ("metric", "objective"),
    [
        ("ap", "ap"),
        ("opauc(max_fpr=0.1)", "opauc(max_fpr=0.1)"),
        ("ndcg@10", "ndcg@10"),
        ("mrr", "ap"),
        ("r_precision", "ap"),
    ],
)
def test_a_metric_without_an_objective_gets_average_precision(metric, objective):
    assert objective_for(metric) == objective


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("tree", "must be a list of linear, boosted, neural.* got 'tree'"),
        ("linear,,boosted", "has an empty place"),
        ("linear:aap", 'did you mean "ap"'),
        ("linear:ap", "add linear:log_loss"),
    ],
)
def test_what_cannot_compete(words, message):
    with pytest.raises(DataError, match=message):
        candidates("ap", words)


def test_objectives_are_shown_under_the_names_of_rankwise():
    found = candidates("ap", "linear:log_loss,boosted:roc_auc,boosted:average_precision")
    assert [each.name for each in found] == ["linear, log-loss", "boosted, auc", "boosted, ap"]
