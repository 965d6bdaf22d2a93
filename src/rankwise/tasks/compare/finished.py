"""A candidate that is done, in memory and in its folder."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwise.report import write_json
from rankwise.tasks.compare.arrays import read_arrays, write_arrays
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.fit import Judged
from rankwise.tasks.compare.model import Model, load_model, renamed
from rankwise.tasks.compare.problem import Problem

__all__ = ["Finished", "ensemble", "load_finished", "save_finished"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Finished:
    """What a candidate came to: chosen options, scores of every split, scores of the test part."""

    candidate: Candidate
    params: dict[str, Any]
    trials: int
    seconds: float
    curve: list[list[float]]
    judged: tuple[Judged, ...]
    test: Floats
    test_ranked: Floats
    probability: Floats
    model: Model
    cut: bool = False  # whether a training of it was ended by the time

    @property
    def values(self) -> list[float]:
        """The metric on every split."""
        return [each.value for each in self.judged]

    @property
    def mean(self) -> float:
        """What candidates are chosen by."""
        return float(np.mean(self.values))


def save_finished(folder: Path, finished: Finished) -> None:
    """Write into a folder of its own, which is there whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as name:
        made = Path(name) / "candidate"
        made.mkdir()
        record = {
            "name": finished.candidate.name,
            "params": finished.params,
            "trials": finished.trials,
            "seconds": finished.seconds,
            "curve": finished.curve,
            "values": finished.values,
            "cut": finished.cut,
        }
        write_json(made / "result.json", record)
        arrays = {
            "test": finished.test,
            "test_ranked": finished.test_ranked,
            "probability": finished.probability,
        }
        for number, each in enumerate(finished.judged):
            arrays |= {f"scores_{number}": each.scores, f"ranked_{number}": each.ranked}
        write_arrays(made / "scores.npz", arrays)
        finished.model.save(made / "model")
        renamed(made, folder)


def load_finished(folder: Path, candidate: Candidate) -> Finished | None:
    """What :func:`save_finished` wrote; None where there is nothing, or nothing whole."""
    try:
        record = json.loads((folder / "result.json").read_text())
        arrays = read_arrays(folder / "scores.npz")
        judged = tuple(
            Judged(arrays[f"scores_{number}"], arrays[f"ranked_{number}"], value)
            for number, value in enumerate(record["values"])
        )
        return Finished(
            candidate=candidate,
            params=record["params"],
            trials=record["trials"],
            seconds=record["seconds"],
            curve=record["curve"],
            judged=judged,
            test=arrays["test"],
            test_ranked=arrays["test_ranked"],
            probability=arrays["probability"],
            model=load_model(folder / "model"),
            cut=record["cut"],
        )
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None


def ensemble(candidate: Candidate, parts: Sequence[Finished], problem: Problem) -> Finished:
    """The candidate that is the mean of the ranks of others, which are done."""
    judged = []
    for number, (_, rows) in enumerate(problem.plan.splits[: len(parts[0].judged)]):
        mean: Floats = np.mean([part.judged[number].ranked for part in parts], axis=0)
        judged.append(Judged(mean, mean, problem.value(mean, rows)))
    test: Floats = np.mean([part.test_ranked for part in parts], axis=0)
    first = parts[0].model
    members = tuple(member for part in parts for member in part.model.members)
    about = {**first.about, "candidate": candidate.name}
    return Finished(
        candidate=candidate,
        params={},
        trials=sum(part.trials for part in parts),
        seconds=sum(part.seconds for part in parts),
        curve=[],
        judged=tuple(judged),
        test=test,
        test_ranked=test,
        probability=np.mean([part.probability for part in parts], axis=0),
        model=replace(first, members=members, about=about),
        cut=any(part.cut for part in parts),
    )
