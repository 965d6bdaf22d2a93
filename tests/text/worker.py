"""Two processes that train one encoder; the parent forks them, writes FOLDER/RANK.pt.

The encoder is a mean of word vectors, in double precision: what is compared is the loss.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from datetime import timedelta
from pathlib import Path

import torch
import torch._dynamo  # DistributedDataParallel imports it when first made: here, before the fork
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, str(Path(__file__).parents[2]))

from rankwise.objectives import NDCG, SOPRC, AveragePrecision, ListNet
from rankwise.text import BiEncoderLoss, TextCollection

WORLD, STEPS = 2, 3
CASES = {
    "ap": lambda c: AveragePrecision(outer="log"),
    "graded": lambda c: NDCG(num_items=c.num_pairs),
    "memory": lambda c: SOPRC(prior=c.prior, num_lists=len(c.queries)),
    "plain": lambda c: ListNet("uniform"),
}


class Words(nn.Module):
    """Mean of the vectors of the words of a text."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.vectors = nn.Embedding(30, 6, dtype=torch.float64)

    def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        return {"sentence_embedding": self.vectors(features["input_ids"]).mean(1)}


def collection() -> TextCollection:
    rng = torch.Generator().manual_seed(3)
    relevant = torch.randint(0, 4, (6, 9), generator=rng)
    qrels = {q: {d: max(0, int(relevant[q, d]) - 1) for d in range(9)} for q in range(6)}
    texts = {n: str(n) for n in range(9)}
    return TextCollection({q: texts[q] for q in range(6)}, texts, qrels)


def features(ids: Tensor, first: int) -> dict[str, Tensor]:
    """Three words for each id, different ones for queries and documents."""
    words = torch.stack([first + ids % 15, first + (2 * ids + 1) % 15, first + (7 * ids) % 15], 1)
    return {"input_ids": words, "attention_mask": torch.ones_like(words)}


def train(name: str, mini_batch_size: int | None, rank: int | None) -> dict[str, object]:
    """Train on the rows of a process, or on all of them with ``rank`` None."""
    data = collection()
    rows = torch.tensor(data.pairs()["label"])
    model = Words()
    wrapped = model if rank is None else DistributedDataParallel(model)
    known = None if name == "plain" else data
    loss = BiEncoderLoss(wrapped, CASES[name](data), collection=known,
                         mini_batch_size=mini_batch_size)  # fmt: skip
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    values = []
    for step in range(STEPS):
        order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(step))[:11]
        # Unequal parts; the same query, or document, may be on both.
        own = order if rank is None else order[:7] if rank == 0 else order[7:]
        columns = features(rows[own, 0], 0), features(rows[own, 1], 15)
        optimizer.zero_grad()
        value = loss(columns, None if known is None else rows[own])
        value.backward()
        optimizer.step()
        values.append(value.item())
    memory = dict(loss.objective.state_dict())
    return {"values": values, "weights": model.vectors.weight.detach().clone(), "memory": memory}


def process(rank: int, folder: str, store: str) -> None:
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=WORLD,
        timeout=timedelta(seconds=60),
    )  # fmt: skip
    found = {f"{name} {size}": train(name, size, rank) for name in CASES for size in (None, 2)}
    torch.save(found, f"{folder}/{rank}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    torch.set_num_threads(1)
    target = sys.argv[1]
    context = multiprocessing.get_context("fork")
    started = [context.Process(target=process, args=(rank, target, os.path.join(target, "store")))
               for rank in range(WORLD)]  # fmt: skip
    for each in started:
        each.start()
    for each in started:
        each.join()
    sys.exit(max(each.exitcode or 0 for each in started))
