"""MLflow, Weights & Biases and TensorBoard, each imported when it is asked for."""

from __future__ import annotations

import math
import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from rankwise.errors import UsageError, foreign_errors
from rankwise.extras import require

_MLFLOW_NAME = re.compile(r"[^\w\-. /:]")  # what a name must not have there
_MLFLOW_PARAM = 6000  # letters of a value, at most
_MLFLOW_BATCH = 100  # parameters of a request, at most
_MLFLOW_RETRIES = "MLFLOW_HTTP_REQUEST_MAX_RETRIES"
_PROJECT = "rankwise"  # name of the experiment or project


class Tracker(ABC):
    """One run in an experiment tracker (abstract base class); :func:`make_tracker` returns one.

    Args:
        target: Where the tracker writes; None: its own default.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from rankwise.training import make_tracker
        >>> tracker, folder = make_tracker("tensorboard"), Path(tempfile.mkdtemp())
        >>> run = tracker.start("mine", folder, {"learning_rate": 0.1})
        >>> tracker.log(10, {"ap": 0.8})
        >>> tracker.close()
        >>> Path(run) == folder / "tensorboard"
        True
    """

    module: ClassVar[str]
    """The package it needs."""

    def __init__(self, target: str | None = None) -> None:
        require("rankwise --track", self.module)
        self.target = target

    def check(self) -> None:  # noqa: B027  (not every tracker has a server)
        """Raise where the tracker cannot be reached: before the training, not after it."""

    @abstractmethod
    def start(
        self, name: str, folder: Path, settings: Mapping[str, object], run: str | None = None
    ) -> str:
        """Start a run, or continue one.

        Args:
            name: Name of a new run.
            folder: Folder of the training.
            settings: Settings by name, which are the parameters of a new run.
            run: Identifier of the run to continue; None: a new one.

        Returns:
            The identifier of the run.
        """

    @abstractmethod
    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Record values after a step; those that are not finite are left out."""

    def artifact(self, path: Path) -> None:  # noqa: B027  (not every tracker keeps files)
        """Keep a copy of a file, where the tracker keeps files."""

    @abstractmethod
    def close(self, *, failed: bool = False) -> None:
        """End the run for now."""


class MLflowTracker(Tracker):
    """A run of MLflow, in the experiment ``rankwise`` of a tracking URI (such as ``file:mlruns``).

    Characters that MLflow does not allow in a name are replaced: ``ndcg@10`` is ``ndcg_at_10``.
    """

    module = "mlflow"

    def check(self) -> None:
        from mlflow.tracking import MlflowClient  # noqa: PLC0415

        # A training is to be refused within seconds, though it may retry for minutes once it runs.
        retries = os.environ.get(_MLFLOW_RETRIES)
        os.environ.setdefault(_MLFLOW_RETRIES, "1")
        try:
            with foreign_errors(f"--track mlflow{':' if self.target else ''}{self.target or ''}"):
                MlflowClient(self.target).get_experiment_by_name(_PROJECT)
        finally:
            if retries is None:
                del os.environ[_MLFLOW_RETRIES]

    def start(
        self, name: str, folder: Path, settings: Mapping[str, object], run: str | None = None
    ) -> str:
        from mlflow.entities import Metric, Param  # noqa: PLC0415  (only where it is asked for)
        from mlflow.tracking import MlflowClient  # noqa: PLC0415

        self._client, self._metric = MlflowClient(self.target), Metric
        if run is not None:
            self._run: str = run
            self._client.update_run(run, status="RUNNING")
            return run
        known = self._client.get_experiment_by_name(_PROJECT)
        experiment = (
            self._client.create_experiment(_PROJECT) if known is None else known.experiment_id
        )
        self._run = self._client.create_run(experiment, run_name=name).info.run_id
        params = [
            Param(_mlflow_name(key), str(value)[:_MLFLOW_PARAM]) for key, value in settings.items()
        ]
        for first in range(0, len(params), _MLFLOW_BATCH):
            self._client.log_batch(self._run, params=params[first : first + _MLFLOW_BATCH])
        return self._run

    def log(self, step: int, values: Mapping[str, float]) -> None:
        now = int(1000 * time.time())
        metrics = [
            self._metric(_mlflow_name(name), value, now, step)
            for name, value in _finite(values).items()
        ]
        self._client.log_batch(self._run, metrics=metrics)

    def artifact(self, path: Path) -> None:
        self._client.log_artifact(self._run, str(path))

    def close(self, *, failed: bool = False) -> None:
        self._client.set_terminated(self._run, "FAILED" if failed else "FINISHED")


class WandbTracker(Tracker):
    """A run of Weights & Biases, in a project (``rankwise`` by default).

    ``WANDB_MODE=offline`` keeps it on this machine, as everywhere in Weights & Biases.
    """

    module = "wandb"

    def start(
        self, name: str, folder: Path, settings: Mapping[str, object], run: str | None = None
    ) -> str:
        import wandb  # noqa: PLC0415

        self._wandb = wandb
        self._run = wandb.init(
            project=self.target or _PROJECT,
            name=name,
            id=run,
            resume=None if run is None else "allow",
            config=dict(settings),
            dir=str(folder),
            reinit="create_new",
        )
        return str(self._run.id)

    def log(self, step: int, values: Mapping[str, float]) -> None:
        self._run.log(_finite(values), step=step)

    def artifact(self, path: Path) -> None:
        name = f"{path.stem}-{self._run.id}"
        kept = self._wandb.Artifact(name, type="report")
        kept.add_file(str(path))
        self._run.log_artifact(kept)

    def close(self, *, failed: bool = False) -> None:
        self._run.finish(exit_code=int(failed))


class TensorBoardTracker(Tracker):
    """Event files of TensorBoard, in a folder (``tensorboard`` in the run folder by default).

    TensorBoard keeps no files: the report stays in the run folder.
    """

    module = "tensorboard"

    def start(
        self, name: str, folder: Path, settings: Mapping[str, object], run: str | None = None
    ) -> str:
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415

        place = run or str(folder / "tensorboard" if self.target is None else Path(self.target))
        self._writer: Any = SummaryWriter(place)
        if run is None and settings:
            rows = [f"| {key} | {value} |" for key, value in settings.items()]
            self._writer.add_text(
                "settings", "\n".join(["| setting | value |", "|---|---|", *rows])
            )
        return place

    def log(self, step: int, values: Mapping[str, float]) -> None:
        for name, value in _finite(values).items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self, *, failed: bool = False) -> None:
        self._writer.close()


TRACKERS: dict[str, type[Tracker]] = {
    "mlflow": MLflowTracker,
    "wandb": WandbTracker,
    "tensorboard": TensorBoardTracker,
}
"""The trackers by name."""


def make_tracker(text: str) -> Tracker:
    """Return a tracker by its name, with the place it writes to after a colon.

    Args:
        text: ``"mlflow"``, ``"wandb"`` or ``"tensorboard"``; with a target: ``"mlflow:URI"``,
            ``"wandb:PROJECT"``, ``"tensorboard:FOLDER"``.

    Returns:
        The tracker, which has no run yet.

    Raises:
        UsageError: No tracker has this name.
        MissingExtraError: Its package is not installed.

    Example:
        >>> from rankwise.training import make_tracker
        >>> make_tracker("mlflow:file:mlruns").target
        'file:mlruns'
    """
    name, colon, target = str(text).partition(":")
    if name not in TRACKERS or (colon and not target):
        raise UsageError(
            f"--track must be one of {', '.join(TRACKERS)}, with a target after a colon if it is "
            f"not the default one, such as tensorboard:logs; got {text!r}"
        )
    return TRACKERS[name](target or None)


def _finite(values: Mapping[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in values.items() if math.isfinite(value)}


def _mlflow_name(name: str) -> str:
    return _MLFLOW_NAME.sub("_", name.replace("@", "_at_"))
