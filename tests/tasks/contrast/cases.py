"""A handful of small images of two kinds, as a file and as tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rankwise.tasks.contrast.settings import Settings
from rankwise.tasks.contrast.task import Images, read_images

SETTINGS = Settings(batch=8, epochs=2, width=2, dimension=4, temperature=0.3, learning_rate=0.01)


def arrays(train: int = 24, test: int = 12, size: int = 8) -> dict[str, Any]:
    """Horizontal and vertical stripes in random colors."""
    rng = np.random.default_rng(0)

    def part(n: int) -> tuple[Any, Any]:
        y = np.arange(n) % 2
        stripes = (np.arange(size) % 4 < 2).astype(float)
        across = np.broadcast_to(stripes[:, None], (size, size))
        x = np.stack([across if label else across.T for label in y])[..., None]
        x = x * rng.uniform(120, 255, (n, 1, 1, 3)) + rng.uniform(0, 60, (n, size, size, 3))
        return x.clip(0, 255).astype(np.uint8), y.astype(np.uint8)

    x_train, y_train = part(train)
    x_test, y_test = part(test)
    classes = np.array(["upright", "across"])
    return dict(x_train=x_train, y_train=y_train, x_test=x_test, y_test=y_test, classes=classes)


def write(path: Path, **changed: Any) -> Path:
    """The file, with some of its arrays replaced, or left out where None is given."""
    everything = arrays() | changed
    np.savez(path, **{name: a for name, a in everything.items() if a is not None})
    return path


def images(folder: Path) -> Images:
    return read_images(write(folder / "stripes.npz"))
