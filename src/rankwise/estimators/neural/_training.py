"""The network of a neural ranker, rows as it takes them, and its training by epochs."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rankwise.baselines.pointwise import PointwiseObjective
from rankwise.boosting.objectives import require_own_objective
from rankwise.distributed import AcrossProcesses
from rankwise.estimators._classes import even_batches
from rankwise.estimators.data import Floats, Matrix, Training, Vector, dense
from rankwise.estimators.limits import part_of_time, time_is_up
from rankwise.estimators.linear._search import moments
from rankwise.estimators.names import entry_of, is_log_loss, objective_name
from rankwise.estimators.neural._classes import ClassesObjective
from rankwise.estimators.processes import average_gradients, from_first, own_rows, world_size
from rankwise.naming.lookup import objective as named_objective
from rankwise.naming.lookup import signature_of_objective
from rankwise.naming.signatures import EMPTY
from rankwise.objectives import Objective
from rankwise.samplers import BalancedBatches, ListBatches

if TYPE_CHECKING:
    from rankwise.estimators.neural._ranker import NeuralRanker


class Network(nn.Module):
    """An embedding for every column of categories, then layers; one score per row, or several.

    Row 0 of an embedding is for categories that are missing or unknown; it starts at zero, which
    is the mean of the rows.
    """

    def __init__(
        self, inputs: int, sizes: Sequence[int], hidden: Sequence[int], outputs: int = 1
    ) -> None:
        super().__init__()
        widths = [min(32, 1 + size // 2) for size in sizes]
        self.embeddings = nn.ModuleList(
            nn.Embedding(size + 1, width) for size, width in zip(sizes, widths, strict=True)
        )
        layers: list[nn.Module] = []
        width = inputs + sum(widths)
        for units in hidden:
            layers += [nn.Linear(width, units), nn.ReLU()]
            width = units
        layers.append(nn.Linear(width, outputs))
        self.layers = nn.Sequential(*layers)
        with torch.no_grad():
            for embedding in self.embeddings:
                assert isinstance(embedding, nn.Embedding)
                embedding.weight[0] = 0

    def forward(self, numbers: Tensor, codes: Tensor) -> Tensor:
        """Return the scores, (rows,), or logits (rows, outputs)."""
        parts = [embedding(codes[:, i]) for i, embedding in enumerate(self.embeddings)]
        scores: Tensor = self.layers(torch.cat([numbers, *parts], dim=1))
        return scores.squeeze(1) if scores.shape[1] == 1 else scores


@dataclass(frozen=True)
class Encoding:
    """Standardized numbers, indicators of missing values, and category numbers.

    A missing number becomes the mean, and a column that had missing ones in training gets a second
    one, 1 where it is missing. Category c becomes c + 1; 0 is for missing and unknown ones.
    """

    numbers: NDArray[np.int64]  # places of the numeric columns
    mean: Vector
    spread: Vector
    gaps: NDArray[np.int64]  # places of the numeric columns that had missing values
    words: NDArray[np.int64]  # places of the columns of categories
    sizes: NDArray[np.int64]  # number of categories of each

    @classmethod
    def learn(
        cls, rows: Matrix, weight: Vector | None, categories: Mapping[int, NDArray[np.str_]]
    ) -> Encoding:
        """Learn the encoding of training rows, with the categories of some columns."""
        words = np.array(sorted(categories), dtype=np.int64)
        numbers = np.setdiff1d(np.arange(rows.shape[1]), words)
        mean, spread, missing = moments(rows, weight)
        sizes = np.array([len(categories[place]) for place in words], dtype=np.int64)
        gaps = numbers[missing[numbers]]
        return cls(numbers, mean[numbers], spread[numbers], gaps, words, sizes)

    @property
    def inputs(self) -> int:
        """Numbers that the network gets for a row, without the categories."""
        return len(self.numbers) + len(self.gaps)

    def __call__(self, rows: Matrix, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Return numbers (rows, inputs) and category numbers (rows, columns of categories)."""
        given = dense(rows)
        values = (given[:, self.numbers] - self.mean) / self.spread
        numbers = np.concatenate([np.nan_to_num(values, nan=0.0), np.isnan(given[:, self.gaps])], 1)
        codes = np.nan_to_num(given[:, self.words] + 1, nan=0.0).astype(np.int64)
        return torch.from_numpy(numbers).to(dtype), torch.from_numpy(codes)


