"""A whole run: train, judge on the test images, write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from rankwise.data.images import BrokenImage
from rankwise.data.images.image_set import ClassSplits, LabeledImages
from rankwise.data.images.readers import CLASS_KINDS, open_classes
from rankwise.errors import UsageError
from rankwise.report.verdict import Verdict, verdict
from rankwise.settings import require_choice
from rankwise.tasks.classification.batches import fit_batches
from rankwise.tasks.classification.evaluate import Judged, judge
from rankwise.tasks.classification.files import write_config, write_model, write_results
from rankwise.tasks.classification.page import write_page
from rankwise.tasks.classification.settings import Settings
from rankwise.tasks.classification.task import new_classifier
from rankwise.tasks.classification.training import Step, Trained, train
from rankwise.tasks.retrieval.advice import image_advice, validation_of
from rankwise.tasks.retrieval.files import read_division, write_division
from rankwise.tasks.retrieval.image_dataset import Pictures
from rankwise.tasks.retrieval.pipeline import usual_device
from rankwise.training import CHECKPOINT, Devices, open_folder

__all__ = ["Finished", "fit_settings", "judge_part", "open_data", "run"]


@dataclass(frozen=True)
class Finished:
    """What a run came to, by network, and its page; None where another process wrote it."""

    results: dict[str, Judged]
    trained: Trained
    page: Path | None
    verdict: Verdict | None = None


def open_data(
    settings: Settings, *, run: Path | None = None, skip_broken: bool = False
) -> ClassSplits:
    """The images of the settings, in their parts: those of the division that ``run`` recorded."""
    data = settings.data
    require_choice("data.kind", data.kind, CLASS_KINDS)
    if not data.root:
        raise UsageError("data.root must say where the images are; --root FOLDER does, too")
    return open_classes(
        data.kind,
        data.root,
        imbalance=data.imbalance,
        tail_in=data.tail_in,
        positive=data.positive,
        positive_share=data.positive_share,
        validation_share=data.validation_share,
        test_share=data.test_share,
        seed=data.seed,
        recorded=None if run is None else read_division(run),
        skip_broken=skip_broken,
    )


def fit_settings(settings: Settings, splits: ClassSplits) -> tuple[Settings, list[str]]:
    """Return the settings that a run has on these images, and a line for each change."""
    return fit_batches(settings, splits.train)


def judge_part(
    network: torch.nn.Module,
    splits: ClassSplits,
    settings: Settings,
    part: str,
    *,
    workers: int = 0,
) -> Judged:
    """Results of a part."""
    images: LabeledImages = getattr(splits, part)
    if len(images) == 0:
        raise UsageError(
            f"there are no {part} images in the division of this data; evaluate another part"
        )
    return judge(network, images, settings, workers=workers)  # type: ignore[arg-type]


def run(
    splits: ClassSplits,
    settings: Settings,
    out: Path,
    *,
    resume: bool = False,
    device: torch.device | None = None,
    workers: int = 0,
    told: Callable[[BrokenImage], None] | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
) -> Finished:
    """Train into the folder ``out``, then judge the network kept beside the untrained and the last.

    A folder that holds a run already is only touched with ``resume``, which continues it. Under
    torchrun all processes train together, and the first one writes. Batches that the training
    images cannot fill are made smaller (:func:`fit_settings`).
    """
    settings, fitted = fit_settings(settings, splits)
    device = usual_device() if device is None else device
    first = Devices(device=device).place.is_first
    with open_folder(out if first else None, "classify", resume=resume) as folder:
        if folder is not None and folder.read(CHECKPOINT) is None:
            write_config(out, settings)
            write_division(out, splits.record)
        trained = train(
            splits,
            settings,
            folder,
            resume=resume,
            device=device,
            workers=workers,
            told=told,
            on_step=on_step,
        )
        if folder is None:
            return Finished({}, trained, None)
        write_model(out, trained.network)
        with torch.random.fork_rng(devices=[]):
            pictures = Pictures(splits.train.images, settings.augmentations, told)
            other = new_classifier(splits.train, pictures, settings).to(device)
        before = judge_part(other, splits, settings, "test", workers=workers)
        results = {"untrained": before}
        other.load_state_dict(trained.last)
        short = settings.objective.short
        last = judge_part(other, splits, settings, "test", workers=workers)
        results[f"{short}, last step"] = last
        results[short] = judge_part(trained.network, splits, settings, "test", workers=workers)
        write_results(out, results)
        said = verdict(
            "AP",
            test=(before.map, results[short].map),
            validation=validation_of(trained, "map"),
            advice=image_advice(settings, trained, "cross-entropy"),
        )
        page = write_page(out, settings, splits, trained, results, verdict=said, remarks=fitted)
        folder.finish()
        return Finished(results, trained, page, said)
