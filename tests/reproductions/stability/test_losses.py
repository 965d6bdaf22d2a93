"""The losses on lists worked out by hand, and models side by side that do not see each other."""

from __future__ import annotations

import math

import pytest
import torch

from rankwise.theory import TwinTraining
from reproductions.stability.losses import LISTS, RATE, TAU, models

HUBER = 1 + 2 / TAU  # of a negative that is higher by 1


def fragile(half: int, intruder: float = -1.0) -> tuple[torch.Tensor, torch.Tensor]:
    """Positives at 0, negatives at −1 but for one."""
    scores = torch.cat([torch.zeros(half), -torch.ones(half)]).double()
    scores[-1] = intruder
    return scores, torch.arange(2 * half) < half


def value(name: str, half: int, intruder: float = -1.0) -> float:
    return float(LISTS[name]()(*fragile(half, intruder)))


def test_the_lists_and_the_models_are_under_the_same_losses():
    assert list(models(0.1)) == list(LISTS)


@pytest.mark.parametrize(
    ("name", "least"),
    [("StableAP", 0.1), ("SOPRC", 0.0), ("plain AP", 0.0), ("SmoothAP", 0.0)],
)
def test_classes_that_are_apart_cost_the_least_there_is(name, least):
    assert value(name, 8) == pytest.approx(least, abs=1e-9)  # ε of StableAP


@pytest.mark.parametrize("half", [4, 64, 1024])
def test_one_negative_above_equal_positives_by_hand(half):
    # Every positive has one false positive of Huber's size, and no other positive above it.
    assert value("plain AP", half, 1.0) == pytest.approx(HUBER / (1 + HUBER))
    ratio = 101 * HUBER / half  # of v no entry is above either: the rate is 1/101
    assert value("SOPRC", half, 1.0) == pytest.approx(ratio / (1 + ratio))
    rank = 1 / (1 + 2 * 2 / TAU)  # of the mean itself; scores differ by 2 at most
    x = (1.1 / (rank + 0.1)) ** 2 * HUBER / half
    assert value("StableAP", half, 1.0) == pytest.approx(math.sqrt(0.01 + x / (1 + x)))
    above = 1 + (half - 1) / 2
    assert value("SmoothAP", half, 1.0) == pytest.approx(1 / (1 + above))


def test_cross_entropy_by_hand():
    negatives = 3 * math.log1p(math.exp(-1)) + math.log1p(math.exp(1))
    assert value("cross-entropy", 4, 1.0) == pytest.approx((4 * math.log(2) + negatives) / 8)


def test_the_share_of_the_lists_is_that_of_their_positives():
    _, target = fragile(10)
    assert float(target.double().mean()) == RATE


@pytest.mark.parametrize("name", LISTS)
def test_a_loss_is_made_anew_for_every_list(name):
    first = value(name, 8, 1.0)
    used = LISTS[name]()
    used(*fragile(8, -0.5))
    used(*fragile(8, 0.5))
    assert value(name, 8, 1.0) == first


def batches(count: int, seed: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Batches of three models, twelve scores each."""
    rng = torch.Generator().manual_seed(seed)
    target = (torch.arange(12) < 3).expand(3, -1)
    return [(torch.randn(3, 12, generator=rng), target) for _ in range(count)]


@pytest.mark.parametrize("name", LISTS)
def test_models_side_by_side_are_as_if_each_were_alone(name):
    make = models(0.1)[name]
    together, alone = make(3), [make(1) for _ in range(3)]
    for scores, target in batches(4, seed=1):
        own = [loss(scores[i : i + 1], target[:1]) for i, loss in enumerate(alone)]
        torch.testing.assert_close(together(scores, target), torch.stack(own).mean())


@pytest.mark.parametrize(("name", "remembers"), [("StableAP", True), ("SOPRC", True),
                                                 ("plain AP", False), ("SmoothAP", False),
                                                 ("cross-entropy", False)])  # fmt: skip
def test_only_ours_remember_the_batches_before(name, remembers):
    (before, last) = batches(2, seed=2)
    used = models(0.1)[name](3)
    used(*before)
    fresh = models(0.1)[name](3)(*last)
    assert (float(used(*last)) != float(fresh)) == remembers


@pytest.mark.parametrize(("name", "uses"), [("StableAP", True), ("SOPRC", True),
                                            ("plain AP", False), ("SmoothAP", False),
                                            ("cross-entropy", False)])  # fmt: skip
def test_only_ours_have_the_prior_of_the_data_set(name, uses):
    (batch,) = batches(1, seed=3)
    rare, common = (float(models(prior)[name](3)(*batch)) for prior in (0.01, 0.5))
    assert (rare > common) if uses else (rare == common)


def test_one_list_of_each_model_is_remembered_whatever_their_number():
    t = TwinTraining()
    count = 2 * t.twins + 1
    target = (torch.arange(12) < 3).expand(count, -1)
    scores = torch.randn(1, 12, generator=torch.Generator().manual_seed(4)).expand(count, -1)
    for name in ("StableAP", "SOPRC"):
        whole, one = models(0.1)[name](count), models(0.1)[name](1)
        torch.testing.assert_close(whole(scores, target), one(scores[:1], target[:1]))
