from __future__ import annotations

import pytest
import torch
from tests.tasks.recommendation.cases import pairs_of

from rankwise.tasks.recommendation import Scores, best_items, catalog, evaluate, measure_of

MATRIX = torch.tensor([[5.0, 4.0, 3.0, 2.0], [1.0, 2.0, 3.0, 4.0], [0.0, 9.0, 1.0, 2.0]])


def scores(matrix=MATRIX):
    return Scores(lambda users: torch.eye(len(matrix))[users], matrix.T.contiguous())


def test_what_was_seen_is_not_recommended():
    seen = pairs_of([[0], [3, 2], []], n_items=4)
    ((users, items, values),) = best_items(scores(), torch.tensor([2, 0, 1]), seen, 2)
    assert users.tolist() == [2, 0, 1]
    assert items.tolist() == [[1, 3], [1, 2], [1, 0]]
    assert values.tolist() == [[9, 2], [4, 3], [2, 1]]


def test_more_than_there_are():
    seen = pairs_of([[0, 1, 2], [], []], n_items=4)
    ((_, items, values),) = best_items(scores(), torch.tensor([0]), seen, 9)
    assert items.shape == (1, 4)
    assert values.isinf().sum() == 3


def test_blocks_change_nothing(monkeypatch):
    generator = torch.Generator().manual_seed(0)
    matrix = torch.randint(0, 6, (23, 11), generator=generator).float()
    wanted = pairs_of([[n % 11, (n + 3) % 11] if n % 4 else [] for n in range(23)], 11)
    seen = pairs_of([[(n + 1) % 11] for n in range(23)], 11)
    asked = [measure_of(name) for name in ("ndcg@4", "map@4", "pap@3", "mrr")]
    whole = evaluate(scores(matrix), wanted, seen, asked)
    monkeypatch.setattr(catalog, "BLOCK", 3 * 11)
    parts = evaluate(scores(matrix), wanted, seen, asked)
    for name, values in whole.values.items():
        torch.testing.assert_close(values, parts.values[name], equal_nan=True)
    assert whole.without_positives == parts.without_positives == 6


def test_no_more_than_a_block_of_scores_is_ever_there(monkeypatch):
    monkeypatch.setattr(catalog, "BLOCK", 8)
    sizes = [len(found) for _, found in scores().blocks(torch.tensor([0, 1, 2]), None)]
    assert sizes == [2, 1]


def test_nan_is_refused():
    wrong = scores(torch.full((1, 4), torch.nan))
    with pytest.raises(ValueError, match="scores contains NaN: the training has diverged"):
        evaluate(wrong, pairs_of([[0]], 4), None, [measure_of("ndcg@2")])
