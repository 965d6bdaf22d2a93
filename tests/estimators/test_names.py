from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from rankwise.baselines import CrossEntropy
from rankwise.estimators.data import Part
from rankwise.estimators.names import (
    is_graded,
    is_log_loss,
    make_stateless,
    metric_name,
    metric_value,
    objective_name,
)
from rankwise.naming import objective
from rankwise.objectives import SOPRC


@pytest.mark.parametrize("name", ["log_loss", "cross_entropy", "BCE", "log-loss"])
def test_log_loss_under_its_names(name: str) -> None:
    assert is_log_loss(name)
    assert metric_name(name) == "ap"
    assert isinstance(objective(objective_name(name)), CrossEntropy)


def test_other_objectives() -> None:
    assert not is_log_loss("ap")
    assert metric_name("opauc(max_fpr=.1, form=kl)") == "opauc(max_fpr=0.1)"
    assert isinstance(objective(objective_name("soprc"), prior=0.1, num_items=9), SOPRC)
    assert is_graded("ndcg@10")
    assert not is_graded("ap")
    with pytest.raises(ValueError, match="no objective is called"):
        objective(objective_name("apple_pie"))


def test_value_of_a_metric() -> None:
    rng = np.random.default_rng(0)
    target, scores = (rng.random(50) < 0.3).astype(float), rng.normal(size=50)
    weight = rng.random(50)
    wanted = average_precision_score(target, scores, sample_weight=weight)
    assert metric_value("ap", scores, Part(None, target, weight)) == pytest.approx(wanted)


def test_lower_is_better_is_negative_so_that_larger_is_better() -> None:
    part = Part(None, np.array([1.0, 0, 1, 0]))
    assert metric_value("fpr_at_tpr(.9)", np.array([4.0, 3, 2, 1]), part) == -0.5


def test_lists_without_a_positive_are_left_out_in_silence() -> None:
    part = Part(None, np.array([0.0, 1, 0, 0]), groups=np.array([0, 0, 1, 1]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert metric_value("ap", np.array([2.0, 1, 0, 0]), part) == 0.5


def test_lists_of_positives_alone_count_as_in_trec_eval() -> None:
    part = Part(None, np.array([0.0, 1, 1, 1]), groups=np.array([0, 0, 1, 1]))
    scores = np.array([2.0, 1, 0, 0])
    assert metric_value("ap", scores, part) == (0.5 + 1) / 2
    assert metric_value("auc", scores, part) == 0  # of pairs, which the second list has not
    # One list of rows has nothing to rank without a negative.
    with pytest.warns(RuntimeWarning, match="only one class"):
        assert np.isnan(metric_value("ap", scores[2:], Part(None, part.target[2:])))


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("soprc", "ap"),
        ("stable_ap", "ap"),
        ("soap", "ap"),
        ("sopa(.2)", r"opauc\(max_fpr=0.2\)"),
        ("sopa_s(max_fpr=.1)", r"opauc\(max_fpr=0.1\)"),
        ("song", "ndcg"),
        ("aucm", "auc"),
    ],
)
def test_objectives_with_a_memory_are_refused(name: str, instead: str) -> None:
    with pytest.raises(ValueError, match=f'use "{instead}"'):
        make_stateless(name, 0.1)


@pytest.mark.parametrize(
    "name", ["ap", "auc", "opauc(.1)", "opauc(.1, form=kl)", "ndcg@5", "pap@3"]
)
def test_objectives_without_one_are_taken(name: str) -> None:
    assert not list(make_stateless(name, 0.1).parameters())
