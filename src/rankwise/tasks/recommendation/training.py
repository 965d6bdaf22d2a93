"""Training of a recommender: a softmax warm start, the objective, the best epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from rankwise.errors import UsageError
from rankwise.metrics import mean_over_lists
from rankwise.metrics.gather import gather_rows
from rankwise.naming import objective
from rankwise.objectives import Objective
from rankwise.report import write_csv
from rankwise.tasks.recommendation.batches import AnyBatch, Batches, Negatives
from rankwise.tasks.recommendation.blocks import by_blocks
from rankwise.tasks.recommendation.evaluation import evaluate, measure_of
from rankwise.tasks.recommendation.model import ClosedForm, Model
from rankwise.tasks.recommendation.models import MODELS
from rankwise.tasks.recommendation.network import Recommender
from rankwise.tasks.recommendation.outcome import Outcome, Trained
from rankwise.tasks.recommendation.problem import Pairs, Problem
from rankwise.tasks.recommendation.search import require_kind, search
from rankwise.tasks.recommendation.settings import Settings
from rankwise.tasks.recommendation.spectral import start_at_singular_vectors
from rankwise.training import (
    Callback,
    Devices,
    Moment,
    Place,
    Record,
    RowAdamW,
    RunFolder,
    Stage,
    Step,
    Task,
    cosine_rate,
    fit,
)
from rankwise.training import open_folder as opened

# Names with a meaning of their own here. All start from nothing, and each positive has a term of
# its own: against the whole catalog a list of one positive and that of its user are the same loss.
_NAMES = {
    "ndcg": "ndcg(surrogate=exponential, competitors=negatives)",
    "softmax": "listnet(target_distribution=uniform, competitors=negatives)",
    "bpr": "auc(surrogate=logistic)",  # Rendle et al. 2009
}
TEMPERATURES = (0.1, 0.15, 0.2, 0.25, 0.3)


def by_interaction(name: str, settings: Settings, *, whole: bool, sums: bool) -> bool:
    """Whether a list is one positive of a user, rather than all of them.

    Against the whole catalog all positives of a user share the scores of its items. Where the
    number of sampled negatives is left open they share those, too, if the objective only ``sums``
    them up: many then cost less than a few for each positive.
    """
    if settings.lists != "auto":
        return settings.lists == "interaction"
    return name in _NAMES and not whole and not (sums and settings.negatives == "auto")


def warm_starts(settings: Settings) -> bool:
    """Whether softmax comes first: metrics start flat, where no item is yet in the first ranks."""
    return settings.warm_start > 0 and settings.objective not in _NAMES


def loss_of(name: str, positives: Pairs) -> Objective:
    """The objective for these positives to be learned from, one value for each list.

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
        own = " and ".join(each for each in _NAMES if each != "ndcg")
        hint = f"; there are also {own}" if unknown else ""
        raise UsageError(f"{error}{hint}") from None
    if not isinstance(made, Objective):
        raise UsageError(f"objective {name!r} is not one of lists of scores")
    made.reduction = "none"
    # One small list: an objective of classes or of embeddings cannot rank it.
    scores, ids = torch.tensor([[0.3, -0.2, 0.1, 0.0]]), torch.zeros(1, 4, dtype=torch.long)
    target, weight = (scores > 0.2).long(), torch.ones_like(scores)
    try:
        made.eval()(scores, target, weight=weight, list_ids=ids[:, 0], item_ids=ids)
    except (ValueError, TypeError, RuntimeError, IndexError) as error:
        why = " ".join(str(error).split())
        raise UsageError(f"objective {name!r} does not rank lists of scores: {why}") from None
    return made.train()


def new_model(problem: Problem, settings: Settings, *, refit: bool = False) -> Model:
    """The model before training; leaves torch's own generator seeded."""
    torch.manual_seed(settings.seed)
    learned = problem.learned(refit=refit)
    model = MODELS[settings.model].new(problem, settings, learned)
    if settings.start == "spectral" and isinstance(model, Recommender):
        start_at_singular_vectors(model, learned, settings.seed)
    return model


