"""One step of training a classifier, whoever runs the loop around it."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from rankwise.data.images.labelled import LabelledImages
from rankwise.distributed import gather_with_gradient
from rankwise.memory import PreviousModel
from rankwise.tasks.classification.losses import ClassificationLoss
from rankwise.tasks.classification.network import Classifier, logits_for, make_classifier
from rankwise.tasks.classification.settings import Settings
from rankwise.tasks.classification.views import make_class_views
from rankwise.tasks.retrieval import learner as retrieval
from rankwise.tasks.retrieval.gradient_cache import Backward, cached_backward
from rankwise.tasks.retrieval.optimisers import make_optimiser
from rankwise.tasks.retrieval.pictures import Batch, Pictures, some_pixels

__all__ = ["Learner", "new_classifier"]


def new_classifier(images: LabelledImages, pictures: Pictures, settings: Settings) -> Classifier:
    """The network before training; leaves torch's own generator seeded."""
    torch.manual_seed(settings.training.seed)
    logits = logits_for(len(images.classes), multi_label=images.multi_label)
    network = make_classifier(settings, logits)
    if network.backbone.own_statistics:
        network.standardise(some_pixels(pictures))
    return network


class Learner(retrieval.Learner):
    """Network, loss and optimiser, and the step that moves them; retrieval's with logits.

    Everything random in a step follows from the seed, the number of the step and of the process.
    With several processes the batch is that of all of them together.
    """

    settings: Any
    loss: Any

    def __init__(
        self,
        images: LabelledImages,
        pictures: Pictures,
        settings: Settings,
        *,
        steps_per_epoch: int,
        device: torch.device | None = None,
        rank: int = 0,
    ) -> None:
        self.settings, self.rank, self.steps_per_epoch = settings, rank, steps_per_epoch
        self.device = torch.device("cpu") if device is None else device
        self.target = images.target.to(self.device)
        self.network = new_classifier(images, pictures, settings).to(self.device)
        self.loss = ClassificationLoss(
            settings.objective, images.target, len(images.classes), cosine=settings.cosine
        ).to(self.device)
        self.previous = PreviousModel(self.network) if settings.objective.previous else None
        parameters = [*self.network.parameters(), *self.loss.parameters()]
        self.optimiser = make_optimiser(parameters, settings.optimiser)
        self.views = make_class_views(settings.views)
        self.done = 0  # steps

    def _start(self, part: int) -> None:
        """Seed the generators in use; torch.manual_seed takes milliseconds, for all there are."""
        seed = self._seed(part)
        torch.default_generator.manual_seed(seed)
        if self.device.type == "cuda":
            torch.cuda.manual_seed(seed)

    def _logits(self, pictures: Tensor, network: nn.Module) -> Tensor:
        # The same random numbers in every pass over the same images (dropout, if there is any).
        self._start(1)
        found: Tensor = network(pictures)
        return found

    def _gradient(self, batch: Batch, how: dict[str, Backward]) -> float:
        self.loss.begin(self.done // self.steps_per_epoch)
        self._start(0)
        pictures = self.views(batch.pictures, self.device)
        run = partial(self._logits, pictures)
        rows = batch.rows.to(self.device)
        before = self._by_previous([run])
        known = {
            "target": gather_with_gradient(self.target[rows]),
            "rows": gather_with_gradient(rows),
            "previous": None if before is None else gather_with_gradient(before),
        }

        def loss(logits: Tensor) -> Tensor:
            found: Tensor = self.loss(gather_with_gradient(logits), step=self.done, **known)
            return found

        ours = [partial(run, self.network)]
        return cached_backward(ours, loss, forward=self._precision, **how).item()
