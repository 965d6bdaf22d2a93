"""Tests of the search on validation, for the models in closed form."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from tests.tasks.recommendation.cases import pairs_of, two_kinds
from tests.tasks.recommendation.cases import settings as small

from rankwise.tasks.recommendation import (
    Settings,
    UsageError,
    evaluate,
    measure_of,
    popularity,
    prepared,
    train,
)
from rankwise.tasks.recommendation.models import MODELS

DATA = two_kinds(users=40, items=20, each=8)
OPEN = {
    "ease": {},
    "ials": dict(dimension=3, unobserved_weight=0.1),
    "itemknn": dict(neighbors=5),
}


def chosen_of(model, **options):
    return Settings(model=model, metric="ndcg@3", **OPEN[model], **options)


def value(scores, problem, part):
    parts = tuple(range(part))
    wanted, seen = problem.pairs((part,)), problem.pairs(parts, positive=False)
    return evaluate(scores, wanted, seen, [measure_of("ndcg@3")]).means()["ndcg@3"].value


@pytest.mark.parametrize("model", OPEN)
def test_the_best_on_validation_is_kept(tmp_path, model):
    settings, said = chosen_of(model), []
    problem = prepared(DATA, settings)
    found = train(problem, settings, tmp_path / "run", on_training=said.append)
    values = [row["ndcg@3"] for row in found.history]
    assert found.best == 1 + values.index(max(values))
    assert len(said) == len(values) > 1
    assert len({tuple(row.items()) for row in found.history}) == len(values)
    assert value(found.network.scores(), problem, 1) == found.value == max(values)
    assert found.start == value(popularity(problem.pairs((0,))), problem, 1)
    for name, number in found.chosen.items():
        assert getattr(found.settings, name) == number
    for name, number in OPEN[model].items():
        assert all(row.get(name, number) == number for row in found.history)
    # What was chosen is all that the model needs.
    again = train(problem, found.settings)
    assert len(again.history) == 1
    assert same(again, found)
    lines = (tmp_path / "run" / "metrics.csv").read_text().splitlines()
    assert len(lines) == 1 + len(values)


def same(first, second):
    one, two = first.network.state_dict(), second.network.state_dict()
    return one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)


@pytest.mark.parametrize("model", OPEN)
def test_it_finds_what_kind_a_user_likes(model):
    settings = chosen_of(model)
    problem = prepared(DATA, settings)
    ours = value(train(problem, settings).network.scores(), problem, 2)
    assert ours > value(popularity(problem.pairs((0,))), problem, 2) + 0.1


@pytest.mark.parametrize("model", OPEN)
def test_a_refit_is_a_fit_on_both_parts(model):
    settings = chosen_of(model)
    problem = prepared(DATA, settings)
    found, refitted = train(problem, settings), train(problem, settings.replace(refit=True))
    assert refitted.history == found.history
    assert refitted.chosen == found.chosen
    assert not same(refitted, found)
    ((_, by_hand),) = MODELS[model].fits(problem.pairs((0, 1)), found.settings)
    scores = [next(m.scores().blocks(torch.arange(40), None))[1].clone()
              for m in (refitted.network, by_hand)]  # fmt: skip
    assert torch.equal(*scores)
    assert (refitted.settings.refit, found.settings.refit) == (True, False)
    assert refitted.course().endswith("fitted on the training and the validation part.")
    assert "then fitted" not in found.course()


@pytest.mark.parametrize("model", OPEN)
def test_nothing_of_validation_or_test_is_learned(model):
    """Other items there leave every model of the search as it is."""
    settings = chosen_of(model)
    problem = prepared(DATA, settings)
    moved = replace(problem, item=problem.item.copy())
    moved.item[problem.part != 0] = (moved.item[problem.part != 0] + 7) % 20
    one, two = (train(p, found_settings(problem, settings)) for p in (problem, moved))
    assert same(one, two)
    first, second = (next(m.network.scores().blocks(torch.arange(40), None))[1].clone()
                     for m in (one, two))  # fmt: skip
    assert torch.equal(first, second)


def found_settings(problem, settings):
    return train(problem, settings).settings


def test_a_folder_is_resumed_with_the_same_settings_and_data_only(tmp_path):
    settings = chosen_of("itemknn")
    first = train(prepared(DATA, settings), settings, tmp_path)
    again = train(prepared(DATA, settings), settings, tmp_path, resume=True)
    assert same(first, again)
    assert first.history == again.history
    other = settings.replace(neighbors=4)
    with pytest.raises(UsageError, match="other settings: neighbors was 5 and is 4"):
        train(prepared(DATA, other), other, tmp_path, resume=True)
    with pytest.raises(UsageError, match="cannot be resumed with other training data"):
        train(prepared(two_kinds(seed=3), settings), settings, tmp_path, resume=True)


def test_an_unfinished_folder_is_started_anew_with_other_settings(tmp_path):
    settings = chosen_of("itemknn")
    problem = prepared(DATA, settings)

    def stop(words):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(problem, settings, tmp_path, on_training=stop)
    other = settings.replace(neighbors=4)
    assert train(problem, other, tmp_path).chosen["neighbors"] == 4


def test_a_folder_of_one_kind_of_model_is_not_resumed_with_another(tmp_path):
    network = small(epochs=1)
    closed = chosen_of("ease", regularization=10.0)
    problem = prepared(DATA, closed)
    for first, second in ((network, closed), (closed, network)):
        out = tmp_path / first.model
        train(problem, first, out)
        with pytest.raises(UsageError, match=f"cannot be resumed with model {second.model}"):
            train(problem, second, out, resume=True)


def test_the_callers_random_numbers_are_left_alone():
    settings = chosen_of("ials", iterations=1, regularization=0.1)
    problem = prepared(DATA, settings)
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    train(problem, settings)
    assert torch.equal(torch.rand(1), expected)


def test_the_verdict_compares_with_popularity():
    settings = chosen_of("ease", regularization=10.0)
    found = train(prepared(DATA, settings), settings)
    assert found.verdict().lines() == [
        f"verdict: better than popularity: validation ndcg@3 is {found.value:.4f}, and "
        f"{found.start:.4f} for popularity"
    ]
    worse = replace(found, start=1.0).verdict()
    assert worse.text.startswith("no better than popularity")
    assert worse.advice == ("other values of --regularization", "another --model")


def test_pairs_are_transposed():
    pairs = pairs_of([[0, 2], [], [2]], n_items=4)
    back = pairs.transposed()
    assert back.start.tolist() == [0, 1, 1, 3, 3]
    assert back.items.tolist() == [0, 0, 2]
    assert back.n_items == 3
    assert torch.equal(back.transposed().items, pairs.items)
    assert torch.equal(back.transposed().start, pairs.start)
