"""What a validation costs that is reported to an experiment tracker of this machine."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Result

from rankwise.training import make_tracker

VALUES = {f"metric_{number}": 0.1 * number for number in range(10)}
STEPS = 50


def validation() -> Iterator[Result]:
    """Log ten values a validation: event files of TensorBoard, the file store of MLflow."""
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    with tempfile.TemporaryDirectory() as place:
        for name, target in (
            ("tensorboard", "tensorboard"),
            ("mlflow, file store", f"mlflow:file:{place}/mlruns"),
        ):
            tracker = make_tracker(target)
            tracker.start("run", Path(place), {"learning_rate": 0.1})
            tracker.log(0, VALUES)
            start = time.process_time()
            for step in range(1, STEPS + 1):
                tracker.log(step, VALUES)
            taken = (time.process_time() - start) / STEPS
            tracker.close()
            detail = {"values": len(VALUES), "validations": STEPS}
            yield Result(f"{name}: a validation of 10 metrics", 1e3 * taken, "ms", "", detail)


ALL = [validation]
