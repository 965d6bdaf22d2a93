"""A whole run: train, judge on the test images, write."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np
import torch

from rankwise.data.images import KINDS, BrokenImage, RetrievalSplits, open_images
from rankwise.errors import UsageError
from rankwise.report.verdict import Verdict, verdict
from rankwise.retrieval import RetrievalResult
from rankwise.settings import require_choice
from rankwise.tasks.retrieval.advice import image_advice, validation_of
from rankwise.tasks.retrieval.batch_size import fit_batches
from rankwise.tasks.retrieval.evaluate import judge_splits
from rankwise.tasks.retrieval.files import (
    read_division,
    write_config,
    write_division,
    write_model,
    write_results,
)
from rankwise.tasks.retrieval.image_dataset import Pictures
from rankwise.tasks.retrieval.page import write_page
from rankwise.tasks.retrieval.settings import Settings
from rankwise.tasks.retrieval.task import new_network
from rankwise.tasks.retrieval.training import Step, Trained, train
from rankwise.training import CHECKPOINT, Devices, open_folder

__all__ = ["Finished", "fit_settings", "open_data", "run", "usual_device"]


@dataclass(frozen=True)
class Finished:
    """What a run came to, by network and gallery, and its page; None where another wrote it."""

    results: dict[str, dict[str, RetrievalResult]]
    trained: Trained
    page: Path | None
    verdict: Verdict | None = None


def open_data(
    settings: Settings, *, run: Path | None = None, skip_broken: bool = False
) -> RetrievalSplits:
    """The images of the settings, in their parts: those of the division that ``run`` recorded."""
    data = settings.data
    require_choice("data.kind", data.kind, KINDS)
    if not data.root:
        raise UsageError("data.root must say where the images are; --root FOLDER does, too")
    return open_images(
        data.kind,
        data.root,
        trainval=data.trainval,
        seed=data.seed,
        validation_share=data.validation_share,
        test_share=data.test_share,
        split=data.split,
        recorded=None if run is None else read_division(run),
        skip_broken=skip_broken,
    )


def fit_settings(settings: Settings, splits: RetrievalSplits) -> tuple[Settings, list[str]]:
    """Return the settings that a run has on these images, and a line for each change."""
    return fit_batches(settings, splits.train)


def usual_device() -> torch.device:
    """A GPU where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def run(
    splits: RetrievalSplits,
    settings: Settings,
    out: Path,
    *,
    resume: bool = False,
    device: torch.device | None = None,
    workers: int = 0,
    told: Callable[[BrokenImage], None] | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
) -> Finished:
    """Train into the folder ``out``, then judge the network beside the untrained one.

    A folder that holds a run already is only touched with ``resume``, which continues it. Under
    torchrun all processes train together, and the first one writes. Batches that the training
    images cannot fill are made smaller (:func:`fit_settings`).
    """
    settings, fitted = fit_settings(settings, splits)
    device = usual_device() if device is None else device
    first = Devices(device=device).place.is_first
    with open_folder(out if first else None, "retrieval", resume=resume) as folder:
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
            pictures = Pictures(splits.train, settings.augmentations, told)
            untrained = new_network(pictures, settings).to(device)
        short = settings.objective.short
        results = {
            "untrained": judge_splits(untrained, splits, settings, workers=workers),
            short: judge_splits(trained.network, splits, settings, workers=workers),
        }
        write_results(out, results)
        said = _verdict(settings, trained, results)
        page = write_page(out, settings, splits, trained, results, verdict=said, remarks=fitted)
        folder.finish()
        return Finished(results, trained, page, said)


def _reach(before: dict[str, RetrievalResult], after: dict[str, RetrievalResult]) -> float:
    """Half of the 95 % interval of the mean difference over the queries of a single gallery."""
    if len(before) != 1:
        return math.nan
    (first,), (second,) = before.values(), after.values()
    change = second.average_precision - first.average_precision
    change = change[~np.isnan(change)]
    if len(change) < 2:
        return math.nan
    return 1.96 * float(change.std(ddof=1)) / math.sqrt(len(change))


def _verdict(
    settings: Settings, trained: Trained, results: dict[str, dict[str, RetrievalResult]]
) -> Verdict:
    """The network that is saved against the untrained one, by the mean over the galleries."""
    before, after = results.values()
    return verdict(
        "mAP",
        test=(mean(r.map for r in before.values()), mean(r.map for r in after.values())),
        reach=_reach(before, after),
        validation=validation_of(trained, "map"),
        advice=image_advice(settings, trained, "SupCon"),
    )
