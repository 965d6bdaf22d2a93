"""Gradients in parts against those of the whole batch in one graph, in double precision."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn

from rankwise.baselines import MultiSimilarity, SupCon
from rankwise.objectives import SOPRC, AveragePrecision, MinMaxAUC, embedding_scores
from rankwise.training import cached_backward

LABELS = torch.arange(6).repeat_interleave(4)


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 4)).double()


def gradients(size: int, objective: nn.Module) -> tuple[float, list[torch.Tensor]]:
    model, x = network(), torch.randn(24, 5, generator=torch.manual_seed(1)).double()

    def loss(embeddings: torch.Tensor) -> torch.Tensor:
        lists = embedding_scores(embeddings, LABELS)
        return objective(lists.scores, lists.target, mask=lists.mask)

    parts = [partial(model, piece) for piece in x.split(size)]
    value = cached_backward(parts, loss)
    assert not value.requires_grad
    learned = [*model.parameters(), *objective.parameters()]
    return value.item(), [p.grad for p in learned]


@pytest.mark.parametrize(
    "make",
    [
        AveragePrecision,
        partial(SOPRC, 0.1, tau_fpr=0.3, semi_variance=(1.0, 5.0)),
        SupCon,
        MultiSimilarity,
        MinMaxAUC,
    ],
)
@pytest.mark.parametrize("size", [24, 12, 8, 4])
def test_the_gradient_is_that_of_the_big_batch(make, size):
    model, x = network(), torch.randn(24, 5, generator=torch.manual_seed(1)).double()
    objective = make().double()
    lists = embedding_scores(model(x), LABELS)
    whole = objective(lists.scores, lists.target, mask=lists.mask)
    whole.backward()
    expected = [p.grad for p in [*model.parameters(), *objective.parameters()]]
    value, found = gradients(size, make().double())
    assert value == pytest.approx(whole.item(), rel=1e-12)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-14)
    assert max(g.abs().max() for g in found) > 1e-4


def test_one_graph_at_a_time_and_two_passes():
    model, x = network(), torch.randn(24, 5).double()
    seen = []

    def part(piece: torch.Tensor) -> torch.Tensor:
        seen.append((len(piece), torch.is_grad_enabled()))
        return model(piece)

    parts = [partial(part, piece) for piece in x.split(10)]
    cached_backward(parts, lambda e: e.square().sum())
    assert seen == [(10, False), (10, False), (4, False), (10, True), (10, True), (4, True)]
    seen.clear()
    cached_backward([partial(part, x)], lambda e: e.square().sum())
    assert seen == [(24, True)]  # one part is run once


def test_autocast_holds_for_both_passes():
    model = network().float()
    seen = []
    model[0].register_forward_hook(lambda _, __, out: seen.append(out.dtype))
    cached_backward(
        [partial(model, torch.ones(2, 5))] * 2,
        lambda e: e.float().sum(),
        forward=partial(torch.autocast, "cpu", torch.bfloat16),
    )
    assert seen == [torch.bfloat16] * 4


@pytest.mark.parametrize("size", [24, 8])
def test_a_loss_that_is_scaled_in_its_backward_pass_scales_every_gradient(size):
    found = []
    for factor in (1.0, 8.0):
        model, objective = network(), MinMaxAUC().double()
        x = torch.randn(24, 5, generator=torch.manual_seed(1)).double()

        def loss(embeddings, objective=objective):
            return objective(embeddings[:, 0], torch.arange(24) < 6)

        parts = [partial(model, piece) for piece in x.split(size)]
        cached_backward(parts, loss, backward=lambda value, f=factor: (f * value).backward())
        found.append([p.grad for p in [*model.parameters(), *objective.parameters()]])
    assert max(float(gradient.abs().max()) for gradient in found[0]) > 1e-4
    for plain, scaled in zip(*found, strict=True):
        torch.testing.assert_close(scaled, 8 * plain, rtol=1e-12, atol=0)
