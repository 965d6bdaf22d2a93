"""Tests of the lists of a step."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from tests.tasks.recommendation.cases import pairs_of, settings

from rankwise.tasks.recommendation.batches import Batches, Negatives, SharedBatch
from rankwise.tasks.recommendation.network import Recommender
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


def all_scores(model):
    users, items = model.vectors()
    return users(torch.arange(4)) @ items(torch.arange(5)).T


def network():
    torch.manual_seed(0)
    return Recommender(4, 5, settings(dimension=3))


def test_lists_of_users_have_all_their_positives():
    batches = Batches(USERS, settings(batch=4, negatives=7), single=False)
    assert (batches.size, batches.steps) == (2, 2)
    seen = {}
    for batch in batches.epoch():
        for row, user in enumerate(batch.users.tolist()):
            seen[user] = batch.positives[row][batch.there[row]].tolist()
            own, drawn = set(seen[user]), batch.negatives.tolist()
            assert batch.allowed[row].tolist() == [item not in own for item in drawn]
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
    scores = all_scores(model)
    expected = []
    for user, own in ((0, [0, 1]), (2, [1, 2, 3]), (3, [0])):
        others = [item for item in range(5) if item not in own]
        for item in own:
            among = scores[user, [item, *others]]
            expected.append(among.logsumexp(0) - scores[user, item])
    torch.testing.assert_close(found, torch.stack(expected).mean())


def by_hand(model):
    """The softmax of every interaction among the items that its user does not have."""
    scores = all_scores(model)
    found = []
    for user, own in ((0, [0, 1]), (2, [1, 2, 3]), (3, [0])):
        others = [item for item in range(5) if item not in own]
        found.append(
            torch.stack(
                [scores[user, [item, *others]].logsumexp(0) - scores[user, item] for item in own]
            )
        )
    return found


@pytest.mark.parametrize("weighting", ["interactions", "users"])
@pytest.mark.parametrize("block", [1, 10, 10_000])
def test_lists_of_the_catalog_are_the_softmax_of_every_interaction(monkeypatch, weighting, block):
    monkeypatch.setattr("rankwise.tasks.recommendation.batches.BLOCK", block)
    model, chosen = network(), settings(batch=100, negatives="auto", weighting=weighting)
    (batch,) = Batches(USERS, chosen, single=False).epoch()
    found = batch.loss(model, loss_of("softmax", USERS))
    users = by_hand(model)
    mean = torch.cat(users).mean()
    expected = (
        mean if weighting == "interactions" else torch.stack([u.mean() for u in users]).mean()
    )
    torch.testing.assert_close(found, expected)
    weights = list(model.parameters())
    for ours, theirs in zip(
        torch.autograd.grad(found, weights), torch.autograd.grad(expected, weights), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


def test_of_the_catalog_two_ways_to_make_lists_are_one():
    """Names of recommenders: all positives of a user together, or a list for each."""
    model = network()
    for name in ("bpr", "softmax", "ndcg"):
        lists = [Batches(USERS, settings(batch=100, negatives=0), single=s) for s in (True, False)]
        one, all_of_a_user = (
            next(iter(each.epoch())).loss(model, loss_of(name, USERS)) for each in lists
        )
        torch.testing.assert_close(one, all_of_a_user)


def test_who_has_the_whole_catalog_has_nothing_to_rank():
    model, everything = network(), pairs_of([[0, 1], list(range(5)), [1], [0]], n_items=5)
    without = pairs_of([[0, 1], [], [1], [0]], n_items=5)
    values = []
    for positives in (everything, without):
        (batch,) = Batches(positives, settings(batch=100), single=False).epoch()
        (whole,) = Batches(positives, settings(batch=100, negatives=0), single=False).epoch()
        values.append(whole.loss(model, loss_of("softmax", positives)))
        assert batch.loss(model, loss_of("softmax", positives)).isfinite()
    torch.testing.assert_close(*values)


def test_where_the_catalog_does_not_fit_it_is_sampled(monkeypatch):
    assert Negatives(USERS, settings(negatives="auto")).count == 0
    monkeypatch.setattr("rankwise.tasks.recommendation.batches.WHOLE", 3 * 5 - 1)
    assert Negatives(USERS, settings(negatives="auto")).count == 1024
    assert Negatives(USERS, settings(negatives="auto"), shared=True).count == 16_384
    assert Negatives(USERS, settings(negatives="256"), shared=True).count == 256


def test_bpr_of_the_whole_catalog_by_hand():
    model = network()
    (batch,) = Batches(USERS, settings(batch=100, negatives=0), single=True).epoch()
    found = batch.loss(model, loss_of("bpr", USERS))
    scores = all_scores(model)
    expected = []
    for user, own in ((0, [0, 1]), (2, [1, 2, 3]), (3, [0])):
        others = [item for item in range(5) if item not in own]
        for item in own:
            gap = scores[user, item] - scores[user, others]
            expected.append(-torch.nn.functional.logsigmoid(gap).mean())
    torch.testing.assert_close(found, torch.stack(expected).mean())


def test_objectives_with_a_memory_are_told_who_and_what():
    sampled, whole = (
        next(iter(Batches(USERS, settings(batch=100, negatives=n), single=False).epoch()))
        for n in (6, 0)
    )
    for name, batch in product(("soap", "soprc", "song@3"), (sampled, whole)):
        loss = loss_of(name, USERS)
        before = {key: value.clone() for key, value in loss.state_dict().items()}
        found = batch.loss(network(), loss)
        found.backward()
        assert found.isfinite()
        changed = [key for key, value in loss.state_dict().items() if (value != before[key]).any()]
        assert changed, name


@pytest.mark.parametrize(("name", "single"), product(("ndcg", "bpr", "ap"), (True, False)))
def test_blocks_of_lists_change_nothing(monkeypatch, name, single):
    (batch,) = Batches(USERS, settings(batch=100, negatives=6), single=single).epoch()
    found = []
    for block in (1 << 21, 15):  # of which 15 scores are one or two lists
        monkeypatch.setattr("rankwise.tasks.recommendation.batches.BLOCK", block)
        model = network()
        value = batch.loss(model, loss_of(name, USERS))
        value.backward()
        found.append([value, *(parameter.grad for parameter in model.parameters())])
    for whole, parts in zip(*found, strict=True):
        torch.testing.assert_close(parts, whole)


@pytest.mark.parametrize(
    "name", ["softmax", "ndcg", "ndcg(surrogate=exponential, competitors=negatives, outer=log)"]
)
@pytest.mark.parametrize("block", [15, 1 << 20])  # three lists and all at a time
def test_one_negative_stands_for_the_whole_catalog(name, block, monkeypatch):
    monkeypatch.setattr("rankwise.tasks.recommendation.batches.BLOCK", block)
    train = pairs_of([[0, 1], [2, 3, 4], [1, 2, 3], [0], [0, 1, 2, 3, 4]], n_items=5)
    objective = loss_of(name, train)
    assert objective.sums_negatives
    found = []
    for sums in (True, False):
        objective.sums_negatives = sums
        torch.manual_seed(0)
        network = Recommender(5, 5, settings(dimension=3, scores="cosine", temperature=0.05))
        (batch,) = Batches(train, settings(negatives=0, batch=64), single=False).epoch()
        loss = batch.loss(network, objective)
        found.append([loss.detach(), *torch.autograd.grad(loss, list(network.parameters()))])
    for ours, expected in zip(*found, strict=True):
        torch.testing.assert_close(ours, expected)


@pytest.mark.parametrize("name", ["softmax", "ndcg"])
@pytest.mark.parametrize("block", [15, 1 << 20])  # a list or two, and all at a time
@pytest.mark.parametrize("sampling", ["uniform", "popularity"])
def test_shared_negatives_are_those_of_padded_lists(name, block, sampling, monkeypatch):
    """User 1 has all but one item, and user 4 all of them: they may have all that is drawn."""
    train = pairs_of([[0, 1], [0, 1, 2, 3], [], [0], [0, 1, 2, 3, 4]], n_items=5)
    chosen = settings(negatives=6, batch=64, sampling=sampling)
    found = []
    for shared in (True, False):
        torch.manual_seed(0)
        network = Recommender(5, 5, settings(dimension=3, scores="cosine", temperature=0.1))
        (batch,) = Batches(train, chosen, single=False, shared=shared).epoch()
        assert isinstance(batch, SharedBatch) == shared
        size = block if shared else 1 << 20
        monkeypatch.setattr("rankwise.tasks.recommendation.batches.BLOCK", size)
        loss = batch.loss(network, loss_of(name, train))
        found.append([loss.detach(), *torch.autograd.grad(loss, list(network.parameters()))])
    for ours, expected in zip(*found, strict=True):
        torch.testing.assert_close(ours, expected)


def test_processes_share_the_lists_of_sampled_negatives():
    (batch,) = Batches(USERS, settings(negatives=6, batch=64), single=False, shared=True).epoch()
    model, objective = network(), loss_of("softmax", USERS)
    parts = [batch.share(rank, 2).loss(model, objective) for rank in range(2)]
    torch.testing.assert_close(sum(parts), batch.loss(model, objective))
    assert batch.share(3, 4).loss(model, objective) == 0  # no list is left
