"""Run a function in two processes as torchrun starts them: ``processes.py MODULE FUNCTION …``.

They are forked, and so share the seconds that importing torch and Fabric costs.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import subprocess
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run_two(module: str, function: str, *arguments: str) -> None:
    """Call ``module.function(rank, *arguments)`` in each of two processes."""
    done = subprocess.run(
        [sys.executable, __file__, module, function, *arguments],
        capture_output=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr.decode()


def _work(rank: int, port: int, module: str, function: str, arguments: list[str]) -> None:
    import torch

    given = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "TORCHELASTIC_RUN_ID": "none"}
    given |= {"WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "GROUP_RANK": 0}
    given |= {"RANK": rank, "LOCAL_RANK": rank}
    os.environ.update({name: str(value) for name, value in given.items()})
    torch.set_num_threads(1)
    getattr(import_module(module), function)(rank, *arguments)
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    import lightning_fabric  # noqa: F401  (before the fork)

    import_module(sys.argv[1])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = multiprocessing.get_context("fork")
    given = (port, sys.argv[1], sys.argv[2], sys.argv[3:])
    ranks = [context.Process(target=_work, args=(rank, *given)) for rank in range(2)]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join()
    sys.exit(any(process.exitcode for process in ranks))
