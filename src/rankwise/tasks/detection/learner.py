"""One step of training: network, loss, optimiser."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankwise.tasks.detection.batches import Batch
from rankwise.tasks.detection.classification import ClassificationLoss
from rankwise.tasks.detection.losses import DetectionLoss, DetectionLosses
from rankwise.tasks.detection.network import Detector, make_detector
from rankwise.tasks.detection.settings import Objective, Settings, UsageError
from rankwise.tasks.retrieval.optimisers import make_optimiser, rate_at

__all__ = ["Learner", "make_loss", "new_detector"]


def make_loss(chosen: Objective, classes: int) -> DetectionLoss:
    """The loss of the settings; what cannot be is an error of usage."""
    try:
        return DetectionLoss(
            chosen.name,
            pooled=chosen.pooled,
            classes=classes,
            box_weight=chosen.box_weight,
            bias_weight=chosen.bias_weight,
            bias_form="sum" if chosen.bias_form == "sum" else "mean",
            classification_weight=chosen.classification_weight,
        )
    except (ValueError, RuntimeError) as error:
        raise UsageError(f"objective: {error}") from None


def new_detector(settings: Settings, classes: int) -> Detector:
    """The detector before training; leaves torch's own generator seeded."""
    ranked = make_loss(settings.objective, classes).ranked
    feels_shift = isinstance(ranked, ClassificationLoss) and ranked.feels_shift
    torch.manual_seed(settings.training.seed)
    return make_detector(
        settings.network, classes, rare=feels_shift or settings.objective.warm_start > 0
    )


class Learner:
    """Network, loss and optimiser, and the step that moves them."""

    def __init__(
        self, settings: Settings, classes: int, *, device: torch.device | None = None
    ) -> None:
        self.settings = settings
        self.device = torch.device("cpu") if device is None else device
        self.network = new_detector(settings, classes).to(self.device)
        self.loss = make_loss(settings.objective, classes).to(self.device)
        self.warm: DetectionLoss | None = None
        if settings.objective.warm_start:
            self.warm = DetectionLoss("focal", box_weight=settings.objective.box_weight)
        parameters = [*self.network.parameters(), *self.loss.parameters()]
        self.optimiser = make_optimiser(parameters, settings.optimiser)
        self.done = 0  # steps

    def parts(self) -> dict[str, nn.Module | torch.optim.Optimizer]:
        """Everything with a state."""
        return {"network": self.network, "loss": self.loss, "optimiser": self.optimiser}

    def rate(self) -> float:
        """The learning rate of the next step."""
        rate, warm_up = rate_at(self.settings.optimiser, self.done), self.settings.training.warm_up
        return rate * min(1.0, (self.done + 1) / (warm_up + 1))

    def losses(self, batch: Batch) -> DetectionLosses:
        """The loss of a batch, by the parameters as they are."""
        half = self.settings.training.precision == "bfloat16"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=half):
            given = batch.pictures
            dense = self.network(given.to(self.device) if isinstance(given, Tensor) else given)
        loss = self.loss
        if self.warm is not None and self.done < self.settings.objective.warm_start:
            loss = self.warm
        found: DetectionLosses = loss(dense.logits, dense.regression, dense.anchors, batch.targets)
        return found

    def step(self, batch: Batch) -> float:
        """Take one step and give the loss before it."""
        self.network.train()
        self.loss.train()
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        self.optimiser.zero_grad()
        found = self.losses(batch)
        found.total.backward()
        if self.settings.training.clip is not None:
            nn.utils.clip_grad_norm_(self._learning(), self.settings.training.clip)
        self.optimiser.step()
        self.done += 1
        return found.total.item()

    def _learning(self) -> list[Tensor]:
        return [p for group in self.optimiser.param_groups for p in group["params"]]
