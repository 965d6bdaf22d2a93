"""What the AP family shares: the scale that follows the scores, in training too."""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from rankwise.metrics import average_precision
from rankwise.objectives import SOAP, SOPRC, AveragePrecision, StableAP, embedding_scores
from rankwise.retrieval import evaluate


def trained(make, scale: float, seed: int) -> float:
    """Test AP of a linear model whose scores are multiplied by ``scale``."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(1500, 10, generator=generator)
    direction = torch.randn(10, generator=generator)
    noise = torch.randn(1500, generator=generator)
    y = x @ direction / direction.norm() + noise > 2.2
    weights = 0.1 * torch.randn(10, generator=generator)
    weights.requires_grad_()
    optimizer = torch.optim.Adam([weights], lr=0.05)
    loss = make()
    for _ in range(60):
        optimizer.zero_grad()
        loss(scale * (x[:1000] @ weights), y[:1000]).backward()
        optimizer.step()
    return float(average_precision(x[1000:] @ weights, y[1000:]))


@pytest.mark.parametrize(
    "make",
    [lambda: AveragePrecision(0.05), lambda: SOPRC(0.05), lambda: StableAP(0.05)],
    ids=["AveragePrecision", "SOPRC", "StableAP"],
)
def test_training_ends_alike_on_three_score_scales(make):
    results = {s: [trained(make, s, seed) for seed in range(5)] for s in (0.01, 1.0, 100.0)}
    means = {s: sum(values) / 5 for s, values in results.items()}
    error = torch.tensor(results[1.0]).std().item() / math.sqrt(5)
    for scale in (0.01, 100.0):
        assert abs(means[scale] - means[1.0]) <= error


def hard_classes(classes: int, each: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Classes that overlap, in 4 of 16 columns: some errors can never be helped."""
    labels = torch.arange(classes).repeat_interleave(each)
    center = torch.randn(classes, 4, generator=generator)[labels]
    around = torch.randn(len(labels), 16, generator=generator) * torch.tensor(
        [2.0] * 4 + [1.0] * 12
    )
    around[:, :4] += center
    return around, labels


def judged(model: nn.Module) -> tuple[float, float]:
    """mAP on other classes, and the deviation of the cosines."""
    x, labels = hard_classes(30, 8, torch.Generator().manual_seed(1))
    found = normalize(model(x), dim=1).detach()
    return evaluate(found, labels).map, (found @ found.T).std().item()


@pytest.mark.parametrize("make", [SOPRC, StableAP], ids=["SOPRC", "StableAP"])
def test_embeddings_do_not_draw_together(make):
    # With a running spread taken as given, smaller scores cost less and the spread follows: after
    # these steps the cosines had a deviation of .02 and .03, and mAP was below the untrained one.
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    model = nn.Linear(16, 8)
    before = judged(model)
    loss, optimizer = make(3 / 39), torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(150):
        x, labels = hard_classes(10, 4, generator)
        lists = embedding_scores(model(x), labels)
        optimizer.zero_grad()
        loss(lists.scores, lists.target, mask=lists.mask).backward()
        optimizer.step()
    after = judged(model)
    assert after[0] > before[0]
    assert after[1] > before[1] / 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: SOPRC(0.1),
        lambda: SOPRC(0.1, semi_variance=(1.0, 5.0), gain="fixed"),
        lambda: StableAP(0.1),
        lambda: SOAP(0.1, 100),
    ],
    ids=["SOPRC", "SOPRC, semi-variance", "StableAP", "SOAP"],
)
def test_no_gradient_along_the_scores_whatever_the_running_spread_is(make):
    generator = torch.Generator().manual_seed(0)
    loss, item_ids = make(), torch.arange(100).reshape(2, 50)
    beside = {"item_ids": item_ids} if loss.memory_by == "item" else {}
    for size in (1.0, 30.0):  # the running spread is far from that of the second batch
        scores = size * torch.randn(2, 50, dtype=torch.float64, generator=generator) + 3
        scores.requires_grad_()
        target = torch.rand(2, 50, generator=generator) < 0.3
        (gradient,) = torch.autograd.grad(loss(scores, target, **beside), scores)
        centered = (scores - scores.mean(-1, keepdim=True)).detach()
        along = float((gradient * centered).sum())
        assert abs(along) < 1e-6 * float((gradient * centered).abs().sum())


def test_the_spread_is_within_lists_and_knows_mask_and_weight():
    loss = SOPRC(0.1)
    scores = torch.tensor([[0.0, 2.0, 50.0], [100.0, 102.0, 50.0]], requires_grad=True)
    mask = torch.tensor([[True, True, False]] * 2)
    loss(scores, torch.tensor([[1, 0, 0]] * 2), mask=mask)
    assert loss.spread.value.item() == 1  # variance of (0, 2), whatever the offset
    loss = SOPRC(0.1)
    loss(
        torch.tensor([0.0, 4.0], requires_grad=True),
        torch.tensor([1, 0]),
        weight=torch.tensor([3.0, 1.0]),
    )
    assert loss.spread.value.item() == pytest.approx(3 * 1 / 4 + 9 / 4)


def test_a_running_spread_moves_slowly():
    loss = SOPRC(0.1)
    target = torch.arange(100) < 10
    loss(torch.randn(100, requires_grad=True), target)
    before = loss.spread.value.item()
    loss(100 * torch.randn(100, requires_grad=True), target)
    assert before < loss.spread.value.item() < 0.2 * 100**2


@pytest.mark.parametrize("make", [AveragePrecision, partial(SOPRC, 0.1), partial(StableAP, 0.1)])
def test_from_log_to_ap_in_the_steps_of_training(make):
    torch.manual_seed(0)
    scores, target = torch.randn(40), torch.arange(40) < 4
    loss = make(outer="log_to_ap", outer_steps=4, gain="fixed", score_scale=1.0)
    powers = []
    for _ in range(6):
        powers.append(loss.power)
        loss(scores, target)
    assert powers == [0, 0.25, 0.5, 0.75, 1, 1]
    loss.eval()(scores, target)
    assert int(loss.outer_step) == 6
    resumed = make(outer="log_to_ap", outer_steps=4, gain="fixed", score_scale=1.0)
    resumed.load_state_dict(loss.state_dict())
    assert resumed.power == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outer": "exp"}, "outer must be"),
        ({"outer": 1.5}, "outer must be"),
        ({"outer": "log_to_ap"}, "outer_steps must be given"),
        ({"outer": "log", "outer_steps": 5}, "outer_steps must be given"),
        ({"outer": "log_to_ap", "outer_steps": 0}, "outer_steps"),
    ],
)
def test_an_outer_function_that_is_none_raises(options, message):
    with pytest.raises(ValueError, match=message):
        SOPRC(0.1, **options)
