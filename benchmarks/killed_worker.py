"""A training command on several processes, one of which is killed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from benchmarks.timing import Result

_PROCESSES = 3


def killed() -> Iterator[Result]:
    """Kill a process of ``rankwise rank train`` after its first checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder, "lists.txt"), Path(folder, "run")
        data.write_text("\n".join(_lists()) + "\n")
        words = [sys.executable, "-m", "rankwise", "rank", "train", str(data), "--out", str(out)]
        words += ["--set", "epochs=100000", "--set", "patience=100000"]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        given = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": _PROCESSES}
        shared = os.environ | {name: str(value) for name, value in given.items()}
        started = [
            subprocess.Popen(
                words,
                env=shared | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
                stderr=subprocess.DEVNULL,
            )
            for rank in range(_PROCESSES)
        ]
        try:
            while not (out / "checkpoint.pt").exists():
                if started[0].poll() is not None:
                    raise RuntimeError("the command has ended before its first checkpoint")
                time.sleep(0.1)
            began = time.perf_counter()
            started[1].kill()
            codes = [process.wait(timeout=120) for process in started]
            taken = time.perf_counter() - began
        finally:
            for process in started:
                process.kill()
        if not all(codes):
            raise RuntimeError("a process has ended as if nothing had happened")
    yield Result(f"end of {_PROCESSES} processes where one is killed", taken, "s", "<= 10")


def _lists() -> Iterator[str]:
    rng = np.random.default_rng(0)
    for query in range(60):
        for row in rng.normal(size=(8, 4)):
            features = " ".join(f"{n + 1}:{value:.4f}" for n, value in enumerate(row))
            yield f"{int(row[0] > 0.5)} qid:{query} {features}"


ALL = [killed]
