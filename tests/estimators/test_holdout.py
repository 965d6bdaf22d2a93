from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from rankwise.estimators._holdout import _last_key, folds_of, hold_out, row_keys
from rankwise.estimators.data import Part


def _part(n: int = 2000, seed: int = 0, **beside: np.ndarray) -> Part:
    rng = np.random.default_rng(seed)
    return Part(rng.normal(size=(n, 3)), (rng.random(n) < 0.1).astype(float), **beside)


def test_a_fraction_of_each_class() -> None:
    part = _part()
    held = hold_out(part, 0.25, 0)
    for kind in (0, 1):
        there = part.target == kind
        assert held[there].sum() == pytest.approx(0.25 * there.sum(), abs=1)


def test_another_seed_another_choice() -> None:
    part = _part()
    one, other = hold_out(part, 0.5, 0), hold_out(part, 0.5, 1)
    assert 0.4 < (one == other).mean() < 0.6


def test_the_order_of_the_rows_does_not_matter() -> None:
    part, order = _part(), np.random.default_rng(1).permutation(2000)
    np.testing.assert_array_equal(hold_out(part, 0.3, 5)[order], hold_out(part.rows(order), 0.3, 5))


def test_equal_rows_stay_together_and_weight_is_repetition() -> None:
    part = _part(50)
    weight = np.random.default_rng(0).integers(1, 5, 50)
    weighted = Part(part.X, part.target, weight.astype(float))
    held = hold_out(weighted, 0.3, 2)
    repeated = hold_out(part.rows(np.repeat(np.arange(50), weight)), 0.3, 2)
    np.testing.assert_array_equal(np.repeat(held, weight), repeated)


def test_round_numbers_are_told_apart() -> None:
    grid = np.array(np.meshgrid(*[[0.0, 1.0]] * 14)).reshape(14, -1).T
    assert len(np.unique(row_keys(grid, 0))) == 2**14


def test_sparse_rows_go_where_dense_ones_go() -> None:
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(100, 6)) * (rng.random((100, 6)) < 0.3)
    np.testing.assert_array_equal(row_keys(dense, 3), row_keys(csr_array(dense), 3))
    np.testing.assert_array_equal(
        row_keys(dense, 3), row_keys(np.where(dense == 0, -0.0, dense), 3)
    )


@pytest.mark.parametrize("target", [[1, 0, 0, 0], [0, 1, 1, 1]])
def test_a_single_row_of_a_class_is_not_held_out(target: list[int]) -> None:
    part = Part(np.arange(4.0)[:, None], np.array(target, dtype=float))
    assert not hold_out(part, 0.5, 0).any()
    assert not hold_out(Part(np.zeros((4, 1)), np.array([0.0, 0, 1, 1])), 0.5, 0).any()


def test_nothing_is_held_out_on_request() -> None:
    assert not hold_out(_part(), 0.0, 0).any()


def test_both_sides_keep_both_classes() -> None:
    part = Part(np.arange(4.0)[:, None], np.array([0.0, 0, 1, 1]))
    for fraction in (0.01, 0.99):
        held = hold_out(part, fraction, 0)
        assert held[:2].sum() == held[2:].sum() == 1


def test_lists_are_held_out_whole() -> None:
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 40, 400)
    part = _part(400, groups=groups)
    held = hold_out(part, 0.25, 0)
    assert all(len(set(held[groups == g])) == 1 for g in range(40))
    assert len(set(groups[held])) == pytest.approx(10, abs=1)


def test_a_list_to_rank_on_each_side_or_none() -> None:
    groups = np.array([0, 0, 1, 1, 2, 2])
    complete = Part(np.zeros((6, 1)), np.array([0.0, 1, 0, 1, 0, 0]), groups=groups)
    held = hold_out(complete, 0.01, 0)
    assert held[:2].all() != held[2:4].all()
    lonely = Part(np.zeros((6, 1)), np.array([0.0, 1, 0, 0, 0, 0]), groups=groups)
    assert not hold_out(lonely, 0.5, 0).any()


def test_folds_have_equal_shares_of_each_class_and_keep_equal_rows_together() -> None:
    part = _part()
    fold = folds_of(part, 5, 0)
    for kind in (0, 1):
        counts = np.bincount(fold[part.target == kind], minlength=5)
        assert np.ptp(counts) <= 1
    twice = part.rows(np.repeat(np.arange(2000), 2))
    np.testing.assert_array_equal(folds_of(twice, 5, 0), np.repeat(fold, 2))
    assert (folds_of(part, 5, 1) != fold).any()


def test_folds_keep_lists_together() -> None:
    part = _part(groups=np.random.default_rng(1).integers(0, 60, 2000))
    fold = folds_of(part, 4, 0)
    for number in range(60):
        assert len(np.unique(fold[part.groups == number])) == 1
    assert np.ptp(np.bincount(fold[np.unique(part.groups, return_index=True)[1]])) <= 2


def test_more_folds_than_lists_with_both_classes_are_refused() -> None:
    part = Part(np.arange(6.0)[:, None], np.array([1.0, 0, 1, 0, 1, 1]), groups=np.arange(6) // 2)
    with pytest.raises(ValueError, match="folds must be at most the number of lists with both"):
        folds_of(part, 3, 0)


def test_rows_without_weights_are_held_out_as_with_weights_of_1():
    rng = np.random.default_rng(0)
    for _ in range(300):
        count = int(rng.integers(1, 40))
        keys = rng.integers(0, rng.integers(1, 60), count).astype(np.uint64)  # many are equal
        fraction = float(rng.choice([0.01, 0.2, 0.25, 0.5, 0.75, 0.99, rng.random()]))
        assert _last_key(keys, None, fraction) == _last_key(keys, np.ones(count), fraction)
