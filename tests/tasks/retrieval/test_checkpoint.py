from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.tasks.retrieval.cases import images, settings

from rankwise.data.images import ImageSet
from rankwise.tasks.retrieval.checkpoint import (
    CHECKPOINT,
    fingerprint,
    load_checkpoint,
    save_checkpoint,
)
from rankwise.tasks.retrieval.settings import UsageError


def test_what_was_saved_comes_back(tmp_path):
    state = {"step": 3, "network": {"weight": torch.rand(2)}, "history": [{"step": 3, "map": 0.5}]}
    save_checkpoint(tmp_path, settings(), "abc", state)
    found = load_checkpoint(tmp_path, settings(), "abc")
    assert found["step"] == 3
    assert torch.equal(found["network"]["weight"], state["network"]["weight"])
    assert [path.name for path in tmp_path.iterdir()] == [CHECKPOINT]  # nothing temporary is left
    assert load_checkpoint(tmp_path / "elsewhere", settings(), "abc") is None


def test_another_run_is_not_continued(tmp_path):
    save_checkpoint(tmp_path, settings(), "abc", {})
    changed = settings("training.seed=1", "batches.per_class=3")
    message = "batches.per_class was 2 and is 3, training.seed was 0 and is 1"
    with pytest.raises(UsageError, match=message):
        load_checkpoint(tmp_path, changed, "abc")
    with pytest.raises(UsageError, match="other training images"):
        load_checkpoint(tmp_path, settings(), "abd")
    assert load_checkpoint(tmp_path, settings("data.root=moved"), "abc") is not None


def test_a_file_of_another_kind_is_refused_and_not_executed(tmp_path):
    path = tmp_path / CHECKPOINT
    for content in (b"nonsense", None):
        if content is None:
            torch.save({"settings": print}, path)
        else:
            path.write_bytes(content)
        with pytest.raises(UsageError, match="is not a checkpoint of this command"):
            load_checkpoint(tmp_path, settings(), "abc")


def test_the_fingerprint_is_that_of_the_images_and_their_order():
    first = images("train", 3)
    assert fingerprint(first) == fingerprint(images("train", 3))
    assert fingerprint(first) != fingerprint(images("train", 3, seed=1))
    assert fingerprint(first) != fingerprint(first.subset(range(11, -1, -1)))

    def files(folder: str, name: str) -> ImageSet:
        return ImageSet(
            "files", torch.zeros(1, dtype=torch.long), ("a",), paths=(Path(folder, name),)
        )

    assert fingerprint(files("here", "1.jpg")) == fingerprint(files("there", "1.jpg"))
    assert fingerprint(files("here", "1.jpg")) != fingerprint(files("here", "2.jpg"))
