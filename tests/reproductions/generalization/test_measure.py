"""Training and gaps: what must be 0 is, and more examples make the gap smaller."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from tests.reproductions.generalization.small import small_plan

from rankwise.theory import mean_of
from reproductions.generalization.losses import make_loss, risks
from reproductions.generalization.measure import Cell, measure_cell
from reproductions.generalization.problems import Gaussian
from reproductions.generalization.training import (
    mean_risks,
    others_mean,
    scores_of,
    start_of,
    train,
)
from reproductions.generalization.twins import measure_twins

PLAN = replace(small_plan(), repeats=8, steps=30, fresh=4000, other=200)


def sample(models=3, lists=2, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return Gaussian().draw(models * lists, 6, 18, generator).view(models, lists, 24, -1)


def test_training_lowers_the_risk_of_every_model_within_the_ball():
    features = sample()
    start = start_of(features, 6, 2.0)
    weights = train(make_loss("AUC", 6, 2), features, 6, radius=2.0, steps=30, learning_rate=0.1)

    def of(weights):
        return mean_risks(
            lambda s: risks(make_loss("AUC", len(s), 2), s, 6), scores_of(weights, features)
        )

    assert bool((of(weights) < of(start)).all())
    assert float(weights.norm(dim=1).max()) <= 2.0 + 1e-5
    torch.testing.assert_close(start.norm(dim=1), torch.ones(3))


def test_models_are_trained_each_on_its_own_sample():
    features = sample()
    settings = {"radius": 2.0, "steps": 10, "learning_rate": 0.1}
    whole = train(make_loss("SmoothAP", 6, 2), features, 6, **settings)
    alone = train(make_loss("SmoothAP", 2, 2), features[1:2], 6, **settings)
    torch.testing.assert_close(whole[1:2], alone, rtol=1e-3, atol=1e-4)


def test_the_mean_of_the_others_leaves_the_model_out():
    weights = torch.tensor([[1.0], [2.0], [6.0]])
    assert others_mean(weights).flatten().tolist() == [4.0, 3.5, 1.5]


# Not plain AP by negatives: its risk itself grows with their share.
@pytest.mark.parametrize(
    ("axis", "loss"),
    [
        ("lists", "StableAP"),
        ("lists", "plain AP"),
        ("positives", "plain AP"),
        ("positives", "pAp@k avg"),
        ("negatives", "StableAP"),
        ("negatives", "pAp@k avg"),
    ],
)
def test_more_of_anything_makes_the_gap_smaller(axis, loss):
    few, many = (
        measure_cell(PLAN, Gaussian(), (axis, size), loss, seed=1)
        for size in ((2, 64) if axis == "lists" else (10, 320))
    )
    small, large = mean_of(many.centered), mean_of(few.centered)
    assert small.value + small.half_width() < large.value
    assert mean_of([abs(gap) for gap in many.gaps]).value < mean_of(few.gaps).value


def test_a_model_that_the_sample_did_not_make_has_no_gap():
    cell = measure_cell(replace(PLAN, repeats=40), Gaussian(), ("positives", 40), "AUC", seed=2)
    others = [b - a for a, b in zip(cell.others_train, cell.others_test, strict=True)]
    found = mean_of(others)
    assert abs(found.value) < 1.5 * found.half_width()
    assert mean_of(cell.gaps).value > 2 * abs(found.value)


def test_the_best_scorer_has_the_lowest_risk():
    cell = measure_cell(PLAN, Gaussian(), ("lists", 8), "SmoothAP", seed=0)
    assert min(cell.excess) > -0.01
    assert mean_of(cell.excess).value > 0


def test_the_limit_is_the_risk_of_fresh_long_lists_for_a_mean_over_pairs():
    """The AUC risk of a list has no bias: short and infinite lists have the same expectation."""
    cell = measure_cell(
        replace(PLAN, long=4000, fresh=40_000), Gaussian(), ("positives", 40), "AUC", seed=0
    )
    apart = mean_of([a - b for a, b in zip(cell.test, cell.limit, strict=True)])
    assert abs(apart.value) < 0.01


def test_gaps_of_a_cell_by_hand():
    values = {"train": [0.1, 0.2], "test": [0.4, 0.3], "others_train": [0.2, 0.2]}
    values |= {"others_test": [0.3, 0.1], "metric_train": [0.0, 0.5], "metric_test": [0.5, 0.5]}
    cell = Cell("p", "lists", 2, "AUC", 2, 5, 20, **values, excess=[], limit=[])
    assert cell.gaps == pytest.approx([0.3, 0.1])
    assert cell.centered == pytest.approx([0.2, 0.2])
    assert cell.metric_gaps == pytest.approx([0.5, 0.0])


def test_losses_have_the_same_samples_and_the_seed_decides():
    first, other = (measure_cell(PLAN, Gaussian(), ("lists", 4), "AUC", seed) for seed in (0, 1))
    again = measure_cell(PLAN, Gaussian(), ("lists", 4), "AUC", 0)
    assert first == again
    assert first.train != other.train


def test_twins_are_closer_with_more_data_and_the_bound_holds():
    few, many = (
        measure_twins(Gaussian(), "plain AP", n, radius=2.0, repeats=4, seed=0) for n in (20, 200)
    )
    assert mean_of(many.positive).value < mean_of(few.positive).value / 3
    assert many.bound < few.bound
    assert mean_of(few.centered).value < few.bound
    expected = few.gradient * (8 * mean_of(few.positive).value + 24 * mean_of(few.negative).value)
    assert few.bound == pytest.approx(expected)
