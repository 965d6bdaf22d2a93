"""A whole run: train, evaluate the features, write."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Unpack

import torch
from torch import Tensor, nn

from rankwise import retrieval
from rankwise.data.images import ImageSet
from rankwise.report import Mean, Section, Table, write_json
from rankwise.report.elements import Markup
from rankwise.report.plots import line_chart
from rankwise.report.verdict import Verdict, lower_rate, verdict
from rankwise.tasks.contrast.settings import Settings
from rankwise.tasks.contrast.task import ContrastNet, Images, new_network, train
from rankwise.vision.files import CONFIG, load_state, require_finished, write_model
from rankwise.vision.gallery import nearest_sentence, neighbors_section, network_title
from rankwise.vision.run import ImageOptions, RunResult, Trained, image_run, write_report

_BLOCK = 512  # images of a forward pass
_RIDGE = 1e-3  # of the linear classifier


@dataclass(frozen=True)
class Evaluation:
    """Metrics of one network, means over the test images."""

    probe: Mean  # accuracy of the linear classifier
    retrieval: Mean  # average precision


def evaluate(network: ContrastNet, images: Images) -> Evaluation:
    """Evaluate a linear classifier of the features, and retrieval by them, on the test images."""
    train, test = features_of(network, images.x_train), features_of(network, images.x_test)
    return Evaluation(
        linear_probe((train, images.y_train), (test, images.y_test), len(images.classes)),
        retrieval_map(test, images.y_test),
    )


def features_of(network: ContrastNet, pixels: Tensor) -> Tensor:
    """Compute the features of images without augmentation, in evaluation mode."""
    with network.evaluation():
        return torch.cat([network.features(part.float() / 255) for part in pixels.split(_BLOCK)])


def linear_probe(train: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor], classes: int) -> Mean:
    """Compute the test accuracy of logistic regression on standardized features.

    Minimizes mean cross-entropy + ½·10⁻³·‖W‖², which is convex, by L-BFGS from zero: there is
    nothing random in it.
    """
    (x, y), (test_x, test_y) = train, test
    mean, deviation = x.mean(0), x.std(0).clamp_min(1e-6)
    x, test_x = (x - mean) / deviation, (test_x - mean) / deviation
    weight = torch.zeros(x.shape[1], classes, requires_grad=True)
    bias = torch.zeros(classes, requires_grad=True)
    optimizer = torch.optim.LBFGS(
        [weight, bias], max_iter=200, history_size=20, line_search_fn="strong_wolfe"
    )

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(x @ weight + bias, y)
        loss = loss + 0.5 * _RIDGE * weight.square().sum()
        loss.backward()
        return loss

    with torch.enable_grad():
        optimizer.step(closure)
    right = ((test_x @ weight + bias).detach().argmax(1) == test_y).double().mean().item()
    return Mean(right, math.sqrt(right * (1 - right) / len(test_y)), len(test_y))


def retrieval_map(features: Tensor, labels: Tensor) -> Mean:
    """Compute the mAP of the images of a query's class, ranked by cosine among all other images.

    An image that is alone in its class is not a query.
    """
    result = retrieval.evaluate(features, labels)
    return Mean(result.map, result.standard_error, result.queries)


def run(
    images: Images, settings: Settings, out: Path, **options: Unpack[ImageOptions]
) -> RunResult[Evaluation, Trained[ContrastNet]]:
    """Train into the folder ``out``, then evaluate the network and the untrained one.

    A folder that holds a run already is only touched with ``resume``, which continues it.
    """
    with image_run(out, "contrast", settings, **options) as folder:
        trained = train(images, settings, folder, **options)
        if folder is None:
            return RunResult({}, trained)
        with torch.random.fork_rng(devices=[]):
            untrained = new_network(images, settings)
        results = {
            "untrained": evaluate(untrained, images),
            settings.objective: evaluate(trained.network, images),
        }
        before, after = results.values()
        networks = zip(results, (untrained, trained.network), strict=True)
        features = {name: features_of(network, images.x_test) for name, network in networks}
        ranks = [retrieval.evaluate(f, images.y_test).first_rank for f in features.values()]
        said = verdict(
            "mAP of retrieval",
            test=(before.retrieval.value, after.retrieval.value),
            advice=_advice(settings, len(images.x_train)),
            sentence=nearest_sentence(*ranks),
        )
        test = ImageSet("test", images.y_test, images.classes, pixels=images.x_test)
        shown = neighbors_section(test, {network_title(n): f for n, f in features.items()})
        report = write_results(out, settings, images, trained, results, verdict=said, shown=shown)
        return RunResult(results, trained, report, said)


def write_results(
    out: Path,
    settings: Settings,
    images: Images,
    trained: Trained[ContrastNet],
    results: Mapping[str, Evaluation],
    *,
    verdict: Verdict,
    shown: Section | None = None,
) -> Path:
    """Write ``model.safetensors``, ``results.json`` and ``index.html``, whose path is returned."""
    write_model(out, trained.network)
    write_json(out / "results.json", {name: asdict(result) for name, result in results.items()})
    section = Section(
        "Quality of the features",
        ["The network is frozen; every number is of test images it was not trained on."],
        tables=[results_table(results)],
    )
    sizes = f"{len(images.x_train)} training and {len(images.x_test)} test images"
    return write_report(
        out,
        "Contrastive training",
        [*filter(None, [shown]), section],
        command="contrast",
        training=Section("Training", figures=[_curve(trained.history)]),
        data=[f"{sizes} of {len(images.classes)} classes"],
        settings=settings,
        verdict=verdict,
    )


def load_network(out: Path) -> ContrastNet:
    """Load the network of a finished run, in evaluation mode."""
    require_finished(out)
    settings = Settings.read(out / CONFIG)
    return load_state(out, lambda state: ContrastNet(settings.width, settings.dimension))


def results_table(results: Mapping[str, Evaluation]) -> Table:
    """Return one row for each network."""
    rows = [(name, result.probe, result.retrieval) for name, result in results.items()]
    n = max((result.probe.n for result in results.values()), default=0)
    return Table(
        ("network", "linear probe, accuracy", "retrieval, mAP"),
        rows,
        f"{n} test images; ± is a 95 % interval over them, not over trainings.",
    )


def _curve(history: list[dict[str, float]]) -> Markup:
    epochs, losses = [row["epoch"] for row in history], [row["loss"] for row in history]
    words = f"The loss over {len(history)} epochs, from {losses[0]:.3f} to {losses[-1]:.3f}."
    return line_chart("epoch", "mean loss of the batches", {"loss": (epochs, losses)}, words)


def _advice(settings: Settings, images: int) -> list[str]:
    """Return changes of settings to try, the most likely one first."""
    advice = [lower_rate("--learning-rate", settings.learning_rate)]
    if 2 * settings.batch <= images:
        advice.append(f"larger batches, --batch {2 * settings.batch}")
    advice.append(f"another temperature, --temperature {settings.temperature * 2.5:g}")
    advice.append(f"fewer or more passes over the images, --epochs (it was {settings.epochs})")
    return advice
