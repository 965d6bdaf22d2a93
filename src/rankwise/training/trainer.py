"""The loop: steps, validations, checkpoints, stages, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from rankwise.report import write_csv
from rankwise.training._tracking import tracked
from rankwise.training.callbacks import Callback, Row, Step, Validation
from rankwise.training.checkpoint import load_checkpoint, save_checkpoint
from rankwise.training.devices import Devices, Place, require_one_process
from rankwise.training.learner import Learner
from rankwise.training.run_folder import RunFolder, open_folder
from rankwise.training.task import StateDict, Task

Batch = TypeVar("Batch")
AnyTask = TypeVar("AnyTask", bound=Task[Any])


@dataclass(frozen=True)
class Fitted:
    """Result of a training; the network of the task then has its best weights.

    Args:
        history: Rows of ``metrics.csv``, one for each validation.
        best_step: Step of the best validation.
        best_row: Number of the best validation, from 1.
        best_value: Its value.
        last: Weights after the last step.
        start: Value of the validation before the first step; NaN where there was none.

    Example:
        >>> from rankwise.training import Fitted
        >>> Fitted([{"step": 5, "map": 0.4}], 5, 1, 0.4, last={}, start=0.1).best_value
        0.4
    """

    history: list[Row]
    best_step: int
    best_row: int
    best_value: float
    last: dict[str, Tensor]
    start: float


@dataclass
class _Best:
    step: int = 0
    row: int = 0
    value: float = -math.inf
    network: dict[str, Tensor] = field(default_factory=dict)  # empty: the last network


class Trainer(Generic[Batch]):
    """Loop over the steps of a task: to its end, or from the last checkpoint of a run folder.

    A resumed run ends with the same bits as one that was never stopped. With several processes the
    first one has the folder. Ctrl-C ends a training as any error does: the folder keeps the state
    of the last validation.

    Args:
        task: Task to train.
        devices: Device, precision and processes; those of the task's options unless given.
        folder: Folder in which every validation leaves ``checkpoint.pt`` and ``metrics.csv``.
        callbacks: Called after every step and every validation.

    Example:
        >>> import torch
        >>> from rankwise.training import Record, Stage, Task, Trainer
        >>> class Line(Task[torch.Tensor]):
        ...     monitor = "negative_error"
        ...     def make_optimizer(self):
        ...         return torch.optim.SGD(self.network.parameters(), lr=0.1)
        ...     def rate(self, step):
        ...         return 0.1
        ...     def batches(self, step):
        ...         while True:
        ...             yield torch.tensor([[1.0], [2.0]])
        ...     def step_loss(self, batch, moment):
        ...         return self.loss(self.network(batch), 3 * batch)
        ...     def validate(self):
        ...         return {"negative_error": -abs(self.network.weight.item() - 3)}
        >>> network, loss = torch.nn.Linear(1, 1, bias=False), torch.nn.MSELoss()
        >>> task = Line(network, loss, [Stage(40, 10)], record=Record(), seed=0)
        >>> round(-Trainer(task).fit().best_value, 3)
        0.0
    """

    def __init__(
        self,
        task: Task[Batch],
        *,
        devices: Devices | None = None,
        folder: RunFolder | None = None,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.task, self.folder, self.callbacks = task, folder, tuple(callbacks)
        self.learner = Learner(task, devices)
        if task.place.world_size > 1 and not task.joins_processes:
            require_one_process("this command")
        self.history: list[Row] = []
        self.best = _Best()
        self.start = math.nan
        self.stage = 0
        self._first_row = self._first_step = 0  # of the stage
        self._losses: list[float] = []

    @property
    def done(self) -> bool:
        """Whether the last stage is at its end."""
        return self.stage == len(self.task.stages) - 1 and self._stage_over

    @property
    def _stage_over(self) -> bool:
        stage = self.task.stages[self.stage]
        waited = len(self.history) - max(self.best.row, self._first_row)
        impatient = stage.patience is not None and waited >= stage.patience
        return self.learner.done >= stage.steps or impatient

    def fit(self, *, resume: bool = False) -> Fitted:
        """Train to the end, with ``resume`` from the last checkpoint if there is one."""
        if not (resume and self._restore()) and self.task.measures_start:
            with torch.random.fork_rng(devices=[]):
                measured, _ = self._measure(step=0, row=0)
            self.start = measured.get(self.task.monitor, math.nan)
        session = tracked(self.folder, self.task.record.settings)
        if session is not None:
            for row in self.history:  # of a run that was stopped before it reported the last one
                session.log(row)
            report = Callback(on_validation=lambda validation: session.log(validation.row))
            self.callbacks = (*self.callbacks, report)
        each = self.task.options.accumulate
        while not self.done:
            stage = self.stage
            batches = self.task.batches(self.learner.done * each)
            while self.stage == stage and not self.done:
                self.advance(*(next(batches) for _ in range(each)))
        last = _copied(self.task.network.state_dict())
        if self.best.network:
            self.task.network.load_state_dict(self.best.network)
        self.task.network.eval()
        best = self.best
        return Fitted(self.history, best.step, best.row, best.value, last, self.start)

    def advance(self, *batches: Batch) -> None:
        """Take a step on some batches, and validate if it is due."""
        stage = self.task.stages[self.stage]
        loss = self.learner.step(*batches)
        self._losses.append(loss)
        step, done = self._first_step + self.learner.done, self.learner.done
        place = len(self.history) + 1, len(self._losses), stage.validate_every
        validation = None
        if done % stage.validate_every == 0 or done == stage.steps:
            validation = self._validate(step)
        value = self.history[-1].get(self.task.monitor, math.nan) if self.history else math.nan
        for callback in self.callbacks:
            if validation is not None:
                callback.on_validation(validation)
            callback.on_step(Step(step, *place, loss, value))

    def _validate(self, step: int) -> Validation:
        number = len(self.history) + 1
        row: Row = {
            **({"epoch": number} if self.task.counts_epochs else {}),
            "step": step,
            "loss": sum(self._losses) / len(self._losses),
            "learning_rate": float(self.learner.optimizer.param_groups[0]["lr"]),
        }
        self._losses.clear()
        measured, better = self._measure(step, number)
        row |= measured
        self.history.append(row)
        if self._stage_over and not self.done:
            if self.best.network:
                self.task.network.load_state_dict(self.best.network)
            self.stage += 1
            self._first_row, self._first_step = len(self.history), step
            self.learner.begin(self.stage)
        if self.folder is not None:
            save_checkpoint(self.folder, self.task, self._state())
            write_csv(self.folder.path / "metrics.csv", self.history)
        return Validation(row, better)

    def _measure(self, step: int, row: int) -> tuple[Row, bool]:
        """Return the measures of the network, and whether it is the best so far; then keep it."""
        with self.learner.evaluation():
            measured = self.task.validate()
            value = measured[self.task.monitor] if measured else math.inf
            value = -math.inf if math.isnan(value) else value
            # The first one is kept where its value equals that of the start.
            as_good = not self.best.row and value == self.best.value
            better = not measured or as_good or value > self.best.value
            if better:
                kept = measured or self.learner.average is not None
                network = _copied(self.task.network.state_dict()) if kept else {}
                self.best = _Best(step, row, value, network)
        return measured, better

    def _state(self) -> StateDict:
        return {
            "stage": self.stage,
            "first_row": self._first_row,
            "first_step": self._first_step,
            "history": self.history,
            "best": asdict(self.best),
            "start": self.start,
            "generator": torch.get_rng_state(),
            **self.learner.state_dict(),
        }

    def _restore(self) -> bool:
        folder = self.folder
        state = self.learner.devices.on_first(
            lambda: None if folder is None else load_checkpoint(folder, self.task)
        )
        if state is None:
            return False
        self.start = float(state["start"])
        self.stage = int(state["stage"])
        self._first_row, self._first_step = int(state["first_row"]), int(state["first_step"])
        self.history, self.best = state["history"], _Best(**state["best"])
        if self.stage:
            self.learner.begin(self.stage)
        self.learner.load_state_dict(state)
        torch.set_rng_state(state["generator"])
        if self.folder is not None:
            write_csv(self.folder.path / "metrics.csv", self.history)
        return True


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
        make_task: Makes the task; called with the device and the process.
        out: Folder of the run, or one that is open; None: nothing is written.
        command: Command whose run the folder holds.
        resume: Whether to start from the last checkpoint in the folder, if there is one.
        precision: See :class:`Devices`.
        device: See :class:`Devices`.
        callbacks: See :class:`Trainer`.

    Returns:
        The task, whose network has its best weights, and the result of the training.

    Example:
        >>> import torch
        >>> from rankwise.training import Record, Stage, Task, fit
        >>> class Line(Task[torch.Tensor]):
        ...     monitor = "negative_error"
        ...     def make_optimizer(self):
        ...         return torch.optim.SGD(self.network.parameters(), lr=0.1)
        ...     def rate(self, step):
        ...         return 0.1
        ...     def batches(self, step):
        ...         while True:
        ...             yield torch.tensor([[1.0], [2.0]])
        ...     def step_loss(self, batch, moment):
        ...         return self.loss(self.network(batch), 3 * batch)
        ...     def validate(self):
        ...         return {"negative_error": -abs(self.network.weight.item() - 3)}
        >>> def make_task(place):
        ...     network, loss = torch.nn.Linear(1, 1, bias=False), torch.nn.MSELoss()
        ...     return Line(network, loss, [Stage(40, 10)], record=Record(), seed=0, place=place)
        >>> task, fitted = fit(make_task, None, "line")  # None: without a run folder
        >>> fitted.history[-1]["step"]
        40
    """
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        devices = Devices(precision, device)
        with open_folder(out, command, resume=resume, devices=devices) as folder:
            task = make_task(devices.place)
            trainer = Trainer(task, devices=devices, folder=folder, callbacks=callbacks)
            return task, trainer.fit(resume=resume)


def _copied(state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().cpu().clone() for name, value in state.items()}
