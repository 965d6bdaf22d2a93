"""A whole run: train, evaluate on the test images, write."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import torch

from rankwise.data.images import CLASS_KINDS, ClassSplits, LabeledImages, open_classes
from rankwise.report.verdict import verdict
from rankwise.tasks.classification.evaluate import Evaluation, evaluate, write_results
from rankwise.tasks.classification.network import Classifier, make_classifier
from rankwise.tasks.classification.report import write_report
from rankwise.tasks.classification.settings import Settings
from rankwise.tasks.classification.task import new_classifier, train
from rankwise.vision.files import CONFIG, load_model, read_division, require_finished, write_model
from rankwise.vision.image_dataset import ImageDataset
from rankwise.vision.run import (
    ImageOptions,
    RunResult,
    Trained,
    default_device,
    image_advice,
    image_run,
    require_data,
    require_part,
    validation_of,
)


def open_data(
    settings: Settings, *, run: Path | None = None, skip_broken: bool = False
) -> ClassSplits:
    """Open the images of the settings, split as the folder ``run`` recorded if it did."""
    data = settings.data
    require_data(data, CLASS_KINDS)
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
    """Return settings whose batches the training images can fill, and a line for each change.

    A batch has at most as many images as there are, and with ``per_class`` at most as many classes.
    """
    asked = settings.batches
    if asked.positives is not None:
        return settings, []  # the share of positives was asked for: the sampler refuses too many
    train = splits.train
    size, most = asked.size, len(train)
    if asked.per_class is not None:
        classes = int((train.counts > 0).sum())
        most = asked.per_class * classes
    if size <= most or most <= (asked.per_class or 1):
        return settings, []
    why = (
        f"there are {len(train)} training images"
        if asked.per_class is None
        else f"there are {classes} training classes, {asked.per_class} images of each in a batch"
    )
    line = f"batches: {most} images instead of {size}: {why}"
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
    require_part(images, part)
    return evaluate(network, images, settings, workers=workers)


def run(
    splits: ClassSplits,
    settings: Settings,
    out: Path,
    **options: Unpack[ImageOptions],
) -> RunResult[Evaluation, Trained[Classifier]]:
    """Train into the folder ``out``, then evaluate the best, the last and the untrained network.

    A folder that holds a run already is only touched with ``resume``, which continues it. Under
    torchrun all processes train together, and the first one writes. Batches that the training
    images cannot fill are made smaller (:func:`fit_settings`).
    """
    settings, remarks = fit_settings(settings, splits)
    device = options.get("device") or default_device()
    options["device"], workers = device, options.get("workers", 0)
    with image_run(out, "classify", settings, splits.record, **options) as folder:
        trained = train(splits, settings, folder, **options)
        if folder is None:
            return RunResult({}, trained)
        write_model(out, trained.network, trained.network.backbone)
        with torch.random.fork_rng(devices=[]):
            dataset = ImageDataset(
                splits.train.images, settings.augmentations, options.get("on_broken")
            )
            other = new_classifier(splits.train, dataset, settings).to(device)
        short = settings.objective.short
        results = {"untrained": evaluate_part(other, splits, settings, workers=workers)}
        other.load_state_dict(trained.last)
        last = evaluate_part(other, splits, settings, workers=workers)
        results[f"{short}, last step"] = last
        results[short] = evaluate_part(trained.network, splits, settings, workers=workers)
        write_results(out, results)
        said = verdict(
            "AP",
            test=(results["untrained"].map, results[short].map),
            validation=validation_of(trained, "map"),
            advice=image_advice(settings, trained, "cross-entropy"),
        )
        report = write_report(
            out, settings, splits, trained, results, verdict=said, remarks=remarks
        )
        folder.finish()
        return RunResult(results, trained, report, said)


def load_run(out: Path) -> tuple[Settings, Classifier]:
    """Load the settings and the network of a finished run, in evaluation mode."""
    require_finished(out)
    settings = Settings.read(out / CONFIG)
    network = load_model(
        out,
        settings.network,
        lambda chosen, state: make_classifier(
            settings.replace(network=chosen), len(state["projection.bias"])
        ),
    )
    return settings, network
