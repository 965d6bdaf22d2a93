from __future__ import annotations

from shutil import rmtree

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from sklearn.base import clone

from rankwise.errors import UsageError
from rankwise.estimators import BoostedRanker, LinearRanker, NeuralRanker
from rankwise.estimators._files import Checkpoint, fingerprint
from rankwise.estimators.data import Part

NEURAL = {"hidden": (6,), "epochs": 6, "warm_start_epochs": 2, "batch_size": 64}
TREES = {"n_estimators": 8, "n_jobs": 1, "blend": 0.5}


def test_what_is_saved_is_loaded(tmp_path):
    kept = Checkpoint(tmp_path / "deep" / "state.pt", {"alpha": 0.5, "hidden": (3,)})
    assert kept.load() is None
    kept.save({"weights": torch.arange(3.0), "history": [0.5], "name": "x"})
    found = Checkpoint(kept.path, {"alpha": 0.5, "hidden": (3,)}).load()
    assert found["weights"].tolist() == [0, 1, 2]
    assert (found["history"], found["name"]) == ([0.5], "x")
    assert [p.name for p in kept.path.parent.iterdir()] == ["state.pt"]


def test_what_was_asked_otherwise_is_not_continued(tmp_path):
    path = tmp_path / "state.pt"
    Checkpoint(path, {"alpha": 0.5, "data": "abc"}).save({})
    with pytest.raises(UsageError, match=r"alpha was 0\.5 and is 0\.1; repeat it as it was"):
        Checkpoint(path, {"alpha": 0.1, "data": "abc"}).load()
    with pytest.raises(ValueError, match="cannot be resumed: other data"):
        Checkpoint(path, {"alpha": 0.5, "data": "def"}).load()
    path.write_bytes(b"cos\nsystem\n")
    with pytest.raises(ValueError, match="is not the checkpoint of a ranker"):
        Checkpoint(path, {}).load()


def test_the_fingerprint_sees_values_weights_and_lists():
    X, y = np.eye(3), np.array([1.0, 0, 0])
    words = {
        fingerprint(Part(X, y)),
        fingerprint(Part(2 * X, y)),
        fingerprint(Part(X, 1 - y)),
        fingerprint(Part(X, y, np.ones(3))),
        fingerprint(Part(X, y, None, np.array([0, 0, 1]))),
        fingerprint(Part(csr_array(X), y)),
        fingerprint(Part(X, y), Part(X, y)),
    }
    assert len(words) == 7
    assert fingerprint(Part(X, y)) == fingerprint(Part(X.copy(), y.copy()))


def stopped_after(saves, monkeypatch):
    """Let so many states be written, and be killed right after the last of them."""
    save, left = Checkpoint.save, [saves]

    def killed(self, state):
        save(self, state)
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "save", killed)


@pytest.mark.parametrize(
    ("ranker", "saves"),
    [
        (NeuralRanker("ap", **NEURAL), 1),  # in the epochs of cross-entropy
        (NeuralRanker("ap", **NEURAL), 2),  # just after them
        (NeuralRanker("soap", **NEURAL), 4),  # with a memory of every item
        (NeuralRanker("log_loss", **NEURAL), 3),
        (NeuralRanker("ap", **{**NEURAL, "patience": 1, "epochs": 30}), 3),
        (BoostedRanker("ap", **TREES), 1),
        (BoostedRanker("ap", **TREES, subsample=0.7, colsample=0.7), 1),
        (BoostedRanker("ap", **TREES, engine="xgboost", subsample=0.7), 1),
        (BoostedRanker("ap", **TREES, noise=0.5, samples=2, gradient_blend=0.5), 1),
        (LinearRanker("ap"), 1),
        (LinearRanker("auc", start="zero"), 3),
    ],
    ids=repr,
)
def test_killed_and_continued_is_never_stopped(ranker, saves, rows, tmp_path, monkeypatch):
    X, y = rows
    ranker = clone(ranker).set_params(random_state=0)
    whole = clone(ranker).fit(X, y)
    path = tmp_path / "state.pt"
    with monkeypatch.context() as patch:
        stopped_after(saves, patch)
        with pytest.raises(KeyboardInterrupt):
            clone(ranker).fit(X, y, checkpoint=path)
    assert path.exists()
    continued = clone(ranker).fit(X, y, checkpoint=path)
    for fitted in (continued, clone(ranker).fit(X, y, checkpoint=path)):  # also when all is done
        np.testing.assert_array_equal(fitted.decision_function(X), whole.decision_function(X))
        np.testing.assert_array_equal(fitted.predict_proba(X), whole.predict_proba(X))
        assert getattr(fitted, "history_", None) == getattr(whole, "history_", None)


def test_a_folder_that_is_removed_during_the_training_is_reported(rows, tmp_path, monkeypatch):
    path, save = tmp_path / "run" / "state.pt", Checkpoint.save

    def save_and_remove(self, state):
        save(self, state)
        rmtree(path.parent)

    monkeypatch.setattr(Checkpoint, "save", save_and_remove)
    with pytest.raises(UsageError, match="run was removed while the training was writing"):
        NeuralRanker("ap", **NEURAL, random_state=0).fit(*rows, checkpoint=path)
    assert not path.parent.exists()


def test_what_is_there_is_not_trained_again(rows, tmp_path, monkeypatch):
    X, y = rows
    ranker = NeuralRanker("ap", **NEURAL, random_state=0)
    path = tmp_path / "state.pt"
    with monkeypatch.context() as patch:
        stopped_after(4, patch)
        with pytest.raises(KeyboardInterrupt):
            clone(ranker).fit(X, y, checkpoint=path)
    saved = []
    monkeypatch.setattr(Checkpoint, "save", lambda self, state: saved.append(state["done"]))
    clone(ranker).fit(X, y, checkpoint=path)
    assert saved == [3, 4]  # of the four epochs of the objective


def test_other_rows_or_options_are_not_continued(rows, tmp_path):
    X, y = rows
    path = tmp_path / "state.pt"
    LinearRanker("auc", random_state=0).fit(X, y, checkpoint=path)
    with pytest.raises(ValueError, match=r"alpha was 0\.0001 and is 0\.1"):
        LinearRanker("auc", alpha=0.1, random_state=0).fit(X, y, checkpoint=path)
    with pytest.raises(ValueError, match="other data"):
        LinearRanker("auc", random_state=0).fit(2 * X, y, checkpoint=path)
