from __future__ import annotations

import io

import pytest
import torch
from tests.training.toy import Toy

from rankwise.errors import UsageError
from rankwise.training import CHECKPOINT, RunFolder, Trainer
from rankwise.training.checkpoint import load_checkpoint, save_checkpoint
from rankwise.training.task import Record


@pytest.fixture(autouse=True)
def own_random_numbers():
    with torch.random.fork_rng(devices=[]):
        yield


@pytest.fixture
def folder(tmp_path):
    with RunFolder(tmp_path / "run", "toy").opened() as folder:
        yield folder


def test_what_was_saved_comes_back(folder):
    assert load_checkpoint(folder, Toy()) is None
    save_checkpoint(folder, Toy(), {"step": 3, "network": {"weight": torch.ones(2)}})
    found = load_checkpoint(folder, Toy())
    assert found["step"] == 3
    assert torch.equal(found["network"]["weight"], torch.ones(2))
    assert (found["format"], found["world_size"], found["joined_batch"]) == (1, 1, 8)


def test_a_run_of_other_settings_or_data_is_not_resumed(folder):
    save_checkpoint(folder, Toy(), {})
    with pytest.raises(
        UsageError, match=r"size was 8 and is 4, nested\.noise was 0\.0 and is 0\.5"
    ):
        load_checkpoint(folder, Toy(size=4, noise=0.5))
    other = Toy()
    other.record = Record(other.record.settings, "abd", 8)
    with pytest.raises(UsageError, match="cannot be resumed with other training data"):
        load_checkpoint(folder, other)


@pytest.mark.parametrize("place", [0, 1000, -1])
def test_a_flipped_byte_is_refused(folder, place):
    Trainer(Toy(), folder=folder).fit()
    path = folder.path / CHECKPOINT
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"was changed or damaged, its SHA-256 is not that of run"):
        Trainer(Toy(), folder=folder).fit(resume=True)


def test_a_file_of_another_kind_is_refused_and_not_executed(folder):
    harmful = io.BytesIO()
    torch.save({"settings": print}, harmful)
    for content in (b"nonsense", harmful.getvalue()):
        folder.write(CHECKPOINT, content)
        with pytest.raises(UsageError, match="is not a checkpoint of this command"):
            load_checkpoint(folder, Toy())
