from __future__ import annotations

import pytest
import torch

from rankwise.data import DataError
from rankwise.data.images._class_split import (
    as_binary,
    long_tail_counts,
    long_tail_rows,
    rare_positive_rows,
)


def test_the_profile_by_hand():
    # 100 · 100^{-c/4}: 100, 31.6, 10, 3.16, 1
    assert long_tail_counts(100, 5, 100) == [100, 31, 10, 3, 1]
    assert long_tail_counts(100, 5, 1) == [100] * 5
    assert long_tail_counts(3, 4, 1000) == [3, 1, 1, 1]
    assert long_tail_counts(7, 1, 10) == [7]


@pytest.mark.parametrize("imbalance", [0.5, float("nan"), float("inf")])
def test_a_factor_below_one_is_refused(imbalance):
    with pytest.raises(ValueError, match="imbalance must be a number >= 1"):
        long_tail_counts(10, 3, imbalance)


def test_rows_follow_from_seed_and_class():
    labels = torch.arange(5).repeat(100)
    rows = long_tail_rows(labels, 5, 100, seed=0)
    assert torch.bincount(labels[rows]).tolist() == [100, 31, 10, 3, 1]
    assert rows.tolist() == sorted(set(rows.tolist()))
    assert torch.equal(rows, long_tail_rows(labels, 5, 100, seed=0))
    assert not torch.equal(rows, long_tail_rows(labels, 5, 100, seed=1))


def test_a_small_class_keeps_what_it_has():
    labels = torch.tensor([0] * 50 + [1] * 4 + [2] * 30)
    assert torch.bincount(labels[long_tail_rows(labels, 3, 4, 0)]).tolist() == [50, 4, 12]


def test_positives_made_rare():
    target = torch.tensor([1] * 60 + [0] * 98)
    rows = rare_positive_rows(target, 0.02, seed=3)
    assert target[rows].tolist().count(1) == 2  # 2 of 100
    assert (target[rows] == 0).sum() == 98
    with pytest.raises(DataError, match="98 positives beside 98 negatives make a share"):
        rare_positive_rows(target, 0.5, seed=0)
    with pytest.raises(ValueError, match="share must be between 0 and 1"):
        rare_positive_rows(target, 1.0, seed=0)


def test_some_classes_against_the_rest():
    target, names = as_binary("set", torch.tensor([0, 1, 2, 1]), ("a", "b", "c"), ("b", "c"))
    assert target.tolist() == [0, 1, 1, 1]
    assert names == ("rest", "b+c")
    with pytest.raises(DataError, match="set: there is no class d; the classes are a, b, c"):
        as_binary("set", torch.tensor([0]), ("a", "b", "c"), ("d",))
    with pytest.raises(DataError, match=r"set: positive must be .* not all of them"):
        as_binary("set", torch.tensor([0]), ("a", "b"), ("a", "b"))
