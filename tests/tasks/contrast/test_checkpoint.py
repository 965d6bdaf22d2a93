from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from tests.tasks.contrast.cases import SETTINGS
from torch import nn

from rankwise.tasks.contrast import UsageError
from rankwise.tasks.contrast.checkpoint import CHECKPOINT, load_checkpoint, save_checkpoint


def test_what_was_saved_comes_back(tmp_path):
    layer = nn.Linear(2, 3)
    state = torch.get_rng_state()
    save_checkpoint(tmp_path, SETTINGS, "abc", [{"epoch": 1, "loss": 0.5}], {"network": layer})
    found = load_checkpoint(tmp_path, SETTINGS, "abc")
    assert found is not None
    assert torch.equal(found["network"]["weight"], layer.weight)
    assert torch.equal(found["generator"], state)
    assert found["history"] == [{"epoch": 1, "loss": 0.5}]
    assert [path.name for path in tmp_path.iterdir()] == [CHECKPOINT]  # nothing temporary is left


def test_no_checkpoint_yet(tmp_path):
    assert load_checkpoint(tmp_path, SETTINGS, "abc") is None


def test_another_run_is_not_continued(tmp_path):
    save_checkpoint(tmp_path, SETTINGS, "abc", [], {})
    with pytest.raises(UsageError, match="batch was 8 and is 4, seed was 0 and is 1"):
        load_checkpoint(tmp_path, replace(SETTINGS, batch=4, seed=1), "abc")
    with pytest.raises(UsageError, match="other training images"):
        load_checkpoint(tmp_path, SETTINGS, "abd")


def test_a_file_of_another_kind_is_refused_and_not_executed(tmp_path):
    path = tmp_path / CHECKPOINT
    path.write_bytes(b"nonsense")
    with pytest.raises(UsageError, match="is not a checkpoint of this command"):
        load_checkpoint(tmp_path, SETTINGS, "abc")
    torch.save({"settings": print}, path)
    with pytest.raises(UsageError, match="is not a checkpoint of this command"):
        load_checkpoint(tmp_path, SETTINGS, "abc")
