"""One process of several, or the parent of them all; writes FOLDER/SIZE.RANK.pt.

``worker.py FOLDER NAME…`` under torchrun is one process; with ``--fork SIZE`` it forks SIZE
processes, which share the seconds that importing torch and DistributedDataParallel costs.
A NAME is that of a case or of a function below.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from datetime import timedelta
from pathlib import Path

import torch
import torch._dynamo  # DistributedDataParallel imports it when first made: here, before the fork
import torch.distributed as dist

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.distributed.cases import CASES, ROWS, SHARDED, train, whole_lists
from tests.distributed.disagreements import TARGET, complaints, scores
from tests.distributed.shared import pair_calls, step_calls

from rankwise.distributed import AcrossProcesses, shared_pairs
from rankwise.objectives import SOPRC, AveragePrecision


def nothing(rank: int) -> list[object]:
    """No process has an item."""
    loss = AcrossProcesses(SOPRC(0.1))
    own = torch.zeros((0,) if rank else (2, 0), requires_grad=True)
    value = loss(own, own.detach())
    value.backward()
    seen = [bool(t.any()) for name, t in loss.state_dict().items() if name.endswith("seen")]
    return [value.item(), any(seen)]


def dtypes(rank: int) -> list[object]:
    """Each rank in a dtype of its own, non-contiguous; gradients times ranks in that dtype."""
    dtype = (torch.float32, torch.bfloat16, torch.float64)[rank]
    own = scores(4, 2).detach().to(dtype)[:, 0].requires_grad_()
    value = AcrossProcesses(AveragePrecision())(own, TARGET if rank else TARGET.float())
    value.backward()
    return [value.item(), str(value.dtype), str(own.grad.dtype), own.grad.tolist()]


def reductions(rank: int) -> dict[str, list[torch.Tensor]]:
    """Value and gradient of whole lists, and of one list spread over the ranks."""
    table, target = whole_lists(dist.get_world_size())
    found = {}
    for reduction in ("sum", "none"):
        for kind in ("lists", "items"):
            own, labels = table[ROWS * rank :][:ROWS], target[ROWS * rank :][:ROWS]
            if kind == "items":
                own, labels = own.flatten(), labels.flatten()
            own = own.clone().requires_grad_()
            value = AcrossProcesses(AveragePrecision(reduction=reduction))(own, labels)
            value.sum().backward()
            found[f"{reduction} of {kind}"] = [value.detach(), own.grad]
    return found


def pairs(rank: int) -> dict[str, list[torch.Tensor]]:
    """Sums over pairs that the ranks compute together, and their gradients."""
    found = {}
    for name, (function, inputs) in pair_calls().items():
        for tensor in inputs.values():
            tensor.requires_grad_()
        with shared_pairs.shared_pairs():
            values = function(**inputs)
        ((values * torch.arange(1, 1 + values.shape[-1])) ** 2).sum().backward()
        found[name] = [values.detach(), *(tensor.grad for tensor in inputs.values())]
    return found


def collectives(rank: int) -> dict[str, list[int]]:
    """Collectives of a step, forward and backward, of lists spread over the ranks and not."""
    counted = []
    for name in ("all_gather", "all_reduce"):
        count_calls(name, counted)
    found = {}
    for name, (objective, arguments) in step_calls().items():
        loss = AcrossProcesses(objective)
        counted.clear()
        value = loss(**arguments(rank))
        forward = len(counted)
        value.backward()
        found[name] = [forward, len(counted) - forward]
    return found


def count_calls(name: str, counted: list[str]) -> None:
    real = getattr(dist, name)

    def call(*args: object, **kwargs: object) -> object:
        counted.append(name)
        return real(*args, **kwargs)

    setattr(dist, name, call)


def sharded(rank: int, folder: Path) -> dict[str, dict[str, object]]:
    """Trainings with memories that are split over the ranks, which are saved in folders."""
    shared_pairs._WORTH_A_MESSAGE = 0
    found = {}
    for name in SHARDED:
        where = folder / f"{name} {dist.get_world_size()}"
        found[name] = train(CASES[name], dist.get_world_size(), rank, shard=True, save=where)
    return found


FUNCTIONS = {
    "pairs": pairs,
    "nothing": nothing,
    "dtypes": dtypes,
    "complaints": complaints,
    "reductions": reductions,
    "collectives": collectives,
}


def work(folder: Path, names: list[str], rank: int, world: int, init_method: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=init_method,
        rank=rank,
        world_size=world,
        timeout=timedelta(seconds=30),
    )
    results = {name: FUNCTIONS[name](rank) for name in names if name in FUNCTIONS}
    results["sharded"] = sharded(rank, folder) if "sharded" in names else {}
    shared_pairs._WORTH_A_MESSAGE = 0  # the lists of the cases are short
    results |= {name: train(CASES[name], world, rank) for name in names if name in CASES}
    torch.save(results, folder / f"{world}.{rank}.pt")
    dist.destroy_process_group()


def fork(folder: Path, names: list[str], world: int) -> None:
    store = f"file://{folder / f'{world}.store'}"
    context = multiprocessing.get_context("fork")
    ranks = [
        context.Process(target=work, args=(folder, names, rank, world, store))
        for rank in range(world)
    ]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join()
    if any(process.exitcode for process in ranks):
        sys.exit(1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--fork", type=int, action="append", metavar="SIZE")
    given = parser.parse_args()
    for size in given.fork or ():
        fork(given.folder, given.names, size)
    if not given.fork:
        work(
            given.folder,
            given.names,
            int(os.environ["RANK"]),
            int(os.environ["WORLD_SIZE"]),
            "env://",
        )
