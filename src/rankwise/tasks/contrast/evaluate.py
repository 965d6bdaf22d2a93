"""Evaluation of features: a linear classifier on them, and retrieval by their cosines."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from rankwise import retrieval
from rankwise.report import Mean
from rankwise.tasks.contrast.data import Images
from rankwise.tasks.contrast.task import ContrastNet

_BLOCK = 512  # images of a forward pass


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


def linear_probe(
    train: tuple[Tensor, Tensor],
    test: tuple[Tensor, Tensor],
    classes: int,
    *,
    ridge: float = 1e-3,
    iterations: int = 200,
) -> Mean:
    """Compute the test accuracy of logistic regression on standardized features.

    Minimizes mean cross-entropy + ½·ridge·‖W‖², which is convex, by L-BFGS from zero: there is
    nothing random in it.
    """
    (x, y), (test_x, test_y) = train, test
    mean, deviation = x.mean(0), x.std(0).clamp_min(1e-6)
    x, test_x = (x - mean) / deviation, (test_x - mean) / deviation
    weight = torch.zeros(x.shape[1], classes, requires_grad=True)
    bias = torch.zeros(classes, requires_grad=True)
    optimizer = torch.optim.LBFGS(
        [weight, bias], max_iter=iterations, history_size=20, line_search_fn="strong_wolfe"
    )

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(x @ weight + bias, y)
        loss = loss + 0.5 * ridge * weight.square().sum()
        loss.backward()
        return loss

    with torch.enable_grad():
        optimizer.step(closure)
    right = ((test_x @ weight + bias).detach().argmax(1) == test_y).double().mean().item()
    return Mean(right, math.sqrt(right * (1 - right) / len(test_y)), len(test_y))


def retrieval_map(features: Tensor, labels: Tensor) -> Mean:
    """Compute the mAP of the images of a query's class, ranked by cosine among all other images.

    An image that is alone in its class is no query.
    """
    result = retrieval.evaluate(features, labels)
    return Mean(result.map, result.standard_error, result.queries)
