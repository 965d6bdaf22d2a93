from __future__ import annotations

import pytest
import torch

from rankwise.memory import RatioAverage


def columns(n: torch.Tensor, d: torch.Tensor) -> torch.Tensor:
    return torch.stack([d.log(), n / d], -1)


def test_both_means_are_averaged_and_rows_of_one_id_together():
    rng = torch.Generator().manual_seed(0)
    memory, ids = RatioAverage(3, ema_rate=0.3), torch.tensor([2, 0, 2])
    u = None
    for _ in range(5):
        n = torch.randn(3, generator=rng)
        d = torch.rand(3, generator=rng) + 0.1
        mean = torch.stack([(n[[0, 2]].mean()), n[1], d[[0, 2]].mean(), d[1]])
        u = mean if u is None else 0.7 * u + 0.3 * mean
        got = memory.update(ids, columns(n, d))
        torch.testing.assert_close(got[:2], columns(u[:2], u[2:]), rtol=1e-5, atol=1e-6)
        assert torch.equal(got[0], got[2])
    assert memory.seen.tolist() == [True, False, True]


def test_the_gradient_is_that_of_the_estimate_at_the_averages():
    memory, ids = RatioAverage(1, ema_rate=0.5), torch.tensor([0])
    memory.update(ids, columns(torch.tensor([1.0]), torch.tensor([2.0])))
    estimate = columns(torch.tensor([8.0]), torch.tensor([4.0])).requires_grad_()
    ratio, _ = memory.track(ids, estimate)
    n, d = (1 + 8) / 2, (2 + 4) / 2
    assert ratio.item() == pytest.approx(n / d)
    (gradient,) = torch.autograd.grad(ratio.sum(), estimate)
    assert gradient[0].tolist() == pytest.approx([4 / d * (8 / 4 - n / d), 4 / d])


def test_a_rate_of_1_keeps_the_last_estimate():
    memory, ids = RatioAverage(1, ema_rate=1.0), torch.tensor([0])
    memory.update(ids, torch.tensor([[5.0, 3.0]]))
    assert memory.update(ids, torch.tensor([[-2.0, 7.0]])).tolist() == [[-2, 7]]


def test_a_correction_is_refused():
    with pytest.raises(ValueError, match="previous must be None"):
        RatioAverage(1, ema_rate=0.5).track(
            torch.tensor([0]), torch.zeros(1, 2), previous=torch.zeros(1, 2)
        )


def test_padding_is_left_out_of_the_update():
    memory, here = RatioAverage(2, ema_rate=0.5), torch.tensor([[True, False]])
    _, update = memory.track(torch.tensor([[1, 0]]), torch.zeros(1, 2, 2), here)
    assert update.ids.tolist() == [1]
    assert update.estimates.shape == (1, memory.update_width)
