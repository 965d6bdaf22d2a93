"""Training of a recommender: a softmax warm start, the objective, the best epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from rankwise.errors import UsageError
from rankwise.naming import objective
from rankwise.objectives import Objective
from rankwise.tasks.recommendation.evaluation import evaluate, measure_of
from rankwise.tasks.recommendation.network import Batch, Batches, Recommender
from rankwise.tasks.recommendation.problem import Pairs, Problem
from rankwise.tasks.recommendation.settings import Settings
from rankwise.training import Callback, Moment, Place, Record, RunFolder, Stage, Step, Task, fit

# Names that rankwise.objective does not have: what recommenders call these two.
_NAMES = {
    "softmax": "listnet(target_distribution=uniform)",
    "bpr": "auc(surrogate=logistic)",  # Rendle et al. 2009
}


def by_interaction(objective: str, lists: str) -> bool:
    """Whether a list is one positive of a user, rather than all of them."""
    return objective in _NAMES if lists == "auto" else lists == "interaction"


def warm_starts(settings: Settings) -> bool:
    """Whether softmax comes first: metrics start flat, where no item is yet in the first ranks."""
    return settings.warm_start > 0 and settings.objective not in _NAMES


def loss_of(name: str, positives: Pairs) -> Objective:
    """The objective for these positives to be learned from.

    Users are the lists that it may remember, positive pairs the items.
    """
    written = _NAMES.get(name, name)
    users, pairs, items = positives.n_users, len(positives), positives.n_items
    try:
        try:
            made = objective(written, num_items=max(1, pairs), num_lists=users)
        except ValueError:  # maybe for want of the prior, which for others is that of each list
            prior = min(max(pairs / (users * items), 1e-9), 0.5)
            made = objective(written, num_items=max(1, pairs), num_lists=users, prior=prior)
    except ValueError as error:
        unknown = str(error).startswith("no objective")
        hint = f"; there are also {' and '.join(_NAMES)}" if unknown else ""
        raise UsageError(f"{error}{hint}") from None
    if not isinstance(made, Objective):
        raise UsageError(f"objective {name!r} is not one of lists of scores")
    # One small list: an objective of classes or of embeddings cannot rank it.
    scores, ids = torch.tensor([[0.3, -0.2, 0.1, 0.0]]), torch.zeros(1, 4, dtype=torch.long)
    target, weight = (scores > 0.2).long(), torch.ones_like(scores)
    try:
        made.eval()(scores, target, weight=weight, list_ids=ids[:, 0], item_ids=ids)
    except (ValueError, TypeError, RuntimeError, IndexError) as error:
        why = " ".join(str(error).split())
        raise UsageError(f"objective {name!r} does not rank lists of scores: {why}") from None
    return made.train()


@dataclass(frozen=True)
class Trained:
    """The network of the best epoch, and one row for every epoch."""

    network: Recommender
    history: list[dict[str, float]]
    best: int  # epoch; 0: the start, where no epoch was as good
    start: float = math.nan  # the metric on validation before training

    @property
    def warm(self) -> int:
        """Epochs of the warm start."""
        return sum(row["warm_start"] == 1 for row in self.history)


def new_network(problem: Problem, settings: Settings) -> Recommender:
    """The network before training; leaves torch's own generator seeded."""
    torch.manual_seed(settings.seed)
    sizes = len(problem.users), len(problem.items)
    return Recommender(*sizes, settings, problem.user_features, problem.item_features)


def train(
    problem: Problem,
    settings: Settings,
    out: Path | RunFolder | None = None,
    *,
    resume: bool = False,
    on_step: Callable[[Step], None] = lambda step: None,
) -> Trained:
    """Train from the start, or with ``resume`` from the last checkpoint in ``out``, if any.

    A resumed run ends with the same bits as one that was never stopped. With ``out`` every epoch
    leaves a checkpoint and ``metrics.csv`` there. The caller's random numbers are not touched.
    """
    task, fitted = fit(
        lambda place: RecommendTask(problem, settings, place),
        out,
        "recommend",
        resume=resume,
        callbacks=[Callback(on_step=on_step)],
    )
    return Trained(task.network, fitted.history, fitted.best_row, fitted.start)


class RecommendTask(Task[Batch]):
    """Lists of positives and negatives, drawn by torch's own generator.

    Where the objective has a warm start, softmax is the first of two stages.
    """

    network: Recommender
    loss: Objective
    counts_epochs = True
    measures_start = True

    def __init__(self, problem: Problem, settings: Settings, place: Place | None = None) -> None:
        self.settings, self.measure = settings, measure_of(settings.metric)
        self.monitor = settings.metric
        self.positives = problem.pairs((0,))
        self.seen, self.wanted = problem.pairs((0,), positive=False), problem.pairs((1,))
        name = settings.objective
        objective = loss_of(name, self.positives)
        plan = [(name, settings.epochs, by_interaction(name, settings.lists))]
        if warm_starts(settings):
            plan.insert(0, ("softmax", settings.warm_start, True))
        self.names = [name for name, _, _ in plan]
        self.samplers = [Batches(self.positives, settings, single=each) for _, _, each in plan]
        super().__init__(
            new_network(problem, settings),
            objective,
            [
                Stage(epochs * sampler.steps, sampler.steps, settings.patience)
                for (_, epochs, _), sampler in zip(plan, self.samplers, strict=True)
            ],
            record=Record(settings.model_dump(), problem.fingerprint(), settings.batch),
            place=place,
        )

    def begin(self, stage: int) -> None:
        self.stage = stage
        self.loss = loss_of(self.names[stage], self.positives)

    def make_optimizer(self) -> torch.optim.Optimizer:
        learned = [*self.network.parameters(), *self.loss.parameters()]
        return torch.optim.AdamW(learned, self.rate(0), weight_decay=self.settings.weight_decay)

    def rate(self, step: int) -> float:
        return self.settings.learning_rate / (10 if self.stage else 1)

    def batches(self, step: int) -> Iterator[Batch]:
        while True:
            yield from self.samplers[self.stage].epoch()

    def step_loss(self, batch: Batch, moment: Moment) -> Tensor:
        return batch.loss(self.network, self.loss)

    def validate(self) -> dict[str, float]:
        found = evaluate(self.network.scores(), self.wanted, self.seen, [self.measure])
        warm = float(len(self.names) > 1 and self.stage == 0)
        return {"warm_start": warm, self.monitor: found.means()[str(self.measure)].value}
