from __future__ import annotations

import pytest
import torch
from torch import nn

from rankwise.training.averaging import WeightAverage


def test_the_average_is_of_weights_and_floating_buffers():
    network = nn.BatchNorm1d(2)
    average = WeightAverage(network, 0.1)
    with torch.no_grad():
        network.weight.fill_(3.0)
        network.running_mean.fill_(2.0)
        network.num_batches_tracked.fill_(7)
    average.update()
    found = average.state_dict()
    torch.testing.assert_close(found["weight"], torch.full((2,), 1.2))
    torch.testing.assert_close(found["running_mean"], torch.full((2,), 0.2))
    assert found["num_batches_tracked"] == 7
    with average.applied():
        torch.testing.assert_close(network.weight.detach(), torch.full((2,), 1.2))
    assert network.weight.tolist() == [3.0, 3.0]


def test_the_weights_come_back_after_an_error():
    network = nn.Linear(1, 1)
    average, own = WeightAverage(network, 0.5), network.weight.detach().clone()
    with torch.no_grad():
        network.weight.add_(1)

    def fail():
        with average.applied():
            assert torch.equal(network.weight, own)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert torch.equal(network.weight, own + 1)


@pytest.mark.parametrize("rate", [0.0, 1.1, -1.0])
def test_a_rate_outside_of_its_range(rate):
    with pytest.raises(ValueError, match=r"ema_rate must be in \(0, 1\]"):
        WeightAverage(nn.Linear(1, 1), rate)