def train(
    problem: Problem,
    settings: Settings,
    out: Path | RunFolder | None = None,
    *,
    resume: bool = False,
    on_step: Callable[[Step], None] = lambda step: None,
    on_training: Callable[[str], None] = lambda words: None,
) -> Outcome:
    """Train from the start, or with ``resume`` from the last checkpoint in ``out``, if any.

    The temperature of cosines is chosen on validation unless it is given, by whole trainings:
    0.2 and its neighbors in :data:`TEMPERATURES`, upwards or else downwards while the metric gets
    better by more than the standard error of the difference (:func:`_is_better`).
    Where the settings say so, the model is then trained again, on the training and the validation
    part for the number of steps that was best. A model in closed form is fitted instead, for every
    combination of hyperparameters that the settings leave open (:func:`search`).

    A resumed run ends with the same bits as one that was never stopped. With ``out`` every epoch
    leaves a checkpoint and ``metrics.csv`` there. The caller's random numbers are not touched.
    """
    tried: dict[float, Trained] = {}
    refit = problem.published if settings.refit is None else settings.refit
    own = out if Devices().place.is_first else None
    with opened(own, "recommend", resume=resume) as folder:
        model = MODELS[settings.model]
        if folder is not None and resume:
            require_kind(folder, model, settings)
        if issubclass(model, ClosedForm):
            ways = {"refit": refit, "resume": resume}
            return search(model, problem, settings, folder, **ways, on_training=on_training)

        def trained(name: str, temperature: float, *lengths: int) -> Trained:
            chosen = settings.replace(temperature=temperature)
            task, fitted = fit(
                lambda place: RecommendTask(problem, chosen, place, settings, lengths),
                folder if folder is None or not name else folder.path / name,
                "recommend",
                resume=resume,
                callbacks=[Callback(on_step=on_step)],
            )
            return Trained(task.network, fitted.history, fitted.best_row, fitted.start, chosen)

        def at(place: int) -> Trained:
            t = TEMPERATURES[place]
            if t not in tried:
                # The first training has the folder of the run: other settings cannot resume it.
                tried[t] = found = trained(f"temperature-{t:g}" if tried else "", t)
                said = f"{found.value:.4f} on validation, {len(found.history)} epochs"
                on_training(f"temperature {t:g}: {settings.metric} {said}")
            return tried[t]

        if settings.temperature is None and settings.scores == "cosine":
            middle = place = len(TEMPERATURES) // 2
            is_better = partial(_is_better, problem)
            at(middle)
            while place + 1 < len(TEMPERATURES) and is_better(at(place + 1), at(place)):
                place += 1
            while 0 < place <= middle and is_better(at(place - 1), at(place)):
                place -= 1
            best = at(place)
        else:
            best = trained("", settings.temperature or 1.0)
        if folder is not None:
            write_csv(folder.path / "metrics.csv", best.history)
        lengths: list[int] = []
        if refit and best.best:
            lengths = stage_steps(best)
            on_training(f"training and validation part: a new training of {sum(lengths)} steps")
            again = trained("refit", best.network.temperature, *lengths)
            best = replace(best, network=again.network, refit_steps=sum(lengths))
    final = best.settings.replace(refit=bool(lengths))
    return replace(best, settings=final, tried={t: found.value for t, found in tried.items()})


def _is_better(problem: Problem, new: Trained, old: Trained) -> bool:
    """Whether a training is better on validation by more than a standard error.

    The error is that of the mean difference over the users. A smaller one is likely to be noise of
    the validation part, and a choice by noise is worse on the test part than none.
    """
    if math.isnan(new.value) or math.isnan(old.value):
        return math.isnan(old.value) and not math.isnan(new.value)
    if new.value <= old.value:
        return False
    settings = new.settings
    measure, seen = measure_of(settings.metric), problem.pairs((0,), positive=False)
    wanted = problem.validation(settings)
    new_values, old_values = (
        evaluate(found.network.scores(), wanted, seen, [measure]).values[str(measure)]
        for found in (new, old)
    )
    difference = mean_over_lists(new_values - old_values)
    return difference.mean > difference.standard_error


def stage_steps(trained: Trained) -> list[int]:
    """Steps of every stage up to the best epoch: a stage starts from the best one before."""
    steps, warm = [int(row["step"]) for row in trained.history], trained.warm
    if trained.best <= warm or not warm:
        return [steps[trained.best - 1]]
    values = [row[trained.settings.metric] for row in trained.history[:warm]]
    first = values.index(max(values)) if max(values) >= trained.start else -1
    return [steps[first] if first >= 0 else 0, steps[trained.best - 1] - steps[warm - 1]]


def require_shared(name: str, loss: Objective) -> None:
    """Raise where the lists of a step cannot be shared by several processes."""
    if not by_blocks(loss):
        raise UsageError(
            f"objective {name!r} trains in one process: it keeps something between batches; start "
            "it without torchrun, or use ndcg, softmax or bpr"
        )


