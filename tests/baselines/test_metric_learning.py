from __future__ import annotations

import copy

import pytest
import torch
from tests.baselines.cases import contrastive
from tests.compiling import check_compiled_loss, check_compiled_step, quiet_compiler

from rankwise.baselines import (
    Contrastive,
    CrossBatchMemory,
    MultiSimilarity,
    SmoothAP,
    Triplet,
)
from rankwise.objectives import SOAP, StableAP

SCORES, TARGET = torch.tensor([0.9, 0.2, 0.7, 0.15, -0.3]), torch.tensor([1, 1, 0, 0, 0])


def test_contrastive_worked_by_hand():
    expected = ((1 - 0.9) + (1 - 0.2) + (0.7 - 0.5)) / 5
    torch.testing.assert_close(Contrastive()(SCORES, TARGET), torch.tensor(expected))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Contrastive(float("nan")), "margin must be a finite number, got nan"),
    ],
)
def test_bad_options_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_triplet_worked_by_hand():
    total = (0.1 - 0.2 + 0.7) + (0.1 - 0.2 + 0.15)  # the positive .9 is beyond the margin
    torch.testing.assert_close(Triplet(0.1)(SCORES, TARGET), torch.tensor(total / 6))
    violating = Triplet(0.1, violating_only=True)
    torch.testing.assert_close(violating(SCORES, TARGET), torch.tensor(total / 2))


def test_no_violating_triplet_is_no_loss():
    scores = torch.tensor([5.0, 4.0, -1.0, -2.0], requires_grad=True)
    value = Triplet(violating_only=True)(scores, torch.tensor([1, 1, 0, 0]))
    value.backward()
    assert value == 0
    assert (scores.grad == 0).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Triplet(0.0), "margin must be a finite number > 0, got 0.0"),
    ],
)
def test_bad_options_of_triplet_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_multi_similarity_leaves_easy_pairs_out():
    """max_N = .7 keeps the positive .2 alone, min_P = .2 the negatives .7 and .15."""
    pulled = torch.log1p(torch.exp(torch.tensor(-2 * (0.2 - 0.5)))) / 2
    pushed = torch.log1p(torch.exp(50 * (torch.tensor([0.7, 0.15]) - 0.5)).sum()) / 50
    torch.testing.assert_close(MultiSimilarity()(SCORES, TARGET), pulled + pushed)


def test_multi_similarity_without_a_hard_pair_is_no_loss():
    value = MultiSimilarity()(torch.tensor([0.9, 0.8, 0.1]), torch.tensor([1, 1, 0]))
    assert value == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MultiSimilarity(alpha=0.0), "alpha must be a finite number > 0"),
        (lambda: MultiSimilarity(beta=-1.0), "beta must be a finite number > 0"),
        (lambda: MultiSimilarity(base=float("inf")), "base must be a finite number, got inf"),
    ],
)
def test_bad_options_of_multi_similarity_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def batch(seed, items=12):
    generator = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(items, 5, generator=generator)
    return embeddings.requires_grad_(), torch.arange(items) % 3


def by_hand(batches, size):
    """The contrastive loss of the last batch, its own items and the ``size`` before it."""
    (embeddings, labels), earlier = batches[-1], batches[:-1]
    cosines = torch.nn.functional.normalize
    held = [cosines(e.detach(), dim=1) for e, _ in earlier]
    gallery = torch.cat([cosines(embeddings, dim=1), *([torch.cat(held)[-size:]] if held else [])])
    before = [torch.cat([ids for _, ids in earlier])[-size:]] if held else []
    gallery_labels = torch.cat([labels, *before])
    scores = cosines(embeddings, dim=1) @ gallery.T
    losses = []
    for i, row in enumerate(scores):
        others = torch.arange(len(row)) != i
        losses.append(contrastive(row[others], (gallery_labels == labels[i])[others]))
    return torch.stack(losses).mean()


def test_value_and_gradient_are_those_of_batch_and_memory():
    loss = CrossBatchMemory(Contrastive(), size=20, dimension=5)
    batches = []
    for seed in range(4):
        embeddings, labels = batch(seed)
        batches.append((embeddings, labels))
        value, expected = loss(embeddings, labels), by_hand(batches, 20)
        torch.testing.assert_close(value, expected)
        (a,) = torch.autograd.grad(value, embeddings)
        (b,) = torch.autograd.grad(expected, embeddings)
        torch.testing.assert_close(a, b)


def test_nothing_is_remembered_in_evaluation_or_without_gradients():
    loss = CrossBatchMemory(SmoothAP(), size=20, dimension=5)
    loss(*batch(0))
    before = copy.deepcopy(loss.state_dict())
    with torch.no_grad():
        loss(*batch(1))
    loss.eval()(*batch(2))
    for name, value in loss.state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0)


def test_the_memory_starts_when_told():
    loss, plain = (CrossBatchMemory(Triplet(), 20, 5, start=start) for start in (2, 1_000))
    for seed in range(3):  # the third batch is remembered, the fourth uses it
        torch.testing.assert_close(loss(*batch(seed)), plain(*batch(seed)))
    assert loss(*batch(3)) != plain(*batch(3))
    assert int(plain.bank.count) == 0


def test_the_memory_resumes_from_its_state():
    loss, resumed = (CrossBatchMemory(Triplet(), 20, 5, start=1) for _ in range(2))
    for seed in range(3):
        loss(*batch(seed))
    resumed.load_state_dict(loss.state_dict())
    copied = copy.deepcopy(loss)
    expected = loss(*batch(3))
    for other in (resumed, copied):
        torch.testing.assert_close(other(*batch(3)), expected, rtol=0, atol=0)


def test_a_memory_by_list_is_by_class():
    objective = StableAP(torch.full((3,), 0.3), num_lists=3)
    loss = CrossBatchMemory(objective, size=20, dimension=5)
    assert loss(*batch(0)).isfinite()
    assert objective.mean.seen.all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CrossBatchMemory(SOAP(0.1, num_items=9), 5, 5), "objective must be an Objective"),
        (lambda: CrossBatchMemory("triplet", 5, 5), "objective must be an Objective.*got str"),
        (lambda: CrossBatchMemory(Triplet(), 0, 5), "size must be a whole number >= 1, got 0"),
        (lambda: CrossBatchMemory(Triplet(), 5, 5, start=-1), "start must be a whole number"),
    ],
)
def test_bad_options_of_the_memory_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@quiet_compiler
def test_compiled_it_runs_in_eager_mode_quietly():
    embeddings, labels = batch(0)

    def make():
        return CrossBatchMemory(Contrastive(), size=20, dimension=5)

    check_compiled_loss(make, embeddings.detach(), labels)
    check_compiled_step(make, embeddings.detach(), labels)


def test_a_last_batch_of_one_embedding_gives_zero_and_the_warning():
    embeddings, labels = batch(0, items=1)
    with pytest.warns(RuntimeWarning, match="no list of this batch has both classes"):
        value = CrossBatchMemory(Contrastive(), size=20, dimension=5)(embeddings, labels)
    assert value.item() == 0
    assert (torch.autograd.grad(value, embeddings)[0] == 0).all()
