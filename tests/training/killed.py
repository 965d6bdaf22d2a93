"""Trainings that are killed: ``killed.py FOLDER`` leaves one folder for each moment."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import lightning_fabric  # noqa: F401  (before the fork)
import torch
from tests.training.toy import Toy

from rankwise import files
from rankwise.training import Callback, fit, run_folder

MOMENTS = ("step 1", "step 5", "run.json 3", "checkpoint.pt 1", "checkpoint.pt 2", "renamed 2")
TASKS = {
    "by step": lambda place: Toy(noise=0.1, dropout=0.3, place=place),
    "by generator": lambda place: Toy(noise=0.1, dropout=0.3, seed=None, place=place),
}


def _kill(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _train(folder: Path, task: str, moment: str) -> None:
    torch.set_num_threads(1)
    what, number = moment.split()
    seen = [0]

    def write(path: Path, content: str | bytes) -> Path:
        """As write_whole, but killed before the file, or between its two names."""
        seen[0] += path.name == what or (what == "renamed" and path.name == "checkpoint.pt")
        if seen[0] == int(number):
            if what == "renamed":
                Path.replace = _kill
            else:
                _kill()
        return files.write_whole(path, content)

    def stop(step: object) -> None:
        if what == "step" and step.step == int(number):
            _kill()

    run_folder.write_whole = write
    run_folder.write_json = lambda path, value: write(path, __import__("json").dumps(value))
    fit(TASKS[task], folder, "toy", callbacks=[Callback(on_step=stop)])


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    for task in TASKS:
        for moment in MOMENTS:
            folder = Path(sys.argv[1]) / task / moment
            process = context.Process(target=_train, args=(folder, task, moment))
            process.start()
            process.join()
            assert process.exitcode == -signal.SIGKILL, (task, moment, process.exitcode)
