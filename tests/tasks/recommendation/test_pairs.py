from __future__ import annotations

import torch
from tests.tasks.recommendation.cases import pairs_of

PAIRS = pairs_of([[3, 1], [], [0, 3, 2]], n_items=4)


def test_items_by_user_sorted():
    assert PAIRS.items.tolist() == [1, 3, 0, 2, 3]
    assert PAIRS.counts.tolist() == [2, 0, 3]
    assert (len(PAIRS), PAIRS.n_users) == (5, 3)
    assert PAIRS.row.tolist() == [1, 0, 2, 4, 3]


def test_pairs_of_some_users_in_any_order():
    rows, places = PAIRS.of_users(torch.tensor([2, 1, 0, 2]))
    assert rows.tolist() == [0, 0, 0, 2, 2, 3, 3, 3]
    assert PAIRS.items[places].tolist() == [0, 2, 3, 1, 3, 0, 2, 3]
    assert PAIRS.cells(torch.tensor([0, 2])).tolist() == [1, 3, 4, 6, 7]


def test_padded():
    places, there = PAIRS.padded(torch.tensor([0, 1, 2]))
    assert there.tolist() == [[True, True, False], [False] * 3, [True] * 3]
    assert PAIRS.items[places][there].tolist() == [1, 3, 0, 2, 3]
    assert PAIRS.padded(torch.tensor([], dtype=torch.long))[0].shape == (0, 0)


def test_who_has_what():
    found = PAIRS.have(torch.tensor([2, 0, 1]), torch.tensor([3, 0, 1]))
    assert found.tolist() == [[True, True, False], [True, False, True], [False] * 3]
    nobody = pairs_of([[], []], n_items=2)
    assert not nobody.have(torch.tensor([0, 1]), torch.tensor([0, 1])).any()


def test_neighbors_are_no_different():
    for users in ([0, 1, 2], [1, 2], [2], [1]):
        rows, places = PAIRS.of_users(torch.tensor(users))
        expected = [(n, i) for n, u in enumerate(users) for i in [[1, 3], [], [0, 2, 3]][u]]
        found = zip(rows.tolist(), PAIRS.items[places].tolist(), strict=True)
        assert list(found) == expected
        assert PAIRS.cells(torch.tensor(users)).tolist() == [4 * n + i for n, i in expected]
