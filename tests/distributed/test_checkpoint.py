from __future__ import annotations

import json

import pytest
import torch

from rankwise.distributed import load_sharded, save_sharded
from rankwise.memory._shard import Shard
from rankwise.objectives import SOAP, SOPRC
from rankwise.seals import sealed_json

TARGET, IDS = torch.tensor([1, 0, 1, 0]), torch.arange(4)


def soap(num_items: int = 7) -> SOAP:
    return SOAP(0.1, num_items, score_scale=1.0)


def trained() -> SOAP:
    loss = soap()
    loss(torch.randn(4, generator=torch.Generator().manual_seed(0)), TARGET, item_ids=IDS + 2)
    return loss


def as_rank(rank: int, world: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the files be those of another process; no test here sends a message."""
    monkeypatch.setattr("rankwise.distributed.checkpoint._rank_and_world", lambda: (rank, world))


@pytest.mark.parametrize("world", [1, 2, 3, 9])
def test_any_number_of_processes_reads_it(tmp_path, monkeypatch, world):
    """Including more processes than there are rows."""
    whole = trained()
    save_sharded(whole, tmp_path)
    for rank in range(world):
        as_rank(rank, world, monkeypatch)
        part = soap()
        part.average.shard = Shard(part.average, 7, rank, world)
        load_sharded(part, tmp_path)
        assert torch.equal(part.average.value, whole.average.value[rank::world])
        assert torch.equal(part.average.seen, whole.average.seen[rank::world])


def test_a_later_save_replaces_the_files_of_the_one_before(tmp_path):
    save_sharded(soap(), tmp_path)
    before = set(tmp_path.iterdir())
    loss = trained()
    index = save_sharded(loss, tmp_path)
    assert {path.name for path in set(tmp_path.iterdir()) & before} == {index.name}
    assert len(set(tmp_path.iterdir())) == 2
    fresh = soap()
    load_sharded(fresh, tmp_path)
    assert torch.equal(fresh.average.value, loss.average.value)


def test_what_cannot_be_read_changes_nothing(tmp_path):
    with pytest.raises(ValueError, match="must be an index that save_sharded wrote, got FileNot"):
        load_sharded(soap(), tmp_path)
    index = save_sharded(trained(), tmp_path)
    fresh = soap()
    for other in (soap(6), SOPRC(0.1)):
        with pytest.raises(ValueError, match=r"must be of a module with the same options, got .*"):
            load_sharded(other, tmp_path)
    (file,) = json.loads(index.read_text())["files"]
    data = bytearray((tmp_path / file).read_bytes())
    data[-1] ^= 1
    (tmp_path / file).write_bytes(data)
    with pytest.raises(ValueError, match="is missing or damaged"):
        load_sharded(fresh, tmp_path)
    assert not fresh.average.seen.any()
    known = {name: value for name, value in json.loads(index.read_text()).items() if name != "seal"}
    index.write_bytes(sealed_json({**known, "format": 2}))
    with pytest.raises(ValueError, match="must have format 1, got 2"):
        load_sharded(fresh, tmp_path)
