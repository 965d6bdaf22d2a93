from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.tasks.ranking.cases import written

from rankwise.data import DataError
from rankwise.data.letor import read_letor
from rankwise.estimators import Ranker
from rankwise.estimators._checkpoint import Checkpoint
from rankwise.tasks.ranking import Settings, UsageError, load_run, run, scores_of

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
    with pytest.raises(UsageError, match=r"is no finished run \(config.json is missing\)"):
        load_run(tmp_path)
    (tmp_path / "config.json").write_text('{"settings": {}}')
    (tmp_path / "model.ranker").write_bytes(b"nothing")
    with pytest.raises(UsageError, match="is not a run that can be read"):
        load_run(tmp_path)
