"""What holds for every sampler: a new one gets all of it by a line in the table."""

from __future__ import annotations

import io
import time

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader, TensorDataset

from rankwise.samplers import BalancedBatches, ClassBatches, ListBatches

ITEMS = 60
RNG = np.random.default_rng(0)
TARGET = RNG.random(ITEMS) < 0.2
LABELS = RNG.integers(0, 9, ITEMS)

SAMPLERS = {
    "balanced": lambda **options: BalancedBatches(TARGET, 2, 3, **options),
    "classes": lambda **options: ClassBatches(LABELS, 3, 2, **options),
    "lists": lambda **options: ListBatches(LABELS, 2, 4, **options),
    "whole_lists": lambda **options: ListBatches(LABELS, 1, **options),
}

every_sampler = pytest.mark.parametrize("name", SAMPLERS)
few = settings(max_examples=20)


@every_sampler
@given(seed=st.integers(0, 2**40), epoch=st.integers(0, 1000))
@few
def test_an_epoch_follows_from_its_seed_and_number(name, seed, epoch):
    one, two = (SAMPLERS[name](seed=seed) for _ in range(2))
    one.set_epoch(epoch)
    two.set_epoch(epoch)
    first = list(one)
    assert first == list(two)
    assert len(first) == len(one)
    assert all(type(item) is int and 0 <= item < ITEMS for batch in first for item in batch)
    second = list(one)
    assert second != first
    two.set_epoch(epoch + 1)
    assert list(two) == second
    assert first != list(SAMPLERS[name](seed=seed + 1))


@every_sampler
@given(world_size=st.integers(1, 50), epoch=st.integers(0, 3))
@few
def test_shards_are_of_equal_length_and_make_up_the_epoch(name, world_size, epoch):
    samplers = [SAMPLERS[name](rank=rank, world_size=world_size) for rank in range(world_size)]
    whole = SAMPLERS[name]()
    for sampler in [whole, *samplers]:
        sampler.set_epoch(epoch)
    batches, shards = list(whole), [list(sampler) for sampler in samplers]
    assert {len(shard) for shard in shards} == {len(samplers[0])}
    dealt = [batch for turn in zip(*shards, strict=True) for batch in turn]
    assert dealt[: len(batches)] == batches
    again = dealt[len(batches) :]  # the first ones once more, as few as will do
    assert len(again) < world_size
    assert again == (batches * world_size)[: len(again)]


@every_sampler
@given(data=st.data(), epoch=st.integers(0, 3), world_size=st.integers(1, 3))
@few
def test_resuming_goes_on_as_if_nothing_had_happened(name, data, epoch, world_size):
    options = {"seed": 5, "rank": world_size - 1, "world_size": world_size}
    straight, stopped, resumed = (SAMPLERS[name](**options) for _ in range(3))
    straight.set_epoch(epoch)
    stopped.set_epoch(epoch)
    given = data.draw(st.integers(0, len(stopped)))
    batches = iter(stopped)
    before = [next(batches) for _ in range(given)]
    file = io.BytesIO()
    torch.save(stopped.state_dict(), file)
    file.seek(0)
    resumed.load_state_dict(torch.load(file, weights_only=True))
    assert resumed.state_dict() == {"epoch": epoch, "given": given}
    resumed.set_epoch(epoch)  # what a training loop does anyway
    assert before + list(resumed) == list(straight)
    assert list(resumed) == list(straight)
    assert resumed.state_dict() == {"epoch": epoch + 2, "given": 0}


@every_sampler
def test_an_epoch_that_was_left_is_begun_again(name):
    sampler = SAMPLERS[name]()
    first = next(iter(sampler))
    assert sampler.state_dict() == {"epoch": 0, "given": 1}
    assert next(iter(sampler)) == first
    sampler.load_state_dict({"epoch": 0, "given": 2})
    third = next(iter(sampler))
    assert next(iter(sampler)) == third != first
    sampler.set_epoch(1)
    assert sampler.state_dict() == {"epoch": 1, "given": 0}


@every_sampler
@pytest.mark.parametrize("workers", [0, 2])
def test_in_a_data_loader(name, workers):
    dataset = TensorDataset(torch.arange(ITEMS))
    loader = DataLoader(dataset, batch_sampler=SAMPLERS[name](), num_workers=workers)
    expected = SAMPLERS[name]()
    for _ in range(2):
        assert [batch.tolist() for (batch,) in loader] == list(expected)
    assert len(loader) == len(expected)


@every_sampler
def test_training_that_lags_behind_workers_resumes_by_what_it_counted(name):
    dataset = TensorDataset(torch.arange(ITEMS))
    loader = DataLoader(dataset, batch_sampler=SAMPLERS[name](), num_workers=1)
    batches = iter(loader)
    trained = [next(batches)[0].tolist()]
    resumed = SAMPLERS[name]()
    resumed.load_state_dict({"epoch": 0, "given": len(trained)})
    assert trained + list(resumed) == list(SAMPLERS[name]())


@every_sampler
def test_the_data_set_may_be_changed_afterwards(name, monkeypatch):
    expected = list(SAMPLERS[name]())
    target, labels = TARGET.copy(), LABELS.copy()
    monkeypatch.setitem(globals(), "TARGET", target)
    monkeypatch.setitem(globals(), "LABELS", labels)
    sampler = SAMPLERS[name]()
    target[:], labels[:] = True, 0
    assert list(sampler) == expected


MILLION = 10**6


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: BalancedBatches(rng.random(MILLION) < 0.01, 8, 8),
        lambda rng: BalancedBatches(np.arange(MILLION) < 5, 2, 8),
        lambda rng: ClassBatches(rng.integers(0, 10**5, MILLION), 32, 4),
        lambda rng: ClassBatches(rng.zipf(1.5, MILLION) % 1000, 8, 4),
        lambda rng: ListBatches(rng.integers(0, 10**5, MILLION), 32, 10),
    ],
    ids=["positives", "few_positives", "many_classes", "uneven_classes", "lists"],
)
def test_a_million_items_are_planned_at_once(make):
    sampler = make(np.random.default_rng(0))
    start = time.process_time()  # of this process alone: other tests may be running
    next(iter(sampler))
    assert time.process_time() - start < 1
