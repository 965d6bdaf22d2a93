"""Train on a rare class in a plain PyTorch loop with SOPRC and balanced batches."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from rankwise.metrics import average_precision
from rankwise.objectives import SOPRC
from rankwise.samplers import BalancedBatches


def rare_class(items: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return ten features; the 2 % of items with the largest norm of two of them are positive."""
    x = torch.randn(items, 10, generator=torch.Generator().manual_seed(seed))
    radius = x[:, :2].square().sum(1)
    return x, (radius > radius.quantile(0.98)).long()


def main() -> tuple[float, float]:
    """Train; return the test AP before and after."""
    torch.manual_seed(0)
    x, y = rare_class(4_000, seed=1)
    x_test, y_test = rare_class(4_000, seed=2)
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
    batches = BalancedBatches(y, positives=16, negatives=112)
    loader = DataLoader(TensorDataset(x, y), batch_sampler=batches)
    loss = SOPRC(prior=batches.prior)  # share of positives in the data set, not in the batch
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)

    def test_precision() -> float:
        with torch.no_grad():
            return float(average_precision(model(x_test), y_test))

    before = test_precision()
    for _ in range(8):
        for features, target in loader:
            optimizer.zero_grad()
            loss(model(features), target).backward()
            optimizer.step()
    after = test_precision()
    print(f"test AP: {before:.3f} before, {after:.3f} after")
    return before, after


if __name__ == "__main__":
    main()
