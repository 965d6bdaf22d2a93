"""Hierarchical AP, AP and classifiers of cosines on CIFAR-100 with its super-classes.

``python -m benchmarks.hierarchy cifar100.npz`` trains a head of two layers on small images (8×8
pixels) of half of the classes with every loss and seed. It evaluates 1 000 images of the other
half by mAP of the classes and by H-AP, ASI and NDCG of classes and super-classes, and prints a
table: means over the seeds, and the 95 % interval of the difference in H-AP over the same seeds.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from statistics import mean, stdev

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d

from rankwise.baselines.proxies import ProxyObjective
from rankwise.data.images import open_images
from rankwise.data.images.image_set import ImageSet
from rankwise.naming import objective
from rankwise.objectives import HierarchicalAP, embedding_scores
from rankwise.retrieval import evaluate, evaluate_hierarchy
from rankwise.samplers import ClassBatches

LOSSES = {
    "hierarchical_ap": "hierarchical_ap(score_scale=1)",
    "ap": "ap(score_scale=1)",
    "normalized_softmax": "normalized_softmax(num_classes=50, dimension=64)",
    "arcface": "arcface(num_classes=50, dimension=64, margin=.2, scale=20)",
}
SEEDS, STEPS, TEST = 5, 200, 20
_T = {3: 4.303, 4: 3.182, 5: 2.776}  # Student's quantile of 95 % by the number of seeds


def features(images: ImageSet, mean_of: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return 8×8 pixels of every image less those of the mean image, and that image."""
    assert images.pixels is not None
    small = avg_pool2d(images.pixels.float() / 255, 4).flatten(1)
    mean_of = small.mean(0) if mean_of is None else mean_of
    return 4 * (small - mean_of), mean_of


def measure(train: ImageSet, test: ImageSet, name: str, seed: int) -> dict[str, float]:
    """Train with one loss and seed, and evaluate on the test classes."""
    torch.manual_seed(seed)
    x, mean_of = features(train)
    tree = train.tree
    assert tree is not None
    head = nn.Sequential(nn.Linear(x.shape[1], 256), nn.ReLU(), nn.Linear(256, 64))
    loss = objective(name)
    parameters = [*head.parameters(), *loss.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=1e-3)
    for rows in islice(_epochs(ClassBatches(train.labels, 24, 4, seed=seed)), STEPS):
        embeddings = head(x[rows])
        if isinstance(loss, ProxyObjective):
            value = loss(embeddings, train.labels[rows])
        else:
            by_tree = isinstance(loss, HierarchicalAP)
            lists = embedding_scores(embeddings, tree[rows] if by_tree else train.labels[rows])
            value = loss(lists.scores, lists.target, mask=lists.mask)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    with torch.no_grad():
        embeddings = head(features(test, mean_of)[0])
    found, levels = evaluate(embeddings, test.labels), test.tree
    assert levels is not None
    graded = evaluate_hierarchy(embeddings, levels)
    return {
        "mAP": found.map,
        "R@1": found.hit_at[1],
        "H-AP": graded.hierarchical_ap,
        "ASI": graded.asi,
        "NDCG": graded.ndcg,
    }


def _epochs(batches: ClassBatches) -> Iterator[Tensor]:
    """Yield the rows of the batches of one epoch after the other."""
    for epoch in count():
        batches.set_epoch(epoch)
        yield from map(torch.as_tensor, batches)


def main(root: Path) -> None:
    """Print the table."""
    splits = open_images("cifar", root, trainval=True)
    order = torch.randperm(len(splits.test), generator=torch.Generator().manual_seed(0))
    rows = [order[splits.test.labels[order] == c][:TEST] for c in range(len(splits.test.classes))]
    test = splits.test.subset(torch.cat(rows))
    first: list[dict[str, float]] = []
    for loss, name in LOSSES.items():
        found = [measure(splits.train, test, name, seed) for seed in range(SEEDS)]
        first = first or found
        if found is first:
            print("| loss | " + " | ".join(first[0]) + " | H-AP less that of the first |")
            print("|---" * (len(first[0]) + 2) + "|")
        cells = [f"{mean(row[column] for row in found):.4f}" for column in first[0]]
        apart = [row["H-AP"] - own["H-AP"] for row, own in zip(found, first, strict=True)]
        reach = _T[SEEDS] * stdev(apart) / math.sqrt(SEEDS)
        last = "–" if found is first else f"{mean(apart):+.4f} ± {reach:.4f}"
        print(f"| `{loss}` | " + " | ".join(cells) + f" | {last} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
