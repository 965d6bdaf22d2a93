"""A ranker trained on clicks approaches the one trained on the true relevances."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tasks.ranking.click_simulator import METRIC, PROPENSITIES, qualities, simulated

from rankwise.data.letor import estimate_propensities
from rankwise.errors import UsageError
from rankwise.tasks.ranking.clicks import linear_metrics, linear_settings
from rankwise.tasks.ranking.settings import DEFAULT, Settings


@pytest.fixture(scope="module")
def log():
    return simulated()


@pytest.fixture(scope="module")
def judged():
    return simulated(seed=1, sessions=1)[0]


@pytest.mark.parametrize(
    ("model", "objective", "options"),
    [
        ("linear", "ndcg(gain=linear)", {}),
        ("linear", "listnet(linear)", {}),
        ("boosted", "listnet(linear)", {"n_estimators": 60}),
    ],
)
def test_the_debiased_ranker_approaches_that_of_true_labels(log, judged, model, objective, options):
    settings = Settings(model=model, objective=objective, metric=METRIC, options=options)
    found = qualities(settings, *log, judged)
    assert found["corrected clicks"] > found["true relevances"] - 0.015
    assert found["clicks as they are"] < found["true relevances"] - 0.025


def test_the_propensities_are_those_of_the_simulation(log):
    np.testing.assert_allclose(estimate_propensities(log[1]), PROPENSITIES, rtol=0.1)


def test_objective_and_metrics_become_linear():
    made = linear_settings(Settings(objective="ndcg@5", metric="ndcg@5"))
    assert (made.objective, made.metric) == ("ndcg@5(gain=linear)", "ndcg@5(gain=linear)")
    made = linear_settings(Settings(objective="listnet", metric="ndcg@5"))
    assert made.objective == "listnet(target_distribution=linear)"
    assert linear_metrics(DEFAULT) == [f"ndcg@{k}(gain=linear)" for k in (1, 5, 10)]


@pytest.mark.parametrize("objective", ["ap", "lambda_loss@10", "listnet(uniform)", "listmle"])
def test_an_objective_that_clicks_would_bias_is_refused(objective):
    with pytest.raises(UsageError, match="not linear in the relevances"):
        linear_settings(Settings(objective=objective, metric="ndcg@5"))


def test_a_metric_of_two_classes_is_refused():
    with pytest.raises(UsageError, match="metric ap is not linear"):
        linear_metrics(["ndcg@5", "ap"])