Rows: TypeAlias = NDArray[np.int64]
Forward: TypeAlias = Callable[[Rows], Tensor]  # scores of training rows, by number, with a graph


def train_network(
    network: Network,
    data: Training,
    options: NeuralRanker,
    *,
    forward: Forward,
    held_out_scores: Callable[[], Floats],
    progress: Callable[[int, float], None],
) -> list[float]:
    """Train in place to the weights of the best epoch; return the metric of every epoch.

    The first epochs are of cross-entropy, the others of the objective. Patience counts only the
    latter, also where the objective is cross-entropy itself, so that both train alike.
    Of epochs of equal value the later one is best. Every epoch is saved in ``data.checkpoint``, if
    there is one, and the epochs in it are not trained again. Where the time is up an epoch ends
    early, and its stage with it; both stages have half of the time. Processes that share the fit
    (:func:`~rankwise.estimators.processes.shared_fit`) each have a part of every batch.
    """
    warm = min(options.warm_start_epochs, options.epochs)
    both = [("log_loss", warm), (options._objective_name, options.epochs - warm)]
    # Of log-loss there is one stage: its optimizer does not begin again.
    stages = (
        [(options._objective_name, options.epochs)]
        if is_log_loss(options._objective_name)
        else both
    )
    history: list[float] = []
    best, kept, since = -math.inf, copy.deepcopy(network.state_dict()), 0
    checkpoint, world = data.checkpoint, world_size()
    before = from_first(lambda: None if checkpoint is None else checkpoint.load()) or {}
    if before:
        history, best, kept, since = (before[n] for n in ("history", "best", "kept", "since"))
    for stage, (name, epochs) in enumerate(stages):
        if stage < before.get("stage", 0):
            continue
        objective = objective_for(name, data).to(options.device)
        parameters = [*network.parameters(), *objective.parameters()]
        optimizer = torch.optim.AdamW(
            parameters, options.learning_rate, weight_decay=options.weight_decay
        )
        parts: dict[str, nn.Module | torch.optim.Optimizer]
        parts = {"network": network, "objective": objective, "optimizer": optimizer}
        done = 0
        if stage == before.get("stage"):
            for part, module in parts.items():
                module.load_state_dict(before[part])
            done = before["done"]
        joined = _joined(objective)
        positives = None if options.positives is None else world * options.positives
        drawn = epoch_batches(
            data, objective, world * options.batch_size, positives, first=stage and warm
        )
        batches = islice(drawn, done, None)
        with part_of_time(len(stages) - stage):
            for epoch in range(done, epochs):
                if since >= options.patience:
                    break
                late = False
                for rows in map(own_rows, next(batches)):
                    optimizer.zero_grad()
                    _loss(joined, data, rows, forward(rows)).backward()
                    average_gradients(parameters)
                    optimizer.step()
                    if late := time_is_up():
                        break
                value = data.evaluate(held_out_scores())
                history.append(value)
                progress(len(history), value)
                since = 0 if value > best or len(history) <= warm else since + 1
                if not value < best:  # also where there is no value, as in lists of one class
                    best, kept = value, copy.deepcopy(network.state_dict())
                if late:
                    break  # and no checkpoint of half an epoch
                if checkpoint is not None:
                    states = {part: module.state_dict() for part, module in parts.items()}
                    reached = {"history": history, "best": best, "kept": kept, "since": since}
                    reached |= {"stage": stage, "done": epoch + 1}
                    checkpoint.save({**states, **reached})
    network.load_state_dict(kept)
    return history


