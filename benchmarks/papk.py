"""The subgradient of pAp@k over all users in one pass, against a loop over users.

2 500 users × 270 items, the size of the paper's largest data set, linear scores of 150 features.
``python -m benchmarks.papk`` prints the ratios.
"""

from __future__ import annotations

import sys
from itertools import pairwise

import torch
from benchmarks.timing import Result, seconds_side_by_side

from rankwise.estimators.data import Part
from rankwise.estimators.papk.descent import RiskGradient
from rankwise.estimators.papk.users import Users
from rankwise.objectives import PApAtK

USERS, ITEMS, FEATURES, K = 2_500, 270, 150, 10


def _data() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(USERS * ITEMS, FEATURES, generator=generator)
    w = torch.randn(FEATURES, generator=generator) / FEATURES**0.5
    noise = torch.randn(USERS * ITEMS, generator=generator)
    target = x @ w + noise > 1.4  # about one in six, as there
    return x, w, target, torch.arange(USERS).repeat_interleave(ITEMS)


def _loop(scores: torch.Tensor, target: torch.Tensor, bounds: list[int]) -> torch.Tensor:
    """Algorithm 2 in torch, one user after the other, by hand and without a graph."""
    gradient = torch.zeros_like(scores)
    for start, end in pairwise(bounds):
        own, labels = scores[start:end], target[start:end]
        positives, negatives = labels.nonzero().squeeze(1), (~labels).nonzero().squeeze(1)
        top = own[negatives].topk(min(K, len(negatives)))
        active = (1 - own[positives].mean() + top.values >= 0).to(scores.dtype)
        part = gradient[start:end]
        part[negatives[top.indices]] = active / len(active)
        part[positives] = -active.sum() / len(active) / len(positives)
    return gradient / (len(bounds) - 1)


def _graph_loop(scores: torch.Tensor, target: torch.Tensor, bounds: list[int]) -> torch.Tensor:
    """The objective called user by user, and one backward pass."""
    loss = PApAtK(K, score_scale=1)
    leaf = scores.detach().requires_grad_()
    spans = pairwise(bounds)
    total = torch.stack([loss(leaf[a:b], target[a:b]) for a, b in spans]).mean()
    return torch.autograd.grad(total, leaf)[0]


def subgradient() -> list[Result]:
    """One step's gradient by the scores, and with the products with X around it."""
    torch.set_num_threads(1)
    x, w, target, groups = _data()
    scores, bounds = x @ w, list(range(0, USERS * ITEMS + 1, ITEMS))
    part = Part(x.numpy(), target.double().numpy(), None, groups.numpy())
    users, follow = Users.of_part(part), RiskGradient(PApAtK(K, score_scale=1))

    def ours() -> torch.Tensor:
        return follow(users, scores[None])[0]

    def loop() -> torch.Tensor:
        return _loop(scores, target, bounds)

    def graph() -> torch.Tensor:
        return _graph_loop(scores, target, bounds)

    torch.testing.assert_close(ours(), loop(), atol=1e-8, rtol=1e-4)
    torch.testing.assert_close(ours(), graph(), atol=1e-8, rtol=1e-4)
    mine, theirs = seconds_side_by_side([ours, loop], repeats=5)
    detail = {"ours": mine, "loop": theirs}
    graphed = seconds_side_by_side([ours, graph], repeats=3)
    name = f"avg surrogate, {USERS:,} users × {ITEMS} items, one pass"
    return [
        Result(f"{name}: torch loop over users / ours", theirs / mine, "×", ">= 5", detail),
        Result(f"{name}: loop over users with autograd / ours", graphed[1] / graphed[0], "×"),
    ]


ALL = [subgradient]


if __name__ == "__main__":
    found = [result for measurement in ALL for result in measurement()]
    for result in found:
        print(f"{result.name}: {result.value:.3g} {result.unit} {result.limit}")
    sys.exit(any(result.holds is False for result in found))
