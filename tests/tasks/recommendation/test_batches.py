from __future__ import annotations

import torch
from tests.tasks.recommendation.cases import pairs_of, settings

from rankwise.tasks.recommendation.batches import Batches
from rankwise.tasks.recommendation.losses import loss_of
from rankwise.tasks.recommendation.network import new_recommender

TRAIN = pairs_of([[0, 1], [], [1, 2, 3], [0]], n_items=5)


def network():
    torch.manual_seed(0)
    return new_recommender(4, 5, settings(dimension=3))


def test_lists_of_users_have_all_their_positives():
    batches = Batches(TRAIN, settings(batch=4, negatives=0), single=False)
    assert (batches.size, batches.steps) == (2, 2)
    seen = {}
    for batch in batches.epoch():
        for row, user in enumerate(batch.users.tolist()):
            seen[user] = batch.positives[row][batch.there[row]].tolist()
            own = set(seen[user])
            assert batch.allowed[row].tolist() == [item not in own for item in range(5)]
    assert seen == {0: [0, 1], 2: [1, 2, 3], 3: [0]}


def test_lists_of_interactions_have_one_each():
    batches = Batches(TRAIN, settings(batch=4, negatives=0), single=True)
    assert batches.steps == 2
    pairs = [
        (user, item)
        for batch in batches.epoch()
        for user, item in zip(batch.users.tolist(), batch.positives[:, 0].tolist(), strict=True)
    ]
    assert sorted(pairs) == [(0, 0), (0, 1), (2, 1), (2, 2), (2, 3), (3, 0)]


def test_softmax_of_the_whole_catalog_by_hand():
    model = network()
    batches = Batches(TRAIN, settings(batch=100, negatives=0), single=True)
    (batch,) = batches.epoch()
    found = batch.loss(model, loss_of("softmax", TRAIN))
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
    (batch,) = Batches(TRAIN, settings(batch=100, negatives=0), single=True).epoch()
    found = batch.loss(model, loss_of("bpr", TRAIN))
    scores = model.user_vectors(torch.arange(4)) @ model.item_vectors(torch.arange(5)).T
    expected = []
    for user, own in ((0, [0, 1]), (2, [1, 2, 3]), (3, [0])):
        others = [item for item in range(5) if item not in own]
        for item in own:
            gap = scores[user, item] - scores[user, others]
            expected.append(-torch.nn.functional.logsigmoid(gap).mean())
    torch.testing.assert_close(found, torch.stack(expected).mean())


def test_objectives_with_a_memory_are_told_who_and_what():
    (batch,) = Batches(TRAIN, settings(batch=100), single=False).epoch()
    for name in ("soap", "soprc", "song@3"):
        loss = loss_of(name, TRAIN)
        before = {key: value.clone() for key, value in loss.state_dict().items()}
        found = batch.loss(network(), loss)
        found.backward()
        assert found.isfinite()
        changed = [key for key, value in loss.state_dict().items() if (value != before[key]).any()]
        assert changed, name
