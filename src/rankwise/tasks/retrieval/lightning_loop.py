"""The same steps in Lightning's loop, for several devices and processes (torchrun)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from rankwise.extras import require
from rankwise.tasks.retrieval.pictures import Batch
from rankwise.tasks.retrieval.training import Run

__all__ = ["fit", "is_first", "join_processes", "wanted"]


def wanted() -> bool:
    """Whether torchrun has started several processes, which is when Lightning is needed."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


def join_processes() -> None:
    """Let the processes of torchrun find each other, before anything asks how many there are."""
    if wanted() and not dist.is_initialized():
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")


def is_first() -> bool:
    """Whether this process writes for all of them."""
    return not dist.is_available() or not dist.is_initialized() or dist.get_rank() == 0


class _Batches(Iterable[Batch]):
    def __init__(self, run: Run) -> None:
        self.run = run

    def __iter__(self) -> Iterator[Batch]:
        return self.run.batches()


def fit(run: Run) -> None:
    """Train in Lightning's loop until the run says that it is done."""
    require("rankwise.tasks.retrieval", "lightning")
    import lightning  # noqa: PLC0415  (an extra, and seconds to import)

    world, learner = run.shared.world, run.learner

    class Shell(lightning.LightningModule):
        """Nothing but the run, where Lightning looks for modules, optimisers and steps."""

        automatic_optimization = False  # the order of passes is gradient caching's

        def __init__(self) -> None:
            super().__init__()
            self.network, self.loss = learner.network, learner.loss

        def training_step(self, batch: Batch, number: int) -> None:
            run.advance(batch, self._backward if world > 1 else None)
            self.trainer.should_stop = run.done

        def _backward(self, output: Tensor, gradient: Tensor, last: bool) -> None:
            if last:  # processes exchange here what all the parts have added up to
                self.manual_backward(output, gradient=gradient)
            else:
                output.backward(gradient)

        def configure_optimizers(self) -> Any:
            return learner.optimiser

        def transfer_batch_to_device(self, batch: Any, device: Any, dataloader_idx: int) -> Any:
            return batch  # pictures go there as one tensor, when they are stacked

    if run.done:
        return
    trainer = lightning.Trainer(
        accelerator="gpu" if learner.device.type == "cuda" else "cpu",
        devices=int(os.environ.get("LOCAL_WORLD_SIZE", world)) if world > 1 else 1,
        num_nodes=max(1, world // int(os.environ.get("LOCAL_WORLD_SIZE", world))),
        strategy="ddp_find_unused_parameters_true" if world > 1 else "auto",
        max_epochs=-1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        use_distributed_sampler=False,  # ours shares the batches out itself
    )
    trainer.fit(Shell(), _Batches(run))
