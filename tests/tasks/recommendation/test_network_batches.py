"""Tests of the lists of a step."""

from __future__ import annotations

import pytest
import torch
from tests.tasks.recommendation.cases import pairs_of, settings

from rankwise.tasks.recommendation.network import Batches, Negatives, Recommender
from rankwise.tasks.recommendation.training import loss_of

TRAIN = pairs_of([[0, 1], [0], [0, 2], [0]], n_items=5)


@pytest.mark.parametrize("sampling", ["uniform", "popularity"])
def test_weighted_sums_are_unbiased(sampling):
    torch.manual_seed(0)
    drawn = Negatives(TRAIN, settings(negatives=40_000, sampling=sampling))
    items, weight = drawn.draw()
    # Each item of the catalog counts once, however often it was drawn.
    total = torch.zeros(5).index_add_(0, items, weight)
    torch.testing.assert_close(total, torch.ones(5), atol=0.08, rtol=0)


def test_popular_items_are_drawn_more_often():
    drawn = Negatives(TRAIN, settings(sampling="popularity"))
    torch.testing.assert_close(drawn.share, torch.tensor([5, 2, 2, 1, 1]).double() / 11)


def test_the_correction_is_log_q_in_a_softmax():
    drawn = Negatives(TRAIN, settings(negatives=3, sampling="popularity"))
    torch.manual_seed(0)
    items, weight = drawn.draw()
    scores = torch.arange(5.0)[items]
    corrected = scores - (3 * drawn.share[items]).log()
    torch.testing.assert_close(
        (weight * scores.exp()).sum().log(), corrected.exp().sum().log().float()
    )


def test_without_correction_all_count_alike():
    _, weight = Negatives(TRAIN, settings(correction=False)).draw()
    assert (weight == 1).all()


def test_none_drawn_is_the_whole_catalog():
    items, weight = Negatives(TRAIN, settings(negatives=0)).draw()
    assert items.tolist() == [0, 1, 2, 3, 4]
    assert (weight == 1).all()


USERS = pairs_of([[0, 1], [], [1, 2, 3], [0]], n_items=5)


def network():
    torch.manual_seed(0)
    return Recommender(4, 5, settings(dimension=3))


def test_lists_of_users_have_all_their_positives():
    batches = Batches(USERS, settings(batch=4, negatives=0), single=False)
    assert (batches.size, batches.steps) == (2, 2)
    seen = {}
    for batch in batches.epoch():
        for row, user in enumerate(batch.users.tolist()):
            seen[user] = batch.positives[row][batch.there[row]].tolist()
            own = set(seen[user])
            assert batch.allowed[row].tolist() == [item not in own for item in range(5)]
    assert seen == {0: [0, 1], 2: [1, 2, 3], 3: [0]}


def test_lists_of_interactions_have_one_each():
    batches = Batches(USERS, settings(batch=4, negatives=0), single=True)
    assert batches.steps == 2
    pairs = [
        (user, item)
        for batch in batches.epoch()
        for user, item in zip(batch.users.tolist(), batch.positives[:, 0].tolist(), strict=True)
    ]
    assert sorted(pairs) == [(0, 0), (0, 1), (2, 1), (2, 2), (2, 3), (3, 0)]


def test_softmax_of_the_whole_catalog_by_hand():
    model = network()
    batches = Batches(USERS, settings(batch=100, negatives=0), single=True)
    (batch,) = batches.epoch()
    found = batch.loss(model, loss_of("softmax", USERS))
    scores = model.user_vectors(torch.arange(4)) @ model.item_vectors(torch.arange(5)).T
    expected = []
    for user, own in ((0, [0, 1]), (2, [1, 2, 3]), (3, [0])):
        others = [item for item in range(5) if item not in own]
        for item in own:
            among = scores[user, [item, *others]]
            expected.append(among.logsumexp(0) - scores[user, item])
    torch.testing.assert_close(found, torch.stack(expected).mean())


def test_bpr_of_the_whole_catalog_by_hand():
    model = network()
    (batch,) = Batches(USERS, settings(batch=100, negatives=0), single=True).epoch()
    found = batch.loss(model, loss_of("bpr", USERS))
    scores = model.user_vectors(torch.arange(4)) @ model.item_vectors(torch.arange(5)).T
    expected = []
    for user, own in ((0, [0, 1]), (2, [1, 2, 3]), (3, [0])):
        others = [item for item in range(5) if item not in own]
        for item in own:
            gap = scores[user, item] - scores[user, others]
            expected.append(-torch.nn.functional.logsigmoid(gap).mean())
    torch.testing.assert_close(found, torch.stack(expected).mean())


def test_objectives_with_a_memory_are_told_who_and_what():
    (batch,) = Batches(USERS, settings(batch=100), single=False).epoch()
    for name in ("soap", "soprc", "song@3"):
        loss = loss_of(name, USERS)
        before = {key: value.clone() for key, value in loss.state_dict().items()}
        found = batch.loss(network(), loss)
        found.backward()
        assert found.isfinite()
        changed = [key for key, value in loss.state_dict().items() if (value != before[key]).any()]
        assert changed, name
