"""Train with FSDP2 on several processes and resume: the model and the memory are sharded.

``torchrun --nproc-per-node 2 examples/distributed/fsdp2.py FOLDER EPOCHS`` trains up to EPOCHS,
from the checkpoint in FOLDER if there is one. Another number of processes can resume it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from rankwise.distributed import AcrossProcesses, load_sharded, save_sharded, shard_memories
from rankwise.metrics import average_precision
from rankwise.objectives import SOAP
from rankwise.samplers import BalancedBatches

WHOLE = StateDictOptions(full_state_dict=True)


def main(folder: Path, epochs: int) -> None:
    """Train, and keep the test AP before the first and after every epoch in the checkpoint."""
    dist.init_process_group("gloo")
    x = torch.randn(4_000, 10, generator=torch.Generator().manual_seed(1))
    y = (x[:, :2].norm(dim=1) > 2.8).long()  # about 2 % are positive
    (x, x_test), (y, y_test) = x.chunk(2), y.chunk(2)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
    fully_shard(model, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    batches = BalancedBatches(y, positives=8, negatives=56)  # each process has its own
    # The memory has two numbers for every item; a process keeps those of its ids.
    loss = AcrossProcesses(shard_memories(SOAP(batches.prior, num_items=len(y))))

    def test_precision() -> float:
        with torch.no_grad():
            return float(average_precision(model(x_test).squeeze(1), y_test))

    checkpoint = folder / "model.pt"
    if checkpoint.exists():
        saved, of_optimizer, precisions = torch.load(checkpoint, weights_only=True)
        set_model_state_dict(model, saved, options=WHOLE)
        set_optimizer_state_dict(model, optimizer, of_optimizer, options=WHOLE)
        load_sharded(loss, folder)
    else:
        precisions = [test_precision()]
    for epoch in range(len(precisions) - 1, epochs):
        batches.set_epoch(epoch)
        for ids in map(torch.tensor, batches):
            optimizer.zero_grad()
            loss(model(x[ids]).squeeze(1), y[ids], item_ids=ids).backward()
            optimizer.step()
        precisions.append(test_precision())
    save_sharded(loss, folder)
    state = *get_state_dict(model, optimizer, options=WHOLE), precisions
    if dist.get_rank() == 0:
        torch.save(state, checkpoint)
        print(f"test AP: {precisions[0]:.3f} before, {precisions[-1]:.3f} after {epochs} epochs")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
