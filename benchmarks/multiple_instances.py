"""Bags of which a step has a few instances: pooling with a memory (MIDAM) and without.

``python -m benchmarks.multiple_instances`` trains on generated bags, five seeds each, in about half
a minute of one core.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankwise.memory import SmoothMaxPooling
from rankwise.metrics import auroc
from rankwise.objectives import MinMaxAUC

BAGS, INSTANCES, FEATURES, SAMPLED = 200, 100, 8, 4


def slides(count: int, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return bags of instances; in a positive bag 5 % of the instances are unusual."""
    y = torch.arange(count) % 2
    x = torch.randn(count, INSTANCES, FEATURES, generator=rng)
    x[:, : INSTANCES // 20, 0] += 2.5 * y[:, None]
    return x, y


def trained(num_bags: int | None, sampled: int, seed: int) -> float:
    """Train on some instances of each bag; return the test AUC of whole bags."""
    torch.manual_seed(seed)
    rng = torch.Generator().manual_seed(seed)
    (x, y), (x_test, y_test) = slides(BAGS, rng), slides(400, rng)
    model = nn.Sequential(nn.Linear(FEATURES, 1), nn.Flatten(-2))  # a score for each instance
    pool, loss = SmoothMaxPooling(num_bags, temperature=0.5), MinMaxAUC()
    optimizer = torch.optim.Adam([*model.parameters(), *loss.parameters()], lr=0.02)
    for _ in range(400):
        bags = torch.randperm(BAGS, generator=rng)[:32]
        some = torch.rand(32, INSTANCES, generator=rng).argsort(1)[:, :sampled, None]
        instances = x[bags].gather(1, some.expand(-1, -1, FEATURES))
        optimizer.zero_grad()
        loss(pool(model(instances), bags), y[bags]).backward()
        optimizer.step()
    pool.eval()  # whole bags: no memory
    with torch.no_grad():
        return float(auroc(pool(model(x_test)), y_test))


def main(seeds: int) -> None:
    """Print the test AUC of three ways of training."""
    ways = {
        "all 100 instances": (None, INSTANCES),
        "4 instances, with memory": (BAGS, SAMPLED),
        "4 instances, without": (None, SAMPLED),
    }
    for way, (num_bags, sampled) in ways.items():
        values = torch.tensor([trained(num_bags, sampled, seed) for seed in range(seeds)])
        reach = 2.776 * float(values.std()) / seeds**0.5  # Student's t of five seeds
        print(f"test AUC, {way}: {float(values.mean()):.3f} ± {reach:.3f}", flush=True)


if __name__ == "__main__":
    main(seeds=5)
