"""A whole run: train, evaluate on the test images, write."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Unpack

import torch

from rankwise.data.images import KINDS, RetrievalSplits, open_images
from rankwise.errors import UsageError
from rankwise.report import Section, write_json
from rankwise.report.verdict import verdict
from rankwise.retrieval import RetrievalResult
from rankwise.tasks.retrieval.evaluate import (
    as_json,
    embed_splits,
    report_section,
    sentence,
    shown_queries,
)
from rankwise.tasks.retrieval.settings import Settings
from rankwise.tasks.retrieval.task import EmbeddingNet, make_network, new_network, train
from rankwise.vision import run as image_runs
from rankwise.vision.files import CONFIG, load_model, read_split, require_finished, write_model
from rankwise.vision.image_dataset import ImageDataset


def open_data(
    settings: Settings, *, run: Path | None = None, skip_broken: bool = False
) -> RetrievalSplits:
    """Open the images of the settings, split as the folder ``run`` recorded if it did."""
    image_runs.require_data(settings.data, KINDS)
    return open_images(
        **settings.data.model_dump(exclude={"hits", "verify"}),
        recorded=read_split(run),
        skip_broken=skip_broken,
    )


def fit_settings(settings: Settings, splits: RetrievalSplits) -> tuple[Settings, list[str]]:
    """Return the settings that a run has on these images, and a line for each change.

    A batch has at most as many classes as there are, and at most as many images of a class as the
    largest class has.
    """
    train = splits.train
    counts = train.counts[train.counts > 0]
    if len(counts) < 2:
        raise UsageError(
            f"{train.name}: training needs images of two classes or more, got {len(counts)}; "
            "add images of other classes"
        )
    asked = settings.batches
    classes = min(asked.classes, len(counts))
    per_class = min(asked.per_class, max(2, int(counts.max())))
    if (classes, per_class) == (asked.classes, asked.per_class):
        return settings, []
    chunk = asked.chunk and max(per_class, asked.chunk // per_class * per_class)
    fitted = asked.replace(classes=classes, per_class=per_class, chunk=chunk)
    line = (
        f"batches: {classes} classes × {per_class} images instead of {asked.classes} × "
        f"{asked.per_class}: there are {len(counts)} training classes of at most "
        f"{int(counts.max())} images"
    )
    return settings.replace(batches=fitted), [line]


def run(
    splits: RetrievalSplits,
    settings: Settings,
    out: Path,
    **options: Unpack[image_runs.ImageOptions],
) -> image_runs.RunResult[dict[str, RetrievalResult], image_runs.Trained[EmbeddingNet]]:
    """Train into the folder ``out``, then evaluate the network and the untrained one.

    A folder that holds a run already is only touched with ``resume``, which continues it. Under
    torchrun all processes train together, and the first one writes. Batches that the training
    images cannot fill are made smaller (:func:`fit_settings`).
    """
    settings, remarks = fit_settings(settings, splits)
    options.setdefault("device", image_runs.default_device())
    with image_runs.image_run(out, "retrieval", settings, splits.record, **options) as folder:
        trained = train(splits, settings, folder, **options)
        if folder is None:
            return image_runs.RunResult({}, trained)
        write_model(out, trained.network, trained.network.backbone)
        with torch.random.fork_rng(devices=[]):
            dataset = ImageDataset(splits.train, settings.augmentations, options.get("on_broken"))
            untrained = new_network(dataset, settings).to(trained.network.mean.device)
        networks = {"untrained": untrained, settings.objective.short: trained.network}
        embedded = {
            name: embed_splits(network, splits, settings, workers=options.get("workers", 0))
            for name, network in networks.items()
        }
        hits = settings.data.hits
        results = {n: {g: e.evaluate(hits) for g, e in by.items()} for n, by in embedded.items()}
        numbers = {n: {g: as_json(r) for g, r in by.items()} for n, by in results.items()}
        write_json(out / "results.json", numbers)
        before, after = results.values()
        reach = math.nan  # half of the interval of the difference, over queries of one gallery
        if len(before) == 1:
            (first,), (second,) = before.values(), after.values()
            change = second.average_precision - first.average_precision
            reach = 1.96 * replace(second, average_precision=change).standard_error
        said = verdict(
            "mAP",
            test=(mean(r.map for r in before.values()), mean(r.map for r in after.values())),
            reach=reach,
            validation=image_runs.validation_of(trained, "map"),
            advice=image_runs.image_advice(settings, trained, "SupCon"),
            sentence=sentence(before, after),
        )
        report = image_runs.write_report(
            out,
            "Image retrieval",
            [shown_queries(embedded), report_section(splits, results)],
            command="retrieval",
            training=Section("Training", figures=[image_runs.curve_figure(trained)]),
            data=[*splits.describe().splitlines(), *remarks],
            settings=settings,
            verdict=said,
        )
        return image_runs.RunResult(results, trained, report, said)


def load_run(out: Path, changes: Sequence[str] = ()) -> tuple[Settings, EmbeddingNet]:
    """Load the network of a finished run, in evaluation mode, and its settings after changes."""
    require_finished(out)
    settings = Settings.read(out / CONFIG, changes)
    return settings, load_model(out, settings.network, lambda chosen, _: make_network(chosen))


def open_run(
    out: Path, changes: Sequence[str] = (), *, skip_broken: bool = False
) -> tuple[Settings, EmbeddingNet, RetrievalSplits]:
    """Load a finished run as :func:`load_run` does, and open its images."""
    settings, network = load_run(out, changes)
    return settings, network, open_data(settings, run=out, skip_broken=skip_broken)
