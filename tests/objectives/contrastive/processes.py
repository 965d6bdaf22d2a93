"""Contrastive training on two processes, both ways that ``two_views`` describes.

``processes.py FOLDER`` forks two processes; each writes FOLDER/RANK.pt.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import torch
import torch._dynamo  # DistributedDataParallel imports it when first made: here, before the fork
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from rankwise.distributed import AcrossProcesses, gather_with_gradient
from rankwise.objectives import Objective
from rankwise.objectives.contrastive import (
    GlobalContrastive,
    IndividualTemperatures,
    two_modalities,
    two_views,
)

WORLD, OWN, ITEMS, STEPS = 2, 5, 30, 3
Loss = Callable[[Tensor, Tensor, Tensor], Tensor]


def not_mine(rows: Tensor) -> Tensor:
    everything = gather_with_gradient(rows, shared=True)
    mine = dist.get_rank() * len(rows)  # all processes have as many
    return torch.cat([everything[:mine], everything[mine + len(rows) :]])


def all_do_the_same(objective: Objective) -> Loss:
    def loss(first: Tensor, second: Tensor, item_ids: Tensor) -> Tensor:
        gathered = (gather_with_gradient(t) for t in (first, second, item_ids))
        return objective(**two_views(*gathered)._asdict())

    return loss


def own_anchors(objective: Objective) -> Loss:
    together = AcrossProcesses(objective)

    def loss(first: Tensor, second: Tensor, item_ids: Tensor) -> Tensor:
        others = None
        if dist.is_initialized():
            others = torch.cat([not_mine(first), not_mine(second)])
        return together(**two_views(first, second, item_ids, others=others)._asdict())

    return loss


def own_pairs(objective: Objective) -> Loss:
    together = AcrossProcesses(objective)

    def loss(first: Tensor, second: Tensor, item_ids: Tensor) -> Tensor:
        others = None
        if dist.is_initialized():
            others = not_mine(first), not_mine(second)
        return together(**two_modalities(first, second, item_ids, ITEMS, others=others)._asdict())

    return loss


WAYS = {
    "all do the same": (all_do_the_same, lambda: GlobalContrastive(ITEMS, ema_rate=0.5)),
    "own anchors": (own_anchors, lambda: GlobalContrastive(ITEMS, ema_rate=0.5)),
    "own pairs": (own_pairs, lambda: GlobalContrastive(2 * ITEMS, ema_rate=0.5)),
    "own temperatures": (own_anchors, lambda: IndividualTemperatures(ITEMS, step=0.05)),
}


def train(way: str, rank: int | None = None) -> dict[str, object]:
    """Three steps; ``rank`` None is one process with the things of both."""
    make, make_objective = WAYS[way]
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)).double()
    model = plain if rank is None else DistributedDataParallel(plain)
    objective = make_objective()
    loss, optimizer = make(objective), torch.optim.SGD(plain.parameters(), lr=0.5)
    values = []
    for step in range(STEPS):
        rng = torch.Generator().manual_seed(step)
        x = torch.randn(2, WORLD * OWN, 4, generator=rng, dtype=torch.float64)
        item_ids = torch.randperm(ITEMS // 2, generator=rng)[: WORLD * OWN]
        if rank is not None:
            own = slice(rank * OWN, (rank + 1) * OWN)
            x, item_ids = x[:, own], item_ids[own]
        first, second = model(x.flatten(0, 1)).chunk(2)
        value = loss(first, second, item_ids)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        values.append(value.detach())
    return {
        "values": torch.stack(values),
        "parameters": [p.detach() for p in plain.parameters()],
        "memory": dict(objective.state_dict()),
    }


def work(folder: Path, rank: int) -> None:
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder / 'store'}",
        rank=rank,
        world_size=WORLD,
        timeout=timedelta(seconds=30),
    )
    torch.save({way: train(way, rank) for way in WAYS}, folder / f"{rank}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    ranks = [context.Process(target=work, args=(Path(sys.argv[1]), r)) for r in range(WORLD)]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join()
    sys.exit(any(process.exitcode for process in ranks))
