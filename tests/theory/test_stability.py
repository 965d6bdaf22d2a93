from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from rankwise.objectives import SOPRC, AveragePrecision
from rankwise.theory import TwinTraining, model_stability

SMALL = TwinTraining(width=4, batch_positives=4, batch_negatives=8, twins=3)


def cross_entropy(models):
    return lambda scores, target: binary_cross_entropy_with_logits(scores, target.to(scores.dtype))


def average_precision(models):
    return AveragePrecision(None, gain="fixed", score_scale=1.0)


def soprc(models):
    objective = SOPRC(0.1, models, gain="fixed", score_scale=1.0)
    return lambda scores, target: objective(scores, target, list_ids=torch.arange(models))


@pytest.mark.parametrize("factory", [cross_entropy, average_precision, soprc])
@pytest.mark.parametrize("hidden", [None, 5])
def test_distances_are_finite_positive_and_the_seed_decides_them(factory, hidden):
    training = TwinTraining(width=4, batch_positives=4, batch_negatives=8, twins=3, hidden=hidden)
    first, again = (
        model_stability(factory, 6, (5, 20), training=training, repeats=2, seed=7) for _ in range(2)
    )
    assert first == again
    assert [row.steps for row in first] == [5, 20]
    for row in first:
        for mean in (row.positive, row.negative, row.relative_positive, row.relative_negative):
            assert math.isfinite(mean.value)
            assert mean.value >= 0
            assert math.isfinite(mean.standard_error)
            assert mean.n == 2
    assert first[-1].positive.value > 0
    assert first[-1].negative.value > 0


def test_more_examples_make_each_matter_less():
    few, many = (
        model_stability(cross_entropy, n, (30,), training=SMALL, repeats=4)[0] for n in (5, 100)
    )
    assert many.positive.value < few.positive.value / 4
    assert many.negative.value < few.negative.value / 4


def test_side_by_side_is_the_same_as_one_model_at_a_time():
    """The gradient of every model is its own: with more twins the first ones do not change."""
    gradients = {}
    for models in (1, 4):
        loss = soprc(models)
        torch.manual_seed(0)
        scores = torch.randn(1, 12).expand(models, -1).clone().requires_grad_()
        target = (torch.arange(12) < 4).expand(models, -1)
        (models * loss(scores, target)).backward()
        gradients[models] = scores.grad
    torch.testing.assert_close(gradients[4], gradients[1].expand(4, -1))


def test_falling_rates_are_the_constant_one_over_t():
    falling = replace(SMALL, schedule="inverse", learning_rate=0.4)
    assert [falling.rate(t) for t in (1, 2, 4)] == [0.4, 0.2, 0.1]
    assert replace(falling, schedule="constant").rate(4) == 0.4
    one, other = (
        model_stability(cross_entropy, 6, (1, 9), training=t, repeats=2)
        for t in (falling, replace(falling, schedule="constant"))
    )
    assert one[0] == other[0]  # the first step is the same
    assert one[1].positive.value < other[1].positive.value


def test_the_vector_of_soprc_is_part_of_the_model():
    def remembered(models):
        return SOPRC(0.1, models, gain="fixed", score_scale=1.0)

    found, wrapped = (
        model_stability(factory, 6, (1, 15), training=SMALL, repeats=2, seed=3)
        for factory in (remembered, soprc)
    )
    for row, own in zip(found, wrapped, strict=True):
        assert (row.positive, row.negative) == (own.positive, own.negative)
        assert own.memory_positive is None
        assert own.memory_negative is None
    # Before the first step the models are equal: only a replaced positive changes v.
    assert found[0].memory_positive.value > 0
    assert found[0].memory_negative.value == 0
    assert found[1].memory_negative.value > 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"steps": ()}, "^steps must"),
        ({"n_positives": 0}, "^n_positives must"),
        ({"repeats": 0}, "^repeats must"),
    ],
)
def test_errors_name_the_argument(given, message):
    with pytest.raises(ValueError, match=message):
        model_stability(cross_entropy, **({"n_positives": 5, "steps": (2,)} | given))
    with pytest.raises(ValueError, match=r"^twins must"):
        TwinTraining(twins=0)
    with pytest.raises(ValueError, match=r"^schedule must"):
        TwinTraining(schedule="cosine")
