"""The bundled table, what ``rankwise compare`` is asked about it, and what it found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rankwise.report.comparison.run import Candidate, Run
from rankwise.report.comparison.run_files import read_object, read_run
from rankwise.tasks.compare.settings import Settings

DATA = Path(__file__).with_name("flights.csv.gz")
_ASKED = {"target": "late", "positive": "yes", "metric": "ap", "time": "date", "budget": "60s"}
_QUICK: dict[str, str | int] = {"candidates": "linear:log_loss,linear:ap", "trials": 1}


def options(quick: bool, seed: int) -> dict[str, str | int]:
    """Return the options of the comparison, by name."""
    return {**_ASKED, **(_QUICK if quick else {}), **({"seed": seed} if seed else {})}


def settings(asked: dict[str, str | int]) -> Settings:
    """Return the settings that the options stand for."""
    return Settings.model_validate({"data": DATA, **asked})


def command(asked: dict[str, str | int], out: Path) -> list[str]:
    """Return the words of the command line."""
    here = Path.cwd()
    data = DATA.relative_to(here) if DATA.is_relative_to(here) else DATA
    words = [word for name, value in asked.items() for word in (f"--{name}", str(value))]
    return ["rankwise", "compare", str(data), *words, "--out", str(out)]


@dataclass(frozen=True)
class Found:
    """A finished comparison: its best model of the metric, and its best model of log-loss."""

    run: Run
    metric: Candidate | None  # None: none could be trained within the budget
    log_loss: Candidate
    positives: int  # of the test part


def read(folder: Path) -> Found:
    """Read a finished comparison; validation chooses between models of the same objective."""
    run, rows = read_run(folder), read_object(folder / "results.json")["candidates"]
    assert isinstance(rows, list)
    own = [each for each, row in zip(run.candidates, rows, strict=True)
           if row["objective"] == run.metric]  # fmt: skip
    assert run.baseline is not None  # one of log-loss is always trained
    best = max(own, key=lambda each: each.validation.value, default=None)
    return Found(run, best, run.baseline, int(run.predictions.target.sum()))
