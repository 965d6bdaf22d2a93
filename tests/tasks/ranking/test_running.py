from __future__ import annotations

import json

import numpy as np
import pytest
from tests.tasks.ranking.cases import written

from rankwise.data import DataError
from rankwise.data.letor import read_letor
from rankwise.tasks.ranking import Settings, UsageError, load_run, run, scores_of

SETTINGS = Settings("ndcg@3", "mlp", "ndcg@3", options={"epochs": 3, "hidden": (4,)})


def test_a_run_and_its_folder(tmp_path):
    train = read_letor(written(tmp_path / "train.txt"))
    test = read_letor(written(tmp_path / "test.txt", queries=8, seed=1))
    done = run(SETTINGS, tmp_path / "run", train, None, test, metrics=["ap"])
    names = {p.name for p in (tmp_path / "run").iterdir()}
    assert names == {"config.json", "model.ranker", "results.json", "index.html"}
    found = json.loads((tmp_path / "run" / "results.json").read_text())
    assert found["results"]["test"]["ap"]["value"] == done.results["test"]["ap"].mean
    assert set(found["results"]["test"]) == {"ap", "ndcg@3"}
    page = done.page.read_text()
    assert "Learning to rank" in page
    assert "on validation over" in page
    settings, ranker = load_run(tmp_path / "run")
    assert settings.objective == "ndcg@3"
    np.testing.assert_array_equal(scores_of(ranker, test), scores_of(done.ranker, test))
    with pytest.raises(UsageError, match="already holds a run"):
        run(SETTINGS, tmp_path / "run", train)


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
