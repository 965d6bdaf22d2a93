from __future__ import annotations

import numpy as np
import pytest
import torch

from rankwise.objectives import PApAtK
from reproductions import Setting
from reproductions.papk_figure1.measure import CONDITIONS, Plan, draw, measure


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda c: c.name)
def test_the_condition_holds_at_ones_and_makes_its_surrogates_zero(condition):
    plan = Plan(40, 300, 8)
    positives, negatives = draw(condition, plan, np.random.default_rng(0))
    above, below = np.sort(positives.sum(1)), negatives.sum(1).max()
    tight = 1e-9
    if condition.name == "strong":
        assert above[0] - below >= 1 - tight
    elif condition.name == "moderate":
        assert above[0] - below >= -tight
        assert above[-8] - below >= 1 - tight
    else:
        assert above[:8].mean() - below >= 1 - tight
    scores = torch.from_numpy(np.concatenate([positives, negatives]).sum(1))
    target = torch.arange(340) < 40
    for surrogate in ("ramp", "avg", "max", "ts"):
        value = float(PApAtK(8, surrogate, score_scale=1)(scores, target))
        if surrogate in condition.vanish:
            assert value <= 1e-9


def test_negatives_keep_their_law_across_the_ones():
    plan = Plan(40, 20_000, 8)
    _, negatives = draw(CONDITIONS[0], plan, np.random.default_rng(0))
    across = negatives - negatives.mean(1, keepdims=True)
    np.testing.assert_allclose(across.mean(0), 0, atol=0.03)
    np.testing.assert_allclose(across.var(0), 4 / 5, atol=0.03)


def test_the_descended_surrogate_falls_and_all_are_looked_at_together():
    points = measure(Plan(30, 100, 5, steps=120, looks=6), Setting())
    for condition in CONDITIONS:
        own = [p for p in points if p.condition == condition.name]
        watched = {p.watched for p in own}
        assert watched == {"ramp", "avg", "max", "ts", "AUC (4)", "risk"}
        curve = [p.value for p in own if p.watched == condition.surrogate]
        assert curve[0] == pytest.approx(1)
        assert curve[-1] < 0.8
