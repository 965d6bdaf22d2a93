"""A whole run: train, evaluate on the test images, write."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Unpack

import torch

from rankwise.data.images import CLASS_KINDS, ClassSplits, LabeledImages, open_classes
from rankwise.report import Section, write_json
from rankwise.report.verdict import verdict
from rankwise.tasks.classification.evaluate import (
    Evaluation,
    as_json,
    evaluate,
    report_section,
    sentence,
    tail_section,
)
from rankwise.tasks.classification.settings import Settings
from rankwise.tasks.classification.task import Classifier, new_classifier, train
from rankwise.vision import run as image_runs
from rankwise.vision.files import CONFIG, load_model, read_split, require_finished, write_model
from rankwise.vision.image_dataset import ImageDataset


def open_data(
    settings: Settings, *, run: Path | None = None, skip_broken: bool = False
) -> ClassSplits:
    """Open the images of the settings, split as the folder ``run`` recorded if it did."""
    image_runs.require_data(settings.data, CLASS_KINDS)
    return open_classes(
        **settings.data.model_dump(exclude={"max_fpr", "verify"}),
        recorded=read_split(run),
        skip_broken=skip_broken,
    )


def fit_settings(settings: Settings, splits: ClassSplits) -> tuple[Settings, list[str]]:
    """Return settings whose batches the training images can fill, and a line for each change.

    A batch has at most as many images as there are, and with ``per_class`` at most as many classes.
    """
    asked, train = settings.batches, splits.train
    most, why = len(train), f"there are {len(train)} training images"
    if asked.per_class is not None:
        classes = int((train.counts > 0).sum())
        most = asked.per_class * classes
        why = f"there are {classes} training classes, {asked.per_class} images of each in a batch"
    # Where a number of positives was asked for, the sampler refuses too many.
    if asked.positives is not None or asked.size <= most or most <= (asked.per_class or 1):
        return settings, []
    line = f"batches: {most} images instead of {asked.size}: {why}"
    return settings.replace(batches=asked.replace(size=most)), [line]


def evaluate_part(
    network: Classifier,
    splits: ClassSplits,
    settings: Settings,
    part: str = "test",
    *,
    workers: int = 0,
) -> Evaluation:
    """Evaluate a network on a part of the images."""
    images: LabeledImages = getattr(splits, part)
    image_runs.require_part(images, part)
    return evaluate(network, images, settings, workers=workers)


def run(
    splits: ClassSplits, settings: Settings, out: Path, **options: Unpack[image_runs.ImageOptions]
) -> image_runs.RunResult[Evaluation, image_runs.Trained[Classifier]]:
    """Train into the folder ``out``, then evaluate the best, the last and the untrained network.

    A folder that holds a run already is only touched with ``resume``, which continues it. Under
    torchrun all processes train together, and the first one writes. Batches that the training
    images cannot fill are made smaller (:func:`fit_settings`).
    """
    settings, remarks = fit_settings(settings, splits)
    options.setdefault("device", image_runs.default_device())
    with image_runs.image_run(out, "classify", settings, splits.record, **options) as folder:
        trained = train(splits, settings, folder, **options)
        if folder is None:
            return image_runs.RunResult({}, trained)
        write_model(out, trained.network, trained.network.backbone)
        with torch.random.fork_rng(devices=[]):
            dataset = ImageDataset(
                splits.train.images, settings.augmentations, options.get("on_broken")
            )
            other = new_classifier(splits.train, dataset, settings)
        other.to(trained.network.mean.device)
        short, workers = settings.objective.short, options.get("workers", 0)
        tested = partial(evaluate_part, splits=splits, settings=settings, workers=workers)
        results = {"untrained": tested(other)}
        other.load_state_dict(trained.last)
        results[f"{short}, last step"] = tested(other)
        results[short] = tested(trained.network)
        write_json(out / "results.json", {name: as_json(one) for name, one in results.items()})
        said = verdict(
            "AP",
            test=(results["untrained"].map, results[short].map),
            validation=image_runs.validation_of(trained, "map"),
            advice=image_runs.image_advice(settings, trained, "cross-entropy"),
            sentence=sentence(results["untrained"], results[short]),
        )
        counts = dict(zip(splits.train.classes, splits.train.counts.tolist(), strict=True))
        report = image_runs.write_report(
            out,
            "Classification",
            [tail_section(results, counts), report_section(results)],
            command="classify",
            training=Section("Training", figures=[image_runs.curve_figure(trained)]),
            data=[*splits.describe().splitlines(), *remarks],
            settings=settings,
            verdict=said,
        )
        return image_runs.RunResult(results, trained, report, said)


def load_run(out: Path, changes: Sequence[str] = ()) -> tuple[Settings, Classifier]:
    """Load the network of a finished run, in evaluation mode, and its settings after changes."""
    require_finished(out)
    settings = Settings.read(out / CONFIG, changes)
    network = load_model(
        out,
        settings.network,
        lambda chosen, state: Classifier(
            settings.replace(network=chosen), len(state["projection.bias"])
        ),
    )
    return settings, network
