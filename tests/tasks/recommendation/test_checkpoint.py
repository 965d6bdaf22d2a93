from __future__ import annotations

import pytest
import torch
from tests.tasks.recommendation.cases import settings

from rankwise.tasks.recommendation import UsageError
from rankwise.tasks.recommendation.checkpoint import (
    CHECKPOINT,
    load_checkpoint,
    save_checkpoint,
)


def test_what_is_saved_is_loaded(tmp_path):
    assert load_checkpoint(tmp_path, settings(), "abc") is None
    torch.manual_seed(3)
    expected = torch.get_rng_state()
    save_checkpoint(tmp_path, settings(hidden=(3,)), "abc", {"history": [{"loss": 0.5}]})
    state = load_checkpoint(tmp_path, settings(hidden=(3,)), "abc")
    assert state["history"] == [{"loss": 0.5}]
    assert torch.equal(state["generator"], expected)
    assert [p.name for p in tmp_path.iterdir()] == [CHECKPOINT]


def test_other_settings_data_or_files_are_refused(tmp_path):
    save_checkpoint(tmp_path, settings(), "abc", {})
    with pytest.raises(UsageError, match=r"hidden was .* and is"):
        load_checkpoint(tmp_path, settings(hidden=(3,)), "abc")
    with pytest.raises(UsageError, match="cannot be resumed with other data"):
        load_checkpoint(tmp_path, settings(), "def")
    (tmp_path / CHECKPOINT).write_bytes(b"cos\nsystem\n")
    with pytest.raises(UsageError, match="is not a checkpoint"):
        load_checkpoint(tmp_path, settings(), "abc")
