from __future__ import annotations

import re

import numpy as np
import pytest
import torch
import torch.distributed as dist

from rankwise.samplers import ListBatches


def sampler(**options):
    return ListBatches([0, 1, 2, 3], 1, **options)  # four batches


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed must be a whole number >= 0, got -1"),
        ({"seed": 0.5}, "seed must be a whole number >= 0, got 0.5"),
        ({"rank": 0}, "rank and world_size go together, got rank=0 and world_size=None"),
        ({"world_size": 2}, "rank and world_size go together, got rank=None and world_size=2"),
        ({"rank": 2, "world_size": 2}, "rank must be below world_size=2, got rank=2"),
        ({"rank": -1, "world_size": 2}, "rank must be a whole number >= 0, got -1"),
        ({"rank": 0, "world_size": 0}, "world_size must be a whole number >= 1, got 0"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        sampler(**options)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"epoch": 1}, "state must have the keys 'epoch' and 'given', got ['epoch']"),
        ({"epoch": -1, "given": 0}, "state['epoch'] must be a whole number >= 0, got -1"),
        ({"epoch": 0, "given": 1.5}, "state['given'] must be a whole number >= 0, got 1.5"),
        ({"epoch": 0, "given": 5}, "state['given'] must be at most the 4 batches"),
    ],
)
def test_bad_states_change_nothing(state, message):
    one = sampler()
    with pytest.raises(ValueError, match=re.escape(message)):
        one.load_state_dict(state)
    assert one.state_dict() == {"epoch": 0, "given": 0}


def test_bad_epoch():
    with pytest.raises(ValueError, match="epoch must be a whole number >= 0, got -1"):
        sampler().set_epoch(-1)


def test_the_place_among_processes_is_that_of_torch_distributed(monkeypatch):
    assert (sampler().rank, sampler().world_size) == (0, 1)
    monkeypatch.setattr(dist, "is_initialized", lambda: True)
    monkeypatch.setattr(dist, "get_rank", lambda: 1)
    monkeypatch.setattr(dist, "get_world_size", lambda: 2)
    assert list(sampler()) == list(sampler(rank=1, world_size=2))
    assert len(sampler()) == 2
    assert len(sampler(rank=0, world_size=1)) == 4


def test_the_state_is_plain_integers_whatever_came_in():
    one = sampler()
    one.set_epoch(np.int64(3))
    assert type(one.state_dict()["epoch"]) is int
    one.load_state_dict({"epoch": np.int64(3), "given": np.int32(2)})
    assert {type(value) for value in one.state_dict().values()} == {int}


def test_neither_draws_from_nor_seeds_the_global_generators():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    list(sampler())
    assert torch.equal(before, torch.get_rng_state())
