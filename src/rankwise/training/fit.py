"""A task from its parts to its best network, in a run folder or without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch

from rankwise.training.devices import Devices, Place
from rankwise.training.run_folder import RunFolder, open_folder
from rankwise.training.task import Task
from rankwise.training.trainer import Callback, Fitted, Trainer

__all__ = ["fit"]

AnyTask = TypeVar("AnyTask", bound=Task[Any])


def fit(
    make_task: Callable[[Place], AnyTask],
    out: Path | RunFolder | None,
    command: str,
    *,
    resume: bool = False,
    precision: str = "32",
    device: torch.device | None = None,
    callbacks: Sequence[Callback] = (),
) -> tuple[AnyTask, Fitted]:
    """Make a task on its device and train it; the caller's random numbers are not touched.

    Args:
        make_task: Called with the device and the process.
        out: Folder of the run, or one that is open; None: nothing is written.
        command: The command that may write there.
        resume: Whether to start from the last checkpoint in the folder, if there is one.
        precision: See :class:`Devices`.
        device: See :class:`Devices`.
        callbacks: See :class:`Trainer`.

    Returns:
        The task, whose network has its best weights, and the course of the training.
    """
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        devices = Devices(precision, device)
        own = out if devices.place.is_first else None
        with open_folder(own, command, resume=resume) as folder:
            task = make_task(devices.place)
            trainer = Trainer(task, devices=devices, folder=folder, callbacks=callbacks)
            return task, trainer.fit(resume=resume)
