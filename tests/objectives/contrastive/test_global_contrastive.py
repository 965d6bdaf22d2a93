from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import normalize

from rankwise.baselines.info_nce import InfoNCE
from rankwise.objectives import embedding_scores
from rankwise.objectives.contrastive import GlobalContrastive, two_modalities, two_views

SCORES, TARGET = torch.tensor([0.5, 0.9, 0.1]), torch.tensor([1, 0, 0])


def test_one_batch_by_hand():
    inner = (math.exp(0.4 / 0.2) + math.exp(-0.4 / 0.2)) / 2
    value = GlobalContrastive(1, 0.2)(SCORES, TARGET)
    assert value.item() == pytest.approx(0.2 * math.log(inner))
    value = GlobalContrastive(None, 0.2, 0.5)(SCORES, TARGET)
    assert value.item() == pytest.approx(0.2 * math.log(0.5 + inner))


def test_memory_by_hand_over_two_steps():
    loss = GlobalContrastive(3, 0.5, 0.25, ema_rate=0.75)
    first = torch.tensor([[0.5, 0.9], [0.5, 0.1]], requires_grad=True)
    target = torch.tensor([[1, 0], [1, 0]])
    g = [math.exp(0.4 / 0.5), math.exp(-0.4 / 0.5)]
    value = loss(first, target, list_ids=torch.tensor([2, 0]))
    assert value.item() == pytest.approx(sum(0.5 * math.log(0.25 + x) for x in g) / 2)
    second = torch.tensor([[0.2, 0.8]], requires_grad=True)
    value = loss(second, target[:1], list_ids=torch.tensor([2]))
    estimate = math.exp(0.6 / 0.5)
    u = 0.25 * g[0] + 0.75 * estimate
    assert value.item() == pytest.approx(0.5 * math.log(0.25 + u))
    value.backward()
    # τ / (ε + u) · dĝ/ds, and dĝ/ds_j = ĝ/τ = −dĝ/ds⁺
    slope = estimate / (0.25 + u)
    torch.testing.assert_close(second.grad, torch.tensor([[-slope, slope]]))
    kept = loss.average.value.squeeze(1)
    torch.testing.assert_close(kept, torch.tensor([math.log(g[1]), 0.0, math.log(u)]))
    assert loss.average.seen.tolist() == [True, False, True]


def test_both_views_of_an_item_teach_their_mean():
    loss = GlobalContrastive(2, 0.5)
    scores = torch.tensor([[0.5, 0.9], [0.5, 0.1]], requires_grad=True)
    loss(scores, torch.tensor([[1, 0], [1, 0]]), list_ids=torch.tensor([1, 1]))
    expected = (math.exp(0.8) + math.exp(-0.8)) / 2
    assert loss.average.value[1].item() == pytest.approx(math.log(expected))


@given(seed=st.integers(0, 1000), positives=st.integers(1, 4))
@settings(max_examples=20)
def test_several_positives_are_the_mean_over_them(seed, positives):
    rng = torch.Generator().manual_seed(seed)
    scores = torch.randn(10, dtype=torch.float64, generator=rng)
    target = torch.arange(10) < positives
    loss = GlobalContrastive(None, 0.3)
    alone = [torch.cat([scores[p : p + 1], scores[positives:]]) for p in range(positives)]
    one = torch.arange(11 - positives) < 1
    expected = torch.stack([loss(s, one) for s in alone]).mean()
    torch.testing.assert_close(loss(scores, target), expected)


