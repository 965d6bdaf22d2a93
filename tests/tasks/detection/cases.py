"""Small pictures with bright rectangles, in memory, and settings that train on them in no time."""

from __future__ import annotations

from typing import Any

import torch

from rankwise.data.detection import DetectionSet, DetectionSplits, Objects
from rankwise.tasks.detection.dataset import DetectionBatch
from rankwise.tasks.detection.settings import Settings
from rankwise.tasks.detection.task import DetectionTask
from rankwise.training import Learner, Moment
from rankwise.vision.detection_loss import DetectionLosses

CLASSES = ("red", "blue")
SMALL: dict[str, Any] = {
    "network": {
        "backbone": "small",
        "options": {"width": 8},
        "levels": [8, 16],
        "width": 8,
        "depth": 1,
        "anchor_scale": 2,
    },
    "augmentations": {"height": 64, "width": 64, "cache": True, "crop": False, "expand": 1.2},
    "objective": {"name": "stable_ap", "bias_weight": 0.1, "bias_form": "mean"},
    "optimizer": {"name": "adam", "learning_rate": 0.01, "weight_decay": 0.0, "s": 0},
    "training": {"steps": 4, "batch": 3, "validate_every": 2},
}


def settings(**sections: dict[str, Any]) -> Settings:
    """Small settings, with some changes by section."""
    tree = {name: {**part, **sections.get(name, {})} for name, part in SMALL.items()}
    tree |= {name: part for name, part in sections.items() if name not in SMALL}
    found: Settings = Settings.changed(tree)
    return found


def pictures(
    name: str, n: int = 6, seed: int = 0, size: tuple[int, int] = (80, 60)
) -> DetectionSet:
    """Gray noise with up to three rectangles; every fourth picture has none."""
    rng = torch.Generator().manual_seed(seed)
    width, height = size
    pixels, objects = [], []
    for number in range(n):
        picture = torch.randint(90, 130, (3, height, width), generator=rng).to(torch.uint8)
        boxes, labels = [], []
        for _ in range(0 if number % 4 == 3 else int(torch.randint(1, 4, (), generator=rng))):
            w, h = (int(torch.randint(14, 26, (), generator=rng)) for _ in range(2))
            x = int(torch.randint(0, width - w, (), generator=rng))
            y = int(torch.randint(0, height - h, (), generator=rng))
            label = int(torch.randint(2, (), generator=rng))
            picture[:, y : y + h, x : x + w] = 40
            picture[0 if label == 0 else 2, y : y + h, x : x + w] = 250
            boxes.append([x, y, x + w, y + h])
            labels.append(label)
        pixels.append(picture)
        tensor = torch.tensor(boxes, dtype=torch.float32).reshape(-1, 4)
        objects.append(Objects.plain(tensor, torch.tensor(labels, dtype=torch.long)))
    return DetectionSet(name, CLASSES, tuple(objects), (size,) * n, pixels=tuple(pixels))


def splits(n: int = 6) -> DetectionSplits:
    parts = [pictures(name, n, seed) for seed, name in enumerate(("train", "validation", "test"))]
    return DetectionSplits(*parts)


def losses(learner: Learner[DetectionBatch], batch: DetectionBatch) -> DetectionLosses:
    """The parts of the loss of the next step."""
    task = learner.task
    assert isinstance(task, DetectionTask)
    return task.losses(batch, Moment(learner.done, autocast=learner.devices.autocast))
