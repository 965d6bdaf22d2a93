"""Epochs over batches, until the metric of the rows held out no longer rises."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rankwise.baselines.itemwise import ItemwiseObjective
from rankwise.estimators.data import Floats, Training
from rankwise.estimators.names import entry_of, is_log_loss, made
from rankwise.estimators.neural.batches import epoch_batches
from rankwise.estimators.neural.network import Network
from rankwise.estimators.time_limit import part_of_time, time_is_up
from rankwise.naming.objectives import signature_of_objective
from rankwise.naming.options import EMPTY
from rankwise.objectives import Objective

__all__ = ["Plan", "train_network"]

Forward = Callable[[np.ndarray], Tensor]
"""The scores of training rows, by their numbers, with a graph."""


@dataclass(frozen=True)
class Plan:
    """How long, how fast, on what."""

    objective: str
    epochs: int
    warm_start_epochs: int
    batch_size: int
    positives: int | None
    learning_rate: float
    weight_decay: float
    patience: int
    device: torch.device


def train_network(
    network: Network,
    data: Training,
    plan: Plan,
    *,
    forward: Forward,
    held_out_scores: Callable[[], Floats],
    tell: Callable[[int, float], None],
) -> list[float]:
    """Train in place and end with the best epoch's weights; the metric of every epoch.

    The first epochs are of cross-entropy, the others of the objective. Only the latter run out of
    patience; so it is where the objective is cross-entropy, too, or that would have less of both.
    Epochs of equal value: the later. Every epoch is left in ``data.checkpoint``, if there is one,
    and those that are there are not trained again. Where the time is up an epoch ends early, and
    its stage with it; both stages have half of the time.
    """
    warm = min(plan.warm_start_epochs, plan.epochs)
    stages = [("log_loss", warm), (plan.objective, plan.epochs - warm)]
    if is_log_loss(plan.objective):  # one stage: its optimizer does not begin again
        stages = [(plan.objective, plan.epochs)]
    history: list[float] = []
    best, kept, since = -math.inf, copy.deepcopy(network.state_dict()), 0
    before = None if data.checkpoint is None else data.checkpoint.load()
    if before is not None:
        history, best, kept, since = (before[n] for n in ("history", "best", "kept", "since"))
    for stage, (name, epochs) in enumerate(stages):
        if before is not None and stage < before["stage"]:
            continue
        objective = objective_for(name, data).to(plan.device)
        parameters = [*network.parameters(), *objective.parameters()]
        optimizer = torch.optim.AdamW(
            parameters, plan.learning_rate, weight_decay=plan.weight_decay
        )
        batches = epoch_batches(data, objective, plan.batch_size, plan.positives)
        done = 0
        if before is not None and stage == before["stage"]:
            network.load_state_dict(before["network"])
            objective.load_state_dict(before["objective"])
            optimizer.load_state_dict(before["optimizer"])
            done = before["done"]
            for _ in range(done):
                next(batches)  # what was drawn for these epochs
        with part_of_time(len(stages) - stage):
            for epoch in range(done, epochs):
                if since >= plan.patience:
                    break
                late = _epoch(next(batches), optimizer, objective, data, forward)
                value = data.judge(held_out_scores())
                history.append(value)
                tell(len(history), value)
                since = 0 if value > best or len(history) <= warm else since + 1
                if not value < best:  # also where there is no value, as in lists of one class
                    best, kept = value, copy.deepcopy(network.state_dict())
                if late:
                    break  # and no checkpoint of half an epoch
                if data.checkpoint is not None:
                    data.checkpoint.save(
                        {
                            "network": network.state_dict(),
                            "objective": objective.state_dict(),
                            "optimizer": optimizer.state_dict(),
                            "history": history,
                            "best": best,
                            "kept": kept,
                            "since": since,
                            "stage": stage,
                            "done": epoch + 1,
                        }
                    )
    network.load_state_dict(kept)
    return history


def _epoch(
    batches: Iterable[np.ndarray],
    optimizer: torch.optim.Optimizer,
    objective: Objective,
    data: Training,
    forward: Forward,
) -> bool:
    """A step for every batch; True where the time was up before the last."""
    for rows in batches:
        optimizer.zero_grad()
        _loss(objective, data, rows, forward(rows)).backward()
        optimizer.step()
        if time_is_up():
            return True
    return False


def objective_for(name: str, data: Training) -> Objective:
    """The objective with what it wants to know of the training rows.

    Lists come whole, with their own share of positives: they get a prior only where one must be.
    """
    train = data.train
    lists = None if train.groups is None else len(train.list_sizes)
    must = signature_of_objective(entry_of(name)).defaults.get("prior") is EMPTY
    prior = data.prior if lists is None or must else None
    module = made(name, prior=prior, items=len(train), lists=lists)
    if not isinstance(module, Objective):
        raise ValueError(f"objective {name!r} is not one of scores and targets; use 'ap'")
    return module


def _loss(objective: Objective, data: Training, rows: np.ndarray, scores: Tensor) -> Tensor:
    train, device = data.train, scores.device
    target, weight, groups = (
        None if a is None else torch.from_numpy(a[rows]).to(device)
        for a in (train.target, train.weight, train.groups)
    )
    assert target is not None
    index = None
    if objective.index_kind == "item":
        index = torch.from_numpy(rows).to(device)
    elif objective.index_kind == "list" and groups is not None:
        index = torch.unique(groups)
    if isinstance(objective, ItemwiseObjective):  # knows neither lists nor degrees
        target, groups = (target > 0).to(target.dtype), None
    loss: Tensor = objective(scores, target, weight=weight, groups=groups, index=index)
    return loss
