"""Every loss at every rate, the best of validation again with other seeds; one file of runs."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from rankwise.tasks.detection.dataset import Cache
from rankwise.tasks.detection.evaluate import best_thresholds, evaluate
from rankwise.tasks.detection.inference import Detections, detect_all
from rankwise.tasks.detection.network import Dense
from rankwise.tasks.detection.task import DetectionTask, train
from rankwise.training import Moment
from rankwise.vision.gallery import spaced
from reproductions.detection.plan import Choice, Head, Plan
from reproductions.frame import Runs, Setting

_SCORES = ("logits", "regression", "scores", "offsets")  # what a loss has a gradient for


@dataclass(frozen=True)
class Cell:
    """One training: what it was, what validation said, and COCO's numbers on the test images."""

    head: str
    choice: Choice
    seed: int
    chosen: bool  # whether validation is best; the tables show these
    validation: float
    test: dict[str, Any]
    found: list[list[list[float]]]  # x1 y1 x2 y2 logit label of the shown images' boxes


def measure(plan: Plan, setting: Setting) -> tuple[list[Cell], dict[str, float]]:
    """All cells, and the milliseconds of processor that each loss takes."""
    runs = Runs(setting.folder, plan.asked(setting.seed))
    cache: Cache = {}
    first = setting.seed * 1_000
    tried = [(head, choice) for head in plan.heads for choice in plan.of_head(head)]
    cells: dict[tuple[str, Choice, int], dict[str, Any]] = {}

    def of(head: Head, choice: Choice, seed: int) -> dict[str, Any]:
        name = f"{head.name}, rate {choice}, seed {seed}"
        found: dict[str, Any] = runs.get(name, lambda: _run(plan, head, choice, seed, cache))
        return found

    for head, choice in setting.track(tried, "choosing"):
        cells[head.name, choice, first] = of(head, choice, first)
    best: dict[str, Choice] = {}
    for head in plan.heads:
        values = {c: cells[head.name, c, first]["validation"] for c in plan.of_head(head)}
        best[head.name] = max(values, key=values.__getitem__)
    more = [(head, first + i) for i in range(1, plan.seeds) for head in plan.heads]
    for head, seed in setting.track(more, "other seeds"):
        cells[head.name, best[head.name], seed] = of(head, best[head.name], seed)
    taken = {
        head.name: runs.get(
            f"milliseconds of {head.name}", partial(_milliseconds, plan, head, first, cache)
        )
        for head in plan.heads
    }
    return [
        Cell(name, choice, seed, best[name] == choice, **found)
        for (name, choice, seed), found in cells.items()
    ], taken


def shown_detections(cell: Cell) -> list[Detections]:
    """The boxes that a cell kept of each shown image."""
    found = []
    for rows in cell.found:
        table = torch.tensor(rows, dtype=torch.float32).reshape(-1, 6)
        found.append(Detections(table[:, :4], table[:, 4], table[:, 5].long()))
    return found


def _run(plan: Plan, head: Head, choice: Choice, seed: int, cache: Cache) -> dict[str, Any]:
    settings, splits = plan.of_run(head, choice, seed), plan.splits
    trained = train(splits, settings, cache=cache)
    thresholds = best_thresholds(splits.validation, trained.detections)
    found = detect_all(trained.network, splits.test, settings, cache=cache)
    boxes = []
    for row in spaced(len(splits.test), plan.shown):
        one = found[row].above(thresholds)
        columns = [one.boxes, one.scores.unsqueeze(1), one.labels.unsqueeze(1).float()]
        boxes.append([[round(v, 3) for v in line] for line in torch.cat(columns, 1).tolist()])
    return {
        "validation": trained.best_value,
        "test": evaluate(splits.test, found).as_json(),
        "found": boxes,
    }


def _milliseconds(plan: Plan, head: Head, seed: int, cache: Cache) -> float:
    """Median of a loss, forward and backward, on the scores of an untrained network."""
    settings = plan.of_run(head, Choice(plan.choices[0].rate), seed)
    times = []
    with torch.random.fork_rng(devices=[]):
        task = DetectionTask(plan.splits, settings, cache=cache)
        batch = next(task.batches(0))
        with torch.no_grad():
            known = [target["boxes"] for target in batch.targets]
            found: Dense = task.network(batch.images, known)
        scores = [name for name in _SCORES if hasattr(found, name)]
        for _ in range(plan.timed):
            fresh = {n: getattr(found, n).clone().requires_grad_() for n in scores}
            start = plan.clock()
            task.loss_of(replace(found, **fresh), batch.targets, Moment(0)).total.backward()
            times.append(plan.clock() - start)
    return 1000 * statistics.median(times)
