"""Tests of LightGCN, against the dense propagation."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from tests.tasks.recommendation.cases import pairs_of, settings, two_kinds

from rankwise.tasks.recommendation import evaluate, measure_of, popularity, prepared, train
from rankwise.tasks.recommendation.batches import Batches
from rankwise.tasks.recommendation.models.lightgcn import LightGCN
from rankwise.tasks.recommendation.network import Recommender
from rankwise.tasks.recommendation.training import RecommendTask, loss_of

PAIRS = pairs_of([[0, 1], [], [1, 2, 3], [0]], n_items=5)  # user 1 and item 4 have no edge
GCN = dict(model="lightgcn", dimension=3)


def dense(pairs):
    """The normalized adjacency, one entry at a time."""
    size = pairs.n_users + pairs.n_items
    edges = [(u, pairs.n_users + i) for u, i in zip(pairs.users, pairs.items, strict=True)]
    adjacency = torch.zeros(size, size)
    for u, i in edges:
        adjacency[u, i] = adjacency[i, u] = 1
    found = torch.zeros(size, size)
    for u, i in edges:
        value = 1 / math.sqrt(adjacency[u].sum() * adjacency[i].sum())
        found[u, i] = found[i, u] = value
    return found


def oracle(network, pairs, layers):
    """Vectors of users and items as the paper writes them, with a graph of their own."""
    matrix = dense(pairs)
    layer = torch.cat([network.users.ids.weight, network.items.ids.weight])
    every = [layer]
    for _ in range(layers):
        every.append(matrix @ every[-1])
    mean = torch.stack(every).mean(0)
    return mean[: pairs.n_users], mean[pairs.n_users :]


def model(**options):
    torch.manual_seed(0)
    return LightGCN(PAIRS, settings(**GCN, **options))


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_scores_are_products_of_propagated_vectors(layers):
    network = model(layers=layers)
    network.offsets.weight.data.copy_(torch.arange(5.0).unsqueeze(1))
    users, items = oracle(network, PAIRS, layers)
    scores = network.scores()
    found = scores.users(torch.arange(4)) @ scores.items.T
    torch.testing.assert_close(found, users @ items.T + torch.arange(5.0))


def test_cosines_are_those_of_propagated_vectors():
    network = model(scores="cosine", temperature=0.5)
    users, items = oracle(network, PAIRS, 3)
    scores = network.scores()
    found = scores.users(torch.arange(4)) @ scores.items.T
    expected = torch.nn.functional.cosine_similarity(users[:, None], items, dim=-1) / 0.5
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("negatives", [0, 7])
@pytest.mark.parametrize("scores", ["dot", "cosine"])
def test_the_gradient_goes_through_the_graph(negatives, scores):
    """Of both kinds of batches: the catalog in blocks, and drawn negatives."""
    network = model(scores=scores)
    chosen = settings(batch=100, negatives=negatives)
    (batch,) = Batches(PAIRS, chosen, single=False).epoch()
    weights = [network.users.ids.weight, network.items.ids.weight]
    ours = torch.autograd.grad(batch.loss(network, loss_of("softmax", PAIRS)), weights)

    class Dense(Recommender):
        def sides(self):
            users, items = oracle(self, PAIRS, 3)
            return users.__getitem__, items.__getitem__

    plain = Dense(4, 5, settings(dimension=3, scores=scores))
    plain.load_state_dict(network.state_dict())
    weights = [plain.users.ids.weight, plain.items.ids.weight]
    theirs = torch.autograd.grad(batch.loss(plain, loss_of("softmax", PAIRS)), weights)
    for one, other in zip(ours, theirs, strict=True):
        assert other.abs().max() > 1e-4
        torch.testing.assert_close(one, other)


def test_a_step_propagates_once(monkeypatch):
    network, calls = model(), []
    sides = network.sides
    monkeypatch.setattr(network, "sides", lambda: calls.append(1) or sides())
    for negatives in (0, 7):
        (batch,) = Batches(PAIRS, settings(batch=100, negatives=negatives), single=False).epoch()
        batch.loss(network, loss_of("softmax", PAIRS))
    assert len(calls) == 2


DATA = two_kinds(users=40, items=20, each=8)
SMALL = dict(model="lightgcn", batch=64, learning_rate=0.05, layers=2)


def test_the_graph_is_that_of_the_part_it_learns_from():
    """No interaction of validation or test is an edge; after a refit those of validation are."""
    chosen = settings(**SMALL)
    problem = prepared(DATA, chosen)
    moved = replace(problem, item=problem.item.copy())
    moved.item[problem.part != 0] = (moved.item[problem.part != 0] + 7) % 20
    graphs = [RecommendTask(p, chosen).network.graph for p in (problem, moved)]
    for one, other in zip(*graphs, strict=True):
        assert torch.equal(one, other)
    assert len(graphs[0].value) == 2 * int((problem.part == 0).sum())
    refit = RecommendTask(problem, chosen, lengths=[3]).network.graph
    assert len(refit.value) == 2 * int((problem.part != 2).sum())


def test_it_learns_what_kind_a_user_likes():
    chosen = settings(**SMALL, objective="softmax", epochs=15, patience=15)
    problem = prepared(DATA, chosen)
    wanted, seen = problem.pairs((2,)), problem.pairs((0, 1), positive=False)
    ours, least = (
        evaluate(scores, wanted, seen, [measure_of("ndcg@3")]).means()["ndcg@3"].value
        for scores in (train(problem, chosen).network.scores(), popularity(problem.pairs((0,))))
    )
    assert ours > least + 0.1


@pytest.mark.parametrize("objective", ["softmax", "ap"])
def test_stopped_tuned_and_refitted_it_ends_with_the_same_bits(tmp_path, objective):
    chosen = settings(**SMALL, scores="cosine", negatives="auto", objective=objective, warm_start=2,
                      refit=True, epochs=2)  # fmt: skip
    problem, steps = prepared(DATA, chosen), []
    whole = train(problem, chosen, on_step=steps.append)
    assert whole.refit_steps > 0
    assert len(whole.tried) >= 2
    for stop in (len(steps) // 2, len(steps) - 1):
        out, left = tmp_path / f"{stop}", [stop]

        def on_step(step, left=left):
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            train(problem, chosen, out, on_step=on_step)
        again = train(problem, chosen, out, resume=True)
        assert again.history == whole.history
        state = again.network.state_dict()
        assert ("offsets.weight" in state) == (objective == "softmax")
        for name, value in whole.network.state_dict().items():
            assert torch.equal(state[name], value)
        assert torch.equal(again.network.scores().items, whole.network.scores().items)
