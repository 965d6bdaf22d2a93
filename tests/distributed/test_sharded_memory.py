from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from tests.distributed.cases import CASES, SHARDED
from tests.distributed.test_across_processes import run

from rankwise.distributed import AcrossProcesses, load_sharded, save_sharded, shard_memories
from rankwise.memory._shard import Shard
from rankwise.objectives import SOAP, SOPRC, PairwiseAUC

WORKER = str(Path(__file__).with_name("worker.py"))
TARGET, IDS = torch.tensor([1, 0, 1, 0]), torch.arange(4)


@pytest.fixture(scope="module", params=[2, 3])
def together(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sharded")
    run(WORKER, str(folder), "sharded", *SHARDED, "--fork", str(request.param))
    files = [folder / f"{request.param}.{rank}.pt" for rank in range(request.param)]
    return folder, [torch.load(file, weights_only=True) for file in files]


@pytest.mark.parametrize("name", SHARDED)
def test_split_it_has_the_bits_of_a_whole_memory(together, name):
    folder, ranks = together
    for results in ranks:
        split, whole = results["sharded"][name], results[name]
        assert torch.equal(split["values"], whole["values"])
        assert all(map(torch.equal, split["parameters"], whole["parameters"]))
    fresh = CASES[name].objective()
    load_sharded(fresh, folder / f"{name} {len(ranks)}")
    assert fresh.state_dict().keys() == ranks[0][name]["memory"].keys()
    for key, buffer in fresh.state_dict().items():
        assert torch.equal(buffer, ranks[0][name]["memory"][key]), key


@pytest.mark.parametrize("name", SHARDED)
def test_a_process_has_its_share_of_the_rows(together, name):
    _, ranks = together
    whole = ranks[0][name]["memory"]
    parts = [results["sharded"][name]["memory"] for results in ranks]
    shorter = [key for key in whole if parts[0][key].shape != whole[key].shape]
    assert any(key.endswith("value") for key in shorter)
    for key in shorter:
        for rank, part in enumerate(parts):
            assert torch.equal(part[key], whole[key][rank :: len(parts)]), key


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
    index.write_text(json.dumps({**json.loads(index.read_text()), "format": 2}))
    with pytest.raises(ValueError, match="must have format 1, got 2"):
        load_sharded(fresh, tmp_path)


def test_only_memories_by_id_are_split():
    with pytest.raises(ValueError, match="memory for more than one list or item, got PairwiseAUC"):
        shard_memories(PairwiseAUC())
    with pytest.raises(ValueError, match="memory for more than one list or item, got SOPRC"):
        shard_memories(SOPRC(0.1))
    loss = trained()
    assert shard_memories(loss) is loss  # one process keeps all
    assert len(loss.average.value) == 7
    assert AcrossProcesses(loss)(torch.randn(4), TARGET, item_ids=IDS).isfinite()


def test_a_split_memory_is_called_through_all_processes():
    loss = soap()
    loss.average.shard = Shard(loss.average, 7, 0, 2)
    assert len(loss.average.value) == 4
    with pytest.raises(ValueError, match="split already"):
        shard_memories(loss)
    with pytest.raises(RuntimeError, match=r"call the objective through .*AcrossProcesses"):
        loss(torch.randn(4), TARGET, item_ids=IDS)


def test_a_call_that_fails_leaves_the_rows():
    loss = trained()
    before = loss.average.value[::2].clone()
    shard = loss.average.shard = Shard(loss.average, 7, 0, 2)
    ids = torch.tensor([2, 3])
    rows = {name: loss.average.get_buffer(name)[:2].clone() for name in shard.names}

    def fail() -> None:
        with shard.loaded(loss.average, ids, rows):
            loss.average.value.fill_(9.0)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert torch.equal(loss.average.value, before)
    with shard.loaded(loss.average, ids, rows):
        assert shard.places(torch.tensor([3, 2])).tolist() == [1, 0]
        loss.average.value.fill_(9.0)
    assert loss.average.value[1].tolist() == [9, 9]  # id 2; id 3 is kept by the other process
    assert torch.equal(loss.average.value[[0, 2, 3]], before[[0, 2, 3]])
