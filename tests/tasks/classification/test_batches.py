from __future__ import annotations

import pytest
import torch
from tests.tasks.classification.cases import settings, splits

from rankwise.errors import UsageError
from rankwise.tasks.classification.batches import ShuffledBatches, fit_batches, make_sampler
from rankwise.tasks.classification.settings import Batches
from rankwise.training import Place

BINARY = torch.tensor([1] * 6 + [0] * 44)
CLASSES = torch.arange(5).repeat(10)


def sampler(target, classes, **how):
    return make_sampler(target, classes, Batches(**how), 0, Place())


def test_as_they_come_every_item_is_once_in_an_epoch():
    found = ShuffledBatches(50, 10, seed=1)
    batches = list(found)
    assert len(found) == len(batches) == 5
    assert sorted(i for batch in batches for i in batch) == list(range(50))
    assert list(found) != batches  # the next epoch
    assert found.rate == 0.2
    uneven = list(ShuffledBatches(7, 3))
    assert [len(batch) for batch in uneven] == [3, 3, 3]
    assert {i for batch in uneven for i in batch} == set(range(7))


def test_processes_share_an_epoch():
    parts = [list(ShuffledBatches(40, 10, rank=r, world_size=2)) for r in range(2)]
    assert sorted(i for part in parts for batch in part for i in batch) == list(range(40))


def test_positives_and_classes():
    for batch in sampler(BINARY, 2, size=12, positives=4):
        assert BINARY[batch].sum() == 4
        assert len(batch) == 12
    for batch in sampler(CLASSES, 5, size=12, per_class=4):
        assert sorted(torch.bincount(CLASSES[batch])[torch.bincount(CLASSES[batch]) > 0]) == [4] * 3
    assert len(next(iter(sampler(BINARY, 2, size=64)))) == 50  # no more than there are


@pytest.mark.parametrize(
    ("target", "classes", "how", "message"),
    [
        (CLASSES, 5, dict(size=12, positives=4), r"batches\.positives is for two classes"),
        (BINARY, 2, dict(size=12, per_class=4), r"batches\.per_class is for one of several"),
        (BINARY, 2, dict(size=12, positives=8), "positives must be at most the 6 positives"),
        (CLASSES, 5, dict(size=24, per_class=4), "classes must be at most the 5 classes"),
    ],
)
def test_what_cannot_be_is_said(target, classes, how, message):
    with pytest.raises(UsageError, match=message):
        sampler(target, classes, **how)


def test_batches_fit_the_training_images_and_a_line_says_so():
    train = splits((6, 4)).train
    fitted, lines = fit_batches(settings("batches.size=64"), train)
    assert fitted.batches.size == len(train) == 10
    assert lines == ["batches: 10 images instead of 64: there are 10 training images"]
    three = splits((12, 8, 4)).train
    fitted, lines = fit_batches(settings("batches.size=64", "batches.per_class=4"), three)
    assert fitted.batches.size == 12
    assert "there are 3 training classes, 4 images of each in a batch" in lines[0]
    chosen = settings("batches.size=8")
    assert fit_batches(chosen, train) == (chosen, [])
