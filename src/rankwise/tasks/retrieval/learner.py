"""One step of training, whoever runs the loop around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from rankwise.distributed import gather_with_gradient
from rankwise.memory import PreviousModel
from rankwise.tasks.retrieval.augmentation import make_views
from rankwise.tasks.retrieval.gradient_cache import Backward, cached_backward
from rankwise.tasks.retrieval.losses import RetrievalLoss
from rankwise.tasks.retrieval.mixup import draw_mixing
from rankwise.tasks.retrieval.network import EmbeddingNet, make_network
from rankwise.tasks.retrieval.optimisers import make_optimiser, rate_at
from rankwise.tasks.retrieval.pictures import Batch, Pictures, some_pixels
from rankwise.tasks.retrieval.settings import Settings, UsageError

__all__ = ["Learner", "new_network"]


def new_network(pictures: Pictures, settings: Settings) -> EmbeddingNet:
    """The network before training; leaves torch's own generator seeded."""
    torch.manual_seed(settings.training.seed)
    network = make_network(settings.network)
    if network.backbone.own_statistics:
        network.standardise(some_pixels(pictures))
    return network


class Learner:
    """Network, loss and optimiser, and the step that moves them.

    Everything random in a step follows from the seed, the number of the step and of the process:
    to resume, nothing has to be known but the number. With several processes the batch is that of
    all of them together; each embeds its own images and takes the loss of all.
    """

    def __init__(
        self,
        pictures: Pictures,
        settings: Settings,
        *,
        device: torch.device | None = None,
        rank: int = 0,
    ) -> None:
        self.settings, self.rank = settings, rank
        self.device = torch.device("cpu") if device is None else device
        self.labels = pictures.labels
        self.network = new_network(pictures, settings).to(self.device)
        self._check_chunk()
        self.loss = RetrievalLoss(
            settings.objective,
            settings.memory,
            pictures.labels,
            settings.network.dimension,
            mixes=settings.mixup.stages > 0,
        ).to(self.device)
        self.previous = PreviousModel(self.network) if settings.objective.previous else None
        parameters = [*self.network.parameters(), *self.loss.parameters()]
        self.optimiser = make_optimiser(parameters, settings.optimiser)
        self.views = make_views(settings.views)
        self.done = 0  # steps

    def _check_chunk(self) -> None:
        batches = self.settings.batches
        size = batches.classes * batches.per_class
        if batches.chunk is not None and batches.chunk < size and self.network.mixes_images:
            raise UsageError(
                "batches.chunk needs a network that looks at one image at a time: set "
                "network.freeze_batch_norm: true, or norm: group in network.options of small"
            )

    def parts(self) -> dict[str, nn.Module | torch.optim.Optimizer]:
        """Everything with a state."""
        parts: dict[str, nn.Module | torch.optim.Optimizer] = {
            "network": self.network,
            "loss": self.loss,
            "optimiser": self.optimiser,
        }
        return parts if self.previous is None else {**parts, "previous": self.previous}

    def step(self, batch: Batch, backward: Backward | None = None) -> float:
        """Take one step on a batch, class after class, and give its loss."""
        self.network.train()
        self.loss.train()
        rate = rate_at(self.settings.optimiser, self.done)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad()
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            value = self._gradient(batch, {} if backward is None else {"backward": backward})
        self.optimiser.step()
        self.done += 1
        return value

    def _gradient(self, batch: Batch, how: dict[str, Backward]) -> float:
        seed = self._seed(0)
        torch.manual_seed(seed)
        pictures = self.views(batch.pictures, self.device)
        mixup, per_class = self.settings.mixup, self.settings.batches.per_class
        classes = len(pictures) // per_class
        mixing = draw_mixing(classes, per_class, mixup.stages, pictures)
        at_once = self.settings.batches.chunk or len(pictures)
        passes = []
        for number, start in enumerate(range(0, len(pictures), at_once), 1):
            some = slice(start // per_class, (start + at_once) // per_class)
            inputs = pictures[start : start + at_once], [v[some] for v in mixing], mixup.u
            passes.append(partial(self._embed, self._seed(number), inputs))
        rows = batch.rows.to(self.device)
        labels = self.labels.to(self.device)[rows]
        labels = labels[::per_class].repeat_interleave(per_class * 2**mixup.stages)
        before = self._by_previous(passes)
        known = {
            "labels": gather_with_gradient(labels),
            "rows": gather_with_gradient(rows) if self.loss.needs_rows else None,
            "previous": None if before is None else gather_with_gradient(before),
        }

        def loss(embeddings: Tensor) -> Tensor:
            found: Tensor = self.loss(gather_with_gradient(embeddings), step=self.done, **known)
            return found

        ours = [partial(run, self.network) for run in passes]
        return cached_backward(ours, loss, forward=self._precision, **how).item()

    def _embed(
        self, seed: int, inputs: tuple[Tensor, list[Tensor], float], network: nn.Module
    ) -> Tensor:
        # The same random numbers in every pass over the same images (dropout, if there is any).
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            found: Tensor = network(*inputs)
        return found

    def _by_previous(self, passes: Sequence[Callable[[nn.Module], Tensor]]) -> Tensor | None:
        if self.previous is None:
            return None
        found = []
        for number, run in enumerate(passes, 1):
            self.previous.train(number == len(passes))  # its parameters are replaced only once
            with self._precision():
                found.append(run(self.previous))
        return torch.cat(found)

    def _precision(self) -> AbstractContextManager[object]:
        half = self.settings.training.precision == "bfloat16"
        return torch.autocast(self.device.type, torch.bfloat16, enabled=half)

    def _seed(self, part: int) -> int:
        words = (self.settings.training.seed, self.done, self.rank, part)
        return int(np.random.SeedSequence(words).generate_state(1)[0])
