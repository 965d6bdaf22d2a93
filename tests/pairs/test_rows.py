from __future__ import annotations

import torch

from rankwise.checks import trusted
from rankwise.pairs.rows import PairInput, Rows, are_trusted_rows, over_lists


def test_leading_dimensions_become_rows_and_come_back():
    seen = []

    def of_rows(rows):
        seen.append((rows.upper.shape, rows.lower.shape, rows.weight))
        return rows.upper.clone()

    upper = torch.randn(2, 1, 3)
    result = over_lists(of_rows, PairInput(upper, torch.randn(4, 5), None, None, None, None))
    assert seen == [((8, 3), (8, 5), None)]
    assert torch.equal(result, upper.expand(2, 4, 3))


def test_masked_lowers_take_the_mean_of_their_row_and_no_weight():
    lower = torch.tensor([[1.0, torch.nan, 3.0]])
    mask = torch.tensor([[True, False, True]])

    def of_rows(rows):
        assert rows.lower.tolist() == [[1, 2, 3]]
        assert rows.weight.tolist() == [[1, 0, 1]]
        return rows.upper

    over_lists(of_rows, PairInput(torch.zeros(1, 2), lower, None, mask, None, None))


def test_ragged_results_come_back_in_their_order():
    groups = torch.tensor([3, 1, 3, 2, 1])
    upper = torch.arange(5.0)
    given = PairInput(upper, upper, None, None, groups, groups)
    assert torch.equal(over_lists(lambda rows: rows.upper, given), upper)
    total = over_lists(lambda rows: rows.precise()[2].sum(-1, keepdim=True) + 0 * rows.upper, given)
    assert total.tolist() == [2, 2, 2, 1, 2]  # padding has no weight


def test_sums_are_at_least_single_precision():
    for given, expected in ((torch.float16, torch.float32), (torch.float64, torch.float64)):
        scores = torch.zeros(1, 2, dtype=given)
        rows = PairInput(scores, scores, None, None, None, None)
        assert over_lists(lambda rows: rows.upper, rows).dtype == expected


def test_rows_have_the_dtype_of_their_scores_whatever_the_weights():
    scores = torch.zeros(1, 2)
    for weight in (scores, scores.double()):
        assert {t.dtype for t in Rows(scores, scores, weight).own()} == {torch.float32}


def test_checked_rows_are_taken_as_they_are_only_in_one_dtype():
    scores = torch.zeros(1, 2)
    before = trusted.set(True)
    try:
        for weight, alike in ((None, True), (scores, True), (scores.double(), False)):
            given = PairInput(scores, scores, weight, None, None, None)
            assert are_trusted_rows(given) == alike
    finally:
        trusted.reset(before)