def test_classes_are_positives_by_embedding_scores():
    torch.manual_seed(0)
    embeddings, labels = torch.randn(8, 3, dtype=torch.float64), torch.arange(8) % 3
    lists = embedding_scores(embeddings, labels)
    value = GlobalContrastive(20, 0.2)(
        lists.scores, lists.target, mask=lists.mask, list_ids=torch.arange(10, 18)
    )
    e, losses = normalize(embeddings, dim=1), []
    for i in range(8):
        near = [j for j in range(8) if labels[j] == labels[i] and j != i]
        far = [j for j in range(8) if labels[j] != labels[i]]
        inner = ((e[far] @ e[i] - (e[near] @ e[i]).mean()) / 0.2).exp().mean()
        losses.append(0.2 * inner.log())
    torch.testing.assert_close(value, torch.stack(losses).mean(), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("temperature", [1e-3, 0.1])
@pytest.mark.parametrize("epsilon", [0.0, 1e-8])
def test_extremes_stay_finite_over_many_steps(dtype, temperature, epsilon):
    loss = GlobalContrastive(2, temperature, epsilon, ema_rate=0.1)
    target = torch.tensor([[1, 0, 0], [1, 0, 0]])
    for sign in (1, -1, 1, 0, -1):
        scores = sign * torch.tensor([[1e4, -1e4, 0.0], [-1e4, 0.5, 1e4]])
        leaf = scores.to(dtype).requires_grad_()
        value = loss(leaf, target, list_ids=torch.tensor([0, 1]))
        value.backward()
        assert value.isfinite()
        assert leaf.grad.isfinite().all()
    assert loss.average.value.isfinite().all()


def test_a_small_temperature_is_the_hardest_negative():
    value = GlobalContrastive(None, 1e-6)(SCORES.double(), TARGET)
    torch.testing.assert_close(value, torch.tensor(0.4, dtype=torch.float64), rtol=1e-5, atol=0)
    leaf = SCORES.clone().requires_grad_()
    GlobalContrastive(1, 1e-3)(leaf, TARGET).backward()
    torch.testing.assert_close(leaf.grad, torch.tensor([-1.0, 1.0, 0.0]))


def test_the_tracked_loss_approaches_that_of_all_the_negatives():
    """Fixed embeddings, batches of 8 of 200: the average forgets the batch, InfoNCE cannot."""
    torch.manual_seed(0)
    items, temperature = 200, 0.1
    first = normalize(torch.randn(items, 8, dtype=torch.float64), dim=1)
    second = normalize(first + 0.5 * torch.randn(items, 8, dtype=torch.float64), dim=1)
    whole = two_modalities(first, second, torch.arange(items), items)
    full = GlobalContrastive(None, temperature)
    truth = full(**whole._asdict()).item()
    loss = GlobalContrastive(2 * items, temperature, ema_rate=0.05)
    batch_values = []
    for _ in range(1000):
        rows = torch.randperm(items)[:8]
        lists = two_modalities(first[rows], second[rows], rows, items)
        lists.scores.requires_grad_()
        loss(**lists._asdict())
        batch_values.append(full(**lists._asdict()).item())
    tracked = temperature * loss.average.value.mean().item()
    batch = sum(batch_values) / len(batch_values)
    assert truth - batch > 0.04  # Jensen: the logarithm of a small mean is too low
    assert abs(tracked - truth) < 0.1 * (truth - batch)
    # InfoNCE counts its few negatives, so its value and its bias are those of the batch.
    infonce = InfoNCE(temperature)(**lists._asdict()).item() * temperature
    complete = InfoNCE(temperature)(**whole._asdict()).item() * temperature
    assert complete - infonce > 0.1


def test_the_gradient_approaches_that_of_all_the_negatives():
    """With tracked averages the mean gradient over batches points where the full one does."""
    torch.manual_seed(1)
    items, temperature = 60, 0.1
    base = normalize(torch.randn(items, 4, dtype=torch.float64), dim=1)
    texts = normalize(base + 0.5 * torch.randn(items, 4, dtype=torch.float64), dim=1)
    turn = torch.eye(4, dtype=torch.float64, requires_grad=True)

    def gradient(loss: GlobalContrastive, rows: torch.Tensor) -> torch.Tensor:
        lists = two_modalities(base[rows] @ turn, texts[rows], rows, items, normalize=False)
        (slope,) = torch.autograd.grad(loss(**lists._asdict()), turn)
        return slope

    truth = gradient(GlobalContrastive(None, temperature), torch.arange(items))
    tracked, plain = (
        GlobalContrastive(2 * items, temperature, ema_rate=0.02),
        GlobalContrastive(None),
    )
    sums = torch.zeros(2, 4, 4, dtype=torch.float64)
    for step in range(600):
        rows = torch.randperm(items)[:6]
        found = torch.stack([gradient(tracked, rows), gradient(plain, rows)])
        if step >= 200:
            sums += found / 400
    errors = (sums - truth).flatten(1).norm(dim=1) / truth.norm()
    assert errors[0] < 0.5 * errors[1]


def test_a_batch_of_896_is_no_burden():
    torch.manual_seed(0)
    first, second = torch.randn(2, 896, 16).requires_grad_().unbind()
    value = GlobalContrastive(1000)(**two_views(first, second, torch.arange(896))._asdict())
    value.backward()
    assert value.isfinite()


def test_written_as_the_call_that_makes_it():
    assert repr(GlobalContrastive(10, 0.2, ema_rate=0.5)) == (
        "GlobalContrastive(num_lists=10, temperature=0.2, ema_rate=0.5)"
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GlobalContrastive(0), "num_lists must be a whole number >= 1, got 0"),
        (lambda: GlobalContrastive(5, 0.0), "temperature must be a finite number > 0, got 0.0"),
        (lambda: GlobalContrastive(5, epsilon=-1.0), "epsilon must be a finite number >= 0"),
        (lambda: GlobalContrastive(5, ema_rate=0.0), r"ema_rate must be in \(0, 1\], got 0.0"),
    ],
)
def test_bad_options_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
