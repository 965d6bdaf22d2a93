"""Combine metrics of rankwise and torchmetrics in one MetricCollection."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torchmetrics import Metric, MetricCollection
from torchmetrics.classification import BinaryAUROC
from torchmetrics.utilities import dim_zero_cat

from rankwise.metrics import average_precision, partial_auroc
from rankwise.objectives import AveragePrecision


class Ranked(Metric):
    """A function of rankwise.metrics as a torchmetrics.Metric; all items form one list."""

    full_state_update, higher_is_better, is_differentiable = False, True, False

    def __init__(self, metric: Callable[..., Tensor], **options: Any) -> None:
        super().__init__()
        self.metric, self.options = metric, options
        self.add_state("scores", [], dist_reduce_fx="cat")
        self.add_state("relevance", [], dist_reduce_fx="cat")

    def update(self, preds: Tensor, target: Tensor) -> None:
        self.scores.append(preds.detach())
        self.relevance.append(target)

    def compute(self) -> Tensor:
        scores, relevance = dim_zero_cat(self.scores), dim_zero_cat(self.relevance)
        return self.metric(scores, relevance, **self.options)


def main() -> tuple[float, float]:
    """Train; return the test AP before and after."""
    torch.manual_seed(0)
    x = torch.randn(4_000, 10)
    y = (x.sum(1) > 6).long()  # about one in thirty
    model = nn.Sequential(nn.Linear(10, 1), nn.Flatten(0))
    ranked = {"ap": Ranked(average_precision), "pauc": Ranked(partial_auroc, max_fpr=0.1)}
    collection = MetricCollection({**ranked, "auroc": BinaryAUROC()})  # ranked share their state
    loss, optimizer = AveragePrecision(), torch.optim.Adam(model.parameters(), lr=0.05)
    found = []
    for step in range(101):
        if step in (0, 100):
            for features, target in zip(x[2_000:].split(250), y[2_000:].split(250), strict=True):
                collection.update(model(features), target)
            found.append({name: float(value) for name, value in collection.compute().items()})
            collection.reset()
        optimizer.zero_grad()
        loss(model(x[:2_000]), y[:2_000]).backward()
        optimizer.step()
    print(f"test before: {found[0]}\ntest after: {found[1]}")
    return found[0]["ap"], found[1]["ap"]


if __name__ == "__main__":
    main()
