from __future__ import annotations

import math

import pytest
import torch

from rankwise.memory import FCCOAverage, MirrorAverage, cosine_ema_rate, set_ema_rate
from rankwise.objectives import SOPRC, EntropicRisk, GlobalContrastive, PairwiseAUC, XRisk


def test_the_rate_falls_along_a_cosine():
    rates = [cosine_ema_rate(epoch, 8, 0.2) for epoch in range(10)]
    assert rates == pytest.approx(
        [0.8 * 0.5 * (1 + math.cos(math.pi * min(e, 8) / 8)) + 0.2 for e in range(10)]
    )
    assert rates[0] == 1.0
    assert rates[8] == rates[9] == 0.2


def test_the_next_update_has_the_new_rate():
    loss = GlobalContrastive(1, 1.0, ema_rate=0.5)
    target, rate = torch.tensor([1, 0]), 0.25
    loss(torch.tensor([0.0, 1.0], requires_grad=True), target)
    set_ema_rate(loss, rate)
    value = loss(torch.tensor([0.0, 2.0], requires_grad=True), target)
    assert value.item() == pytest.approx(math.log(0.75 * math.e + 0.25 * math.e**2))


def test_the_correction_follows_unless_it_was_given():
    follows, fixed = FCCOAverage(1, ema_rate=0.9), FCCOAverage(1, ema_rate=0.9, correction=0.3)
    for memory in (follows, fixed):
        set_ema_rate(memory, 0.2)
    assert follows.correction == pytest.approx(0.8)
    assert fixed.correction == 0.3


def test_only_averages_of_inner_means_change():
    loss = XRisk("logistic", torch.log1p, num_items=5)
    set_ema_rate(loss, 0.4)
    assert loss.average.ema_rate == 0.4
    set_ema_rate(loss, 1.0)
    assert loss.average.ema_rate == 1
    for without in (PairwiseAUC(), SOPRC(0.1), EntropicRisk(5, 9, log_step=1.0)):
        with pytest.raises(ValueError, match="module must have moving averages with a rate"):
            set_ema_rate(without, 0.4)
    assert MirrorAverage(1, log_step=0.0).ema_rate == 1.0


@pytest.mark.parametrize("rate", [0.0, 1.5, math.nan])
def test_wrong_rates(rate):
    with pytest.raises(ValueError, match=r"lowest must be in \(0, 1\]"):
        cosine_ema_rate(0, 5, rate)
    with pytest.raises(ValueError, match=r"ema_rate must be in \(0, 1\]"):
        set_ema_rate(GlobalContrastive(3), rate)


def test_wrong_epochs():
    with pytest.raises(ValueError, match="epoch must be"):
        cosine_ema_rate(-1, 5, 0.2)
    with pytest.raises(ValueError, match="epochs must be"):
        cosine_ema_rate(0, 0, 0.2)
