from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.distributed.cases import CASES, SHARDED
from tests.distributed.test_across_processes import run

from rankwise.distributed import AcrossProcesses, load_sharded, shard_memories
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
