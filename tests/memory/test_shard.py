from __future__ import annotations

import pytest
import torch

from rankwise.memory import MovingAverage
from rankwise.memory._shard import Shard


def memory() -> MovingAverage:
    average = MovingAverage(7, 2, ema_rate=0.5)
    average.update(torch.arange(7), torch.arange(14.0).reshape(7, 2))
    return average


@pytest.mark.parametrize("world", [1, 2, 3, 9])
def test_every_row_has_one_owner(world):
    whole = memory()
    for rank in range(world):
        part = memory()
        part.shard = Shard(part, 7, rank, world)
        assert torch.equal(part.value, whole.value[rank::world])
        assert torch.equal(part.seen, whole.seen[rank::world])
        assert torch.equal(
            torch.arange(7)[part.shard.own(torch.arange(7))] % world,
            torch.full_like(part.value[:, 0], rank).long(),
        )


def test_rows_are_loaded_for_an_update_and_kept_by_their_owner():
    whole, part = memory(), memory()
    part.shard = Shard(part, 7, 0, 2)
    ids, estimates = torch.tensor([5, 2, 2]), torch.ones(3, 2)
    expected = whole.update(ids, estimates)
    loaded = torch.tensor([2, 3, 5])
    rows = {name: memory().get_buffer(name)[loaded] for name in part.shard.names}
    with part.shard.loaded(part, loaded, rows):
        assert torch.equal(part.update(ids, estimates), expected)
    assert torch.equal(part.value, whole.value[::2])
    with pytest.raises(RuntimeError, match="has no rows loaded"):
        part.update(ids, estimates)


def test_a_call_that_fails_leaves_the_rows():
    part = memory()
    part.shard = Shard(part, 7, 0, 2)
    before, ids = part.value.clone(), torch.tensor([2, 3])
    rows = {name: part.get_buffer(name)[:2].clone() for name in part.shard.names}

    def fail() -> None:
        assert part.shard is not None
        with part.shard.loaded(part, ids, rows):
            part.value.fill_(9.0)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert torch.equal(part.value, before)
