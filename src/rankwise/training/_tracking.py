"""Trainings that report to experiment trackers: one run of a tracker for each run folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwise.errors import foreign_errors
from rankwise.files import parse_json, write_whole
from rankwise.training.trackers import Tracker, make_tracker

if TYPE_CHECKING:
    from rankwise.report.results import Summary
    from rankwise.training.run_folder import RunFolder

TRACKING = "tracking.json"
"""File of a run folder with the runs of the trackers, by which a resumed training finds them."""

_ARTIFACTS = (
    *("index.html", "report.html", "results.json", "metrics.csv", "config.json", "config.yaml"),
    "README.md",
)
_active: ContextVar[Tracking | None] = ContextVar("tracking", default=None)


@contextmanager
def tracking(targets: Sequence[str], out: Path) -> Iterator[None]:
    """Report every training inside to experiment trackers.

    The settings are the parameters of a run, the rows of ``metrics.csv`` its metrics, and at the
    end the report and the results of the run folder its files. A training that is resumed continues
    the run it began. Of several processes the first one reports.

    Args:
        targets: Trackers, see :func:`make_tracker`; empty for none.
        out: Run folder.

    Yields:
        Nothing; the trackers are ended where the context is left.

    Raises:
        UsageError: No tracker has this name, or one cannot be reached.
        ValueError: ``targets`` is one string.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from rankwise.training import tracking
        >>> with tracking(["tensorboard"], Path(tempfile.mkdtemp())):
        ...     pass  # fit(make_task, out, "classify")
    """
    if isinstance(targets, str):
        raise ValueError(f"targets must be a list of trackers, got {targets!r}: pass [{targets!r}]")
    trackers = [make_tracker(text) for text in targets]  # refused before the training
    if not trackers or os.environ.get("RANK", "0") != "0":
        yield
        return
    for tracker in trackers:
        tracker.check()
    found = Tracking(targets, out)
    token, failed = _active.set(found), True
    try:
        yield
        found.finish()
        failed = False
    finally:
        _active.reset(token)
        found.close(failed=failed)


def tracked(folder: RunFolder | None, settings: Mapping[str, object]) -> Session | None:
    """Start or continue the tracker runs of a training; None where nothing is tracked."""
    active = _active.get()
    if active is None or folder is None:
        return None
    return active.start(folder, settings)


class _Finished:
    """The folder of a command that has ended, where no file is a part of the run any more."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str) -> bytes | None:
        return (self.path / name).read_bytes() if (self.path / name).is_file() else None

    def write(self, name: str, content: bytes) -> Path:
        return write_whole(self.path / name, content)


class Session:
    """The runs of one training, one in each tracker."""

    def __init__(self, targets: Sequence[str], folder: RunFolder | _Finished) -> None:
        self.folder = folder
        known = folder.read(TRACKING)
        with foreign_errors(f"{folder.path / TRACKING}: is not a file of runs of trackers"):
            before: dict[str, Any] = {"step": -1, "runs": {}}
            before |= {} if known is None else parse_json(known)
            self.step, self.runs = int(before["step"]), dict(before["runs"])
        self.trackers: dict[str, Tracker] = {text: make_tracker(text) for text in targets}

    def start(self, settings: Mapping[str, object]) -> None:
        """Start runs, or continue those that this folder has begun."""
        path = self.folder.path
        plain = dict(_flat(settings))
        for text, tracker in self.trackers.items():
            self.runs[text] = tracker.start(path.name, path, plain, self.runs.get(text))
        self._keep()

    def log(self, row: Mapping[str, float]) -> None:
        """Record a row of ``metrics.csv``, unless it has been recorded."""
        step = int(row["step"])
        if step <= self.step:
            return
        for tracker in self.trackers.values():
            tracker.log(step, {name: value for name, value in row.items() if name != "step"})
        self.step = step
        self._keep()

    def _keep(self) -> None:
        content = json.dumps({"step": self.step, "runs": self.runs}, indent=2)
        self.folder.write(TRACKING, content.encode())


class Tracking:
    """The trainings of one command."""

    def __init__(self, targets: Sequence[str], out: Path) -> None:
        self.targets, self.out = targets, out
        self.sessions: list[Session] = []
        self.others: Sequence[Tracker] = ()  # of a command without steps

    def start(self, folder: RunFolder, settings: Mapping[str, object]) -> Session:
        """Start the runs of a training."""
        session = Session(self.targets, folder)
        session.start(settings)
        self.sessions.append(session)
        return session

    def finish(self) -> None:
        """Send the results and the report of the run folder to its trackers."""
        own = [each for each in self.sessions if each.folder.path.absolute() == self.out.absolute()]
        trackers = list(own[0].trackers.values()) if own else []
        from rankwise.report.results import read_summary  # noqa: PLC0415  (training does without)

        known = (self.out / "results.json").is_file()  # of a command, not of fit alone
        summary = read_summary(self.out) if known else None
        if not (own or known):
            return
        if not own:  # trained without steps: an estimator, a closed form
            session = Session(self.targets, _Finished(self.out))
            session.start({} if summary is None else summary.settings)
            trackers = self.others = list(session.trackers.values())
        values = {} if summary is None else dict(_values(summary))
        step = own[0].step if own else 0
        for tracker in trackers:
            tracker.log(max(step, 0), values)
            for name in _ARTIFACTS:
                if (self.out / name).is_file():
                    tracker.artifact(self.out / name)

    def close(self, *, failed: bool) -> None:
        """End all runs."""
        for session in self.sessions:
            for tracker in session.trackers.values():
                tracker.close(failed=failed)
        for tracker in self.others:
            tracker.close(failed=failed)


def _values(summary: Summary) -> Iterator[tuple[str, float]]:
    """Yield the results by part, and those of the models it was compared with."""
    for part, results in {**summary.parts, summary.part: summary.results}.items():
        yield from ((f"{part}/{result.name}", result.value) for result in results)
    for name, others in summary.compared.items():
        # The model comes first: MLflow's file store has no metric test/ap beside test/ap/MODEL,
        # since one is a file and the other a folder.
        yield from ((f"{summary.part}/{name}/{result.name}", result.value) for result in others)


def _flat(settings: Mapping[str, object], before: str = "") -> Iterator[tuple[str, object]]:
    """Yield nested settings by their path, such as ``optimizer.learning_rate``."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value
