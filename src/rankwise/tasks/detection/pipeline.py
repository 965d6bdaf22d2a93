"""A whole run: train, judge on the test pictures, write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from rankwise.data.detection import KINDS, DetectionSplits, open_detection
from rankwise.data.images import BrokenImage
from rankwise.errors import UsageError
from rankwise.report import write_json
from rankwise.report.verdict import Verdict, verdict
from rankwise.settings import require_choice
from rankwise.tasks.detection.evaluation import Result, best_thresholds, detect_all, evaluate
from rankwise.tasks.detection.files import write_config, write_model
from rankwise.tasks.detection.page import write_page
from rankwise.tasks.detection.settings import Settings
from rankwise.tasks.detection.training import Step, Trained, train
from rankwise.tasks.retrieval.advice import image_advice, validation_of
from rankwise.tasks.retrieval.pipeline import usual_device
from rankwise.training import CHECKPOINT, Devices, open_folder

__all__ = ["Finished", "fit_settings", "open_data", "run"]


@dataclass(frozen=True)
class Finished:
    """What a run came to on the test pictures, by the name of its loss, and its page.

    The page is None where another process wrote it.
    """

    results: dict[str, Result]
    trained: Trained
    thresholds: list[float]
    page: Path | None
    verdict: Verdict | None = None


def open_data(
    settings: Settings,
    *,
    classes: Sequence[str] | None = None,
    run: Path | None = None,
    skip_broken: bool = False,
) -> DetectionSplits:
    """The images of the settings, in their parts; a ``run`` has the same, by lists of files."""
    data = settings.data
    require_choice("data.kind", data.kind, KINDS)
    if not data.root:
        raise UsageError("data.root must say where the pictures are; --root FOLDER does, too")
    return open_detection(
        data.kind,
        data.root,
        train=data.train,
        validation=data.validation,
        test=data.test,
        seed=data.seed,
        validation_share=data.validation_share,
        classes=classes,
        skip_broken=skip_broken,
    )


def fit_settings(settings: Settings, splits: DetectionSplits) -> tuple[Settings, list[str]]:
    """Return the settings as they are: batches of a few images take each of them several times."""
    return settings, []


def run(
    splits: DetectionSplits,
    settings: Settings,
    out: Path,
    *,
    resume: bool = False,
    device: torch.device | None = None,
    workers: int = 0,
    told: Callable[[BrokenImage], None] | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
) -> Finished:
    """Train into the folder ``out``, then judge the detector of the best validation.

    A folder that holds a run already is only touched with ``resume``, which continues it.
    """
    device = usual_device() if device is None else device
    first = Devices(device=device).place.is_first
    with open_folder(out if first else None, "detect", resume=resume) as folder:
        if folder is not None and folder.read(CHECKPOINT) is None:
            write_config(out, settings)
        kept: dict[Any, Any] = {}
        trained = train(
            splits,
            settings,
            folder,
            resume=resume,
            device=device,
            workers=workers,
            told=told,
            on_step=on_step,
            kept=kept,
        )
        if folder is None:
            return Finished({}, trained, [], None)
        thresholds = best_thresholds(splits.validation, trained.found)
        write_model(out, trained.network, splits.train.classes, thresholds)
        found = detect_all(trained.network, splits.test, settings, kept=kept)
        result = evaluate(splits.test, found)
        write_json(out / "results.json", {"test": result.as_json(), "thresholds": thresholds})
        said = verdict(
            "AP",
            validation=validation_of(trained, "ap"),
            advice=image_advice(settings, trained, "focal loss"),
        )
        page = write_page(
            out,
            settings,
            splits,
            trained,
            result=result,
            found=found,
            thresholds=thresholds,
            verdict=said,
        )
        folder.finish()
        return Finished({settings.objective.short: result}, trained, thresholds, page, said)
