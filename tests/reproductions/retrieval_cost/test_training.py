from __future__ import annotations

import pytest
import torch
from tests.reproductions.retrieval.tiny import NETWORK, VIEWS
from tests.reproductions.retrieval_cost.small import small_plan

from rankwise.retrieval import evaluate
from reproductions.retrieval_cost.benches import FromScratch, OnFeatures, Trial
from reproductions.retrieval_cost.learners import TimedLearner
from reproductions.retrieval_cost.plan import Plan
from reproductions.retrieval_cost.problems import feature_pool, pool_of
from reproductions.retrieval_cost.training import cost, train


def bench(kind, **changed):
    plan = small_plan(**changed)
    problem, pool = plan.problems[0], pool_of(plan.problems[0])
    if kind == "scratch":
        return FromScratch("omniglot-scratch", plan, pool)
    features = feature_pool(problem, pool, NETWORK, VIEWS, None)
    return OnFeatures("omniglot-features", plan, pool, features)


def trial(bench, name="SupCon", rate=0.05):
    method = next(m for m in bench.plan.methods if m.name == name)
    return Trial(method, method.tries[0], rate, 16, 0)


@pytest.mark.parametrize(("kind", "steps"), [("features", 4), ("scratch", 2)])
def test_a_training_ends_with_its_time(kind, steps):
    """A step lasts from one tick of the clock to the next; validations are not counted."""
    place = bench(kind)
    found = train(place, trial(place))
    assert found["steps"] == steps
    assert found["seconds"] == steps
    assert [row[:2] for row in found["history"]] == [(steps // 2, steps / 2), (steps, steps)]
    assert found["validation"] == max(value for *_, value in found["history"])
    assert "map" not in found  # the test classes were not asked for


class Recorded(TimedLearner):
    """Notes the share of the time at every step; its best validation is the second of three."""

    def __init__(self):
        self.network, self.shares, self.values = torch.nn.Linear(1, 1), [], iter((0.2, 0.9, 0.4))

    def step(self):
        self.shares.append(self.used)
        torch.nn.init.constant_(self.network.weight, len(self.shares))

    def validate(self):
        return next(self.values)

    def test(self):
        weight = self.network.weight.item()
        return torch.tensor([[weight, 1.0], [1.0, weight], [1.0, 0.0], [0.5, 0.0]]), LABELS


LABELS = torch.tensor([0, 0, 1, 1])


def test_the_network_of_the_best_validation_is_tested(monkeypatch):
    place, learner = bench("features", feature_seconds=6.0, validations=3), Recorded()
    monkeypatch.setattr(OnFeatures, "learner", lambda self, asked: learner)
    found = train(place, trial(place), test=True)
    assert learner.shares == [0, 1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6]
    assert learner.network.weight.item() == 4  # that of step 4, validated at two thirds
    assert found["map"] == evaluate(*learner.test(), hits=(1,)).map
    assert found["validation"] == 0.9


def test_the_rate_falls_along_a_cosine_over_the_time():
    for kind in ("features", "scratch"):
        place = bench(kind)
        learner = place.learner(trial(place, rate=0.5))
        rates = []
        for learner.used in (0.0, 0.5, 1.0):
            learner.step()
            inner = learner.inner if kind == "features" else learner.learner
            rates.append(inner.optimizer.param_groups[0]["lr"])
        assert rates == pytest.approx([0.5, 0.25, 0.0], abs=1e-9)


def test_equal_trials_are_equal_trainings():
    runs = []
    for _ in range(2):
        place = bench("features")
        runs.append(train(place, trial(place, "SOPRC"), test=True))
    assert runs[0] == runs[1]


def test_a_step_costs_time_and_memory():
    place = bench("features", peak_bytes=Plan.peak_bytes)
    spent = cost(place, trial(place))
    assert spent["seconds"] == 1
    assert 0 <= spent["megabytes"] < 2000


def test_the_peak_is_that_of_the_step(monkeypatch):
    place, learner = bench("features", peak_bytes=Plan.peak_bytes), Recorded()
    learner.step = lambda: torch.ones(50 * 2**18).sum()  # 50 MB
    monkeypatch.setattr(OnFeatures, "learner", lambda self, asked: learner)
    assert cost(place, trial(place))["megabytes"] == pytest.approx(50, abs=5)
