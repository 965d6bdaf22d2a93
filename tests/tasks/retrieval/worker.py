"""Two processes under Lightning: ``worker.py FOLDER CHANGE…`` writes FOLDER/RANK.pt.

They are forked, and so share the seconds that importing torch and Lightning costs.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import sys
from pathlib import Path

import lightning  # noqa: F401  (before the fork)
import torch
import torch._dynamo
import torch.distributed as dist
from kornia import augmentation  # noqa: F401

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.tasks.retrieval.cases import settings, splits

from rankwise.tasks.retrieval.lightning_loop import fit, join_processes
from rankwise.tasks.retrieval.training import train


def work(rank: int, port: int, folder: Path, changes: list[str]) -> None:
    told = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "TORCHELASTIC_RUN_ID": "none"}
    told |= {"WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "GROUP_RANK": 0}
    told |= {"RANK": rank, "LOCAL_RANK": rank}  # all of it torchrun's
    os.environ.update({name: str(value) for name, value in told.items()})
    torch.set_num_threads(1)
    join_processes()
    steps: list[float] = []
    found = train(
        splits(), settings(*changes), folder, loop=fit, on_step=lambda step: steps.append(step.loss)
    )
    state = {"network": found.network.state_dict(), "history": found.history, "losses": steps}
    torch.save(state, folder / f"{rank}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = multiprocessing.get_context("fork")
    ranks = [
        context.Process(target=work, args=(rank, port, Path(sys.argv[1]), sys.argv[2:]))
        for rank in range(2)
    ]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join()
    sys.exit(any(process.exitcode for process in ranks))
