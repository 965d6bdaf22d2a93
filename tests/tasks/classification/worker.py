"""Two processes under Lightning, as for retrieval: ``worker.py FOLDER CHANGE…``."""

from __future__ import annotations

import multiprocessing
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.tasks.classification.cases import settings, splits
from tests.tasks.retrieval import worker

from rankwise.tasks.classification.training import train

if __name__ == "__main__":
    worker.settings, worker.splits, worker.train = settings, splits, train
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = multiprocessing.get_context("fork")
    given = (port, Path(sys.argv[1]), sys.argv[2:])
    ranks = [context.Process(target=worker.work, args=(rank, *given)) for rank in range(2)]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join()
    sys.exit(any(process.exitcode for process in ranks))