def objective_for(name: str, data: Training) -> Objective | ClassesObjective:
    """Make the objective with what it needs to know of the training rows.

    Lists come whole, with their own share of positives: they get a prior only where it is required.
    """
    train = data.train
    if data.shares is not None:
        return ClassesObjective(name, data.shares, len(train))
    lists = None if train.groups is None else len(train.list_sizes)
    must = signature_of_objective(entry_of(name)).defaults.get("prior") is EMPTY
    prior = data.prior if lists is None or must else None
    module = named_objective(
        objective_name(name), prior=prior, num_items=len(train), num_lists=lists
    )
    if entry_of(name).made_by is not None:
        require_own_objective(name, module)
    if not isinstance(module, Objective):
        raise ValueError(f"objective {name!r} is not one of scores and targets; use 'ap'")
    return module


def _joined(
    objective: Objective | ClassesObjective,
) -> Objective | ClassesObjective | AcrossProcesses:
    """Return the objective of the joined batch, where several processes share the fit."""
    if world_size() == 1 or isinstance(objective, ClassesObjective):
        return objective
    return AcrossProcesses(objective)


def _loss(
    objective: Objective | ClassesObjective | AcrossProcesses,
    data: Training,
    rows: Rows,
    scores: Tensor,
) -> Tensor:
    train, device = data.train, scores.device
    target, weight, groups = (
        None if a is None else torch.from_numpy(a[rows]).to(device)
        for a in (train.target, train.weight, train.groups)
    )
    assert target is not None
    item_ids = torch.from_numpy(rows).to(device)
    if isinstance(objective, ClassesObjective):
        of_classes: Tensor = objective(scores, target.long(), weight, item_ids)
        return of_classes
    list_ids = None if groups is None else torch.unique(groups)
    inner = objective.objective if isinstance(objective, AcrossProcesses) else objective
    if isinstance(inner, PointwiseObjective):  # knows neither lists nor degrees
        target = torch.from_numpy(train.positive[rows]).to(target)
        groups = None
    loss: Tensor = objective(
        scores, target, weight=weight, groups=groups, list_ids=list_ids, item_ids=item_ids
    )
    return loss


def epoch_batches(
    data: Training,
    objective: Objective | ClassesObjective,
    batch_size: int,
    positives: int | None,
    *,
    first: int = 0,
) -> Iterator[list[Rows]]:
    """Yield the batches of one epoch after another, from the ``first`` on, without end.

    The rows as they come for a loss of single items; whole lists where there are lists; about the
    shares of the classes where there are more than two, which every one of them is ranked by; else
    batches with a fixed number of positives, by default an eighth of the batch or their own share,
    whichever is more. Of all rows or, in partial epochs, of those of the epoch.
    """
    train = data.train
    if data.shares is not None:
        rng = np.random.default_rng(data.seed)
        while True:
            yield even_batches(train.target, batch_size, rng)
    if isinstance(objective, PointwiseObjective):
        rng = np.random.default_rng(data.seed)
        for epoch in count(first):
            some = data.epoch_rows(epoch)
            order = rng.permutation(len(train) if some is None else some)
            yield np.split(order, range(batch_size, len(order), batch_size))
    whole = {"rank": 0, "world_size": 1}  # all processes draw the joined batch, and split it
    if train.groups is not None:
        sizes = train.list_sizes
        lists = int(np.clip(batch_size // sizes.mean(), 1, len(sizes)))
        sampler = ListBatches(train.groups, lists, seed=data.seed, **whole)
        while True:
            yield [np.asarray(batch) for batch in sampler]
    wanted = max(batch_size // 8, round(batch_size * data.prior), 1)
    balanced: BalancedBatches | None = None
    for epoch in count(first):
        some = data.epoch_rows(epoch)
        if balanced is None or some is not None:
            positive = (train.target if some is None else train.target[some]) > 0
            above = int(positive.sum())
            taken = min(wanted if positives is None else positives, above)
            rest = min(max(1, batch_size - taken), len(positive) - above)
            seed = data.seed if some is None else data.seed + epoch
            balanced = BalancedBatches(positive, taken, rest, seed=seed, **whole)
        drawn = (np.asarray(batch) for batch in balanced)
        yield [batch if some is None else some[batch] for batch in drawn]
