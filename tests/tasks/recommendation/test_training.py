"""Tests of the training of a recommender."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from tests.tasks.recommendation.cases import pairs_of, settings, two_kinds

from rankwise.tasks.recommendation import (
    UsageError,
    evaluate,
    measure_of,
    popularity,
    prepared,
    train,
)
from rankwise.tasks.recommendation.network import Recommender
from rankwise.tasks.recommendation.training import (
    TEMPERATURES,
    RecommendTask,
    Trained,
    by_interaction,
    loss_of,
    new_model,
    stage_steps,
    warm_starts,
)
from rankwise.training import Trainer

TRAIN = pairs_of([[0, 1], [2]], n_items=4)


@pytest.mark.parametrize(
    "name",
    ["ndcg", "softmax", "bpr", "pap@3", "ndcg@3", "ap", "listnet", "lambda_loss@3", "auc", "soprc",
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
    sampled, unset = settings(negatives=256), settings(negatives="auto")
    assert by_interaction("softmax", sampled, whole=False, sums=True)
    assert not by_interaction("softmax", unset, whole=False, sums=True)
    assert by_interaction("bpr", unset, whole=False, sums=False)
    assert not by_interaction("ndcg@10", sampled, whole=False, sums=False)
    assert not by_interaction("softmax", unset, whole=True, sums=True)
    for lists in ("user", "interaction"):  # as asked
        asked = settings(negatives=256, lists=lists)
        assert by_interaction("ndcg@10", asked, whole=True, sums=False) == (lists == "interaction")
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


@pytest.mark.parametrize(
    ("negatives", "scores", "offsets"),
    [(6, "dot", True), (0, "dot", True), (6, "cosine", True), (6, "cosine", False)],
)
def test_large_tables_are_updated_by_rows_and_resumed_to_the_same_bits(
    tmp_path, monkeypatch, negatives, scores, offsets
):
    monkeypatch.setattr("rankwise.tasks.recommendation.network.LARGE", 10)
    chosen = settings(
        negatives=negatives, scores=scores, offsets=offsets, temperature=0.3, batch=16
    )
    problem = prepared(DATA, chosen)
    task = RecommendTask(problem, chosen)
    sparse = [name for name, m in task.network.named_modules() if getattr(m, "sparse", False)]
    expected = ["users.ids"] + ["items.ids", *["offsets"] * offsets] * (negatives > 0)
    assert sparse == expected  # the whole catalog touches every item
    whole = train(problem, chosen)
    stop, on_step = stop_after(1)
    with pytest.raises(stop):
        train(problem, chosen, tmp_path, on_step=on_step)
    assert same(whole, train(problem, chosen, tmp_path, resume=True))


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
        start = new_model(problem, chosen).state_dict()
    assert all(torch.equal(v, start[n]) for n, v in trained.network.state_dict().items())
    assert "none was as good on validation as the initial model" in trained.course()


COSINE = dict(scores="cosine", negatives="auto", epochs=4, batch=64, learning_rate=0.05)


def test_a_tuned_training_is_the_one_with_that_temperature(tmp_path):
    chosen, said = settings(**COSINE), []
    problem = prepared(DATA, chosen)
    found = train(problem, chosen, tmp_path / "run", on_training=said.append)
    assert found.settings.temperature == found.network.temperature
    assert len(said) == len(found.tried) >= 2
    assert set(found.tried) <= set(TEMPERATURES)
    for temperature, value in found.tried.items():
        alone = settings(**COSINE, temperature=temperature)
        again = train(problem, alone)
        assert again.value == value
        assert again.tried == {}
        if temperature == found.network.temperature:
            assert same(again, found)
    folders = {path.name for path in (tmp_path / "run").iterdir() if path.is_dir()}
    assert folders == {f"temperature-{t:g}" for t in found.tried if t != 0.2}
    lines = (tmp_path / "run" / "metrics.csv").read_text().splitlines()
    value = found.tried[found.network.temperature]
    assert float(lines[found.best].split(",")[-1]) == pytest.approx(value)
    assert f"Temperature {found.network.temperature:g} was chosen from" in found.course()


def test_another_temperature_must_be_better_by_a_standard_error():
    outcomes = set()
    for seed in range(4):
        chosen = settings(**COSINE, seed=seed)
        problem = prepared(DATA, chosen)
        found = train(problem, chosen)
        wanted, seen = problem.validation(chosen), problem.pairs((0,), positive=False)

        @cache
        def values(temperature, problem=problem, seed=seed, wanted=wanted, seen=seen):
            alone = train(problem, settings(**COSINE, seed=seed, temperature=temperature))
            measures = [measure_of("ndcg@3")]
            return evaluate(alone.network.scores(), wanted, seen, measures).values["ndcg@3"]

        def better(new, old, values=values):
            gains = (values(new) - values(old)).numpy()
            gains = gains[~np.isnan(gains)]
            outcome = (gains.mean() > 0, gains.mean() > gains.std(ddof=1) / len(gains) ** 0.5)
            outcomes.add(outcome)
            return outcome[1]

        expected = 0.2
        for way in ((0.25, 0.3), (0.15, 0.1)):
            for temperature in way if expected == 0.2 else ():
                if not better(temperature, expected):
                    break
                expected = temperature
        assert found.network.temperature == expected
    # A gain that counts, one that does not, and none.
    assert outcomes == {(True, True), (True, False), (False, False)}


@pytest.mark.parametrize("objective", ["softmax", "ap"])
def test_tuned_and_refitted_it_is_resumed_to_the_same_bits(tmp_path, objective):
    chosen = settings(**COSINE, objective=objective, warm_start=2, refit=True, schedule="cosine")
    problem = prepared(DATA, chosen)
    steps = []
    whole = train(problem, chosen, on_step=steps.append)
    assert whole.refit_steps > 0
    stops = range(1, len(steps), max(1, len(steps) // 5))
    for number, stop in enumerate([*stops, len(steps)]):
        out, left = tmp_path / f"{number}", [stop]

        def on_step(step, left=left):
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            train(problem, chosen, out, on_step=on_step)
        again = train(problem, chosen, out, resume=True)
        assert same(whole, again)
        assert (again.tried, again.refit_steps) == (whole.tried, whole.refit_steps)
    with pytest.raises(UsageError, match=r"temperature was None and is 0\.3"):
        train(problem, chosen.replace(temperature=0.3), out, resume=True)


def test_a_refit_learns_from_the_validation_part_for_as_many_steps():
    chosen = settings(**COSINE, temperature=0.2, refit=True, weighting="users")
    problem = prepared(DATA, chosen)
    found, without = train(problem, chosen), train(problem, chosen.replace(refit=False))
    assert found.history == without.history
    assert found.refit_steps == found.history[found.best - 1]["step"]
    task = RecommendTask(problem, chosen, lengths=[found.refit_steps])
    assert len(task.positives) == len(problem.pairs((0, 1))) > len(problem.pairs((0,)))
    with torch.random.fork_rng(devices=[]):
        network = Trainer(RecommendTask(problem, chosen, lengths=[found.refit_steps])).fit().last
    state = found.network.state_dict()
    assert all(torch.equal(state[name], network[name]) for name in state)
    assert not torch.equal(
        state["users.ids.weight"], without.network.state_dict()["users.ids.weight"]
    )
    assert "trained again" in found.course()
    assert "and is the model" not in found.course()
    assert found.settings.refit
    assert not without.settings.refit


def test_a_refit_takes_the_steps_of_every_stage():
    rows = [{"step": 5.0 * (n + 1), "warm_start": float(n < 3), "ndcg@10": v} for n, v in
            enumerate([0.1, 0.4, 0.3, 0.2, 0.5])]  # fmt: skip
    network = Recommender(2, 2, settings())
    assert stage_steps(Trained(network, rows, 5, 0.0)) == [10, 10]
    assert stage_steps(Trained(network, rows, 2, 0.0)) == [10]
    assert stage_steps(Trained(network, rows, 5, 0.45)) == [0, 10]


def test_a_cosine_schedule_falls_over_all_epochs_and_a_refit_repeats_it():
    chosen = settings(**COSINE, temperature=0.2, schedule="cosine", refit=True)
    problem = prepared(DATA, chosen)
    task = RecommendTask(problem, chosen)
    task.begin(0)
    last = task.stages[0].steps
    assert task.rate(0) == 0.05
    assert task.rate(last // 2) == pytest.approx(
        0.05 * (1 + np.cos(np.pi * (last // 2) / last)) / 2
    )
    assert task.rate(last) == pytest.approx(0, abs=1e-12)
    again = RecommendTask(problem, chosen.replace(lists="interaction", batch=4), lengths=[last])
    again.begin(0)
    first = RecommendTask(problem, chosen.replace(lists="interaction", batch=4))
    first.begin(0)
    assert again.samplers[0].steps != first.samplers[0].steps  # more positives in an epoch
    assert [again.rate(step) for step in range(last)] == [first.rate(step) for step in range(last)]


def test_a_test_file_makes_the_refit_the_default():
    chosen = settings(**COSINE, temperature=0.2)
    parts = prepared(DATA, chosen).part
    published = replace(DATA, part=np.where(parts == 2, 2, 0).astype(np.int8))
    problem = prepared(published, chosen)
    assert (problem.part == 2).tolist() == (parts == 2).tolist()
    assert train(problem, chosen).refit_steps > 0
    assert train(problem, chosen.replace(refit=False)).refit_steps == 0
    assert train(prepared(DATA, chosen), chosen).refit_steps == 0
