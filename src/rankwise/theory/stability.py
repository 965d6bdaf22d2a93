"""Model stability: how far one training example moves the trained model   (SOPRC, Definition 1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from rankwise.checks import require_count, require_positive
from rankwise.theory.differences import Loss
from rankwise.theory.summary import Mean, mean_of

__all__ = ["Stability", "TwinTraining", "model_stability"]


@dataclass(frozen=True)
class TwinTraining:
    """Two Gaussian clouds, a small model, plain SGD; what is not given here is drawn by the seed.

    Positives and negatives have ``width`` features, N(±``shift``/2, 1) along a fixed direction.
    The model is linear, or has one hidden layer of ``hidden`` tanh units. Batches have
    ``batch_positives`` and ``batch_negatives`` examples of the data set, drawn with replacement.
    """

    negatives_per_positive: int = 9
    width: int = 10
    shift: float = 2.0
    hidden: int | None = None
    batch_positives: int = 8
    batch_negatives: int = 24
    learning_rate: float = 0.01
    warm_up: int = 10  # steps of cross-entropy on other data, before the twins part
    twins: int = 8  # replaced examples of each class, in every data set

    def __post_init__(self) -> None:
        for name in (
            "negatives_per_positive",
            "width",
            "batch_positives",
            "batch_negatives",
            "twins",
        ):
            require_count(name, getattr(self, name))
        require_positive("learning_rate", self.learning_rate)
        if self.hidden is not None:
            require_count("hidden", self.hidden)


@dataclass(frozen=True)
class Stability:
    """Mean distance ‖A(S) − A(S⁽ⁱ⁾)‖₂ of the parameters when example i is replaced.

    ``positive`` is ε⁺ (i a positive), ``negative`` is ε⁻. ``relative_positive`` and
    ``relative_negative`` are in units of the way ‖A(S) − A₀‖₂ the model has come from its start,
    since losses differ in the size of their gradients. Standard errors are over data sets.
    """

    n_positives: int
    steps: int
    positive: Mean
    negative: Mean
    relative_positive: Mean
    relative_negative: Mean


def model_stability(
    factory: Callable[[int], Loss],
    n_positives: int,
    steps: Sequence[int],
    *,
    training: TwinTraining | None = None,
    repeats: int = 5,
    seed: int = 0,
) -> list[Stability]:
    """ε⁺ and ε⁻ after each of ``steps`` steps of training on ``n_positives`` positives.

    For each of ``repeats`` data sets S, one model is trained on S and ``training.twins`` each on S
    with one random positive, or negative, drawn anew; all start at the same weights and see the
    same places of the data set in the same order. They are trained side by side, as the rows of
    one batch of lists: ``factory(models)`` makes a loss for ``models`` lists, which is called with
    scores and targets (models, batch) and must be the mean over rows of a loss of each row alone
    (with a memory: one for each row; no statistic of the whole batch, such as
    ``score_scale="auto"``). A fresh loss is made for every data set.
    """
    training = TwinTraining() if training is None else training
    require_count("n_positives", n_positives)
    require_count("repeats", repeats)
    if not steps or min(steps) < 1:
        raise ValueError(f"steps must be one or more numbers of steps >= 1, got {steps!r}")
    looks = sorted(set(steps))
    runs = [_run(factory, n_positives, looks, training, seed + r) for r in range(repeats)]
    by_look = torch.stack(runs)  # (repeats, looks, 4)
    return [
        Stability(n_positives, look, *(mean_of(by_look[:, k, j]) for j in range(4)))
        for k, look in enumerate(looks)
    ]


def _run(
    factory: Callable[[int], Loss], n_positives: int, looks: list[int], t: TwinTraining, seed: int
) -> Tensor:
    """Distances after every look, (looks, 4): ε⁺, ε⁻, and both relative."""
    generator = torch.Generator().manual_seed(seed)
    n_negatives = n_positives * t.negatives_per_positive
    data = torch.cat([_cloud(n_positives, 1, t, generator), _cloud(n_negatives, -1, t, generator)])
    replaced = torch.cat(
        [
            torch.tensor([-1]),  # the first model sees S itself
            torch.randint(n_positives, (t.twins,), generator=generator),
            torch.randint(n_positives, n_positives + n_negatives, (t.twins,), generator=generator),
        ]
    )
    models = len(replaced)
    fresh = torch.cat(
        [
            torch.zeros(1, t.width),
            _cloud(t.twins, 1, t, generator),
            _cloud(t.twins, -1, t, generator),
        ]
    )
    start = [p.expand(models, *p.shape).clone() for p in _start(t, generator)]
    weights = [p.clone().requires_grad_() for p in start]
    optimizer = torch.optim.SGD(weights, lr=t.learning_rate)
    loss = factory(models)
    target = torch.arange(t.batch_positives + t.batch_negatives) < t.batch_positives
    target = target.expand(models, -1)
    found = []
    for step in range(1, looks[-1] + 1):
        places = torch.cat(
            [
                torch.randint(n_positives, (t.batch_positives,), generator=generator),
                torch.randint(
                    n_positives,
                    n_positives + n_negatives,
                    (t.batch_negatives,),
                    generator=generator,
                ),
            ]
        )
        is_new = (places == replaced.unsqueeze(1)).unsqueeze(-1)
        features = torch.where(is_new, fresh.unsqueeze(1), data[places])
        optimizer.zero_grad()
        # The loss is a mean over the models: times their number, each has its own gradient.
        (models * loss(_scores(features, weights), target)).backward()
        optimizer.step()
        if step in looks:
            found.append(_distances(weights, start, t.twins))
    return torch.stack(found)


def _cloud(n: int, sign: int, t: TwinTraining, generator: torch.Generator) -> Tensor:
    center = sign * t.shift / 2 / math.sqrt(t.width)
    return torch.randn(n, t.width, generator=generator) + center


def _weights(t: TwinTraining, generator: torch.Generator) -> list[Tensor]:
    if t.hidden is None:
        return [torch.randn(t.width, generator=generator) / math.sqrt(t.width), torch.zeros(1)]
    first = torch.randn(t.width, t.hidden, generator=generator) / math.sqrt(t.width)
    last = torch.randn(t.hidden, generator=generator) / math.sqrt(t.hidden)
    return [first, torch.zeros(t.hidden), last, torch.zeros(1)]


def _start(t: TwinTraining, generator: torch.Generator) -> list[Tensor]:
    """Weights after a few steps of cross-entropy on a data set of their own."""
    weights = [p.unsqueeze(0).requires_grad_() for p in _weights(t, generator)]
    optimizer = torch.optim.SGD(weights, lr=0.5)
    data = torch.cat([_cloud(100, 1, t, generator), _cloud(100, -1, t, generator)]).unsqueeze(0)
    target = (torch.arange(200) < 100).float().unsqueeze(0)
    for _ in range(t.warm_up):
        optimizer.zero_grad()
        binary_cross_entropy_with_logits(_scores(data, weights), target).backward()
        optimizer.step()
    return [p.detach().squeeze(0) for p in weights]


def _scores(features: Tensor, weights: list[Tensor]) -> Tensor:
    """Scores (models, batch) of features (models, batch, width), each model with its weights."""
    *hidden, last, bias = weights
    if hidden:
        features = torch.tanh(torch.baddbmm(hidden[1].unsqueeze(1), features, hidden[0]))
    return torch.einsum("mbw,mw->mb", features, last) + bias


@torch.no_grad()
def _distances(weights: list[Tensor], start: list[Tensor], twins: int) -> Tensor:
    flat, origin = (
        torch.cat([p.flatten(1) for p in ps], dim=1).double() for ps in (weights, start)
    )
    away = (flat[1:] - flat[0]).norm(dim=1)
    way = (flat[0] - origin[0]).norm()
    positive, negative = away[:twins].mean(), away[twins:].mean()
    return torch.stack([positive, negative, positive / way, negative / way])
