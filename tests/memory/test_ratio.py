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
