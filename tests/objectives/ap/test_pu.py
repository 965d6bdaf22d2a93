"""PU-AP against the estimate of the metric, and models that are trained by it."""

from __future__ import annotations

import pytest
import torch

from rankwise.metrics import average_precision, pu_average_precision
from rankwise.objectives import AveragePrecision, PUAveragePrecision

EXACT = {"false_positives": "zero_one", "true_positives": "zero_one", "gain": "fixed"}
PRIOR, LABELED, UNLABELED, FEATURES = 0.4, 100, 600, 10


def draw(seed, unlabeled=UNLABELED):
    """Labeled positives first: a part of the positives is far out, which costs a naive loss."""
    generator = torch.Generator().manual_seed(seed)
    truth = torch.rand(LABELED + unlabeled, generator=generator) < PRIOR
    truth[:LABELED] = True
    x = torch.randn(len(truth), FEATURES, generator=generator)
    easy = torch.rand(len(truth), generator=generator) < 0.3
    x[truth & easy, 0] += 4
    x[truth & ~easy, 0] += 0.3
    x[truth & ~easy, 1] += 1.2
    x[~truth, 2] -= 0.8
    return x, truth


def trained(loss, x, target, steps=60):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(FEATURES, 1), torch.nn.Flatten(0))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(model(x), target).backward()
        optimizer.step()
    return model


def test_a_model_comes_closer_to_that_of_the_true_labels_than_a_naive_one():
    found = []
    for seed in range(3):
        (x, truth), (x_test, y_test) = draw(seed), draw(100 + seed, 4_000)
        labeled = torch.arange(len(truth)) < LABELED
        losses = [
            (AveragePrecision(gain="fixed"), labeled),
            (PUAveragePrecision(PRIOR, gain="fixed"), labeled),
            (AveragePrecision(gain="fixed"), truth),
        ]
        scores = [trained(loss, x, target)(x_test).detach() for loss, target in losses]
        found.append([float(average_precision(s[LABELED:], y_test[LABELED:])) for s in scores])
    naive, ours, truth = torch.tensor(found).T
    assert (ours > naive).all()
    assert (ours - naive).mean() > 0.5 * (truth - naive).mean()


def test_with_exact_pairs_it_is_one_minus_the_metric_up_to_the_item_itself():
    x, truth = draw(0, 4_000)
    scores, labeled = x[:, 0] + x[:, 1], torch.arange(len(truth)) < 2_000
    for options in ({}, {"population_prior": 0.1}):
        loss = PUAveragePrecision(PRIOR, **options, **EXACT)(scores, labeled)
        metric = pu_average_precision(scores, labeled, prior=PRIOR, **options)
        assert abs(float(1 - loss - metric)) < 0.005


def test_one_labeled_positive_is_its_own_other():
    scores, target = torch.tensor([0.0, 1.0, -1.0]), torch.tensor([1, 0, 0])
    # FPR = (1/2 − .3 · 1)/.7, TPR = 1, and (1 − .3)/.3 · FPR = 2/3
    found = PUAveragePrecision(0.3, **EXACT)(scores, target)
    torch.testing.assert_close(found, torch.tensor(0.4))


def test_a_rate_below_zero_is_cut():
    scores, target = torch.tensor([4.0, 3.0, 2.0, 1.0]), torch.tensor([1, 1, 0, 0])
    assert PUAveragePrecision(0.3, **EXACT)(scores.requires_grad_(), target) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": 0}, r"prior must be in \(0, 1\), got 0; .* among the unlabeled items"),
        ({"prior": None}, "prior must be in"),
        ({"prior": 0.1, "population_prior": 1}, r"population_prior must be in \(0, 1\), got 1"),
        ({"prior": 0.1, "gain": "free"}, "gain must be one of"),
        (
            {"prior": 0.1, "false_positives": "hinges"},
            "false_positives must be the name of a surrogate",
        ),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        PUAveragePrecision(**options)
