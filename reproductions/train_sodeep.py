"""Train the SoDeep sorter: ``python -m reproductions.train_sodeep``.

It writes the weights that rankwise ships. Synthetic lists of random length, the L1 distance to
their true ranks (Engilberge et al. 2019), Adam with a cosine schedule; a few minutes on one core.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from rankwise.baselines.sodeep import WEIGHTS, Sorter

__all__ = ["rank_fractions", "synthetic_lists", "train"]

LONGEST = 128
RATE = 5e-3


def rank_fractions(scores: Tensor) -> Tensor:
    """Return (rank − ½)/n of every score of a row, highest first; ties share their mean rank."""
    n = scores.shape[-1]
    ordered = scores.sort(dim=-1).values
    below = torch.searchsorted(ordered, scores, right=False)
    up_to = torch.searchsorted(ordered, scores, right=True)
    return 1 - (below + up_to).to(scores.dtype) / (2 * n)


def synthetic_lists(rows: int, items: int, generator: torch.Generator) -> Tensor:
    """Draw scores: uniform, normal, evenly spaced, and two classes in two blocks."""
    shape = rows, items
    uniform = 2 * torch.rand(shape, generator=generator) - 1
    normal = torch.randn(shape, generator=generator)
    even = torch.linspace(-1, 1, items)[torch.rand(shape, generator=generator).argsort(-1)]
    gap = 3 * torch.rand(rows, 1, generator=generator)
    share = torch.rand(rows, 1, generator=generator)
    first = (torch.arange(items) < share * items).to(normal.dtype)
    blocks = normal.roll(1, 0) + gap * first
    kind = torch.arange(rows) % 4
    return torch.stack([uniform, normal, even, blocks])[kind, torch.arange(rows)]


def train(steps: int, rows: int = 64, seed: int = 0, *, report: int = 250) -> Sorter:
    """Train a sorter for ``steps`` batches of ``rows`` lists."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    sorter = Sorter()
    optimizer = torch.optim.Adam(sorter.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, RATE, total_steps=steps, pct_start=0.05
    )
    recent = 0.0
    for step in range(1, steps + 1):
        longest = LONGEST if step > steps // 2 else LONGEST // 2  # short lists first
        items = int(torch.randint(2, longest + 1, (), generator=generator))
        scores = synthetic_lists(rows, items, generator)
        ranks = sorter(scores, torch.full((rows,), items))
        loss = (ranks - rank_fractions(scores)).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(sorter.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        recent += loss.item() / report
        if step % report == 0:
            print(f"step {step}: mean error of the ranks {recent:.4f} of the length", flush=True)
            recent = 0.0
    return sorter


def main() -> None:
    """Train and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5_000)
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    sorter = train(options.steps)
    state = {name: value.detach().numpy() for name, value in sorter.state_dict().items()}
    np.savez_compressed(options.out, **state)
    print(f"{options.out}: {options.out.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
