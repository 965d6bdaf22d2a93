"""Train with Lightning, and resume an objective with a memory exactly from a checkpoint."""

import tempfile

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

from rankwise import metrics, objectives, samplers


class RareClass(lightning.LightningModule):
    """Linear model of a rare class; every checkpoint includes the memory of its criterion."""

    def __init__(self, prior: float) -> None:
        super().__init__()
        self.model = torch.nn.Sequential(torch.nn.Linear(10, 1), torch.nn.Flatten(0))
        self.criterion = objectives.SOPRC(prior=prior)
        self.precision = metrics.Metric(metrics.average_precision)

    def on_train_epoch_start(self) -> None:  # Lightning skips batch samplers
        self.trainer.train_dataloader.batch_sampler.set_epoch(self.current_epoch)

    def training_step(self, batch: list[torch.Tensor]) -> torch.Tensor:
        return self.criterion(self.model(batch[0]), batch[1])

    def validation_step(self, batch: list[torch.Tensor]) -> None:
        self.precision.update(self.model(batch[0]), batch[1])

    def on_validation_epoch_end(self) -> None:
        self.log("ap", self.precision.compute().float())  # over all batches and processes
        self.precision.reset()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=0.01)


def main() -> tuple[float, float]:
    """Train 4 epochs, then 2 and 2 more from a checkpoint; return the AP before and after."""
    x = torch.randn(3_000, 10, generator=torch.Generator().manual_seed(0))
    y = x.sum(1) > 6  # about one in thirty
    batches = samplers.BalancedBatches(y[:2_000], positives=16, negatives=112)
    loader = DataLoader(TensorDataset(x[:2_000], y[:2_000]), batch_sampler=batches)
    held_out = DataLoader(TensorDataset(x[2_000:], y[2_000:]), batch_size=250)
    with tempfile.TemporaryDirectory() as folder:
        ends = []
        for epochs, checkpoint in ((4, None), (2, None), (4, f"{folder}/2.ckpt")):
            torch.manual_seed(0)
            trainer = lightning.Trainer(max_epochs=epochs, logger=False, enable_checkpointing=False)
            before = trainer.validate(module := RareClass(batches.prior), held_out)[0]["ap"]
            trainer.fit(module, loader, held_out, ckpt_path=checkpoint)
            trainer.save_checkpoint(f"{folder}/{epochs}.ckpt")
            ends.append(module.state_dict())
    assert all(torch.equal(ends[2][name], value) for name, value in ends[0].items())
    print(f"AP: {before:.3f} before, {trainer.callback_metrics['ap']:.3f} after, resumed or not")
    return before, float(trainer.callback_metrics["ap"])


if __name__ == "__main__":
    main()
