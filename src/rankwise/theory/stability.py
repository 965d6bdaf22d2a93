"""Model stability: the change of a trained model when one example is replaced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from rankwise.checks import require_count, require_each
from rankwise.objectives import Objective
from rankwise.theory.differences import Loss
from rankwise.theory.summary import Mean, mean_of
from rankwise.theory.twins import TwinTraining, clouds, initial_weights, scores_of


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
        memory_positive, memory_negative: The same of the memory, ‖v − v⁽ⁱ⁾‖₂, the second part of
            the model in Lemma 1 of SOPRC; None for a loss without a memory.

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
    memory_positive: Mean | None = None
    memory_negative: Mean | None = None


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
            alone (no statistic of the whole batch, such as ``score_scale="auto"``). An objective
            with a memory for each list gets the number of the model as ``list_ids``.
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
    require_each(require_count, n_positives=n_positives, repeats=repeats)
    if not steps or min(steps) < 1:
        raise ValueError(f"steps must be one or more numbers of steps >= 1, got {steps!r}")
    looks = sorted(set(steps))
    runs = [_run(factory, n_positives, looks, training, seed + r) for r in range(repeats)]
    by_look = torch.stack(runs)  # (repeats, looks, 4 or 6)
    return [
        Stability(n_positives, look, *map(mean_of, by_look[:, k].unbind(1)))
        for k, look in enumerate(looks)
    ]


def _run(
    factory: Callable[[int], Loss], n_positives: int, looks: list[int], t: TwinTraining, seed: int
) -> Tensor:
    """Return distances after some steps, (looks, 4): ε⁺, ε⁻, both relative; of a memory 2 more."""
    generator = torch.Generator().manual_seed(seed)
    n_negatives = n_positives * t.negatives_per_positive
    data = clouds(n_positives, n_negatives, t, generator)

    def places_of(positives: int, negatives: int) -> Tensor:
        above = torch.randint(n_positives, (positives,), generator=generator)
        below = torch.randint(n_positives, len(data), (negatives,), generator=generator)
        return torch.cat([above, below])

    # The first model sees S itself.
    replaced = torch.cat([torch.tensor([-1]), places_of(t.twins, t.twins)])
    models = len(replaced)
    fresh = torch.cat([torch.zeros(1, t.width), clouds(t.twins, t.twins, t, generator)])
    start = initial_weights(t, generator)
    weights = start.repeat(models, 1).requires_grad_()
    optimizer = torch.optim.SGD([weights], lr=t.learning_rate)
    loss, memory = _by_model(factory(models), models)
    target = torch.arange(t.batch_positives + t.batch_negatives) < t.batch_positives
    target = target.expand(models, -1)
    found = []
    for step in range(1, looks[-1] + 1):
        places = places_of(t.batch_positives, t.batch_negatives)
        is_new = (places == replaced.unsqueeze(1)).unsqueeze(-1)
        features = torch.where(is_new, fresh.unsqueeze(1), data[places])
        optimizer.zero_grad()
        # The loss is a mean over the models: times their number, each has its own gradient.
        (models * loss(scores_of(features, weights, t), target)).backward()
        optimizer.param_groups[0]["lr"] = t.rate(step)
        optimizer.step()
        if step in looks:
            found.append(_distances(weights, start, memory, t.twins))
    return torch.stack(found)


def _by_model(loss: Loss, models: int) -> tuple[Loss, list[Tensor]]:
    """Return a loss that knows its models apart, and the rows that its memory has for them."""
    if not isinstance(loss, Objective) or loss.memory_by != "list":
        return loss, []
    numbers = [b for b in loss.buffers() if b.is_floating_point() and b.dim() > 1]
    by_model = partial(loss, list_ids=torch.arange(models))
    return by_model, [b for b in numbers if len(b) == models]


@torch.no_grad()
def _distances(weights: Tensor, start: Tensor, memory: list[Tensor], twins: int) -> Tensor:
    positive, negative = _away([weights], twins)
    way = (weights[0].double() - start.double()).norm()
    found = [positive, negative, positive / way, negative / way]
    return torch.stack([*found, *_away(memory, twins)] if memory else found)


def _away(rows: list[Tensor], twins: int) -> tuple[Tensor, Tensor]:
    """Return the mean distance of the twins from the first model, for positives and negatives."""
    flat = torch.cat([each.flatten(1) for each in rows], dim=1).double()
    away = (flat[1:] - flat[0]).norm(dim=1)
    return away[:twins].mean(), away[twins:].mean()
