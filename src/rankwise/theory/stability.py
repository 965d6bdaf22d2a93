"""Model stability: the change of a trained model when one example is replaced."""

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


@dataclass(frozen=True)
class TwinTraining:
    """Training of a small model on two Gaussian classes by plain SGD.

    Features of positives and negatives are N(±shift/2, 1) along a fixed direction. Batches are
    drawn with replacement.

    Args:
        negatives_per_positive: Negatives in the data set for each positive.
        width: Number of features.
        shift: Distance of the class means.
        hidden: Number of tanh units of one hidden layer; None for a linear model.
        batch_positives, batch_negatives: Examples of each class in a batch.
        learning_rate: Learning rate of SGD.
        warm_up: Steps of cross-entropy on other data before the models differ.
        twins: Replaced examples of each class in every data set.

    Example:
        >>> from rankwise.theory import TwinTraining
        >>> TwinTraining(hidden=16).width
        10
    """

    negatives_per_positive: int = 9
    width: int = 10
    shift: float = 2.0
    hidden: int | None = None
    batch_positives: int = 8
    batch_negatives: int = 24
    learning_rate: float = 0.01
    warm_up: int = 10
    twins: int = 8

    def __post_init__(self) -> None:
        counts = "negatives_per_positive width batch_positives batch_negatives twins"
        for name in counts.split():
            require_count(name, getattr(self, name))
        require_positive("learning_rate", self.learning_rate)
        if self.hidden is not None:
            require_count("hidden", self.hidden)


@dataclass(frozen=True)
class Stability:
    """Mean distance ‖A(S) − A(S⁽ⁱ⁾)‖₂ of the parameters when example i is replaced.

    Standard errors are over data sets.

    Attributes:
        n_positives: Positives in the data set.
        steps: Steps of training.
        positive, negative: ε⁺ (i a positive) and ε⁻ (i a negative).
        relative_positive, relative_negative: The same in units of the distance ‖A(S) − A₀‖₂ from
            the start of the training, since losses differ in the size of their gradients.

    Example:
        >>> from rankwise.objectives import PairwiseAUC
        >>> from rankwise.theory import TwinTraining, model_stability
        >>> training = TwinTraining(twins=2)
        >>> [found] = model_stability(lambda n: PairwiseAUC(), 20, [3], training=training)
        >>> found.steps, found.positive.n
        (3, 5)
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
    """Measure ε⁺ and ε⁻ after some steps of training.

    For each data set S, one model is trained on S and ``training.twins`` each on S with one random
    positive, or negative, replaced; all start at the same weights and use the same places of the
    data set in the same order. They are trained together, as the rows of one batch of lists.

    Args:
        factory: ``factory(models)`` makes a fresh loss for ``models`` lists. It is called with
            scores and targets (models, batch) and must be the mean over rows of a loss of each row
            alone (with a memory: one for each row; no statistic of the whole batch, such as
            ``score_scale="auto"``).
        n_positives: Positives in a data set.
        steps: Numbers of steps after which to measure.
        training: Settings of the training.
        repeats: Number of data sets.
        seed: Seed of the first data set.

    Returns:
        The stability after each number of steps.

    Example:
        >>> from rankwise.objectives import PairwiseAUC
        >>> from rankwise.theory import TwinTraining, model_stability
        >>> training = TwinTraining(twins=2)
        >>> found = model_stability(lambda n: PairwiseAUC(), 20, [2, 4], training=training)
        >>> [each.steps for each in found]
        [2, 4]

    Reference:
        SOPRC, Definition 1.
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
    """Return distances after some steps, (looks, 4): ε⁺, ε⁻, and both relative."""
    generator = torch.Generator().manual_seed(seed)
    n_negatives = n_positives * t.negatives_per_positive
    data = _clouds(n_positives, n_negatives, t, generator)

    def places_of(positives: int, negatives: int) -> Tensor:
        above = torch.randint(n_positives, (positives,), generator=generator)
        below = torch.randint(n_positives, len(data), (negatives,), generator=generator)
        return torch.cat([above, below])

    # The first model sees S itself.
    replaced = torch.cat([torch.tensor([-1]), places_of(t.twins, t.twins)])
    models = len(replaced)
    fresh = torch.cat([torch.zeros(1, t.width), _clouds(t.twins, t.twins, t, generator)])
    start = [p.expand(models, *p.shape).clone() for p in _start(t, generator)]
    weights = [p.clone().requires_grad_() for p in start]
    optimizer = torch.optim.SGD(weights, lr=t.learning_rate)
    loss = factory(models)
    target = torch.arange(t.batch_positives + t.batch_negatives) < t.batch_positives
    target = target.expand(models, -1)
    found = []
    for step in range(1, looks[-1] + 1):
        places = places_of(t.batch_positives, t.batch_negatives)
        is_new = (places == replaced.unsqueeze(1)).unsqueeze(-1)
        features = torch.where(is_new, fresh.unsqueeze(1), data[places])
        optimizer.zero_grad()
        # The loss is a mean over the models: times their number, each has its own gradient.
        (models * loss(_scores(features, weights), target)).backward()
        optimizer.step()
        if step in looks:
            found.append(_distances(weights, start, t.twins))
    return torch.stack(found)


def _clouds(positives: int, negatives: int, t: TwinTraining, generator: torch.Generator) -> Tensor:
    center = t.shift / 2 / math.sqrt(t.width)
    above = torch.randn(positives, t.width, generator=generator) + center
    return torch.cat([above, torch.randn(negatives, t.width, generator=generator) - center])


def _start(t: TwinTraining, generator: torch.Generator) -> list[Tensor]:
    """Return weights after a few steps of cross-entropy on other data."""
    shapes = [(t.width,)] if t.hidden is None else [(t.width, t.hidden), (t.hidden,)]
    weights = []
    for shape in shapes:
        weight = torch.randn(1, *shape, generator=generator) / math.sqrt(shape[0])
        bias = torch.zeros(1, *(shape[1:] or (1,)))
        weights += [weight.requires_grad_(), bias.requires_grad_()]
    optimizer = torch.optim.SGD(weights, lr=0.5)
    data = _clouds(100, 100, t, generator).unsqueeze(0)
    target = (torch.arange(200) < 100).float().unsqueeze(0)
    for _ in range(t.warm_up):
        optimizer.zero_grad()
        binary_cross_entropy_with_logits(_scores(data, weights), target).backward()
        optimizer.step()
    return [p.detach().squeeze(0) for p in weights]


def _scores(features: Tensor, weights: list[Tensor]) -> Tensor:
    """Return scores (models, batch) of features (models, batch, width), by model."""
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
