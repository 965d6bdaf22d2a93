"""What a bound on the difference of groups costs, against its objective alone."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from benchmarks.timing import Result, least_processor_seconds

from rankwise.objectives import AveragePrecision, FairnessConstraint, Objective, PairwiseAUC

ITEMS, RATE = 1_000_000, 0.05


def constraint() -> Iterator[Result]:
    """A step with two and with eight groups of items, a twentieth of them positive."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    target = torch.rand(ITEMS) < RATE
    scores = (torch.randn(ITEMS) + target).requires_grad_()
    cases: list[tuple[str, Objective, int]] = [
        ("auc", PairwiseAUC(), 2),
        ("auc", PairwiseAUC(), 8),
        ("xauc", PairwiseAUC(), 2),
        ("ap", AveragePrecision(), 2),
    ]
    for metric, objective, groups in cases:
        loss = FairnessConstraint(objective, groups, 0.01, metric=metric)  # type: ignore[arg-type]
        attribute = torch.randint(0, groups, (ITEMS,))

        def bound(loss: FairnessConstraint = loss, attribute: torch.Tensor = attribute) -> None:
            scores.grad = None
            loss(scores, target, attribute=attribute).backward()

        def free(objective: Objective = objective) -> None:
            scores.grad = None
            objective(scores, target).backward()

        ours, alone = least_processor_seconds([bound, free], 3)
        name = f"FairnessConstraint({objective}, {groups}, metric='{metric}'), 10⁶ scores"
        detail = {"scores": ITEMS, "positives": RATE, "ms": 1e3 * ours, "alone_ms": 1e3 * alone}
        yield Result(name, ours / alone, "× its objective alone", "", detail)


ALL = [constraint]