class RecommendTask(Task[AnyBatch]):
    """Lists of positives and negatives, drawn by torch's own generator.

    Where the objective has a warm start, softmax is the first of two stages. Several processes draw
    the same lists for a step, and each has a share of them: a step is that of one process.
    """

    network: Recommender
    loss: Objective
    counts_epochs = True
    joins_processes = True

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        place: Place | None = None,
        asked: Settings | None = None,
        lengths: Sequence[int] = (),  # of a refit: the steps of each stage
    ) -> None:
        self.settings, self.measure = settings, measure_of(settings.metric)
        self.monitor, self.refits = settings.metric, bool(lengths)
        self.measures_start = not self.refits
        self.positives = problem.learned(refit=self.refits)
        self.seen = problem.pairs((0,), positive=False)
        self.wanted = problem.validation(settings)
        objective = loss_of(settings.objective, self.positives)
        plan = [(settings.objective, settings.epochs)]
        if warm_starts(settings):
            plan.insert(0, ("softmax", settings.warm_start))
        if self.refits:  # a stage of no steps is none
            plan = [stage for stage, steps in zip(plan, lengths, strict=False) if steps]
        self.names = [name for name, _ in plan]
        whole = Negatives(self.positives, settings).count == 0
        sums = [loss_of(name, self.positives).sums_negatives for name in self.names]
        by = [
            {"single": by_interaction(name, settings, whole=whole, sums=summed), "shared": summed}
            for name, summed in zip(self.names, sums, strict=True)
        ]
        self.samplers = [Batches(self.positives, settings, **lists) for lists in by]
        each = [sampler.steps for sampler in self.samplers]
        most = [epochs * steps for (_, epochs), steps in zip(plan, each, strict=True)]
        # A refit has more steps in an epoch: its schedule is that of the training it repeats.
        train = problem.learned(refit=False)
        first = [Batches(train, settings, **lists).steps for lists in by]
        self.falls = [epochs * steps for (_, epochs), steps in zip(plan, first, strict=True)]
        most = [steps for steps in lengths if steps] or most
        patience = None if self.refits else settings.patience
        stages = [Stage(*length, patience) for length in zip(most, each, strict=True)]
        known = {**(asked or settings).model_dump(), "lengths": list(lengths)}
        super().__init__(
            new_model(problem, settings, refit=self.refits),
            objective,
            stages,
            record=Record(known, problem.fingerprint(), settings.batch),
            place=place,
        )
        if self.place.world_size > 1:
            for name in self.names:
                require_shared(name, loss_of(name, self.positives))
        self.by_rows = self.network.update_by_rows(sampled=not whole)

    def begin(self, stage: int) -> None:
        self.stage = stage
        self.loss = loss_of(self.names[stage], self.positives)

    def make_optimizer(self) -> torch.optim.Optimizer:
        learned = [*self.network.parameters(), *self.loss.parameters()]
        kind = RowAdamW if self.by_rows else torch.optim.AdamW
        return kind(learned, self.rate(0), weight_decay=self.settings.weight_decay)

    def rate(self, step: int) -> float:
        after = warm_starts(self.settings) and self.names[self.stage] != "softmax"
        rate = self.settings.learning_rate / (10 if after else 1)
        if self.settings.schedule == "constant":
            return rate
        return cosine_rate(rate, step, self.falls[self.stage])

    def batches(self, step: int) -> Iterator[AnyBatch]:
        rank, processes = self.place.rank, self.place.world_size
        while True:
            for batch in self.samplers[self.stage].epoch():
                yield batch if processes == 1 else batch.share(rank, processes)

    def step_loss(self, batch: AnyBatch, moment: Moment) -> Tensor:
        loss, processes = batch.loss(self.network, self.loss), self.place.world_size
        if processes == 1:
            return loss
        # The weights of the lists are those of the step: the sum over the processes is its loss,
        # and the gradients are averaged.
        total = gather_rows(loss.detach().unsqueeze(0)).sum()
        return processes * loss + (total - processes * loss).detach()

    def validate(self) -> dict[str, float]:
        if self.refits:
            return {}
        rank, processes = self.place.rank, self.place.world_size
        wanted = self.wanted
        if processes > 1:
            wanted = wanted.only((wanted.counts > 0).nonzero().squeeze(1)[rank::processes])
        found = evaluate(self.network.scores(), wanted, self.seen, [self.measure])
        if processes > 1:
            found = found.joined()
        warm = float(warm_starts(self.settings) and self.stage == 0)
        return {"warm_start": warm, self.monitor: found.means()[str(self.measure)].value}
