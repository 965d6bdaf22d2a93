"""Metrics of several classes against scikit-learn's, and their intervals."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.preprocessing import label_binarize

from rankwise.metrics import ClassMetric, auroc, average_precision, multi_class, ndcg, partial_auroc


def data(rows: int = 300, classes: int = 4, *, seed: int = 0, ties: bool = True) -> Any:
    rng = np.random.default_rng(seed)
    target = np.minimum(rng.geometric(0.4, rows) - 1, classes - 1)
    logits = rng.normal(size=(rows, classes)) + 1.5 * np.eye(classes)[target]
    if ties:
        logits = logits.round(1)
    shares = np.exp(logits)
    return shares / shares.sum(1, keepdims=True), target, rng.integers(1, 4, rows).astype(float)


@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [3, 7])
def test_one_vs_rest_is_that_of_scikit_learn(average: Any, weighted: bool, classes: int) -> None:
    scores, target, weight = data(classes=classes)
    given = weight if weighted else None
    hot = label_binarize(target, classes=range(classes))
    wanted = average_precision_score(hot, scores, average=average, sample_weight=given)
    found = ClassMetric(average_precision, average=average).value(scores, target, weight=given)
    assert found == pytest.approx(wanted, abs=1e-12)
    wanted = roc_auc_score(target, scores, multi_class="ovr", average=average, sample_weight=given)
    found = ClassMetric(auroc, average=average).value(scores, target, weight=given)
    assert found == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize("classes", [2, 3, 7])
def test_one_vs_one_is_that_of_hand_and_till(average: Any, classes: int) -> None:
    scores, target, _ = data(classes=classes)
    found = ClassMetric(auroc, scheme="ovo", average=average).value(scores, target)
    if classes > 2:
        wanted = roc_auc_score(target, scores, multi_class="ovo", average=average)
    else:
        wanted = np.mean([roc_auc_score(target == c, scores[:, c]) for c in (0, 1)])
    assert found == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("average", ["macro", "weighted", "none"])
@pytest.mark.parametrize("scheme", ["ovr", "ovo"])
def test_a_weight_of_2_is_the_row_twice(average: Any, scheme: Any) -> None:
    scores, target, weight = data()
    times = weight.astype(int)
    metric = ClassMetric(auroc, scheme=scheme, average=average)
    np.testing.assert_allclose(
        metric.value(scores, target, weight=weight),
        metric.value(np.repeat(scores, times, 0), np.repeat(target, times)),
        atol=1e-12,
    )


def test_values_by_class_and_tensors_of_a_caller() -> None:
    scores, target, _ = data()
    found = ClassMetric(partial_auroc, average="none", max_fpr=0.2).value(
        torch.from_numpy(scores), torch.from_numpy(target)
    )
    assert isinstance(found, torch.Tensor)
    wanted = [partial_auroc(scores[:, c], target == c, max_fpr=0.2) for c in range(4)]
    np.testing.assert_allclose(found.numpy(), wanted, atol=1e-12)


def test_a_class_without_rows_is_left_out_with_a_warning() -> None:
    scores, target, _ = data(classes=3)
    wider = np.hstack([scores, scores[:, :1]])
    for scheme in ("ovr", "ovo"):
        metric = ClassMetric(auroc, scheme=scheme)
        with pytest.warns(RuntimeWarning, match="1 of 4 classes have no rows"):
            assert metric.value(wider, target) == pytest.approx(metric.value(scores, target))


def resampled(scores: Any, target: Any, metric: Any, draws: int) -> Any:
    """Return the metric of resamples that are drawn row by row, class by class."""
    rng = np.random.default_rng(1)
    members = [np.flatnonzero(target == c) for c in np.unique(target)]
    rows = [np.concatenate([rng.choice(m, len(m)) for m in members]) for _ in range(draws)]
    return np.array([metric(scores[each], target[each]) for each in rows])


@pytest.mark.parametrize("options", [{}, {"scheme": "ovo"}, {"average": "weighted"}], ids=str)
def test_the_interval_is_that_of_resampled_rows(options: Any, monkeypatch: Any) -> None:
    scores, target, _ = data()
    metric = ClassMetric(auroc, **options)
    found = metric.interval(scores, target, resamples=2000)
    draws = resampled(scores, target, metric.value, 400)
    assert found.method == "bootstrap"
    np.testing.assert_allclose(
        [found.low, found.high], np.quantile(draws, [0.025, 0.975]), atol=0.006
    )
    monkeypatch.setattr(multi_class, "_WORK", 0)
    by_formula = metric.interval(scores, target)
    assert by_formula.method == "influence"
    assert by_formula.value == found.value
    np.testing.assert_allclose(
        [by_formula.low, by_formula.high], [found.low, found.high], atol=0.006
    )


def test_the_formula_counts_classes_of_two_rows(monkeypatch: Any) -> None:
    scores, target = np.array([0.1, 0.3, 0.2, 0.4]), np.array([0, 0, 1, 1])
    monkeypatch.setattr(multi_class, "_WORK", 0)
    found = ClassMetric(auroc).interval(np.stack([-scores, scores], 1), target)
    # Of each class one row is right of all of the other and one of half of it: variance 1/8.
    error = math.sqrt((1 / 8) / 2 + (1 / 8) / 2)
    assert found.value == pytest.approx(3 / 4)
    assert found.low == pytest.approx(3 / 4 - NormalDist().inv_cdf(0.975) * error)


def test_the_difference_of_two_models_and_its_chance(monkeypatch: Any) -> None:
    scores, target, weight = data()
    worse = 0.5 * scores + np.random.default_rng(2).random(scores.shape)
    metric = ClassMetric(average_precision)
    found = metric.compare(scores, worse, target, weight=weight)
    wanted = [metric.value(each, target, weight=weight) for each in (scores, worse)]
    assert [found.value_a, found.value_b] == pytest.approx(wanted)
    assert 0 < found.low < found.difference < found.high
    assert found.p_value == 2 / 1001
    same = metric.compare(scores, scores, target)
    assert (same.difference, same.low, same.high, same.p_value) == (0, 0, 0, 1)
    monkeypatch.setattr(multi_class, "_WORK", 0)
    by_formula = metric.compare(scores, worse, target, weight=weight)
    assert by_formula.method == "influence"
    assert by_formula.p_value < 1e-6
    np.testing.assert_allclose(
        [by_formula.low, by_formula.high], [found.low, found.high], atol=0.02
    )
    assert metric.compare(scores, scores, target).p_value == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": average_precision, "scheme": "ovo"}, "scheme='ovo' is for auroc"),
        ({"metric": ndcg}, "metric must be one of two classes"),
        ({"metric": auroc, "average": "micro"}, "average must be one of"),
        ({"metric": auroc, "scheme": "all"}, "scheme must be one of"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ClassMetric(**options)


def test_arguments_are_checked() -> None:
    scores, target, _ = data()
    metric = ClassMetric(auroc)
    for wrong, message in (
        ((scores[:, 0], target), "a column for each of two or more classes"),
        ((scores, target + 1), "class numbers from 0 to 3.*got values from 1 to 4"),
        ((scores, target + 0.5), "one class number per row"),
        ((scores, target[1:]), "one class number per row"),
        ((np.where(scores > 0.9, np.nan, scores), target), "NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            metric.value(*wrong)
    for weight in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="weight must be one finite number >= 0"):
            metric.value(scores, target, weight=np.append(np.ones(299), weight))
    with pytest.raises(ValueError, match="average must name a mean"):
        ClassMetric(auroc, average="none").interval(scores, target)
