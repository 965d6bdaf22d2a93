"""Run a function in processes as torchrun starts them: ``processes.py N MODULE FUNCTION …``.

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
_PATIENCE = 900  # seconds after which processes hang; a busy machine has minutes of other work


def run_two(module: str, function: str, *arguments: str) -> None:
    """Call ``module.function(rank, *arguments)`` in each of two processes."""
    run_processes(2, module, function, *arguments)


def run_processes(world: int, module: str, function: str, *arguments: str) -> None:
    """Call ``module.function(rank, *arguments)`` in each of some processes."""
    done = launch(world, module, function, *arguments)
    assert done.returncode == 0, done.stderr.decode()


def launch(
    world: int, module: str, function: str, *arguments: str
) -> subprocess.CompletedProcess[bytes]:
    """Run processes to their end, which may be an error."""
    return subprocess.run(
        [sys.executable, __file__, str(world), module, function, *arguments],
        capture_output=True,
        check=False,
        timeout=_PATIENCE,
    )


def run_command(world: int, *words: str) -> None:
    """Run ``rankwise WORDS`` in each of some processes, as torchrun does."""
    port = free_port()
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "rankwise", *words],
            env=os.environ | variables(rank, world, port),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for rank in range(world)
    ]
    outputs = [process.communicate(timeout=_PATIENCE)[0].decode() for process in started]
    assert not any(process.returncode for process in started), "\n".join(outputs)
    assert not any(outputs[1:]), "all processes but the first are silent"


def variables(rank: int, world: int, port: int) -> dict[str, str]:
    """Return the environment variables that torchrun sets for a process on one machine."""
    given = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "TORCHELASTIC_RUN_ID": "none"}
    given |= {"WORLD_SIZE": world, "LOCAL_WORLD_SIZE": world, "GROUP_RANK": 0}
    given |= {"RANK": rank, "LOCAL_RANK": rank}
    return {name: str(value) for name, value in given.items()}


def free_port() -> int:
    """Return a port of this machine that nobody uses."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def _work(
    rank: int, world: int, port: int, module: str, function: str, arguments: list[str]
) -> None:
    import torch

    os.environ.update(variables(rank, world, port))
    torch.set_num_threads(1)
    getattr(import_module(module), function)(rank, *arguments)
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    import lightning_fabric  # noqa: F401  (before the fork)

    world, module = int(sys.argv[1]), sys.argv[2]
    import_module(module)
    context = multiprocessing.get_context("fork")
    given = (world, free_port(), module, sys.argv[3], sys.argv[4:])
    ranks = [context.Process(target=_work, args=(rank, *given)) for rank in range(world)]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join()
    sys.exit(any(process.exitcode for process in ranks))
