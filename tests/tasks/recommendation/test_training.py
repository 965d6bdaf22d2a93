"""Tests of the training of a recommender."""

from __future__ import annotations

import pytest
import torch
from tests.tasks.recommendation.cases import pairs_of, settings, two_kinds

from rankwise.tasks.recommendation import (
    UsageError,
    course,
    evaluate,
    measure_of,
    popularity,
    prepared,
    train,
)
from rankwise.tasks.recommendation.training import by_interaction, loss_of, new_network, warm_starts

TRAIN = pairs_of([[0, 1], [2]], n_items=4)


@pytest.mark.parametrize(
    "name",
    ["softmax", "bpr", "pap@3", "ndcg@3", "ap", "listnet", "lambda_loss@3", "auc", "soprc",
     "opauc(max_fpr=.1)", "recall@5", "info_nce", "top_push", "minmax_auc", "stable_ap"],
)  # fmt: skip
def test_any_objective_of_lists(name):
    assert loss_of(name, TRAIN).training


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sofmax", "there are also softmax and bpr"),
        ("ndcg@0", "k must be"),
        ("pap", "k"),
        ("ldam", "ldam"),
        ("ovr(objective=ap)", "ovr"),
    ],
)
def test_what_is_none(name, message):
    with pytest.raises(UsageError) as error:
        loss_of(name, TRAIN)
    assert message in str(error.value)


def test_which_lists_and_which_start():
    assert by_interaction("softmax", "auto")
    assert by_interaction("bpr", "auto")
    assert not by_interaction("ndcg@10", "auto")
    assert by_interaction("ndcg@10", "interaction")
    assert not by_interaction("softmax", "user")
    assert warm_starts(settings(objective="ap"))
    assert not warm_starts(settings(objective="ap", warm_start=0))
    assert not warm_starts(settings(objective="bpr"))


DATA = two_kinds(users=40, items=20, each=8)


def same(first, second):
    a, b = first.network.state_dict(), second.network.state_dict()
    return first.history == second.history and all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("objective", ["softmax", "bpr", "ndcg@3"])
@pytest.mark.parametrize("model", ["mf", "two_tower"])
def test_it_learns_what_kind_a_user_likes(objective, model):
    chosen = settings(objective=objective, model=model, epochs=15, patience=15, hidden=(8,),
                      learning_rate=0.02, weight_decay=0.05, batch=32)  # fmt: skip
    problem = prepared(DATA, chosen)
    trained = train(problem, chosen)
    wanted, seen = problem.pairs((2,)), problem.pairs((0, 1), positive=False)
    measures = [measure_of("ndcg@3")]
    ours = evaluate(trained.network.scores(), wanted, seen, measures).means()["ndcg@3"].value
    least = evaluate(popularity(problem.pairs((0,))), wanted, seen, measures).means()
    assert ours > least["ndcg@3"].value + 0.1


def stop_after(epoch):
    class StopError(Exception):
        pass

    def on_step(step):
        if step.epoch > epoch:
            raise StopError

    return StopError, on_step


@pytest.mark.parametrize("objective", ["softmax", "pap@2", "soprc"])
@pytest.mark.parametrize("epochs", [1, 2, 3, 4])
def test_stopped_and_resumed_it_ends_with_the_same_bits(tmp_path, objective, epochs):
    chosen = settings(objective=objective, epochs=3, warm_start=2, batch=32)
    problem = prepared(DATA, chosen)
    whole = train(problem, chosen)
    stop, on_step = stop_after(epochs)
    if len(whole.history) > epochs:
        with pytest.raises(stop):
            train(problem, chosen, tmp_path, on_step=on_step)
    again = train(problem, chosen, tmp_path, resume=True)
    assert same(whole, again)
    assert same(whole, train(problem, chosen, tmp_path, resume=True))
    assert (tmp_path / "metrics.csv").read_text().count("\n") == 1 + len(whole.history)


def test_a_warm_start_comes_first_and_the_best_epoch_is_kept():
    chosen = settings(objective="ap", epochs=3, warm_start=2, batch=32)
    trained = train(prepared(DATA, chosen), chosen)
    assert trained.warm == 2
    values = [row["ndcg@3"] for row in trained.history]
    assert values[trained.best - 1] == max(values)
    cold = settings(objective="ap", epochs=3, warm_start=0, batch=32)
    assert train(prepared(DATA, cold), cold).warm == 0


def test_it_stops_when_validation_does_not_get_better():
    chosen = settings(learning_rate=1e-12, epochs=50, patience=2)
    trained = train(prepared(DATA, chosen), chosen)
    assert len(trained.history) == trained.best + 2 < 50


def test_other_settings_or_data_are_not_resumed(tmp_path):
    chosen = settings(epochs=1)
    train(prepared(DATA, chosen), chosen, tmp_path)
    other = settings(epochs=1, dimension=5)
    with pytest.raises(UsageError, match="dimension was 4 and is 5"):
        train(prepared(DATA, other), other, tmp_path, resume=True)
    with pytest.raises(UsageError, match="cannot be resumed with other training data"):
        train(prepared(two_kinds(seed=3), chosen), chosen, tmp_path, resume=True)
    (tmp_path / "checkpoint.pt").write_bytes(b"nothing")
    with pytest.raises(UsageError, match=r"checkpoint\.pt: was changed or damaged"):
        train(prepared(DATA, chosen), chosen, tmp_path, resume=True)


def test_the_callers_random_numbers_are_left_alone():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    chosen = settings(epochs=1)
    train(prepared(DATA, chosen), chosen)
    assert torch.equal(torch.rand(1), expected)


def test_where_no_epoch_is_as_good_as_the_start_the_start_is_kept():
    """One epoch at this rate and decay leaves nothing of the vectors."""
    chosen = settings(learning_rate=1.0, weight_decay=1.0, epochs=1, batch=32)
    problem = prepared(DATA, chosen)
    trained = train(problem, chosen)
    values = [row["ndcg@3"] for row in trained.history]
    assert trained.start > max(values)
    assert trained.best == 0
    with torch.random.fork_rng(devices=[]):
        start = new_network(problem, chosen).state_dict()
    assert all(torch.equal(v, start[n]) for n, v in trained.network.state_dict().items())
    assert "none was as good on validation as the start" in course(chosen, trained)
