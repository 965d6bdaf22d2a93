"""A whole run: train, judge on the test images, write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from rankwise.data.images import KINDS, BrokenImage, RetrievalSplits, open_images
from rankwise.retrieval import RetrievalResult
from rankwise.tasks.retrieval import lightning_loop
from rankwise.tasks.retrieval.checkpoint import CHECKPOINT
from rankwise.tasks.retrieval.files import write_config, write_model, write_results
from rankwise.tasks.retrieval.judging import judge_splits
from rankwise.tasks.retrieval.learner import new_network
from rankwise.tasks.retrieval.page import write_page
from rankwise.tasks.retrieval.pictures import Pictures
from rankwise.tasks.retrieval.settings import Settings, UsageError, one_of
from rankwise.tasks.retrieval.training import Step, Trained, train
from rankwise.tasks.run_folder import require_free

__all__ = ["Finished", "open_data", "run", "usual_device"]


@dataclass(frozen=True)
class Finished:
    """What a run came to, by network and gallery, and its page; None where another wrote it."""

    results: dict[str, dict[str, RetrievalResult]]
    trained: Trained
    page: Path | None


def open_data(settings: Settings, *, skip_broken: bool = False) -> RetrievalSplits:
    """The images of the settings, in their parts."""
    data = settings.data
    one_of("data.kind", data.kind, KINDS)
    if not data.root:
        raise UsageError("data.root must say where the images are; --root FOLDER does, too")
    return open_images(
        data.kind,
        data.root,
        trainval=data.trainval,
        seed=data.seed,
        validation_share=data.validation_share,
        skip_broken=skip_broken,
    )


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
    torchrun the loop is Lightning's, and the first process writes.
    """
    device = usual_device() if device is None else device
    require_free(out, "retrieval", resume=resume)
    lightning_loop.join_processes()
    first = lightning_loop.is_first()
    if first and not (out / CHECKPOINT).exists():
        write_config(out, settings)
    trained = train(
        splits,
        settings,
        out,
        resume=resume,
        device=device,
        workers=workers,
        told=told,
        on_step=on_step,
        loop=lightning_loop.fit if lightning_loop.wanted() else None,
    )
    if not first:
        return Finished({}, trained, None)
    write_model(out, trained.network)
    with torch.random.fork_rng(devices=[]):
        pictures = Pictures(splits.train, settings.views, told)
        untrained = new_network(pictures, settings).to(device)
    results = {
        "untrained": judge_splits(untrained, splits, settings, workers=workers),
        settings.objective.short: judge_splits(trained.network, splits, settings, workers=workers),
    }
    write_results(out, results)
    return Finished(results, trained, write_page(out, settings, splits, trained, results))
