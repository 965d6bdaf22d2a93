from __future__ import annotations

import numpy as np

from rankwise.baselines import CrossEntropy
from rankwise.estimators.data import Part, Training
from rankwise.estimators.neural.batches import epoch_batches
from rankwise.objectives import AveragePrecision


def _data(positives: int, n: int, groups: np.ndarray | None = None) -> Training:
    part = Part(np.zeros((n, 1)), (np.arange(n) < positives).astype(float), None, groups)
    return Training(part, part, positives / n, 0, lambda scores, rows: 0.0)


def _first_epoch(data: Training, objective, size: int, positives: int | None = None):
    return next(epoch_batches(data, objective, size, positives))


def test_an_eighth_of_the_batch_is_positive() -> None:
    data = _data(20, 1000)
    for batch in _first_epoch(data, AveragePrecision(), 64):
        assert len(batch) == 64
        assert data.train.target[batch].sum() == 8


def test_or_their_share_or_what_was_asked_or_what_there_is() -> None:
    assert (
        _data(40, 100).train.target[_first_epoch(_data(40, 100), AveragePrecision(), 50)[0]].sum()
        == 20
    )
    data = _data(20, 1000)
    assert data.train.target[_first_epoch(data, AveragePrecision(), 64, 3)[0]].sum() == 3
    assert data.train.target[_first_epoch(data, AveragePrecision(), 64, 99)[0]].sum() == 20
    assert len(_first_epoch(_data(2, 10), AveragePrecision(), 512)[0]) == 10


def test_single_items_come_as_they_are_every_one_once() -> None:
    batches = _first_epoch(_data(20, 1000), CrossEntropy(), 64)
    assert sorted(np.concatenate(batches)) == list(range(1000))
    assert max(len(batch) for batch in batches) == 64


def test_lists_come_whole() -> None:
    groups = np.arange(100) // 10
    for batch in _first_epoch(_data(50, 100, groups), AveragePrecision(), 32):
        assert len(batch) == 30
        assert np.unique(groups[batch], return_counts=True)[1].tolist() == [10, 10, 10]


def test_epochs_differ_and_follow_from_the_seed() -> None:
    one, other = (epoch_batches(_data(20, 1000), CrossEntropy(), 64, None) for _ in range(2))
    first = next(one)
    assert all((a == b).all() for a, b in zip(first, next(other), strict=True))
    assert not (first[0] == next(one)[0]).all()
