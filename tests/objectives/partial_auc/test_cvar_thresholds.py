"""The memory of CVaR: where a threshold starts, its steps by hand, and where it settles."""

from __future__ import annotations

import pytest
import torch

from rankwise.objectives.partial_auc._cvar import Thresholds


def visit(memory, item_ids, start, beyond):
    item_ids = torch.tensor(item_ids)
    update = memory.descend(
        item_ids,
        torch.tensor(start),
        torch.tensor(beyond),
        torch.ones_like(item_ids, dtype=torch.bool),
    )
    memory.update(update.ids, update.estimates)


def test_steps_by_hand():
    memory = Thresholds(4, level=0.25, step=0.1)
    visit(memory, [2, 1], [3.0, 5.0], [0.9, 0.9])
    threshold, seen = memory.known(torch.arange(4))
    assert threshold.tolist() == [0, 5, 3, 0]
    assert seen.tolist() == [False, True, True, False]
    visit(memory, [2, 1], [99.0, 99.0], [0.5, 0.0])
    expected = [0, 5 - 0.1 * (1 - 0), 3 - 0.1 * (1 - 0.5 / 0.25), 0]
    torch.testing.assert_close(memory.known(torch.arange(4))[0], torch.tensor(expected))


def test_two_steps_of_one_key_are_averaged():
    memory = Thresholds(1, level=0.5, step=0.2)
    visit(memory, [0], [1.0], [0.0])
    visit(memory, [0, 0], [9.0, 9.0], [0.0, 1.0])
    expected = 1 - 0.2 * ((1 - 0) + (1 - 2)) / 2
    torch.testing.assert_close(memory.value, torch.tensor([[expected]]))


def test_a_threshold_is_never_negative():
    memory = Thresholds(1, level=0.5, step=10.0)
    visit(memory, [0], [1.0], [0.0])
    visit(memory, [0], [1.0], [0.0])
    assert memory.value.item() == 0


def test_absent_keys_learn_nothing():
    memory = Thresholds(3, level=0.5, step=0.1)
    item_ids = torch.tensor([0, 2])
    present = torch.tensor([False, True])
    update = memory.descend(item_ids, torch.tensor([1.0, 2.0]), torch.zeros(2), present)
    assert [t.tolist() for t in (update.ids, update.estimates)] == [[2], [[2.0]]]


def test_it_settles_where_the_share_is_beyond():
    torch.manual_seed(0)
    losses = torch.rand(2000, dtype=torch.float64)
    memory = Thresholds(1, level=0.2, step=0.02)
    trace = []
    for _ in range(1500):
        batch = losses[torch.randint(2000, (20,))]
        threshold, _ = memory.known(torch.zeros(1, dtype=torch.long))
        visit(memory, [0], [0.3], [(batch > threshold).double().mean().item()])
        trace.append(memory.value.item())
    late = sum(trace[500:]) / 1000
    assert late == pytest.approx(losses.quantile(0.8).item(), abs=0.02)


def test_a_wrong_step_is_named():
    with pytest.raises(ValueError, match="threshold_rate must be a finite number > 0, got 0"):
        Thresholds(2, level=0.5, step=0)
