"""Tests of whole runs of learning to rank."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.tasks.ranking.cases import written

from rankwise.data import DataError
from rankwise.data.letor import read_letor
from rankwise.estimators import Ranker
from rankwise.estimators._files import Checkpoint
from rankwise.tasks.ranking import (
    Settings,
    UsageError,
    evaluate_lists,
    fitted,
    load_run,
    run,
    scores_of,
)
from rankwise.tasks.ranking.report import stops_by

QUICK = {"mlp": {"epochs": 5, "hidden": (8,)}, "linear": {}, "boosted": {"n_estimators": 10}}


@pytest.mark.parametrize("model", ["linear", "mlp", "boosted"])
@pytest.mark.parametrize("objective", ["ndcg@3", "listnet", "lambda_loss@3", "ap"])
def test_every_scorer_learns_by_every_objective(tmp_path, model, objective):
    settings = Settings(objective=objective, model=model, metric="ndcg@3", options=QUICK[model])
    train = read_letor(written(tmp_path / "train.txt"))
    test = read_letor(written(tmp_path / "test.txt", seed=1))
    ranker = fitted(settings, train)
    found = evaluate_lists(scores_of(ranker, test), test, ["ndcg@3"])["ndcg@3"]
    chance = evaluate_lists(np.zeros(len(test)), test, ["ndcg@3"])["ndcg@3"]
    assert found.mean > chance.mean + 0.1


def test_noise_is_an_option_of_boosted_runs_and_resumes(tmp_path, monkeypatch):
    options = {**QUICK["boosted"], "noise": 1.0, "samples": 2, "gradient_blend": 0.5, "n_jobs": 1}
    settings = Settings(objective="ndcg@3", model="boosted", metric="ndcg@3", options=options)
    train = read_letor(written(tmp_path / "train.txt"))
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    run(settings, whole, train)
    save = Checkpoint.save

    def killed(self, state):
        save(self, state)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "save", killed)
        with pytest.raises(KeyboardInterrupt):
            run(settings, stopped, train)
    run(settings, stopped, train, resume=True)
    one, other = (scores_of(load_run(folder)[1], train) for folder in (whole, stopped))
    np.testing.assert_array_equal(one, other)


def test_a_validation_file_is_what_is_held_out(tmp_path):
    train = read_letor(written(tmp_path / "train.txt"))
    other = read_letor(written(tmp_path / "other.txt", queries=5, seed=2))
    settings = Settings(objective="ndcg@3", model="mlp", metric="ndcg@3", options=QUICK["mlp"])
    ranker = fitted(settings, train, other)
    assert ranker.held_out_ == len(other) == 30
    best = max(ranker.history_)
    judged_there = evaluate_lists(scores_of(ranker, other), other, ["ndcg@3"])["ndcg@3"]
    assert judged_there.mean == pytest.approx(best)
    # Queries of two files are others, also where their numbers are the same.
    assert train.groups.min() == other.groups.min() == 0


@pytest.mark.parametrize("model", ["linear", "mlp", "boosted"])
def test_validation_stops_by_the_number_that_evaluation_gives(tmp_path, model):
    train = read_letor(written(tmp_path / "train.txt"))
    text = written(tmp_path / "other.txt", queries=5, seed=2).read_text()
    # A query with only relevant documents, and one with none.
    more = "".join(f"{r} qid:{9 + (r == 0)} 1:{n} 2:1 3:0\n" for r in (2, 0) for n in range(3))
    (tmp_path / "other.txt").write_text(text + more)
    other = read_letor(tmp_path / "other.txt")
    ranker = fitted(
        Settings(objective="ap", model=model, metric="ap", options=QUICK[model]), train, other
    )
    found = evaluate_lists(scores_of(ranker, other), other, ["ap"])["ap"]
    assert (found.plain["queries"], found.plain["left_out"]) == (6, 1)
    y, groups = other.target >= 1, other.groups
    assert ranker.score(other.columns(train.width), y, groups=groups) == pytest.approx(found.mean)
    if model == "mlp":
        assert max(ranker.history_) == pytest.approx(found.mean)


def test_a_metric_of_relevances_seen_as_two_classes_has_another_name(tmp_path):
    data = read_letor(written(tmp_path / "train.txt"))
    words = "ndcg@3 of two classes (relevant: at least 1)"
    assert stops_by(Settings(objective="ap", model="mlp", metric="ndcg@3"), data) == words
    assert stops_by(Settings(objective="ndcg@3", model="mlp", metric="ndcg@3"), data) == "ndcg@3"
    assert stops_by(Settings(objective="ap", model="mlp", metric="ap"), data) == "ap"
    two = replace(data, target=np.minimum(data.target, 1))
    assert stops_by(Settings(objective="ap", model="mlp", metric="ndcg@3"), two) == "ndcg@3"
    with pytest.raises(UsageError, match="metric ap stops training by two classes"):
        fitted(Settings(objective="ndcg@3", model="mlp", metric="ap"), data)


def test_one_relevance_is_nothing_to_rank(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("1 qid:1 1:1\n1 qid:1 1:2\n")
    with pytest.raises(DataError, match="all documents are of one relevance"):
        fitted(Settings(), read_letor(path))


def test_a_relevance_whose_gain_is_infinite(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("".join(f"{2000 * (n % 2)} qid:{n // 4} 1:{n % 2}\n" for n in range(40)))
    data = read_letor(path)
    with pytest.raises(DataError, match=r"line 2: the relevance 2000 is too large for ndcg@3"):
        fitted(Settings(objective="ndcg@3", model="linear", metric="ap"), data)
    ranker = fitted(
        Settings(objective="ap", model="linear", metric="ndcg@3"), data
    )  # two classes have no such gain
    assert scores_of(ranker, data)[1] > scores_of(ranker, data)[0]


def test_settings_keep_the_names_of_rankwise():
    settings = Settings(objective="average_precision", model="mlp", metric="nDCG@10")
    assert (settings.objective, settings.metric) == ("ap", "ndcg@10")
    assert Settings(objective="log_loss").objective == "log_loss"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "forest"}, "model must be one of linear, mlp, boosted, got 'forest'"),
        ({"objective": "ndgc"}, "ndgc"),
        ({"metric": "ndgc"}, "ndgc"),
        ({"objective": "ndcg@0"}, "k must be a whole number >= 1, got 0"),
        ({"objective": "opauc(max_fpr=2)"}, "max_fpr=2"),
        ({"metric": "ndcg@0"}, "k must be a whole number >= 1, got 0"),
        ({"relevant": float("nan")}, "relevant must be a finite number > 0, got nan"),
        ({"relevant": float("inf")}, "relevant must be a finite number > 0, got inf"),
        ({"relevant": 0.0}, "relevant must be a finite number > 0, got 0.0"),
        ({"validation_share": 1.0}, r"validation_share must be in \[0, 1\), got 1.0"),
        ({"seed": -1}, "seed must be a whole number from 0 to"),
        ({"options": {"layers": 3}}, "mlp has no option 'layers'; it has batch_size"),
        ({"options": {"objective": "ap"}}, "mlp has no option 'objective'"),
    ],
)
def test_what_cannot_be_asked(options, message):
    with pytest.raises(UsageError, match=message):
        Settings(**options)


SETTINGS = Settings(
    objective="ndcg@3", model="mlp", metric="ndcg@3", options={"epochs": 3, "hidden": (4,)}
)


def test_a_run_and_its_folder(tmp_path):
    train = read_letor(written(tmp_path / "train.txt"))
    test = read_letor(written(tmp_path / "test.txt", queries=8, seed=1))
    done = run(SETTINGS, tmp_path / "run", train, None, test, metrics=["ap"])
    names = {p.name for p in (tmp_path / "run").iterdir()}
    assert names == {"config.json", "model.ranker", "results.json", "index.html", "run.json"}
    found = json.loads((tmp_path / "run" / "results.json").read_text())
    assert found["results"]["test"]["ap"]["value"] == done.results["test"]["ap"].mean
    assert set(found["results"]["test"]) == {"ap", "ndcg@3"}
    page = done.report.read_text()
    assert "Learning to rank" in page
    assert "on validation over" in page
    settings, ranker = load_run(tmp_path / "run")
    assert settings.objective == "ndcg@3"
    np.testing.assert_array_equal(scores_of(ranker, test), scores_of(done.ranker, test))
    with pytest.raises(UsageError, match="already holds a run"):
        run(SETTINGS, tmp_path / "run", train)


def test_what_cannot_be_judged_is_said_before_the_work_is_done(tmp_path):
    train = read_letor(written(tmp_path / "train.txt"))
    with pytest.raises(UsageError, match="k must be a whole number >= 1, got 0"):
        run(SETTINGS, tmp_path / "run", train, metrics=["ndcg@0"])
    test = replace(train, target=train.target + 2000)
    with pytest.raises(DataError, match="is too large for ndcg@3"):
        run(SETTINGS, tmp_path / "run", train, None, test, metrics=["ap"])
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("model", ["mlp", "linear", "boosted"])
def test_killed_and_resumed_is_never_stopped(tmp_path, monkeypatch, model):
    train = read_letor(written(tmp_path / "train.txt"))
    other = read_letor(written(tmp_path / "other.txt", queries=8, seed=1))
    options = {"mlp": {"epochs": 6, "hidden": (4,)}, "boosted": {"n_estimators": 5}}
    settings = Settings(
        objective="ndcg@3", model=model, metric="ndcg@3", options=options.get(model, {})
    )
    whole = run(settings, tmp_path / "whole", train, other)
    out, save = tmp_path / "run", Checkpoint.save

    def killed(self, state):
        save(self, state)
        if state.get("done", 1) == 1:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "save", killed)
        with pytest.raises(KeyboardInterrupt):
            run(settings, out, train, other)
    assert {path.name for path in out.iterdir()} == {"checkpoint.pt", "run.json"}
    with pytest.raises(UsageError, match="already holds a run; pass --resume"):
        run(settings, out, train, other)
    with pytest.raises(UsageError, match="other data"):
        run(settings, out, other, train, resume=True)
    resumed = run(settings, out, train, other, resume=True)
    np.testing.assert_array_equal(scores_of(resumed.ranker, other), scores_of(whole.ranker, other))
    for name in ("results.json", "index.html"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not (out / "checkpoint.pt").exists()


def test_resuming_a_run_that_has_ended_judges_it_again(tmp_path, monkeypatch):
    train = read_letor(written(tmp_path / "train.txt"))
    out = tmp_path / "run"
    first = run(SETTINGS, out, train)
    with monkeypatch.context() as patch:
        patch.setattr(Ranker, "fit", None)
        again = run(SETTINGS, out, train, metrics=["mrr"], resume=True)
    np.testing.assert_array_equal(scores_of(again.ranker, train), scores_of(first.ranker, train))
    assert "mrr" in json.loads((out / "results.json").read_text())["results"]["train"]
    with pytest.raises(UsageError, match=r"the run has ended with seed = 0, not 1"):
        run(SETTINGS.replace(seed=1), out, train, resume=True)


def test_a_test_file_with_more_features_is_said_before_the_work(tmp_path):
    train = read_letor(written(tmp_path / "train.txt"))
    path = tmp_path / "wide.txt"
    path.write_text("1 qid:1 9:1\n0 qid:1 1:1\n")
    with pytest.raises(DataError, match="has feature 9, the last of the model is 3"):
        run(SETTINGS, tmp_path / "run", train, None, read_letor(path))
    assert not (tmp_path / "run").exists()


def test_folders_without_a_run(tmp_path):
    with pytest.raises(UsageError, match=r"is not a finished run \(config.json is missing\)"):
        load_run(tmp_path)
    (tmp_path / "config.json").write_text('{"settings": {}}')
    (tmp_path / "model.ranker").write_bytes(b"nothing")
    with pytest.raises(UsageError, match="is not a run that can be read"):
        load_run(tmp_path)
