"""Training steps with a ranking loss against the same steps with cross-entropy.

``python -m benchmarks.throughput [NAME ...]`` takes steps of the retrieval task's own loop
(:class:`rankwise.training.Learner`: forward, loss, backward, optimizer) of one network with
every loss in turns, in one process, by the processor time of one thread. Cross-entropy has a linear
head over the training classes. Views are off: what they cost is the same for all and would hide
the loss. A ratio is the median over the rounds, with its 95 % interval by order statistics. Writes
``throughput.json`` and the table in README.md.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from benchmarks.page import write_between, write_safely
from scipy import stats
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from rankwise.data.images import ImageSet, RetrievalSplits
from rankwise.tasks.retrieval.settings import Settings
from rankwise.tasks.retrieval.task import RetrievalTask
from rankwise.training import Learner
from rankwise.vision.image_dataset import ImageBatch

RESULTS = Path(__file__).parent / "throughput.json"
CLASSES = 100
LOSSES = {
    "SOPRC": "soprc(score_scale=1, tau_fpr=.1, tau_tpr=.001)",
    "SOPRC, automatic scale": "soprc",
    "StableAP": "stable_ap(score_scale=1)",
    "AveragePrecision": "ap",
}


@dataclass(frozen=True)
class Case:
    """A network, the size of its images, and classes of four in a batch."""

    network: dict[str, Any]
    size: int
    classes: int
    rounds: int
    losses: tuple[str, ...] = tuple(LOSSES)


SMALL = {"backbone": "small", "options": {"width": 32}, "dimension": 64}
MOBILE = {"backbone": "mobilenet_v2", "dimension": 512}
CASES = {
    "small network, 32 × 32, batch of 112": Case(SMALL, 32, 28, 40),
    "small network, 32 × 32, batch of 224": Case(SMALL, 32, 56, 30),
    "MobileNetV2, 224 × 224, batch of 28": Case(MOBILE, 224, 7, 20, ("SOPRC",)),
}


class Classified(nn.Module):
    """Cross-entropy of a linear head, called as a loss of retrieval is."""

    needs_rows = False

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.head = nn.Linear(dimension, CLASSES)

    def forward(self, embeddings: Tensor, *, labels: Tensor, **_: Any) -> Tensor:
        return cross_entropy(self.head(embeddings), labels)


@dataclass(frozen=True)
class Ratio:
    """Time of a step over that of cross-entropy in the same round."""

    case: str
    loss: str
    median: float
    low: float
    high: float
    milliseconds: float  # of cross-entropy's step, the median
    rounds: int


def settings_of(case: Case, objective: str) -> Settings:
    return Settings.changed(
        {
            "network": case.network,
            "augmentations": {"resize": case.size, "crop": case.size, "flip": False, "rotation": 0},
            "batches": {"classes": case.classes, "per_class": 4},
            "objective": {"name": objective},
            "optimizer": {"name": "adamw", "learning_rate": 1e-4},
        },
        [],
    )


def images_of(case: Case) -> ImageSet:
    labels = torch.arange(CLASSES).repeat_interleave(4)
    pixels = torch.randint(0, 256, (len(labels), 3, case.size, case.size), dtype=torch.uint8)
    return ImageSet("train", labels, tuple(map(str, range(CLASSES))), pixels=pixels)


def learners(case: Case) -> tuple[dict[str, Learner[ImageBatch]], ImageBatch]:
    """Cross-entropy first, and a batch for all of them."""
    torch.manual_seed(0)
    images = images_of(case)
    made = {}
    for name in ("cross-entropy", *case.losses):
        settings = settings_of(case, LOSSES.get(name, LOSSES["SOPRC"]))
        task = RetrievalTask(RetrievalSplits(images, images, images), settings)
        if name == "cross-entropy":
            # Its loss is of labels and no list: no name of the settings makes one.
            task.loss = Classified(settings.network.dimension)  # type: ignore[assignment]
        made[name] = Learner(task)
    rows = torch.arange(4 * case.classes)
    return made, ImageBatch([task.dataset[row] for row in rows.tolist()], rows)


def measured(name: str, case: Case) -> Iterator[Ratio]:
    made, batch = learners(case)
    times: dict[str, list[float]] = {loss: [] for loss in made}
    for round_number in range(-2, case.rounds):  # two to warm up
        for loss, learner in made.items():
            start = time.process_time()
            learner.step(batch)
            if round_number >= 0:
                times[loss].append(time.process_time() - start)
    base = times.pop("cross-entropy")
    for loss, taken in times.items():
        ratios = sorted(a / b for a, b in zip(taken, base, strict=True))
        out = max(0, int(stats.binom.ppf(0.025, len(ratios), 0.5)) - 1)  # of order, on either side
        median = statistics.median(ratios)
        milliseconds = 1e3 * statistics.median(base)
        yield Ratio(name, loss, median, ratios[out], ratios[-1 - out], milliseconds, len(ratios))


def table(found: list[Ratio]) -> str:
    lines = ["| step | loss | × cross-entropy | 95 % | its step |", "|---|---|---|---|---|"]
    for r in found:
        cells = (r.case, r.loss, f"{r.median:.3f}", f"{r.low:.3f}–{r.high:.3f}")
        lines.append(f"| {' | '.join(cells)} | {r.milliseconds:.0f} ms |")
    return "\n".join(lines)


def main(wanted: list[str]) -> None:
    torch.set_num_threads(1)
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    found = {name: [Ratio(**row) for row in kept if row["case"] == name] for name in CASES}
    for name, case in CASES.items():
        if not wanted or any(word in name for word in wanted):
            found[name] = list(measured(name, case))
            print(table(found[name]), flush=True)
    rows = [row for part in found.values() for row in part]
    write_safely(RESULTS, json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    write_between("throughput", table(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
