"""A whole run: train, evaluate, write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from rankwise.report.verdict import Verdict, lower_rate, verdict
from rankwise.tasks.contrast.data import Images
from rankwise.tasks.contrast.evaluation import Evaluation, evaluate
from rankwise.tasks.contrast.page import write_config, write_results
from rankwise.tasks.contrast.settings import Settings
from rankwise.tasks.contrast.training import Step, new_network, train
from rankwise.training import CHECKPOINT, Devices, open_folder

__all__ = ["Finished", "run"]


@dataclass(frozen=True)
class Finished:
    """What a run came to, and its page; None where another process wrote it."""

    results: dict[str, Evaluation]
    page: Path | None
    verdict: Verdict | None = None


def run(
    images: Images,
    settings: Settings,
    out: Path,
    *,
    resume: bool = False,
    on_step: Callable[[Step], None] = lambda step: None,
) -> Finished:
    """Train into the folder ``out``, then measure the network beside the untrained one.

    A folder that holds a run already is only touched with ``resume``, which continues it.
    """
    first = Devices().place.is_first
    with open_folder(out if first else None, "contrast", resume=resume) as folder:
        if folder is not None and folder.read(CHECKPOINT) is None:
            write_config(out, settings)
        trained = train(images, settings, folder, resume=resume, on_step=on_step)
        if folder is None:
            return Finished({}, None)
        with torch.random.fork_rng(devices=[]):
            untrained = new_network(images, settings)
        results = {
            "untrained": evaluate(untrained, images),
            settings.objective: evaluate(trained.network, images),
        }
        before, after = results.values()
        said = verdict(
            "mAP of retrieval",
            test=(before.retrieval.value, after.retrieval.value),
            advice=_advice(settings, len(images.x_train)),
        )
        page = write_results(out, settings, trained, results, said)
        folder.finish()
        return Finished(results, page, said)


def _advice(settings: Settings, images: int) -> list[str]:
    """What these settings leave to try, the most likely first."""
    found = [lower_rate("--learning-rate", settings.learning_rate)]
    if 2 * settings.batch <= images:
        found.append(f"larger batches, --batch {2 * settings.batch}")
    found.append(f"another temperature, --temperature {settings.temperature * 2.5:g}")
    found.append(f"fewer or more passes over the images, --epochs (it was {settings.epochs})")
    return found
